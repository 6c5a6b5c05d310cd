//! LLM encoders on the command line, with a tiny decoder: as any encoder, and the list of those that are known.

use crate::{
    common::decoder,
    program::{caselens, untimed},
};

const DATA: &str = "sentence1,sentence2,condition,label
A small brown dog runs.,The old fisherman waits.,the kind of animal,1
A small brown dog runs.,The old fisherman waits.,the place,3
Two children sing.,Three cyclists paint.,the number of people,2
Two children sing.,Three cyclists paint.,the activity,4
An empty train hurries past.,The last bus circles.,the vehicle,4
An empty train hurries past.,The last bus circles.,the number of people,5
A chef sings.,A librarian sings.,the activity,5
A chef sings.,A librarian sings.,the profession,2
A gardener paints.,An astronaut paints.,the activity,5
A gardener paints.,An astronaut paints.,the profession,1
";

#[test]
fn the_companion_takes_a_decoder_as_any_encoder() {
    let model = decoder("companion", "nvembed", &serde_json::json!({}));
    let data = model.write("data.csv", DATA);
    let (cache, head) = (model.file("cache"), model.file("head.safetensors"));
    let folder = model.0.display().to_string();
    let run = |args: &[&str]| {
        let (code, out, err) = caselens(args);
        assert_eq!(code, 0, "{args:?}: {err}");
        out
    };
    let train = [
        "train-head",
        "--model",
        &folder,
        "--data",
        &data,
        "--output",
        &head,
        "--cache",
        &cache,
        "--kind",
        "linear",
        "--dims",
        "16",
        "--epochs",
        "3",
        "--dtype",
        "bf16",
        "--setting",
        "cond",
        "--json",
    ];
    let first: serde_json::Value = serde_json::from_str(&run(&train)).unwrap();
    assert_eq!(first["spec"]["dims"], serde_json::json!([32, 16]));
    assert_eq!(first["spec"]["training"]["encoder_dtype"], "bf16");
    let architecture = &first["spec"]["case"]["architecture"]["instruct"];
    assert_eq!(architecture["setting"], "condition", "{first}");
    // What is kept is used again, and gives the same; what is broken is made again.
    let files: Vec<_> = std::fs::read_dir(&cache)
        .unwrap()
        .map(|f| f.unwrap().path())
        .collect();
    assert_eq!(files.len(), 1);
    std::fs::write(&files[0], b"cut short").unwrap();
    let again: serde_json::Value = serde_json::from_str(&run(&train)).unwrap();
    assert_eq!(untimed(&first), untimed(&again));

    let evaluated = run(&[
        "evaluate", "--cache", &cache, "--model", &folder, "--data", &data, "--json",
    ]);
    let evaluated: serde_json::Value = serde_json::from_str(&evaluated).unwrap();
    assert_eq!(evaluated["rows"], 10);
    for setting in ["cond", "sent"] {
        for subtract in ["--no-subtract=true", "--no-subtract=false"] {
            run(&[
                "evaluate",
                "--cache",
                &cache,
                "--model",
                &folder,
                "--head",
                "none",
                "--data",
                &data,
                "--setting",
                setting,
                subtract,
            ]);
        }
    }

    let score = [
        "score",
        "--model",
        &folder,
        "A dog runs.",
        "A cat runs.",
        "-c",
        "the activity",
        "--json",
    ];
    let scored: serde_json::Value = serde_json::from_str(&run(&score)).unwrap();
    let similarity = scored["similarity"].as_f64().unwrap();
    assert!((-1.0..=1.0).contains(&similarity));

    let (_, _, error) = caselens(&[
        "fine-tune",
        "--model",
        &folder,
        "--data",
        &data,
        "--output",
        &model.file("x"),
    ]);
    assert!(error.contains("a head is trained on it"), "{error}");
    let (_, _, error) = caselens(&[
        "evaluate", "--cache", &cache, "--model", &folder, "--head", "none", "--data", &data,
        "--order", "cs",
    ]);
    assert!(
        error.contains("--order is for --architecture bi"),
        "{error}"
    );
    let (code, _, error) = caselens(&[
        "evaluate", "--cache", &cache, "--model", &folder, "--head", "none", "--data", &data,
        "--device", "webgpu",
    ]);
    assert_eq!(code, 2);
    assert!(
        error.contains("LLM encoders do not run on WebGPU"),
        "{error}"
    );
    #[cfg(not(feature = "cuda"))]
    {
        let (code, _, error) = caselens(&[
            "evaluate", "--cache", &cache, "--model", &folder, "--head", "none", "--data", &data,
            "--device", "cuda",
        ]);
        assert_eq!(code, 1);
        assert!(error.contains("./build.sh cuda"), "{error}");
    }
}

#[test]
fn known_encoders_are_listed() {
    let (code, out, _) = caselens(&["models", "--json"]);
    assert_eq!(code, 0);
    let listed: Vec<serde_json::Value> = out
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(listed.len(), 14);
    assert_eq!(listed[0]["id"], "nvidia/NV-Embed-v2");
    assert_eq!(listed[0]["pooling"], "latent");
    assert_eq!(listed[13]["id"], "mistralai/Mistral-7B-v0.3");
    assert_eq!(listed[13]["word"], "text-respect-word");
    let (_, table, _) = caselens(&["models"]);
    assert_eq!(table.lines().count(), 15);
    assert!(table.lines().all(|line| line.len() < 130), "{table}");
}

//! `train --architecture tri`: a tri-encoder is trained, and its folder remembers what it is.

use caselens::head::HeadFile;

use crate::{common, program::caselens};

#[test]
fn it_is_trained_and_its_folder_remembers_it() {
    let folder = std::env::temp_dir().join(format!("caselens-router-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).display().to_string();
    let mut csv = String::from("sentence1,sentence2,condition,label\n");
    let (animals, places) = (["dog", "cat", "horse"], ["river", "market", "street"]);
    for i in 0..81 {
        let (a, b, p, q) = (i % 3, i / 3 % 3, i / 9 % 3, i / 27);
        let sentences = format!(
            "a {} near the {},a {} near the {}",
            animals[a], places[p], animals[b], places[q]
        );
        csv += &format!("{sentences},the animal,{}\n", if a == b { 5 } else { 1 });
        csv += &format!("{sentences},the place,{}\n", if p == q { 5 } else { 1 });
    }
    std::fs::write(path("toy.csv"), csv).unwrap();
    let (toy, out, new) = (path("toy.csv"), path("out"), path("new"));
    let model = common::fixture("bert-tiny").display().to_string();
    let train = |output: &str, more: &[&str]| {
        let mut args = vec!["fine-tune", "--model", &model];
        args.extend(["--data", &toy, "--validation", &toy, "--output", output]);
        args.extend(["--learning-rate", "1e-3", "--epochs", "6", "--json"]);
        args.extend(more);
        caselens(&args)
    };
    let more = ["--architecture", "tri", "--router-layers", "2"];
    let (code, stdout, stderr) = train(&out, &more);
    assert_eq!(code, 0, "{stderr}");
    let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let router = serde_json::json!({"tri": {"layers": 2, "gain": "weight"}});
    assert_eq!(report["spec"]["case"]["architecture"], router);
    let history = report["seeds"][0]["history"].as_array().unwrap();
    let loss = |epoch: usize| history[epoch]["loss"].as_f64().unwrap();
    assert!(loss(history.len() - 1) < 0.8 * loss(0), "{history:?}");

    let evaluate = |more: &[&str]| {
        let mut args = vec!["evaluate", "--model", &out, "--data", &toy, "--json"];
        args.extend(more);
        let (code, stdout, stderr) = caselens(&args);
        assert_eq!(code, 0, "{stderr}");
        let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        report["spearman"].as_f64().unwrap()
    };
    let reached = report["training"]["best_epoch"]["validation_spearman"]
        .as_f64()
        .unwrap();
    // The folder remembers, to the numbers validation saw; said by hand, it is the same.
    assert!((evaluate(&[]) - reached).abs() < 1e-6);
    let none = ["--head", "none"];
    assert_eq!(evaluate(&[]), evaluate(&[&none[..], &more].concat()));
    assert_ne!(evaluate(&[]), evaluate(&none));
    let (code, stdout, stderr) = caselens(&["evaluate", "--model", &out, "--data", &toy]);
    assert_eq!(code, 0, "{stderr}");
    let first = stdout.lines().next().unwrap_or_default();
    assert!(
        first.starts_with("out (") && first.ends_with(" as a tri-encoder without layers on top"),
        "{first}"
    );

    for (more, part) in [
        (
            &["--architecture", "tri", "--order", "cs"][..],
            "--order is for --architecture bi",
        ),
        (
            &["--router-layers", "2"],
            "--router-layers is for --architecture tri",
        ),
        (
            &["--architecture", "tri", "--pooling", "condition"],
            "holds no condition",
        ),
        (
            &["--architecture", "tri", "--router-layers", "4"],
            "between 0 and 3",
        ),
        (
            &["--router", "ours"],
            "a bi-encoder's router is --router paper",
        ),
        (
            &["--router", "paper", "--router-score", "width"],
            "--router-score is for --architecture tri",
        ),
        (
            &["--router", "paper", "--router-layers", "0"],
            "needs a layer to work in",
        ),
        (
            &[
                "--architecture",
                "tri",
                "--join",
                "mlp",
                "--router-layers",
                "9",
            ],
            "the router works in 9 layers",
        ),
        (
            &["--architecture", "tri", "--join", "hyper:0"],
            "rank must be at least 1",
        ),
        (
            &[
                "--architecture",
                "tri",
                "--join",
                "prefix",
                "--router-gain",
                "weight",
            ],
            "--router-gain is for a router",
        ),
        (
            &[
                "--architecture",
                "tri",
                "--join",
                "prefix",
                "--router-layers",
                "4",
            ],
            "works in 4 layers",
        ),
    ] {
        let (code, _, stderr) = train(&new, more);
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains(part), "{stderr}");
    }
    let gguf = path("out.gguf");
    let head = path("out.head.safetensors");
    // In blocks it runs on the processor's own instructions, and a page takes it.
    let rounded = |head: &str| {
        let (code, stdout, stderr) = caselens(&[
            "evaluate", "--model", &gguf, "--head", head, "--data", &toy, "--json",
        ]);
        assert_eq!(code, 0, "{stderr}");
        let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        report["spearman"].as_f64().unwrap()
    };
    let (code, _, stderr) = caselens(&[
        "quantize", "--model", &out, "--output", &gguf, "--head", &head,
    ]);
    assert_eq!(code, 0, "{stderr}");
    assert!((rounded(&head) - reached).abs() < 0.1);
    let export = [
        "export", "--model", &gguf, "--head", &head, "--output", &new,
    ];
    let (code, _, stderr) = caselens(&export);
    assert!(code == 2 && stderr.contains("tri-encoders"), "{stderr}");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// What is trained beside the encoder is written with it, read again, and used.
#[test]
fn what_joins_is_trained_and_comes_back() {
    let folder = std::env::temp_dir().join(format!("caselens-join-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).display().to_string();
    let mut csv = String::from("sentence1,sentence2,condition,label\n");
    for (i, (one, other)) in [
        ("dog", "cat"),
        ("dog", "dog"),
        ("horse", "dog"),
        ("cat", "cat"),
    ]
    .iter()
    .enumerate()
    {
        let sentences = format!("a {one} near the river {i},a {other} near the street");
        let label = if one == other { 5 } else { 1 };
        csv += &format!(
            "{sentences},the animal,{label}\n{sentences},the place,{}\n",
            i + 1
        );
    }
    std::fs::write(path("toy.csv"), csv).unwrap();
    let (toy, model) = (path("toy.csv"), common::fixture("bert-tiny"));
    let model = model.display().to_string();
    for (name, more, architecture) in [
        (
            "heavy",
            &["--router", "paper", "--router-score", "heavy"][..],
            r#"{"tri":{"gain":"one-plus-weight","layers":3,"query":"last","score":"heavy"}}"#,
        ),
        ("mlp", &["--join", "mlp"], r#"{"composed":"mlp"}"#),
        (
            "prefix",
            &["--join", "prefix", "--router-layers", "2"],
            r#"{"prefix":{"layers":2}}"#,
        ),
        (
            "low",
            &["--join", "hyper:4"],
            r#"{"composed":{"hyper-low-rank":4}}"#,
        ),
    ] {
        let out = path(name);
        let mut args = vec!["fine-tune", "--model", &model, "--data", &toy];
        args.extend([
            "--validation",
            &toy,
            "--output",
            &out,
            "--epochs",
            "2",
            "--json",
        ]);
        args.extend(["--architecture", "tri"]);
        args.extend(more);
        let (code, stdout, stderr) = caselens(&args);
        assert_eq!(code, 0, "{stderr}");
        let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(
            report["spec"]["case"]["architecture"].to_string(),
            architecture
        );
        let reached = &report["training"]["best_epoch"]["validation_spearman"];
        let (code, stdout, stderr) =
            caselens(&["evaluate", "--model", &out, "--data", &toy, "--json"]);
        assert_eq!(code, 0, "{stderr}");
        let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        // But for rounding to f16.
        let found = report["spearman"].as_f64().unwrap();
        assert!(
            (found - reached.as_f64().unwrap()).abs() < 0.1,
            "{name}: {found} {reached}"
        );
    }
    // What joins is averaged with the encoder: of one encoder twice it is the same.
    let (one, mean) = (path("low"), path("mean"));
    let average = [
        "average", "--model", &one, "--model", &one, "--output", &mean,
    ];
    let (code, _, stderr) = caselens(&average);
    assert_eq!(code, 0, "{stderr}");
    let head = |folder: &str| {
        HeadFile::open(&std::path::Path::new(folder).join("head.safetensors")).unwrap()
    };
    assert_eq!(head(&mean).join, head(&one).join);
    assert_eq!(head(&mean).join.len(), 3);
    let (code, _, stderr) = caselens(&[
        "average",
        "--model",
        &one,
        "--model",
        &path("mlp"),
        "--output",
        &path("no"),
    ]);
    assert_eq!(code, 2, "{stderr}");

    // Without what was trained there is no way to join.
    let (code, _, stderr) = caselens(&[
        "evaluate",
        "--model",
        &model,
        "--data",
        &toy,
        "--head",
        "none",
        "--architecture",
        "tri",
        "--join",
        "mlp",
    ]);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("fine-tune"), "{stderr}");

    let explain = |more: &[&str]| {
        let mut args = vec!["explain", "a dog runs", "a cat waits", "-c", "the animal"];
        args.extend(["--model", &model, "--head", "none"]);
        args.extend(more);
        let (code, stdout, stderr) = caselens(&args);
        assert_eq!(code, 0, "{stderr}");
        stdout
    };
    let tri = ["--architecture", "tri", "--router", "paper", "--json"];
    let told: serde_json::Value = serde_json::from_str(&explain(&tri)).unwrap();
    for sentence in told["sentences"].as_array().unwrap() {
        let columns = sentence["columns"].as_array().unwrap();
        let names: Vec<&str> = columns
            .iter()
            .map(|c| c["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["layer 1", "layer 2", "layer 3", "[CLS]"]);
        for column in columns {
            let numbers = column["numbers"].as_array().unwrap();
            assert_eq!(numbers.len(), sentence["tokens"].as_array().unwrap().len());
            let sum: f64 = numbers.iter().map(|x| x.as_f64().unwrap()).sum();
            assert!((sum - 1.0).abs() < 1e-5, "{sum}");
        }
    }
    let text = explain(&[]);
    assert!(
        text.contains("under the condition") && text.contains("layer 3"),
        "{text}"
    );

    let (code, stdout, stderr) = caselens(&[
        "bench-tri",
        "--model",
        &model,
        "--sentences",
        "6",
        "--conditions",
        "5",
        "--layers",
        "0,2",
        "--router",
        "paper",
        "--json",
    ]);
    assert_eq!(code, 0, "{stderr}");
    let lines: Vec<serde_json::Value> = stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let passes: Vec<u64> = lines
        .iter()
        .map(|l| l["passes"].as_u64().unwrap())
        .collect();
    assert_eq!(passes, [30, 6, 11]);
    assert!(lines.iter().all(|line| line["embeddings"] == 30));
    // One query of 64 numbers a condition; without a routed layer a vector a sentence, and no condition.
    assert_eq!(lines[1]["kept_bytes"], serde_json::json!([6 * 64 * 4, 0]));
    assert_eq!(lines[2]["kept_bytes"][1], 5 * 64 * 4);
    std::fs::remove_dir_all(&folder).unwrap();
}

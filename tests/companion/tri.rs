//! `train --architecture tri`: a tri-encoder is trained, and its folder remembers what it is.

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
            "between 1 and 3",
        ),
        (
            &["--architecture", "tri", "--router-layers", "0"],
            "a layer to work in",
        ),
    ] {
        let (code, _, stderr) = train(&new, more);
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains(part), "{stderr}");
    }
    let gguf = path("out.gguf");
    let head = format!("{out}/head.safetensors");
    assert_eq!(
        caselens(&["quantize", "--model", &out, "--output", &gguf]).0,
        0
    );
    let export = [
        "export", "--model", &gguf, "--head", &head, "--output", &new,
    ];
    let (code, _, stderr) = caselens(&export);
    assert_eq!(code, 2, "{stderr}");
    assert!(
        stderr.contains("browsers do not run tri-encoders"),
        "{stderr}"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

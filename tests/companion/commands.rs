//! The companion program as a user runs it: results, exit codes, and what bad input gets.

use crate::{common, program};
use std::path::Path;

use crate::common::Folder;
use serde_json::Value;

/// The JSON lines that it prints.
fn ok(args: &[&str], input: &str) -> Vec<Value> {
    String::from_utf8(program::ok(args, input.as_bytes()))
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn refused(args: &[&str], input: &str) -> String {
    program::refused(args, input.as_bytes())
}

fn bert() -> String {
    common::fixture("bert-tiny").display().to_string()
}

/// Pairs whose condition names what they share, or what they do not.
fn data(rows: usize) -> String {
    let mut csv = String::from("sentence1,sentence2,condition,label\n");
    let (animals, places) = (
        ["dog", "cat", "horse", "bird"],
        ["river", "market", "street", "garden"],
    );
    for i in 0..rows {
        let (a, b) = (animals[i % 4], animals[i / 4 % 4]);
        let (p, q) = (places[i / 2 % 4], places[i / 8 % 4]);
        let (s1, s2) = (format!("a {a} near the {p}"), format!("a {b} near the {q}"));
        let label = |same: bool| if same { 5 } else { 1 };
        csv += &format!("{s1},{s2},the animal,{}\n", label(a == b));
        csv += &format!("{s1},{s2},the place,{}\n", label(p == q));
    }
    csv
}

#[test]
fn score_compares_under_each_condition() {
    let model = bert();
    let args = [
        "score",
        "a small dog",
        "a small cat",
        "-c",
        "the animal",
        "-c",
        "the size.",
        "--json",
        "--head",
        "none",
        "--model",
        &model,
    ];
    let lines = ok(&args, "");
    assert_eq!(lines.len(), 2);
    for (line, condition) in lines.iter().zip(["the animal", "the size."]) {
        assert_eq!(line["condition"], condition);
        let similarity = line["similarity"].as_f64().unwrap();
        assert!((-1.0..=1.0).contains(&similarity));
        let rating = line["rating"].as_f64().unwrap();
        assert!((rating - (1.0 + 4.0 * similarity.clamp(0.0, 1.0))).abs() < 1e-5);
        assert_eq!(line["unconditional"], lines[0]["unconditional"]);
    }
    let input =
        r#"{"sentence1": "a small dog", "sentence2": "a small cat", "condition": "the animal"}"#;
    let piped = ok(
        &["score", "--json", "--head", "none", "--model", &model],
        input,
    );
    assert_eq!(piped[0], lines[0]);
}

#[test]
fn embed_gives_unit_vectors() {
    let model = bert();
    let lines = ok(
        &["embed", "--json", "--model", &model],
        "a small dog\nthe river\n",
    );
    assert_eq!(lines.len(), 2);
    for (line, text) in lines.iter().zip(["a small dog", "the river"]) {
        assert_eq!(line["text"], text);
        let vector: Vec<f64> = line["embedding"]
            .as_array()
            .unwrap()
            .iter()
            .map(|x| x.as_f64().unwrap())
            .collect();
        assert_eq!(vector.len(), 64);
        assert!((vector.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-4);
    }
}

#[test]
fn a_head_is_trained_evaluated_quantised_for_and_exported() {
    let folder = Folder::new("train");
    let csv = folder.write("train.csv", &data(120));
    let head = folder.file("tiny.head.safetensors");
    let cache = folder.file("cache");
    let model = bert();
    let train = |output: &str| {
        ok(
            &[
                "train-head",
                "--data",
                &csv,
                "--model",
                &model,
                "--output",
                output,
                "--cache",
                &cache,
                "--hidden",
                "64",
                "--dims",
                "16",
                "--epochs",
                "30",
                "--batch",
                "64",
                "--seeds",
                "1,2",
                "--json",
            ],
            "",
        )
        .remove(0)
    };
    let trained = train(&head);
    assert_eq!(trained["seeds"].as_array().unwrap().len(), 2);
    assert_eq!(trained["spec"]["dims"], serde_json::json!([128, 64, 16]));
    assert!(std::fs::read_dir(&cache).unwrap().count() > 0);
    // From the cache, and the same seeds: the same head.
    let again = folder.file("again.head.safetensors");
    train(&again);
    assert_eq!(
        std::fs::read(&head).unwrap(),
        std::fs::read(&again).unwrap()
    );

    let evaluate = |more: &[&str]| {
        let mut args = vec!["evaluate", "--data", &csv, "--json"];
        args.extend(more);
        ok(&args, "").remove(0)
    };
    let report = evaluate(&["--model", &model, "--head", &head]);
    assert_eq!(report["rows"], 240);
    assert_eq!(report["pairs"], 120);
    let spearman = report["spearman"].as_f64().unwrap();
    // A random encoder and few pairs: far above chance, far from perfect.
    assert!(spearman > 0.5, "{report}");
    for field in ["pearson", "accuracy", "accuracy_untied"] {
        assert!(
            (0.0..=1.0).contains(&report[field].as_f64().unwrap()),
            "{field}"
        );
    }
    // Both conditions have the same mean rating here: the baseline can only guess.
    let baseline = &report["condition_only"];
    assert!(
        baseline.is_object() && baseline["accuracy"] == 0.0,
        "{report}"
    );
    let bucket = &report["by_occurrence"][3];
    assert_eq!(
        (&bucket["occurrences"], &bucket["rows"]),
        (&"20+".into(), &240.into())
    );
    let limited = evaluate(&["--model", &model, "--head", &head, "--limit", "10"]);
    assert_eq!(limited["rows"], 10);

    // Similarities from elsewhere are scored as our own.
    let csv_text = std::fs::read_to_string(&csv).unwrap();
    let labels: String = csv_text
        .lines()
        .skip(1)
        .map(|line| format!("{{\"similarity\": {}}}\n", line.rsplit(',').next().unwrap()))
        .collect();
    let perfect = folder.write("perfect.jsonl", &labels);
    let report = evaluate(&["--similarities", &perfect, "--head", &head]);
    assert!((report["spearman"].as_f64().unwrap() - 1.0).abs() < 1e-9);
    assert_eq!(report["accuracy_untied"], 1.0);
    let short = folder.write("short.jsonl", "{\"similarity\": 1}\n");
    assert!(
        refused(
            &[
                "evaluate",
                "--data",
                &csv,
                "--similarities",
                &short,
                "--head",
                &head
            ],
            ""
        )
        .contains("row 1")
    );

    // A head serves every quantisation of its encoder, and no other encoder.
    let gguf = folder.file("tiny-q8_0.gguf");
    let quantize = [
        "quantize", "--model", &model, "--output", &gguf, "--dtype", "q8_0",
    ];
    program::ok(&quantize, b"");
    let q8 = evaluate(&["--model", &gguf, "--head", &head]);
    assert!(
        (q8["spearman"].as_f64().unwrap() - spearman).abs() < 0.05,
        "{q8}"
    );
    let roberta = common::fixture("roberta-tiny").display().to_string();
    let said = refused(
        &[
            "evaluate", "--data", &csv, "--model", &roberta, "--head", &head,
        ],
        "",
    );
    assert!(
        said.contains("bert-tiny") && said.contains("roberta-tiny"),
        "{said}"
    );

    let site = folder.file("site");
    let manifest = ok(
        &[
            "export", "--model", &gguf, "--head", &head, "--output", &site, "--json",
        ],
        "",
    )
    .remove(0);
    for kind in ["model", "head"] {
        let file = Path::new(&site).join(manifest[kind]["file"].as_str().unwrap());
        assert_eq!(
            std::fs::metadata(file).unwrap().len(),
            manifest[kind]["bytes"].as_u64().unwrap()
        );
    }
    let exported = Path::new(&site).join(manifest["model"]["file"].as_str().unwrap());
    let exported_head = Path::new(&site).join(manifest["head"]["file"].as_str().unwrap());
    let round = evaluate(&[
        "--model",
        &exported.display().to_string(),
        "--head",
        &exported_head.display().to_string(),
    ]);
    assert_eq!(round["spearman"], q8["spearman"]);
}

#[test]
fn bad_input_gets_a_sentence_and_exit_code_2() {
    let folder = Folder::new("bad");
    let model = bert();
    let none = ["--head", "none", "--model", &model];
    let with = |args: &[&'static str]| -> Vec<&str> { args.iter().copied().chain(none).collect() };

    assert!(
        refused(&with(&["score", "", "a cat", "-c", "size"]), "").contains("sentence 1 is empty")
    );
    assert!(
        refused(&with(&["score", "a dog", "a cat", "-c", " "]), "")
            .contains("condition 1 is empty")
    );
    assert!(refused(&with(&["score", "a dog", "a cat"]), "").contains("--condition"));
    assert!(refused(&with(&["score"]), "not json\n").contains("row 1"));
    let huge = "word ".repeat(20_000);
    let args: Vec<&str> = ["score", huge.as_str(), "a cat", "-c", "size"]
        .into_iter()
        .chain(none)
        .collect();
    assert!(refused(&args, "").contains("100000 characters"));

    let csv = folder.write(
        "bad.csv",
        "sentence1,sentence2,condition,label\na,b,c,1\na,b,c,x\n",
    );
    assert!(
        refused(
            &[
                "evaluate", "--data", &csv, "--head", "none", "--model", &model
            ],
            ""
        )
        .contains("row 2")
    );
    let missing = folder.file("missing.csv");
    assert!(
        refused(
            &[
                "evaluate", "--data", &missing, "--head", "none", "--model", &model
            ],
            ""
        )
        .contains("missing.csv")
    );

    let nothing = folder.write("empty.gguf", "");
    let said = refused(&["embed", "--model", &nothing], "a\n");
    assert!(
        said.contains("empty.gguf") && said.contains("empty"),
        "{said}"
    );
    let noise = folder.write("noise.gguf", "GGUF and then nothing that makes sense");
    assert!(refused(&["embed", "--model", &noise], "a\n").contains("noise.gguf"));
    let absent = folder.file("absent");
    assert!(refused(&["embed", "--model", &absent], "a\n").contains("absent"));
    let head = folder.write("noise.head", "{}");
    assert!(
        refused(
            &[
                "score", "a", "b", "-c", "c", "--model", &model, "--head", &head
            ],
            ""
        )
        .contains("noise.head")
    );
    assert!(
        refused(
            &["train-head", "--data", &csv, "--output", "x", "--dims", "0"],
            ""
        )
        .contains("at least 1")
    );
    assert!(!Path::new("x").exists());
}

#[test]
fn a_long_sentence_is_reported() {
    let model = bert();
    let long = "the old fisherman waits near the river ".repeat(60);
    let args = [
        "score",
        long.as_str(),
        "a cat",
        "-c",
        "the place",
        "--json",
        "--head",
        "none",
        "--model",
        &model,
    ];
    assert_eq!(ok(&args, "")[0]["truncated"], true);
}

#[test]
fn help_says_what_each_command_does() {
    for command in [
        "score",
        "score-table",
        "embed",
        "train-head",
        "fine-tune",
        "evaluate",
        "report",
        "quantize",
        "export",
    ] {
        let text = String::from_utf8(program::ok(&[command, "--help"], b"")).unwrap();
        assert!(text.len() > 600, "{command}:\n{text}");
    }
}

#[test]
fn commands_of_old_say_what_takes_their_place() {
    for (command, instead) in [
        ("train", &["train-head", "fine-tune"][..]),
        ("distill", &["fine-tune", "--teacher"]),
        ("apply", &["fine-tune", "lora:RANK"]),
    ] {
        for more in [
            &[][..],
            &["--help"],
            &["--data", "x.csv", "--adapter", "full"],
        ] {
            let said = refused(&[&[command], more].concat(), "");
            assert!(instead.iter().all(|part| said.contains(part)), "{said}");
        }
    }
    let help = String::from_utf8(program::ok(&["--help"], b"")).unwrap();
    for command in ["distill", "apply"] {
        assert!(!help.contains(command), "{help}");
    }
}

//! `caselens kgc`: an encoder is trained on a graph, its folder remembers how, and what is wrong is told.

use crate::{common, program::caselens};

const NAMES: [&str; 12] = [
    "dog", "cat", "horse", "bird", "fish", "cow", "house", "street", "river", "park", "market",
    "table",
];

/// A ring of entities, of which each leads to the next; every sixth triple is held out.
fn graph(name: &str) -> common::Folder {
    let folder = common::Folder::new(name);
    let mut files = [const { String::new() }; 3];
    for (i, name) in NAMES.iter().enumerate() {
        let next = NAMES[(i + 1) % NAMES.len()];
        let split = if i % 6 < 4 { 0 } else { i % 6 - 3 };
        files[split] += &format!("{name}.n\t_next_to\t{next}.n\n");
    }
    let entities: String = NAMES
        .iter()
        .map(|name| format!("{name}.n\t{name}\n"))
        .collect();
    for (file, text) in ["train.txt", "valid.txt", "test.tsv"].iter().zip(files) {
        folder.write(file, &text);
    }
    folder.write("entities.tsv", &entities);
    folder
}

fn json(args: &[&str]) -> serde_json::Value {
    let (code, stdout, stderr) = caselens(args);
    assert_eq!(code, 0, "{stderr}");
    serde_json::from_str(&stdout).unwrap()
}

#[test]
fn a_tri_encoder_is_evaluated_as_it_was_trained() {
    let folder = graph("kgc-tri");
    let model = common::fixture("bert-tiny").display().to_string();
    let data = folder.file(".");
    for (name, more) in [
        ("hadamard", &["--join", "hadamard"][..]),
        ("paper", &["--router", "paper"]),
        ("both", &["--join", "mlp", "--router", "paper"]),
    ] {
        let out = folder.file(name);
        let mut train = vec![
            "kgc", "train", "--data", &data, "--model", &model, "--output", &out,
        ];
        train.extend(["--epochs", "1", "--architecture", "tri", "--json"]);
        let trained = json(&[&train, more].concat());
        let evaluate = [
            "kgc", "evaluate", "--data", &data, "--model", &out, "--json", "--split", "valid",
        ];
        let reached = json(&evaluate);
        assert_eq!(reached["case"], trained["spec"]["case"], "{name}");
        let said = &trained["training"]["best_epoch"]["validation_mrr"];
        let mrr = reached["mean"]["mrr"].as_f64().unwrap();
        assert!(mrr >= said.as_f64().unwrap() - 1e-6, "{name}: {mrr} {said}");
        let same = json(&[&evaluate[..], &["--architecture", "tri"]].concat());
        assert_eq!(same["mean"], reached["mean"], "{name}");
    }
}

#[test]
fn an_encoder_is_trained_on_a_graph_and_its_folder_remembers_how() {
    let folder = graph("kgc");
    let model = common::fixture("bert-tiny").display().to_string();
    let (data, out) = (folder.file("."), folder.file("out"));
    let mut train = vec![
        "kgc", "train", "--data", &data, "--model", &model, "--output", &out,
    ];
    train.extend([
        "--learning-rate",
        "2e-3",
        "--epochs",
        "30",
        "--batch",
        "8",
        "--dropout",
        "0",
    ]);
    train.extend(["--keep", "last", "--order", "cs", "--json"]);
    let report = json(&train);
    let training = &report["training"];
    assert_eq!(training["triples"], 8);
    assert_eq!(training["tokens"], 50);
    assert_eq!(
        report["spec"]["case"]["orders"],
        serde_json::json!(["condition-sentence"])
    );
    assert!(training["best_epoch"]["validation_mrr"].as_f64().is_some());
    let history = report["seeds"][0]["history"].as_array().unwrap();
    let loss = |epoch: usize| history[epoch]["loss"].as_f64().unwrap();
    assert!(loss(29) < 0.6 * loss(0), "{history:?}");
    let written = folder.read("out/history.csv");
    assert!(
        written.starts_with("epoch,loss,validation_mrr\n1,"),
        "{written}"
    );

    let evaluate = |model: &str, more: &[&str]| {
        let args = [
            "kgc", "evaluate", "--data", &data, "--model", model, "--json",
        ];
        json(&[&args, more].concat())
    };
    let valid = ["--split", "valid"];
    let reached = evaluate(&out, &valid);
    let (mrr, said) = (
        &reached["mean"]["mrr"],
        &training["best_epoch"]["validation_mrr"],
    );
    // The folder remembers, to the number validation saw, but that test.txt is known too.
    assert!(
        mrr.as_f64().unwrap() >= said.as_f64().unwrap() - 1e-6,
        "{mrr} {said}"
    );
    let none = evaluate(&out, &["--order", "sc"]);
    assert_eq!(
        none["case"]["orders"],
        serde_json::json!(["sentence-condition"])
    );
    let test = evaluate(&out, &[]);
    assert_eq!(
        (&test["triples"], &test["entities"]),
        (&2.into(), &12.into())
    );
    assert_eq!(test["mean"]["ranked"], 4);
    assert_eq!(evaluate(&model, &["--limit", "1"])["triples"], 1);
    let (code, stdout, stderr) = caselens(&["kgc", "evaluate", "--data", &data, "--model", &out]);
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stdout.contains("2 triples of test, 4 ranked among 12 entities"),
        "{stdout}"
    );
    assert!(
        stdout.contains("Hits@10") && !stdout.contains("NaN"),
        "{stdout}"
    );

    // The mean of two, as of any encoders.
    let mean = folder.file("mean");
    let (code, _, stderr) = caselens(&[
        "average", "--model", &out, "--model", &out, "--output", &mean,
    ]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(evaluate(&mean, &[])["mean"], test["mean"]);
}

#[test]
fn a_graph_may_be_in_another_encoding() {
    let folder = graph("kgc-encodings");
    let model = common::fixture("bert-tiny").display().to_string();
    let data = folder.file(".");
    let evaluate = || {
        json(&[
            "kgc", "evaluate", "--data", &data, "--model", &model, "--json",
        ])
    };
    let plain = evaluate();
    let entities = folder.read("entities.tsv");
    let utf16 = [0xfeff].into_iter().chain(entities.encode_utf16());
    let utf16: Vec<u8> = utf16.flat_map(u16::to_le_bytes).collect();
    std::fs::write(folder.file("entities.tsv"), utf16).unwrap();
    let train = folder.read("train.txt");
    folder.write("train.txt", &format!("\u{feff}{train}"));
    assert_eq!(evaluate(), plain);
    std::fs::write(folder.file("entities.tsv"), [0; 40]).unwrap();
    let (code, _, said) = caselens(&["kgc", "evaluate", "--data", &data, "--model", &model]);
    assert!(code == 2 && said.contains("is no text"), "{said}");
}

#[test]
fn what_is_wrong_with_a_graph_is_told() {
    let folder = graph("kgc-wrong");
    let model = common::fixture("bert-tiny").display().to_string();
    let (data, out) = (folder.file("."), folder.file("out"));
    let refused = |args: &[&str], part: &str| {
        let mut all = vec!["kgc"];
        all.extend(args);
        all.extend(["--data", &data, "--model", &model]);
        let (code, _, stderr) = caselens(&all);
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains(part), "{part}: {stderr}");
    };
    refused(&["evaluate", "--order", "both"], "meet in one order");
    refused(
        &["train", "--output", &out, "--order", "both"],
        "meet in one order",
    );
    refused(&["train", "--output", &out, "--margin=-1"], "not negative");
    refused(
        &["train", "--output", &out, "--architecture", "cross"],
        "a cross-encoder gives two texts a score",
    );
    folder.write("test.tsv", "dog.n\t_on\tcat.n\n");
    refused(&["evaluate"], "test.tsv, row 1: ");
    refused(&["evaluate"], "train.txt has no relation `_on`");
    // What else is true is read too.
    refused(&["evaluate", "--split", "valid"], "`_on`");
    folder.write("test.tsv", "dog.n\t_next_to\tsnake.n\n");
    refused(&["evaluate"], "the entity `snake.n` has no text");
    folder.write("test.tsv", "\n");
    refused(&["evaluate"], "holds no triple");
    std::fs::remove_file(folder.file("test.tsv")).unwrap();
    refused(&["evaluate"], "has no test.txt or test.tsv");
    folder.write("valid.txt", "");
    refused(&["train", "--output", &out], "holds no triple");
    folder.write("relations.tsv", "_beside\tis beside\n");
    refused(&["train", "--output", &out], "has no relation `_next_to`");
}

//! The protocol of C-STS: seeds, comparisons of runs, and what training writes of itself.

use serde_json::Value;

use crate::{
    common::{self, Folder, toy_csv},
    program::{ok, refused},
};

fn json(text: &[u8]) -> Value {
    serde_json::from_slice(text).unwrap()
}

/// Fine-tunes bert-tiny on toy data for a moment.
fn tune(data: &str, output: &str, more: &[&str]) -> Value {
    let model = common::fixture("bert-tiny").display().to_string();
    let mut args = vec![
        "fine-tune",
        "--model",
        &model,
        "--data",
        data,
        "--output",
        output,
    ];
    args.extend(["--learning-rate", "1e-3", "--json"]);
    args.extend(more);
    json(&ok(&args, b""))
}

#[test]
fn several_seeds_are_summed_up_and_two_sets_of_them_compared() {
    let folder = Folder::new("csts-runs");
    let toy = folder.write("toy.csv", &toy_csv(64));
    let (few, more) = (folder.file("few"), folder.file("more"));
    let seeds = ["--epochs", "2", "--seeds", "0,1,2", "--validation", &toy];
    let small = ["--train-pairs", "8", "--clip", "none", "--warm-up", "0.1"];
    let report = tune(&toy, &few, &[&seeds[..], &small].concat());
    let options = &report["training"]["options"];
    assert!(options["clip"].is_null(), "{options}");
    assert_eq!(
        (&options["warm_up"], &options["loss"]["margin"]),
        (&0.1.into(), &1.0.into())
    );
    assert_eq!(report["training"]["groups"], 8);
    assert!(report["seeds"][2]["seconds"].as_f64().unwrap() > 0.0);
    tune(&toy, &more, &seeds);

    let record = json(folder.read("few/caselens-training.json").as_bytes());
    let figures: Vec<f64> = (record["seeds"].as_array().unwrap().iter())
        .map(|seed| seed["validation_spearman"].as_f64().unwrap())
        .collect();
    let mean = figures.iter().sum::<f64>() / 3.0;
    assert!((record["validation_spearman"]["mean"].as_f64().unwrap() - mean).abs() < 1e-12);
    assert!(record["validation_spearman"]["std"].as_f64().unwrap() > 0.0);

    let compared = json(&ok(&["compare-runs", &few, &more, "--json"], b""));
    let [first, second] = [0, 1].map(|set| &compared["sets"][set]);
    assert_eq!(
        (&compared["figure"], &first["runs"]),
        (&"validation_spearman".into(), &3.into())
    );
    assert!(first["against_first"].is_null());
    assert_eq!(first["mean"], record["validation_spearman"]["mean"]);
    assert!(
        second["against_first"]["difference"].as_f64().unwrap() > 0.0,
        "more data is better: {compared}"
    );
    let against = &second["against_first"];
    assert_eq!(against["paired"]["df"], 2.0);
    assert!((0.0..1.0).contains(&against["welch"]["p"].as_f64().unwrap()));
    let printed = String::from_utf8(ok(&["compare-runs", &few, &more], b"")).unwrap();
    assert!(
        printed.contains("more against the first: +") && printed.contains("paired t-test: t = "),
        "{printed}"
    );

    // What `evaluate` prints is a record too, and names its seed.
    let evaluated = ok(
        &["evaluate", "--model", &more, "--data", &toy, "--json"],
        b"",
    );
    assert!(json(&evaluated)["seed"].is_u64());
    let lines = folder.write(
        "lines.jsonl",
        &String::from_utf8(evaluated).unwrap().repeat(2),
    );
    let compared = json(&ok(
        &[
            "compare-runs",
            &lines,
            &lines,
            "--figure",
            "pearson",
            "--json",
        ],
        b"",
    ));
    let against = &compared["sets"][1]["against_first"];
    assert!(
        against["paired"].is_null() && against["welch"].is_null(),
        "{compared}"
    );
    assert_eq!(against["difference"], 0.0);
    let printed = String::from_utf8(ok(&["compare-runs", &lines, &lines], b"")).unwrap();
    assert!(
        printed.contains("Welch's t-test: none, as it takes") && !printed.contains("NaN"),
        "{printed}"
    );

    let none = folder.write("none.jsonl", "{\"seed\": 0, \"spearman\": null}\n");
    assert!(
        refused(&["compare-runs", &none, &none], b"")
            .contains("row 1: the run's spearman is no number")
    );
    assert!(
        refused(&["compare-runs", &few, &few, "--figure", "x"], b"")
            .contains("it has epoch, seconds, seed")
    );
    let broken = folder.write("broken.jsonl", "{");
    assert!(refused(&["compare-runs", &broken, &few], b"").contains("it is no JSON"));
    let more_than_there_is = ["--train-pairs", "6400", "--epochs", "1"];
    let model = common::fixture("bert-tiny").display().to_string();
    let new = folder.file("new");
    let train = [
        "fine-tune",
        "--model",
        &model,
        "--data",
        &toy,
        "--output",
        &new,
    ];
    assert!(
        refused(&[&train[..], &more_than_there_is].concat(), b"")
            .contains("6400 sentence pairs are to be drawn of")
    );
}

#[test]
fn a_heads_training_is_written_beside_it() {
    let folder = Folder::new("csts-head");
    let toy = folder.write("toy.csv", &toy_csv(64));
    let model = common::fixture("bert-tiny").display().to_string();
    let (head, cache) = (folder.file("toy.head.safetensors"), folder.file("cache"));
    let args = [
        "train-head",
        "--model",
        &model,
        "--data",
        &toy,
        "--output",
        &head,
        "--cache",
        &cache,
        "--kind",
        "linear",
        "--dims",
        "8",
        "--epochs",
        "5",
        "--keep",
        "last",
        "--seeds",
        "3,4",
        "--train-pairs",
        "40",
        "--json",
    ];
    let report = json(&ok(&args, b""));
    assert_eq!(folder.read("toy.head.history.csv").lines().count(), 6);
    assert!(
        folder
            .read("toy.head.curves.svg")
            .contains("validation Spearman")
    );
    let record = json(folder.read("toy.head.training.json").as_bytes());
    assert_eq!(record["seeds"][1]["seed"], 4);
    assert_eq!(record["options"], report["spec"]["training"]["options"]);
    assert!(report["seeds"][0]["seconds"].as_f64().unwrap() > 0.0);
    let record = folder.file("toy.head.training.json");
    let compared = json(&ok(&["compare-runs", &record, "--json"], b""));
    assert_eq!(compared["sets"][0]["runs"], 2);
}

//! What tells whether a sentence says anything about a condition, from its fit to what `score` and tables say of it; and what
//! else is told of texts.

use crate::{
    common::Folder,
    program::{self, caselens, json},
};
use serde_json::Value;

/// Sentences that say something about the price, and as many that do not.
fn table() -> String {
    let mut csv = String::from("sentence,condition,mentioned\n");
    let things = [
        "train", "hotel", "lamp", "bike", "soup", "film", "phone", "shirt",
    ];
    for thing in things {
        for said in ["cost ten euros", "was far too expensive", "is cheap"] {
            csv += &format!("The {thing} {said}.,the price,1\n");
        }
        for unsaid in ["was late", "made me laugh", "is blue"] {
            csv += &format!("The {thing} {unsaid}.,the price,0\n");
        }
    }
    csv
}

/// A head that tells mentions of the price, and the figures of its fit.
fn fitted(folder: &Folder) -> (String, Value) {
    let (data, head) = (
        folder.write("mentions.csv", &table()),
        folder.file("head.safetensors"),
    );
    let args = [
        "fit-mentioned",
        "--data",
        &data,
        "--output",
        &head,
        "--json",
    ];
    let scores = json(&args, "").remove(0)["scores"].take();
    (head, scores)
}

#[test]
fn a_fitted_head_tells_what_sentences_say() {
    let folder = Folder::new("mentioned-fit");
    let (head, scores) = fitted(&folder);
    assert!(scores["auc"].as_f64().unwrap() > 0.95, "{scores}");
    assert_eq!(
        (&scores["rows"], &scores["mentioned"]),
        (&48.into(), &24.into())
    );
    let data = folder.file("mentions.csv");
    let evaluate = ["evaluate", "--mentioned", &data, "--head", &head];
    let again = json(&[&evaluate[..], &["--json"]].concat(), "").remove(0);
    // The file holds its numbers in f16.
    for figure in ["auc", "threshold", "below", "below_of_others"] {
        let [a, b] = [&scores, &again].map(|scores| scores[figure].as_f64().unwrap());
        assert!((a - b).abs() < 0.03, "{figure}: {a} {b}");
    }
    let (code, printed, said) = caselens(&evaluate);
    assert_eq!(code, 0, "{said}");
    assert!(printed.contains("AUC") && printed.contains("below the threshold"));
    // Rows of one kind have no AUC, and none of the other kind are below anything.
    let kind = folder.write(
        "kind.csv",
        "sentence,condition,mentioned\nThe boat was late.,the price,0\n",
    );
    let (code, printed, said) = caselens(&["evaluate", "--mentioned", &kind, "--head", &head]);
    assert_eq!(code, 0, "{said}");
    assert!(
        printed.contains("AUC –") && !printed.contains("NaN"),
        "{printed}"
    );

    let score = |first: &str, second: &str| {
        let args = ["score", first, second, "-c", "the price", "--head", &head];
        let shown = String::from_utf8(program::ok(&args, b"")).unwrap();
        let told = json(&[&args[..], &["--json"]].concat(), "").remove(0);
        (shown, told["mentioned"].clone())
    };
    let (shown, told) = score("The boat was late.", "The car is blue.");
    assert!(shown.contains("[neither sentence says]"), "{shown}");
    assert_eq!(told.as_array().unwrap().len(), 2);
    let (shown, _) = score("The boat is cheap.", "The car is blue.");
    assert!(shown.contains("[only the first says]"), "{shown}");
    let (shown, _) = score("The boat is cheap.", "The car cost ten euros.");
    assert!(!shown.contains("says"), "{shown}");
}

#[test]
fn tables_get_columns_of_it() {
    let folder = Folder::new("mentioned-tables");
    let (head, _) = fitted(&folder);
    let pairs = "sentence1,sentence2,condition\nThe boat is cheap.,The car is blue.,the price\n";
    let (data, output) = (folder.write("pairs.csv", pairs), folder.file("scores.csv"));
    let args = [
        "score-table",
        "--data",
        &data,
        "--output",
        &output,
        "--mentioned",
        "--head",
    ];
    program::ok(&[&args[..], &[&head]].concat(), b"");
    let written = folder.read("scores.csv");
    let mut lines = written.lines();
    assert_eq!(
        lines.next(),
        Some("sentence1,sentence2,condition,similarity,mentioned1,mentioned2")
    );
    let cells: Vec<f64> = lines
        .next()
        .unwrap()
        .split(',')
        .skip(3)
        .map(|cell| cell.parse().unwrap())
        .collect();
    assert!(cells.len() == 3 && cells[1] > cells[2], "{cells:?}");

    let rows = "{\"sentence\":\"The boat is cheap.\",\"condition\":\"the price\"}\n{\"sentence\":\"The car is blue.\",\"condition\":\"the price\"}";
    let args = [
        "embed",
        "--mentioned",
        "--input-format",
        "jsonl",
        "--head",
        &head,
    ];
    let embedded = json(&args, rows);
    let told: Vec<f64> = embedded
        .iter()
        .map(|row| row["mentioned"].as_f64().unwrap())
        .collect();
    assert!((told[0] - cells[1]).abs() < 1e-6 && (told[1] - cells[2]).abs() < 1e-6);
    let csv = "sentence,condition\nThe boat is cheap.,the price\n";
    let args = [
        "embed",
        "--mentioned=said",
        "--input-format",
        "csv",
        "--head",
        &head,
    ];
    let written = String::from_utf8(program::ok(&args, csv.as_bytes())).unwrap();
    assert!(
        written.starts_with("sentence,condition,said,embedding\n"),
        "{written:.80}"
    );
    let lines = program::refused(&["embed", "--mentioned", "--head", &head], b"a text");
    assert!(lines.contains("--output-format"), "{lines}");
}

#[test]
fn a_head_that_does_not_tell_is_refused_with_what_to_do() {
    let folder = Folder::new("mentioned-not");
    let data = folder.write("mentions.csv", &table());
    let pairs = folder.write("pairs.csv", "sentence1,sentence2,condition\na,b,c\n");
    let output = folder.file("scores.csv");
    let one_kind = folder.write("one.csv", "sentence,condition,mentioned\na,b,1\n");
    for (args, says) in [
        (vec!["evaluate", "--mentioned", &data], "fit-mentioned"),
        (
            vec![
                "score-table",
                "--data",
                &pairs,
                "--output",
                &output,
                "--mentioned",
            ],
            "fit-mentioned",
        ),
        (
            vec!["fit-mentioned", "--data", &one_kind, "--output", &output],
            "both kinds",
        ),
    ] {
        // What ships may tell it: the bare encoder does not.
        let said = program::refused(&[&args[..], &["--head", "none"]].concat(), b"");
        assert!(said.contains(says), "{args:?}: {said}");
    }
}

#[test]
fn what_a_model_cannot_read_is_told() {
    let score = [
        "score",
        "Ich habe das Paket noch immer nicht bekommen.",
        "My parcel is not here \u{1fa00}",
        "-c",
        "the mood",
    ];
    let shown = String::from_utf8(program::ok(&score, b"")).unwrap();
    assert!(shown.contains("[sentence 1 looks like German"), "{shown}");
    assert!(shown.contains("[1 piece is not known"), "{shown}");
    let told = json(&[&score[..], &["--json"]].concat(), "").remove(0);
    assert_eq!(told["language"], serde_json::json!(["de", null]));
    assert_eq!(told["unknown"], 1);
    let texts = "All is well.\nIch habe das Paket noch immer nicht bekommen.\nWarum ist die Rechnung schon wieder so hoch?\na \u{1fa00}\n";
    let output = program::run(&["embed"], texts.as_bytes());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("2 texts look like German") && said.contains("first in row 2"),
        "{said}"
    );
    assert!(
        said.contains("1 rows hold pieces") && said.contains("first row 4"),
        "{said}"
    );
}

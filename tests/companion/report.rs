//! `caselens report` on a tiny random encoder: every section is there, and its numbers are `evaluate`'s.

use crate::common::Folder;
use crate::{common, program};
use serde_json::Value;

fn ok(args: &[&str]) -> String {
    String::from_utf8(program::ok(args, b"")).unwrap()
}

/// Sentence pairs under two conditions each; `shift` makes different ones. Ratings are 1 to 5, some tied.
fn data(pairs: usize, shift: usize) -> String {
    let animals = ["dog", "cat", "horse", "bird", "cow"];
    let places = ["river", "market", "street", "garden"];
    let conditions = [
        "animal",
        "place",
        "number of people",
        "colour",
        "weather",
        "mood",
    ];
    let mut csv = String::from("sentence1,sentence2,condition,label\n");
    for i in shift..shift + pairs {
        let one = format!("a {} near the {}", animals[i % 5], places[i / 2 % 4]);
        let two = format!("a {} at the {}", animals[i / 3 % 5], places[i / 7 % 4]);
        for side in 0..2 {
            let c = (i + 2 * side) % 6;
            // Some are rare, and some come in later rows alone. (Words that the tiny tokenizer does not know
            // would be one token, and two such conditions tie.)
            let condition = match i % 10 {
                9 => ["vehicle", "sport being played"][side],
                8 if i >= 60 => ["clothes", "age of the person"][side],
                _ => conditions[c],
            };
            let label = 1 + i % 3 + c / 2;
            csv += &format!("{one},{two},the {condition},{label}\n");
        }
    }
    csv + "a dog,a cat,the mood,-1\na dog,a cat,the place,3\n"
}

/// The row of a table whose first cell is `name`, after a heading.
fn row(report: &str, heading: &str, name: &str) -> Vec<String> {
    let section = report.split(&format!("## {heading}\n")).nth(1).unwrap();
    let line = section
        .lines()
        .find(|l| l.starts_with(&format!("| {name} |")))
        .unwrap_or_else(|| panic!("{heading}: {name}\n{section}"));
    line.split('|').map(|cell| cell.trim().to_owned()).collect()
}

fn percent(value: &Value) -> String {
    format!("{:.2}", 100.0 * value.as_f64().expect("a figure"))
}

#[test]
fn a_report_has_every_section_and_the_numbers_of_evaluate() {
    let folder = Folder::new("report");
    let train = folder.write("train.csv", &data(60, 0));
    let csv = folder.write("data.csv", &data(120, 31));
    let other = folder.write("other.csv", &data(20, 500));
    let cache = folder.file("cache");
    let base = common::fixture("bert-tiny").display().to_string();
    // A "trained" encoder: another one, with a history beside it.
    let model = folder.file("model");
    std::fs::create_dir(&model).unwrap();
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        let from = common::fixture("roberta-tiny").join(file);
        std::fs::copy(from, folder.0.join("model").join(file)).unwrap();
    }
    folder.write(
        "model/history.csv",
        "epoch,loss,validation_spearman\n1,0.2,0.1\n2,0.125,0.25\n",
    );
    let head = folder.file("tiny.head.safetensors");
    ok(&[
        "train-head",
        "--data",
        &train,
        "--model",
        &base,
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
        "--json",
    ]);
    let with_head = format!("{base}={head}");
    let setting = ["--order", "cs", "--pooling", "all", "--no-subtract"];
    let report = |output: &str, more: &[&str]| {
        let mut args = vec![
            "report",
            "--train",
            &train,
            "--data",
            &csv,
            "--base",
            &base,
            "--model",
            &model,
            "--model",
            &with_head,
            "--out-of-domain",
            &other,
            "--output",
            output,
            "--cache",
            &cache,
        ];
        args.extend(setting);
        args.extend(more);
        ok(&args)
    };
    let output = folder.file("out");
    assert!(report(&output, &[]).contains("report.md"));
    let text = folder.read("out/report.md");

    let headings = [
        "Results",
        "Other domains",
        "Zero-shot settings",
        "Number of dimensions",
        "Training curves",
        "Isotropy",
        "Sentences that training did not have, and parts of the file",
        "By how often training had the condition",
        "By type of condition",
        "Reliability",
        "Clusters and maps",
        "Worst mistakes",
    ];
    let found: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("## ")).collect();
    assert_eq!(found, headings);
    for chart in [
        "dimensions",
        "loss",
        "validation",
        "map-1",
        "map-2",
        "map-3",
        "reliability",
    ] {
        let svg = folder.read(&format!("out/{chart}.svg"));
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        assert!(text.contains(&format!("({chart}.svg)")), "{chart}");
    }
    assert!(!text.contains("NaN"), "{text}");

    let evaluate = |data: &str, more: &[&str]| -> Value {
        let mut args = vec![
            "evaluate",
            "--data",
            data,
            "--train",
            &train,
            "--confidence",
            "--json",
        ];
        args.extend(more);
        serde_json::from_str(&ok(&args)).unwrap()
    };
    let none = ["--head", "none", "--model"];
    let plain: Vec<&str> = none
        .iter()
        .copied()
        .chain([model.as_str()])
        .chain(setting)
        .collect();
    let frozen: Vec<&str> = none.iter().copied().chain([base.as_str()]).collect();
    let headed = ["--model", &base, "--head", &head];
    for (name, options) in [
        ("model", &plain[..]),
        ("bert-tiny", &headed),
        ("bert-tiny, frozen", &frozen),
    ] {
        let expected = evaluate(&csv, options);
        let cells = row(&text, "Results", name);
        for (cell, figure) in [(2, "spearman"), (3, "accuracy"), (4, "accuracy_untied")] {
            let interval = &expected["confidence"][figure];
            let words = format!(
                "{} ({}–{})",
                percent(&expected[figure]),
                percent(&interval[0]),
                percent(&interval[1])
            );
            assert_eq!(cells[cell], words, "{name}: {figure}");
        }
        let elsewhere = evaluate(&other, options);
        let words = format!(
            "{} / {}",
            percent(&elsewhere["spearman"]),
            percent(&elsewhere["accuracy_untied"])
        );
        assert_eq!(row(&text, "Other domains", name)[2], words, "{name}");
        let baseline = row(&text, "Results", "condition only");
        let expected = percent(&expected["condition_only"]["spearman"]);
        assert!(
            baseline[2].starts_with(&format!("{expected} (")),
            "{baseline:?}"
        );
    }

    // The zero-shot table holds each setting's figure.
    for (words, options) in [
        (
            "[c][sep][s], all tokens",
            &["--order", "cs", "--pooling", "all"],
        ),
        ("[s][sep][c], [CLS]", &["--order", "sc", "--pooling", "cls"]),
    ] {
        let cells = row(&text, "Zero-shot settings", words);
        for (at, more) in [(2, Some("--no-subtract")), (4, None)] {
            let options: Vec<&str> = frozen.iter().chain(options).copied().chain(more).collect();
            let expected = evaluate(&csv, &options);
            assert_eq!(cells[at], percent(&expected["spearman"]), "{words}");
            assert_eq!(cells[at + 1], percent(&expected["accuracy_untied"]));
        }
    }

    // Occurrences as evaluate counts them; the whole width is no cut.
    let expected = evaluate(&csv, &headed);
    let heading = "By how often training had the condition";
    for bucket in expected["by_occurrence"].as_array().unwrap() {
        let cells = row(&text, heading, bucket["occurrences"].as_str().unwrap());
        assert_eq!(cells[2], bucket["rows"].to_string());
        if !bucket["spearman"].is_null() {
            assert!(
                cells
                    .iter()
                    .any(|c| c.starts_with(&percent(&bucket["spearman"])))
            );
        }
    }
    let whole = row(&text, "Number of dimensions", "16");
    assert_eq!(whole[whole.len() - 2], percent(&expected["spearman"]));
    assert!(text.contains("| model | 1 | 0.2000 | 10.00 |"), "{text}");
    assert!(text.contains("bert-tiny keeps no `history.csv`"), "{text}");
    let place = "Sentences that training did not have, and parts of the file";
    // 242 rows in the file, 241 of them valid: two thirds are 160 rows.
    assert_eq!(row(&text, place, "first 160 rows of the file")[2], "160");
    assert_eq!(row(&text, place, "the rest")[2], "81");
    let animals = data(120, 31).matches(",the animal,").count();
    assert_eq!(
        row(&text, "By type of condition", "animal")[2],
        animals.to_string()
    );

    // Texts are there unless they are not to be.
    assert!(text.contains("near the river"));
    report(
        &folder.file("quiet"),
        &["--no-examples", "--part-rows", "100"],
    );
    let quiet = folder.read("quiet/report.md");
    assert!(!quiet.contains("near the") && quiet.contains("first 100 rows"));
    for chart in ["map-1", "map-2"] {
        assert!(
            !folder
                .read(&format!("quiet/{chart}.svg"))
                .contains("the place")
        );
    }
    // The same figures every time.
    let results = |text: &str| text.split("## ").nth(1).map(str::to_owned);
    assert_eq!(results(&text), results(&quiet));
}

#[test]
fn what_is_wrong_is_said_before_any_work() {
    let folder = Folder::new("report-wrong");
    let csv = folder.write("data.csv", &data(6, 0));
    let base = common::fixture("bert-tiny").display().to_string();
    let args = |train: &str, output: &str| {
        let args = [
            "report", "--train", train, "--data", &csv, "--base", &base, "--output", output,
        ];
        program::refused(&args, b"")
    };
    assert!(args(&csv, &csv).contains("is a file"));
    assert!(args(&folder.file("absent.csv"), &folder.file("out")).contains("absent.csv"));
}

//! `caselens report` on tiny random encoders of every kind: every section is there, and its numbers are `evaluate`'s.

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

const ANSWERED: &str = "sentence1,sentence2,condition,label,answer1,answer2
a dog near the river,a cat at the river,the animal,1,a dog,a cat
a dog near the river,a cat at the river,the place,5,river,
";

const SWAPPED: &str = "sentence1,sentence2,condition,label,answer1,answer2
a dog near the river,a cat near the river,the place,5,river,river
a dog at the market,a cat at the market,the place,5,market,market
a dog near the river,a cat near the river,the animal,1,a dog,a cat
";

/// Those of every report.
const HEADINGS: [&str; 17] = [
    "Results",
    "Zero-shot settings",
    "Heads, PCA and ICA",
    "Training of the heads",
    "Before and after the heads",
    "Sentences and their answers",
    "Number of dimensions",
    "Embeddings cut short",
    "Training curves",
    "Isotropy",
    "Sentences that differ in a person's gender",
    "Sentences that training did not have, and parts of the file",
    "By how often training had the condition",
    "By type of condition",
    "Reliability",
    "Clusters and maps",
    "Worst mistakes",
];

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
    let answered = folder.write("answered.csv", ANSWERED);
    let swapped = folder.write("swapped.csv", SWAPPED);
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
            "--out-of-domain",
            &answered,
            "--swapped",
            &swapped,
            "--output",
            output,
            "--cache",
            &cache,
            "--dims",
            "16,8",
        ];
        args.extend(setting);
        args.extend(more);
        ok(&args)
    };
    let output = folder.file("out");
    assert!(report(&output, &[]).contains("report.md"));
    let text = folder.read("out/report.md");

    let found: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("## ")).collect();
    assert_eq!(found[0], HEADINGS[0]);
    assert_eq!(found[1], "Other domains");
    assert_eq!(found[2..], HEADINGS[1..]);
    for chart in [
        "heads",
        "dimensions",
        "cut",
        "isotropy-1",
        "isotropy-2",
        "isotropy-3",
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
        for (at, more) in [(2, Some("--no-subtract")), (5, None)] {
            let options: Vec<&str> = frozen.iter().chain(options).copied().chain(more).collect();
            let expected = evaluate(&csv, &options);
            let figures =
                ["spearman", "accuracy", "accuracy_untied"].map(|f| percent(&expected[f]));
            assert_eq!(cells[at..at + 3], figures, "{words}");
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
    let whole = row(&text, "Embeddings cut short", "16");
    assert_eq!(whole[whole.len() - 2], percent(&expected["spearman"]));
    // A head that `train-head` makes with the same settings is the one that is trained here, at every width.
    for dims in ["8", "16"] {
        let head = folder.file("trained.head.safetensors");
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
            dims,
            "--json",
        ]);
        let expected = evaluate(&csv, &["--model", &base, "--head", &head]);
        let cells = row(&text, "Number of dimensions", dims);
        assert_eq!(cells[2], percent(&expected["spearman"]), "{dims}");
        if dims == "16" {
            let cells = row(&text, "Heads, PCA and ICA", "linear head");
            let figures =
                ["spearman", "accuracy", "accuracy_untied"].map(|f| percent(&expected[f]));
            assert_eq!((&cells[2][..], &cells[3..6]), ("16", &figures[..]));
            let curve = row(&text, "Training of the heads", "linear head");
            assert_eq!(curve[6], figures[0]);
        }
    }
    // The model with an encoder of its own is a line to compare with; the base with a head is none.
    assert!(text.contains("reach: model (64 dimensions): "), "{text}");
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

    // 62 rows; without a condition as `score` has it.
    let before = row(&text, "Before and after the heads", "without a condition");
    assert_eq!(before[2], "241");
    let shown = text.split("## Before and after").nth(1).unwrap();
    let shown = shown.lines().find(|l| l.contains(" – | a ")).unwrap();
    let cells: Vec<&str> = shown.split('|').map(str::trim).collect();
    let args = ["score", "--model", &base, "--head", "none", "--json"];
    let texts = [cells[7], cells[8], "-c", "the place"];
    let score: Value = serde_json::from_str(&ok(&[&args[..], &texts].concat())).unwrap();
    assert_eq!(cells[3], percent(&score["unconditional"]));

    // Sentences and answers under one condition, as `score` has it.
    let own = row(
        &text,
        "Sentences and their answers",
        "answered.csv, own answer",
    );
    assert_eq!(own[2], "3");
    let other = row(
        &text,
        "Sentences and their answers",
        "answered.csv, the other's answer",
    );
    assert_eq!(other[2], "2");
    let similarity = |answer: &str| -> f64 {
        let args = ["score", "--model", &base, "--head", "none", "--json"];
        let more = ["a dog near the river", answer, "-c", "the animal"];
        let score: Value = serde_json::from_str(&ok(&[&args[..], &more].concat())).unwrap();
        score["similarity"].as_f64().unwrap()
    };
    let shown = text
        .lines()
        .find(|l| l.contains("| the animal | a dog near the river | a dog |"));
    let cells: Vec<&str> = shown.unwrap().split('|').map(str::trim).collect();
    assert_eq!(cells[3], format!("{:.2}", 100.0 * similarity("a dog")));

    // Swapped words, by hand from the same similarities.
    let probe = row(
        &text,
        "Sentences that differ in a person's gender",
        "bert-tiny, frozen, the place",
    );
    let similarity = |texts: [&str; 2]| -> f64 {
        let args = [
            "score",
            "--model",
            &base,
            "--head",
            "none",
            "--json",
            texts[0],
            texts[1],
            "-c",
            "the place",
        ];
        let score: Value = serde_json::from_str(&ok(&args)).unwrap();
        score["similarity"].as_f64().unwrap()
    };
    let rows = [("near", "river"), ("at", "market")].map(|(at, place)| {
        let [first, second] = ["dog", "cat"].map(|a| format!("a {a} {at} the {place}"));
        let nearer = similarity([&second, place]) - similarity([&first, place]);
        (similarity([&first, &second]), nearer)
    });
    let [(one, d), (two, e)] = rows;
    let sides = [d, e].iter().filter(|d| **d > 0.0).count() as f64 / 2.0;
    let figures = [(one + two) / 2.0, one.min(two), sides, (d + e) / 2.0];
    assert_eq!(probe[2], "2");
    for (cell, figure) in probe[3..7].iter().zip(figures) {
        let cell: f64 = cell.parse().unwrap();
        assert!((cell - 100.0 * figure).abs() < 0.011, "{cell} {figure}");
    }
    let animal = row(
        &text,
        "Sentences that differ in a person's gender",
        "bert-tiny, frozen, the animal",
    );
    assert_eq!(animal[5..7], ["–", "–"], "{animal:?}");

    // Texts are there unless they are not to be.
    assert!(text.contains("near the river"));
    report(
        &folder.file("quiet"),
        &["--no-examples", "--part-rows", "101"],
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

/// Bases that follow instructions: decoders, and an XLM-R that goes by the name of one that does.
#[test]
fn a_report_on_an_encoder_behind_instructions_has_them_too() {
    let folder = Folder::new("report-instruct");
    let train = folder.write("train.csv", &data(16, 0));
    let csv = folder.write("data.csv", &data(16, 31));
    let cache = folder.file("cache");
    let e5 = folder.file("multilingual-e5-large-instruct");
    std::fs::create_dir(&e5).unwrap();
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        let from = common::fixture("xlm-r-tiny").join(file);
        std::fs::copy(from, std::path::Path::new(&e5).join(file)).unwrap();
    }
    let decoders = ["mistral", "nvembed", "qwen2"]
        .map(|model| common::decoder(&format!("report-{model}"), model, &serde_json::json!({})));
    let mut bases: Vec<String> = decoders.iter().map(|d| d.0.display().to_string()).collect();
    bases.push(e5);
    for (base, (own, pools)) in bases.iter().zip([
        ("last token", &["last", "query"][..]),
        ("latent attention", &["query"]),
        ("last token", &["last"]),
        ("the text's tokens", &["query"]),
    ]) {
        let output = folder.file("out");
        ok(&[
            "report", "--train", &train, "--data", &csv, "--base", base, "--output", &output,
            "--cache", &cache, "--dims", "8",
        ]);
        let text = folder.read("out/report.md");
        let found: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("## ")).collect();
        assert_eq!(found, HEADINGS, "{base}");
        assert!(!text.contains("NaN"), "{text}");
        let described = format!("cond, f(c; I(s)), {own}, minus the condition's own embedding");
        assert!(text.contains(&described), "{text}");
        let evaluate = |more: &[&str]| -> Value {
            let args = [
                "evaluate", "--data", &csv, "--model", base, "--head", "none", "--cache", &cache,
                "--json",
            ];
            serde_json::from_str(&ok(&[&args[..], more].concat())).unwrap()
        };
        for pool in pools {
            let words = match *pool {
                "last" => "last token",
                _ if own == "latent attention" => own,
                _ => "the text's tokens",
            };
            for (setting, name) in [("cond", "cond, f(c; I(s))"), ("sent", "sent, f(s; I(c))")] {
                let cells = row(&text, "Zero-shot settings", &format!("{name}, {words}"));
                for (at, no) in [(2, "true"), (5, "false")] {
                    let no = format!("--no-subtract={no}");
                    let expected = evaluate(&["--setting", setting, "--pooling", pool, &no]);
                    let figures = ["spearman", "accuracy", "accuracy_untied"];
                    let figures = figures.map(|f| percent(&expected[f]));
                    assert_eq!(cells[at..at + 3], figures, "{base}: {name}, {words}, {no}");
                }
            }
        }
        // Tables 4 and 5, with and without the subtraction.
        let name = std::path::Path::new(base)
            .file_name()
            .unwrap()
            .to_str()
            .unwrap();
        for minus in ["", ", − c"] {
            let name = format!("{name}, cond, f(c; I(s)){minus}");
            let cells = row(&text, "Isotropy", &name);
            assert!(
                cells[2].contains(" ± ") && cells[3].parse::<f64>().is_ok(),
                "{cells:?}"
            );
        }
        let svg = folder.read("out/isotropy-1.svg");
        assert!(svg.contains("with c") && svg.contains("− c"));
        assert!(
            row(&text, "Heads, PCA and ICA", "non-linear head")[3]
                .parse::<f64>()
                .is_ok()
        );
    }
}

/// CASE's protocol: tuned on 70 % of the sentence pairs, reported on the others, as `train-head` and `evaluate` do it.
#[test]
fn a_split_is_tuned_on_and_reported_on_by_every_command() {
    let folder = Folder::new("report-split");
    let train = folder.write("train.csv", &data(40, 0));
    let csv = folder.write("data.csv", &data(60, 31));
    let base = common::fixture("bert-tiny").display().to_string();
    let (cache, head) = (folder.file("cache"), folder.file("tuned.head.safetensors"));
    let output = folder.file("out");
    ok(&[
        "report", "--train", &train, "--data", &csv, "--split", "3", "--base", &base, "--output",
        &output, "--cache", &cache, "--dims", "8",
    ]);
    let text = folder.read("out/report.md");
    let evaluate = |more: &[&str]| -> Value {
        let args = ["evaluate", "--data", &csv, "--model", &base, "--json"];
        serde_json::from_str(&ok(&[&args[..], more].concat())).unwrap()
    };
    let frozen = evaluate(&["--head", "none", "--split", "3"]);
    // 30 % of about 61 sentence pairs.
    let pairs = frozen["pairs"].as_u64().unwrap();
    assert!((14..=20).contains(&pairs), "{pairs}");
    assert_ne!(frozen, evaluate(&["--head", "none", "--split", "4"]));
    let named = ["0", "case"].map(|split| evaluate(&["--head", "none", "--split", split]));
    assert_eq!(named[0], named[1]);
    let spearman = |name: &str| row(&text, "Results", name)[2].clone();
    assert!(
        spearman("bert-tiny, frozen").starts_with(&format!("{} (", percent(&frozen["spearman"])))
    );
    ok(&[
        "train-head",
        "--data",
        &train,
        "--validation",
        &csv,
        "--split",
        "3",
        "--model",
        &base,
        "--output",
        &head,
        "--cache",
        &cache,
        "--dims",
        "8",
        "--json",
    ]);
    let tuned = evaluate(&["--head", &head, "--split", "3"]);
    let found = spearman("bert-tiny, non-linear head");
    assert!(
        found.starts_with(&format!("{} (", percent(&tuned["spearman"]))),
        "{found}: {tuned}"
    );
    let alone = program::refused(
        &[
            "train-head",
            "--data",
            &train,
            "--split",
            "3",
            "--output",
            &head,
        ],
        b"",
    );
    assert!(alone.contains("--validation"), "{alone}");
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

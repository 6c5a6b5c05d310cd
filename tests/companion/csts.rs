//! The protocol of C-STS: seeds, comparisons of runs, and what training writes of itself.

use caselens::head::{HeadFile, Mentioned};
use serde_json::Value;

use crate::{
    common::{self, Folder, toy_csv},
    program::{ok, refused, run},
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
    // As Windows writes it: UTF-16 with its mark, and UTF-8 with one.
    let text = folder.read("lines.jsonl");
    let utf16: Vec<u8> = ([0xfeff].into_iter().chain(text.encode_utf16()))
        .flat_map(u16::to_le_bytes)
        .collect();
    let (wide, marked) = (folder.file("wide.jsonl"), folder.file("marked.jsonl"));
    std::fs::write(&wide, utf16).unwrap();
    std::fs::write(&marked, format!("\u{feff}{text}")).unwrap();
    let printed = |args: &[&str]| json(&ok(args, b""))["sets"][0]["mean"].clone();
    let mean = printed(&["compare-runs", &lines, "--json"]);
    for other in [&wide, &marked] {
        assert_eq!(printed(&["compare-runs", other, "--json"]), mean);
    }
    let binary = folder.file("binary.jsonl");
    std::fs::write(&binary, [0u8; 64]).unwrap();
    assert!(refused(&["compare-runs", &binary, &few], b"").contains("is no text"));
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

#[test]
fn a_cross_encoder_is_trained_scores_and_embeds_nothing() {
    let folder = Folder::new("csts-cross");
    let toy = folder.write("toy.csv", &toy_csv(24));
    let (out, new) = (folder.file("out"), folder.file("new"));
    let cross = [
        "--architecture",
        "cross",
        "--epochs",
        "1",
        "--kind",
        "transform",
        "--inputs",
        "condition",
    ];
    let report = tune(&toy, &out, &[&cross[..], &["--validation", &toy]].concat());
    let spec = &report["spec"];
    assert_eq!(spec["dims"], serde_json::json!([64, 64, 1]));
    assert_eq!(
        (&spec["relu"], &spec["dropout"]),
        (&"gelu".into(), &serde_json::json!(0.1f32))
    );
    assert_eq!(
        spec["case"]["architecture"],
        serde_json::json!({"cross": {"inputs": "condition"}})
    );
    assert_eq!(spec["case"]["pooling"], "cls");

    // The folder remembers, to the numbers validation saw, and to what it does not read.
    let evaluated = json(&ok(
        &["evaluate", "--model", &out, "--data", &toy, "--json"],
        b"",
    ));
    let reached = report["seeds"][0]["best_epoch"]["validation_spearman"]
        .as_f64()
        .unwrap();
    assert!(
        (evaluated["spearman"].as_f64().unwrap() - reached).abs() < 1e-6,
        "{evaluated}"
    );
    let score = |s1: &str, s2: &str| {
        let printed = ok(
            &[
                "score",
                s1,
                s2,
                "-c",
                "the animal",
                "--model",
                &out,
                "--json",
            ],
            b"",
        );
        json(&printed)["similarity"].as_f64().unwrap()
    };
    assert_eq!(
        score("a dog", "a cat"),
        score("rain near the river", "a street")
    );
    let text = String::from_utf8(ok(&["evaluate", "--model", &out, "--data", &toy], b"")).unwrap();
    assert!(
        text.starts_with("transforming head 64 → 64 → 1 for out (")
            && text.contains("as a cross-encoder"),
        "{text}"
    );
    // So does its file for the backend that multiplies bytes.
    let (gguf, head) = (folder.file("out.gguf"), folder.file("out.head.safetensors"));
    ok(
        &[
            "quantize", "--model", &out, "--output", &gguf, "--dtype", "q8_0", "--head", &head,
        ],
        b"",
    );
    let rounded = json(&ok(
        &[
            "evaluate", "--model", &gguf, "--head", &head, "--data", &toy, "--json",
        ],
        b"",
    ));
    assert!(
        (rounded["spearman"].as_f64().unwrap() - reached).abs() < 0.2,
        "{rounded} {reached}"
    );

    let line = r#"{"sentence": "a dog", "condition": "the animal"}"#;
    let table = folder.write("texts.jsonl", &format!("{line}\n"));
    let embed = [
        "embed",
        "--model",
        &out,
        "--input",
        &table,
        "--output",
        &new,
        "--text-column",
        "sentence",
    ];
    for (args, part) in [
        (
            &[&embed[..], &["--condition-column", "condition"]].concat()[..],
            "embeds neither",
        ),
        (
            &[
                "export", "--model", &gguf, "--head", &head, "--output", &new,
            ],
            "a cross-encoder scores two sentences",
        ),
        (
            &[
                "evaluate",
                "--model",
                &out,
                "--data",
                &toy,
                "--head",
                "none",
                "--architecture",
                "cross",
            ],
            "the head that was trained with it",
        ),
        (
            &[
                "evaluate",
                "--model",
                &out,
                "--data",
                &toy,
                "--head",
                "none",
                "--inputs",
                "condition",
            ],
            "--inputs is for --architecture cross",
        ),
        (
            &[
                "fine-tune",
                "--model",
                &out,
                "--data",
                &toy,
                "--output",
                &new,
                "--architecture",
                "cross",
                "--order",
                "cs",
            ],
            "--order is for",
        ),
        (
            &[
                "fine-tune",
                "--model",
                &out,
                "--data",
                &toy,
                "--output",
                &new,
                "--kind",
                "transform",
                "--dims",
                "8",
            ],
            "not for --kind transform",
        ),
        (
            &[
                "fine-tune",
                "--model",
                &out,
                "--data",
                &toy,
                "--output",
                &new,
                "--architecture",
                "cross",
                "--pooling",
                "condition",
            ],
            "cls or all",
        ),
    ] {
        let said = refused(args, b"");
        assert!(said.contains(part), "{args:?}: {said}");
    }
}

#[test]
fn predictions_are_the_benchmarks_submission() {
    let folder = Folder::new("csts-predictions");
    let rows = 4732;
    let csv = |label: &str| {
        let row = |i: usize| {
            format!(
                "sentence {i},the other,the place{}\n",
                if label.is_empty() { "" } else { ",-1" }
            )
        };
        format!(
            "sentence1,sentence2,condition{label}\n{}",
            (0..rows).map(row).collect::<String>()
        )
    };
    // As the hidden test set is published, and without the column.
    let lines: String = (0..rows)
        .map(|i| format!("{{\"similarity\": {}}}\n", i as f64 / 8192.0))
        .collect();
    let similarities = folder.write("similarities.jsonl", &lines);
    let out = folder.file("predictions.json");
    for label in [",label", ""] {
        let data = folder.write("test.csv", &csv(label));
        let mut args = vec![
            "evaluate",
            "--data",
            &data,
            "--similarities",
            &similarities,
            "--predictions",
            &out,
        ];
        args.extend(["--expect-rows", "4732"]);
        let printed = String::from_utf8(ok(&args, b"")).unwrap();
        assert!(
            printed.contains("4732 predictions, 0 of them with a label")
                && !printed.contains("NaN"),
            "{printed}"
        );
        args.push("--json");
        let report = json(&ok(&args, b""));
        assert_eq!(
            (&report["predictions"], &report["rows"]),
            (&rows.into(), &0.into())
        );
        assert!(report["spearman"].is_null());
        // Keys in the order of the rows, each with its own number.
        let text = folder.read("predictions.json");
        let keys: Vec<&str> = text
            .lines()
            .filter_map(|line| line.split('"').nth(1))
            .collect();
        assert!(keys.iter().zip(0..).all(|(key, i)| *key == i.to_string()) && keys.len() == rows);
        let all: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (&all["0"], &all["4731"]),
            (&0.0.into(), &(4731.0 / 8192.0).into())
        );
    }
    let data = folder.file("test.csv");
    let few = [
        "evaluate",
        "--data",
        &data,
        "--predictions",
        &out,
        "--limit",
        "10",
        "--expect-rows",
        "4732",
    ];
    assert!(refused(&few, b"").contains("row 10: it ends here, and 4732 rows are expected"));

    // Rows with a label are evaluated as ever, and those without are predicted beside them.
    let model = common::fixture("bert-tiny").display().to_string();
    let mixed = folder.write("mixed.csv", &toy_csv(16));
    let encoder = [
        "--model", &model, "--head", "none", "--data", &mixed, "--json",
    ];
    let report = json(&ok(
        &[&["evaluate", "--predictions", &out][..], &encoder].concat(),
        b"",
    ));
    let without = json(&ok(&[&["evaluate"][..], &encoder].concat(), b""));
    assert_eq!(
        (&report["rows"], &report["predictions"]),
        (&30.into(), &32.into())
    );
    for figure in ["spearman", "pearson", "accuracy", "pairs"] {
        assert_eq!(report[figure], without[figure], "{figure}");
    }
    let all: Value = serde_json::from_str(&folder.read("predictions.json")).unwrap();
    assert!(all["15"].is_number() && all.as_object().unwrap().len() == 32);
}

#[test]
fn data_is_counted_and_its_conditions_are_read_by_the_guidelines() {
    let folder = Folder::new("csts-data");
    let csv = "sentence1,sentence2,condition,label,first,second,third\n\
               a green melon,a green avocado,The color is green,5,5,5,5\n\
               a green melon,a green avocado,The size of the fruit,1,1,1,2\n\
               a man plays guitar,a man plays on the road,The instrument in the sentence.,4.0,4,4,4\n\
               a man plays guitar,a man plays on the road,The activity.,-1,3,,3\n";
    let data = folder.write("data.csv", csv);
    let args = [
        "check-data",
        "--data",
        &data,
        "--annotators",
        "first,second,third",
        "--against",
        &data,
    ];
    let report = json(&ok(&[&args[..], &["--json"]].concat(), b""));
    assert_eq!(
        (&report["rows"], &report["pairs"], &report["conditions"]),
        (&4.into(), &2.into(), &4.into())
    );
    assert_eq!(
        report["labels"],
        serde_json::json!({"-1": 1, "1": 1, "4": 1, "5": 1})
    );
    assert_eq!(report["shared"]["pairs"], 2);
    // Three subjects: P̄ = (1 + 1/3 + 1) / 3 and P̄ₑ = (3² + 2² + 1² + 3²) / 9².
    let (observed, chance) = (7.0 / 9.0, 23.0 / 81.0);
    let kappa = report["agreement"]["fleiss_kappa"].as_f64().unwrap();
    assert!(
        (kappa - (observed - chance) / (1.0 - chance)).abs() < 1e-12,
        "{kappa}"
    );
    assert_eq!(report["agreement"]["rows"], 3);
    let found: Vec<_> = (report["findings"].as_array().unwrap().iter())
        .map(|f| (f["row"].as_u64().unwrap(), f["guideline"].as_u64().unwrap()))
        .collect();
    assert_eq!(found, [(1, 3), (3, 4), (4, 5)]);
    let printed =
        String::from_utf8(ok(&[&args[..], &["--guidelines", "3,5"]].concat(), b"")).unwrap();
    assert!(printed.contains("row 1: \"The color is green\" (guideline 3): it says that something is \"green\", a value"), "{printed}");
    assert!(
        printed.contains("Fleiss' kappa of 3 annotators on 3 rows")
            && !printed.contains("guideline 4"),
        "{printed}"
    );
    assert!(
        refused(
            &["check-data", "--data", &data, "--annotators", "first"],
            b""
        )
        .contains("two annotators at least")
    );
    assert!(
        refused(
            &[
                "check-data",
                "--data",
                &data,
                "--annotators",
                "first,fourth"
            ],
            b""
        )
        .contains("`fourth` is missing")
    );
    // What a sentence does not say is told by a head that knows: here by one for which none says anything.
    let [encoder, head] = common::models();
    let (encoder, silent) = (
        encoder.display().to_string(),
        folder.file("silent.head.safetensors"),
    );
    let mut file = HeadFile::open(&head).unwrap();
    file.mentioned = Some(Mentioned {
        weight: vec![0.0; 384],
        bias: -3.0,
        threshold: Mentioned::THRESHOLD,
    });
    std::fs::write(&silent, file.to_bytes().unwrap()).unwrap();
    file.mentioned = None;
    let untold = folder.file("untold.head.safetensors");
    std::fs::write(&untold, file.to_bytes().unwrap()).unwrap();
    let told = [
        "check-data",
        "--data",
        &data,
        "--guidelines",
        "2",
        "--mentioned",
        "--json",
    ];
    let report = json(&ok(
        &[&told[..], &["--model", &encoder, "--head", &silent]].concat(),
        b"",
    ));
    let found = report["findings"].as_array().unwrap();
    assert_eq!(found.len(), 4);
    assert_eq!(found[3]["row"], 4);
    assert_eq!(
        found[3]["reason"],
        "neither sentence says anything about it"
    );
    let untold = [&told[..], &["--model", &encoder, "--head", &untold]].concat();
    assert!(refused(&untold, b"").contains("does not tell what a sentence mentions"));
}

#[test]
fn pairs_are_judged_by_the_criteria_of_csts() {
    let folder = Folder::new("csts-criteria");
    let data = folder.write(
        "pairs.csv",
        "sentence1,sentence2\n\
         A large green ball was bouncing on the wet street today.,I bought a small green avocado at the market on a corner.\n\
         A large green ball was bouncing on the wet street today.,I bought a small green avocado at the market on a corner.\n\
         A dog runs.,A dog runs on the wet sand of a very long and empty beach.\n",
    );
    let encoder = common::fixture("bert-tiny").display().to_string();
    let model = ["--model", &encoder, "--head", "none"];
    let judge = |data: &str, more: &[&str]| {
        let args = ["check-data", "--pairs", "coco", "--data", data];
        run(&[&args[..], &model, more].concat(), b"")
    };
    let report = json(&judge(&data, &["--json"]).stdout);
    let pairs = report["judged"]["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), 2);
    assert_eq!((&pairs[0]["row"], &pairs[1]["row"]), (&1.into(), &3.into()));
    assert_eq!(pairs[0]["length"], 56);
    // The similarity is that of `score` without a condition.
    let plain = ["score", "--json", "-c", "the animal"];
    let texts = [
        "A dog runs.",
        "A dog runs on the wet sand of a very long and empty beach.",
    ];
    let scored = json(&ok(&[&plain[..], &model, &texts].concat(), b""));
    let difference =
        scored["unconditional"].as_f64().unwrap() - pairs[1]["similarity"].as_f64().unwrap();
    assert!(difference.abs() < 1e-6, "{scored} {report}");
    let printed = String::from_utf8(judge(&data, &[]).stdout).unwrap();
    let line = printed
        .lines()
        .find(|line| line.starts_with("row 3: "))
        .unwrap();
    assert!(
        line.contains("less than 0.7") && line.contains("fewer than 50"),
        "{printed}"
    );
    assert!(printed.contains("of 2 sentence pairs keep to"), "{printed}");
    let empty = folder.write("empty.csv", "sentence1,sentence2\na,\n");
    let said = judge(&empty, &[]);
    assert_eq!(said.status.code(), Some(2));
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(said.contains("the sentence2 is empty"), "{said}");
}

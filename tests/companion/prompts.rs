//! Language models on the command line, with a tiny one: prompts wherever embeddings are made, words, and clusters by them.

use crate::{
    common::{Folder, decoder},
    program::{caselens, json, ok, refused},
};
use serde_json::Value;

const DATA: &str = "sentence1,sentence2,condition,label
A small brown dog runs.,The old fisherman waits.,the kind of animal,1
A small brown dog runs.,The old fisherman waits.,the place,3
Two children sing.,Three cyclists paint.,the number of people,2
Two children sing.,Three cyclists paint.,the activity,4
";

/// A tiny language model whose output layer is its table of tokens.
fn model(test: &str) -> Folder {
    decoder(
        test,
        "qwen2",
        &serde_json::json!({"tie_word_embeddings": true}),
    )
}

fn run(args: &[&str]) -> String {
    String::from_utf8(ok(args, b"")).unwrap()
}

#[test]
fn prompts_are_one_more_way_to_make_embeddings() {
    let model = model("companion-prompts");
    let (data, cache) = (model.write("data.csv", DATA), model.file("cache"));
    let folder = model.0.display().to_string();
    let with = |args: &[&str]| {
        let all = [args, &["--model", &folder, "--head", "none", "--json"]].concat();
        json(&all, "")
    };
    let score = |prompt: &[&str]| {
        let sentences = ["score", "A dog runs.", "A cat runs.", "-c", "the animal"];
        let scored = with(&[&sentences[..], prompt].concat());
        ["similarity", "unconditional"].map(|name| scored[0][name].as_f64().unwrap())
    };
    let usual = score(&["--architecture", "prompt"]);
    assert_eq!(score(&["--prompt", "express-word-terms"]), usual);
    let template = "Express this text \"{text}\" in one word[ in terms of {condition}]: \"";
    assert_eq!(score(&["--prompt", template]), usual);
    let file = model.write("prompt.txt", &format!("{template}\n"));
    assert_eq!(score(&["--prompt", &file]), usual);
    assert_ne!(score(&["--prompt", "text-word-terms"]), usual);

    // One command evaluates all that have a condition, or those that are named.
    let evaluate = ["evaluate", "--data", &data, "--cache", &cache, "--prompts"];
    let all = with(&evaluate);
    assert_eq!(all.len(), 13);
    assert_eq!(all[0]["prompt"], "text-terms");
    let named = [&evaluate[..], &["express-respect", "{text} ({condition})"]].concat();
    let some = with(&named);
    assert_eq!(some[0], all[7]);
    assert_eq!(some[1]["prompt"], Value::Null);
    assert_eq!(some[1]["template"], "{text} ({condition})");
    let alone = [
        "evaluate",
        "--data",
        &data,
        "--cache",
        &cache,
        "--prompt",
        "express-respect",
    ];
    assert_eq!(with(&alone)[0]["spearman"], some[0]["spearman"]);

    let texts = model.write(
        "texts.csv",
        "text,condition\nA dog runs.,the animal\nA dog runs.,the activity\n",
    );
    let embedded = with(&["embed", "--input", &texts, "--architecture", "prompt"]);
    let vectors: Vec<_> = embedded
        .iter()
        .map(|row| row["embedding"].as_array().unwrap())
        .collect();
    assert_eq!(vectors[0].len(), 32);
    assert_ne!(vectors[0], vectors[1]);

    let refuse = |args: &[&str], why: &str| {
        let all = [args, &["--model", &folder, "--head", "none"]].concat();
        let (code, _, error) = caselens(&all);
        assert_eq!(code, 2, "{error}");
        assert!(error.contains(why), "{error}");
    };
    let sentences = ["score", "A dog.", "A cat.", "-c", "the animal"];
    for (more, why) in [
        (["--prompt", "in terms of {condition}"], "no field {text}"),
        (["--prompt", "prompt-eol"], "no field {condition}"),
        (["--prompt", "express-word"], "none of the names text-terms"),
        (
            ["--architecture", "instruct"],
            "--prompt is for --architecture prompt",
        ),
    ] {
        let prompt: &[&str] = match more[0] {
            "--architecture" => &["--prompt", "text-terms"],
            _ => &[],
        };
        refuse(&[&sentences[..], &more[..], prompt].concat(), why);
    }
    refuse(
        &[
            &sentences[..],
            &["--architecture", "prompt", "--pooling", "all"],
        ]
        .concat(),
        "--pooling is for --architecture bi or tri or instruct",
    );
}

#[test]
fn words_stand_beside_their_texts() {
    let model = model("companion-words");
    let folder = model.0.display().to_string();
    let data = model.write(
        "texts.csv",
        "text,aspect\n\"A dog, small and brown.\",the animal\nTwo children sing.,\n",
    );
    let words = [
        "words", "--model", &folder, "--data", &data, "--tokens", "4",
    ];
    let by_column = [&words[..], &["--condition-column", "aspect", "--json"]].concat();
    let said = json(&by_column, "");
    assert_eq!(said.len(), 2);
    assert_eq!(said[0]["text"], "A dog, small and brown.");
    assert_eq!(said[0]["condition"], "the animal");
    assert_eq!(said[1].get("condition"), None);
    let word = |row: &Value| row["word"].as_str().unwrap().to_owned();
    assert!(!word(&said[0]).contains(['"', '\n']), "{said:?}");

    // One condition for all, and CSV.
    let csv = run(&[&words[..], &["-c", "the animal", "--limit", "1"]].concat());
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    assert_eq!(
        reader.headers().unwrap(),
        ["text", "condition", "word"].as_slice()
    );
    let row = reader.records().next().unwrap().unwrap();
    let cells: Vec<&str> = row.iter().collect();
    let word = word(&said[0]);
    assert_eq!(cells, ["A dog, small and brown.", "the animal", &word]);
    let output = model.file("words.csv");
    let alone = run(&[&words[..], &["--output", &output]].concat());
    assert!(alone.is_empty());
    assert!(model.read("words.csv").starts_with("text,word\n"));
    let eol = [&words[..], &["-c", "the animal", "--prompt", "prompt-eol"]].concat();
    let error = refused(&eol, b"");
    assert!(
        error.contains("row 1") && error.contains("no field {condition}"),
        "{error}"
    );
    let missing = [&words[..], &["--text", "sentence"]].concat();
    assert!(refused(&missing, b"").contains("no column `sentence`"));
}

#[test]
fn wordings_are_chosen_by_labels_and_groups_have_words() {
    let model = model("companion-wordings");
    let folder = model.0.display().to_string();
    let mut csv = String::from("text,kind\n");
    for i in 0..12 {
        let (text, kind) = match i % 2 {
            0 => ("A dog runs", "animal"),
            _ => ("The market is crowded", "place"),
        };
        csv += &format!("{text} {i}.,{kind}\n");
    }
    let data = model.write("texts.csv", &csv);
    let base = [
        "cluster",
        "--model",
        &folder,
        "--head",
        "none",
        "--architecture",
        "prompt",
        "--data",
        &data,
    ];
    let label = ["--label", "kind", "--seeds", "0,1"];
    let conditions = ["-c", "the kind", "-c", "the topic", "-c", "the place"];
    let told = &json(&[&base[..], &label, &conditions, &["--json"]].concat(), "")[0];
    let each = told["conditions"].as_array().unwrap();
    let names: Vec<_> = each
        .iter()
        .map(|c| c["condition"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["the kind", "the topic", "the place"]);
    let mean = |of: &Value| of["v_measure"]["mean"].as_f64().unwrap();
    let best = each.iter().map(mean).fold(0.0, f64::max);
    assert_eq!(mean(told), best);
    for (name, of) in names.iter().zip(each) {
        let alone = &json(&[&base[..], &label, &["-c", name, "--json"]].concat(), "")[0];
        assert!((mean(alone) - mean(of)).abs() < 1e-9, "{alone} {of}");
        assert_eq!(alone.get("conditions"), None);
    }
    let shown = run(&[&base[..], &label, &conditions].concat());
    assert_eq!(shown.lines().count(), 4, "{shown}");
    assert!(
        shown.lines().nth(1).unwrap().ends_with("the topic"),
        "{shown}"
    );
    let one_seed = run(&[
        &base[..],
        &["--label", "kind", "--seeds", "0", "-c", "the kind"],
    ]
    .concat());
    assert!(!one_seed.contains("NaN"), "{one_seed}");
    let error = refused(&[&base[..], &["--groups", "2"], &conditions].concat(), b"");
    assert!(error.contains("--label"), "{error}");

    let (output, map) = (model.file("grouped.csv"), model.file("map.svg"));
    let files = [
        "--output", &output, "--map", &map, "--words", "-c", "the kind",
    ];
    run(&[&base[..], &label, &files].concat());
    let grouped = model.read("grouped.csv");
    assert!(grouped.starts_with("text,group,word\n"), "{grouped}");
    let words = run(&[
        "words", "--model", &folder, "--data", &data, "-c", "the kind", "--limit", "1",
    ]);
    let last = |text: &str| {
        text.lines()
            .nth(1)
            .unwrap()
            .rsplit(',')
            .next()
            .unwrap()
            .to_owned()
    };
    assert_eq!(last(&grouped), last(&words));
    let map = model.read("map.svg");
    assert_eq!(map.matches("<circle").count(), 12);
    let error = refused(&[&base[..], &label, &["--words"]].concat(), b"");
    assert!(error.contains("--output"), "{error}");

    // Under two conditions each text has two points, which a line joins.
    let lines = |map: &str| map.matches("<polyline").count() + map.matches("<line").count();
    let together = ["--map", &model.file("both.svg"), "--together", "--words"];
    run(&[&base[..], &label, &conditions, &together].concat());
    let both = model.read("both.svg");
    let circles = 12 * conditions.len() / 2;
    assert_eq!(both.matches("<circle").count(), circles);
    assert!(lines(&both) >= lines(&map) + circles - 12, "{both}");
    let error = refused(
        &[&base[..], &label, &together, &["-c", "the kind"]].concat(),
        b"",
    );
    assert!(error.contains("name two"), "{error}");
}

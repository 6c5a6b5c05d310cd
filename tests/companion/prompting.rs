//! Asking a language model for ratings: a tiny decoder, and answers from elsewhere.

use serde_json::{Value, json};

use crate::{
    common::{self, decoder, t5},
    program::{caselens, refused},
};

const DATA: &str = "sentence1,sentence2,condition,label
A dog runs.,A cat sleeps.,the kind of animal,2
A dog runs.,A cat sleeps.,the pace,1
A boat leaves.,A ship lands.,the vehicle,4
A boat leaves.,A ship lands.,the owner,-1
A girl reads.,A boy reads.,the activity,5
A girl reads.,A boy reads.,the child,3
";
const TRAIN: &str = "sentence1,sentence2,condition,label
A red door.,A blue door.,the colour,1
A red door.,A blue door.,the object,5
Two men.,Two women.,the number of people,5
Two men.,Two women.,the gender,1
";

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_local_model_is_asked_and_an_interrupted_run_goes_on() {
    let model = decoder("prompt", "qwen2", &json!({"tie_word_embeddings": true}));
    let (data, train) = (
        model.write("data.csv", DATA),
        model.write("train.csv", TRAIN),
    );
    let folder = model.0.display().to_string();
    let asked = model.file("asked.jsonl");
    let command = [
        "prompt", "--data", &data, "--train", &train, "--shots", "2", "--tokens", "4", "--model",
        &folder, "--output", &asked, "--json",
    ];
    let run = || {
        let (code, out, err) = caselens(&command);
        assert_eq!(code, 0, "{err}");
        let mut report: Value = serde_json::from_str(&out).unwrap();
        report.as_object_mut().unwrap().remove("seconds").unwrap();
        report
    };
    let report = run();
    assert_eq!(report["rows"], 5);
    // A random model writes no numbers.
    assert!(report["invalid"].as_u64().unwrap() <= 5);
    let whole = std::fs::read_to_string(&asked).unwrap();
    let rows = lines(&whole);
    let indices: Vec<_> = rows
        .iter()
        .map(|row| row["index"].as_u64().unwrap())
        .collect();
    assert_eq!(indices, [0, 1, 2, 4, 5]);
    for row in &rows {
        let prompt = row["prompt"].as_str().unwrap();
        assert_eq!(prompt.lines().count(), 4, "{prompt}");
        assert!(
            prompt.starts_with("On a scale") && prompt.ends_with("Output:"),
            "{prompt}"
        );
        assert!(row["answer"].is_string());
    }
    // Cut off in the middle of the fourth answer.
    let third = whole.match_indices('\n').nth(2).unwrap().0;
    std::fs::write(&asked, &whole[..third + 20]).unwrap();
    assert_eq!(run(), report);
    assert_eq!(std::fs::read_to_string(&asked).unwrap(), whole);
    // Fewer rows take nothing away.
    let (code, _, err) = caselens(&[&command[..], &["--limit", "2"]].concat());
    assert_eq!(code, 0, "{err}");
    assert_eq!(std::fs::read_to_string(&asked).unwrap(), whole);
    let other = refused(&[&command[..], &["--instruction", "long"]].concat(), b"");
    assert!(other.contains("another prompt"), "{other}");
}

#[test]
fn a_t5_is_asked_as_the_paper_asked_one() {
    let model = t5("asked", "flan");
    let data = model.write("data.csv", DATA);
    let asked = model.file("asked.jsonl");
    let folder = model.0.display().to_string();
    let command = ["--data", &data, "--output", &asked, "--spacing", "t5"];
    let (code, out, err) = caselens(&[&["prompt", "--model", &folder], &command[..]].concat());
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("5 rows"), "{out}");
    let rows = lines(&std::fs::read_to_string(&asked).unwrap());
    let prompt = |row: &Value| row["prompt"].as_str().unwrap().ends_with("Output:");
    assert!(rows.len() == 5 && rows.iter().all(prompt));
    let said = |row: &Value| !row["answer"].as_str().unwrap().is_empty();
    assert!(rows.iter().any(said));
    // It embeds nothing.
    let other = refused(
        &["embed", "--model", &folder, "--head", "none"],
        b"A text.\n",
    );
    assert!(other.contains("`t5`"), "{other}");
}

#[test]
fn answers_come_from_anywhere() {
    let files = decoder("answers", "llama", &json!({}));
    let data = files.write("data.csv", DATA);
    let prompts = files.file("prompts.jsonl");
    let (code, _, err) = caselens(&[
        "prompt",
        "--data",
        &data,
        "--instruction",
        "long",
        "--write",
        &prompts,
    ]);
    assert_eq!(code, 0, "{err}");
    let rows = lines(&std::fs::read_to_string(&prompts).unwrap());
    assert_eq!(rows.len(), 5);
    assert!(rows[3]["prompt"].as_str().unwrap().ends_with(
        "\nInput: Sentence 1: A girl reads. Sentence 2: A boy reads. Condition: the activity Output:"
    ));
    assert_eq!(rows[3].as_object().unwrap().len(), 2);
    let evaluated = |name: &str, answers: &str, more: &[&str]| {
        let answers = files.write(name, answers);
        let command = ["prompt", "--data", &data, "--answers", &answers, "--json"];
        let (code, out, err) = caselens(&[&command[..], more].concat());
        assert_eq!(code, 0, "{err}");
        serde_json::from_str::<Value>(&out).unwrap()
    };
    let right = evaluated(
        "right.jsonl",
        "{\"index\":5,\"answer\":3}\n{\"index\":0,\"answer\":\"2.\"}\n{\"index\":1,\"answer\":\"Score: 1\"}\n{\"index\":4,\"answer\":\"5/5\"}\n{\"index\":2,\"answer\":\"4.0\"}\n",
        &[],
    );
    assert!((right["spearman"].as_f64().unwrap() - 1.0).abs() < 1e-12);
    assert_eq!(right["accuracy"], json!(1.0));
    assert_eq!(
        (&right["invalid"], &right["out_of_range"]),
        (&json!(0), &json!(0))
    );
    let stripped = evaluated(
        "same.csv",
        "answer\n2\n1\n4\n5/5\nthree\n",
        &["--parse", "stripped"],
    );
    assert_eq!(
        (&stripped["invalid"], &stripped["out_of_range"]),
        (&json!(1), &json!(1))
    );
    for (answers, part) in [
        ("answer\n1\n2\n", "it ends here, without an answer to row 2"),
        (
            "answer\n1\n2\n3\n4\n5\n6\n",
            "row 6: there are only 5 prompts",
        ),
        ("index,answer\n3,1\n", "the index `3` is of no row"),
        (
            "index,answer\n0,1\n0,2\n",
            "row 2: row 0 has an answer already",
        ),
        ("reply\n1\n", "the column `answer` is missing"),
    ] {
        let answers = files.write("bad.csv", answers);
        let said = refused(&["prompt", "--data", &data, "--answers", &answers], b"");
        assert!(said.contains(part), "{part}: {said}");
    }
    // All alike: there is no rank correlation, and it says so instead of a number.
    let same = files.write("alike.csv", "answer\n3\n3\n3\n3\n3\n");
    let (code, out, _) = caselens(&["prompt", "--data", &data, "--answers", &same]);
    assert!(
        code == 0 && out.contains('–') && !out.contains("NaN"),
        "{out}"
    );
    for (command, part) in [
        (vec!["prompt", "--data", &data], "nobody is asked"),
        (
            vec![
                "prompt",
                "--data",
                &data,
                "--shots",
                "2",
                "--answers",
                &same,
            ],
            "--train",
        ),
        (
            vec![
                "prompt",
                "--data",
                &data,
                "--train",
                &data,
                "--shots",
                "5",
                "--answers",
                &same,
            ],
            "has 1 beside the row's own",
        ),
    ] {
        let said = refused(&command, b"");
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn answers_are_compared_in_place_of_ratings() {
    let folder = common::Folder::new("answers-compared");
    let data = folder.write("data.csv", DATA);
    let prompts = folder.file("prompts.jsonl");
    let encoder = common::fixture("bert-tiny").display().to_string();
    let command = ["prompt", "--data", &data, "--encoder", &encoder, "--json"];
    let (code, _, err) = caselens(&[&command[..], &["--write", &prompts]].concat());
    assert_eq!(code, 0, "{err}");
    let rows = lines(&std::fs::read_to_string(&prompts).unwrap());
    let indices: Vec<_> = rows.iter().map(|r| r["index"].as_u64().unwrap()).collect();
    // Two a row; the fourth row has no rating.
    assert_eq!(indices, [0, 1, 2, 3, 4, 5, 8, 9, 10, 11]);
    let prompt = rows[1]["prompt"].as_str().unwrap();
    assert!(
        prompt.ends_with("Sentence: A cat sleeps.\nCondition: the kind of animal\nAnswer:"),
        "{prompt}"
    );

    // What is rated higher is answered alike.
    let answers = [
        "a dog", "a dog", "fast", "", "sea", "sea", "x", "x", "one", "many",
    ];
    let numbered = indices.iter().zip(answers);
    let numbered: Vec<_> = numbered
        .map(|(i, answer)| format!("{i},{answer}"))
        .collect();
    let answered = folder.write(
        "answers.csv",
        &format!("index,answer\n{}\n", numbered.join("\n")),
    );
    let (code, out, err) = caselens(&[&command[..], &["--answers", &answered]].concat());
    assert_eq!(code, 0, "{err}");
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&report["rows"], &report["empty"]), (&json!(5), &json!(1)));
    assert_eq!(report["accuracy_untied"], 1.0, "{report}");
    assert!(report["spearman"].as_f64().unwrap() > 0.5, "{report}");

    let model = decoder(
        "answers-asked",
        "qwen2",
        &json!({"tie_word_embeddings": true}),
    );
    let (name, asked) = (model.0.display().to_string(), model.file("asked.jsonl"));
    let local = ["--model", &name, "--output", &asked, "--tokens", "3"];
    let (code, out, err) = caselens(&[&command[..], &local].concat());
    assert_eq!(code, 0, "{err}");
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["rows"], 5);
    assert_eq!(std::fs::read_to_string(&asked).unwrap().lines().count(), 10);
    refused(&[&command[..], &["--shots", "2"]].concat(), b"");
}

//! A large encoder as a teacher: `score-table`, interrupted and resumed, and `fine-tune` from what it wrote.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use crate::common::{Folder, decoder, fixture};
use crate::program::caselens;
use serde_json::{Value, json};

const ROWS: usize = 240;

/// Rows of distinct texts, some of them with what CSV must quote.
fn rows() -> Vec<[String; 3]> {
    let (animals, places) = (
        ["dog", "cat", "horse", "bird", "fox"],
        ["river", "market", "street", "garden"],
    );
    let conditions = [
        "the animal",
        "the place",
        "the \"mood\", if any",
        "what\nis seen",
    ];
    let row = |i: usize| {
        let (a, b) = (animals[i % 5], animals[i / 5 % 5]);
        let (p, q) = (places[i % 4], places[i / 4 % 4]);
        [
            format!("A small {a} number {i} walks near the frozen {p}."),
            format!("Old {b}s, {i} of them, wait in the {q} until the evening comes."),
            conditions[i / 3 % 4].to_owned(),
        ]
    };
    (0..ROWS).map(row).collect()
}

fn csv(header: [&str; 3], rows: &[[String; 3]]) -> String {
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(header).unwrap();
    rows.iter().for_each(|row| csv.write_record(row).unwrap());
    String::from_utf8(csv.into_inner().unwrap()).unwrap()
}

const COLUMNS: [&str; 3] = ["sentence1", "sentence2", "condition"];

/// A tiny decoder, and the command that scores with it.
struct Teacher {
    folder: Folder,
}

impl Teacher {
    fn new(test: &str) -> Self {
        Self {
            folder: decoder(&format!("teacher-{test}"), "mistral", &json!({})),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.0.join(name)
    }

    fn args(&self, data: &str, output: &str) -> Vec<String> {
        let model = self.folder.0.display().to_string();
        let (data, output) = (self.folder.file(data), self.folder.file(output));
        let args = [
            "score-table",
            "--data",
            &data,
            "--output",
            &output,
            "--model",
            &model,
            "--head",
            "none",
            "--batch-rows",
            "16",
        ];
        args.map(str::to_owned).to_vec()
    }

    fn run(&self, data: &str, output: &str, more: &[&str]) -> (i32, String) {
        let args = self.args(data, output);
        let args: Vec<_> = args
            .iter()
            .map(String::as_str)
            .chain(more.iter().copied())
            .collect();
        let (code, out, said) = caselens(&args);
        assert_eq!(out, "");
        assert!(!said.contains("panicked"), "{said}");
        (code, said)
    }

    fn ok(&self, data: &str, output: &str, more: &[&str]) -> Vec<u8> {
        let (code, said) = self.run(data, output, more);
        assert_eq!(code, 0, "{said}");
        assert!(!self.path(&format!("{output}.checkpoint")).exists());
        fs::read(self.path(output)).unwrap()
    }

    fn spawn(&self, data: &str, output: &str) -> Child {
        Command::new(env!("CARGO_BIN_EXE_caselens"))
            .args(self.args(data, output))
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }
}

fn length(path: &Path) -> usize {
    fs::metadata(path).map_or(0, |m| m.len() as usize)
}

#[test]
fn an_interrupted_scoring_goes_on_to_the_same_bytes() {
    let teacher = Teacher::new("resume");
    let rows = rows();
    teacher.folder.write("data.csv", &csv(COLUMNS, &rows));
    let whole = teacher.ok("data.csv", "whole.csv", &[]);
    let mut reader = csv::Reader::from_reader(&whole[..]);
    assert_eq!(
        reader.headers().unwrap(),
        vec!["sentence1", "sentence2", "condition", "similarity"]
    );
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(records.len(), ROWS);
    for (record, row) in records.iter().zip(&rows) {
        assert!(row.iter().zip(record).all(|(a, b)| a == b));
        let similarity: f64 = record[3].parse().unwrap();
        assert!((-1.0..=1.0).contains(&similarity));
    }
    // Each is what two sentences by themselves get.
    for at in [0, 117, ROWS - 1] {
        let [s1, s2, c] = &rows[at];
        let model = teacher.folder.0.display().to_string();
        let args = [
            "score", s1, s2, "-c", c, "--json", "--head", "none", "--model", &model,
        ];
        let (code, out, said) = caselens(&args);
        assert_eq!(code, 0, "{said}");
        let alone: Value = serde_json::from_str(&out).unwrap();
        let found: f64 = records[at][3].parse().unwrap();
        assert!((alone["similarity"].as_f64().unwrap() - found).abs() < 1e-4);
    }

    // Killed on its way, three times, and with half a line written.
    let kept = teacher.path("out.csv.checkpoint/rows.csv");
    for part in 1..4 {
        let mut child = teacher.spawn("data.csv", "out.csv");
        while length(&kept) < whole.len() * part / 5 {
            assert!(
                child.try_wait().unwrap().is_none(),
                "it was too fast for this test"
            );
            thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!teacher.path("out.csv").exists());
        let mut bytes = fs::read(&kept).unwrap();
        assert!(whole.starts_with(&bytes) && bytes.len() < whole.len());
        bytes.extend_from_slice(&whole[bytes.len()..][..7 * part]);
        fs::write(&kept, &bytes).unwrap();
    }
    let settings = fs::read(teacher.path("out.csv.checkpoint/settings.json")).unwrap();
    assert_eq!(teacher.ok("data.csv", "out.csv", &[]), whole);
    let (code, said) = teacher.run("data.csv", "out.csv", &[]);
    assert_eq!(code, 2);
    assert!(said.contains("out.csv is there already"), "{said}");

    // What is there is not computed again; what does not belong there is.
    let interrupted = |output: &str, rows: &[u8]| {
        let folder = teacher.path(&format!("{output}.checkpoint"));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("settings.json"), &settings).unwrap();
        fs::write(folder.join("rows.csv"), rows).unwrap();
    };
    let first = records[0][3].to_owned();
    let text = String::from_utf8(whole.clone()).unwrap();
    let marked = text.replacen(&format!(",{first}\n"), ",0.125\n", 1);
    for cut in [marked.len(), marked.len() / 2, marked.len() / 3 + 1] {
        let output = format!("marked-{cut}.csv");
        interrupted(&output, &marked.as_bytes()[..cut]);
        assert_eq!(teacher.ok("data.csv", &output, &[]), marked.as_bytes());
    }
    let other = text.replacen("number 3 ", "number x ", 1);
    for (i, rows) in ["", "a,b\n1,2\n", &other, &text[..text.len() - 1]]
        .iter()
        .enumerate()
    {
        let output = format!("other-{i}.csv");
        interrupted(&output, rows.as_bytes());
        assert_eq!(teacher.ok("data.csv", &output, &[]), whole, "{i}");
    }

    // Other settings, and another run at the same time.
    interrupted("busy.csv", b"");
    let (code, said) = teacher.run("data.csv", "busy.csv", &["--dtype", "f32"]);
    assert_eq!(code, 2);
    assert!(
        said.contains("\"bf16\" for --dtype, this one has \"f32\""),
        "{said}"
    );
    let file = fs::File::open(teacher.path("busy.csv.checkpoint/rows.csv")).unwrap();
    file.lock().unwrap();
    let (code, said) = teacher.run("data.csv", "busy.csv", &[]);
    assert_eq!(code, 2);
    assert!(said.contains("written by another run"), "{said}");
}

#[test]
fn every_format_and_column_is_read() {
    let teacher = Teacher::new("formats");
    let rows = &rows()[..40];
    teacher.folder.write("data.csv", &csv(COLUMNS, rows));
    let whole = teacher.ok("data.csv", "whole.csv", &[]);
    let object = |[s1, s2, c]: &[String; 3]| {
        json!({"id": 1, "sentence1": s1, "sentence2": s2, "condition": c}).to_string()
    };
    let lines: Vec<_> = rows.iter().map(object).collect();
    teacher.folder.write("data.jsonl", &lines.join("\n"));
    assert_eq!(teacher.ok("data.jsonl", "jsonl.csv", &[]), whole);
    teacher.folder.write("data", &csv(["a", "b", "c"], rows));
    let columns = [
        "--data-format",
        "csv",
        "--sentence1-column",
        "a",
        "--sentence2-column",
        "b",
        "--condition-column",
        "c",
    ];
    assert_eq!(teacher.ok("data", "columns.csv", &columns), whole);
    let (code, said) = teacher.run("data", "missing.csv", &columns[..6]);
    assert_eq!(code, 2);
    assert!(said.contains("has no column `condition`"), "{said}");
    teacher
        .folder
        .write("none.csv", "sentence1,sentence2,condition\n");
    let none = teacher.ok("none.csv", "empty.csv", &[]);
    assert_eq!(none, b"sentence1,sentence2,condition,similarity\n");
}

#[test]
fn a_bad_row_is_named() {
    let teacher = Teacher::new("bad");
    let mut rows = rows()[..60].to_vec();
    let good = rows[41].clone();
    rows[41][2] = " ".into();
    teacher.folder.write("empty.csv", &csv(COLUMNS, &rows));
    let (code, said) = teacher.run("empty.csv", "out.csv", &[]);
    assert_eq!(code, 2);
    assert!(
        said.contains("row 42: the column `condition` is empty"),
        "{said}"
    );
    assert!(
        !teacher.path("out.csv.checkpoint").exists(),
        "found before anything is done"
    );
    rows[41] = good;
    rows[41][2] = "the dog runs across the frozen river ".repeat(100);
    teacher.folder.write("long.csv", &csv(COLUMNS, &rows));
    let (code, said) = teacher.run("long.csv", "out.csv", &[]);
    assert_eq!(code, 2);
    assert!(
        said.contains("row 42: ") && said.contains("shorten it"),
        "{said}"
    );
    // Mended, it goes on.
    rows[41][2] = "the river".into();
    teacher.folder.write("long.csv", &csv(COLUMNS, &rows));
    let mended = teacher.ok("long.csv", "out.csv", &[]);
    assert_eq!(mended, teacher.ok("long.csv", "again.csv", &[]));
}

#[test]
fn a_student_learns_from_it() {
    let teacher = Teacher::new("student");
    let rows = &rows()[..80];
    teacher.folder.write("data.csv", &csv(COLUMNS, rows));
    teacher.ok("data.csv", "scores.csv", &[]);
    let model = fixture("bert-tiny").display().to_string();
    let (scores, student) = (
        teacher.folder.file("scores.csv"),
        teacher.folder.file("student"),
    );
    let distill = |more: &[&str], output: &str| {
        let args = [
            "fine-tune",
            "--teacher",
            &scores,
            "--model",
            &model,
            "--output",
            output,
            "--epochs",
            "2",
            "--precision",
            "f32",
            "--json",
        ];
        let (code, out, said) = caselens(&[&args, more].concat());
        assert_eq!(code, 0, "{said}");
        serde_json::from_str::<Value>(&out).unwrap()
    };
    // Its scores are all there is: no row has a label.
    let alone = distill(&[], &student);
    assert_eq!(alone["training"]["data"], "scores.csv");
    let held = alone["training"]["rows"].as_u64().unwrap();
    assert!((60..80).contains(&held), "{alone}");
    let args = [
        "score",
        "A dog.",
        "A cat.",
        "-c",
        "the animal",
        "--json",
        "--model",
        &student,
    ];
    let (code, out, said) = caselens(&args);
    assert_eq!(code, 0, "{said}");
    assert!(out.contains("similarity"));
    // And beside labels.
    let labelled: String = csv(COLUMNS, &rows[..40])
        .replacen("condition\n", "condition,label\n", 1)
        .replace("\"\n", "\",3\n")
        .replace("animal\n", "animal,4\n")
        .replace("place\n", "place,2\n");
    let data = teacher.folder.write("labelled.csv", &labelled);
    let both = distill(
        &["--data", &data, "--kind", "linear", "--dims", "8"],
        &teacher.folder.file("both"),
    );
    assert_eq!(both["training"]["data"], "labelled.csv");
    assert_eq!(both["training"]["teachers"], "scores.csv, weight 0.5");
    let (code, _, said) = caselens(&["fine-tune", "--output", "x", "--model", &model]);
    assert_eq!(code, 2);
    assert!(said.contains("--data"), "{said}");
}

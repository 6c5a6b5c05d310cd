//! Data in every format that is read: whichever it is, the same rows come to the same figures and files.

use std::{fs::File, path::Path, sync::Arc};

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use parquet::arrow::ArrowWriter;

use crate::common::{self, Folder};
use crate::program;

/// Sentence 1, sentence 2, condition, label, answer 1, answer 2: "" where there is none.
const ROWS: [(&str, &str, &str, f64, &str, &str); 8] = [
    (
        "a dog runs",
        "a cat runs",
        "the animal",
        1.0,
        "a dog",
        "a cat",
    ),
    ("a dog runs", "a cat runs", "the action", 5.0, "running", ""),
    (
        "two birds sing",
        "two birds eat",
        "the number",
        4.5,
        "two",
        "two",
    ),
    ("two birds sing", "two birds eat", "the action", 2.0, "", ""),
    ("a red car", "a red bus", "the colour", 5.0, "", ""),
    ("a red car", "a red bus", "the vehicle", -1.0, "", ""),
    ("an old, \"old\" man", "a young man", "the age", 1.0, "", ""),
    (
        "an old, \"old\" man",
        "a young man",
        "the number",
        5.0,
        "",
        "",
    ),
];

/// A column of texts, or of numbers.
enum Column {
    Texts(Vec<Option<String>>),
    Numbers(Vec<Option<f64>>),
}

fn texts(of: impl IntoIterator<Item = &'static str>) -> Column {
    let texts = of.into_iter();
    Column::Texts(
        texts
            .map(|t| Some(t.to_owned()).filter(|t| !t.is_empty()))
            .collect(),
    )
}

fn data() -> Vec<(&'static str, Column)> {
    vec![
        ("sentence1", texts(ROWS.map(|row| row.0))),
        ("sentence2", texts(ROWS.map(|row| row.1))),
        ("condition", texts(ROWS.map(|row| row.2))),
        ("label", Column::Numbers(ROWS.map(|row| Some(row.3)).into())),
        ("answer1", texts(ROWS.map(|row| row.4))),
        ("answer2", texts(ROWS.map(|row| row.5))),
    ]
}

/// What a teacher says of the rows, by keys: of a row, and of a new condition.
fn answers() -> Vec<(&'static str, Column)> {
    let key = |texts: &[&str]| Some(caselens::data::teacher::key(texts));
    let keys = vec![
        key(&["a red car", "a red bus", "the colour"]),
        key(&["a dog runs", "a cat runs"]),
    ];
    let conditions = vec![None, Some("the number".to_owned())];
    vec![
        ("key", Column::Texts(keys)),
        ("condition", Column::Texts(conditions)),
        ("label", Column::Numbers(vec![Some(1.0), Some(5.0)])),
    ]
}

/// Writes a table in every format, as `name` with each one's extension; the files.
fn written(folder: &Folder, name: &str, columns: &[(&str, Column)]) -> Vec<String> {
    let path = |extension: &str| folder.file(&format!("{name}.{extension}"));
    let arrays = columns.iter().map(|(name, column)| {
        let array: ArrayRef = match column {
            Column::Texts(texts) => Arc::new(StringArray::from(texts.clone())),
            Column::Numbers(numbers) => Arc::new(Float64Array::from(numbers.clone())),
        };
        (*name, array, true)
    });
    let batch = RecordBatch::try_from_iter_with_nullable(arrays).unwrap();
    let file = |extension: &str| File::create(path(extension)).unwrap();

    let mut csv = csv::Writer::from_path(path("csv")).unwrap();
    csv.write_record(columns.iter().map(|(name, _)| name))
        .unwrap();
    let mut lines = String::new();
    for i in 0..batch.num_rows() {
        let cell = |column: &Column| match column {
            Column::Texts(texts) => texts[i].clone().unwrap_or_default(),
            Column::Numbers(numbers) => numbers[i].map(|x| x.to_string()).unwrap_or_default(),
        };
        csv.write_record(columns.iter().map(|(_, column)| cell(column)))
            .unwrap();
        let object: serde_json::Map<String, serde_json::Value> = columns
            .iter()
            .filter_map(|(name, column)| {
                let value = match column {
                    Column::Texts(texts) => texts[i].clone()?.into(),
                    Column::Numbers(numbers) => numbers[i].into(),
                };
                Some((name.to_string(), value))
            })
            .collect();
        lines += &format!("{}\n", serde_json::Value::from(object));
    }
    csv.flush().unwrap();
    folder.write(&format!("{name}.jsonl"), &lines);
    let mut stream = StreamWriter::try_new(file("arrows"), &batch.schema()).unwrap();
    stream.write(&batch).unwrap();
    stream.finish().unwrap();
    let mut feather = FileWriter::try_new(file("feather"), &batch.schema()).unwrap();
    feather.write(&batch).unwrap();
    feather.finish().unwrap();
    let mut parquet = ArrowWriter::try_new(file("parquet"), batch.schema(), None).unwrap();
    parquet.write(&batch).unwrap();
    parquet.close().unwrap();
    ["csv", "jsonl", "arrows", "feather", "parquet"]
        .map(path)
        .into()
}

/// What `make` makes of each file is the same.
fn alike<T: PartialEq>(files: &[String], make: impl Fn(&str) -> T) {
    let first = make(&files[0]);
    for file in &files[1..] {
        assert!(
            make(file) == first,
            "{file} is read as other rows than {}",
            files[0]
        );
    }
}

fn bert() -> String {
    common::fixture("bert-tiny").display().to_string()
}

fn read(path: impl AsRef<Path>) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

/// As the STS benchmark has it; expected is what transformers and scipy make of it.
#[test]
fn sentences_without_a_condition_are_compared_by_themselves() {
    let folder = Folder::new("unconditional");
    let fixture = common::json("sts.json");
    let mut csv = String::from("sentence1,sentence2,label\n");
    for row in fixture["rows"].as_array().unwrap() {
        let text = |i: usize| row[i].as_str().unwrap();
        csv += &format!("{},{},{}\n", text(0), text(1), row[2]);
    }
    let file = folder.write("sts.csv", &csv);
    let model = common::fixture("bert-tiny").display().to_string();
    let args = [
        "evaluate", "--model", &model, "--head", "none", "--data", &file, "--labels", "0-5",
    ];
    let said = program::refused(&args, b"");
    assert!(said.contains("`condition` is missing"), "{said}");
    let found = &program::json(&[&args[..], &["--unconditional", "--json"]].concat(), "")[0];
    for figure in ["spearman", "pearson"] {
        let (found, expected) = (found[figure].as_f64(), fixture[figure].as_f64());
        let difference = (found.unwrap() - expected.unwrap()).abs();
        assert!(difference < 1e-4, "{figure}: {found:?} {expected:?}");
    }
    assert!(found["accuracy"].is_null() && found["condition_only"].is_null());
    let printed = program::ok(&[&args[..], &["--unconditional"]].concat(), b"");
    let printed = String::from_utf8(printed).unwrap();
    assert!(
        printed.contains("no accuracy: no sentence pair") && !printed.contains("NaN"),
        "{printed}"
    );
    // 0 is no label of C-STS.
    let said = program::refused(&[&args[..7], &["--unconditional"]].concat(), b"");
    assert!(said.contains("neither between 1 and 5"), "{said}");
}

#[test]
fn rows_are_evaluated_in_every_format() {
    let folder = Folder::new("data-evaluate");
    let files = written(&folder, "data", &data());
    let model = bert();
    let evaluate = |more: &[&str]| {
        let args = ["evaluate", "--model", &model, "--head", "none", "--json"];
        String::from_utf8(program::ok(&[&args, more].concat(), b"")).unwrap()
    };
    alike(&files, |file| evaluate(&["--data", file]));
    let report = evaluate(&["--data", &files[4]]);
    assert!(report.contains("\"rows\":7"), "{report}");
    let limited = evaluate(&["--data", &files[4], "--limit", "3"]);
    assert!(limited.contains("\"rows\":3"), "{limited}");
    alike(&files, |file| {
        evaluate(&["--data", &files[0], "--train", file])
    });

    let labels = ROWS.map(|row| Some(row.3)).into();
    let labels = written(
        &folder,
        "similarities",
        &[("similarity", Column::Numbers(labels))],
    );
    alike(&labels, |file| {
        evaluate(&["--data", &files[0], "--similarities", file])
    });
    let perfect = evaluate(&["--data", &files[0], "--similarities", &labels[4]]);
    let perfect: serde_json::Value = serde_json::from_str(&perfect).unwrap();
    assert!(
        (perfect["spearman"].as_f64().unwrap() - 1.0).abs() < 1e-9,
        "{perfect}"
    );
}

#[test]
fn encoders_and_heads_learn_from_every_format() {
    let folder = Folder::new("data-train");
    let (files, teachers) = (
        written(&folder, "data", &data()),
        written(&folder, "teacher", &answers()),
    );
    let model = bert();
    let pairs: Vec<String> = (0..files.len()).map(|i| i.to_string()).collect();
    alike(&pairs, |i| {
        let (data, teacher) = (
            &files[i.parse::<usize>().unwrap()],
            &teachers[i.parse::<usize>().unwrap()],
        );
        let output = folder.file(&format!("out-{i}"));
        program::ok(
            &[
                "fine-tune",
                "--model",
                &model,
                "--data",
                data,
                "--teacher",
                teacher,
                "--validation",
                data,
                "--epochs",
                "1",
                "--output",
                &output,
            ],
            b"",
        );
        read(Path::new(&output).join("model.safetensors"))
    });
    let cache = folder.file("cache");
    alike(&files, |data| {
        let output = folder.file("head.safetensors");
        let args = [
            "train-head",
            "--model",
            &model,
            "--data",
            data,
            "--validation",
            data,
            "--epochs",
            "2",
            "--kind",
            "linear",
            "--dims",
            "4",
            "--cache",
            &cache,
            "--output",
            &output,
            "--json",
        ];
        let said = String::from_utf8(program::ok(&args, b"")).unwrap();
        program::untimed(&serde_json::from_str(&said).unwrap())
    });
}

#[test]
fn rounding_and_galleries_take_every_format() {
    let folder = Folder::new("data-gallery");
    let files = written(&folder, "data", &data());
    let model = bert();
    let gguf = folder.file("tiny.gguf");
    alike(&files, |file| {
        let args = [
            "quantize",
            "--model",
            &model,
            "--dtype",
            "q4_0",
            "--calibrate",
            file,
            "--output",
            &gguf,
        ];
        program::ok(&args, b"");
        read(&gguf)
    });
    let checkpoint = caselens::checkpoint::Checkpoint::open(model.as_ref()).unwrap();
    let encoder = checkpoint.encoder();
    let head = folder.0.join("head.safetensors");
    std::fs::write(
        &head,
        common::head(encoder, &[128, 8], false).to_bytes().unwrap(),
    )
    .unwrap();
    let head = head.display().to_string();
    alike(&files, |file| {
        let site = folder.file("site");
        let args = [
            "export",
            "--model",
            &model,
            "--head",
            &head,
            "--gallery",
            file,
            "--output",
            &site,
            "--json",
        ];
        let manifest = program::ok(&args, b"");
        (
            manifest,
            read(Path::new(&site).join("bert-tiny.gallery.safetensors")),
        )
    });
}

#[test]
fn what_is_no_table_of_rows_is_refused() {
    let folder = Folder::new("data-bad");
    let model = bert();
    let refused = |file: &str| {
        let args = [
            "evaluate", "--model", &model, "--head", "none", "--data", file,
        ];
        program::refused(&args, b"")
    };
    let text =
        |texts: &[&str]| Column::Texts(texts.iter().map(|t| Some((*t).to_owned())).collect());
    let lacking = written(
        &folder,
        "lacking",
        &[("sentence1", text(&["a"])), ("label", text(&["3"]))],
    );
    for file in &lacking {
        assert!(
            refused(file).contains("the column `sentence2` is missing"),
            "{file}"
        );
    }
    let columns = |label| {
        let of = |name| (name, text(&["a", "b"]));
        vec![
            of("sentence1"),
            of("sentence2"),
            of("condition"),
            ("label", label),
        ]
    };
    for file in written(&folder, "high", &columns(text(&["3", "high"]))) {
        let said = refused(&file);
        assert!(
            said.contains("row 2: the label `high` is not a number"),
            "{said}"
        );
    }
    for file in written(
        &folder,
        "none",
        &columns(Column::Numbers(vec![Some(3.0), None])),
    ) {
        let said = refused(&file);
        assert!(
            said.contains("row 2: the label `` is not a number"),
            "{said}"
        );
    }
    // A row that its header does not fit, and a format that the name does not promise.
    let short = folder.write(
        "short.csv",
        "sentence1,sentence2,condition,label\na,b,x,1\na,b,y\n",
    );
    assert!(refused(&short).contains("row 2"));
    let wrong = folder.write(
        "wrong.parquet",
        "sentence1,sentence2,condition,label\na,b,x,1\n",
    );
    assert!(refused(&wrong).contains("Parquet"));
    // Names that promise no table are of CSV.
    for name in ["bare", "rows.txt"] {
        let rows = "sentence1,sentence2,condition,label\na,b,x,1\na,b,y,2\n";
        let file = folder.write(name, rows);
        program::ok(
            &[
                "evaluate", "--model", &model, "--head", "none", "--data", &file,
            ],
            b"",
        );
    }
}

//! Numbers that are none: they become no similarity, no vector and no file.

use std::path::Path;

use caselens::{Device, Lens, block_on, lens::explain::Switches};

use crate::{
    common::{self, Folder, toy_csv},
    program::{caselens, json, refused},
};

/// A copy of a fixture in which the token at `position` of a text has no embedding.
fn damaged(folder: &Folder, fixture: &str, position: usize) -> String {
    let model = folder.0.join(fixture);
    std::fs::create_dir_all(&model).unwrap();
    for file in std::fs::read_dir(common::fixture(fixture)).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), model.join(file.file_name())).unwrap();
    }
    let weights = model.join("model.safetensors");
    let mut bytes = std::fs::read(&weights).unwrap();
    let header = u64::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
    let described: serde_json::Value = serde_json::from_slice(&bytes[8..8 + header]).unwrap();
    let mut tensors = described.as_object().unwrap().iter();
    let (_, table) = tensors
        .find(|(name, _)| name.ends_with("position_embeddings.weight"))
        .unwrap();
    let number = |value: &serde_json::Value| value.as_u64().unwrap() as usize;
    let width = number(&table["shape"][1]);
    let at = 8 + header + number(&table["data_offsets"][0]) + 4 * width * position;
    bytes[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    std::fs::write(&weights, bytes).unwrap();
    model.display().to_string()
}

#[test]
fn a_text_without_an_embedding_is_named() {
    let folder = Folder::new("not-finite");
    // Positions of RoBERTa begin at 2.
    let model = damaged(&folder, "roberta-tiny", 12);
    let long = "a word and a word and a word and a word and a word and a word";
    let lens = ["--model", &model, "--head", "none"];
    fn joined<'a>(args: &[&'a str], lens: &[&'a str]) -> Vec<&'a str> {
        [args, lens].concat()
    }
    let lens = lens.as_slice();
    // A short one has one.
    assert_eq!(
        json(&joined(&["embed", "--json"], lens), "short\n").len(),
        1
    );
    let rows = format!("short\n{long}\nbrief\n");
    let said = refused(&joined(&["embed", "--json"], lens), rows.as_bytes());
    assert!(
        said.contains("row 2") && said.contains("no number"),
        "{said}"
    );
    let kept = json(
        &joined(&["embed", "--json", "--on-error", "null"], lens),
        &rows,
    );
    let embedded = |row: &serde_json::Value| !row["embedding"].is_null();
    let embedded: Vec<bool> = kept.iter().map(embedded).collect();
    assert_eq!(embedded, [true, false, true], "{kept:?}");
    let said = refused(&joined(&["score", "short", long, "-c", "it"], lens), b"");
    assert!(said.contains("no number"), "{said}");
    let pairs = folder.write(
        "pairs.csv",
        &format!("sentence1,sentence2,condition\na,b,it\na,{long},it\n"),
    );
    let scores = folder.file("scores.csv");
    let said = refused(
        &joined(
            &["score-table", "--data", &pairs, "--output", &scores],
            lens,
        ),
        b"",
    );
    assert!(
        said.contains("row 2") && said.contains("no number"),
        "{said}"
    );
    // Nor is it taken apart as if it had one.
    let opened = Lens::open(&model, None, Device::Cpu).unwrap();
    let explained = |sentences: [&str; 2], condition| {
        block_on(opened.explain(sentences, condition, Switches::default()))
    };
    assert!(explained(["short", "brief"], Some("it")).is_ok());
    for condition in [None, Some("it")] {
        let error = explained(["short", long], condition).unwrap_err();
        assert_eq!(error.code(), "model-format");
        assert!(error.to_string().contains("sentence"), "{error}");
    }
    let looks = |sentence| block_on(opened.attention(sentence, None, None));
    assert!(looks("short").is_ok());
    assert_eq!(looks(long).unwrap_err().code(), "model-format");
    let tri = ["--architecture", "tri", "--join", "hadamard"];
    let apart = [&["explain", "short", long, "-c", "it"][..], &tri].concat();
    let said = refused(&joined(&apart, lens), b"");
    assert!(said.contains("sentence"), "{said}");
}

#[test]
fn none_is_printed_as_a_figure() {
    let folder = Folder::new("undefined");
    // Rows of one pair alone: nothing is held out that accuracy could be told of, and every similarity is the same.
    let same = "a dog,a dog,it,1\na dog,a dog,it,2\n".repeat(12);
    let rows = folder.write(
        "same.csv",
        &format!("sentence1,sentence2,condition,label\n{same}"),
    );
    let model = common::fixture("roberta-tiny").display().to_string();
    let head = folder.file("head.safetensors");
    let (code, printed, said) = caselens(&[
        "train-head",
        "--model",
        &model,
        "--data",
        &rows,
        "--validation",
        &rows,
        "--output",
        &head,
        "--epochs",
        "2",
    ]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("undefined"), "{said}");
    let history = folder.read("head.history.csv");
    for text in [&printed, &said, &history] {
        assert!(!text.contains("NaN"), "{text}");
    }
    for none in ["NaN", "inf"] {
        let similarities = folder.write("similarities.csv", &format!("similarity\n{none}\n"));
        let said = refused(
            &[
                "evaluate",
                "--data",
                &rows,
                "--similarities",
                &similarities,
                "--head",
                "none",
            ],
            b"",
        );
        assert!(
            said.contains("row 1") && said.contains("no number"),
            "{said}"
        );
    }
}

#[test]
fn no_file_is_written_of_them() {
    let folder = Folder::new("written-finite");
    let toy = folder.write("toy.csv", &toy_csv(24));
    let model = common::fixture("roberta-tiny").display().to_string();
    let head = folder.file("head.safetensors");
    // Weights beyond all bounds.
    let train = [
        "train-head",
        "--model",
        &model,
        "--data",
        &toy,
        "--output",
        &head,
        "--epochs",
        "2",
        "--learning-rate",
        "1e30",
    ];
    let (code, _, said) = caselens(&train);
    assert_eq!(code, 2, "{said}");
    assert!(
        said.contains("not finite") || said.contains("no number"),
        "{said}"
    );
    assert!(!Path::new(&head).exists());

    // Trained encoders that were damaged since.
    let trained = folder.file("trained");
    let tune = [
        "fine-tune",
        "--model",
        &model,
        "--data",
        &toy,
        "--output",
        &trained,
        "--epochs",
        "1",
    ];
    let (code, _, said) = caselens(&tune);
    assert_eq!(code, 0, "{said}");
    let weights = folder.0.join("trained/model.safetensors");
    let mut bytes = std::fs::read(&weights).unwrap();
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&f32::INFINITY.to_le_bytes());
    std::fs::write(&weights, bytes).unwrap();
    let mean = folder.file("mean");
    let said = refused(
        &[
            "average", "--model", &trained, "--model", &trained, "--output", &mean,
        ],
        b"",
    );
    assert!(said.contains("not finite"), "{said}");
    assert!(!Path::new(&mean).exists());
}

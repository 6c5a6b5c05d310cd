//! `quantize --calibrate`: what rounding to four bits loses of the similarities, with and without texts to fit it to.

use std::collections::HashMap;

use crate::{
    common::{self, Folder},
    program::caselens,
};

#[test]
fn rounded_for_texts_an_encoder_says_more_of_what_it_said() {
    for family in ["bert-tiny", "mpnet-tiny"] {
        says_more_of_what_it_said(family);
    }
}

fn says_more_of_what_it_said(family: &str) {
    let folder = Folder::new("calibrate");
    let model = common::fixture(family).display().to_string();
    let data = |name: &str| format!("{}/data/{name}", env!("CARGO_MANIFEST_DIR"));
    let (seen, new) = (
        data("out-of-domain-dev.csv"),
        data("out-of-domain-test.csv"),
    );
    let quantize = |output: &str, more: &[&str]| {
        let args = ["quantize", "--model", &model, "--output", output];
        caselens(&[&args, more].concat())
    };
    let [plain, fitted, again] = ["plain", "fitted", "again"].map(|n| folder.file(n));
    for (output, more) in [
        (&plain, &[][..]),
        (&fitted, &["--calibrate", &seen]),
        (&again, &["--calibrate", &seen]),
    ] {
        let (code, _, stderr) = quantize(output, &[&["--dtype", "q4_0"], more].concat());
        assert_eq!(code, 0, "{stderr}");
    }
    let read = |path: &str| std::fs::read(path).unwrap();
    assert!(
        read(&fitted) == read(&again),
        "the same texts gave two files"
    );
    assert_eq!(read(&fitted).len(), read(&plain).len());

    let similarities = |model: &str| -> Vec<f32> {
        let scored = folder.file("scored.csv");
        let args = [
            "score-table",
            "--model",
            model,
            "--head",
            "none",
            "--data",
            &new,
        ];
        let (code, _, stderr) = caselens(&[&args[..], &["--output", &scored]].concat());
        assert_eq!(code, 0, "{stderr}");
        let mut rows = csv::Reader::from_path(&scored).unwrap();
        let number = |row: HashMap<String, String>| row["similarity"].parse().unwrap();
        let numbers = rows.deserialize().map(|row| number(row.unwrap())).collect();
        std::fs::remove_file(&scored).unwrap();
        numbers
    };
    let exact = similarities(&model);
    let lost = |model: &str| -> f32 {
        let rounded = similarities(model);
        assert_eq!(rounded.len(), exact.len());
        let pairs = exact.iter().zip(&rounded);
        pairs.map(|(a, b)| (a - b).powi(2)).sum::<f32>() / exact.len() as f32
    };
    let (before, after) = (lost(&plain), lost(&fitted));
    assert!(after < 0.7 * before, "{family}: {after} against {before}");

    let out = folder.file("out");
    let empty = folder.file("empty.csv");
    std::fs::write(&empty, "sentence1,sentence2,condition,label\n").unwrap();
    for (more, part) in [
        (&["--calibrate", &seen][..], "is for --dtype q4_0"),
        (&["--dtype", "q4_0", "--texts", "9"], "--calibrate"),
        (
            &["--dtype", "q4_0", "--calibrate", &seen, "--texts", "0"],
            "nothing to calibrate with",
        ),
        (
            &["--dtype", "q4_0", "--calibrate", &empty],
            "there is no valid row",
        ),
        (
            &["--dtype", "q4_0", "--calibrate", "missing.csv"],
            "missing.csv",
        ),
    ] {
        let (code, _, stderr) = quantize(&out, more);
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains(part), "{part}: {stderr}");
        assert!(!std::path::Path::new(&out).exists());
    }
}

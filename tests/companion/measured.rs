//! What is measured beside `evaluate`: groups against labels, and what ratings similarities stand for.

use crate::{
    common::{Folder, toy_csv},
    program::{self, json},
};

#[test]
fn texts_are_grouped_by_a_condition_and_compared_with_labels() {
    let folder = Folder::new("cluster");
    let mut table = String::from("note,place\n");
    for (who, verb) in [
        ("She", "runs"),
        ("A man", "sleeps"),
        ("Two girls", "sing"),
        ("He", "eats"),
    ] {
        table +=
            &format!("{who} {verb} on the beach.,beach\n{who} {verb} in the kitchen.,kitchen\n");
    }
    let (data, output) = (
        folder.write("notes.csv", &table),
        folder.file("grouped.csv"),
    );
    let args = [
        "cluster",
        "--data",
        &data,
        "--text",
        "note",
        "--label",
        "place",
        "--condition",
        "the place",
    ];
    let report = json(&[&args[..], &["--json", "--output", &output]].concat(), "").remove(0);
    assert_eq!(
        (&report["texts"], &report["groups"]),
        (&8.into(), &2.into())
    );
    assert!(
        report["v_measure"]["mean"].as_f64().unwrap() > 0.99,
        "{report}"
    );
    let grouped = folder.read("grouped.csv");
    let groups: Vec<&str> = grouped
        .lines()
        .skip(1)
        .map(|line| line.rsplit(',').next().unwrap())
        .collect();
    assert!(groups.len() == 8 && groups[0] != groups[1]);
    assert!(
        groups
            .iter()
            .enumerate()
            .all(|(i, group)| *group == groups[i % 2]),
        "{grouped}"
    );

    let shown = String::from_utf8(program::ok(&args, b"")).unwrap();
    assert!(
        shown.contains("V-measure 100.0 ± 0.0: 8 texts, k = 2, 5 seeds"),
        "{shown}"
    );
    let alone = [
        "cluster", "--data", &data, "--text", "note", "--groups", "3",
    ];
    let shown = String::from_utf8(program::ok(&alone, b"")).unwrap();
    assert!(shown.contains("8 texts in 3 groups"), "{shown}");
    let nothing = [
        "cluster", "--data", &data, "--text", "note", "--label", "topic",
    ];
    assert!(program::refused(&nothing, b"").contains("topic"));
    let many = [
        "cluster", "--data", &data, "--text", "note", "--groups", "9",
    ];
    assert!(program::refused(&many, b"").contains('9'));
}

#[test]
fn ratings_are_read_from_what_pairs_of_a_similarity_agree_in() {
    let folder = Folder::new("fit-ratings");
    let (data, head) = (
        folder.write("rated.csv", &toy_csv(120)),
        folder.file("head.safetensors"),
    );
    let args = ["fit-ratings", "--data", &data, "--output", &head];
    let report = json(&[&args[..], &["--json"]].concat(), "").remove(0);
    let error = |of: &str| report["error"][of].as_f64().unwrap();
    assert!(error("readings") < error("similarities"), "{report}");
    let points = report["calibration"].as_array().unwrap();
    assert!(points.len() > 3, "{report}");

    // The reading lies on the line between two points; one text is the same as itself.
    let score = |first: &str, second: &str| {
        let args = [
            "score",
            first,
            second,
            "-c",
            "the animal",
            "--head",
            &head,
            "--json",
        ];
        let told = json(&args, "").remove(0);
        ["similarity", "rating"].map(|name| told[name].as_f64().unwrap())
    };
    let [similarity, rating] = score("a dog near the river", "a cat near the river");
    let points: Vec<[f64; 2]> = (points.iter())
        .map(|p| [0, 1].map(|i| p[i].as_f64().unwrap()))
        .collect();
    let next = points
        .iter()
        .position(|point| point[0] > similarity)
        .unwrap();
    let ([x, y], [x2, y2]) = (points[next - 1], points[next]);
    let expected = 1.0 + 4.0 * (y + (y2 - y) * (similarity - x) / (x2 - x));
    assert!((rating - expected).abs() < 1e-4, "{rating} {expected}");
    assert!((score("a dog", "a dog")[1] - 5.0).abs() < 1e-3);

    let nothing = folder.write(
        "none.csv",
        "sentence1,sentence2,condition,label\na,b,c,-1\n",
    );
    program::refused(&["fit-ratings", "--data", &nothing, "--output", &head], b"");
}

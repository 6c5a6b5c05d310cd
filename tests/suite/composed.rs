//! data/compose.py: sentence pairs from facets, rated by the values that their clauses say; data/grids.py: from
//! grids of texts and aspects, rated by their letters.

use std::{
    collections::{HashMap, HashSet},
    process::{Command, Output},
};

use caselens::data::dataset::Dataset;

use crate::common::{self, Folder};

type Row = HashMap<String, String>;

fn repository(file: &str) -> String {
    format!("{}/{file}", env!("CARGO_MANIFEST_DIR"))
}

fn run(script: &str, file: &str, more: &[&str]) -> Output {
    let mut command = Command::new(common::python());
    command.arg(repository(script)).arg(file);
    command.args(more).output().unwrap()
}

fn composed(more: &[&str]) -> String {
    let facets = repository("data/facets-dev.txt");
    written(&run("data/compose.py", &facets, more))
}

fn written(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn rows(csv: &str) -> Vec<Row> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    reader.deserialize().map(Result::unwrap).collect()
}

#[test]
fn ratings_follow_from_values() {
    let csv = composed(&["--pairs", "20", "--seed", "3"]);
    assert_eq!(csv, composed(&["--pairs", "20", "--seed", "3"]));
    assert_ne!(csv, composed(&["--pairs", "20", "--seed", "4"]));
    // What the trainer reads is all of it.
    let rows = rows(&csv);
    let read = Dataset::from_columns("rows.csv", &common::columns(&csv)).unwrap();
    assert_eq!(read.rows.len(), rows.len());
    assert!(rows.len() > 900, "{}", rows.len());

    // (domain, condition) → the names of each of the facet's values.
    let facets = std::fs::read_to_string(repository("data/facets-dev.txt")).unwrap();
    let mut values: HashMap<(String, String), Vec<HashSet<String>>> = HashMap::new();
    let (mut domain, mut conditions) = (String::new(), Vec::new());
    let parts = |text: &str| -> Vec<String> {
        let parts = text.split(';').map(|part| part.trim().to_owned());
        parts.filter(|part| !part.is_empty()).collect()
    };
    for line in facets.lines() {
        match line.split_once(' ') {
            Some(("#", name)) => domain = name.to_owned(),
            Some(("@", facet)) => conditions = parts(facet.split_once('|').unwrap().1),
            Some(("=", names)) => {
                for condition in &conditions {
                    let key = (domain.clone(), condition.clone());
                    let names = parts(names).into_iter().collect();
                    values.entry(key).or_default().push(names);
                }
            }
            _ => {}
        }
    }
    for row in &rows {
        assert_ne!(row["sentence1"], row["sentence2"]);
        let of_facet = &values[&(row["domain"].clone(), row["condition"].clone())];
        let within = |answer: &str| of_facet.iter().position(|v| v.contains(&row[answer]));
        let (one, two) = (within("answer1").unwrap(), within("answer2").unwrap());
        let rating: f32 = row["label"].parse().unwrap();
        assert_eq!(rating == 5.0, one == two, "{row:?}");
        assert!((1.0..=5.0).contains(&rating), "{row:?}");
        for sentence in ["sentence1", "sentence2"] {
            assert!(!row[sentence].contains("{X}"), "{row:?}");
        }
    }
}

#[test]
fn contrasts_agree_and_differ() {
    let rows = rows(&composed(&["--pairs", "10", "--contrasts"]));
    assert!(rows.len() > 200, "{}", rows.len());
    assert_contrasts(&rows);

    let grids = repository("data/grids-dev.txt");
    let rows = self::rows(&written(&run("data/grids.py", &grids, &["--contrasts"])));
    assert!(rows.len() > 800, "{}", rows.len());
    assert_contrasts(&rows);
}

fn assert_contrasts(rows: &[Row]) {
    for pair in rows.chunks(2) {
        assert_eq!(pair[0]["sentence1"], pair[1]["sentence1"]);
        assert_eq!(pair[0]["sentence2"], pair[1]["sentence2"]);
        assert_eq!([&pair[0]["label"], &pair[1]["label"]], ["5", "1"]);
    }
}

#[test]
fn a_line_out_of_form_is_named() {
    let folder = Folder::new("composed");
    let domain = "# posts\n@ entity | pet\n= cat\n= dog\n";
    let facet = "@ kinds | mood\n= glad\n- My {X} purrs.\n= cross\n- My {X} hisses.\n";
    for (text, part) in [
        (format!("{domain}{facet}"), "needs two facets"),
        (
            format!("# posts\n@ entity | pet\n{facet}{facet}"),
            "needs a name",
        ),
        (format!("{domain}{facet}? no mark\n"), ":10: a line begins"),
        ("@ kinds | mood\n".into(), ":1: a facet before"),
        ("# posts\n@ kinds | mood\n".into(), ":2: a domain begins"),
        (format!("{domain}- Meow.\n"), ":5: a clause needs"),
        (format!("{domain}@ scale |\n"), ":5: a facet needs"),
    ] {
        let file = folder.write("facets.txt", &text);
        refused(&run("data/compose.py", &file, &[]), part);
    }
}

#[test]
fn every_file_of_grids_is_of_the_format() {
    let files = std::fs::read_dir(repository("data")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let grids: Vec<_> = names
        .filter(|name| name.starts_with("grids") && name.ends_with(".txt"))
        .map(|name| repository(&format!("data/{name}")))
        .collect();
    assert!(grids.len() > 3, "{grids:?}");
    for file in grids {
        let rows = rows(&written(&run("data/grids.py", &file, &[])));
        assert!(rows.len() > 2000, "{file}: {}", rows.len());
    }
}

fn refused(output: &Output, part: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{part}");
    assert!(said.contains(part), "{part}: {said}");
    assert!(!said.contains("Traceback"), "{said}");
}

#[test]
fn grids_compare_each_two_texts_by_each_aspect() {
    let folder = Folder::new("grids");
    let grid = "# fines : books\nPay two euros.\nNobody pays.\nIt costs 200 cents.\n\
                @ penalty ; what it costs : A B A\n@ mood : A a -\n";
    let file = folder.write("grids.txt", grid);
    let csv = written(&run("data/grids.py", &file, &["--seed", "1"]));
    assert_eq!(csv, written(&run("data/grids.py", &file, &["--seed", "1"])));

    let rated = |one: &str, two: &str, condition: &[&str]| -> Vec<String> {
        let pair = HashSet::from([one, two]);
        let of_pair = rows(&csv).into_iter().filter(|row| {
            HashSet::from([&*row["sentence1"], &*row["sentence2"]]) == pair
                && condition.contains(&&*row["condition"])
        });
        of_pair.map(|row| row["label"].clone()).collect()
    };
    let (fine, none, cents) = ("Pay two euros.", "Nobody pays.", "It costs 200 cents.");
    let penalty = ["penalty", "what it costs"];
    assert_eq!(rated(fine, cents, &penalty), ["5"]);
    assert_eq!(rated(fine, none, &penalty), ["1"]);
    assert_eq!(rated(none, cents, &penalty), ["1"]);
    assert_eq!(rated(fine, none, &["mood"]), ["3"]); // alike in part
    assert!(rated(fine, cents, &["mood"]).is_empty()); // one says nothing of it
    assert_eq!(rows(&csv).len(), 4);

    // Each part is some of the grids, and together they are all.
    let grids = repository("data/grids-dev.txt");
    let lines = |part: &str| rows(&written(&run("data/grids.py", &grids, &["--part", part]))).len();
    assert!(lines("0/1") > 2000, "{}", lines("0/1"));
    assert_eq!(lines("0/2") + lines("1/2"), lines("0/1"));
    for part in ["2", "2/2", "0/0", "-1/2", "a/b"] {
        refused(&run("data/grids.py", &grids, &["--part", part]), "I/N");
    }

    for (text, part) in [
        ("Pay.\n".into(), ":1: a line before"),
        (format!("{grid}Pay up.\n"), ":7: a text after"),
        (format!("{grid}@ sum : A B\n"), ":7: the grid has 3 texts"),
        (format!("{grid}@ A B A\n"), ":7: an aspect is"),
    ] {
        let file = folder.write("wrong.txt", &text);
        refused(&run("data/grids.py", &file, &[]), part);
    }
}

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
    // Of the two that differ one is left out: one agrees.
    let differ = [rated(fine, none, &penalty), rated(none, cents, &penalty)];
    assert_eq!(differ.concat(), ["1"]);
    assert_eq!(rated(fine, none, &["mood"]), ["3"]); // alike in part
    assert!(rated(fine, cents, &["mood"]).is_empty()); // one says nothing of it
    assert_eq!(rows(&csv).len(), 3);
    assert!(rows(&csv).iter().all(|row| row["set"] == "1"));

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

#[test]
fn pools_make_sets_that_agree_and_differ() {
    let folder = Folder::new("pools");
    let mut pool = String::from(
        "# posts\n@ mood | the mood ; how they feel ; feeling\n@ topic | the topic ; subject\n~ mood : glad = calm\n",
    );
    for i in 0..48 {
        let (mood, topic) = (
            ["glad", "sad", "calm", "-"][i % 4],
            ["tea", "rain"][i / 4 % 2],
        );
        pool += &format!("{mood} | {topic} || Text {i}, {mood} about {topic}.\n");
    }
    let file = folder.write("pool.txt", &pool);
    let csv = written(&run("data/pools.py", &file, &["--seed", "3"]));
    assert_eq!(csv, written(&run("data/pools.py", &file, &["--seed", "3"])));
    let rows = rows(&csv);
    assert!(rows.len() > 300, "{}", rows.len());
    let mut sets = HashMap::new();
    for row in &rows {
        let texts = ["sentence1", "sentence2"].map(|name| row[name].as_str());
        let about = |value: &str| texts.map(|text| text.contains(value));
        let answers = ["answer1", "answer2"].map(|name| row[name].as_str());
        for (text, answer) in texts.iter().zip(answers) {
            assert!(text.contains(answer), "{row:?}");
        }
        assert!(
            !texts.concat().contains("-") || !answers.contains(&"-"),
            "{row:?}"
        );
        let expected = match about(answers[0]) {
            [true, true] => "5",
            _ if answers
                .iter()
                .all(|answer| ["glad", "calm"].contains(answer)) =>
            {
                "3"
            }
            _ => "1",
        };
        assert_eq!(row["label"], expected, "{row:?}");
        let set: &mut HashSet<String> = sets.entry(row["set"].clone()).or_default();
        set.extend(texts.map(str::to_owned));
    }
    assert!(sets.values().all(|texts| texts.len() <= 8), "{sets:?}");
    // Texts that agree and texts that differ come about equally often.
    let of = |label: &str| rows.iter().filter(|row| row["label"] == label).count();
    let (same, other) = (of("5"), of("1"));
    assert!(other <= 2 * same && same <= 2 * other, "{same} {other}");

    // Which of three dimensions a set asks is drawn; one that is named is asked of all.
    let three = pool
        .replace("@ topic", "@ length | how long it is\n@ topic")
        .replace(" | tea ||", " | short | tea ||")
        .replace(" | rain ||", " | long | rain ||");
    let file = folder.write("three.txt", &three);
    let asking = |arguments: &[&str]| -> Vec<HashSet<String>> {
        let mut sets: HashMap<String, HashSet<String>> = HashMap::new();
        for row in self::rows(&written(&run("data/pools.py", &file, arguments))) {
            sets.entry(row["set"].clone())
                .or_default()
                .insert(row["condition"].clone());
        }
        sets.into_values().collect()
    };
    let about_length = |set: &HashSet<String>| set.contains("how long it is");
    let asked = asking(&["--ask", "length"]);
    assert!(asked.iter().filter(|set| about_length(set)).count() * 10 > asked.len() * 8);
    assert!(!asking(&[]).iter().all(about_length));

    for (text, part) in [
        ("a | b || Text.\n", ":1: a line before"),
        ("# posts\n@ mood |\n", ":2: a dimension is"),
        (
            "# posts\n@ mood | the mood\nglad | b || Text.\n",
            ":3: the pool has 1 dim",
        ),
        (
            "# posts\n@ mood | the mood\nglad Text.\n",
            ":3: a text stands after",
        ),
        (
            "# posts\n@ mood | the mood\n~ tone : a = b\n",
            ":3: likeness is",
        ),
    ] {
        refused(
            &run("data/pools.py", &folder.write("bad.txt", text), &[]),
            part,
        );
    }
}

#[test]
fn every_pool_and_list_of_mentions_is_of_the_format_and_gives_little_away() {
    let pools = std::fs::read_dir(repository("data/pools")).unwrap();
    for file in pools {
        let file = file.unwrap().path().display().to_string();
        let csv = written(&run("data/pools.py", &file, &["--visits", "1"]));
        assert!(rows(&csv).len() > 1000, "{file}");
    }
    let mentions = repository("data/mentions.txt");
    let rows = rows(&written(&run("data/mentions.py", &mentions, &[])));
    let said = rows.iter().filter(|row| row["mentioned"] == "1").count();
    assert!(rows.len() > 5000 && said * 3 > rows.len() && said * 2 < rows.len());

    let folder = Folder::new("leak");
    for grids in ["data/grids-facts.txt", "data/grids-everyday.txt"] {
        let grids = written(&run("data/grids.py", &repository(grids), &[]));
        let table = folder.write("rows.csv", &grids);
        let leak = written(&run("data/leak.py", &table, &[]));
        let share = leak
            .split(": ")
            .nth(1)
            .and_then(|rest| rest.split(' ').next());
        let share: f64 = share.unwrap().parse().unwrap();
        assert!((45.0..55.0).contains(&share), "{leak}");
    }
    for (text, part) in [
        ("+ the place\n", ":1: conditions without"),
        ("Hello.\nAgain.\n", ":2: a text of several lines"),
    ] {
        refused(
            &run("data/mentions.py", &folder.write("bad.txt", text), &[]),
            part,
        );
    }
}

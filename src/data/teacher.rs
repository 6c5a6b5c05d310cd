//! What a teacher says of rows: similarities to learn from, of the rows of a data set and of its sentence pairs
//! under new conditions (knowledge distillation; Hinton et al., 2015).

use std::collections::HashMap;

use super::{
    columns::Columns,
    dataset::{Dataset, Draw, Group, Row, grouped},
};
use crate::{
    checkpoint::sha256,
    error::{Error, Result},
};

/// A teacher's answers: a table with one of the columns
///
/// - `similarity` (0 to 1; lower is cut to 0), or
/// - `label` (1 to 5),
///
/// and with the texts, or a key that stands for texts which the file may not hold:
///
/// - `sentence1`, `sentence2`, `condition`; or
/// - `key`, `condition`: where there is a condition, the key of the sentence pair; where there is none, the
///   key of the sentence pair and its condition in the data; or
/// - `key1`, `key2`, `key3`: the keys of two sentences and a condition of the data, which need not stand together there; or
/// - `key1`, `key2`, `condition`: the keys of two sentences of the data.
///
/// What stands in no row of the data becomes a new row. New rows that follow each other and name the same `set` are one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Teacher {
    name: String,
    answers: Vec<Answer>,
    /// How much of its new groups an epoch reads.
    draw: Draw,
}

#[derive(Debug, Clone, PartialEq)]
struct Answer {
    asked: Asked,
    rating: f32,
    set: Option<String>,
}

/// What was asked: two sentences and a condition.
#[derive(Debug, Clone, PartialEq)]
enum Asked {
    Texts([String; 3]),
    /// The key of a row.
    Row(String),
    /// The key of a sentence pair, and a condition.
    Pair(String, String),
    /// The key of each text.
    Keys([String; 3]),
    /// The key of each sentence, and a condition.
    Sentences([String; 2], String),
}

/// The first 12 hexadecimal digits of the SHA-256 of the texts, a line feed between each two.
pub fn key(texts: &[&str]) -> String {
    let mut digits = sha256(texts.join("\n").as_bytes());
    digits.truncate(12);
    digits
}

impl Teacher {
    /// The columns that [`from_columns`](Self::from_columns) takes: of texts, and of numbers.
    pub const TEXTS: [&str; 8] = [
        "set",
        "key",
        "key1",
        "key2",
        "key3",
        "sentence1",
        "sentence2",
        "condition",
    ];
    pub const NUMBERS: [&str; 2] = ["similarity", "label"];

    /// The same answers, of each of whose new groups an epoch reads so much.
    pub fn drawn(self, draw: Draw) -> Self {
        Self { draw, ..self }
    }

    /// The rows of a table; `name` stands for it in errors.
    ///
    /// # Errors
    /// Columns are missing, or a row is broken: the row's number is named.
    pub fn from_columns(name: &str, columns: &Columns) -> Result<Self> {
        let mut answers = Vec::with_capacity(columns.rows());
        for i in 0..columns.rows() {
            let bad = |reason: String| Error::Data {
                file: name.into(),
                row: i + 1,
                reason,
            };
            let text = |column| columns.cell(column, i).map(str::to_owned);
            let number = |column| match columns.cell(column, i) {
                None => Ok(None),
                Some(text) => text.parse::<f32>().map(Some).map_err(|_| {
                    bad(format!(
                        "it cannot be read (its {column}, `{text}`, is no number)"
                    ))
                }),
            };
            let rating = match (number("similarity")?, number("label")?) {
                (Some(s), None) if (-1.0..=1.0).contains(&s) => 1.0 + 4.0 * s.max(0.0),
                (None, Some(label)) if (1.0..=5.0).contains(&label) => label,
                _ => {
                    return Err(bad(
                        "it needs a similarity between −1 and 1, or a label between 1 and 5".into(),
                    ));
                }
            };
            let sentences = text("sentence1").zip(text("sentence2"));
            let keys = text("key1").zip(text("key2"));
            // An empty cell is no value, and neither is a column that the file lacks.
            let asked = match (
                text("key"),
                keys,
                text("key3"),
                sentences,
                text("condition"),
            ) {
                (Some(key), None, None, None, None) => Asked::Row(key),
                (Some(key), None, None, None, Some(condition)) => Asked::Pair(key, condition),
                (None, Some((key1, key2)), Some(key3), None, None) => {
                    Asked::Keys([key1, key2, key3])
                }
                (None, Some((key1, key2)), None, None, Some(condition)) => {
                    Asked::Sentences([key1, key2], condition)
                }
                (None, None, None, Some((s1, s2)), condition) => {
                    let Some(condition) = condition.filter(|text| !text.trim().is_empty()) else {
                        return Err(bad("the condition is empty".into()));
                    };
                    Asked::Texts([s1, s2, condition])
                }
                _ => {
                    return Err(bad(
                        "it needs sentence1, sentence2 and condition, or keys in their place: key and condition; key1, key2 \
                         and condition; or key1, key2 and key3"
                            .into(),
                    ));
                }
            };
            answers.push(Answer {
                asked,
                rating,
                set: text("set").filter(|set| !set.trim().is_empty()),
            });
        }
        Ok(Self {
            name: name.into(),
            answers,
            draw: Draw::default(),
        })
    }
}

/// The data with what teachers say of it: a rated row's new rating is (1 − `weight`) times its own plus
/// `weight` times the mean of the teachers'; rows that only teachers rated join their sentence pair.
///
/// # Errors
/// A key that stands for no text of the data.
pub fn taught(data: &Dataset, teachers: &[Teacher], weight: f32) -> Result<Dataset> {
    let mut said = Said::of(data);
    for teacher in teachers {
        for (i, answer) in teacher.answers.iter().enumerate() {
            said.hear(data, answer, teacher.draw).ok_or_else(|| Error::Data {
                file: teacher.name.clone(),
                row: i + 1,
                reason: "its key stands for no row of the training data; give the data that the file was made for".into(),
            })?;
        }
    }
    Ok(said.taught(data, weight))
}

/// The teachers' ratings so far.
struct Said<'a> {
    /// The group of a sentence pair, by its texts and by its key.
    groups: HashMap<(&'a str, &'a str), usize>,
    group_keys: HashMap<String, usize>,
    /// Sentences and conditions by key.
    texts: HashMap<String, &'a str>,
    /// Rows by texts, and by key.
    rows: HashMap<(&'a str, &'a str, &'a str), usize>,
    row_keys: HashMap<String, usize>,
    /// A sum of ratings and their count, of each row.
    ratings: Vec<(f32, u32)>,
    /// New rows in the order they came.
    new: Vec<New>,
    new_rows: HashMap<(String, String, String), usize>,
}

/// A row that only teachers rated.
struct New {
    /// The group of its sentence pair; a pair that the data lacks makes one of its own, after the others.
    group: usize,
    /// With the sum of its ratings.
    row: Row,
    /// How many there are.
    count: u32,
    set: Option<String>,
    draw: Draw,
}

impl<'a> Said<'a> {
    fn of(data: &'a Dataset) -> Self {
        let mut said = Self {
            groups: HashMap::new(),
            group_keys: HashMap::new(),
            texts: HashMap::new(),
            rows: HashMap::new(),
            row_keys: HashMap::new(),
            ratings: vec![(0.0, 0); data.rows.len()],
            new: Vec::new(),
            new_rows: HashMap::new(),
        };
        for (i, row) in data.rows.iter().enumerate() {
            let (s1, s2, c) = (&*row.sentence1, &*row.sentence2, &*row.condition);
            said.rows.entry((s1, s2, c)).or_insert(i);
            said.row_keys.entry(key(&[s1, s2, c])).or_insert(i);
            for text in [s1, s2, c] {
                said.texts.insert(key(&[text]), text);
            }
        }
        for (i, group) in data.groups.iter().enumerate() {
            let row = &data.rows[group.rows.start];
            let (s1, s2) = (&*row.sentence1, &*row.sentence2);
            said.groups.entry((s1, s2)).or_insert(i);
            said.group_keys.entry(key(&[s1, s2])).or_insert(i);
        }
        said
    }

    /// Takes an answer in; `None` where its key is unknown.
    fn hear(&mut self, data: &Dataset, answer: &Answer, draw: Draw) -> Option<()> {
        let (s1, s2, condition) = match &answer.asked {
            Asked::Texts([s1, s2, condition]) => (s1.as_str(), s2.as_str(), condition.as_str()),
            Asked::Row(key) => {
                let row = *self.row_keys.get(key)?;
                self.rate(row, answer.rating);
                return Some(());
            }
            Asked::Pair(key, condition) => {
                let row = &data.rows[data.groups[*self.group_keys.get(key)?].rows.start];
                (
                    row.sentence1.as_str(),
                    row.sentence2.as_str(),
                    condition.as_str(),
                )
            }
            Asked::Keys([key1, key2, key3]) => {
                (self.text(key1)?, self.text(key2)?, self.text(key3)?)
            }
            Asked::Sentences([key1, key2], condition) => {
                (self.text(key1)?, self.text(key2)?, condition.as_str())
            }
        };
        if let Some(&row) = self.rows.get(&(s1, s2, condition)) {
            self.rate(row, answer.rating);
            return Some(());
        }
        let texts = (s1.to_owned(), s2.to_owned(), condition.to_owned());
        match self.new_rows.get(&texts) {
            Some(&at) => {
                let new = &mut self.new[at];
                new.row.rating += answer.rating;
                new.count += 1;
            }
            None => {
                let group = match answer.set {
                    None => self.groups.get(&(s1, s2)).copied(),
                    Some(_) => None,
                };
                self.new_rows.insert(texts.clone(), self.new.len());
                let row = Row {
                    sentence1: texts.0,
                    sentence2: texts.1,
                    condition: texts.2,
                    rating: answer.rating,
                    answers: Default::default(),
                };
                self.new.push(New {
                    group: group.unwrap_or(usize::MAX),
                    row,
                    count: 1,
                    set: answer.set.clone(),
                    draw,
                });
            }
        }
        Some(())
    }

    fn text(&self, key: &str) -> Option<&'a str> {
        self.texts.get(key).copied()
    }

    fn rate(&mut self, row: usize, rating: f32) {
        let (sum, count) = &mut self.ratings[row];
        *sum += rating;
        *count += 1;
    }

    fn taught(mut self, data: &Dataset, weight: f32) -> Dataset {
        let mut out = Dataset::default();
        let mut place = vec![0; data.rows.len()];
        // A stable sort: within a sentence pair rows stay in the order they came.
        self.new.sort_by_key(|new| new.group);
        let mut new = self.new.into_iter().peekable();
        for (i, group) in data.groups.iter().enumerate() {
            let start = out.rows.len();
            for row in group.rows.clone() {
                place[row] = out.rows.len();
                let (sum, count) = self.ratings[row];
                let mut row = data.rows[row].clone();
                if count > 0 {
                    row.rating += weight * (sum / count as f32 - row.rating);
                }
                out.rows.push(row);
            }
            while let Some(new) = new.next_if(|new| new.group == i) {
                out.rows.push(new.mean());
            }
            out.groups.push(Group {
                rows: start..out.rows.len(),
                draw: group.draw,
            });
        }
        let new: Vec<New> = new.collect();
        for new in new.chunk_by(|a, b| a.draw == b.draw) {
            let rows: Vec<Row> = new.iter().map(New::mean).collect();
            let sets: Vec<_> = new.iter().map(|new| new.set.clone()).collect();
            let draw = new.first().map(|new| new.draw).unwrap_or_default();
            let start = out.rows.len();
            out.groups
                .extend(grouped(&rows, &sets).into_iter().map(|group| Group {
                    rows: start + group.rows.start..start + group.rows.end,
                    draw,
                }));
            out.rows.extend(rows);
        }
        out.pairs = data
            .pairs
            .iter()
            .map(|&(a, b)| (place[a], place[b]))
            .collect();
        out.kept = (0..out.rows.len()).map(Some).collect();
        out
    }
}

impl New {
    /// The row, rated by the mean of its ratings.
    fn mean(&self) -> Row {
        Row {
            rating: self.row.rating / self.count as f32,
            ..self.row.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> Dataset {
        let csv = "sentence1,sentence2,condition,label\na,b,x,1\na,b,y,5\nc,d,x,3\nc,d,z,2\n";
        Dataset::from_columns("d.csv", &Columns::of_csv(csv)).unwrap()
    }

    fn teacher(csv: &str) -> Teacher {
        Teacher::from_columns("t.csv", &Columns::of_csv(csv)).unwrap()
    }

    fn groups_of(data: &Dataset) -> Vec<std::ops::Range<usize>> {
        data.groups.iter().map(|group| group.rows.clone()).collect()
    }

    fn ratings(data: &Dataset) -> Vec<(&str, &str, f32)> {
        data.rows
            .iter()
            .map(|r| (r.sentence1.as_str(), r.condition.as_str(), r.rating))
            .collect()
    }

    #[test]
    fn ratings_are_mixed_and_new_rows_join_their_pair() {
        let data = data();
        let first = teacher(
            "sentence1,sentence2,condition,similarity\na,b,x,0.5\na,b,new,1.0\ne,f,x,-0.3\ne,f,y,0.25\n",
        );
        let (pair, row) = (key(&["c", "d"]), key(&["c", "d", "z"]));
        let second = teacher(&format!(
            "key,condition,label\n{pair},other,4\n{row},,5\n{},new,1\n",
            key(&["a", "b"])
        ));
        let out = taught(&data, &[first, second], 0.5).unwrap();
        assert_eq!(
            ratings(&out),
            [
                ("a", "x", 2.0), // half of 1, half of 3
                ("a", "y", 5.0),
                ("a", "new", 3.0), // the mean of 5 and 1
                ("c", "x", 3.0),
                ("c", "z", 3.5),
                ("c", "other", 4.0),
                ("e", "x", 1.0),
                ("e", "y", 2.0),
            ]
        );
        assert_eq!(groups_of(&out), [0..3, 3..6, 6..8]);
        assert_eq!(out.pairs, [(0, 1), (3, 4)]);
        assert_eq!(taught(&data, &[], 0.5).unwrap().rows, data.rows);
    }

    #[test]
    fn texts_of_the_data_make_new_rows() {
        let data = data();
        let [a, b, c, d, x, z] = ["a", "b", "c", "d", "x", "z"].map(|text| key(&[text]));
        let keyed = teacher(&format!(
            "key1,key2,key3,label\n{a},{d},{x},4\n{c},{d},{x},5\n{a},{d},{z},2\n{a},{b},{z},1\n"
        ));
        let out = taught(&data, &[keyed], 0.5).unwrap();
        assert_eq!(
            ratings(&out)[2..],
            [
                ("a", "z", 1.0),
                ("c", "x", 4.0), // half of 3, half of 5
                ("c", "z", 2.0),
                ("a", "x", 4.0),
                ("a", "z", 2.0),
            ]
        );
        assert_eq!(out.rows[5].sentence2, "d");
        assert_eq!(groups_of(&out), [0..3, 3..5, 5..7]);

        let worded = teacher(&format!(
            "key1,key2,condition,label\n{a},{d},new,4\n{c},{d},x,5\n{c},{d},new,2\n"
        ));
        let out = taught(&data, &[worded], 0.5).unwrap();
        assert_eq!(
            ratings(&out)[2..],
            [
                ("c", "x", 4.0),
                ("c", "z", 2.0),
                ("c", "new", 2.0),
                ("a", "new", 4.0)
            ]
        );
    }

    #[test]
    fn new_rows_of_a_set_are_one_group_drawn_as_their_teacher_says() {
        let mut set = teacher(
            "set,sentence1,sentence2,condition,label\n1,a,b,new,1\n1,a,e,new,5\n1,b,e,new,1\n2,b,e,x,2\n,e,f,x,2\n",
        );
        set.draw = Draw {
            conditions: 2,
            answers: 0,
            times: 0.5,
        };
        let data = data().drawn(Draw {
            conditions: 7,
            answers: 0,
            times: 2.0,
        });
        let out = taught(&data, &[set.clone()], 0.5).unwrap();
        assert_eq!(groups_of(&out), [0..2, 2..4, 4..7, 7..8, 8..9]);
        assert!(
            out.groups[..2]
                .iter()
                .all(|group| group.draw.conditions == 7)
        );
        assert!(out.groups[2..].iter().all(|group| group.draw == set.draw));
    }

    #[test]
    fn a_bad_answer_is_named() {
        let [a, none] = [&key(&["a"]), "000000000000"];
        for csv in [
            format!("key,condition,label\n{none},x,3\n"),
            format!("key,condition,label\n{none},,3\n"),
            format!("key1,key2,key3,label\n{a},{a},{none},3\n"),
            format!("key1,key2,condition,label\n{a},{none},x,3\n"),
        ] {
            let error = taught(&data(), &[teacher(&csv)], 0.5).unwrap_err();
            assert!(error.to_string().contains("row 1: its key"), "{error}");
        }
        for (csv, part) in [
            ("key,condition,label\nk,x,6\n", "a label between 1 and 5"),
            ("key,condition\nk,x\n", "a label between 1 and 5"),
            ("condition,label\nx,3\n", "keys in their place"),
            ("key1,key2,label\nk,k,3\n", "key1, key2 and key3"),
            (
                "key,key1,key2,key3,label\nk,k,k,k,3\n",
                "keys in their place",
            ),
            ("key,condition,label\nk,x,much\n", "cannot be read"),
            (
                "sentence1,sentence2,condition,label\na,b, ,3\n",
                "condition is empty",
            ),
            (
                "sentence1,sentence2,condition,label\na,b,,3\n",
                "condition is empty",
            ),
            ("sentence1,sentence2,label\na,b,3\n", "condition is empty"),
        ] {
            let error = Teacher::from_columns("t.csv", &Columns::of_csv(csv)).unwrap_err();
            assert_eq!(error.code(), "data");
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}

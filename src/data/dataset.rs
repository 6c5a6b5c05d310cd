//! C-STS data: tables with the columns sentence1, sentence2, condition, label, and answer1 and answer2 where there are answers.

use std::{collections::HashSet, ops::Range, str::FromStr};

use rand::{SeedableRng, rngs::StdRng, seq::SliceRandom};

use super::{columns::Columns, pairs::SentencePairs};
use crate::error::{Error, Result};

/// One pair of sentences under two conditions: indices of its rows.
pub type Pair = (usize, usize);

/// Of the sentence pairs of a rated table, the share that CASE tunes by.
const CASE_SHARE: f64 = 0.7;

/// One row: two sentences, a condition, and a rating 1–5.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The first sentence.
    pub sentence1: String,
    /// The second sentence.
    pub sentence2: String,
    /// What they are compared by; empty where they are compared by themselves ([`Rules::unconditional`]).
    pub condition: String,
    /// How alike they are by it, 1–5.
    pub rating: f32,
    /// What each sentence says about the condition, in a few words; empty where nothing is known.
    pub answers: [String; 2],
}

/// How the rows of a table are read.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rules {
    /// Whether two sentences without a condition are compared by themselves; else every row needs one.
    pub unconditional: bool,
    /// What the labels count from and to.
    pub labels: Labels,
}

impl Rules {
    /// Whether a row is to have something in a column of texts.
    fn needs(self, column: &str) -> bool {
        !self.unconditional || column != "condition"
    }
}

/// The scale of a table's labels, such as 1–5 of C-STS and 0–5 of the STS benchmark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Labels {
    least: f32,
    most: f32,
}

impl Default for Labels {
    fn default() -> Self {
        Self {
            least: 1.0,
            most: 5.0,
        }
    }
}

impl Labels {
    /// The rating 1–5 of a label that lies as far between the ends; `None` outside of them.
    fn rating(self, label: f32) -> Option<f32> {
        let Self { least, most } = self;
        let inside = (least..=most).contains(&label);
        inside.then(|| match self == Self::default() {
            true => label,
            false => 1.0 + 4.0 * (label - least) / (most - least),
        })
    }
}

impl FromStr for Labels {
    type Err = String;

    /// Two numbers from 0 on, such as `0-5`.
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let number = |text: &str| text.trim().parse::<f32>().ok().filter(|x| x.is_finite());
        let ends = text.split_once('-');
        match ends.and_then(|(least, most)| Some((number(least)?, number(most)?))) {
            Some((least, most)) if least < most => Ok(Self { least, most }),
            _ => Err(String::from("it is no scale such as 0-5")),
        }
    }
}

impl Row {
    /// Sentence 1, sentence 2, condition.
    pub fn texts(&self) -> [&str; 3] {
        [&self.sentence1, &self.sentence2, &self.condition]
    }

    /// Sentence 1, sentence 2.
    pub fn sentences(&self) -> [&str; 2] {
        [&self.sentence1, &self.sentence2]
    }

    pub(super) fn same_sentences(&self, other: &Self) -> bool {
        self.sentences().map(str::trim) == other.sentences().map(str::trim)
    }
}

/// How much of a group an epoch reads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Draw {
    /// Most of its conditions, each with all its rows, drawn anew each time.
    pub conditions: usize,
    /// Most conditions under which its sentences are compared with answers, where there are any.
    pub answers: usize,
    /// How often it is read, on the average: at 0.25 it is drawn in every fourth epoch.
    pub times: f32,
}

impl Default for Draw {
    /// All ratings, once, and no answers.
    fn default() -> Self {
        Self {
            conditions: usize::MAX,
            answers: 0,
            times: 1.0,
        }
    }
}

/// Rows that training compares with each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The rows, which follow each other.
    pub rows: Range<usize>,
    /// How much of it an epoch reads.
    pub draw: Draw,
}

/// The valid rows of a file, or of several.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dataset {
    /// The valid rows, in the order of the file.
    pub rows: Vec<Row>,
    /// For each row of the file its index in `rows`; `None` where the rating says the condition is
    /// invalid (−1), or where the row was left out.
    pub kept: Vec<Option<usize>>,
    /// Two rows of one sentence pair, both valid. The rows of a pair belong together two by two, in the order of the file,
    /// wherever it begins.
    pub pairs: Vec<Pair>,
    /// What training compares: the rows of a sentence pair that follow each other in one file, however many
    /// conditions it has, or those of a set, and the rows that compare sentences with answers, where
    /// [`with_answers`](super::answers::with_answers) added them. Every row is in one of them.
    pub groups: Vec<Group>,
}

impl Dataset {
    /// The columns that [`from_columns`](Self::from_columns) takes: of texts, and of numbers.
    pub const TEXTS: [&str; 6] = [
        "sentence1",
        "sentence2",
        "condition",
        "answer1",
        "answer2",
        "set",
    ];
    pub const NUMBERS: [&str; 1] = ["label"];

    /// The same rows, of each of whose groups an epoch reads so much.
    pub fn drawn(mut self, draw: Draw) -> Self {
        for group in &mut self.groups {
            group.draw = draw;
        }
        self
    }

    /// Adds the rows of another file.
    pub fn append(&mut self, other: Self) {
        let before = self.rows.len();
        let moved = |row: usize| row + before;
        let moved_group = |group: Group| Group {
            rows: moved(group.rows.start)..moved(group.rows.end),
            ..group
        };
        self.rows.extend(other.rows);
        self.kept
            .extend(other.kept.into_iter().map(|row| row.map(moved)));
        self.pairs
            .extend(other.pairs.into_iter().map(|(a, b)| (moved(a), moved(b))));
        self.groups
            .extend(other.groups.into_iter().map(moved_group));
    }

    /// The rows of a table; `name` stands for it in errors. Rows that follow each other and name the same `set` are
    /// one: any two texts of it may be compared under any of its conditions.
    ///
    /// # Errors
    /// A column is missing, there is no valid row, or a row is broken: its number is named.
    pub fn from_columns(name: &str, columns: &Columns) -> Result<Self> {
        Self::read(name, columns, Rules::default())
    }

    /// [`from_columns`](Self::from_columns) by other rules.
    ///
    /// # Errors
    /// As there.
    pub fn read(name: &str, columns: &Columns, rules: Rules) -> Result<Self> {
        let missing = |column: &str| Error::Data {
            file: name.into(),
            row: 0,
            reason: format!(
                "the column `{column}` is missing; sentence1, sentence2, condition and label are needed"
            ),
        };
        let needed = ["sentence1", "sentence2", "condition", "label"];
        let mut needed = needed.into_iter().filter(|column| rules.needs(column));
        if let Some(column) = needed.find(|column| !columns.has(column)) {
            return Err(missing(column));
        }
        let data = Self::rated(name, columns, rules, false)?;
        match data.rows.is_empty() {
            true => Err(Error::Data {
                file: name.into(),
                row: 0,
                reason: "there is no valid row".into(),
            }),
            false => Ok(data),
        }
    }

    /// As [`from_columns`](Self::from_columns), the rows that have a label, of which there may be none: a benchmark's test set
    /// has the label −1 everywhere, or no label.
    ///
    /// # Errors
    /// A row with a label is broken: its number is named.
    pub fn labelled(name: &str, columns: &Columns) -> Result<Self> {
        Self::rated(name, columns, Rules::default(), true)
    }

    /// The sentences and the condition of every row of a table, with a label or without.
    ///
    /// # Errors
    /// A column is missing or empty, or there is no row.
    pub fn texts(name: &str, columns: &Columns) -> Result<Vec<[String; 3]>> {
        let rows = columns.filled(name, ["sentence1", "sentence2", "condition"])?;
        match rows.is_empty() {
            true => Err(Error::Data {
                file: name.into(),
                row: 0,
                reason: "there is no row".into(),
            }),
            false => Ok(rows
                .into_iter()
                .map(|cells| cells.map(str::to_owned))
                .collect()),
        }
    }

    /// The rated rows of a table, of which others may have no label.
    fn rated(name: &str, columns: &Columns, rules: Rules, others: bool) -> Result<Self> {
        let bad = |row: usize, reason: String| Error::Data {
            file: name.into(),
            row,
            reason,
        };
        let mut data = Self::default();
        let mut sets = Vec::new();
        let cell = |column, i| columns.cell(column, i).unwrap_or_default();
        for i in 0..columns.rows() {
            let row = i + 1;
            let cell = |column| cell(column, i);
            let label = cell("label");
            if others && label.trim().is_empty() {
                data.kept.push(None);
                continue;
            }
            let label: f32 = label
                .trim()
                .parse()
                .map_err(|_| bad(row, format!("the label `{label}` is not a number")))?;
            if label == -1.0 {
                data.kept.push(None);
                continue;
            }
            let rating = rules.labels.rating(label).ok_or_else(|| {
                let Labels { least, most } = rules.labels;
                bad(
                    row,
                    format!(
                        "the label {label} is neither between {least} and {most} nor −1 (invalid)"
                    ),
                )
            })?;
            for column in ["sentence1", "sentence2", "condition"] {
                if rules.needs(column) && cell(column).trim().is_empty() {
                    return Err(bad(row, format!("the {column} is empty")));
                }
            }
            data.kept.push(Some(data.rows.len()));
            let text = |column| cell(column).to_owned();
            sets.push(Some(text("set")).filter(|set| !set.trim().is_empty()));
            data.rows.push(Row {
                sentence1: text("sentence1"),
                sentence2: text("sentence2"),
                // Spaces alone are none.
                condition: Some(text("condition"))
                    .filter(|condition| !condition.trim().is_empty())
                    .unwrap_or_default(),
                rating,
                answers: ["answer1", "answer2"].map(text),
            });
        }
        // Invalid rows take part: what is left of their pairs belongs to no other.
        let in_file = SentencePairs::of(
            (0..columns.rows()).map(|i| ["sentence1", "sentence2"].map(|column| cell(column, i))),
        );
        let valid = |(a, b): Pair| Some((data.kept[a]?, data.kept[b]?));
        data.pairs = in_file.by_two().into_iter().filter_map(valid).collect();
        data.groups = grouped(&data.rows, &sets);
        Ok(data)
    }

    /// Its rows by their sentence pairs.
    pub fn sentence_pairs(&self) -> SentencePairs {
        SentencePairs::of(self.rows.iter().map(Row::sentences))
    }

    /// CASE's protocol for a rated table (§4): 70 % of its sentence pairs to tune by, and the other 30 % to report on. The
    /// same seed draws the same ones; what is left out of either is left out of [`kept`](Self::kept).
    ///
    /// # Errors
    /// There are fewer than two sentence pairs.
    pub fn case_split(&self, seed: u64) -> Result<[Self; 2]> {
        let pairs = self.sentence_pairs();
        if pairs.rows.len() < 2 {
            return Err(Error::InvalidArgument(
                "the data has one sentence pair: there is nothing to split. Leave the split out."
                    .into(),
            ));
        }
        let mut order: Vec<usize> = (0..pairs.rows.len()).collect();
        order.shuffle(&mut StdRng::seed_from_u64(seed));
        order.truncate((CASE_SHARE * order.len() as f64).round() as usize);
        let tuned: HashSet<usize> = order.into_iter().collect();
        let part = |tune: bool| {
            let keep = pairs.of_row.iter();
            let keep: Vec<bool> = keep.map(|pair| tuned.contains(pair) == tune).collect();
            self.subset(&keep)
        };
        Ok([part(true), part(false)])
    }

    /// The most of the first `rows` rows of the file that part no sentence pair whose rows follow each other.
    pub fn whole_pairs(&self, rows: usize) -> usize {
        let valid = self.kept.iter().take(rows).flatten().count();
        let whole = self.sentence_pairs().whole(valid);
        let end = || self.kept.iter().position(|row| *row == Some(whole));
        match whole == valid {
            true => rows,
            false => end().unwrap_or(rows),
        }
    }

    /// For each row whether it is held out: every row of a tenth of the sentence pairs and sets, so that none of them is
    /// parted. The same rows every time.
    pub fn held_out(&self) -> Vec<bool> {
        self.drawn_at_random(|pairs| pairs.div_ceil(10))
    }

    /// For each row whether it is of `count` of the sentence pairs and sets, drawn at random. The same every time, and what
    /// a smaller count draws is among it: for curves over the size of the training data (C-STS, figure 3).
    ///
    /// # Errors
    /// There are fewer.
    pub fn sample(&self, count: usize) -> Result<Vec<bool>> {
        let mut there = 0;
        let drawn = self.drawn_at_random(|pairs| {
            there = pairs;
            count
        });
        match count <= there {
            true => Ok(drawn),
            false => Err(Error::InvalidArgument(format!(
                "{count} sentence pairs are to be drawn of {there}."
            ))),
        }
    }

    /// For each row whether it is of the sentence pairs and sets that are drawn: so many as `count` wants of all of them.
    fn drawn_at_random(&self, count: impl FnOnce(usize) -> usize) -> Vec<bool> {
        let all = self.sentence_pairs();
        // A set is known by its first pair.
        let first = |group: &Group| all.of_row[group.rows.start];
        let mut pairs: Vec<_> = self.groups.iter().map(first).collect();
        // By their sentences: so the order of the rows does not matter.
        pairs.sort_unstable_by_key(|&pair| self.rows[all.rows[pair][0]].sentences());
        pairs.dedup();
        pairs.shuffle(&mut StdRng::seed_from_u64(0));
        pairs.truncate(count(pairs.len()));
        let drawn: HashSet<_> = pairs.into_iter().collect();
        let mut out = vec![false; self.rows.len()];
        for group in &self.groups {
            out[group.rows.clone()].fill(drawn.contains(&first(group)));
        }
        out
    }

    /// The rows for which `keep` is true, the pairs both of whose rows are among them, and what is left of
    /// each group.
    pub fn subset(&self, keep: &[bool]) -> Self {
        let mut data = Self::default();
        let mut place = vec![None; self.rows.len()];
        for ((row, &keep), place) in self.rows.iter().zip(keep).zip(&mut place) {
            if keep {
                *place = Some(data.rows.len());
                data.rows.push(row.clone());
            }
        }
        let kept = self.kept.iter();
        data.kept = kept.map(|row| row.and_then(|row| place[row])).collect();
        data.pairs = self
            .pairs
            .iter()
            .filter_map(|&(a, b)| Some((place[a]?, place[b]?)))
            .collect();
        let left = self.groups.iter().filter_map(|group| {
            let mut kept = place[group.rows.clone()].iter().flatten();
            let first = *kept.next()?;
            Some(Group {
                rows: first..first + 1 + kept.count(),
                ..group.clone()
            })
        });
        data.groups = left.collect();
        data
    }

    /// The ratings, row by row.
    pub fn ratings(&self) -> Vec<f64> {
        self.rows.iter().map(|r| f64::from(r.rating)).collect()
    }
}

/// The groups of rows, each beside the name of its set.
pub(super) fn grouped(rows: &[Row], sets: &[Option<String>]) -> Vec<Group> {
    let pairs = SentencePairs::of(rows.iter().map(Row::sentences)).of_row;
    let mut all: Vec<Group> = Vec::new();
    for i in 0..rows.len() {
        let joins = i > 0
            && match (&sets[i - 1], &sets[i]) {
                (None, None) => pairs[i - 1] == pairs[i],
                (before, now) => before == now,
            };
        match all.last_mut() {
            Some(group) if joins => group.rows.end = i + 1,
            _ => all.push(Group {
                rows: i..i + 1,
                draw: Draw::default(),
            }),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of each group.
    fn groups(data: &Dataset) -> Vec<Range<usize>> {
        data.groups.iter().map(|group| group.rows.clone()).collect()
    }

    const HEADER: &str = "sentence1,sentence2,condition,label\n";

    fn read(rows: &str) -> Result<Dataset> {
        Dataset::from_columns("d.csv", &Columns::of_csv(&format!("{HEADER}{rows}")))
    }

    #[test]
    fn pairs_are_two_valid_rows_of_the_same_sentences() {
        let data = read("a,b,x,1\na,b,y,4.0\nc,d,x,-1\nc,d,y,2\n\"e, e\",f,x,3\n\"e, e\",f,y,3\n")
            .unwrap();
        assert_eq!(data.rows.len(), 5);
        assert_eq!(data.pairs, vec![(0, 1), (3, 4)]);
        assert_eq!(data.kept[2], None);
        assert_eq!(data.rows[3].sentence1, "e, e");
    }

    #[test]
    fn groups_are_all_rows_of_a_sentence_pair_within_a_file() {
        // Three conditions and an invalid one in their midst; then one; then two.
        let mut data =
            read("a,b,u,1\na,b,v,-1\na,b,w,1.5\na,b,x,4\nc,d,u,2\na,b,y,3\na,b,z,3\n").unwrap();
        assert_eq!(groups(&data), [0..3, 3..4, 4..6]);
        // The last pair comes again in the next file: another group.
        data.append(read("a,b,y,3\nc,d,y,2\n").unwrap());
        assert_eq!(groups(&data), [0..3, 3..4, 4..6, 6..7, 7..8]);
        assert_eq!(data.kept.last(), Some(&Some(7)));
        let some = data.subset(&[true, false, true, false, false, true, true, false]);
        assert_eq!(groups(&some), [0..2, 2..3, 3..4]);
    }

    #[test]
    fn pairs_do_not_depend_on_where_a_file_begins() {
        // As the published test split: 851 rows, the first of which is the second of its pair, 46 of them invalid.
        let mut csv = "s,t,y,2\n".to_owned();
        for i in 0..425 {
            let label = |invalid: bool| if invalid { -1 } else { 1 + i % 5 };
            csv += &format!(
                "s{i},t,x,{}\ns{i},t,y,{}\n",
                label(i < 30),
                label((30..46).contains(&i))
            );
        }
        let data = read(&csv).unwrap();
        assert_eq!((data.kept.len(), data.rows.len()), (851, 805));
        assert_eq!(data.pairs.len(), 379);
        assert!(
            data.pairs
                .iter()
                .all(|&(a, b)| data.rows[a].same_sentences(&data.rows[b]))
        );
        // Nor on the order of the rows.
        let mut lines: Vec<&str> = csv.lines().collect();
        lines.sort_by_key(|line| line.len() * 7 % 5);
        assert_eq!(read(&lines.join("\n")).unwrap().pairs.len(), 379);
    }

    #[test]
    fn a_split_parts_no_sentence_pair_and_repeats_by_its_seed() {
        let mut csv = "s,t,y,2\n".to_owned();
        for i in 0..99 {
            let label = if i % 10 == 3 { -1 } else { 1 + i % 5 };
            csv += &format!("s{i},t,x,{label}\ns{i},t,y,3\n");
        }
        // A pair that comes again, elsewhere.
        csv += "s0,t,z,5\n";
        let data = read(&csv).unwrap();
        let [tune, test] = data.case_split(1).unwrap();
        let sentences = |data: &Dataset| -> HashSet<String> {
            data.rows.iter().map(|row| row.sentence1.clone()).collect()
        };
        let (tuned, tested) = (sentences(&tune), sentences(&test));
        assert_eq!((tuned.len(), tested.len()), (70, 30));
        assert!(tuned.is_disjoint(&tested));
        assert_eq!(tune.pairs.len() + test.pairs.len(), data.pairs.len());
        // Rows keep their places in the file.
        assert_eq!(test.kept.len(), data.kept.len());
        for (whole, part) in data.kept.iter().zip(&test.kept) {
            if let Some(part) = part {
                assert_eq!(data.rows[whole.unwrap()], test.rows[*part]);
            }
        }
        assert_eq!(data.case_split(1).unwrap(), [tune.clone(), test]);
        assert_ne!(data.case_split(2).unwrap()[0], tune);
        assert!(read("a,b,x,1\na,b,y,2\n").unwrap().case_split(1).is_err());
    }

    #[test]
    fn rows_of_a_set_are_one_group() {
        let csv = "set,sentence1,sentence2,condition,label\n1,a,b,x,1\n1,a,c,x,5\n1,b,c,y,1\n2,b,c,y,1\n,b,c,y,1\n,b,c,z,1\n,b,d,z,1\n";
        let data = Dataset::from_columns("d.csv", &Columns::of_csv(csv)).unwrap();
        assert_eq!(groups(&data), [0..3, 3..4, 4..6, 6..7]);
        // Whatever is held out, no set is parted.
        let held = data.held_out();
        assert!(held[..3].iter().all(|&h| h == held[0]));
    }

    #[test]
    fn a_smaller_sample_is_part_of_a_larger_one_and_parts_no_pair() {
        let rows: String = (0..40)
            .map(|i| format!("a{i},b,x,1\na{i},b,y,4\n"))
            .collect();
        let data = read(&rows).unwrap();
        let samples = [3, 10, 40].map(|count| data.sample(count).unwrap());
        for (sample, pairs) in samples.iter().zip([3, 10, 40]) {
            let subset = data.subset(sample);
            assert_eq!((subset.rows.len(), subset.pairs.len()), (2 * pairs, pairs));
            assert_eq!(sample, &data.sample(pairs).unwrap());
        }
        let within = |few: &[bool], more: &[bool]| few.iter().zip(more).all(|(f, m)| !f || *m);
        assert!(within(&samples[0], &samples[1]));
        let error = data.sample(41).unwrap_err().to_string();
        assert!(
            error.contains("41 sentence pairs are to be drawn of 40"),
            "{error}"
        );
    }

    #[test]
    fn rows_without_a_label_are_read_where_none_is_needed() {
        let csv = format!("{HEADER}a,b,x,-1\na,b,y,\nc,d,x,4\n");
        let columns = Columns::of_csv(&csv);
        let data = Dataset::labelled("d.csv", &columns).unwrap();
        assert_eq!(
            (data.rows.len(), &data.kept[..]),
            (1, &[None, None, Some(0)][..])
        );
        assert_eq!(
            Dataset::texts("d.csv", &columns).unwrap()[1],
            ["a", "b", "y"]
        );
        let columns = Columns::of_csv("sentence1,sentence2,condition\na,b,x\na, ,y\n");
        assert_eq!(
            Dataset::labelled("d.csv", &columns).unwrap().kept,
            [None, None]
        );
        let error = Dataset::texts("d.csv", &columns).unwrap_err().to_string();
        assert!(error.contains("row 2: the sentence2 is empty"), "{error}");
    }

    #[test]
    fn labels_count_from_and_to_what_is_said() {
        let rules = Rules {
            unconditional: true,
            labels: "0-5".parse().unwrap(),
        };
        let read = |csv: &str| Dataset::read("d.csv", &Columns::of_csv(csv), rules);
        let data = read("sentence1,sentence2,label\na,b,0\na,c,2.5\nb,c,5\nb,d,-1\n").unwrap();
        let ratings: Vec<f32> = data.rows.iter().map(|row| row.rating).collect();
        assert_eq!(ratings, [1.0, 3.0, 5.0]);
        assert!(data.rows.iter().all(|row| row.condition.is_empty()));
        let mixed = read("sentence1,sentence2,condition,label\na,b, ,1\na,c,x,1\n").unwrap();
        assert_eq!([0, 1].map(|i| mixed.rows[i].condition.as_str()), ["", "x"]);
        let error = read("sentence1,sentence2,label\na,b,5.5\n").unwrap_err();
        assert!(error.to_string().contains("between 0 and 5"), "{error}");
        for wrong in ["", "5", "5-0", "0-inf", "a-b", "-1-1"] {
            assert!(wrong.parse::<Labels>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_bad_row_is_named() {
        for (rows, part) in [
            ("a,b,x,1\na,b,y,\n", "row 2"),
            ("a,b,x,high\n", "row 1: the label `high`"),
            ("a,b,x,7\n", "row 1: the label 7"),
            ("a,b, ,1\n", "row 1: the condition is empty"),
            ("", "no valid row"),
        ] {
            let error = read(rows).unwrap_err();
            assert_eq!(error.code(), "data");
            assert!(error.to_string().contains(part), "{error}");
        }
        let error = Dataset::from_columns("d.csv", &Columns::of_csv("a,b\n1,2\n")).unwrap_err();
        assert!(
            error.to_string().contains("`sentence1` is missing"),
            "{error}"
        );
    }
}

//! What a table of sentence pairs under conditions holds: counts, lengths, labels (C-STS, section 3 and figure 4), and what it
//! shares with another.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use super::columns::Columns;

/// What a table holds. A text that is empty is counted nowhere but in its row.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Rows.
    pub rows: usize,
    /// Distinct sentence pairs.
    pub pairs: usize,
    /// Distinct sentences.
    pub sentences: usize,
    /// Those that are in more than one sentence pair.
    pub shared_sentences: usize,
    /// Distinct conditions.
    pub conditions: usize,
    /// Mean words of a sentence, over both sentences of all rows; absent where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sentence_words: Option<f64>,
    /// Mean words of a condition, over all rows; absent where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition_words: Option<f64>,
    /// How many rows have each label, by its number; rows without one are left out.
    pub labels: BTreeMap<String, usize>,
    /// Rows without a label.
    pub unlabelled: usize,
}

/// What a table shares with another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shared {
    /// Distinct sentences that are in both.
    pub sentences: usize,
    /// Distinct sentence pairs that are in both.
    pub pairs: usize,
    /// Distinct conditions that are in both.
    pub conditions: usize,
}

/// The distinct texts of a table.
#[derive(Default)]
struct Distinct<'a> {
    /// Each with the distinct pairs that it is in.
    sentences: HashMap<&'a str, HashSet<[&'a str; 2]>>,
    pairs: HashSet<[&'a str; 2]>,
    conditions: HashSet<&'a str>,
}

/// A cell without white space around it; `None` where nothing is left.
fn text<'a>(columns: &'a Columns, column: &str, row: usize) -> Option<&'a str> {
    let text = columns.cell(column, row)?.trim();
    (!text.is_empty()).then_some(text)
}

impl<'a> Distinct<'a> {
    fn of(columns: &'a Columns) -> Self {
        let mut all = Self::default();
        for row in 0..columns.rows() {
            all.conditions.extend(text(columns, "condition", row));
            let both = ["sentence1", "sentence2"].map(|column| text(columns, column, row));
            for sentence in both.into_iter().flatten() {
                all.sentences.entry(sentence).or_default();
            }
            if let [Some(first), Some(second)] = both {
                let pair = [first, second];
                all.pairs.insert(pair);
                for sentence in pair {
                    all.sentences.entry(sentence).or_default().insert(pair);
                }
            }
        }
        all
    }
}

impl Summary {
    /// Of a table with the columns sentence1, sentence2, condition and label, of which any may be missing.
    pub fn of(columns: &Columns) -> Self {
        let distinct = Distinct::of(columns);
        let rows = 0..columns.rows();
        let words = |names: &[&str]| {
            let texts = names.iter().flat_map(|name| {
                let cells = rows.clone().filter_map(|row| text(columns, name, row));
                cells.map(|text| text.split_whitespace().count())
            });
            let lengths: Vec<usize> = texts.collect();
            let mean = lengths.iter().sum::<usize>() as f64 / lengths.len() as f64;
            mean.is_finite().then_some(mean)
        };
        let mut labels = BTreeMap::new();
        for label in rows.clone().filter_map(|row| text(columns, "label", row)) {
            // 4 and 4.0 are one label.
            let label = label
                .parse::<f64>()
                .map_or(label.to_owned(), |l| l.to_string());
            *labels.entry(label).or_insert(0) += 1;
        }
        let shared = distinct.sentences.values().filter(|pairs| pairs.len() > 1);
        Self {
            rows: columns.rows(),
            pairs: distinct.pairs.len(),
            sentences: distinct.sentences.len(),
            shared_sentences: shared.count(),
            conditions: distinct.conditions.len(),
            sentence_words: words(&["sentence1", "sentence2"]),
            condition_words: words(&["condition"]),
            unlabelled: columns.rows() - labels.values().sum::<usize>(),
            labels,
        }
    }
}

impl Shared {
    /// What two tables share: a test set whose sentences are in the training data tests less than it seems to.
    pub fn of(one: &Columns, other: &Columns) -> Self {
        let (one, other) = (Distinct::of(one), Distinct::of(other));
        let known = |sentence: &&str| other.sentences.contains_key(*sentence);
        Self {
            sentences: one.sentences.keys().copied().filter(|s| known(s)).count(),
            pairs: one.pairs.intersection(&other.pairs).count(),
            conditions: one.conditions.intersection(&other.conditions).count(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_counted_by_hand() {
        let csv = "sentence1,sentence2,condition,label\n\
                   a dog runs,two cats,the animal,1.0\n\
                   a dog runs,two cats,the number of animals,4\n\
                   a dog runs,rain,the animal,-1\n\
                   snow,rain,the weather,\n\
                   snow, ,the weather,4.0\n";
        let columns = Columns::of_csv(csv);
        let summary = Summary::of(&columns);
        let labels = [("-1", 1), ("1", 1), ("4", 2)].map(|(label, n)| (label.to_owned(), n));
        assert_eq!(
            summary,
            Summary {
                rows: 5,
                pairs: 3,
                sentences: 4,
                shared_sentences: 2, // the dog and the rain
                conditions: 3,
                sentence_words: Some(f64::from(3 * 3 + 2 * 2 + 1 + 1 + 1 + 1) / 9.0),
                condition_words: Some(f64::from(2 + 4 + 2 + 2 + 2) / 5.0),
                labels: labels.into(),
                unlabelled: 1,
            }
        );
        let other = Columns::of_csv(
            "sentence1,sentence2,condition\nsnow,rain,the animal\nhail,two cats,the place\n",
        );
        let shared = Shared::of(&columns, &other);
        assert_eq!(
            (shared.sentences, shared.pairs, shared.conditions),
            (3, 1, 1)
        );
        assert_eq!(Summary::of(&Columns::default()).sentence_words, None);
    }
}

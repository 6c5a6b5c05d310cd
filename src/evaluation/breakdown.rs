//! Parts of a data set on which a result is worth looking at by itself.

use std::collections::HashSet;

use serde::Serialize;

use super::{
    condition_type::ConditionType,
    metrics::{Scores, spearman},
};
use crate::data::{baseline::ConditionOnly, dataset::Dataset};

/// Some rows of a data set.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// What reports call it.
    pub name: String,
    /// For each row of the data whether it belongs.
    pub holds: Vec<bool>,
}

/// The figures of one part, as fractions; null where undefined.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PartScores {
    /// Rows of the part.
    pub rows: usize,
    /// Spearman's ρ over them.
    pub spearman: Option<f64>,
    /// [`Scores::accuracy_untied`] over the pairs whose rows are among them.
    pub accuracy_untied: Option<f64>,
}

impl Part {
    fn new(name: impl Into<String>, holds: Vec<bool>) -> Self {
        Self {
            name: name.into(),
            holds,
        }
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.holds.iter().filter(|&&h| h).count()
    }

    /// Scores its rows; accuracy counts the sentence pairs both of whose rows belong.
    pub fn scores(&self, predicted: &[f64], data: &Dataset) -> PartScores {
        let part = data.subset(&self.holds);
        let held = predicted.iter().zip(&self.holds).filter(|&(_, &h)| h);
        let predicted: Vec<f64> = held.map(|(&p, _)| p).collect();
        let ratings = part.ratings();
        let finite = |v: f64| v.is_finite().then_some(v);
        PartScores {
            rows: predicted.len(),
            spearman: finite(spearman(&predicted, &ratings)),
            accuracy_untied: finite(Scores::of(&predicted, &ratings, &part.pairs).accuracy_untied),
        }
    }
}

/// By how often training had the condition.
pub fn by_occurrence(data: &Dataset, training: &ConditionOnly) -> Vec<Part> {
    [
        ("0", 0..=0),
        ("1-4", 1..=4),
        ("5-19", 5..=19),
        ("20+", 20..=u32::MAX),
    ]
    .into_iter()
    .map(|(name, range)| {
        let held = data.rows.iter();
        Part::new(
            name,
            held.map(|row| range.contains(&training.occurrences(&row.condition)))
                .collect(),
        )
    })
    .collect()
}

/// By whether training had one of the row's two sentences, at either place.
pub fn by_shared_sentence(data: &Dataset, training: &Dataset) -> Vec<Part> {
    let known: HashSet<&str> = training
        .rows
        .iter()
        .flat_map(|row| [row.sentence1.trim(), row.sentence2.trim()])
        .collect();
    let shared: Vec<bool> = data
        .rows
        .iter()
        .map(|row| known.contains(row.sentence1.trim()) || known.contains(row.sentence2.trim()))
        .collect();
    let rest = shared.iter().map(|s| !s).collect();
    vec![
        Part::new("no sentence shared with training", rest),
        Part::new("a sentence shared with training", shared),
    ]
}

/// The first `rows` rows of the file, invalid ones counted, and the rest.
pub fn by_place(data: &Dataset, rows: usize) -> Vec<Part> {
    let first: Vec<bool> = data
        .kept
        .iter()
        .enumerate()
        .filter_map(|(i, kept)| kept.map(|_| i < rows))
        .collect();
    let rest = first.iter().map(|f| !f).collect();
    vec![
        Part::new(format!("first {rows} rows of the file"), first),
        Part::new("the rest", rest),
    ]
}

/// By what the condition asks about.
pub fn by_condition_type(data: &Dataset) -> Vec<Part> {
    let types: Vec<ConditionType> = data
        .rows
        .iter()
        .map(|row| ConditionType::of(&row.condition))
        .collect();
    ConditionType::ALL
        .into_iter()
        .map(|kind| Part::new(kind.name(), types.iter().map(|&t| t == kind).collect()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::columns::Columns;

    fn read(rows: &str) -> Dataset {
        let csv = format!("sentence1,sentence2,condition,label\n{rows}");
        Dataset::from_columns("d.csv", &Columns::of_csv(&csv)).unwrap()
    }

    fn holds(parts: &[Part]) -> Vec<Vec<u8>> {
        let bits = |p: &Part| p.holds.iter().map(|&h| u8::from(h)).collect();
        parts.iter().map(bits).collect()
    }

    #[test]
    fn parts_hold_the_rows_they_name() {
        let train = read("a,b,The number of dogs.,1\nc,d,the colour,2\n");
        let data =
            read("a,x,colour,1\na,x,the colour,5\ny,z,q,-1\ny,z,number of dogs,3\nx,d,r,4\n");
        assert_eq!(
            holds(&by_shared_sentence(&data, &train)),
            [[0, 0, 1, 0], [1, 1, 0, 1]]
        );
        // Row 3 of the file is invalid: the first four rows of the file are three valid ones.
        assert_eq!(holds(&by_place(&data, 4)), [[1, 1, 1, 0], [0, 0, 0, 1]]);
        let baseline =
            ConditionOnly::fit(train.rows.iter().map(|r| (r.condition.as_str(), r.rating)));
        let parts = by_occurrence(&data, &baseline);
        assert_eq!(holds(&parts)[..2], [[1, 0, 1, 1], [0, 1, 0, 0]]);
    }

    #[test]
    fn a_part_is_scored_by_itself() {
        let data = read("a,b,x,1\na,b,y,5\nc,d,x,4\nc,d,y,2\n");
        let predicted = [0.1, 0.9, 0.1, 0.9];
        let parts = by_place(&data, 2);
        let scores: Vec<_> = parts.iter().map(|p| p.scores(&predicted, &data)).collect();
        for (scores, expected) in scores.iter().zip([1.0, -1.0]) {
            assert!((scores.spearman.unwrap() - expected).abs() < 1e-12);
        }
        assert_eq!(scores[1].accuracy_untied, Some(0.0));
        let nothing = Part::new("none", vec![false; 4]).scores(&predicted, &data);
        assert_eq!((nothing.rows, nothing.spearman), (0, None));
    }
}

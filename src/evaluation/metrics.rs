//! Rank correlation and accuracy, as the C-STS papers count them.

use serde::Serialize;

use crate::data::dataset::Pair;

/// Ranks from 1, ties sharing the mean of their ranks.
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut i = 0;
    while i < order.len() {
        let mut j = i + 1;
        while j < order.len() && values[order[j]] == values[order[i]] {
            j += 1;
        }
        let mean = (i + j + 1) as f64 / 2.0;
        for &k in &order[i..j] {
            ranks[k] = mean;
        }
        i = j;
    }
    ranks
}

/// Pearson's r; NaN for fewer than two values or where one side is constant.
pub fn pearson(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len().min(y.len());
    if n < 2 {
        return f64::NAN;
    }
    let mean = |v: &[f64]| v[..n].iter().sum::<f64>() / n as f64;
    let (mx, my) = (mean(x), mean(y));
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (a, b) in x.iter().zip(y) {
        let (dx, dy) = (a - mx, b - my);
        xy += dx * dy;
        xx += dx * dx;
        yy += dy * dy;
    }
    match xx > 0.0 && yy > 0.0 {
        true => (xy / (xx.sqrt() * yy.sqrt())).clamp(-1.0, 1.0),
        false => f64::NAN,
    }
}

/// Spearman's ρ with ties by mean rank; NaN as for [`pearson`].
pub fn spearman(x: &[f64], y: &[f64]) -> f64 {
    pearson(&ranks(x), &ranks(y))
}

/// The figures of one evaluation, as fractions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scores {
    /// Spearman's ρ of similarities and ratings.
    #[serde(serialize_with = "finite")]
    pub spearman: f64,
    /// Pearson's r of them.
    #[serde(serialize_with = "finite")]
    pub pearson: f64,
    /// Share of pairs whose higher-rated condition gets the strictly higher similarity; pairs with equal
    /// ratings count as wrong (the papers' formula).
    #[serde(serialize_with = "finite")]
    pub accuracy: f64,
    /// The same over pairs with different ratings.
    #[serde(serialize_with = "finite")]
    pub accuracy_untied: f64,
}

/// JSON has no NaN: an undefined figure is null.
pub(super) fn finite<S: serde::Serializer>(value: &f64, s: S) -> Result<S::Ok, S::Error> {
    match value.is_finite() {
        true => s.serialize_f64(*value),
        false => s.serialize_none(),
    }
}

impl Scores {
    /// Scores `predicted` against `ratings`, row by row.
    pub fn of(predicted: &[f64], ratings: &[f64], pairs: &[Pair]) -> Self {
        let untied: Vec<_> = pairs
            .iter()
            .filter(|&&(a, b)| ratings[a] != ratings[b])
            .collect();
        let right = untied
            .iter()
            .filter(|&&&(a, b)| match ratings[a] > ratings[b] {
                true => predicted[a] > predicted[b],
                false => predicted[b] > predicted[a],
            })
            .count();
        Self {
            spearman: spearman(predicted, ratings),
            pearson: pearson(predicted, ratings),
            accuracy: right as f64 / pairs.len() as f64,
            accuracy_untied: right as f64 / untied.len() as f64,
        }
    }
}

/// A rating from which on people find two texts alike.
pub const ALIKE_RATING: f64 = 4.0;
/// A rating up to which they find them different.
pub const DIFFERENT_RATING: f64 = 2.0;
/// A similarity from which on two texts count as alike.
pub const ALIKE: f64 = 0.6;
/// A similarity up to which they count as different.
pub const DIFFERENT: f64 = 0.4;

/// How far similarities may be taken at their word: rows that people rate 4 or more are alike, 2 or less different.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Decisions {
    /// Rows that are one or the other.
    pub rows: usize,
    /// Share of them whose similarity is on the right side: at least [`ALIKE`], or at most [`DIFFERENT`].
    pub right: f64,
    /// Share of them whose similarity is on the wrong side; the others are undecided.
    pub wrong: f64,
    /// The chance that of a row of either kind the one that is alike has the higher similarity (area under the ROC curve).
    #[serde(serialize_with = "finite")]
    pub auc: f64,
}

impl Decisions {
    /// Of `predicted` against `ratings`, row by row; `None` where no row is alike or different.
    pub fn of(predicted: &[f64], ratings: &[f64]) -> Option<Self> {
        let (similarities, alike): (Vec<f64>, Vec<bool>) = predicted
            .iter()
            .zip(ratings)
            .filter(|(_, rating)| **rating >= ALIKE_RATING || **rating <= DIFFERENT_RATING)
            .map(|(&similarity, &rating)| (similarity, rating >= ALIKE_RATING))
            .unzip();
        if similarities.is_empty() {
            return None;
        }
        let share = |side: fn(f64, bool) -> bool| {
            let rows = similarities.iter().zip(&alike);
            let there = rows.filter(|(s, alike)| side(**s, **alike));
            there.count() as f64 / similarities.len() as f64
        };
        Some(Self {
            rows: similarities.len(),
            right: share(|s, alike| if alike { s >= ALIKE } else { s <= DIFFERENT }),
            wrong: share(|s, alike| if alike { s <= DIFFERENT } else { s >= ALIKE }),
            auc: auc(&similarities, &alike),
        })
    }
}

/// The area under the ROC curve, by ranks (Mann and Whitney's U); ties count half. NaN where one kind is missing.
pub fn auc(scores: &[f64], truths: &[bool]) -> f64 {
    let ranks = ranks(scores);
    let ranked = ranks.iter().zip(truths).filter(|(_, truth)| **truth);
    let (sum, n) = ranked.fold((0.0, 0.0), |(sum, n), (rank, _)| (sum + rank, n + 1.0));
    let others = truths.len() as f64 - n;
    (sum - n * (n + 1.0) / 2.0) / (n * others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accuracy_counts_ties_as_the_paper_does() {
        let ratings = [5.0, 1.0, 2.0, 4.0, 3.0, 3.0];
        let predicted = [0.9, 0.1, 0.8, 0.2, 0.4, 0.3];
        let scores = Scores::of(&predicted, &ratings, &[(0, 1), (2, 3), (4, 5)]);
        assert_eq!(scores.accuracy, 1.0 / 3.0);
        assert_eq!(scores.accuracy_untied, 0.5);
    }

    #[test]
    fn decisions_leave_out_what_lies_between() {
        let ratings = [5.0, 4.0, 1.0, 2.0, 3.0, 5.0];
        let predicted = [0.9, 0.5, 0.4, 0.6, 0.0, 0.3];
        let decisions = Decisions::of(&predicted, &ratings).unwrap();
        assert_eq!(decisions.rows, 5);
        assert_eq!((decisions.right, decisions.wrong), (0.4, 0.4));
        // Of six couples: 0.9 beats both, 0.5 beats 0.4, 0.3 none.
        assert_eq!(decisions.auc, 0.5);
        assert_eq!(auc(&[0.5, 0.5], &[true, false]), 0.5);
        assert!(Decisions::of(&[0.1], &[3.0]).is_none());
    }

    #[test]
    fn equal_similarities_are_not_a_right_answer() {
        let scores = Scores::of(&[0.5, 0.5], &[5.0, 1.0], &[(0, 1)]);
        assert_eq!(scores.accuracy, 0.0);
        assert!(scores.spearman.is_nan());
    }
}

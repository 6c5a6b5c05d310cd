//! How sure a figure is: bootstrap confidence intervals (Efron & Tibshirani, 1993, section 13.3) and
//! repeated splits.
//!
//! Rows of one sentence pair are not independent, so sentence pairs are drawn, never rows.

use rand::{RngExt, SeedableRng, rngs::StdRng, seq::SliceRandom};
use serde::Serialize;

use super::metrics::Scores;
use crate::data::dataset::Dataset;
use crate::data::dataset::Pair;

/// Resamples behind an interval.
pub const RESAMPLES: usize = 1000;
/// What is left out at each end: 2.5 %.
const TAIL: f64 = 0.025;

/// 95 % intervals `[low, high]` of the figures of [`Scores`], as fractions; null in JSON where undefined.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Intervals {
    /// Of Spearman's ρ.
    pub spearman: [f64; 2],
    /// Of Pearson's r.
    pub pearson: [f64; 2],
    /// Of [`Scores::accuracy`].
    pub accuracy: [f64; 2],
    /// Of [`Scores::accuracy_untied`].
    pub accuracy_untied: [f64; 2],
    /// Resamples behind them.
    pub resamples: usize,
}

/// Mean and standard deviation over splits, as fractions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The sample's standard deviation.
    pub std: f64,
}

impl Spread {
    /// Of values; the standard deviation is the sample's (n − 1).
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        Self {
            mean,
            std: (squares / (n - 1.0)).sqrt(),
        }
    }
}

/// The rows of each distinct sentence pair, in the order of the data, and those of its rows that
/// [`Dataset::pairs`] compares.
pub struct Groups {
    groups: Vec<Group>,
}

struct Group {
    rows: Vec<usize>,
    /// Positions within `rows`.
    pairs: Vec<Pair>,
}

impl Groups {
    /// Those of a data set.
    pub fn of(data: &Dataset) -> Self {
        let pairs = data.sentence_pairs();
        let mut groups: Vec<Group> = pairs
            .rows
            .into_iter()
            .map(|rows| Group {
                rows,
                pairs: Vec::new(),
            })
            .collect();
        for &(a, b) in &data.pairs {
            let group = &mut groups[pairs.of_row[a]];
            let place = |row| group.rows.iter().position(|&r| r == row);
            if let (Some(a), Some(b)) = (place(a), place(b)) {
                group.pairs.push((a, b));
            }
        }
        Self { groups }
    }

    /// Scores the rows of some groups, a group as often as it is named.
    fn scores(&self, chosen: &[usize], predicted: &[f64], ratings: &[f64]) -> Scores {
        let (mut p, mut r, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
        for &group in chosen {
            let (group, start) = (&self.groups[group], p.len());
            p.extend(group.rows.iter().map(|&row| predicted[row]));
            r.extend(group.rows.iter().map(|&row| ratings[row]));
            pairs.extend(group.pairs.iter().map(|&(a, b)| (start + a, start + b)));
        }
        Scores::of(&p, &r, &pairs)
    }

    /// Percentile bootstrap intervals from [`RESAMPLES`] draws of as many sentence pairs as there are. The
    /// same seed gives the same intervals.
    pub fn intervals(&self, predicted: &[f64], ratings: &[f64], seed: u64) -> Intervals {
        let mut rng = StdRng::seed_from_u64(seed);
        let n = self.groups.len();
        let scores: Vec<Scores> = (0..RESAMPLES)
            .map(|_| {
                let chosen: Vec<usize> = (0..n).map(|_| rng.random_range(0..n)).collect();
                self.scores(&chosen, predicted, ratings)
            })
            .collect();
        let interval = |figure: fn(&Scores) -> f64| percentiles(scores.iter().map(figure));
        Intervals {
            spearman: interval(|s| s.spearman),
            pearson: interval(|s| s.pearson),
            accuracy: interval(|s| s.accuracy),
            accuracy_untied: interval(|s| s.accuracy_untied),
            resamples: RESAMPLES,
        }
    }

    /// Spearman and untied accuracy on `splits` random parts that hold a `share` of the sentence pairs each.
    pub fn splits(
        &self,
        predicted: &[f64],
        ratings: &[f64],
        splits: u64,
        share: f64,
    ) -> (Spread, Spread) {
        let size = ((self.groups.len() as f64 * share).round() as usize).max(1);
        let (spearman, accuracy): (Vec<f64>, Vec<f64>) = (0..splits)
            .map(|seed| {
                let mut chosen: Vec<usize> = (0..self.groups.len()).collect();
                chosen.shuffle(&mut StdRng::seed_from_u64(seed));
                chosen.truncate(size);
                let scores = self.scores(&chosen, predicted, ratings);
                (scores.spearman, scores.accuracy_untied)
            })
            .unzip();
        (Spread::of(&spearman), Spread::of(&accuracy))
    }
}

/// The two percentiles, linear between neighbours as numpy's; NaN where a value is undefined.
fn percentiles(values: impl Iterator<Item = f64>) -> [f64; 2] {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    if sorted.iter().any(|v| v.is_nan()) {
        return [f64::NAN; 2];
    }
    [TAIL, 1.0 - TAIL].map(|share| {
        let at = share * (sorted.len() as f64 - 1.0);
        let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
        low + (high - low) * at.fract()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::columns::Columns;

    fn data(pairs: usize) -> Dataset {
        let mut csv = String::from("sentence1,sentence2,condition,label\n");
        for i in 0..pairs {
            csv += &format!("a{i},b,x,{}\na{i},b,y,{}\n", i % 5 + 1, (i / 5) % 5 + 1);
        }
        Dataset::from_columns("d.csv", &Columns::of_csv(&csv)).unwrap()
    }

    #[test]
    fn intervals_hold_the_figure_and_narrow_with_more_pairs() {
        let width = |pairs| {
            let data = data(pairs);
            let ratings = data.ratings();
            // Right in the main, with a wave across it.
            let predicted: Vec<f64> = ratings
                .iter()
                .enumerate()
                .map(|(i, r)| r + 2.0 * (i as f64 * 1.7).sin())
                .collect();
            let groups = Groups::of(&data);
            let [low, high] = groups.intervals(&predicted, &ratings, 1).spearman;
            let whole = Scores::of(&predicted, &ratings, &data.pairs).spearman;
            assert!(low < whole && whole < high, "{low} {whole} {high}");
            assert_eq!(
                groups.intervals(&predicted, &ratings, 1),
                groups.intervals(&predicted, &ratings, 1)
            );
            high - low
        };
        // Sixteen times the pairs: about a quarter of the width.
        let ratio = width(50) / width(800);
        assert!((2.5..6.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn a_sentence_pair_is_drawn_whole() {
        let data = data(40);
        let groups = Groups::of(&data);
        assert_eq!(groups.groups.len(), 40);
        assert!(groups.groups.iter().all(|g| g.pairs == [(0, 1)]));
        let ratings = data.ratings();
        let (spearman, accuracy) = groups.splits(&ratings, &ratings, 10, 0.3);
        assert!((spearman.mean - 1.0).abs() < 1e-12 && accuracy.mean == 1.0);
        assert!(spearman.std < 1e-12);
    }

    #[test]
    fn percentiles_are_numpys() {
        // numpy.percentile(range(11), [2.5, 97.5])
        let [low, high] = percentiles((0..11).map(f64::from));
        assert!((low - 0.25).abs() < 1e-12 && (high - 9.75).abs() < 1e-12);
    }
}

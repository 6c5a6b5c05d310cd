//! Whether similarities mean what they say: of pairs at 0.9, nine in ten should be alike.

use serde::Serialize;

/// Bins of a reliability diagram, over similarities from 0 to 1.
const BINS: usize = 10;

/// A bin of a reliability diagram.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bin {
    /// Mean similarity of its rows; those below 0 count as 0.
    pub similarity: f64,
    /// Mean of (rating − 1)/4 of its rows: where ratings are 5 or 1, the share of those that are alike.
    pub agreement: f64,
    pub rows: usize,
}

/// How far similarities are from agreement (Niculescu-Mizil & Caruana, 2005).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reliability {
    /// Those with a row, by similarity.
    pub bins: Vec<Bin>,
    /// The mean distance of a bin's similarity from its agreement, by rows (expected calibration error).
    pub error: f64,
}

impl Reliability {
    /// Of `predicted` similarities against `ratings` from 1 to 5, row by row; `None` where there is no row.
    pub fn of(predicted: &[f64], ratings: &[f64]) -> Option<Self> {
        let mut sums = [(0.0, 0.0, 0usize); BINS];
        for (similarity, rating) in predicted.iter().zip(ratings) {
            let similarity = similarity.clamp(0.0, 1.0);
            // A bin holds its lower edge, the last one both.
            let bin = ((similarity * BINS as f64) as usize).min(BINS - 1);
            sums[bin].0 += similarity;
            sums[bin].1 += (rating - 1.0) / 4.0;
            sums[bin].2 += 1;
        }
        let bins = sums.into_iter().filter(|(_, _, rows)| *rows > 0);
        let bins: Vec<_> = bins
            .map(|(similarity, agreement, rows)| Bin {
                similarity: similarity / rows as f64,
                agreement: agreement / rows as f64,
                rows,
            })
            .collect();
        let rows: usize = bins.iter().map(|bin| bin.rows).sum();
        let apart = bins
            .iter()
            .map(|bin| (bin.similarity - bin.agreement).abs() * bin.rows as f64);
        let error = apart.sum::<f64>() / rows as f64;
        (rows > 0).then_some(Self { bins, error })
    }
}

/// The values that never fall and lie closest to `y` (least squares, by `weights`): isotonic regression of points in the order
/// of their x, by pooling adjacent violators.
pub fn isotonic(y: &[f64], weights: &[f64]) -> Vec<f64> {
    // (mean, weight, points) of each stretch of equal values.
    let mut stretches: Vec<(f64, f64, usize)> = Vec::with_capacity(y.len());
    for (&y, &weight) in y.iter().zip(weights) {
        let mut last = (y, weight, 1);
        while let Some(before) = stretches.pop_if(|before| before.0 >= last.0) {
            let weight = before.1 + last.1;
            let mean = (before.0 * before.1 + last.0 * last.1) / weight;
            last = (mean, weight, before.2 + last.2);
        }
        stretches.push(last);
    }
    let stretches = stretches.into_iter();
    stretches
        .flat_map(|(mean, _, points)| std::iter::repeat_n(mean, points))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_binned_by_similarity() {
        // Two at 0.95, one alike; one at 0.1, in part; one below 0, different.
        let reliability = Reliability::of(&[0.95, 0.95, 0.1, -0.4], &[5.0, 1.0, 3.0, 1.0]).unwrap();
        let bins: Vec<_> = (reliability.bins.iter())
            .map(|b| (b.similarity, b.agreement, b.rows))
            .collect();
        assert_eq!(bins, [(0.0, 0.0, 1), (0.1, 0.5, 1), (0.95, 0.5, 2)]);
        assert!((reliability.error - (0.4 + 2.0 * 0.45) / 4.0).abs() < 1e-12);
        assert_eq!(Reliability::of(&[1.0], &[5.0]).unwrap().error, 0.0);
        assert_eq!(Reliability::of(&[], &[]), None);
    }
}

//! What ratings similarities stand for, fitted to an encoder as it is in use: isotonic regression of agreement on similarity.

use crate::{
    error::{Error, Result},
    evaluation::calibration::isotonic,
    similarity::Calibration,
};

/// Rows are gathered in so many groups of about equal weight, by similarity, before the regression: one point each.
const POINTS: usize = 12;

/// A row with a rating.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rated {
    /// Cosine.
    pub similarity: f64,
    /// 1 to 5.
    pub rating: f64,
    /// How much it counts.
    pub weight: f64,
}

/// Fits the line through (0, 0), the mean of each group of rows, and (1, 1): texts that are the same agree.
///
/// # Errors
/// There is no row.
pub fn fit(rows: &[Rated]) -> Result<Calibration> {
    let mut rows = rows.to_vec();
    rows.sort_by(|a, b| a.similarity.total_cmp(&b.similarity));
    let total: f64 = rows.iter().map(|row| row.weight).sum();
    // (weight, similarity, agreement) of each group, summed.
    let mut groups: Vec<[f64; 3]> = Vec::new();
    let mut before = 0.0;
    for row in &rows {
        let group = (before / total * POINTS as f64) as usize;
        groups.resize(groups.len().max(group + 1), [0.0; 3]);
        let agreement = (row.rating - 1.0) / 4.0;
        let parts = [1.0, row.similarity, agreement].map(|x| row.weight * x);
        groups[group]
            .iter_mut()
            .zip(parts)
            .for_each(|(sum, x)| *sum += x);
        before += row.weight;
    }
    groups.retain(|[weight, ..]| *weight > 0.0);
    let weights: Vec<f64> = groups.iter().map(|[weight, ..]| *weight).collect();
    let agreements: Vec<f64> = groups
        .iter()
        .map(|[weight, _, agreement]| agreement / weight)
        .collect();
    let mut points = vec![[0.0, 0.0]];
    for ([weight, similarity, _], agreement) in groups.iter().zip(isotonic(&agreements, &weights)) {
        let point = [
            (similarity / weight) as f32,
            agreement.clamp(0.0, 1.0) as f32,
        ];
        if points.iter().all(|before: &[f32; 2]| before[0] < point[0]) && point[0] < 1.0 {
            points.push(point);
        }
    }
    points.push([1.0, 1.0]);
    let fault = |reason: &str| {
        Error::InvalidArgument(format!("nothing can be fitted to these rows: {reason}."))
    };
    match rows.is_empty() {
        true => Err(fault("there is none")),
        false => Calibration::new(points).map_err(fault),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_through_what_rows_of_a_similarity_agree_in() {
        // Similarity s where agreement is s² on the average.
        let rows: Vec<Rated> = (0..4000)
            .map(|i| {
                let similarity = f64::from(i % 2000) / 2000.0;
                let alike = f64::from(i * 7919 % 4001) / 4001.0 < similarity * similarity;
                Rated {
                    similarity,
                    rating: if alike { 5.0 } else { 1.0 },
                    weight: 1.0,
                }
            })
            .collect();
        let calibration = fit(&rows).unwrap();
        for x in [0.0, 0.2, 0.5, 0.8, 1.0] {
            let found = calibration.agreement(x);
            assert!((found - x * x).abs() < 0.05, "{x}: {found}");
        }
        assert!(fit(&[]).is_err());
        // What cannot rise stays level, and similarities below 0 or of 1 are no points of their own.
        let rows = [(-0.5, 5.0), (0.4, 1.0), (1.0, 1.0)];
        let rows = rows.map(|(similarity, rating)| Rated {
            similarity,
            rating,
            weight: 1.0,
        });
        let calibration = fit(&rows).unwrap();
        assert!((calibration.agreement(0.4) - 1.0 / 3.0).abs() < 1e-6);
        assert_eq!(calibration.agreement(1.0), 1.0);
    }
}

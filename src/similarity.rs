//! Two embeddings become one number.

use serde::{Deserialize, Serialize};

/// Cosine of the angle between two vectors; 0 where one of them is all zeros.
pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let (mut dot, mut aa, mut bb) = (0f64, 0f64, 0f64);
    for (&x, &y) in a.iter().zip(b) {
        let (x, y) = (f64::from(x), f64::from(y));
        dot += x * y;
        aa += x * x;
        bb += y * y;
    }
    match aa > 0.0 && bb > 0.0 {
        true => (dot / (aa * bb).sqrt()).clamp(-1.0, 1.0) as f32,
        false => 0.0,
    }
}

/// A vector at unit length; one of zeros stays as it is.
pub fn unit(vector: &[f32]) -> Vec<f32> {
    let squares: f64 = vector.iter().map(|&x| f64::from(x).powi(2)).sum();
    match squares > 0.0 {
        true => {
            let scale = 1.0 / squares.sqrt();
            vector
                .iter()
                .map(|&x| (f64::from(x) * scale) as f32)
                .collect()
        }
        false => vector.to_vec(),
    }
}

/// The rating 1–5 that a cosine stands for: by a calibration, or as it is, since heads are trained towards
/// cos = (rating − 1) / 4.
pub fn rating(cosine: f32, calibration: Option<&Calibration>) -> f32 {
    let agreement = match calibration {
        Some(calibration) => calibration.agreement(cosine),
        None => cosine.clamp(0.0, 1.0),
    };
    1.0 + 4.0 * agreement
}

/// What similarities stand for, where that was measured: how far pairs of a similarity agree on the average, from 0 to 1, as a line
/// through points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Calibration {
    /// (cosine, agreement): the first strictly rises, the second never falls.
    points: Vec<[f32; 2]>,
}

impl Calibration {
    /// A line through points; before the first and behind the last it is level.
    ///
    /// # Errors
    /// There are fewer than two, they do not rise, or an agreement is not between 0 and 1.
    pub fn new(points: Vec<[f32; 2]>) -> Result<Self, &'static str> {
        let calibration = Self { points };
        match calibration.fault() {
            None => Ok(calibration),
            Some(fault) => Err(fault),
        }
    }

    /// What is wrong with it, if it was read from a file.
    pub fn fault(&self) -> Option<&'static str> {
        let rise = |two: &[[f32; 2]]| two[0][0] < two[1][0] && two[0][1] <= two[1][1];
        let within = |[_, agreement]: &[f32; 2]| (0.0..=1.0).contains(agreement);
        match &self.points[..] {
            [] | [_] => Some("its calibration has fewer than two points"),
            points if !points.windows(2).all(rise) => Some("its calibration does not rise"),
            points if !points.iter().all(within) => {
                Some("its calibration holds an agreement that is not between 0 and 1")
            }
            _ => None,
        }
    }

    /// The agreement that a cosine stands for, 0 to 1.
    pub fn agreement(&self, cosine: f32) -> f32 {
        let next = self.points.partition_point(|point| point[0] <= cosine);
        match (
            next.checked_sub(1).and_then(|i| self.points.get(i)),
            self.points.get(next),
        ) {
            (Some(&[x, y]), Some(&[x2, y2])) => y + (y2 - y) * (cosine - x) / (x2 - x),
            (Some(end), None) | (None, Some(end)) => end[1],
            (None, None) => cosine.clamp(0.0, 1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosine_and_rating() {
        assert_eq!(cosine(&[1.0, 0.0], &[2.0, 0.0]), 1.0);
        assert_eq!(cosine(&[1.0, 0.0], &[0.0, 3.0]), 0.0);
        assert_eq!(cosine(&[0.0, 0.0], &[0.0, 3.0]), 0.0);
        assert_eq!(cosine(&[3e30, 0.0], &[-3e30, 0.0]), -1.0);
        assert_eq!([-0.3, 0.5, 1.0].map(|x| rating(x, None)), [1.0, 3.0, 5.0]);
    }

    #[test]
    fn a_calibration_is_a_line_through_its_points() {
        let calibration = Calibration::new(vec![[0.0, 0.0], [0.5, 0.25], [1.0, 1.0]]).unwrap();
        let read = [-1.0, 0.0, 0.25, 0.5, 0.75, 1.0].map(|x| rating(x, Some(&calibration)));
        assert_eq!(read, [1.0, 1.0, 1.5, 2.0, 3.5, 5.0]);
        for points in [
            vec![[0.0, 0.0]],
            vec![[0.0, 0.0], [0.0, 1.0]],
            vec![[0.0, 0.5], [1.0, 0.2]],
            vec![[0.0, 0.5], [1.0, 1.2]],
            vec![[0.0, f32::NAN], [1.0, 1.0]],
        ] {
            assert!(Calibration::new(points.clone()).is_err(), "{points:?}");
        }
    }
}

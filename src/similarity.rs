//! Two embeddings become one number.

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

/// The rating 1–5 that a cosine stands for: heads are trained towards cos = (rating − 1) / 4.
pub fn rating(cosine: f32) -> f32 {
    1.0 + 4.0 * cosine.clamp(0.0, 1.0)
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
        assert_eq!((rating(-0.3), rating(0.5), rating(1.0)), (1.0, 3.0, 5.0));
    }
}

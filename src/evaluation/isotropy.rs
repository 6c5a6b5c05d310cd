//! How evenly embeddings point in all directions.

use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde::Serialize;

use crate::{
    evaluation::confidence::Spread,
    similarity::{cosine, unit},
};

/// Random directions the partition function is looked at from.
const DIRECTIONS: usize = 1000;

/// Isotropy of a set of embeddings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Isotropy {
    /// cos(x, mean of all x): near 0 for embeddings that point everywhere, near 1 for a narrow cone.
    pub to_mean: Spread,
    /// min F / max F with F(u) = Σ exp(eᵀu) over the embeddings e at unit length, for 1000 random unit vectors
    /// u (Mu & Viswanath, 2018, who take eigenvectors for u): 1 is isotropic.
    pub ipc: f64,
}

impl Isotropy {
    /// Of embeddings, row by row, `dims` wide; the same every time.
    pub fn of(embeddings: &[f32], dims: usize) -> Self {
        let mut rng = StdRng::seed_from_u64(0);
        let unit_rows: Vec<Vec<f32>> = embeddings.chunks_exact(dims).map(unit).collect();
        let (low, high) = (0..DIRECTIONS)
            .map(|_| {
                let direction = unit(&normal(&mut rng, dims));
                let f: f64 = unit_rows
                    .iter()
                    .map(|row| {
                        let dot: f32 = row.iter().zip(&direction).map(|(a, b)| a * b).sum();
                        f64::from(dot).exp()
                    })
                    .sum();
                f
            })
            .fold((f64::INFINITY, 0f64), |(low, high), f| {
                (low.min(f), high.max(f))
            });
        Self {
            to_mean: Spread::of(&cosines_to_mean(embeddings, dims)),
            ipc: low / high,
        }
    }
}

/// cos(x, mean of all x) for each of the embeddings, row by row, `dims` wide.
pub fn cosines_to_mean(embeddings: &[f32], dims: usize) -> Vec<f64> {
    let rows = || embeddings.chunks_exact(dims);
    let mut mean = vec![0f64; dims];
    for row in rows() {
        mean.iter_mut()
            .zip(row)
            .for_each(|(m, &x)| *m += f64::from(x));
    }
    let mean: Vec<f32> = mean.iter().map(|&m| m as f32).collect();
    rows().map(|row| f64::from(cosine(row, &mean))).collect()
}

/// Independent normal numbers (Box and Muller): at unit length, a direction drawn evenly.
fn normal(rng: &mut StdRng, n: usize) -> Vec<f32> {
    (0..n)
        .map(|_| {
            let (u, v): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
            ((-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()) as f32
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cone_is_less_isotropic_than_a_ball() {
        let mut rng = StdRng::seed_from_u64(5);
        let ball = normal(&mut rng, 16 * 4000);
        let cone: Vec<f32> = ball.iter().map(|x| x + 3.0).collect();
        let (ball, cone) = (Isotropy::of(&ball, 16), Isotropy::of(&cone, 16));
        assert!(
            ball.ipc > 0.95 && ball.to_mean.mean.abs() < 0.05,
            "{ball:?}"
        );
        assert!(cone.ipc < 0.4 && cone.to_mean.mean > 0.9, "{cone:?}");
    }

    #[test]
    fn one_direction_has_the_known_partition() {
        // F(u) = n·exp(u₁): in two dimensions 1000 directions come close to exp(−1) / exp(1).
        let isotropy = Isotropy::of(&[2.0, 0.0, 5.0, 0.0], 2);
        assert!((isotropy.ipc - (-2f64).exp()).abs() < 1e-3, "{isotropy:?}");
        assert_eq!(isotropy.to_mean.mean, 1.0);
    }
}

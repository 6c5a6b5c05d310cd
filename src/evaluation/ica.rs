//! Independent component analysis by FastICA (Hyvärinen & Oja, 2000): parallel, with the contrast
//! G(u) = log cosh u, on whitened vectors.
//!
//! The un-mixing matrix is orthogonal, so that cosines between independent components are those between
//! whitened principal components: as a baseline for similarity, ICA in k dimensions is PCA in k dimensions
//! with every component at equal variance.

use faer::{Mat, Scale, Side};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use rayon::iter::ParallelIterator;

use crate::error::{Error, Result};

/// Iterations after which it takes what it has.
const MOST: usize = 200;
/// It has converged when no direction turns by more: 1 − |cos|.
const TOLERANCE: f64 = 1e-4;

/// Directions of independent sources in whitened vectors.
#[derive(Debug, Clone)]
pub struct Ica {
    /// `[sources, dims]`, orthogonal.
    unmixing: Mat<f64>,
    /// Iterations it took.
    pub iterations: usize,
    /// Whether it converged before iterations ran out.
    pub converged: bool,
}

impl Ica {
    /// Fits as many sources as the whitened vectors `[n, k]` (mean 0, covariance the identity) have columns.
    /// The same seed gives the same sources.
    ///
    /// # Errors
    /// An iteration left no finite matrix.
    pub fn fit(whitened: &Mat<f64>, seed: u64) -> Result<Self> {
        let (n, k) = (whitened.nrows(), whitened.ncols());
        let mut rng = StdRng::seed_from_u64(seed);
        let mut w = decorrelate(&Mat::from_fn(k, k, |_, _| rng.random_range(-1.0..1.0)))?;
        for iterations in 1..=MOST {
            let mut g = whitened * w.transpose();
            let slope: Vec<f64> = g
                .par_col_iter_mut()
                .map(|column| {
                    let mut sum = 0.0;
                    for x in column.iter_mut() {
                        *x = tanh(*x);
                        sum += 1.0 - *x * *x;
                    }
                    sum / n as f64
                })
                .collect();
            let mut next = g.transpose() * whitened * Scale(1.0 / n as f64);
            for j in 0..k {
                for (i, slope) in slope.iter().enumerate() {
                    next[(i, j)] -= slope * w[(i, j)];
                }
            }
            let next = decorrelate(&next)?;
            let turned = (0..k)
                .map(|i| {
                    let dot: f64 = (0..k).map(|j| next[(i, j)] * w[(i, j)]).sum();
                    (1.0 - dot.abs()).abs()
                })
                .fold(0.0, f64::max);
            w = next;
            if turned < TOLERANCE {
                return Ok(Self {
                    unmixing: w,
                    iterations,
                    converged: true,
                });
            }
        }
        Ok(Self {
            unmixing: w,
            iterations: MOST,
            converged: false,
        })
    }

    /// The sources `[n, k]` of whitened vectors.
    pub fn transform(&self, whitened: &Mat<f64>) -> Mat<f64> {
        whitened * self.unmixing.transpose()
    }
}

/// The library's tanh, three times as fast: exact to about 1e-16, though not in the last digits of small numbers.
fn tanh(x: f64) -> f64 {
    1.0 - 2.0 / ((2.0 * x).exp() + 1.0)
}

/// (W Wᵀ)^(−1/2) W: the nearest orthogonal matrix.
fn decorrelate(w: &Mat<f64>) -> Result<Mat<f64>> {
    let eigen = (w * w.transpose())
        .self_adjoint_eigen(Side::Lower)
        .map_err(|e| Error::InvalidArgument(format!("ICA did not converge ({e:?}).")))?;
    let (u, s) = (eigen.U(), eigen.S().column_vector());
    let scaled = Mat::from_fn(u.nrows(), u.ncols(), |i, j| {
        u[(i, j)] / s[j].max(1e-14).sqrt()
    });
    Ok(scaled * u.transpose() * w)
}

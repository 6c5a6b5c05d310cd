//! What is done with embeddings once they are there: kept small (`storage`), gathered into groups (`groups`) and
//! laid out on a plane (`plane`).
//!
//! All of it is plain arithmetic on rows of numbers, without a backend: thousands of vectors, not millions.

use crate::error::{Error, Result};

pub mod groups;
pub mod plane;
pub mod storage;

/// How many vectors of `dims` numbers there are, row by row.
///
/// # Errors
/// They are no whole rows, or their numbers are not finite.
fn count(vectors: &[f32], dims: usize) -> Result<usize> {
    match vectors.len().checked_rem(dims) {
        _ if vectors.is_empty() => Ok(0),
        Some(0) if vectors.iter().all(|x| x.is_finite()) => Ok(vectors.len() / dims),
        _ => Err(Error::InvalidArgument(format!(
            "vectors must be whole rows of {dims} finite numbers."
        ))),
    }
}

/// Scalar product; eight sums side by side, which compilers turn into vector instructions.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0f32; 8];
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest = a8.remainder().iter().zip(b8.remainder());
    let rest: f32 = rest.map(|(x, y)| x * y).sum();
    for (x, y) in a8.zip(b8) {
        for (sum, (x, y)) in sums.iter_mut().zip(x.iter().zip(y)) {
            *sum += x * y;
        }
    }
    sums.iter().sum::<f32>() + rest
}

/// Adds `scale` times a vector to `sum`.
pub(crate) fn add(sum: &mut [f32], vector: &[f32], scale: f32) {
    for (sum, x) in sum.iter_mut().zip(vector) {
        *sum += scale * x;
    }
}

//! Principal component analysis: the unsupervised baseline for making embeddings smaller.
//!
//! The components are the eigenvectors of the covariance matrix, from faer's symmetric eigensolver.

use faer::{Mat, MatRef, Side};

use crate::error::{Error, Result};

/// Components of a set of vectors, the one of the largest variance first.
#[derive(Debug, Clone)]
pub struct Pca {
    mean: Vec<f64>,
    /// `[dims, components]`
    components: Mat<f64>,
    variance: Vec<f64>,
}

impl Pca {
    /// Fits all components to vectors, row by row, `dims` wide.
    ///
    /// # Errors
    /// There are fewer than two vectors, or their numbers are not finite.
    pub fn fit(vectors: &[f32], dims: usize) -> Result<Self> {
        let n = vectors.len() / dims.max(1);
        if n < 2 || vectors.iter().any(|x| !x.is_finite()) {
            return Err(Error::InvalidArgument(
                "PCA needs at least two vectors of finite numbers.".into(),
            ));
        }
        let mean: Vec<f64> = (0..dims)
            .map(|d| {
                let column = vectors.iter().skip(d).step_by(dims);
                column.map(|&x| f64::from(x)).sum::<f64>() / n as f64
            })
            .collect();
        let centred = centre(vectors, &mean);
        let covariance = centred.transpose() * &centred * faer::Scale(1.0 / (n as f64 - 1.0));
        let eigen = covariance
            .self_adjoint_eigen(Side::Lower)
            .map_err(|e| Error::InvalidArgument(format!("PCA did not converge ({e:?}).")))?;
        // faer sorts from the smallest.
        let (u, s) = (eigen.U(), eigen.S().column_vector());
        Ok(Self {
            mean,
            components: Mat::from_fn(dims, dims, |i, j| u[(i, dims - 1 - j)]),
            variance: (0..dims).map(|j| s[dims - 1 - j].max(0.0)).collect(),
        })
    }

    /// The variance along each component.
    pub fn variance(&self) -> &[f64] {
        &self.variance
    }

    /// The share of all variance along the first `k` components.
    pub fn explained(&self, k: usize) -> f64 {
        let all: f64 = self.variance.iter().sum();
        self.variance.iter().take(k).sum::<f64>() / all
    }

    /// The component of the `i`-th largest variance, `[dims]`, at unit length.
    pub fn component(&self, i: usize) -> Vec<f64> {
        self.components.col(i).iter().copied().collect()
    }

    /// Coordinates along the first `k` components, `[n, k]`.
    pub fn transform(&self, vectors: &[f32], k: usize) -> Mat<f64> {
        centre(vectors, &self.mean) * self.components.subcols(0, k.min(self.mean.len()))
    }

    /// [`Self::transform`] divided by each component's standard deviation; components without variance are 0.
    pub fn whiten(&self, vectors: &[f32], k: usize) -> Mat<f64> {
        let mut z = self.transform(vectors, k);
        // What is left of a direction that no vector has is rounding.
        let least = self.variance.first().copied().unwrap_or(0.0) * 1e-12;
        for (j, column) in z.col_iter_mut().enumerate() {
            let scale = match self.variance[j] > least {
                true => 1.0 / self.variance[j].sqrt(),
                false => 0.0,
            };
            column.iter_mut().for_each(|x| *x *= scale);
        }
        z
    }
}

fn centre(vectors: &[f32], mean: &[f64]) -> Mat<f64> {
    let dims = mean.len();
    let rows = MatRef::from_row_major_slice(vectors, vectors.len() / dims, dims);
    Mat::from_fn(rows.nrows(), dims, |i, j| f64::from(rows[(i, j)]) - mean[j])
}

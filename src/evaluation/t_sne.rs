//! Embeddings on a plane: a t-SNE map (bhtsne).

use crate::{
    error::{Error, Result},
    evaluation::pca::Pca,
};

/// Accuracy of the Barnes-Hut approximation.
const THETA: f64 = 0.5;
/// Steps.
const EPOCHS: usize = 1000;

/// A map on a plane.
#[derive(Debug, Clone, PartialEq)]
pub struct Map {
    /// A point `(x, y)` for each vector.
    pub points: Vec<(f64, f64)>,
}

impl Map {
    /// t-SNE (van der Maaten & Hinton, 2008; Barnes-Hut) of vectors, row by row, `dims` wide, from their first
    /// two principal components, as scikit-learn starts it.
    ///
    /// # Errors
    /// There are not more than three vectors for each unit of perplexity.
    pub fn t_sne(vectors: &[f32], dims: usize, perplexity: f64) -> Result<Self> {
        let n = vectors.len() / dims.max(1);
        if n as f64 <= 3.0 * perplexity + 1.0 || dims < 2 {
            return Err(Error::InvalidArgument(format!(
                "a t-SNE map at perplexity {perplexity} needs more than {:.0} vectors; there are {n}.",
                3.0 * perplexity + 1.0
            )));
        }
        let numbers: Vec<f64> = vectors.iter().map(|&x| f64::from(x)).collect();
        let rows: Vec<&[f64]> = numbers.chunks_exact(dims).collect();
        let pca = Pca::fit(vectors, dims)?;
        let start = pca.transform(vectors, 2);
        let scale = 1e-4 / pca.variance()[0].sqrt().max(f64::MIN_POSITIVE);
        let start: Vec<f64> = (0..n)
            .flat_map(|i| [scale * start[(i, 0)], scale * start[(i, 1)]])
            .collect();
        let mut t_sne = bhtsne::tSNE::<f64, &[f64], 2>::new(&rows);
        t_sne
            .perplexity(perplexity)
            .epochs(EPOCHS)
            .initial_embedding(start)
            .barnes_hut(THETA, |a, b| {
                let squares = a.iter().zip(b.iter()).map(|(x, y)| (x - y).powi(2));
                squares.sum::<f64>().sqrt()
            });
        let points = t_sne.embedding();
        Ok(Self {
            points: points.chunks_exact(2).map(|p| (p[0], p[1])).collect(),
        })
    }
}

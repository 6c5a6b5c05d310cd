//! Do embeddings gather by what they should? k-means scored by V-measure, and a t-SNE map (bhtsne).

use std::{collections::HashMap, hash::Hash};

use crate::{
    error::{Error, Result},
    evaluation::pca::Pca,
    vectors::groups::KMeans,
};

/// k-means by Euclidean distance; ten runs and three hundred steps are scikit-learn's.
pub const K_MEANS: KMeans = KMeans {
    spherical: false,
    runs: 10,
    steps: 300,
};
/// t-SNE: accuracy of the Barnes-Hut approximation and steps.
const THETA: f64 = 0.5;
const EPOCHS: usize = 1000;

/// V-measure of clusters against classes (Rosenberg & Hirschberg, 2007): the harmonic mean of homogeneity
/// and completeness, 0 to 1; 1 also where there is only one class and one cluster.
pub fn v_measure<A: Hash + Eq, B: Hash + Eq>(classes: &[A], clusters: &[B]) -> f64 {
    let n = classes.len().min(clusters.len()) as f64;
    let (mut both, mut class, mut cluster) = (HashMap::new(), HashMap::new(), HashMap::new());
    for (a, b) in classes.iter().zip(clusters) {
        *both.entry((a, b)).or_insert(0f64) += 1.0;
        *class.entry(a).or_insert(0f64) += 1.0;
        *cluster.entry(b).or_insert(0f64) += 1.0;
    }
    let entropy = |counts: &mut dyn Iterator<Item = f64>| -> f64 {
        counts.map(|c| -(c / n) * (c / n).ln()).sum()
    };
    let h_class = entropy(&mut class.values().copied());
    let h_cluster = entropy(&mut cluster.values().copied());
    let mutual = h_class + h_cluster - entropy(&mut both.values().copied());
    let share = |of: f64| if of > 0.0 { mutual / of } else { 1.0 };
    let (homogeneity, completeness) = (share(h_class), share(h_cluster));
    match homogeneity + completeness > 0.0 {
        true => 2.0 * homogeneity * completeness / (homogeneity + completeness),
        false => 0.0,
    }
}

/// A map on a plane.
#[derive(Debug, Clone, PartialEq)]
pub struct Map {
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

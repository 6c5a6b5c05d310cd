//! Do embeddings gather by what they should? k-means scored by V-measure.

use std::{collections::HashMap, hash::Hash};

use crate::vectors::groups::KMeans;

/// k-means by Euclidean distance; ten runs and three hundred steps are scikit-learn's.
pub const K_MEANS: KMeans = KMeans {
    spherical: false,
    runs: 10,
    steps: 300,
    seed: 0,
};

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

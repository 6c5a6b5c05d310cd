//! What is fitted to the base's embeddings of the training data: heads, PCA and ICA, at every width.

use crate::{evaluation::metrics::Scores, head::HeadFile, training::early_stopping::Epoch};

/// What was fitted to the base's embeddings of the training data.
#[derive(Default)]
pub struct Fitted {
    /// Every method at every width, the methods in the paper's order.
    pub projections: Vec<Projection>,
    /// The heads of the largest width.
    pub heads: Vec<TrainedHead>,
    /// What is to be said of PCA and ICA.
    pub notes: Vec<String>,
}

/// One method at one width.
pub struct Projection {
    pub method: &'static str,
    /// d′, the width of what comes out.
    pub dims: usize,
    /// On the data evaluated on.
    pub scores: Scores,
    /// What fitting took, embedding left out.
    pub seconds: f64,
}

/// A head, and how its training went.
pub struct TrainedHead {
    pub name: &'static str,
    pub file: HeadFile,
    /// The epoch that is kept.
    pub best: Epoch,
    pub history: Vec<Epoch>,
    /// After each epoch, Spearman on the data evaluated on.
    pub test: Vec<f64>,
    pub seconds: f64,
}

impl Fitted {
    /// The methods there are.
    pub fn methods(&self) -> Vec<&'static str> {
        let mut methods: Vec<&'static str> = Vec::new();
        for projection in &self.projections {
            if !methods.contains(&projection.method) {
                methods.push(projection.method);
            }
        }
        methods
    }

    /// A method at every width it was fitted at.
    pub fn of(&self, method: &str) -> impl Iterator<Item = &Projection> {
        self.projections.iter().filter(move |p| p.method == method)
    }
}

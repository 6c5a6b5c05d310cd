//! What comes of inputs.

/// Embeddings and what happened to their inputs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Embeddings {
    /// One vector an input, in the order of the inputs.
    pub vectors: Vec<Vec<f32>>,
    /// Inputs whose sentence was too long: `(input, tokens cut)`.
    pub cuts: Vec<(usize, usize)>,
    /// Inputs with tokens that the encoder's vocabulary lacks: `(input, tokens)`.
    pub unknown: Vec<(usize, usize)>,
    /// How probable it is that each input's sentence says anything about its condition, 0 to 1; `None` for one without. Empty
    /// where no head tells that.
    pub mentioned: Vec<Option<f32>>,
}

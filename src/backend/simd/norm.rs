//! LayerNorm of rows.

use super::{
    isa::{Isa, Work},
    math::sum,
};

/// Weight and bias `[columns]` and ε.
pub struct Norm {
    /// γ, by which a normalised row is multiplied.
    pub weight: Vec<f32>,
    /// β, which is added to it.
    pub bias: Vec<f32>,
    /// What is added to the variance.
    pub eps: f32,
}

impl Norm {
    /// (x − mean) / √(variance + ε) · weight + bias, in place.
    #[inline(always)]
    pub fn apply(&self, row: &mut [f32]) {
        let n = row.len().max(1) as f32;
        let mean = sum(row, |x| x) / n;
        let variance = sum(row, |x| (x - mean) * (x - mean)) / n;
        let scale = 1.0 / (variance + self.eps).sqrt();
        for ((x, w), b) in row.iter_mut().zip(&self.weight).zip(&self.bias) {
            *x = (*x - mean) * scale * w + b;
        }
    }
}

/// LayerNorm of each row of `rows`.
pub struct NormRows<'a> {
    pub norm: &'a Norm,
    pub rows: &'a mut [f32],
}

impl Work for NormRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, _: I) {
        for row in self.rows.chunks_exact_mut(self.norm.weight.len().max(1)) {
            self.norm.apply(row);
        }
    }
}

//! Tri-encoders that put the embeddings of a sentence and of a condition together by trained layers: the MLP and the Hadamard
//! product of C-STS (Deshpande et al., 2023, Section 4.1) and the hypernetwork of Hyper-CL (Yoo et al., 2024).
//!
//! All that the encoder does, it does once for each text, and what is kept of one is a vector; of a condition under a
//! hypernetwork a matrix, hidden² numbers.

use super::apart::Composition;
use crate::{
    backend::{Activation, Backend, Gain, PoolTerm, Pooling, Routing},
    error::{Error, Result},
};

/// A [`Composition`] on an encoder.
pub struct Composed<'a, B: Backend> {
    pub(super) backend: &'a B,
    pub(super) routing: &'a dyn Routing<Tensor = B::Tensor>,
    pub(super) composition: Composition,
    /// Those of the composition among what [`Join::layers`](super::Join::layers) names.
    pub(super) layers: &'a [B::Linear],
    pub(super) dropout: f32,
}

impl<B: Backend> Composed<'_, B> {
    fn linear(&self, x: &B::Tensor, layer: &B::Linear, then: Activation) -> Result<B::Tensor> {
        let x = self.backend.dropout(x, self.dropout)?;
        self.backend.linear(&x, layer, then)
    }

    /// What is kept of conditions by their embeddings c, `[conditions, hidden]`: c', or the matrices made of it.
    pub(super) fn conditions(&self, c: &B::Tensor) -> Result<Vec<B::Tensor>> {
        let (condition, rest) = self.layers.split_first().ok_or_else(missing)?;
        let c = self.linear(c, condition, Activation::None)?;
        match self.composition {
            Composition::Mlp | Composition::Hadamard => Ok(vec![c]),
            Composition::Hyper | Composition::HyperLowRank(_) => rest
                .iter()
                .map(|layer| self.linear(&c, layer, Activation::None))
                .collect(),
        }
    }

    /// How many numbers are kept of a condition.
    pub(super) fn kept_of_condition(&self, hidden: usize) -> usize {
        match self.composition {
            Composition::Mlp | Composition::Hadamard => hidden,
            Composition::Hyper => hidden * hidden,
            Composition::HyperLowRank(rank) => 2 * hidden * rank,
        }
    }

    /// Embeddings `[pairs, hidden]` of the sentences `s` under the conditions `c`, which are indices: by the embeddings of so
    /// many `sentences`, `[sentences, hidden]`, and what is kept of conditions.
    pub(super) fn join(
        &self,
        (sentences, count): (&B::Tensor, usize),
        conditions: &[B::Tensor],
        s: &[u32],
        c: &[u32],
    ) -> Result<B::Tensor> {
        match (self.composition, self.layers, conditions) {
            (Composition::Hadamard, _, [conditions]) => {
                // One weight a column: the product, number by number.
                let conditions = self.routing.select(conditions, c)?;
                self.routing.scale(sentences, s, &conditions, Gain::Weight)
            }
            (Composition::Mlp, [_, mlp], [conditions]) => {
                let texts = self.routing.stack(sentences, conditions)?;
                let mut terms = Vec::with_capacity(2 * s.len());
                for ((row, &s), &c) in (0..).zip(s).zip(c) {
                    for (block, start) in [(0, s), (1, count as u32 + c)] {
                        terms.push(PoolTerm {
                            row,
                            block,
                            start,
                            len: 1,
                            weight: 1.0,
                        });
                    }
                }
                let pooling = Pooling {
                    rows: s.len(),
                    blocks: 2,
                    terms,
                };
                let both = self.backend.pool(&texts, &pooling)?;
                self.linear(&both, mlp, Activation::Gelu)
            }
            (Composition::Hyper | Composition::HyperLowRank(_), _, matrices)
                if !matrices.is_empty() =>
            {
                let mut x = self.routing.select(sentences, s)?;
                for matrices in matrices {
                    x = self.routing.transform(&x, matrices, c)?;
                }
                Ok(x)
            }
            _ => Err(missing()),
        }
    }
}

fn missing() -> Error {
    Error::InvalidArgument("the layers that join sentence and condition are missing.".into())
}

//! Long texts under a condition: read part by part ([`sentences`](crate::text::sentences)), each part weighed by how much it
//! says about the condition.
//!
//! With zᵢ the unit-length embedding of part i under the condition and pᵢ how probable it is that it says anything about it,
//! the text's embedding is the mean of zᵢ by pᵢ⁸, of unit length, and the text mentions the condition as probably as the part
//! that says most. A head that does not tell what is mentioned leaves texts whole.

use std::borrow::Cow;

use super::embeddings::Embeddings;
use crate::{embedding::Input, error::Error, head::Mentioned, similarity::unit, text::Tokenizer};

/// Inputs, the long ones in parts.
pub struct Parts<'a> {
    /// What the encoder reads.
    pub inputs: Cow<'a, [Input]>,
    /// Where each of them is from.
    pub origins: Vec<Origin>,
}

/// Where a part is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// Which of the inputs it is a part of.
    pub input: usize,
    /// Where its sentence begins among the tokens of the whole.
    pub begin: usize,
}

impl<'a> Parts<'a> {
    /// An error about a part, as one about the input that it is a part of.
    pub fn of_inputs(&self, error: Error) -> Error {
        match error {
            Error::NotFinite { input, dtype, .. } => {
                let input = self.origins[input].input;
                Error::not_finite(input, dtype)
            }
            error => error,
        }
    }

    /// Inputs as they are.
    pub fn whole(inputs: &'a [Input]) -> Self {
        Self {
            origins: (0..inputs.len())
                .map(|input| Origin { input, begin: 0 })
                .collect(),
            inputs: Cow::Borrowed(inputs),
        }
    }

    /// Sentences under conditions in parts, where they are long.
    pub fn of(inputs: &'a [Input], tokenizer: &Tokenizer) -> Self {
        let (mut all, mut origins) = (
            Vec::with_capacity(inputs.len()),
            Vec::with_capacity(inputs.len()),
        );
        for (input, whole) in inputs.iter().enumerate() {
            let mut add = |begin, part| {
                origins.push(Origin { input, begin });
                all.push(part);
            };
            let parts = match whole {
                Input::Conditional {
                    sentence,
                    condition,
                } => sentence
                    .parts(tokenizer)
                    .into_iter()
                    .map(|(at, sentence)| {
                        (
                            at.start,
                            Input::Conditional {
                                sentence,
                                condition: condition.clone(),
                            },
                        )
                    })
                    .collect(),
                Input::Single(_) | Input::Together(_) => Vec::new(),
            };
            match parts.is_empty() {
                true => add(0, whole.clone()),
                false => parts.into_iter().for_each(|(begin, part)| add(begin, part)),
            }
        }
        Self {
            inputs: Cow::Owned(all),
            origins,
        }
    }

    /// The inputs' embeddings from those of the parts, of unit length; and the share of each part.
    pub fn gather(
        &self,
        parts: Embeddings,
        mentioned: Option<&Mentioned>,
    ) -> (Embeddings, Vec<f32>) {
        let mut gathered = Embeddings {
            cuts: self.sums(&parts.cuts),
            unknown: self.sums(&parts.unknown),
            ..Embeddings::default()
        };
        let mut shares = Vec::with_capacity(self.origins.len());
        let (mut vectors, mut inputs) = (parts.vectors.into_iter(), self.inputs.iter());
        for own in self.origins.chunk_by(|a, b| a.input == b.input) {
            let rows: Vec<_> = vectors.by_ref().take(own.len()).collect();
            let under = inputs
                .by_ref()
                .take(own.len())
                .all(|input| matches!(input, Input::Conditional { .. }));
            let said = mentioned
                .filter(|_| under)
                .map(|mentioned| Said::of(&rows, mentioned));
            if mentioned.is_some() {
                gathered.mentioned.push(said.as_ref().map(|said| said.most));
            }
            let own = said.map_or_else(|| vec![1.0], |said| said.shares);
            gathered.vectors.push(mean(rows, &own));
            shares.extend(own);
        }
        (gathered, shares)
    }

    /// Counts of parts, in their order, as counts of inputs.
    fn sums(&self, counts: &[(usize, usize)]) -> Vec<(usize, usize)> {
        let counts: Vec<_> = counts
            .iter()
            .map(|&(part, count)| (self.origins[part].input, count))
            .collect();
        let sums = counts.chunk_by(|a, b| a.0 == b.0);
        sums.map(|own| (own[0].0, own.iter().map(|(_, count)| count).sum()))
            .collect()
    }
}

/// What the parts of a text say about a condition.
pub struct Said {
    /// How much each part counts, of 1: in proportion to pᵢ⁸, since many parts that hardly say anything would outweigh the
    /// one that does.
    pub shares: Vec<f32>,
    /// How probable it is that the part that says most says anything.
    pub most: f32,
}

impl Said {
    /// By the embeddings of the parts.
    pub fn of(rows: &[Vec<f32>], mentioned: &Mentioned) -> Self {
        let said: Vec<f32> = rows.iter().map(|row| mentioned.probability(row)).collect();
        let most = said.iter().copied().fold(0.0, f32::max);
        let by = most.max(f32::MIN_POSITIVE);
        let weights = said.iter().map(|p| (p / by).powi(8));
        let sum: f32 = weights.clone().sum();
        let shares = match sum > 0.0 {
            true => weights.map(|weight| weight / sum).collect(),
            false => vec![1.0 / said.len() as f32; said.len()],
        };
        Self { shares, most }
    }
}

/// The weighted mean of rows of length 1, of length 1; a single row is left as it is.
pub fn mean(mut rows: Vec<Vec<f32>>, shares: &[f32]) -> Vec<f32> {
    if rows.len() == 1 {
        return rows.swap_remove(0);
    }
    let mut sum = vec![0.0; rows.first().map_or(0, Vec::len)];
    for (row, share) in rows.iter().zip(shares) {
        for (x, y) in sum.iter_mut().zip(row) {
            *x += share * y;
        }
    }
    unit(&sum)
}

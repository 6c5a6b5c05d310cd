//! What a device must be able to do: the fused operations a forward pass is made of.
//!
//! A backend never knows what BERT is, and a model never knows where it runs. Weights are opaque to the
//! model (`Backend::Linear`, …), so block formats differ inside a backend alone. Activations are f32
//! matrices `[rows, columns]` on the device; work may be recorded and run only when [`Backend::read`] asks
//! for numbers, which is the one asynchronous operation (a browser cannot wait).

use std::{
    future::Future,
    ops::Range,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};

use crate::{
    checkpoint::weights::WeightTensor,
    error::{Error, Result},
    text::Batch,
};

pub mod any;
#[cfg(not(target_arch = "wasm32"))]
pub mod candle;
mod routing;
pub mod simd;
pub mod webgpu;

/// The function applied after a linear layer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Activation {
    /// The identity.
    #[default]
    None,
    /// The exact GELU, x·Φ(x) with Φ by erf; not the tanh approximation.
    Gelu,
    /// max(x, 0).
    Relu,
    /// tanh(x), behind BERT's pooler.
    Tanh,
}

/// Weight and bias of a LayerNorm, each `[columns]`, and its ε.
pub struct NormWeights<'a> {
    /// γ, by which a normalised row is multiplied.
    pub weight: WeightTensor<'a>,
    /// β, which is added to it.
    pub bias: WeightTensor<'a>,
    /// What is added to the variance.
    pub eps: f32,
}

/// A bias that attention adds to its scores by how far a key lies from its query, a number a head (Raffel et al., 2020).
pub struct RelativeBiasWeights<'a> {
    /// `[buckets, heads]`
    pub table: WeightTensor<'a>,
    /// The table's row for each offset key − query, from 1 − n to n − 1, where n tokens are the longest sequence.
    pub buckets: Vec<u32>,
}

impl RelativeBiasWeights<'_> {
    /// `(heads, n)`: how many heads it is for, and the longest sequence in tokens.
    ///
    /// # Errors
    /// The offsets are not as many before a query as behind it, or have a bucket that the table lacks.
    fn dims(&self) -> Result<(usize, usize)> {
        let (rows, heads) = self.table.checked_dims2()?;
        let outside = self.buckets.iter().any(|&row| row as usize >= rows);
        match self.buckets.len() % 2 == 1 && !outside {
            true => Ok((heads, self.buckets.len().div_ceil(2))),
            false => Err(Error::InvalidArgument(format!(
                "a relative bias with {rows} buckets cannot serve these {} offsets",
                self.buckets.len()
            ))),
        }
    }

    /// The bias by offset instead of bucket: `[heads, 2n − 1]`, row by row.
    ///
    /// # Errors
    /// As [`RelativeBiasWeights::dims`].
    fn by_offset(&self) -> Result<Vec<f32>> {
        let (heads, _) = self.dims()?;
        let table = self.table.to_f32();
        let of = |head| (self.buckets.iter()).map(move |&row| row as usize * heads + head);
        Ok((0..heads).flat_map(of).map(|at| table[at]).collect())
    }
}

/// One summand of a pooled row: `weight` × the mean of the token rows `start..start + len`, added to
/// block `block` of output row `row`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolTerm {
    /// Output row.
    pub row: u32,
    /// Block of that row.
    pub block: u32,
    /// First token row.
    pub start: u32,
    /// Token rows; at least 1.
    pub len: u32,
    /// What their mean is multiplied by.
    pub weight: f32,
}

/// A linear map from token rows to pooled rows, `[tokens, hidden] → [rows, blocks · hidden]`.
///
/// Means over spans, differences of means from different sequences (the subtraction of CASE) and
/// concatenations (blocks) are all of this form, so one operation serves every method.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pooling {
    /// Output rows.
    pub rows: usize,
    /// Blocks side by side in a row, each as wide as a token row.
    pub blocks: usize,
    /// Ordered by row; every `len` is at least 1 and every span lies inside the batch.
    pub terms: Vec<PoolTerm>,
}

/// One row of an attention matrix: the token row `query` attends to its sequence, the token rows
/// `start..start + len`, of which it is one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AttentionRow {
    /// The token row that attends.
    pub query: u32,
    /// The first token row of its sequence.
    pub start: u32,
    /// At least 1.
    pub len: u32,
    /// The attention head whose weights these are, counted from 0; `None` for the mean over all of them.
    pub head: Option<u32>,
}

impl AttentionRow {
    /// Those of a layer's `heads` that its weights are the mean over.
    fn heads(&self, heads: usize) -> Range<usize> {
        match self.head {
            Some(head) => head as usize..head as usize + 1,
            None => 0..heads,
        }
    }
}

/// How an attention output is scaled by the weights w that a condition gives to a sentence's tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Gain {
    /// h = (1 + w) ∗ h', as published
    OnePlusWeight,
    /// h = w ∗ h', from which a small encoder learns several times as much where each head has weights of its own
    #[default]
    Weight,
}

/// One sentence under one condition: the sentence's token rows `start..start + len`, and the condition's row
/// among the queries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Route {
    /// The sentence's first token row.
    pub start: u32,
    /// At least 1.
    pub len: u32,
    /// The condition's row among the queries.
    pub query: u32,
}

/// How the weights of a sentence's tokens are made of a condition's query q and the tokens' keys k.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scores {
    /// One weight a token: w = softmax(q·kᵀ/√hidden), over the full width.
    Whole,
    /// One a token and head: the same head by head, over √(hidden / heads).
    Heads(usize),
    /// One a token: the mean over the heads of [`Scores::Heads`].
    HeadMean(usize),
}

impl Scores {
    /// How many parts of the width have scores of their own.
    fn parts(self) -> usize {
        match self {
            Self::Whole => 1,
            Self::Heads(heads) | Self::HeadMean(heads) => heads,
        }
    }

    /// How many weights a token gets.
    fn columns(self) -> usize {
        match self {
            Self::Heads(heads) => heads,
            Self::Whole | Self::HeadMean(_) => 1,
        }
    }
}

/// Some token rows of a sequence: `start..start + len` of the batch, which are `first..first + len` of the sequence, and the
/// sequence's row of attention weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretch {
    /// The row of attention weights.
    pub row: u32,
    /// The first token, counted from the sequence's first.
    pub first: u32,
    /// The first token row.
    pub start: u32,
    /// At least 1.
    pub len: u32,
}

/// What encoders need beside a [`Backend`]'s operations where a condition weighs a sentence's tokens (CSR; Lin et al., 2024),
/// or is joined with a sentence that was encoded apart from it.
pub trait Routing {
    /// As [`Backend::Tensor`].
    type Tensor;

    /// The rows of `x` with these indices, in their order: `[rows, columns] → [indices, columns]`.
    fn select(&self, x: &Self::Tensor, rows: &[u32]) -> Result<Self::Tensor>;

    /// Some columns of `x`: `[rows, columns] → [rows, len]`.
    fn columns(&self, x: &Self::Tensor, columns: Range<usize>) -> Result<Self::Tensor>;

    /// The rows of `x` and below them those of `y`.
    fn stack(&self, x: &Self::Tensor, y: &Self::Tensor) -> Result<Self::Tensor>;

    /// The weights w of each route's tokens, which sum to 1 in each column: `queries` `[conditions, hidden]`, `keys` `[tokens,
    /// hidden]`. Gives the routes' rows end to end, `[Σ len, 1]`, or `[Σ len, heads]` for [`Scores::Heads`].
    fn weights(
        &self,
        queries: &Self::Tensor,
        keys: &Self::Tensor,
        routes: &[Route],
        scores: Scores,
    ) -> Result<Self::Tensor>;

    /// Of each stretch its share of its sequence's attention weights, divided by their sum, end to end: `[rows, longest
    /// sequence] → [Σ len, 1]`. A stretch of zeros stays zeros.
    fn shares(&self, attention: &Self::Tensor, stretches: &[Stretch]) -> Result<Self::Tensor>;

    /// The token rows `rows` of the attention output h' `[tokens, hidden]`, each scaled by its weights: `[rows, parts]`, where
    /// each weight is for hidden / parts columns. Gives `[rows, hidden]`.
    fn scale(
        &self,
        attended: &Self::Tensor,
        rows: &[u32],
        weights: &Self::Tensor,
        gain: Gain,
    ) -> Result<Self::Tensor>;

    /// Each row x of `[rows, inputs]` times a matrix of its own, x·M: the row of `matrices` that `of` names, `[inputs, outputs]`
    /// row by row. Gives `[rows, outputs]`.
    fn transform(
        &self,
        x: &Self::Tensor,
        matrices: &Self::Tensor,
        of: &[u32],
    ) -> Result<Self::Tensor>;
}

/// A device that runs encoders and heads.
///
/// Results must not depend on what else is in a batch beyond the backend's stated tolerance: quantise
/// activations per block or row, never per tensor.
pub trait Backend {
    /// Activations `[rows, columns]`, f32, on the device. Cloning shares.
    type Tensor: Clone;
    /// A linear layer: weight `[out, in]` in any dtype, bias `[out]`.
    type Linear;
    /// A LayerNorm.
    type Norm;
    /// Token, position and type tables with the LayerNorm that follows them.
    type Embeddings;
    /// A bias of attention by offset. Cloning shares.
    type RelativeBias: Clone;
    /// A [`Batch`] on the device.
    type Batch;

    /// Copies the embedding tables to the device: `token` `[vocabulary, hidden]`, `position`
    /// `[positions, hidden]`, `types` `[types, hidden]`.
    fn load_embeddings(
        &self,
        token: WeightTensor<'_>,
        position: WeightTensor<'_>,
        types: WeightTensor<'_>,
        norm: NormWeights<'_>,
    ) -> Result<Self::Embeddings>;

    /// Copies a linear layer to the device. Several `(weight [out, in], bias [out])` with one `in` are
    /// stacked along `out`: query, key and value become one product.
    fn load_linear(&self, parts: Vec<(WeightTensor<'_>, WeightTensor<'_>)>)
    -> Result<Self::Linear>;

    /// Copies a LayerNorm to the device.
    fn load_norm(&self, norm: NormWeights<'_>) -> Result<Self::Norm>;

    /// Copies a relative bias to the device.
    fn load_relative_bias(&self, bias: RelativeBiasWeights<'_>) -> Result<Self::RelativeBias>;

    /// Copies a batch to the device. Ids, types and positions were checked against the tables by the
    /// model.
    fn upload(&self, batch: &Batch) -> Result<Self::Batch>;

    /// Copies rows that were computed elsewhere to the device: `[rows, columns]`, given row by row; `numbers` holds whole
    /// rows.
    fn rows(&self, columns: usize, numbers: &[f32]) -> Result<Self::Tensor>;

    /// LayerNorm(token + position + type): `[tokens, hidden]`.
    fn embed(&self, tables: &Self::Embeddings, batch: &Self::Batch) -> Result<Self::Tensor>;

    /// activation(x·Wᵀ + b): `[rows, in] → [rows, out]`.
    fn linear(
        &self,
        x: &Self::Tensor,
        layer: &Self::Linear,
        activation: Activation,
    ) -> Result<Self::Tensor>;

    /// LayerNorm(x·Wᵀ + b + residual): `[rows, in] → [rows, out]`.
    fn linear_add_norm(
        &self,
        x: &Self::Tensor,
        layer: &Self::Linear,
        residual: &Self::Tensor,
        norm: &Self::Norm,
    ) -> Result<Self::Tensor>;

    /// Scaled dot-product attention within each sequence of the batch, softmax(q·kᵀ/√d + bias)·v, with no bias where there
    /// is none. `qkv` is `[tokens, 3 · hidden]`: query, key, value side by side, each `heads` × (hidden / heads). Gives
    /// `[tokens, hidden]`.
    fn attention(
        &self,
        qkv: &Self::Tensor,
        batch: &Self::Batch,
        heads: usize,
        bias: Option<&Self::RelativeBias>,
    ) -> Result<Self::Tensor>;

    /// The weights by which attention looks from some tokens at their sequences, softmax(q·kᵀ/√d + bias), for each of `rows`: of
    /// one head, or averaged over all. `qkv` and `bias` are what [`Backend::attention`] takes. Gives `[rows, longest sequence]`;
    /// a row sums to 1, and is zero past its own sequence's end.
    fn attention_weights(
        &self,
        qkv: &Self::Tensor,
        rows: &[AttentionRow],
        heads: usize,
        bias: Option<&Self::RelativeBias>,
    ) -> Result<Self::Tensor>;

    /// Applies a [`Pooling`]: `[tokens, hidden] → [rows, blocks · hidden]`.
    fn pool(&self, hidden: &Self::Tensor, pooling: &Pooling) -> Result<Self::Tensor>;

    /// Divides each row by its Euclidean length (a row of zeros stays zero).
    fn normalize(&self, x: &Self::Tensor) -> Result<Self::Tensor>;

    /// Zeroes each number with probability `p` and scales the rest by 1/(1 − p) while training; the
    /// identity everywhere else.
    fn dropout(&self, x: &Self::Tensor, _p: f32) -> Result<Self::Tensor> {
        Ok(x.clone())
    }

    /// The operations of routers and of tri-encoders, where this backend has them.
    fn routing(&self) -> Option<&dyn Routing<Tensor = Self::Tensor>> {
        None
    }

    /// Runs what was recorded and returns the numbers of each tensor, row by row: one submission and one
    /// read-back for all of them.
    fn read(&self, tensors: &[&Self::Tensor]) -> impl Future<Output = Result<Vec<Vec<f32>>>>;
}

// Threads share a backend and what is loaded to it. In a browser wgpu's objects stay in their thread.
#[cfg(not(target_arch = "wasm32"))]
const _: () = {
    const fn shared<T: Send + Sync>() {}
    const fn backend<B>()
    where
        B: Backend<
                Tensor: Send + Sync,
                Linear: Send + Sync,
                Norm: Send + Sync,
                Embeddings: Send + Sync,
                RelativeBias: Send + Sync,
                Batch: Send + Sync,
            >,
        B: Send + Sync,
    {
        shared::<B>();
    }
    backend::<simd::Simd>();
    backend::<candle::Candle>();
    backend::<candle::training::Trainer>();
    backend::<webgpu::WebGpu>();
};

/// The longest sequence of `rows`, once all of them are known to lie within `tokens` and to ask for some of `heads`.
fn check_attention_rows(rows: &[AttentionRow], tokens: usize, heads: usize) -> Result<usize> {
    let outside = rows.iter().find(|row| {
        let end = u64::from(row.start) + u64::from(row.len);
        let placed = row.query >= row.start && u64::from(row.query) < end && end <= tokens as u64;
        !placed || row.heads(heads).end > heads
    });
    match outside {
        None => Ok(rows.iter().map(|row| row.len as usize).max().unwrap_or(0)),
        Some(row) => Err(Error::InvalidArgument(format!(
            "the attention row {row:?} lies outside the batch, or its head is none of {heads}"
        ))),
    }
}

/// Refuses a relative bias for `known` heads and sequences of up to `most` tokens where there are others.
fn check_relative_bias((known, most): (usize, usize), heads: usize, longest: usize) -> Result<()> {
    check_shape("the relative bias's number of heads", known, heads)?;
    match longest <= most {
        true => Ok(()),
        false => Err(Error::InvalidArgument(format!(
            "a sequence of {longest} tokens is longer than the {most} that the relative bias is for"
        ))),
    }
}

/// Locks what is in order whenever its lock is free, a panic elsewhere or not.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shapes that do not fit together: the caller's mistake, named before a kernel reads past a buffer's end.
fn check_shape(what: &str, found: usize, needed: usize) -> Result<()> {
    if found == needed {
        return Ok(());
    }
    Err(Error::InvalidArgument(format!(
        "{what} is {found} where {needed} is needed"
    )))
}

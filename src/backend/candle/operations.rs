//! What candle's two backends compute alike, of candle's own operations.
//!
//! Some kernels of candle have no gradient: what autograd follows takes their composed form.

use candle_core::{D, DType, Device, Tensor};

use super::batch::DeviceBatch;
use crate::{
    backend::{Activation, AttentionRow, Pooling, check_attention_rows, check_relative_bias},
    checkpoint::weights::WeightTensor,
    error::Result,
};

/// LayerNorm's parameters.
#[derive(Clone)]
pub struct Norm {
    pub(super) weight: Tensor,
    pub(super) bias: Tensor,
    pub(super) eps: f32,
}

/// A tensor of a file in f32.
pub fn dense(w: &WeightTensor<'_>, device: &Device) -> Result<Tensor> {
    Ok(Tensor::from_vec(w.to_f32(), w.shape.as_slice(), device)?)
}

/// Rows from outside, as [`Backend::rows`](crate::backend::Backend::rows).
pub fn rows(columns: usize, numbers: &[f32], device: &Device) -> Result<Tensor> {
    let rows = numbers.len() / columns.max(1);
    Ok(Tensor::from_slice(
        &numbers[..rows * columns],
        (rows, columns),
        device,
    )?)
}

/// Tensors of a file in f32, stacked along their first dimension.
pub fn stacked(parts: &[&WeightTensor<'_>], device: &Device) -> Result<Tensor> {
    let tensors = parts.iter().map(|w| dense(w, device));
    Ok(Tensor::cat(&tensors.collect::<Result<Vec<_>>>()?, 0)?)
}

/// activation(x).
pub fn activate(x: Tensor, activation: Activation) -> Result<Tensor> {
    Ok(match activation {
        Activation::None => x,
        Activation::Gelu => x.gelu_erf()?,
        Activation::Relu => x.relu()?,
        Activation::Tanh => x.tanh()?,
    })
}

/// LayerNorm over the columns of `x`.
pub fn layer_norm(x: &Tensor, norm: &Norm) -> Result<Tensor> {
    let Norm { weight, bias, eps } = norm;
    Ok(match x.track_op() || weight.track_op() {
        true => candle_nn::ops::layer_norm_slow(x, weight, bias, *eps)?,
        false => candle_nn::ops::layer_norm(x, weight, bias, *eps)?,
    })
}

/// The longest sequence of a relative bias by offset, `[heads, 2n − 1]`: n.
///
/// # Errors
/// It is for another number of heads, or for shorter sequences than `longest`.
pub fn longest_of(bias: &Tensor, heads: usize, longest: usize) -> Result<usize> {
    let (known, offsets) = bias.dims2()?;
    let most = offsets.div_ceil(2);
    check_relative_bias((known, most), heads, longest)?;
    Ok(most)
}

/// A relative bias by offset, `[heads, 2n − 1]`, between the tokens of a sequence: `[1, heads, len, len]`.
fn between_tokens(bias: &Tensor, len: usize) -> Result<Tensor> {
    let (heads, offsets) = bias.dims2()?;
    let middle = offsets / 2;
    let offset = |query| (0..len).map(move |key| (middle + key - query) as u32);
    let at: Vec<u32> = (0..len).flat_map(offset).collect();
    let at = Tensor::from_vec(at, len * len, bias.device())?;
    Ok(bias.index_select(&at, 1)?.reshape((1, heads, len, len))?)
}

/// As [`Backend::attention`](crate::backend::Backend::attention), with the bias by offset, `[heads, 2n − 1]`.
pub fn attention(
    qkv: &Tensor,
    batch: &DeviceBatch,
    heads: usize,
    bias: Option<&Tensor>,
) -> Result<Tensor> {
    let longest = batch.longest();
    let bias = match bias {
        Some(bias) => {
            longest_of(bias, heads, longest)?;
            Some(between_tokens(bias, longest)?)
        }
        None => None,
    };
    let (_, width) = qkv.dims2()?;
    let hidden = width / 3;
    let head = hidden / heads;
    let scale = 1.0 / (head as f64).sqrt();
    let grouped = match &batch.order {
        Some((order, _)) => qkv.index_select(order, 0)?,
        None => qkv.clone(),
    };
    let mut outputs = Vec::with_capacity(batch.groups.len());
    let mut at = 0;
    for (&len, starts) in &batch.groups {
        let rows = starts.len() * len;
        // [sequences, len, 3, heads, head] → 3 × [sequences, heads, len, head]
        let block = grouped
            .narrow(0, at, rows)?
            .reshape((starts.len(), len, 3, heads, head))?;
        let part = |i: usize| -> candle_core::Result<Tensor> {
            block
                .narrow(2, i, 1)?
                .squeeze(2)?
                .transpose(1, 2)?
                .contiguous()
        };
        let scores = (part(0)?.matmul(&part(1)?.t()?)? * scale)?;
        let scores = match &bias {
            // A shorter sequence's tokens lie as far from each other as the first of a longer one.
            Some(bias) => scores.broadcast_add(&bias.narrow(2, 0, len)?.narrow(3, 0, len)?)?,
            None => scores,
        };
        let weights = match scores.track_op() {
            true => candle_nn::ops::softmax(&scores, D::Minus1)?,
            false => candle_nn::ops::softmax_last_dim(&scores)?,
        };
        outputs.push(
            weights
                .matmul(&part(2)?)?
                .transpose(1, 2)?
                .reshape((rows, hidden))?,
        );
        at += rows;
    }
    let output = Tensor::cat(&outputs, 0)?;
    Ok(match &batch.order {
        Some((_, inverse)) => output.index_select(inverse, 0)?,
        None => output,
    })
}

/// As [`Backend::attention_weights`](crate::backend::Backend::attention_weights), with the bias by offset.
pub fn attention_weights(
    qkv: &Tensor,
    rows: &[AttentionRow],
    heads: usize,
    bias: Option<&Tensor>,
) -> Result<Tensor> {
    let (tokens, width) = qkv.dims2()?;
    let longest = check_attention_rows(rows, tokens, heads)?;
    let bias = match bias {
        Some(bias) => Some((bias, longest_of(bias, heads, longest)?)),
        None => None,
    };
    let head = width / 3 / heads;
    let scale = 1.0 / (head as f64).sqrt();
    // [tokens, 3, heads, head] → 2 × [heads, tokens, head]
    let split = qkv.reshape((tokens, 3, heads, head))?;
    let part = |i: usize| split.narrow(1, i, 1)?.squeeze(1)?.transpose(0, 1);
    let (queries, keys) = (part(0)?, part(1)?);
    let mut weights = Vec::with_capacity(rows.len());
    for row in rows {
        let (start, len) = (row.start as usize, row.len as usize);
        let averaged = row.heads(heads);
        let of = |x: &Tensor| x.narrow(0, averaged.start, averaged.len());
        let query = of(&queries)?
            .narrow(1, row.query as usize, 1)?
            .contiguous()?;
        let keys = of(&keys)?.narrow(1, start, len)?.contiguous()?;
        let scores = (query.matmul(&keys.t()?)? * scale)?;
        let scores = match bias {
            Some((bias, most)) => {
                let first = most - 1 - (row.query - row.start) as usize;
                (scores + of(bias)?.narrow(1, first, len)?.unsqueeze(1)?)?
            }
            None => scores,
        };
        let mean = candle_nn::ops::softmax(&scores, D::Minus1)?.mean(0)?;
        weights.push(mean.pad_with_zeros(1, 0, longest - len)?);
    }
    match weights.is_empty() {
        true => Ok(Tensor::zeros((0, longest), DType::F32, qkv.device())?),
        false => Ok(Tensor::cat(&weights, 0)?),
    }
}

/// As [`Backend::pool`](crate::backend::Backend::pool).
pub fn pool(hidden: &Tensor, pooling: &Pooling) -> Result<Tensor> {
    let (tokens, _) = hidden.dims2()?;
    let mut blocks = Vec::with_capacity(pooling.blocks);
    for block in 0..pooling.blocks as u32 {
        let mut weights = vec![0f32; pooling.rows * tokens];
        for term in pooling.terms.iter().filter(|t| t.block == block) {
            let start = term.row as usize * tokens + term.start as usize;
            for w in &mut weights[start..start + term.len as usize] {
                *w += term.weight / term.len as f32;
            }
        }
        let weights = Tensor::from_vec(weights, (pooling.rows, tokens), hidden.device())?;
        blocks.push(weights.matmul(hidden)?);
    }
    Ok(Tensor::cat(&blocks, 1)?)
}

/// As [`Backend::normalize`](crate::backend::Backend::normalize).
pub fn normalize(x: &Tensor) -> Result<Tensor> {
    // Far below any length that counts, and a row of zeros keeps a gradient of zero.
    let length = (x.sqr()?.sum_keepdim(D::Minus1)? + 1e-24)?.sqrt()?;
    Ok(x.broadcast_div(&length)?)
}

/// As [`Backend::read`](crate::backend::Backend::read).
pub fn read(tensors: &[&Tensor]) -> Result<Vec<Vec<f32>>> {
    tensors
        .iter()
        .map(|x| Ok(x.flatten_all()?.to_vec1()?))
        .collect()
}

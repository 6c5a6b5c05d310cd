//! Grouped-query attention over a packed batch: causal, within a window, or in both directions.
//!
//! Nothing is padded. Neighbouring sequences of one length are a run, and a run is one product: batches that
//! are sorted by length have few of them.

use std::{cell::RefCell, collections::HashMap, ops::Range};

use candle_core::{D, DType, Device, Tensor};

use super::rope;
use crate::{checkpoint::config::decoder::DecoderConfig, error::Result, text::Batch};

/// Heads of queries, heads of keys and values, and the numbers of each.
#[derive(Clone, Copy)]
pub struct Heads {
    pub queries: usize,
    pub keys: usize,
    pub dim: usize,
}

/// Scores held at once: a long input is worked through a block of its queries after the other.
const MAX_SCORES: usize = 1 << 26;

/// Neighbouring sequences of one length.
struct Run {
    /// The batch's tokens that are theirs.
    tokens: Range<usize>,
    sequences: usize,
    /// Of each, with the tokens before the batch's.
    length: usize,
    /// Tokens of each that came before the batch's: of them there are keys and values alone.
    past: usize,
    /// Of all positions, `[length, dim / 2]`.
    cos: Tensor,
    sin: Tensor,
}

/// Masks by their rows, length and window.
type Masks = HashMap<(Range<usize>, usize, usize), Tensor>;

/// A batch's runs, with their rotations.
pub struct Runs {
    runs: Vec<Run>,
    causal: bool,
    /// Whether numbers are rotated with their neighbour, as weights in llama's GGUF files are ordered, and not
    /// with the one half a head away.
    neighbours: bool,
    device: Device,
    /// The layers share them.
    masks: RefCell<Masks>,
}

impl Runs {
    /// The runs of `batch`.
    pub fn new(batch: &Batch, config: &DecoderConfig, device: &Device) -> Result<Self> {
        let mut runs: Vec<Run> = Vec::new();
        for range in batch.ranges() {
            match runs.last_mut() {
                Some(run) if run.length == range.len() => {
                    run.sequences += 1;
                    run.tokens.end = range.end;
                }
                _ => {
                    let length = range.len();
                    let (cos, sin) = rope::tables(&config.rope, config.head_dim, length, device)?;
                    runs.push(Run {
                        tokens: range,
                        sequences: 1,
                        length,
                        past: 0,
                        cos,
                        sin,
                    });
                }
            }
        }
        Ok(Self::of(runs, config, device))
    }

    /// The run of one sequence's next tokens, so many behind so many that were read before: keys and values are those of
    /// both.
    pub fn next(past: usize, new: usize, config: &DecoderConfig, device: &Device) -> Result<Self> {
        let length = past + new;
        let (cos, sin) = rope::tables(&config.rope, config.head_dim, length, device)?;
        let run = Run {
            tokens: 0..new,
            sequences: 1,
            length,
            past,
            cos,
            sin,
        };
        Ok(Self::of(vec![run], config, device))
    }

    fn of(runs: Vec<Run>, config: &DecoderConfig, device: &Device) -> Self {
        Self {
            runs,
            causal: config.causal,
            neighbours: config.rotates_neighbours,
            device: device.clone(),
            masks: RefCell::default(),
        }
    }

    /// softmax(q·kᵀ/√d)·v within each sequence: `query` `[tokens, queries · dim]`, `key` and `value`
    /// `[tokens, keys · dim]`, where tokens came before with those; gives `[tokens, queries · dim]`. Queries and keys are
    /// not rotated yet.
    pub fn attention(
        &self,
        query: &Tensor,
        key: &Tensor,
        value: &Tensor,
        heads: Heads,
        window: Option<usize>,
    ) -> Result<Tensor> {
        let parts = self
            .runs
            .iter()
            .map(|run| self.run(run, query, key, value, heads, window))
            .collect::<Result<Vec<_>>>()?;
        match &parts[..] {
            [one] => Ok(one.clone()),
            _ => Ok(Tensor::cat(&parts, 0)?),
        }
    }

    fn run(
        &self,
        run: &Run,
        query: &Tensor,
        key: &Tensor,
        value: &Tensor,
        heads: Heads,
        window: Option<usize>,
    ) -> Result<Tensor> {
        let dtype = query.dtype();
        let (n, length, past, dim) = (run.sequences, run.length, run.past, heads.dim);
        let new = length - past;
        // [tokens, count · dim] → [sequences, count, rows, dim], of so many rows a sequence
        let split = |x: &Tensor, count: usize, rows: usize| -> Result<Tensor> {
            let x = x.narrow(0, run.tokens.start, n * rows)?;
            let x = x.reshape((n, rows, count, dim))?;
            Ok(x.transpose(1, 2)?.contiguous()?)
        };
        let rotate = |x: Tensor, first: usize| -> Result<Tensor> {
            let x = x.to_dtype(DType::F32)?;
            let rows = x.dim(2)?;
            let (cos, sin) = (
                run.cos.narrow(0, first, rows)?,
                run.sin.narrow(0, first, rows)?,
            );
            let x = match self.neighbours {
                true => candle_nn::rotary_emb::rope_i(&x, &cos, &sin)?,
                false => candle_nn::rotary_emb::rope(&x, &cos, &sin)?,
            };
            Ok(x.to_dtype(dtype)?)
        };
        let query = (rotate(split(query, heads.queries, new)?, past)? / (dim as f64).sqrt())?;
        let key = rotate(split(key, heads.keys, length)?, 0)?;
        let value = split(value, heads.keys, length)?;
        let key = key.transpose(2, 3)?.contiguous()?;

        let group = heads.queries / heads.keys;
        let block = (MAX_SCORES / (n * heads.queries * length)).clamp(1, new);
        let mut blocks = Vec::with_capacity(new.div_ceil(block));
        for start in (0..new).step_by(block) {
            let rows = block.min(new - start);
            // A group's heads of queries lie below each other: one product serves them.
            let q = query.narrow(2, start, rows)?.contiguous()?;
            let q = q.reshape((n, heads.keys, group * rows, dim))?;
            let scores = q.matmul(&key)?.to_dtype(DType::F32)?;
            let positions = past + start..past + start + rows;
            let scores = match self.mask(positions, length, window)? {
                Some(mask) => scores
                    .reshape((n, heads.queries, rows, length))?
                    .broadcast_add(&mask)?
                    .reshape((n, heads.keys, group * rows, length))?,
                None => scores,
            };
            let weights = candle_nn::ops::softmax_last_dim(&scores)?.to_dtype(dtype)?;
            let attended = weights.matmul(&value)?;
            blocks.push(attended.reshape((n, heads.queries, rows, dim))?);
        }
        let attended = match &blocks[..] {
            [one] => one.clone(),
            _ => Tensor::cat(&blocks, 2)?,
        };
        let attended = attended.transpose(1, 2)?.contiguous()?;
        Ok(attended.reshape((n * new, heads.queries * dim))?)
    }

    /// 0 where the token of a row sees that of a column, −∞ elsewhere: `[rows, length]`.
    fn mask(
        &self,
        rows: Range<usize>,
        length: usize,
        window: Option<usize>,
    ) -> Result<Option<Tensor>> {
        if !self.causal || length == 1 {
            return Ok(None);
        }
        let window = window.unwrap_or(length);
        let key = (rows.clone(), length, window);
        if let Some(mask) = self.masks.borrow().get(&key) {
            return Ok(Some(mask.clone()));
        }
        let shape = (rows.len(), length);
        let mask: Vec<f32> = rows
            .flat_map(|i| {
                (0..length).map(move |j| match j <= i && i - j < window {
                    true => 0.0,
                    false => f32::NEG_INFINITY,
                })
            })
            .collect();
        let mask = Tensor::from_vec(mask, shape, &self.device)?;
        // All masks of a longer input would take more memory than its scores.
        if length.saturating_mul(length) <= MAX_SCORES {
            self.masks.borrow_mut().insert(key, mask.clone());
        }
        Ok(Some(mask))
    }
}

/// Attention of every token over the same keys and values: `query` `[tokens, heads · dim]`, `key` and
/// `value` `[heads, rows, dim]`; gives `[tokens, heads · dim]`.
pub fn cross(query: &Tensor, key: &Tensor, value: &Tensor) -> Result<Tensor> {
    let (heads, _, dim) = key.dims3()?;
    let (tokens, width) = query.dims2()?;
    let dtype = query.dtype();
    let query = query.reshape((tokens, heads, dim))?.transpose(0, 1)?;
    let query = (query.contiguous()? / (dim as f64).sqrt())?;
    let scores = query.matmul(&key.transpose(D::Minus2, D::Minus1)?.contiguous()?)?;
    let weights = candle_nn::ops::softmax_last_dim(&scores.to_dtype(DType::F32)?)?;
    let attended = weights.to_dtype(dtype)?.matmul(value)?;
    Ok(attended
        .transpose(0, 1)?
        .contiguous()?
        .reshape((tokens, width))?)
}

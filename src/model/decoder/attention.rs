//! Grouped-query attention over a packed batch: causal, within a window, or in both directions.
//!
//! Nothing is padded. Neighbouring segments of one length that follow the same tokens are a run, and a run is one product:
//! batches that are sorted by length have few of them.

use std::{cell::RefCell, collections::HashMap, ops::Range};

use candle_core::{D, DType, Device, Tensor};

use super::{rope, shared::Segment};
use crate::{checkpoint::config::decoder::DecoderConfig, error::Result};

/// Heads of queries, heads of keys and values, and the numbers of each.
#[derive(Clone, Copy)]
pub struct Heads {
    pub queries: usize,
    pub keys: usize,
    pub dim: usize,
}

/// Scores held at once: a long input is worked through a block of its queries after the other.
const MAX_SCORES: usize = 1 << 26;

/// Neighbouring segments of one length that follow the same tokens.
struct Run {
    /// Where their queries begin.
    queries: usize,
    /// Where their keys and values begin.
    keys: usize,
    segments: usize,
    /// Tokens of each.
    new: usize,
    /// Where the keys and values of the tokens before them lie, in order.
    past: Vec<Range<usize>>,
    /// Of all positions, `[past + new, dim / 2]`.
    cos: Tensor,
    sin: Tensor,
}

impl Run {
    fn past(&self) -> usize {
        self.past.iter().map(Range::len).sum()
    }
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
    /// The runs of a batch's segments.
    pub fn new(segments: &[Segment], config: &DecoderConfig, device: &Device) -> Result<Self> {
        let mut runs: Vec<Run> = Vec::new();
        let mut turns: HashMap<usize, (Tensor, Tensor)> = HashMap::new();
        for Segment { tokens, past } in segments {
            match runs.last_mut() {
                Some(run) if run.new == tokens.len() && run.past == *past => run.segments += 1,
                _ => {
                    let length = past.iter().map(Range::len).sum::<usize>() + tokens.len();
                    let (cos, sin) = match turns.get(&length) {
                        Some(both) => both.clone(),
                        None => {
                            let both = rope::tables(&config.rope, config.head_dim, length, device)?;
                            turns.insert(length, both.clone());
                            both
                        }
                    };
                    runs.push(Run {
                        queries: tokens.start,
                        keys: tokens.start,
                        segments: 1,
                        new: tokens.len(),
                        past: past.clone(),
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
        let (cos, sin) = rope::tables(&config.rope, config.head_dim, past + new, device)?;
        let run = Run {
            queries: 0,
            keys: past,
            segments: 1,
            new,
            past: Vec::from_iter((past > 0).then_some(0..past)),
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
        let (n, new, past, dim) = (run.segments, run.new, run.past(), heads.dim);
        let length = past + new;
        // Rows of a tensor: [tokens, count · dim] → [sequences, count, rows, dim], of so many rows a sequence.
        let split =
            |x: &Tensor, start: usize, n: usize, rows: usize, count: usize| -> Result<Tensor> {
                let x = x
                    .narrow(0, start, n * rows)?
                    .reshape((n, rows, count, dim))?;
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
        // What came before is the same for all of the run.
        let with_past = |x: &Tensor, turned: bool| -> Result<Tensor> {
            let turn = |part: Tensor, first: usize| match turned {
                true => rotate(part, first),
                false => Ok(part),
            };
            let (mut parts, mut first) = (Vec::with_capacity(run.past.len() + 1), 0);
            for range in &run.past {
                let part = turn(split(x, range.start, 1, range.len(), heads.keys)?, first)?;
                parts.push(part.broadcast_as((n, heads.keys, range.len(), dim))?);
                first += range.len();
            }
            parts.push(turn(split(x, run.keys, n, new, heads.keys)?, past)?);
            match &parts[..] {
                [one] => Ok(one.clone()),
                _ => Ok(Tensor::cat(&parts, 2)?),
            }
        };
        let query = rotate(split(query, run.queries, n, new, heads.queries)?, past)?;
        let query = (query / (dim as f64).sqrt())?;
        let key = with_past(key, true)?.transpose(2, 3)?.contiguous()?;
        let value = with_past(value, false)?.contiguous()?;

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

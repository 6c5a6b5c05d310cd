//! Scaled dot-product attention within one sequence, head by head, a few queries at a time.

use std::sync::Arc;

use super::{
    dense::Product,
    isa::{Isa, Work},
    math::{by_halves, exp, larger, sum},
    memory::Memory,
    product::{Output, panel, panel_width},
};
use crate::backend::AttentionRow;

/// Queries whose scores are held at a time; a multiple of every instruction set's tile.
const QUERIES: usize = 12;

/// A bias of scores by how far a key lies from its query.
pub struct RelativeBias {
    pub(super) heads: usize,
    /// Tokens of the longest sequence it is for.
    pub(super) longest: usize,
    /// `[heads, 2 · longest − 1]`, from the furthest key before a query to the furthest behind.
    pub(super) numbers: Vec<f32>,
}

impl RelativeBias {
    /// A head's numbers for the keys of a sequence, from its first, where the query is its token number `query`.
    #[inline(always)]
    fn row(&self, head: usize, query: usize) -> &[f32] {
        let head = &self.numbers[head * (2 * self.longest - 1)..];
        &head[self.longest - 1 - query..]
    }
}

/// softmax(q·kᵀ/√d + bias)·v for each head: `qkv` `[tokens, 3 · hidden]` to `out` `[tokens, hidden]`.
pub struct Attention<'a> {
    pub qkv: &'a [f32],
    pub hidden: usize,
    pub heads: usize,
    pub bias: Option<&'a RelativeBias>,
    pub out: &'a mut [f32],
    pub memory: &'a Arc<Memory>,
}

impl Work for Attention<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let hidden = self.hidden;
        let size = hidden / self.heads;
        let tokens = self.out.len() / hidden;
        let width = panel_width::<I>();
        let (padded_tokens, padded_size) =
            (tokens.next_multiple_of(width), size.next_multiple_of(width));
        let mut keys = self.memory.take_f32(padded_tokens * size);
        let keys = keys.slice_mut::<f32>(padded_tokens * size);
        let mut values = self.memory.take_f32(padded_size * tokens);
        let values = values.slice_mut::<f32>(padded_size * tokens);
        let mut scores = self.memory.take_f32(QUERIES * padded_tokens);
        let scores = scores.slice_mut::<f32>(QUERIES * padded_tokens);
        let root = (size as f32).sqrt();
        let scale = 1.0 / root;

        for head in 0..self.heads {
            let at = head * size;
            // Keys and values as panels: the scores' columns are tokens, the outputs' are the head's numbers.
            keys.fill(0.0);
            for (token, row) in self.qkv.chunks_exact(3 * hidden).enumerate() {
                let key = &row[hidden + at..][..size];
                let to = &mut keys[token / width * size * width..][..size * width];
                for (to, &number) in to.chunks_exact_mut(width).zip(key) {
                    to[token % width] = number;
                }
                let value = &row[2 * hidden + at..][..size];
                // Number by number: a copy of a length that is not known is a call in browsers.
                for (p, value) in value.chunks(width).enumerate() {
                    let to = &mut values[(p * tokens + token) * width..][..width];
                    for (i, to) in to.iter_mut().enumerate() {
                        *to = value.get(i).copied().unwrap_or(0.0);
                    }
                }
            }
            for first in (0..tokens).step_by(QUERIES) {
                let rows = QUERIES.min(tokens - first);
                let queries = Product {
                    x: &self.qkv[first * 3 * hidden + at..],
                    stride: 3 * hidden,
                    depth: size,
                    panels: keys,
                };
                let mut to = Output {
                    numbers: scores,
                    stride: padded_tokens,
                    columns: padded_tokens,
                    bias: None,
                };
                for p in 0..padded_tokens / width {
                    panel(isa, &queries, rows, p, &mut to);
                }
                if let Some(bias) = self.bias {
                    let rows = scores.chunks_exact_mut(padded_tokens).take(rows);
                    for (row, query) in rows.zip(first..) {
                        let bias = bias.row(head, query);
                        // Scores are scaled with what they are to be raised to.
                        for (score, bias) in row[..tokens].iter_mut().zip(bias) {
                            *score += bias * root;
                        }
                    }
                }
                let mut sums = [0f32; QUERIES];
                for (sum, row) in sums
                    .iter_mut()
                    .zip(scores.chunks_exact_mut(padded_tokens))
                    .take(rows)
                {
                    *sum = exponentials(isa, row, tokens, scale);
                }
                let weights = Product {
                    x: scores,
                    stride: padded_tokens,
                    depth: tokens,
                    panels: values,
                };
                let out = &mut self.out[first * hidden + at..];
                let mut to = Output {
                    numbers: out,
                    stride: hidden,
                    columns: size,
                    bias: None,
                };
                for p in 0..padded_size / width {
                    panel(isa, &weights, rows, p, &mut to);
                }
                for (r, sum) in sums.iter().enumerate().take(rows) {
                    let inverse = 1.0 / sum;
                    for x in &mut out[r * hidden..][..size] {
                        *x *= inverse;
                    }
                }
            }
        }
    }
}

/// e^((x − max) · scale) of the first `tokens` scores in place, zeros behind them, and their sum.
#[inline(always)]
fn exponentials<I: Isa>(isa: I, row: &mut [f32], tokens: usize, scale: f32) -> f32 {
    row[tokens..].fill(f32::NEG_INFINITY);
    let mut most = isa.splat(f32::NEG_INFINITY);
    for x in row.chunks_exact(I::LANES) {
        most = isa.max(most, isa.load(x));
    }
    let mut lanes = [f32::NEG_INFINITY; super::product::MOST_LANES];
    isa.store(most, &mut lanes);
    let largest = by_halves(lanes, I::LANES, larger);
    let (largest, scale) = (isa.splat(largest), isa.splat(scale));
    for x in row.chunks_exact_mut(I::LANES) {
        let y = isa.mul(isa.sub(isa.load(x), largest), scale);
        isa.store(exp(isa, y), x);
    }
    row[tokens..].fill(0.0);
    sum(row, |x| x)
}

/// The mean over the row's heads of softmax(q·kᵀ/√d + bias), for one query: `qkv` `[tokens, 3 · hidden]` to `out`, whose
/// numbers past the row's `len` become 0. For people to look at, a few rows at a time: plain arithmetic will do.
pub fn weights(
    qkv: &[f32],
    hidden: usize,
    heads: usize,
    bias: Option<&RelativeBias>,
    row: &AttentionRow,
    out: &mut [f32],
) {
    let size = hidden / heads;
    let scale = 1.0 / (size as f32).sqrt();
    let token = |token: u32| &qkv[token as usize * 3 * hidden..][..3 * hidden];
    let mut scores = vec![0f32; row.len as usize];
    out.fill(0.0);
    let averaged = row.heads(heads);
    let count = averaged.len() as f32;
    for head in averaged {
        let at = head * size;
        let query = &token(row.query)[at..][..size];
        for (score, key) in scores.iter_mut().zip(row.start..) {
            let key = &token(key)[hidden + at..][..size];
            *score = query.iter().zip(key).map(|(q, k)| q * k).sum::<f32>() * scale;
        }
        if let Some(bias) = bias {
            let bias = bias.row(head, (row.query - row.start) as usize);
            scores.iter_mut().zip(bias).for_each(|(x, b)| *x += b);
        }
        let largest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        scores.iter_mut().for_each(|x| *x = (*x - largest).exp());
        let share = 1.0 / (sum(&scores, |x| x) * count);
        for (to, x) in out.iter_mut().zip(&scores) {
            *to += x * share;
        }
    }
}

//! Scaled dot-product attention with a backward pass of its own, for training on the CPU: one sequence a task.

use std::ops::Range;

use candle_core::{Result, Tensor, bail};
use rayon::prelude::*;

use super::{
    math::{LANES, add_rows, exp, sum},
    tape::{Gradients, Numbers, Operation, Tape},
};

/// Scaled dot-product attention within each of `sequences`, which lie end to end and cover all rows:
/// `[tokens, 3 · hidden]` → `[tokens, hidden]`. A bias adds to scores by how far a key lies from its query, `[heads, 2n − 1]`,
/// where no sequence is longer than n.
pub fn attention(
    tape: &Tape,
    qkv: &Tensor,
    bias: Option<&Tensor>,
    sequences: Vec<Range<usize>>,
    heads: usize,
) -> Result<Tensor> {
    let attention = Attention {
        qkv: qkv.contiguous()?,
        bias: bias.map(Tensor::contiguous).transpose()?,
        sequences,
        heads,
    };
    let (tokens, columns) = attention.qkv.dims2()?;
    let out = attention.forward()?;
    let from: Vec<&Tensor> = std::iter::once(qkv).chain(bias).collect();
    tape.record((tokens, columns / 3), out, &from, || attention)
}

struct Attention {
    qkv: Tensor,
    bias: Option<Tensor>,
    sequences: Vec<Range<usize>>,
    heads: usize,
}

/// What a bias adds to the scores of one head: a number for each offset key − query from 1 − n to n − 1.
#[derive(Clone, Copy)]
struct Offsets<'a>(&'a [f32]);

impl<'a> Offsets<'a> {
    /// Of one head of a bias, `[heads, 2n − 1]`.
    fn of(bias: &'a [f32], heads: usize, head: usize) -> Self {
        let width = bias.len() / heads;
        Self(&bias[head * width..(head + 1) * width])
    }

    /// For the keys of a sequence, from its first, where the query is its token number `query`.
    fn row(self, query: usize) -> &'a [f32] {
        &self.0[self.0.len() / 2 - query..]
    }
}

/// One head of one sequence: query, key and value `[length, width]`, key or value also transposed, `[width, padded]`, and
/// the attention weights, `[length, padded]`. Behind the length lie zeros, up to a multiple of [`LANES`].
#[derive(Default)]
struct HeadBuffers {
    query: Vec<f32>,
    key: Vec<f32>,
    value: Vec<f32>,
    transposed: Vec<f32>,
    weights: Vec<f32>,
}

impl HeadBuffers {
    /// Reads a head of a sequence's rows, `[length, 3 · hidden]`, and computes its attention weights.
    fn fill(
        &mut self,
        rows: &[f32],
        hidden: usize,
        head: usize,
        width: usize,
        bias: Option<Offsets<'_>>,
    ) {
        let length = rows.len() / (3 * hidden);
        let gather = |part: usize, out: &mut Vec<f32>| {
            out.clear();
            for row in rows.chunks_exact(3 * hidden) {
                let start = part * hidden + head * width;
                out.extend_from_slice(&row[start..start + width]);
            }
        };
        gather(0, &mut self.query);
        gather(1, &mut self.key);
        gather(2, &mut self.value);
        transpose(&self.key, width, &mut self.transposed);
        let padded = length.next_multiple_of(LANES);
        self.weights.clear();
        self.weights.resize(length * padded, 0.0);
        multiply_add(&self.query, width, &self.transposed, &mut self.weights);
        let scale = 1.0 / (width as f32).sqrt();
        for (query, row) in self.weights.chunks_exact_mut(padded).enumerate() {
            row.iter_mut().for_each(|w| *w *= scale);
            if let Some(bias) = bias {
                row[..length]
                    .iter_mut()
                    .zip(bias.row(query))
                    .for_each(|(w, b)| *w += b);
            }
            let max = row[..length]
                .iter()
                .copied()
                .fold(f32::NEG_INFINITY, f32::max);
            // Nothing above 0, of what lies behind the length either.
            row.iter_mut().for_each(|w| *w = exp((*w - max).min(0.0)));
            row[length..].fill(0.0);
            let total = 1.0 / sum(row, row, |w, _| w);
            row.iter_mut().for_each(|w| *w *= total);
        }
    }
}

/// `[rows, columns]` → `[columns, padded]`, with zeros behind the rows.
fn transpose(x: &[f32], columns: usize, out: &mut Vec<f32>) {
    let padded = (x.len() / columns).next_multiple_of(LANES);
    out.clear();
    out.resize(columns * padded, 0.0);
    for (i, row) in x.chunks_exact(columns).enumerate() {
        for (j, &x) in row.iter().enumerate() {
            out[j * padded + i] = x;
        }
    }
}

/// out += a·b: `[m, k]`, `[k, n]`, `[m, n]`; rows of `a` may be longer than k.
fn multiply_add(a: &[f32], columns: usize, b: &[f32], out: &mut [f32]) {
    let n = out.len() / (a.len() / columns);
    for (a, out) in a.chunks_exact(columns).zip(out.chunks_exact_mut(n)) {
        add_rows(a.iter().copied().zip(b.chunks_exact(n)), out);
    }
}

/// out += aᵀ·b: `[m, k]`, `[m, n]`, `[k, n]`; rows of `a` may be longer than k.
fn transposed_multiply_add(a: &[f32], columns: usize, b: &[f32], out: &mut [f32]) {
    let n = b.len() / (a.len() / columns);
    for (j, out) in out.chunks_exact_mut(n).enumerate() {
        let column = a.chunks_exact(columns).map(|a| a[j]);
        add_rows(column.zip(b.chunks_exact(n)), out);
    }
}

impl Attention {
    /// Runs `work(sequence's rows of inputs, its rows of the output)` in parallel; the output is
    /// `[tokens, columns]`, and comes with what `work` gave for each sequence.
    fn each_sequence<T: Send>(
        &self,
        tokens: usize,
        columns: usize,
        work: impl Fn(Range<usize>, &mut [f32]) -> T + Sync,
    ) -> Result<(Vec<f32>, Vec<T>)> {
        let mut out = vec![0f32; tokens * columns];
        let mut parts = Vec::with_capacity(self.sequences.len());
        let mut rest = out.as_mut_slice();
        let mut at = 0;
        for range in &self.sequences {
            if range.start != at || range.end > tokens {
                bail!("sequences must lie end to end");
            }
            let (part, after) = rest.split_at_mut(range.len() * columns);
            parts.push((range.clone(), part));
            rest = after;
            at = range.end;
        }
        let parts = parts.into_par_iter();
        let given = parts.map(|(range, part)| work(range, part)).collect();
        Ok((out, given))
    }

    /// `[tokens, 3 · hidden]` → `[tokens, hidden]`.
    fn forward(&self) -> Result<Vec<f32>> {
        let (tokens, columns) = self.qkv.dims2()?;
        let hidden = columns / 3;
        let width = hidden / self.heads;
        let qkv = Numbers::of(&self.qkv)?;
        let qkv = &*qkv;
        let bias = self.bias.as_ref().map(Numbers::of).transpose()?;
        let bias = bias.as_deref();
        let (out, _) = self.each_sequence(tokens, hidden, |range, out| {
            let rows = &qkv[range.start * columns..range.end * columns];
            let mut head = HeadBuffers::default();
            let mut attended = Vec::new();
            for h in 0..self.heads {
                let bias = bias.map(|bias| Offsets::of(bias, self.heads, h));
                head.fill(rows, hidden, h, width, bias);
                attended.clear();
                attended.resize(range.len() * width, 0.0);
                let padded = range.len().next_multiple_of(LANES);
                multiply_add(&head.weights, padded, &head.value, &mut attended);
                for (out, row) in out
                    .chunks_exact_mut(hidden)
                    .zip(attended.chunks_exact(width))
                {
                    out[h * width..(h + 1) * width].copy_from_slice(row);
                }
            }
        })?;
        Ok(out)
    }
}

impl Operation for Attention {
    fn backward(&self, gradient: Vec<f32>, sums: &mut Gradients) -> Result<()> {
        let of_bias = self.bias.as_ref().map(Tensor::elem_count);
        let mut of_qkv = self.gradients(&gradient)?;
        let of_bias = of_bias.map(|numbers| of_qkv.split_off(of_qkv.len() - numbers));
        sums.add(&self.qkv, of_qkv)?;
        match (&self.bias, of_bias) {
            (Some(bias), Some(gradient)) => sums.add(bias, gradient),
            _ => Ok(()),
        }
    }
}

impl Attention {
    /// The gradient of `qkv`, `[tokens, 3 · hidden]`, and behind it that of the bias, `[heads, 2n − 1]`, where there is one.
    fn gradients(&self, gradient: &[f32]) -> Result<Vec<f32>> {
        let (tokens, columns) = self.qkv.dims2()?;
        let hidden = columns / 3;
        let heads = self.heads;
        let width = hidden / heads;
        let scale = 1.0 / (width as f32).sqrt();
        let qkv = Numbers::of(&self.qkv)?;
        let qkv = &*qkv;
        let bias = self.bias.as_ref().map(Numbers::of).transpose()?;
        let bias = bias.as_deref();
        let (mut out, of_biases) = self.each_sequence(tokens, columns, |range, out| {
            let length = range.len();
            let rows = &qkv[range.start * columns..range.end * columns];
            let gradients = &gradient[range.start * hidden..range.end * hidden];
            let mut head = HeadBuffers::default();
            let mut of_output = Vec::new();
            let padded = length.next_multiple_of(LANES);
            let mut of_scores = vec![0f32; length * padded];
            let mut of_parts = vec![0f32; 3 * length * width];
            let offsets = 2 * length - 1;
            let mut of_bias = vec![0f32; bias.map_or(0, |_| heads * offsets)];
            for h in 0..heads {
                let bias = bias.map(|bias| Offsets::of(bias, heads, h));
                head.fill(rows, hidden, h, width, bias);
                of_output.clear();
                for row in gradients.chunks_exact(hidden) {
                    of_output.extend_from_slice(&row[h * width..(h + 1) * width]);
                }
                // With w = softmax(s): ∂s = w ∘ (∂w − Σ w ∘ ∂w).
                transpose(&head.value, width, &mut head.transposed);
                of_scores.fill(0.0);
                multiply_add(&of_output, width, &head.transposed, &mut of_scores);
                for (g, w) in of_scores
                    .chunks_exact_mut(padded)
                    .zip(head.weights.chunks_exact(padded))
                {
                    let mean = sum(g, w, |g, w| g * w);
                    for (g, w) in g.iter_mut().zip(w) {
                        *g = scale * w * (*g - mean);
                    }
                }
                if bias.is_some() {
                    let of_bias = &mut of_bias[h * offsets..(h + 1) * offsets];
                    for (query, g) in of_scores.chunks_exact(padded).enumerate() {
                        let of_bias = &mut of_bias[length - 1 - query..];
                        of_bias
                            .iter_mut()
                            .zip(&g[..length])
                            .for_each(|(sum, g)| *sum += g);
                    }
                }
                of_parts.fill(0.0);
                let (of_query, others) = of_parts.split_at_mut(length * width);
                let (of_key, of_value) = others.split_at_mut(length * width);
                multiply_add(&of_scores, padded, &head.key, of_query);
                transposed_multiply_add(&of_scores, padded, &head.query, of_key);
                transposed_multiply_add(&head.weights, padded, &of_output, of_value);
                for (part, numbers) in of_parts.chunks_exact(length * width).enumerate() {
                    let start = part * hidden + h * width;
                    for (out, row) in out
                        .chunks_exact_mut(columns)
                        .zip(numbers.chunks_exact(width))
                    {
                        out[start..start + width].copy_from_slice(row);
                    }
                }
            }
            of_bias
        })?;
        // In the sequences' order, so that the sums are the same each time.
        if let Some(bias) = bias {
            let behind = out.len();
            out.resize(behind + bias.len(), 0.0);
            let most = bias.len() / heads;
            for of_bias in of_biases {
                let offsets = of_bias.len() / heads;
                let heads = out[behind..].chunks_exact_mut(most);
                for (sums, of_head) in heads.zip(of_bias.chunks_exact(offsets)) {
                    let sums = &mut sums[(most - offsets) / 2..];
                    // What scores were scaled by is none of the bias's.
                    sums.iter_mut()
                        .zip(of_head)
                        .for_each(|(sum, g)| *sum += g / scale);
                }
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use candle_core::D;

    use super::{
        super::composed::{random, same},
        *,
    };
    use crate::{
        backend::candle::{batch::DeviceBatch, operations},
        text::Batch,
    };

    /// Attention within sequences, of candle's operations.
    fn composed(
        x: &Tensor,
        bias: Option<&Tensor>,
        sequences: &[Range<usize>],
        heads: usize,
    ) -> Result<Tensor> {
        let hidden = x.dim(1)? / 3;
        let width = hidden / heads;
        let mut rows = Vec::new();
        for range in sequences {
            let length = range.len();
            let part = |i: usize| {
                x.narrow(0, range.start, length)?
                    .narrow(1, i * hidden, hidden)?
                    .reshape((length, heads, width))?
                    .transpose(0, 1)?
                    .contiguous()
            };
            let mut scores = (part(0)?.matmul(&part(1)?.t()?)? / (width as f64).sqrt())?;
            if let Some(bias) = bias {
                let middle = bias.dim(1)? / 2;
                let row = |query| bias.narrow(1, middle - query, length)?.unsqueeze(1);
                let rows = (0..length).map(row).collect::<Result<Vec<_>>>()?;
                scores = (scores + Tensor::cat(&rows, 1)?)?;
            }
            let weights = candle_nn::ops::softmax(&scores, D::Minus1)?;
            let out = weights.matmul(&part(2)?)?.transpose(0, 1)?;
            rows.push(out.reshape((length, hidden))?);
        }
        Tensor::cat(&rows, 0)
    }

    #[test]
    fn attention_within_sequences() {
        let (heads, width) = (3, 5);
        let x = random(12, 3 * heads * width, 1);
        let sequences = vec![0..4, 4..5, 5..12];
        let tape = Tape::default();
        let fused = |bias: Option<&Tensor>| attention(&tape, &x, bias, sequences.clone(), heads);
        same(
            &tape,
            &[&x],
            || fused(None),
            || composed(&x, None, &sequences, heads),
        );
        // For sequences that are longer than any here, and for no longer ones.
        for longest in [9, 7] {
            let bias = random(heads, 2 * longest - 1, 2);
            let expected = || composed(&x, Some(&bias), &sequences, heads);
            same(&tape, &[&x, &bias], || fused(Some(&bias)), expected);
            // As devices compute it that have no operation of their own.
            let mut batch = Batch::default();
            for range in &sequences {
                batch.push(&vec![0; range.len()], &vec![0; range.len()]);
            }
            let batch = DeviceBatch::new(&batch, x.device()).unwrap();
            let found = || Ok(operations::attention(&x, &batch, heads, Some(&bias)).unwrap());
            same(&tape, &[&x, &bias], found, expected);
        }
    }
}

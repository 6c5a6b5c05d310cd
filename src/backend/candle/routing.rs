//! Routers and joins of what was encoded apart, composed of candle's differentiable operations.

use std::ops::Range;

use candle_core::{D, Tensor};

use crate::{
    backend::{Gain, Route, Scores, Stretch},
    error::Result,
};

/// As [`Routing::select`](crate::backend::Routing::select).
pub fn select(x: &Tensor, rows: &[u32]) -> Result<Tensor> {
    Ok(x.index_select(&Tensor::new(rows, x.device())?, 0)?)
}

/// As [`Routing::columns`](crate::backend::Routing::columns).
pub fn columns(x: &Tensor, columns: Range<usize>) -> Result<Tensor> {
    Ok(x.narrow(1, columns.start, columns.len())?.contiguous()?)
}

/// As [`Routing::weights`](crate::backend::Routing::weights).
pub fn weights(
    queries: &Tensor,
    keys: &Tensor,
    routes: &[Route],
    scores: Scores,
) -> Result<Tensor> {
    let (_, hidden) = keys.dims2()?;
    let parts = scores.parts();
    let part = hidden / parts;
    let rows: Vec<u32> = routes
        .iter()
        .flat_map(|r| r.start..r.start + r.len)
        .collect();
    let conditions: Vec<u32> = routes
        .iter()
        .flat_map(|r| std::iter::repeat_n(r.query, r.len as usize))
        .collect();
    let products = (select(queries, &conditions)? * select(keys, &rows)?)?;
    let products = products.reshape((rows.len(), parts, part))?.sum(2)?;
    let lengths: Vec<u32> = routes.iter().map(|r| r.len).collect();
    let weights = softmax(&(products / (part as f64).sqrt())?, &lengths)?;
    Ok(match scores {
        Scores::HeadMean(_) => weights.mean_keepdim(1)?,
        Scores::Whole | Scores::Heads(_) => weights,
    })
}

/// Rows of several sequences, end to end, side by side up to the longest one.
struct Padded {
    sequences: usize,
    longest: usize,
    /// The row in each place; that of a sequence's first token where the sequence has ended.
    taken: Vec<u32>,
    /// Whether each place holds a row.
    inside: Vec<bool>,
}

impl Padded {
    fn new(lengths: &[u32]) -> Self {
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let (mut taken, mut inside) = (Vec::new(), Vec::new());
        let mut at = 0;
        for &len in lengths {
            taken.extend((0..longest).map(|token| if token < len { at + token } else { at }));
            inside.extend((0..longest).map(|token| token < len));
            at += len;
        }
        Self {
            sequences: lengths.len(),
            longest: longest as usize,
            taken,
            inside,
        }
    }

    /// `[rows, columns] → [sequences, longest, columns]`.
    fn of(&self, x: &Tensor) -> Result<Tensor> {
        let (_, columns) = x.dims2()?;
        Ok(select(x, &self.taken)?.reshape((self.sequences, self.longest, columns))?)
    }

    /// And back.
    fn back(&self, x: &Tensor) -> Result<Tensor> {
        let (_, _, columns) = x.dims3()?;
        let places = (0..).zip(&self.inside).filter(|(_, inside)| **inside);
        let places: Vec<u32> = places.map(|(place, _)| place).collect();
        select(
            &x.reshape((self.sequences * self.longest, columns))?,
            &places,
        )
    }

    /// One number where there is a row and another where there is none, `[sequences, longest, 1]`.
    fn mask(&self, inside: f32, outside: f32, like: &Tensor) -> Result<Tensor> {
        let number = |&is: &bool| if is { inside } else { outside };
        let numbers: Vec<f32> = self.inside.iter().map(number).collect();
        let shape = (self.sequences, self.longest, 1);
        Ok(Tensor::from_vec(numbers, shape, like.device())?)
    }
}

/// Softmax over the rows of each sequence, column by column: `[Σ len, columns]` to the same.
fn softmax(scores: &Tensor, lengths: &[u32]) -> Result<Tensor> {
    let padded = Padded::new(lengths);
    let mask = padded.mask(0.0, f32::NEG_INFINITY, scores)?;
    let scores = padded.of(scores)?.broadcast_add(&mask)?;
    padded.back(&candle_nn::ops::softmax(&scores, 1)?)
}

/// As [`Routing::shares`](crate::backend::Routing::shares).
pub fn shares(attention: &Tensor, stretches: &[Stretch]) -> Result<Tensor> {
    let (rows, longest) = attention.dims2()?;
    let places: Vec<u32> = stretches
        .iter()
        .flat_map(|s| {
            let first = s.row * longest as u32 + s.first;
            first..first + s.len
        })
        .collect();
    let weights = select(&attention.reshape((rows * longest, 1))?, &places)?;
    let lengths: Vec<u32> = stretches.iter().map(|s| s.len).collect();
    let padded = Padded::new(&lengths);
    let mask = padded.mask(1.0, 0.0, attention)?;
    let weights = padded.of(&weights)?.mul(&mask)?;
    // Far below any sum that counts.
    let sums = (weights.sum_keepdim(1)? + 1e-30)?;
    padded.back(&weights.broadcast_div(&sums)?)
}

/// As [`Routing::scale`](crate::backend::Routing::scale).
pub fn scale(attended: &Tensor, rows: &[u32], weights: &Tensor, gain: Gain) -> Result<Tensor> {
    let (_, hidden) = attended.dims2()?;
    let (_, parts) = weights.dims2()?;
    let scale = match gain {
        Gain::OnePlusWeight => (weights + 1.0)?,
        Gain::Weight => weights.clone(),
    };
    Ok(select(attended, rows)?
        .reshape((rows.len(), parts, hidden / parts))?
        .broadcast_mul(&scale.unsqueeze(D::Minus1)?)?
        .reshape((rows.len(), hidden))?)
}

/// As [`Routing::transform`](crate::backend::Routing::transform).
pub fn transform(x: &Tensor, matrices: &Tensor, of: &[u32]) -> Result<Tensor> {
    let ((rows, inputs), (count, numbers)) = (x.dims2()?, matrices.dims2()?);
    let outputs = numbers / inputs;
    // Rows that share a matrix are multiplied by it at once.
    let mut rows_of = vec![Vec::new(); count];
    for (row, &matrix) in (0..).zip(of) {
        rows_of[matrix as usize].push(row);
    }
    let (mut products, mut place) = (Vec::new(), vec![0u32; rows]);
    let mut at = 0;
    for (matrix, rows) in rows_of.iter().enumerate().filter(|(_, r)| !r.is_empty()) {
        let matrix = matrices.narrow(0, matrix, 1)?.reshape((inputs, outputs))?;
        products.push(select(x, rows)?.matmul(&matrix)?);
        for &row in rows {
            place[row as usize] = at;
            at += 1;
        }
    }
    select(&Tensor::cat(&products, 0)?, &place)
}

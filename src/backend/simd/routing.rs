//! Routers and joins of what was encoded apart. All of it is a small share of a pass, and plain arithmetic: what a row comes to
//! depends on nothing else in the batch.

use std::ops::Range;

use super::{Simd, Tensor, math::sum, parallel};
use crate::{
    backend::{
        Gain, Route, Routing, Scores, Stretch, check_shape,
        routing::{
            check_columns, check_rows, check_scale, check_shares, check_transform, check_weights,
        },
    },
    error::Result,
};

impl Tensor {
    fn shape(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    /// A row that is known to be there.
    fn row(&self, row: u32) -> &[f32] {
        &self.numbers()[row as usize * self.columns..][..self.columns]
    }
}

impl Simd {
    /// A matrix of so many rows, each made by itself.
    fn by_row(
        &self,
        rows: usize,
        columns: usize,
        make: impl Fn(usize, &mut [f32]) + Sync,
    ) -> Tensor {
        self.tensor(rows, columns, |out| {
            // A few rows at a time: handing each to another thread costs more than some of them take.
            let some = 64;
            parallel::for_each_chunk(out, some * columns.max(1), |i, out| {
                let rows = out.chunks_exact_mut(columns.max(1));
                for (row, out) in rows.enumerate() {
                    make(some * i + row, out);
                }
            });
        })
    }
}

impl Routing for Simd {
    type Tensor = Tensor;

    fn select(&self, x: &Tensor, rows: &[u32]) -> Result<Tensor> {
        check_rows("a row", rows, x.rows)?;
        Ok(self.by_row(rows.len(), x.columns, |i, out| {
            out.copy_from_slice(x.row(rows[i]));
        }))
    }

    fn columns(&self, x: &Tensor, columns: Range<usize>) -> Result<Tensor> {
        check_columns(&columns, x.columns)?;
        let (numbers, width) = (x.numbers(), x.columns);
        Ok(self.by_row(x.rows, columns.len(), |i, out| {
            out.copy_from_slice(&numbers[i * width..][columns.clone()]);
        }))
    }

    fn stack(&self, x: &Tensor, y: &Tensor) -> Result<Tensor> {
        check_shape("the lower rows' width", y.columns, x.columns)?;
        Ok(self.tensor(x.rows + y.rows, x.columns, |out| {
            let (upper, lower) = out.split_at_mut(x.numbers().len());
            upper.copy_from_slice(x.numbers());
            lower.copy_from_slice(y.numbers());
        }))
    }

    fn weights(
        &self,
        queries: &Tensor,
        keys: &Tensor,
        routes: &[Route],
        scores: Scores,
    ) -> Result<Tensor> {
        let part = check_weights(queries.shape(), keys.shape(), routes, scores)?;
        let (parts, columns) = (scores.parts(), scores.columns());
        let scale = 1.0 / (part as f32).sqrt();
        let rows = routes.iter().map(|route| route.len as usize).sum();
        Ok(self.tensor(rows, columns, |out| {
            let lengths = routes.iter().map(|route| route.len as usize * columns);
            parallel::for_each_piece(out, lengths, |i, out| {
                let route = &routes[i];
                let query = &queries.numbers()[route.query as usize * keys.columns..];
                let keys = &keys.numbers()[route.start as usize * keys.columns..];
                let mut weights = vec![0f32; route.len as usize];
                out.fill(0.0);
                for at in 0..parts {
                    let query = &query[at * part..][..part];
                    for (weight, key) in weights.iter_mut().zip(keys.chunks((parts * part).max(1)))
                    {
                        *weight = dot(query, &key[at * part..][..part]) * scale;
                    }
                    softmax(&mut weights);
                    for (row, weight) in out.chunks_exact_mut(columns.max(1)).zip(&weights) {
                        match scores {
                            Scores::HeadMean(heads) => row[0] += weight / heads as f32,
                            Scores::Whole | Scores::Heads(_) => row[at] = *weight,
                        }
                    }
                }
            });
        }))
    }

    fn shares(&self, attention: &Tensor, stretches: &[Stretch]) -> Result<Tensor> {
        check_shares(attention.shape(), stretches)?;
        let rows = stretches.iter().map(|stretch| stretch.len as usize).sum();
        Ok(self.tensor(rows, 1, |mut out| {
            for stretch in stretches {
                let row = &attention.numbers()[stretch.row as usize * attention.columns..];
                let row = &row[stretch.first as usize..][..stretch.len as usize];
                let (own, rest) = out.split_at_mut(row.len());
                // Far below any sum that counts.
                let sum = sum(row, |x| x) + 1e-30;
                own.iter_mut().zip(row).for_each(|(y, x)| *y = x / sum);
                out = rest;
            }
        }))
    }

    fn scale(
        &self,
        attended: &Tensor,
        rows: &[u32],
        weights: &Tensor,
        gain: Gain,
    ) -> Result<Tensor> {
        let part = check_scale(attended.shape(), rows, weights.shape())?;
        let add = match gain {
            Gain::OnePlusWeight => 1.0,
            Gain::Weight => 0.0,
        };
        Ok(self.by_row(rows.len(), attended.columns, |i, out| {
            let weights = &weights.numbers()[i * weights.columns..][..weights.columns];
            let parts = out
                .chunks_exact_mut(part.max(1))
                .zip(attended.row(rows[i]).chunks_exact(part.max(1)));
            for ((out, x), weight) in parts.zip(weights) {
                let factor = weight + add;
                out.iter_mut().zip(x).for_each(|(y, x)| *y = x * factor);
            }
        }))
    }

    fn transform(&self, x: &Tensor, matrices: &Tensor, of: &[u32]) -> Result<Tensor> {
        let outputs = check_transform(x.shape(), matrices.shape(), of)?;
        Ok(self.by_row(x.rows, outputs, |i, out| {
            let x = &x.numbers()[i * x.columns..][..x.columns];
            out.fill(0.0);
            for (x, row) in x
                .iter()
                .zip(matrices.row(of[i]).chunks_exact(outputs.max(1)))
            {
                out.iter_mut().zip(row).for_each(|(y, m)| *y += x * m);
            }
        }))
    }
}

/// Sixteen sums side by side.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0f32; 16];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    for (a, b) in a.iter().zip(b) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += a * b;
        }
    }
    for ((lane, a), b) in lanes.iter_mut().zip(a_rest).zip(b_rest) {
        *lane += a * b;
    }
    sum(&lanes, |x| x)
}

fn softmax(x: &mut [f32]) {
    let largest = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    x.iter_mut().for_each(|x| *x = (*x - largest).exp());
    let inverse = 1.0 / sum(x, |x| x);
    x.iter_mut().for_each(|x| *x *= inverse);
}

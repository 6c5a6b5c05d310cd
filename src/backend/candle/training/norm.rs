//! LayerNorm over the columns of a matrix.

use candle_core::{Result, Tensor};
use rayon::prelude::*;

use super::{
    dropout::Dropout,
    math::{ROWS, sum},
    tape::{Gradients, Numbers, Operation, Tape},
};
pub use crate::backend::candle::operations::Norm;

/// Mean and 1/√(variance + ε) of a row.
fn moments(row: &[f32], eps: f32) -> (f32, f32) {
    let n = row.len() as f32;
    let mean = sum(row, row, |x, _| x) / n;
    let variance = sum(row, row, |x, _| (x - mean) * (x - mean)) / n;
    (mean, 1.0 / (variance + eps).sqrt())
}

/// out = LayerNorm(x), one row.
pub fn row(x: &[f32], weight: &[f32], bias: &[f32], eps: f32, out: &mut [f32]) {
    let (mean, scale) = moments(x, eps);
    for ((out, &x), (&w, &b)) in out.iter_mut().zip(x).zip(weight.iter().zip(bias)) {
        *out = (x - mean) * scale * w + b;
    }
}

/// The gradient of what was normalised, given that of the result; those of the norm's own numbers are added up.
pub fn backward(
    x: &[f32],
    norm: &Norm,
    mut gradient: Vec<f32>,
    sums: &mut Gradients,
) -> Result<Vec<f32>> {
    let numbers = Numbers::of(&norm.weight)?;
    // Looked up once: in the loop below it would be for each number.
    let weight: &[f32] = &numbers;
    let columns = weight.len();
    let n = columns as f32;
    let parts: Vec<Vec<f32>> = gradient
        .par_chunks_mut(ROWS * columns)
        .zip(x.par_chunks(ROWS * columns))
        .map(|(gradient, x)| {
            let mut parts = vec![0f32; 2 * columns];
            let (of_weight, of_bias) = parts.split_at_mut(columns);
            let mut normed = vec![0f32; columns];
            for (g, x) in gradient
                .chunks_exact_mut(columns)
                .zip(x.chunks_exact(columns))
            {
                let (mean, scale) = moments(x, norm.eps);
                for ((normed, &x), (of_weight, &g)) in
                    (normed.iter_mut().zip(x)).zip(of_weight.iter_mut().zip(&*g))
                {
                    *normed = (x - mean) * scale;
                    *of_weight += g * *normed;
                }
                for ((g, of_bias), &weight) in g.iter_mut().zip(&mut *of_bias).zip(weight) {
                    *of_bias += *g;
                    *g *= weight;
                }
                let mean = sum(g, g, |g, _| g) / n;
                let slope = sum(g, &normed, |g, x| g * x) / n;
                for (g, x) in g.iter_mut().zip(&normed) {
                    *g = scale * (*g - mean - x * slope);
                }
            }
            parts
        })
        .collect();
    drop(numbers);
    // In the rows' order, so that the sums are the same each time.
    let mut total = vec![0f32; 2 * columns];
    for part in parts {
        total.iter_mut().zip(part).for_each(|(t, p)| *t += p);
    }
    let of_bias = total.split_off(columns);
    sums.add(&norm.weight, total)?;
    sums.add(&norm.bias, of_bias)?;
    Ok(gradient)
}

/// dropout(LayerNorm(x)), `[rows, columns]`.
pub fn norm_drop(tape: &Tape, x: &Tensor, norm: &Norm, dropout: Dropout) -> Result<Tensor> {
    let shape = x.dims2()?;
    let (_, columns) = shape;
    let given = x.contiguous()?;
    let mut out = vec![0f32; given.elem_count()];
    {
        let numbers = Numbers::of(&given)?;
        let (weight, bias) = (Numbers::of(&norm.weight)?, Numbers::of(&norm.bias)?);
        let (weight, bias) = (&*weight, &*bias);
        let chunk = ROWS * columns;
        out.par_chunks_mut(chunk)
            .zip(numbers.par_chunks(chunk))
            .enumerate()
            .for_each(|(i, (out, x))| {
                for (out, x) in out.chunks_exact_mut(columns).zip(x.chunks_exact(columns)) {
                    row(x, weight, bias, norm.eps, out);
                }
                dropout.apply(i * chunk, out);
            });
    }
    tape.record(shape, out, &[x, &norm.weight, &norm.bias], || NormDrop {
        x: given,
        norm: norm.clone(),
        dropout,
    })
}

struct NormDrop {
    x: Tensor,
    norm: Norm,
    dropout: Dropout,
}

impl Operation for NormDrop {
    fn backward(&self, mut gradient: Vec<f32>, sums: &mut Gradients) -> Result<()> {
        self.dropout.apply_all(&mut gradient);
        let x = Numbers::of(&self.x)?;
        let of_x = backward(&x, &self.norm, gradient, sums)?;
        drop(x);
        sums.add(&self.x, of_x)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::composed::{random, same},
        *,
    };

    #[test]
    fn layer_norm() {
        let (x, w, b) = (random(70, 24, 1), random(1, 24, 2), random(1, 24, 3));
        let [weight, bias] = [&w, &b].map(|v| v.squeeze(0).unwrap());
        let norm = Norm {
            weight,
            bias,
            eps: 1e-5,
        };
        let tape = Tape::default();
        same(
            &tape,
            &[&x, &w, &b],
            || norm_drop(&tape, &x, &norm, Dropout::OFF),
            || candle_nn::ops::layer_norm_slow(&x, &norm.weight, &norm.bias, norm.eps),
        );
    }
}

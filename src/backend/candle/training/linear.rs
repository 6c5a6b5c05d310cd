//! Linear layers, by themselves, with the exact GELU, and with the residual and LayerNorm that follow them.

use candle_core::{CpuStorage, Layout, Result, Tensor};
use rayon::prelude::*;

use super::{
    dropout::Dropout,
    math::{ROWS, SPAN, column_sums, normal},
    norm::{self, Norm},
    parameters::TrainingPrecision,
    tape::{Gradients, Numbers, Operation, Tape},
};

/// A weight `[out, in]` and a bias `[out]`, and what they are applied to, `[rows, in]`.
#[derive(Clone)]
struct Affine {
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    precision: TrainingPrecision,
}

impl Affine {
    fn new(
        x: &Tensor,
        (weight, bias): (&Tensor, &Tensor),
        precision: TrainingPrecision,
    ) -> Result<Self> {
        Ok(Self {
            x: x.contiguous()?,
            weight: weight.clone(),
            bias: bias.clone(),
            precision,
        })
    }

    /// x·Wᵀ, `[rows, out]`.
    fn product(&self) -> Result<Vec<f32>> {
        let (x, weight) = (Numbers::of(&self.x)?, Numbers::of(&self.weight)?);
        let (weight, layout) = weight.factor()?;
        product(
            self.precision,
            x.factor()?,
            (weight, &layout.transpose(0, 1)?),
        )
    }

    /// Adds up the gradients, given that of the result, which is given back.
    fn backward(&self, gradient: Vec<f32>, sums: &mut Gradients) -> Result<Vec<f32>> {
        let (rows, out) = (self.x.dim(0)?, self.bias.dim(0)?);
        if self.bias.track_op() {
            sums.add(&self.bias, column_sums(&gradient, out))?;
        }
        let gradient = CpuStorage::F32(gradient);
        let layout = Layout::contiguous((rows, out));
        if self.weight.track_op() {
            let x = Numbers::of(&self.x)?;
            let across = layout.transpose(0, 1)?;
            let of_weight = product(self.precision, (&gradient, &across), x.factor()?)?;
            drop(x);
            sums.add(&self.weight, of_weight)?;
        }
        if self.x.track_op() {
            let weight = Numbers::of(&self.weight)?;
            let of_x = product(self.precision, (&gradient, &layout), weight.factor()?)?;
            drop(weight);
            sums.add(&self.x, of_x)?;
        }
        match gradient {
            CpuStorage::F32(gradient) => Ok(gradient),
            // It is what it was made as.
            _ => Ok(Vec::new()),
        }
    }
}

/// a·b: `[m, k]`, `[k, n]` → `[m, n]`; f32 in and out, whatever it multiplies.
fn product(
    precision: TrainingPrecision,
    (a, a_layout): (&CpuStorage, &Layout),
    (b, b_layout): (&CpuStorage, &Layout),
) -> Result<Vec<f32>> {
    use candle_core::backend::BackendStorage;
    let ((m, k), (_, n)) = (a_layout.shape().dims2()?, b_layout.shape().dims2()?);
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    if precision == TrainingPrecision::Bf16 {
        use super::bf16;
        let (a, b) = (
            bf16::Factor::left(a, a_layout)?,
            bf16::Factor::right(b, b_layout)?,
        );
        return Ok(bf16::multiply(a, b, (m, k, n)));
    }
    #[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
    let _ = precision;
    match a.matmul(b, (1, m, n, k), a_layout, b_layout)? {
        CpuStorage::F32(product) => Ok(product),
        _ => candle_core::bail!("a product of f32 numbers is one"),
    }
}

/// x·Wᵀ + b, through the exact GELU where `gelu` says so: `[rows, in]`, `[out, in]`, `[out]` → `[rows, out]`.
pub fn linear(
    tape: &Tape,
    x: &Tensor,
    (weight, bias): (&Tensor, &Tensor),
    gelu: bool,
    precision: TrainingPrecision,
) -> Result<Tensor> {
    let affine = Affine::new(x, (weight, bias), precision)?;
    let mut y = affine.product()?;
    let columns = bias.dim(0)?;
    let shape = (x.dim(0)?, columns);
    let shift = Numbers::of(&affine.bias)?;
    let add_bias = |row: &mut [f32]| row.iter_mut().zip(&*shift).for_each(|(y, b)| *y += b);
    let mut out = Vec::new();
    if gelu {
        out.resize(y.len(), 0.0);
        y.par_chunks_mut(ROWS * columns)
            .zip(out.par_chunks_mut(ROWS * columns))
            .for_each(|(y, out)| {
                for (y, out) in y
                    .chunks_exact_mut(columns)
                    .zip(out.chunks_exact_mut(columns))
                {
                    add_bias(y);
                    for (out, &y) in out.iter_mut().zip(&*y) {
                        *out = y * normal(y).0;
                    }
                }
            });
    } else {
        y.par_chunks_mut(ROWS * columns)
            .for_each(|rows| rows.chunks_exact_mut(columns).for_each(add_bias));
    }
    drop(shift);
    let (out, before) = match gelu {
        true => (out, Some(y)),
        false => (y, None),
    };
    tape.record(shape, out, &[x, weight, bias], || Linear { affine, before })
}

struct Linear {
    affine: Affine,
    /// What GELU was applied to.
    before: Option<Vec<f32>>,
}

impl Operation for Linear {
    fn backward(&self, mut gradient: Vec<f32>, sums: &mut Gradients) -> Result<()> {
        if let Some(before) = &self.before {
            gradient
                .par_chunks_mut(SPAN)
                .zip(before.par_chunks(SPAN))
                .for_each(|(gradient, before)| {
                    for (g, &x) in gradient.iter_mut().zip(before) {
                        let (below, density) = normal(x);
                        *g *= below + x * density;
                    }
                });
        }
        self.affine.backward(gradient, sums).map(drop)
    }
}

/// LayerNorm(dropout(x·Wᵀ + b) + residual): `[rows, in]`, `[out, in]`, `[out]`, `[rows, out]` → `[rows, out]`.
pub fn linear_add_norm(
    tape: &Tape,
    x: &Tensor,
    (weight, bias): (&Tensor, &Tensor),
    residual: &Tensor,
    norm: &Norm,
    dropout: Dropout,
    precision: TrainingPrecision,
) -> Result<Tensor> {
    let affine = Affine::new(x, (weight, bias), precision)?;
    let added = residual.contiguous()?;
    let mut sum = affine.product()?;
    let columns = bias.dim(0)?;
    let shape = (x.dim(0)?, columns);
    let mut out = vec![0f32; sum.len()];
    {
        let (bias, residual) = (Numbers::of(&affine.bias)?, Numbers::of(&added)?);
        let (gamma, beta) = (Numbers::of(&norm.weight)?, Numbers::of(&norm.bias)?);
        let (bias, gamma, beta) = (&*bias, &*gamma, &*beta);
        let chunk = ROWS * columns;
        sum.par_chunks_mut(chunk)
            .zip(residual.par_chunks(chunk))
            .zip(out.par_chunks_mut(chunk))
            .enumerate()
            .for_each(|(i, ((sum, residual), out))| {
                for row in sum.chunks_exact_mut(columns) {
                    row.iter_mut().zip(bias).for_each(|(y, b)| *y += b);
                }
                dropout.apply(i * chunk, sum);
                for ((sum, residual), out) in sum
                    .chunks_exact_mut(columns)
                    .zip(residual.chunks_exact(columns))
                    .zip(out.chunks_exact_mut(columns))
                {
                    sum.iter_mut().zip(residual).for_each(|(s, r)| *s += r);
                    norm::row(sum, gamma, beta, norm.eps, out);
                }
            });
    }
    let from = [x, weight, bias, residual, &norm.weight, &norm.bias];
    tape.record(shape, out, &from, || LinearAddNorm {
        affine,
        residual: added,
        norm: norm.clone(),
        dropout,
        sum,
    })
}

struct LinearAddNorm {
    affine: Affine,
    residual: Tensor,
    norm: Norm,
    dropout: Dropout,
    /// What was normalised.
    sum: Vec<f32>,
}

impl Operation for LinearAddNorm {
    fn backward(&self, gradient: Vec<f32>, sums: &mut Gradients) -> Result<()> {
        let of_sum = norm::backward(&self.sum, &self.norm, gradient, sums)?;
        let of_sum = match self.dropout.is_off() {
            true => self.affine.backward(of_sum, sums)?,
            false => {
                let mut dropped = of_sum.clone();
                self.dropout.apply_all(&mut dropped);
                self.affine.backward(dropped, sums)?;
                of_sum
            }
        };
        sums.add(&self.residual, of_sum)
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::{
        super::composed::{random, same},
        *,
    };

    #[test]
    fn linear_layers() {
        let (x, w, b) = (random(70, 24, 1), random(10, 24, 2), random(1, 10, 3));
        let bias = b.squeeze(0).unwrap();
        let tape = Tape::default();
        let fused = |w: &Tensor, gelu| linear(&tape, &x, (w, &bias), gelu, TrainingPrecision::F32);
        let composed = |w: &Tensor| x.matmul(&w.t()?)?.broadcast_add(&bias);
        same(&tape, &[&x, &w, &b], || fused(&w, false), || composed(&w));
        same(
            &tape,
            &[&x, &w, &b],
            || fused(&w, true),
            || composed(&w)?.gelu_erf(),
        );
        // A weight that is used twice, and one that is no variable.
        same(
            &tape,
            &[&x, &w, &b],
            || fused(&w, false)? + fused(&w, false)?,
            || composed(&w)? * 2.0,
        );
        let doubled = || w.as_tensor() * 2.0;
        same(
            &tape,
            &[&x, &w, &b],
            || fused(&doubled()?, false),
            || composed(&doubled()?),
        );
    }

    #[test]
    fn a_layer_with_residual_and_norm() {
        let (x, w, b) = (random(70, 12, 1), random(20, 12, 2), random(1, 20, 3));
        let (residual, gamma, beta) = (random(70, 20, 4), random(1, 20, 5), random(1, 20, 6));
        let [bias, weight, shift] = [&b, &gamma, &beta].map(|v| v.squeeze(0).unwrap());
        let norm = Norm {
            weight,
            bias: shift,
            eps: 1e-5,
        };
        let tape = Tape::default();
        for p in [0.0, 0.3] {
            let dropout = Dropout { p, seed: 8 };
            let mut mask = vec![1f32; 70 * 20];
            dropout.apply_all(&mut mask);
            let mask = Tensor::from_vec(mask, (70, 20), &Device::Cpu).unwrap();
            same(
                &tape,
                &[&x, &w, &b, &residual, &gamma, &beta],
                || {
                    linear_add_norm(
                        &tape,
                        &x,
                        (&w, &bias),
                        &residual,
                        &norm,
                        dropout,
                        TrainingPrecision::F32,
                    )
                },
                || {
                    let y = (x.matmul(&w.t()?)?.broadcast_add(&bias)? * &mask)?;
                    let sum = (y + residual.as_tensor())?;
                    candle_nn::ops::layer_norm_slow(&sum, &norm.weight, &norm.bias, norm.eps)
                },
            );
        }
    }
}

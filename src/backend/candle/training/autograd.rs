//! Operations with backward passes of their own, for training on the CPU.
//!
//! Autograd through candle's small operations spends most of a step in single-threaded passes over
//! memory: broadcasts, transposed gradients, the exact GELU's erf. Each operation here is one parallel pass
//! forward and one backward, and equals the composed form (the tests compare the two). Sums run in a fixed
//! order, whatever the number of threads: the same seed gives the same weights.

use candle_core::{
    CpuStorage, CustomOp1, CustomOp2, CustomOp3, Layout, Result, Shape, Tensor, bail,
};
use rayon::prelude::*;

use super::{
    math::{SPAN, mix, normal, numbers, sum},
    parameters::{TrainingPrecision, WeightGradients},
};

/// Rows that one task works on; sums over rows are made of sums over so many.
const ROWS: usize = 64;

/// x·Wᵀ + b: `[rows, in]`, `[out, in]`, `[out]` → `[rows, out]`. The gradient of a `Var` as weight goes to
/// `gradients`.
pub fn linear(
    x: &Tensor,
    weight: &Tensor,
    bias: &Tensor,
    precision: TrainingPrecision,
    gradients: &WeightGradients,
) -> Result<Tensor> {
    let linear = Linear {
        precision,
        gradients: gradients.clone(),
    };
    x.contiguous()?.apply_op3(weight, bias, linear)
}

struct Linear {
    precision: TrainingPrecision,
    gradients: WeightGradients,
}

impl CustomOp3 for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        x_layout: &Layout,
        weight: &CpuStorage,
        weight_layout: &Layout,
        bias: &CpuStorage,
        bias_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let weight_layout = weight_layout.transpose(0, 1)?;
        let (mut y, shape) =
            Product(self.precision).cpu_fwd(x, x_layout, weight, &weight_layout)?;
        let bias = numbers(bias, bias_layout)?;
        let CpuStorage::F32(numbers) = &mut y else {
            bail!("linear needs f32");
        };
        numbers.par_chunks_mut(ROWS * bias.len()).for_each(|rows| {
            for row in rows.chunks_exact_mut(bias.len()) {
                for (y, b) in row.iter_mut().zip(bias) {
                    *y += b;
                }
            }
        });
        Ok((y, shape))
    }

    fn bwd(
        &self,
        x: &Tensor,
        weight: &Tensor,
        _bias: &Tensor,
        _result: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let gradient = gradient.contiguous()?;
        let product = |a: &Tensor, b: &Tensor| a.apply_op2_no_bwd(b, &Product(self.precision));
        let of_weight = || product(&gradient.t()?, &x.detach());
        let of_weight = match (weight.is_variable(), weight.track_op()) {
            (true, _) => {
                self.gradients.keep(weight, of_weight()?);
                None
            }
            (false, true) => Some(of_weight()?),
            // It is frozen.
            (false, false) => None,
        };
        let ones = Tensor::ones((1, gradient.dim(0)?), gradient.dtype(), gradient.device())?;
        Ok((
            Some(product(&gradient, &weight.detach())?),
            of_weight,
            Some(ones.matmul(&gradient)?.squeeze(0)?),
        ))
    }
}

/// a·b: `[m, k]`, `[k, n]` → `[m, n]`; f32 in and out, whatever it multiplies.
struct Product(TrainingPrecision);

impl CustomOp2 for Product {
    fn name(&self) -> &'static str {
        "product"
    }

    fn cpu_fwd(
        &self,
        a: &CpuStorage,
        a_layout: &Layout,
        b: &CpuStorage,
        b_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        use candle_core::backend::BackendStorage;
        let ((m, k), (_, n)) = (a_layout.shape().dims2()?, b_layout.shape().dims2()?);
        #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
        if self.0 == TrainingPrecision::Bf16 {
            use super::bf16;
            let (a, b) = (
                bf16::Factor::left(a, a_layout)?,
                bf16::Factor::right(b, b_layout)?,
            );
            let product = bf16::multiply(a, b, (m, k, n));
            return Ok((CpuStorage::F32(product), (m, n).into()));
        }
        let product = a.matmul(b, (1, m, n, k), a_layout, b_layout)?;
        Ok((product, (m, n).into()))
    }
}

/// The exact GELU.
pub fn gelu(x: &Tensor) -> Result<Tensor> {
    x.contiguous()?.apply_op1(Gelu)
}

struct Gelu;

impl CustomOp1 for Gelu {
    fn name(&self) -> &'static str {
        "gelu"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let x = numbers(x, layout)?;
        let mut y = vec![0f32; x.len()];
        y.par_chunks_mut(SPAN)
            .zip(x.par_chunks(SPAN))
            .for_each(|(y, x)| {
                for (y, &x) in y.iter_mut().zip(x) {
                    *y = x * normal(x).0;
                }
            });
        Ok((CpuStorage::F32(y), layout.shape().clone()))
    }

    fn bwd(&self, x: &Tensor, _result: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        let gradient = gradient.contiguous()?;
        Ok(Some(x.detach().apply_op2_no_bwd(&gradient, &GeluGradient)?))
    }
}

struct GeluGradient;

impl CustomOp2 for GeluGradient {
    fn name(&self) -> &'static str {
        "gelu-gradient"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        layout: &Layout,
        gradient: &CpuStorage,
        gradient_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (x, gradient) = (numbers(x, layout)?, numbers(gradient, gradient_layout)?);
        let mut out = vec![0f32; x.len()];
        out.par_chunks_mut(SPAN)
            .zip(x.par_chunks(SPAN).zip(gradient.par_chunks(SPAN)))
            .for_each(|(out, (x, gradient))| {
                for (out, (&x, &g)) in out.iter_mut().zip(x.iter().zip(gradient)) {
                    let (below, density) = normal(x);
                    *out = g * (below + x * density);
                }
            });
        Ok((CpuStorage::F32(out), layout.shape().clone()))
    }
}

/// LayerNorm over the columns of `[rows, columns]`.
pub fn layer_norm(x: &Tensor, weight: &Tensor, bias: &Tensor, eps: f32) -> Result<Tensor> {
    x.contiguous()?.apply_op3(weight, bias, LayerNorm { eps })
}

struct LayerNorm {
    eps: f32,
}

/// Mean and 1/√(variance + ε) of a row.
fn moments(row: &[f32], eps: f32) -> (f32, f32) {
    let n = row.len() as f32;
    let mean = sum(row, row, |x, _| x) / n;
    let variance = sum(row, row, |x, _| (x - mean) * (x - mean)) / n;
    (mean, 1.0 / (variance + eps).sqrt())
}

impl CustomOp3 for LayerNorm {
    fn name(&self) -> &'static str {
        "layer-norm"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        layout: &Layout,
        weight: &CpuStorage,
        weight_layout: &Layout,
        bias: &CpuStorage,
        bias_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let x = numbers(x, layout)?;
        let (weight, bias) = (numbers(weight, weight_layout)?, numbers(bias, bias_layout)?);
        let columns = weight.len();
        let mut y = vec![0f32; x.len()];
        y.par_chunks_mut(ROWS * columns)
            .zip(x.par_chunks(ROWS * columns))
            .for_each(|(y, x)| {
                for (y, x) in y.chunks_exact_mut(columns).zip(x.chunks_exact(columns)) {
                    let (mean, scale) = moments(x, self.eps);
                    for ((y, &x), (&w, &b)) in y.iter_mut().zip(x).zip(weight.iter().zip(bias)) {
                        *y = (x - mean) * scale * w + b;
                    }
                }
            });
        Ok((CpuStorage::F32(y), layout.shape().clone()))
    }

    fn bwd(
        &self,
        x: &Tensor,
        weight: &Tensor,
        _bias: &Tensor,
        _result: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let rows = x.dim(0)?;
        let all = x.detach().apply_op3_no_bwd(
            &weight.detach(),
            &gradient.contiguous()?,
            &LayerNormGradient { eps: self.eps },
        )?;
        Ok((
            Some(all.narrow(0, 0, rows)?),
            Some(all.get(rows)?),
            Some(all.get(rows + 1)?),
        ))
    }
}

/// All gradients of LayerNorm in one matrix: x's rows, then the weight's, then the bias's.
struct LayerNormGradient {
    eps: f32,
}

impl CustomOp3 for LayerNormGradient {
    fn name(&self) -> &'static str {
        "layer-norm-gradient"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        layout: &Layout,
        weight: &CpuStorage,
        weight_layout: &Layout,
        gradient: &CpuStorage,
        gradient_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (rows, columns) = layout.shape().dims2()?;
        let (x, gradient) = (numbers(x, layout)?, numbers(gradient, gradient_layout)?);
        let weight = numbers(weight, weight_layout)?;
        let n = columns as f32;
        let mut all = vec![0f32; (rows + 2) * columns];
        let (of_x, of_parameters) = all.split_at_mut(rows * columns);
        let sums: Vec<Vec<f32>> = of_x
            .par_chunks_mut(ROWS * columns)
            .zip(x.par_chunks(ROWS * columns))
            .zip(gradient.par_chunks(ROWS * columns))
            .map(|((out, x), gradient)| {
                let mut sums = vec![0f32; 2 * columns];
                let (of_weight, of_bias) = sums.split_at_mut(columns);
                let mut normed = vec![0f32; columns];
                for ((out, x), g) in out
                    .chunks_exact_mut(columns)
                    .zip(x.chunks_exact(columns))
                    .zip(gradient.chunks_exact(columns))
                {
                    let (mean, scale) = moments(x, self.eps);
                    for i in 0..columns {
                        normed[i] = (x[i] - mean) * scale;
                        of_weight[i] += g[i] * normed[i];
                        of_bias[i] += g[i];
                        out[i] = g[i] * weight[i];
                    }
                    let mean = sum(out, out, |o, _| o) / n;
                    let slope = sum(out, &normed, |o, x| o * x) / n;
                    for (o, x) in out.iter_mut().zip(&normed) {
                        *o = scale * (*o - mean - x * slope);
                    }
                }
                sums
            })
            .collect();
        for sums in sums {
            for (total, s) in of_parameters.iter_mut().zip(sums) {
                *total += s;
            }
        }
        Ok((CpuStorage::F32(all), (rows + 2, columns).into()))
    }
}

/// Dropout(x), plus `residual` where there is one. The mask follows from `seed`.
pub fn dropout(x: &Tensor, residual: Option<&Tensor>, p: f32, seed: u64) -> Result<Tensor> {
    let dropped = Dropout { p, seed };
    let x = x.contiguous()?;
    match residual {
        None => x.apply_op1(dropped),
        Some(residual) => x.apply_op2(&residual.contiguous()?, dropped),
    }
}

#[derive(Clone, Copy)]
struct Dropout {
    p: f32,
    seed: u64,
}

impl Dropout {
    /// out += mask · x / (1 − p)
    fn add(self, x: &[f32], out: &mut [f32]) {
        let limit = (self.p * 65_536.0) as u64;
        let keep = 1.0 / (1.0 - self.p);
        out.par_chunks_mut(SPAN)
            .zip(x.par_chunks(SPAN))
            .enumerate()
            .for_each(|(span, (out, x))| {
                // Four decisions of 16 bits come from each number of a splitmix64 stream.
                let factors = |i: usize| {
                    let bits = mix(self.seed, (span * SPAN / 4 + i) as u64);
                    [0, 16, 32, 48].map(|at| match bits >> at & 0xffff < limit {
                        true => 0.0,
                        false => keep,
                    })
                };
                let (out, out_rest) = out.as_chunks_mut::<4>();
                let (x, x_rest) = x.as_chunks::<4>();
                let fours = x.len();
                for (i, (out, x)) in out.iter_mut().zip(x).enumerate() {
                    let factors = factors(i);
                    for j in 0..4 {
                        out[j] += factors[j] * x[j];
                    }
                }
                let rest = out_rest.iter_mut().zip(x_rest);
                for ((out, x), factor) in rest.zip(factors(fours)) {
                    *out += factor * x;
                }
            });
    }
}

impl CustomOp1 for Dropout {
    fn name(&self) -> &'static str {
        "dropout"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let x = numbers(x, layout)?;
        let mut out = vec![0f32; x.len()];
        self.add(x, &mut out);
        Ok((CpuStorage::F32(out), layout.shape().clone()))
    }

    fn bwd(&self, _x: &Tensor, _result: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        Ok(Some(gradient.contiguous()?.apply_op1_no_bwd(self)?))
    }
}

impl CustomOp2 for Dropout {
    fn name(&self) -> &'static str {
        "dropout-add"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        layout: &Layout,
        residual: &CpuStorage,
        residual_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let mut out = numbers(residual, residual_layout)?.to_vec();
        self.add(numbers(x, layout)?, &mut out);
        Ok((CpuStorage::F32(out), layout.shape().clone()))
    }

    fn bwd(
        &self,
        _x: &Tensor,
        _residual: &Tensor,
        _result: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let gradient = gradient.contiguous()?;
        Ok((Some(gradient.apply_op1_no_bwd(self)?), Some(gradient)))
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Var};

    use super::{
        super::composed::{random, same, same_with},
        *,
    };

    #[test]
    fn linear_layers() {
        let (x, w, b) = (random(70, 24, 1), random(10, 24, 2), random(1, 10, 3));
        let bias = b.squeeze(0).unwrap();
        let composed = |times: f64| {
            let y = x.matmul(&w.t()?)?.broadcast_add(&bias)?;
            y * times
        };
        let kept = WeightGradients::default();
        same_with(
            &kept,
            &[&x, &w, &b],
            linear(&x, &w, &bias, TrainingPrecision::F32, &kept),
            composed(1.0),
        );
        // A weight that is used twice, and one that is no variable.
        let twice = linear(&x, &w, &bias, TrainingPrecision::F32, &kept)
            .and_then(|y| y + linear(&x, &w, &bias, TrainingPrecision::F32, &kept)?);
        same_with(&kept, &[&x, &w, &b], twice, composed(2.0));
        let doubled = (w.as_tensor() * 2.0).unwrap();
        let fused = linear(&x, &doubled, &bias, TrainingPrecision::F32, &kept);
        let plain = x
            .matmul(&doubled.t().unwrap())
            .and_then(|y| y.broadcast_add(&bias));
        same_with(&kept, &[&x, &w, &b], fused, plain);
    }

    /// Edges that fill no tile, several panels, both layouts (the backward pass transposes).
    #[test]
    fn linear_layers_in_bf16() {
        if TrainingPrecision::fastest(&Device::Cpu) != TrainingPrecision::Bf16 {
            eprintln!("skipped: this CPU has no AMX");
            return;
        }
        for (rows, inputs, outputs) in [(1, 1, 1), (70, 24, 10), (33, 65, 31), (128, 96, 160)] {
            // Numbers that bf16 holds exactly: the products must be those of f32.
            let exact = |rows: usize, columns: usize, seed: u64| {
                let x = (random(rows, columns, seed).as_tensor() * 64.0).unwrap();
                Var::from_tensor(&(x.round().unwrap() / 64.0).unwrap()).unwrap()
            };
            let (x, w) = (exact(rows, inputs, 1), exact(outputs, inputs, 2));
            let bias = exact(1, outputs, 3);
            let b = bias.squeeze(0).unwrap();
            let ones = Tensor::ones((rows, outputs), candle_core::DType::F32, &Device::Cpu);
            let gradients = |precision| {
                let kept = WeightGradients::default();
                let y = linear(&x, &w, &b, precision, &kept).unwrap();
                let shifted = (&y * ones.as_ref().unwrap()).unwrap();
                let mut g = shifted.sum_all().unwrap().backward().unwrap();
                kept.drain_to(&mut g).unwrap();
                let of = |t: &Tensor| t.flatten_all().unwrap().to_vec1::<f32>().unwrap();
                (of(&y), of(g.get(&x).unwrap()), of(g.get(&w).unwrap()))
            };
            let (f32, bf16) = (
                gradients(TrainingPrecision::F32),
                gradients(TrainingPrecision::Bf16),
            );
            for (a, b) in [(f32.0, bf16.0), (f32.1, bf16.1), (f32.2, bf16.2)] {
                for (a, b) in a.iter().zip(&b) {
                    assert!((a - b).abs() < 1e-4, "{a} {b} in {rows}×{inputs}×{outputs}");
                }
            }
        }
    }

    #[test]
    fn gelu_and_its_tails() {
        let x = (random(70, 30, 1).as_tensor() * 4.0).unwrap();
        let x = Var::from_tensor(&x).unwrap();
        same(&[&x], gelu(&x), x.gelu_erf());
    }

    #[test]
    fn layer_norms() {
        let (x, w, b) = (random(150, 21, 1), random(1, 21, 2), random(1, 21, 3));
        let (weight, bias) = (w.squeeze(0).unwrap(), b.squeeze(0).unwrap());
        same(
            &[&x, &w, &b],
            layer_norm(&x, &weight, &bias, 1e-5),
            candle_nn::ops::layer_norm_slow(&x, &weight, &bias, 1e-5),
        );
    }

    #[test]
    fn dropout_drops_its_share_and_keeps_the_mean() {
        let x = Var::ones((300, 100), candle_core::DType::F32, &Device::Cpu).unwrap();
        let residual = random(300, 100, 4);
        let dropped = dropout(&x, None, 0.1, 7).unwrap();
        let mean = dropped.mean_all().unwrap().to_scalar::<f32>().unwrap();
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        let zeros = dropped.flatten_all().unwrap().to_vec1::<f32>().unwrap();
        let zeros = zeros.iter().filter(|&&x| x == 0.0).count() as f64 / 30_000.0;
        assert!((zeros - 0.1).abs() < 0.01, "{zeros}");
        let mask = dropped.detach();
        same(
            &[&x, &residual],
            dropout(&x, Some(&residual), 0.1, 7),
            (x.as_tensor() * &mask).and_then(|y| y + residual.as_tensor()),
        );
        let other = dropout(&x, None, 0.1, 8).unwrap();
        assert!(
            (other - &mask)
                .unwrap()
                .abs()
                .unwrap()
                .sum_all()
                .unwrap()
                .to_scalar::<f32>()
                .unwrap()
                > 0.0
        );
    }
}

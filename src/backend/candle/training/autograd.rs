//! Operations with backward passes of their own, for training on the CPU.
//!
//! Autograd through candle's small operations spends most of a step in single-threaded passes over
//! memory: broadcasts, transposed gradients, the exact GELU's erf. Each operation here is one parallel pass
//! forward and one backward, and equals the composed form (the tests compare the two). Sums run in a fixed
//! order, whatever the number of threads: the same seed gives the same weights.

use std::{
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

use candle_core::{
    CpuStorage, CustomOp1, CustomOp2, CustomOp3, Layout, Result, Shape, Tensor,
    backprop::GradStore, bail,
};
use rayon::prelude::*;

use super::parameters::Precision;

/// Rows that one task works on; sums over rows are made of sums over so many.
const ROWS: usize = 64;
/// Numbers that one task works on where rows do not matter.
pub const SPAN: usize = 1 << 14;

/// The numbers of a contiguous f32 tensor.
pub fn numbers<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    part(storage.as_slice()?, layout)
}

/// The part of memory that a contiguous tensor is.
pub fn part<'a, T>(all: &'a [T], layout: &Layout) -> Result<&'a [T]> {
    match layout
        .contiguous_offsets()
        .and_then(|(start, end)| all.get(start..end))
    {
        Some(numbers) => Ok(numbers),
        None => bail!("a fused operation needs contiguous numbers"),
    }
}

/// Gradients of weight matrices, beside autograd's store: the store adds each gradient to zeros, which for the
/// matrices of all-MiniLM-L6-v2 is a sixth of a training step.
#[derive(Clone, Default)]
pub struct WeightGradients(Arc<Mutex<Vec<(Tensor, Tensor)>>>);

impl WeightGradients {
    fn keep(&self, weight: &Tensor, gradient: Tensor) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push((weight.clone(), gradient));
    }

    /// Moves what a backward pass left here to its store.
    pub fn drain_to(&self, store: &mut GradStore) -> Result<()> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (weight, gradient) in kept.drain(..) {
            let sum = match store.remove(&weight) {
                Some(other) => (other + gradient)?,
                None => gradient,
            };
            store.insert(&weight, sum);
        }
        Ok(())
    }
}

/// x·Wᵀ + b: `[rows, in]`, `[out, in]`, `[out]` → `[rows, out]`. The gradient of a `Var` as weight goes to
/// `gradients`.
pub fn linear(
    x: &Tensor,
    weight: &Tensor,
    bias: &Tensor,
    precision: Precision,
    gradients: &WeightGradients,
) -> Result<Tensor> {
    let linear = Linear {
        precision,
        gradients: gradients.clone(),
    };
    x.contiguous()?.apply_op3(weight, bias, linear)
}

struct Linear {
    precision: Precision,
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
struct Product(Precision);

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
        if self.0 == Precision::Bf16 {
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

/// Φ(x) and φ(x) of the standard normal distribution, to 2·10⁻⁷ (Abramowitz & Stegun, 7.1.26).
#[inline]
fn normal(x: f32) -> (f32, f32) {
    let bell = exp(-0.5 * x * x);
    let t = 1.0 / (1.0 + 0.327_591_1 * std::f32::consts::FRAC_1_SQRT_2 * x.abs());
    let series = t
        * (0.254_829_6
            + t * (-0.284_496_74 + t * (1.421_413_7 + t * (-1.453_152 + t * 1.061_405_4))));
    let tail = 0.5 * series * bell;
    let below = if x < 0.0 { tail } else { 1.0 - tail };
    (below, bell * 0.398_942_3)
}

/// eˣ for x ≤ 0, to a relative 3·10⁻⁷, in steps that a compiler can do for several numbers at once.
#[inline]
fn exp(x: f32) -> f32 {
    // Adding 1.5·2²³ rounds to a whole number, which then lies in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let x = x.max(-87.0);
    let rounded = x * std::f32::consts::LOG2_E + ROUND;
    let whole = rounded - ROUND;
    let rest = (x - whole * 0.693_359_4) + whole * 2.121_944_4e-4;
    let series = 1.0
        + rest
            * (1.0
                + rest
                    * (0.5
                        + rest
                            * (0.166_666_65
                                + rest
                                    * (0.041_665_795
                                        + rest * (0.008_333_452 + rest * 0.001_398_2)))));
    let power = (rounded
        .to_bits()
        .wrapping_sub(ROUND.to_bits())
        .wrapping_add(127))
        << 23;
    series * f32::from_bits(power)
}

/// Σ f(aᵢ, bᵢ), in eight sums that can run side by side.
#[inline]
pub fn sum(a: &[f32], b: &[f32], f: impl Fn(f32, f32) -> f32) -> f32 {
    let mut lanes = [0f32; 8];
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = a8
        .remainder()
        .iter()
        .zip(b8.remainder())
        .map(|(&a, &b)| f(a, b))
        .sum();
    for (a, b) in a8.zip(b8) {
        for (lane, (&a, &b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *lane += f(a, b);
        }
    }
    lanes.iter().sum::<f32>() + rest
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

/// The `i`th number of splitmix64's stream from `seed`.
#[inline]
pub fn mix(seed: u64, i: u64) -> u64 {
    let z = seed.wrapping_add(i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
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

/// Scaled dot-product attention within each of `sequences`, which lie end to end and cover all rows:
/// `[tokens, 3 · hidden]` → `[tokens, hidden]`.
pub fn attention(qkv: &Tensor, sequences: Vec<Range<usize>>, heads: usize) -> Result<Tensor> {
    qkv.contiguous()?.apply_op1(Attention { sequences, heads })
}

#[derive(Clone)]
struct Attention {
    sequences: Vec<Range<usize>>,
    heads: usize,
}

/// One head of one sequence: query, key and value `[length, width]`, key and value also transposed, and
/// the attention weights `[length, length]`.
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
    fn fill(&mut self, rows: &[f32], hidden: usize, head: usize, width: usize) {
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
        self.weights.clear();
        self.weights.resize(length * length, 0.0);
        let scale = 1.0 / (width as f32).sqrt();
        multiply_add(
            &self.query,
            &self.transposed,
            width,
            length,
            scale,
            &mut self.weights,
        );
        for row in self.weights.chunks_exact_mut(length) {
            let max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            row.iter_mut().for_each(|w| *w = exp(*w - max));
            let total = 1.0 / sum(row, row, |w, _| w);
            row.iter_mut().for_each(|w| *w *= total);
        }
    }
}

/// `[rows, columns]` → `[columns, rows]`.
fn transpose(x: &[f32], columns: usize, out: &mut Vec<f32>) {
    let rows = x.len() / columns;
    out.clear();
    out.resize(x.len(), 0.0);
    for (i, row) in x.chunks_exact(columns).enumerate() {
        for (j, &x) in row.iter().enumerate() {
            out[j * rows + i] = x;
        }
    }
}

/// out += scale · a·b: `[m, k]`, `[k, n]`, `[m, n]`.
fn multiply_add(a: &[f32], b: &[f32], k: usize, n: usize, scale: f32, out: &mut [f32]) {
    for (a, out) in a.chunks_exact(k).zip(out.chunks_exact_mut(n)) {
        for (&a, b) in a.iter().zip(b.chunks_exact(n)) {
            let a = a * scale;
            for (out, &b) in out.iter_mut().zip(b) {
                *out += a * b;
            }
        }
    }
}

/// out += aᵀ·b: `[m, k]`, `[m, n]`, `[k, n]`.
fn transposed_multiply_add(a: &[f32], b: &[f32], k: usize, n: usize, out: &mut [f32]) {
    for (a, b) in a.chunks_exact(k).zip(b.chunks_exact(n)) {
        for (&a, out) in a.iter().zip(out.chunks_exact_mut(n)) {
            for (out, &b) in out.iter_mut().zip(b) {
                *out += a * b;
            }
        }
    }
}

impl Attention {
    /// Runs `work(sequence's rows of inputs, its rows of the output)` in parallel; the output is
    /// `[tokens, columns]`.
    fn each_sequence(
        &self,
        tokens: usize,
        columns: usize,
        work: impl Fn(Range<usize>, &mut [f32]) + Sync,
    ) -> Result<Vec<f32>> {
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
        parts
            .into_par_iter()
            .for_each(|(range, part)| work(range, part));
        Ok(out)
    }
}

impl CustomOp1 for Attention {
    fn name(&self) -> &'static str {
        "attention"
    }

    fn cpu_fwd(&self, qkv: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (tokens, columns) = layout.shape().dims2()?;
        let hidden = columns / 3;
        let width = hidden / self.heads;
        let qkv = numbers(qkv, layout)?;
        let out = self.each_sequence(tokens, hidden, |range, out| {
            let rows = &qkv[range.start * columns..range.end * columns];
            let mut head = HeadBuffers::default();
            let mut attended = Vec::new();
            for h in 0..self.heads {
                head.fill(rows, hidden, h, width);
                attended.clear();
                attended.resize(range.len() * width, 0.0);
                multiply_add(
                    &head.weights,
                    &head.value,
                    range.len(),
                    width,
                    1.0,
                    &mut attended,
                );
                for (out, row) in out
                    .chunks_exact_mut(hidden)
                    .zip(attended.chunks_exact(width))
                {
                    out[h * width..(h + 1) * width].copy_from_slice(row);
                }
            }
        })?;
        Ok((CpuStorage::F32(out), (tokens, hidden).into()))
    }

    fn bwd(&self, qkv: &Tensor, _result: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        Ok(Some(qkv.detach().apply_op2_no_bwd(
            &gradient.contiguous()?,
            &AttentionGradient(self.clone()),
        )?))
    }
}

struct AttentionGradient(Attention);

impl CustomOp2 for AttentionGradient {
    fn name(&self) -> &'static str {
        "attention-gradient"
    }

    fn cpu_fwd(
        &self,
        qkv: &CpuStorage,
        layout: &Layout,
        gradient: &CpuStorage,
        gradient_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (tokens, columns) = layout.shape().dims2()?;
        let hidden = columns / 3;
        let heads = self.0.heads;
        let width = hidden / heads;
        let scale = 1.0 / (width as f32).sqrt();
        let (qkv, gradient) = (numbers(qkv, layout)?, numbers(gradient, gradient_layout)?);
        let out = self.0.each_sequence(tokens, columns, |range, out| {
            let length = range.len();
            let rows = &qkv[range.start * columns..range.end * columns];
            let gradients = &gradient[range.start * hidden..range.end * hidden];
            let mut head = HeadBuffers::default();
            let mut of_output = Vec::new();
            let mut of_scores = vec![0f32; length * length];
            let mut of_parts = vec![0f32; 3 * length * width];
            for h in 0..heads {
                head.fill(rows, hidden, h, width);
                of_output.clear();
                for row in gradients.chunks_exact(hidden) {
                    of_output.extend_from_slice(&row[h * width..(h + 1) * width]);
                }
                // With w = softmax(s): ∂s = w ∘ (∂w − Σ w ∘ ∂w).
                transpose(&head.value, width, &mut head.transposed);
                of_scores.fill(0.0);
                multiply_add(
                    &of_output,
                    &head.transposed,
                    width,
                    length,
                    1.0,
                    &mut of_scores,
                );
                for (g, w) in of_scores
                    .chunks_exact_mut(length)
                    .zip(head.weights.chunks_exact(length))
                {
                    let mean = sum(g, w, |g, w| g * w);
                    for (g, w) in g.iter_mut().zip(w) {
                        *g = scale * w * (*g - mean);
                    }
                }
                of_parts.fill(0.0);
                let (of_query, others) = of_parts.split_at_mut(length * width);
                let (of_key, of_value) = others.split_at_mut(length * width);
                multiply_add(&of_scores, &head.key, length, width, 1.0, of_query);
                transposed_multiply_add(&of_scores, &head.query, length, width, of_key);
                transposed_multiply_add(&head.weights, &of_output, length, width, of_value);
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
        })?;
        Ok((CpuStorage::F32(out), (tokens, columns).into()))
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{D, Device, Var};

    use super::*;

    fn random(rows: usize, columns: usize, seed: u64) -> Var {
        let numbers: Vec<f32> = (0..rows * columns)
            .map(|i| (mix(seed, i as u64) >> 40) as f32 / (1 << 23) as f32 - 1.0)
            .map(|x| 2.0 * x)
            .collect();
        Var::from_vec(numbers, (rows, columns), &Device::Cpu).unwrap()
    }

    /// Values and gradients of two forms of one operation must agree.
    fn same(inputs: &[&Var], fused: Result<Tensor>, composed: Result<Tensor>) {
        same_with(&WeightGradients::default(), inputs, fused, composed);
    }

    /// The same where gradients of weights are kept apart.
    fn same_with(
        kept: &WeightGradients,
        inputs: &[&Var],
        fused: Result<Tensor>,
        composed: Result<Tensor>,
    ) {
        let (fused, composed) = (fused.unwrap(), composed.unwrap());
        let (rows, columns) = fused.dims2().unwrap();
        let weights = random(rows, columns, 99).as_detached_tensor();
        let gradients = |y: &Tensor| {
            let sum = (y * &weights).unwrap().sum_all().unwrap();
            let mut store = sum.backward().unwrap();
            kept.drain_to(&mut store).unwrap();
            store
        };
        let close = |a: &Tensor, b: &Tensor| {
            let worst = (a - b).unwrap().abs().unwrap().max_all().unwrap();
            let size = b.abs().unwrap().max_all().unwrap();
            let (worst, size) = (
                worst.to_scalar::<f32>().unwrap(),
                size.to_scalar::<f32>().unwrap(),
            );
            assert!(worst < 3e-6 * size.max(1.0), "{worst} of {size}");
        };
        close(&fused, &composed);
        let (a, b) = (gradients(&fused), gradients(&composed));
        for input in inputs {
            close(a.get(input).unwrap(), b.get(input).unwrap());
        }
    }

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
            linear(&x, &w, &bias, Precision::F32, &kept),
            composed(1.0),
        );
        // A weight that is used twice, and one that is no variable.
        let twice = linear(&x, &w, &bias, Precision::F32, &kept)
            .and_then(|y| y + linear(&x, &w, &bias, Precision::F32, &kept)?);
        same_with(&kept, &[&x, &w, &b], twice, composed(2.0));
        let doubled = (w.as_tensor() * 2.0).unwrap();
        let fused = linear(&x, &doubled, &bias, Precision::F32, &kept);
        let plain = x
            .matmul(&doubled.t().unwrap())
            .and_then(|y| y.broadcast_add(&bias));
        same_with(&kept, &[&x, &w, &b], fused, plain);
    }

    /// Edges that fill no tile, several panels, both layouts (the backward pass transposes).
    #[test]
    fn linear_layers_in_bf16() {
        if Precision::fastest(&Device::Cpu) != Precision::Bf16 {
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
            let (f32, bf16) = (gradients(Precision::F32), gradients(Precision::Bf16));
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
    fn attention_within_sequences() {
        let (heads, width) = (3, 5);
        let hidden = heads * width;
        let x = random(12, 3 * hidden, 1);
        let sequences = vec![0..4, 4..5, 5..12];
        let composed = || -> Result<Tensor> {
            let mut rows = Vec::new();
            for range in &sequences {
                let part = |i: usize| {
                    x.narrow(0, range.start, range.len())?
                        .narrow(1, i * hidden, hidden)?
                        .reshape((range.len(), heads, width))?
                        .transpose(0, 1)?
                        .contiguous()
                };
                let scores = (part(0)?.matmul(&part(1)?.t()?)? / (width as f64).sqrt())?;
                let weights = candle_nn::ops::softmax(&scores, D::Minus1)?;
                let out = weights.matmul(&part(2)?)?.transpose(0, 1)?;
                rows.push(out.reshape((range.len(), hidden))?);
            }
            Tensor::cat(&rows, 0)
        };
        same(&[&x], attention(&x, sequences.clone(), heads), composed());
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

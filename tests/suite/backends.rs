//! One suite of operation checks, run against every backend and dtype.
//!
//! The reference is candle on f32 with the dequantised weights. Tolerances, per row of a result:
//!
//! | backend | f32, f16 | q8_0, q4_0 |
//! |---|---|---|
//! | candle | relative error ≤ 1e-4 | cosine ≥ 0.999 (activations are quantised per block of 32) |
//! | WebGPU | relative error ≤ 1e-4 | relative error ≤ 1e-4 (activations stay f32) |
//! | WebGPU with products of packed bytes | relative error ≤ 1e-4 | cosine ≥ 0.9985 |
//! | SIMD, each of this processor's instruction sets | relative error ≤ 1e-4; f16 as q8_0 | cosine ≥ 0.9985 (products of bytes) |
//!
//! Without a GPU adapter the WebGPU checks say so and pass; `CASELENS_REQUIRE_GPU=1` makes them fail instead.

use crate::common::{gpu, gpus};
use caselens::{
    Error,
    backend::{
        Activation, AttentionRow, Backend, NormWeights, PoolTerm, Pooling, RelativeBiasWeights,
        candle::Candle,
        simd::{Cpu, Simd},
        webgpu::{Options, Products, WebGpu},
    },
    checkpoint::weights::{Dtype, WeightTensor},
    text::Batch,
};
use half::f16;
use pollster::block_on;

const DTYPES: [Dtype; 4] = [Dtype::F32, Dtype::F16, Dtype::Q8_0, Dtype::Q4_0];
/// Sequences of one batch, in tokens: one, fewer and more than a tile, the longest that BERT takes.
const LENGTHS: [usize; 6] = [1, 2, 31, 130, 1, 512];
const VOCABULARY: usize = 97;

/// Numbers from a linear congruential generator: the same everywhere, every time.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as u32
    }

    /// Uniform in −1..1.
    fn number(&mut self) -> f32 {
        self.bits() as f32 / (1u32 << 30) as f32 - 1.0
    }

    fn below(&mut self, end: usize) -> usize {
        self.bits() as usize % end
    }
}

/// A tensor in a file's bytes.
#[derive(Clone)]
struct Weight {
    shape: Vec<usize>,
    dtype: Dtype,
    data: Vec<u8>,
}

impl Weight {
    fn new(shape: &[usize], dtype: Dtype, values: &[f32]) -> Self {
        assert_eq!(values.len(), shape.iter().product::<usize>());
        Self {
            shape: shape.to_vec(),
            dtype,
            data: encode(dtype, values),
        }
    }

    fn random(random: &mut Random, shape: &[usize], dtype: Dtype, scale: f32) -> Self {
        let values: Vec<f32> = (0..shape.iter().product())
            .map(|_| scale * random.number())
            .collect();
        Self::new(shape, dtype, &values)
    }

    fn tensor(&self) -> WeightTensor<'_> {
        WeightTensor {
            role: None,
            name: "test".into(),
            shape: self.shape.clone(),
            dtype: self.dtype,
            data: self.data.as_slice().into(),
        }
    }

    /// The same numbers in f32.
    fn dequantised(&self) -> Self {
        Self::new(&self.shape, Dtype::F32, &self.tensor().to_f32())
    }
}

fn encode(dtype: Dtype, values: &[f32]) -> Vec<u8> {
    match dtype {
        Dtype::F32 => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        Dtype::F16 => values
            .iter()
            .flat_map(|v| f16::from_f32(*v).to_le_bytes())
            .collect(),
        Dtype::Bf16 => unreachable!("no check uses bf16"),
        Dtype::Q8_0 | Dtype::Q4_0 => {
            let top = if dtype == Dtype::Q8_0 { 127.0 } else { 7.0 };
            let mut out = Vec::new();
            for block in values.chunks_exact(32) {
                let largest = block.iter().fold(0f32, |m, v| m.max(v.abs()));
                let scale = f16::from_f32(largest / top);
                out.extend(scale.to_le_bytes());
                let q = |v: f32| (v / scale.to_f32()).round().clamp(-top, top) as i8;
                if dtype == Dtype::Q8_0 {
                    out.extend(block.iter().map(|&v| q(v) as u8));
                } else {
                    let nibble = |v: f32| (q(v) + 8) as u8;
                    out.extend((0..16).map(|i| nibble(block[i]) | nibble(block[i + 16]) << 4));
                }
            }
            out
        }
    }
}

/// A LayerNorm's numbers.
#[derive(Clone)]
struct NormSpec {
    weight: Weight,
    bias: Weight,
}

impl NormSpec {
    fn random(random: &mut Random, columns: usize) -> Self {
        Self {
            weight: Weight::random(random, &[columns], Dtype::F32, 1.0),
            bias: Weight::random(random, &[columns], Dtype::F32, 0.5),
        }
    }

    fn weights(&self) -> NormWeights<'_> {
        NormWeights {
            weight: self.weight.tensor(),
            bias: self.bias.tensor(),
            eps: 1e-12,
        }
    }
}

/// Embedding tables: the way numbers enter a backend.
#[derive(Clone)]
struct TableSpec {
    token: Weight,
    position: Weight,
    types: Weight,
    norm: NormSpec,
}

impl TableSpec {
    fn random(random: &mut Random, columns: usize, dtype: Dtype) -> Self {
        Self {
            token: Weight::random(random, &[VOCABULARY, columns], dtype, 1.0),
            position: Weight::random(random, &[512, columns], Dtype::F32, 0.3),
            types: Weight::random(random, &[2, columns], Dtype::F32, 0.3),
            norm: NormSpec::random(random, columns),
        }
    }

    fn dequantised(&self) -> Self {
        Self {
            token: self.token.dequantised(),
            ..self.clone()
        }
    }

    fn load<B: Backend>(&self, backend: &B) -> B::Embeddings {
        backend
            .load_embeddings(
                self.token.tensor(),
                self.position.tensor(),
                self.types.tensor(),
                self.norm.weights(),
            )
            .unwrap()
    }

    /// The embedded batch: `[tokens, columns]`.
    fn embed<B: Backend>(&self, backend: &B, batch: &Batch) -> B::Tensor {
        let tables = self.load(backend);
        let batch = backend.upload(batch).unwrap();
        backend.embed(&tables, &batch).unwrap()
    }
}

/// A linear layer, perhaps of several parts.
#[derive(Clone)]
struct LinearSpec(Vec<(Weight, Weight)>);

impl LinearSpec {
    fn random(
        random: &mut Random,
        inputs: usize,
        outputs: usize,
        parts: usize,
        dtype: Dtype,
    ) -> Self {
        let scale = (3.0 / inputs as f32).sqrt();
        Self(
            (0..parts)
                .map(|_| {
                    (
                        Weight::random(random, &[outputs, inputs], dtype, scale),
                        Weight::random(random, &[outputs], Dtype::F32, 0.5),
                    )
                })
                .collect(),
        )
    }

    fn dequantised(&self) -> Self {
        Self(
            self.0
                .iter()
                .map(|(w, b)| (w.dequantised(), b.clone()))
                .collect(),
        )
    }

    fn load<B: Backend>(&self, backend: &B) -> B::Linear {
        let parts = self
            .0
            .iter()
            .map(|(w, b)| (w.tensor(), b.tensor()))
            .collect();
        backend.load_linear(parts).unwrap()
    }
}

/// A relative bias, its buckets in no order.
#[derive(Clone)]
struct BiasSpec {
    table: Weight,
    buckets: Vec<u32>,
}

impl BiasSpec {
    const BUCKETS: usize = 32;

    fn random(random: &mut Random, heads: usize, longest: usize) -> Self {
        let bucket = |_| random.below(Self::BUCKETS) as u32;
        Self {
            buckets: (0..2 * longest - 1).map(bucket).collect(),
            table: Weight::random(random, &[Self::BUCKETS, heads], Dtype::F32, 2.0),
        }
    }

    fn weights(&self) -> RelativeBiasWeights<'_> {
        RelativeBiasWeights {
            table: self.table.tensor(),
            buckets: self.buckets.clone(),
        }
    }

    fn load<B: Backend>(&self, backend: &B) -> B::RelativeBias {
        backend.load_relative_bias(self.weights()).unwrap()
    }
}

fn batch(random: &mut Random, lengths: &[usize]) -> Batch {
    let mut batch = Batch::default();
    for &length in lengths {
        let ids: Vec<u32> = (0..length)
            .map(|_| random.below(VOCABULARY) as u32)
            .collect();
        let types: Vec<u32> = (0..length).map(|_| random.below(2) as u32).collect();
        batch.push(&ids, &types);
    }
    batch
}

fn read<B: Backend>(backend: &B, x: &B::Tensor) -> Vec<f32> {
    block_on(backend.read(&[x])).unwrap().remove(0)
}

/// How far a row may be from the reference.
#[derive(Debug, Clone, Copy)]
enum Tolerance {
    /// |found − expected| / |expected|
    Relative(f64),
    Cosine(f64),
}

impl Tolerance {
    #[track_caller]
    fn check(self, what: &str, found: &[f32], expected: &[f32], columns: usize) {
        assert_eq!(found.len(), expected.len(), "{what}: number of results");
        for (row, (f, e)) in found
            .chunks(columns)
            .zip(expected.chunks(columns))
            .enumerate()
        {
            let dot = |a: &[f32], b: &[f32]| -> f64 {
                a.iter()
                    .zip(b)
                    .map(|(&a, &b)| f64::from(a) * f64::from(b))
                    .sum()
            };
            let difference: Vec<f32> = f.iter().zip(e).map(|(f, e)| f - e).collect();
            let length = dot(e, e).sqrt();
            match self {
                Self::Relative(limit) => {
                    let error = dot(&difference, &difference).sqrt() / length.max(1e-6);
                    assert!(
                        error <= limit,
                        "{what}, row {row}: relative error {error:e}"
                    );
                }
                // A row of one or two numbers has no direction to speak of.
                Self::Cosine(_) if columns < 8 => {}
                Self::Cosine(limit) => {
                    let cosine = dot(f, e) / (length * dot(f, f).sqrt()).max(1e-12);
                    assert!(cosine >= limit, "{what}, row {row}: cosine {cosine}");
                }
            }
        }
    }
}

/// A backend with its tolerance for each dtype.
struct Subject<'a, B> {
    backend: &'a B,
    tolerance: fn(Dtype) -> Tolerance,
}

/// Runs `check` on every backend there is.
macro_rules! on_every_backend {
    ($check:ident) => {
        #[test]
        fn $check() {
            checks::$check(&Subject {
                backend: &Candle::cpu(),
                tolerance: |dtype| match dtype {
                    Dtype::Q8_0 | Dtype::Q4_0 => Tolerance::Cosine(0.999),
                    _ => Tolerance::Relative(1e-4),
                },
            });
            for cpu in Cpu::all() {
                checks::$check(&Subject {
                    backend: &Simd::with(cpu),
                    tolerance: |dtype| match dtype {
                        Dtype::F32 => Tolerance::Relative(1e-4),
                        _ => Tolerance::Cosine(0.9985),
                    },
                });
            }
            for gpu in gpus() {
                let tolerance: fn(Dtype) -> Tolerance = match gpu.info().products {
                    Products::Bytes => |dtype| match dtype {
                        Dtype::Q8_0 | Dtype::Q4_0 => Tolerance::Cosine(0.9985),
                        _ => Tolerance::Relative(1e-4),
                    },
                    _ => |_| Tolerance::Relative(1e-4),
                };
                let backend = &gpu;
                checks::$check(&Subject { backend, tolerance });
            }
        }
    };
}

on_every_backend!(embed_gathers_and_normalises);
on_every_backend!(linear_is_the_product);
on_every_backend!(linear_takes_any_width);
on_every_backend!(rows_from_outside_are_read_back);
on_every_backend!(gelu_is_exact);
on_every_backend!(linear_add_norm_is_the_composition);
on_every_backend!(attention_stays_within_sequences);
on_every_backend!(attention_weights_are_the_softmax);
on_every_backend!(a_relative_bias_fits_or_is_refused);
on_every_backend!(pooling_is_a_sum_of_means);
on_every_backend!(a_row_does_not_depend_on_its_batch);
on_every_backend!(an_empty_batch_is_empty);

mod checks {
    use super::*;
    use crate::common::relative_error;

    pub fn embed_gathers_and_normalises<B: Backend>(subject: &Subject<B>) {
        let random = &mut Random(1);
        for dtype in DTYPES {
            for columns in [32, 96, 384] {
                let tables = TableSpec::random(random, columns, dtype);
                let batch = batch(random, &[1, 7, 33]);
                let found = tables.embed(subject.backend, &batch);
                let expected = tables.dequantised().embed(&Candle::cpu(), &batch);
                // A lookup multiplies nothing: exact for quantised tables too.
                Tolerance::Relative(1e-4).check(
                    &format!("embed {dtype:?} {columns}"),
                    &read(subject.backend, &found),
                    &read(&Candle::cpu(), &expected),
                    columns,
                );
            }
        }
    }

    pub fn linear_is_the_product<B: Backend>(subject: &Subject<B>) {
        let random = &mut Random(2);
        for dtype in DTYPES {
            for (rows, inputs, outputs, parts, activation) in [
                (1, 32, 1, 1, Activation::None),
                (1, 384, 384, 1, Activation::Gelu),
                (7, 64, 65, 1, Activation::Relu),
                (33, 96, 130, 3, Activation::None),
                (65, 160, 63, 2, Activation::Gelu),
                (130, 384, 96, 1, Activation::None),
                (9, 96, 96, 1, Activation::Tanh),
            ] {
                let tables = TableSpec::random(random, inputs, Dtype::F32);
                let layer = LinearSpec::random(random, inputs, outputs, parts, dtype);
                let batch = batch(random, &[rows]);
                let x = tables.embed(subject.backend, &batch);
                let found = subject
                    .backend
                    .linear(&x, &layer.load(subject.backend), activation)
                    .unwrap();
                let candle = Candle::cpu();
                let x = tables.embed(&candle, &batch);
                let expected = candle
                    .linear(&x, &layer.dequantised().load(&candle), activation)
                    .unwrap();
                (subject.tolerance)(dtype).check(
                    &format!("linear {dtype:?} {rows}×{inputs}→{parts}×{outputs} {activation:?}"),
                    &read(subject.backend, &found),
                    &read(&candle, &expected),
                    parts * outputs,
                );
            }
        }
    }

    /// As they are, and behind an operation.
    pub fn rows_from_outside_are_read_back<B: Backend>(subject: &Subject<B>) {
        let backend = subject.backend;
        let numbers: Vec<f32> = (0..35).map(|i| (i * 13 % 29) as f32 - 14.0).collect();
        let x = backend.rows(7, &numbers).unwrap();
        assert_eq!(read(backend, &x), numbers);
        let found = read(backend, &backend.normalize(&x).unwrap());
        let expected: Vec<f32> = numbers
            .chunks(7)
            .flat_map(caselens::similarity::unit)
            .collect();
        Tolerance::Relative(1e-6).check("rows", &found, &expected, 7);
    }

    /// Heads may have widths that are no multiple of a vector or a block.
    pub fn linear_takes_any_width<B: Backend>(subject: &Subject<B>) {
        let random = &mut Random(3);
        for dtype in [Dtype::F32, Dtype::F16] {
            for (inputs, middle, outputs) in [(34, 50, 3), (33, 7, 1), (384, 101, 129)] {
                let tables = TableSpec::random(random, inputs, Dtype::F32);
                let first = LinearSpec::random(random, inputs, middle, 1, dtype);
                let second = LinearSpec::random(random, middle, outputs, 1, dtype);
                let batch = batch(random, &[9]);
                let found = two_layers(subject.backend, &tables, &batch, &first, &second);
                let expected = two_layers(
                    &Candle::cpu(),
                    &tables,
                    &batch,
                    &first.dequantised(),
                    &second.dequantised(),
                );
                (subject.tolerance)(dtype).check(
                    &format!("MLP {dtype:?} {inputs}→{middle}→{outputs}"),
                    &found,
                    &expected,
                    outputs,
                );
            }
        }
    }

    fn two_layers<B: Backend>(
        backend: &B,
        tables: &TableSpec,
        batch: &Batch,
        first: &LinearSpec,
        second: &LinearSpec,
    ) -> Vec<f32> {
        let x = tables.embed(backend, batch);
        let x = backend
            .linear(&x, &first.load(backend), Activation::Relu)
            .unwrap();
        let x = backend
            .linear(&x, &second.load(backend), Activation::None)
            .unwrap();
        read(backend, &x)
    }

    /// GELU over a grid of inputs, through an identity matrix, against erf in f64.
    pub fn gelu_is_exact<B: Backend>(subject: &Subject<B>) {
        const POINTS: usize = 384;
        let grid: Vec<f32> = (0..POINTS)
            .map(|i| 16.0 * i as f32 / (POINTS - 1) as f32 - 8.0)
            .collect();
        // LayerNorm with weight 0 gives its bias, whatever comes in.
        let mut tables = TableSpec::random(&mut Random(4), POINTS, Dtype::F32);
        tables.norm.weight = Weight::new(&[POINTS], Dtype::F32, &[0.0; POINTS]);
        tables.norm.bias = Weight::new(&[POINTS], Dtype::F32, &grid);
        let mut identity = vec![0.0; POINTS * POINTS];
        for i in 0..POINTS {
            identity[i * POINTS + i] = 1.0;
        }
        let layer = LinearSpec(vec![(
            Weight::new(&[POINTS, POINTS], Dtype::F32, &identity),
            Weight::new(&[POINTS], Dtype::F32, &[0.0; POINTS]),
        )]);
        let x = tables.embed(subject.backend, &batch(&mut Random(4), &[1]));
        let y = subject
            .backend
            .linear(&x, &layer.load(subject.backend), Activation::Gelu)
            .unwrap();
        for (x, found) in grid.iter().zip(read(subject.backend, &y)) {
            let x = f64::from(*x);
            let expected = 0.5
                * x
                * (1.0 + candle_core::cpu::erf::erf_f64(x * std::f64::consts::FRAC_1_SQRT_2));
            let error = (f64::from(found) - expected).abs();
            // erf to 2e-7, times |x| / 2, and the rounding of Φ and of the result.
            let limit = 1e-7 * x.abs() + 1.2e-7 * expected.abs() + 1e-9;
            assert!(error <= limit, "GELU({x}): {found}, error {error:e}");
        }
    }

    pub fn linear_add_norm_is_the_composition<B: Backend>(subject: &Subject<B>) {
        let random = &mut Random(5);
        for dtype in DTYPES {
            for (rows, inputs, outputs) in [(1, 32, 64), (33, 384, 96), (70, 128, 384)] {
                let tables = TableSpec::random(random, inputs, Dtype::F32);
                let residual = TableSpec::random(random, outputs, Dtype::F32);
                let layer = LinearSpec::random(random, inputs, outputs, 1, dtype);
                let norm = NormSpec::random(random, outputs);
                let batch = batch(random, &[rows]);
                fn run<B: Backend>(
                    backend: &B,
                    (tables, residual, layer, norm): (
                        &TableSpec,
                        &TableSpec,
                        &LinearSpec,
                        &NormSpec,
                    ),
                    batch: &Batch,
                ) -> Vec<f32> {
                    let x = tables.embed(backend, batch);
                    let residual = residual.embed(backend, batch);
                    let norm = backend.load_norm(norm.weights()).unwrap();
                    let y = backend
                        .linear_add_norm(&x, &layer.load(backend), &residual, &norm)
                        .unwrap();
                    read(backend, &y)
                }
                let found = run(subject.backend, (&tables, &residual, &layer, &norm), &batch);
                let expected = run(
                    &Candle::cpu(),
                    (&tables, &residual, &layer.dequantised(), &norm),
                    &batch,
                );
                (subject.tolerance)(dtype).check(
                    &format!("linear_add_norm {dtype:?} {rows}×{inputs}→{outputs}"),
                    &found,
                    &expected,
                    outputs,
                );
            }
        }
    }

    pub fn attention_stays_within_sequences<B: Backend>(subject: &Subject<B>) {
        let random = &mut Random(6);
        for (hidden, heads) in [
            (32, 1),
            (96, 3),
            (384, 12),
            (384, 6),
            (128, 1),
            (84, 12),
            (66, 1),
            (100, 1),
        ] {
            let tables = TableSpec::random(random, hidden, Dtype::F32);
            // Large enough that the softmax is far from flat.
            let layer = LinearSpec::random(random, hidden, hidden, 3, Dtype::F32);
            let batch = batch(random, &LENGTHS);
            fn run<B: Backend>(
                backend: &B,
                tables: &TableSpec,
                layer: &LinearSpec,
                batch: &Batch,
                heads: usize,
                bias: Option<&BiasSpec>,
            ) -> Vec<f32> {
                let x = tables.embed(backend, batch);
                let qkv = backend
                    .linear(&x, &layer.load(backend), Activation::None)
                    .unwrap();
                let batch = backend.upload(batch).unwrap();
                let bias = bias.map(|bias| bias.load(backend));
                let attended = backend.attention(&qkv, &batch, heads, bias.as_ref());
                read(backend, &attended.unwrap())
            }
            // For no longer sequences than these, and for longer ones.
            let biases = [512, 700].map(|longest| BiasSpec::random(random, heads, longest));
            let unbiased = run(&Candle::cpu(), &tables, &layer, &batch, heads, None);
            for bias in [None, Some(&biases[0]), Some(&biases[1])] {
                let longest = bias.map(|bias| bias.buckets.len());
                let expected = run(&Candle::cpu(), &tables, &layer, &batch, heads, bias);
                assert_eq!(expected == unbiased, bias.is_none());
                (subject.tolerance)(Dtype::F32).check(
                    &format!(
                        "attention {heads} heads of {}, offsets {longest:?}",
                        hidden / heads
                    ),
                    &run(subject.backend, &tables, &layer, &batch, heads, bias),
                    &expected,
                    hidden,
                );
            }
        }
    }

    /// A bias for other heads or shorter sequences, and one that is none, are errors.
    pub fn a_relative_bias_fits_or_is_refused<B: Backend>(subject: &Subject<B>) {
        let (random, backend) = (&mut Random(20), subject.backend);
        let tables = TableSpec::random(random, 96, Dtype::F32);
        let batch = batch(random, &[2, 9]);
        let row = AttentionRow {
            query: 10,
            start: 2,
            len: 9,
            head: None,
        };
        let qkv = tables.embed(backend, &batch);
        let batch = backend.upload(&batch).unwrap();
        let is_argument = |e: Option<Error>| {
            let e = e.expect("it does not fit");
            assert!(matches!(e, Error::InvalidArgument(_)), "{e}");
        };
        for (heads, longest) in [(4, 8), (5, 9), (1, 1)] {
            let bias = BiasSpec::random(random, heads, longest).load(backend);
            is_argument(backend.attention(&qkv, &batch, 4, Some(&bias)).err());
            is_argument(
                backend
                    .attention_weights(&qkv, &[row], 4, Some(&bias))
                    .err(),
            );
        }
        let bias = BiasSpec::random(random, 4, 9).load(backend);
        assert!(backend.attention(&qkv, &batch, 4, Some(&bias)).is_ok());
        let whole = BiasSpec::random(random, 4, 9);
        for buckets in [vec![], vec![0; 16], vec![BiasSpec::BUCKETS as u32; 17]] {
            let broken = BiasSpec {
                buckets,
                ..whole.clone()
            };
            is_argument(backend.load_relative_bias(broken.weights()).err());
        }
    }

    /// Weights against candle's, and of one head against the definition.
    pub fn attention_weights_are_the_softmax<B: Backend>(subject: &Subject<B>) {
        fn rows(batch: &Batch, tokens: &[usize], head: Option<u32>) -> Vec<AttentionRow> {
            let row = |&token: &usize| {
                let range = batch.ranges().find(|range| range.contains(&token)).unwrap();
                AttentionRow {
                    query: token as u32,
                    start: range.start as u32,
                    len: range.len() as u32,
                    head,
                }
            };
            tokens.iter().map(row).collect()
        }
        let random = &mut Random(10);
        for (hidden, heads) in [(32, 1), (384, 12), (84, 12), (66, 1)] {
            let tables = TableSpec::random(random, hidden, Dtype::F32);
            let layer = LinearSpec::random(random, hidden, hidden, 3, Dtype::F32);
            let batch = batch(random, &[3, 1, 130, 64]);
            // The first and last of a sequence, neighbours, the one that is alone, and one twice.
            let looking = [0, 2, 3, 70, 71, 133, 134, 70];
            let mean = rows(&batch, &looking, None);
            // The mean, and below it each head by itself.
            let each = (0..heads as u32).flat_map(|head| rows(&batch, &looking, Some(head)));
            let rows: Vec<AttentionRow> = mean.iter().copied().chain(each).collect();
            fn run<B: Backend>(
                backend: &B,
                (tables, layer): (&TableSpec, &LinearSpec),
                (batch, rows): (&Batch, &[AttentionRow]),
                heads: usize,
                bias: Option<&BiasSpec>,
            ) -> Vec<f32> {
                let x = tables.embed(backend, batch);
                let qkv = backend
                    .linear(&x, &layer.load(backend), Activation::None)
                    .unwrap();
                let bias = bias.map(|bias| bias.load(backend));
                let weights = backend.attention_weights(&qkv, rows, heads, bias.as_ref());
                read(backend, &weights.unwrap())
            }
            let bias = BiasSpec::random(random, heads, 130);
            for bias in [None, Some(&bias)] {
                let (numbers, texts) = ((&tables, &layer), (&batch, &rows[..]));
                let found = run(subject.backend, numbers, texts, heads, bias);
                for (row, found) in rows.iter().zip(found.chunks_exact(130)) {
                    let sum: f32 = found.iter().sum();
                    assert!(
                        (sum - 1.0).abs() < 1e-5,
                        "{row:?}: the weights sum to {sum}"
                    );
                    assert!(found[row.len as usize..].iter().all(|&w| w == 0.0));
                }
                let (mean, each) = found.split_at(130 * mean.len());
                let mut of_each = vec![0.0; mean.len()];
                for head in each.chunks_exact(mean.len()) {
                    let sums = of_each.iter_mut().zip(head);
                    sums.for_each(|(sum, share)| *sum += share / heads as f32);
                }
                assert!(relative_error(mean, &of_each) < 1e-6, "the heads' mean");
                (subject.tolerance)(Dtype::F32).check(
                    &format!("attention weights, {heads} heads of {}", hidden / heads),
                    &found,
                    &run(&Candle::cpu(), numbers, texts, heads, bias),
                    130,
                );
            }
            let outside = AttentionRow {
                query: 198,
                ..rows[6]
            };
            let no_head = AttentionRow {
                head: Some(heads as u32),
                ..rows[6]
            };
            let x = tables.embed(subject.backend, &batch);
            let qkv = (subject.backend)
                .linear(&x, &layer.load(subject.backend), Activation::None)
                .unwrap();
            for row in [outside, no_head] {
                let refused = (subject.backend).attention_weights(&qkv, &[row], heads, None);
                assert!(matches!(refused, Err(Error::InvalidArgument(_))));
            }
            // Of no row there are none, as where a text is read without a condition.
            let none = (subject.backend).attention_weights(&qkv, &[], heads, None);
            let none = block_on(subject.backend.read(&[&none.unwrap()])).unwrap();
            assert_eq!(none, [Vec::<f32>::new()]);
        }

        const HEADS: usize = 4;
        let columns = 32;
        let tables = TableSpec::random(random, columns, Dtype::F32);
        let qk = LinearSpec::random(random, columns, columns, 2, Dtype::F32);
        let batch = batch(random, &[9]);
        let backend = subject.backend;
        let x = tables.embed(backend, &batch);
        let numbers = read(
            backend,
            &backend
                .linear(&x, &qk.load(backend), Activation::None)
                .unwrap(),
        );
        let weights = {
            let all = LinearSpec([qk.0.clone(), vec![qk.0[0].clone()]].concat());
            let qkv = backend
                .linear(&x, &all.load(backend), Activation::None)
                .unwrap();
            let rows: Vec<_> = (0..HEADS)
                .flat_map(|head| rows(&batch, &[4], Some(head as u32)))
                .collect();
            read(
                backend,
                &backend.attention_weights(&qkv, &rows, HEADS, None).unwrap(),
            )
        };
        let size = columns / HEADS;
        let dot = |head: usize, key: usize| -> f64 {
            let row = |token: usize, part: usize| {
                &numbers[(2 * token + part) * columns + head * size..][..size]
            };
            let products = row(4, 0).iter().zip(row(key, 1));
            products.map(|(q, k)| f64::from(q * k)).sum::<f64>() / (size as f64).sqrt()
        };
        for (head, weights) in weights.chunks_exact(9).enumerate() {
            let exponentials: Vec<f64> = (0..9).map(|key| dot(head, key).exp()).collect();
            let total: f64 = exponentials.iter().sum();
            for (found, e) in weights.iter().zip(&exponentials) {
                assert!(
                    (f64::from(*found) - e / total).abs() < 1e-5,
                    "{found} for {}",
                    e / total
                );
            }
        }
    }

    pub fn pooling_is_a_sum_of_means<B: Backend>(subject: &Subject<B>) {
        let random = &mut Random(7);
        let (columns, tokens) = (96, 40);
        let tables = TableSpec::random(random, columns, Dtype::F32);
        let batch = batch(random, &[tokens]);
        let term = |row, block, start, len, weight| PoolTerm {
            row,
            block,
            start,
            len,
            weight,
        };
        let pooling = Pooling {
            rows: 4,
            blocks: 2,
            terms: vec![
                term(0, 0, 0, 40, 1.0),
                term(0, 1, 3, 1, 1.0),
                // A difference of means, the blocks out of order; row 2 stays empty.
                term(1, 1, 10, 7, 1.0),
                term(1, 0, 0, 5, 0.5),
                term(1, 1, 20, 3, -1.0),
                term(3, 0, 39, 1, 2.0),
                term(3, 0, 0, 2, -1.0),
            ],
        };
        let x = read(&Candle::cpu(), &tables.embed(&Candle::cpu(), &batch));
        let mut expected = vec![0f32; 4 * 2 * columns];
        for t in &pooling.terms {
            for c in 0..columns {
                let sum: f32 = (t.start..t.start + t.len)
                    .map(|i| x[i as usize * columns + c])
                    .sum();
                expected[(t.row * 2 + t.block) as usize * columns + c] +=
                    t.weight * sum / t.len as f32;
            }
        }
        let x = tables.embed(subject.backend, &batch);
        let pooled = subject.backend.pool(&x, &pooling).unwrap();
        let found = read(subject.backend, &pooled);
        (subject.tolerance)(Dtype::F32).check("pool", &found, &expected, columns);

        for row in expected.chunks_mut(2 * columns) {
            let length = row.iter().map(|v| v * v).sum::<f32>().sqrt();
            if length > 0.0 {
                row.iter_mut().for_each(|v| *v /= length);
            }
        }
        let unit = subject.backend.normalize(&pooled).unwrap();
        let found = read(subject.backend, &unit);
        assert!(found[4 * columns..6 * columns].iter().all(|&v| v == 0.0));
        (subject.tolerance)(Dtype::F32).check("normalize", &found, &expected, 2 * columns);
    }

    /// A transformer layer on a mixed batch, and on each of its sequences alone.
    pub fn a_row_does_not_depend_on_its_batch<B: Backend>(subject: &Subject<B>) {
        for dtype in DTYPES {
            let random = &mut Random(8);
            let layer = Layer::random(random, 96, 3, dtype);
            let mixed = batch(random, &[31, 1, 130, 2, 64]);
            let model = layer.load(subject.backend);
            let together = model.run(subject.backend, &mixed);
            for (i, range) in mixed.ranges().enumerate() {
                let mut alone = Batch::default();
                alone.push(&mixed.ids[range.clone()], &mixed.types[range]);
                let alone = model.run(subject.backend, &alone);
                (subject.tolerance)(dtype).check(
                    &format!("sequence {i} alone, {dtype:?}"),
                    &together[i * 96..(i + 1) * 96],
                    &alone,
                    96,
                );
            }
        }
    }

    pub fn an_empty_batch_is_empty<B: Backend>(subject: &Subject<B>) {
        let random = &mut Random(9);
        let tables = TableSpec::random(random, 32, Dtype::F32);
        let x = tables.embed(subject.backend, &Batch::default());
        assert!(read(subject.backend, &x).is_empty());
    }
}

/// A small encoder of one layer.
struct Layer {
    tables: TableSpec,
    qkv: LinearSpec,
    output: LinearSpec,
    up: LinearSpec,
    down: LinearSpec,
    norms: [NormSpec; 2],
    heads: usize,
}

impl Layer {
    fn random(random: &mut Random, hidden: usize, heads: usize, dtype: Dtype) -> Self {
        Self {
            tables: TableSpec::random(random, hidden, dtype),
            qkv: LinearSpec::random(random, hidden, hidden, 3, dtype),
            output: LinearSpec::random(random, hidden, hidden, 1, dtype),
            up: LinearSpec::random(random, hidden, 4 * hidden, 1, dtype),
            down: LinearSpec::random(random, 4 * hidden, hidden, 1, dtype),
            norms: [
                NormSpec::random(random, hidden),
                NormSpec::random(random, hidden),
            ],
            heads,
        }
    }

    fn load<B: Backend>(&self, backend: &B) -> LoadedLayer<B> {
        LoadedLayer {
            tables: self.tables.load(backend),
            qkv: self.qkv.load(backend),
            output: self.output.load(backend),
            up: self.up.load(backend),
            down: self.down.load(backend),
            norms: [0, 1].map(|i| backend.load_norm(self.norms[i].weights()).unwrap()),
            heads: self.heads,
        }
    }
}

struct LoadedLayer<B: Backend> {
    tables: B::Embeddings,
    qkv: B::Linear,
    output: B::Linear,
    up: B::Linear,
    down: B::Linear,
    norms: [B::Norm; 2],
    heads: usize,
}

impl<B: Backend> LoadedLayer<B> {
    /// Unit-length means, one a sequence.
    fn run(&self, backend: &B, batch: &Batch) -> Vec<f32> {
        block_on(self.try_run(backend, batch)).unwrap()
    }

    async fn try_run(&self, backend: &B, batch: &Batch) -> caselens::Result<Vec<f32>> {
        let terms = batch.ranges().enumerate().map(|(row, range)| PoolTerm {
            row: row as u32,
            block: 0,
            start: range.start as u32,
            len: range.len() as u32,
            weight: 1.0,
        });
        let pooling = Pooling {
            rows: batch.len(),
            blocks: 1,
            terms: terms.collect(),
        };
        let batch = backend.upload(batch)?;
        let x = backend.embed(&self.tables, &batch)?;
        let qkv = backend.linear(&x, &self.qkv, Activation::None)?;
        let a = backend.attention(&qkv, &batch, self.heads, None)?;
        let x = backend.linear_add_norm(&a, &self.output, &x, &self.norms[0])?;
        let h = backend.linear(&x, &self.up, Activation::Gelu)?;
        let x = backend.linear_add_norm(&h, &self.down, &x, &self.norms[1])?;
        let x = backend.normalize(&backend.pool(&x, &pooling)?)?;
        Ok(backend.read(&[&x]).await?.remove(0))
    }
}

/// Sums run in the same order whatever lies beside a row: on one GPU the results are the same bits.
#[test]
fn a_row_on_webgpu_has_the_same_bits_in_any_batch() {
    for gpu in gpus() {
        for dtype in DTYPES {
            let random = &mut Random(16);
            let model = Layer::random(random, 96, 3, dtype).load(&gpu);
            // Few rows and many take different workgroups.
            let mixed = batch(random, &[7, 90, 1, 33]);
            let together = model.run(&gpu, &mixed);
            for (i, range) in mixed.ranges().enumerate() {
                let mut alone = Batch::default();
                alone.push(&mixed.ids[range.clone()], &mixed.types[range]);
                assert_eq!(together[i * 96..(i + 1) * 96], model.run(&gpu, &alone));
            }
        }
    }
}

/// Each row is quantised by itself and sums run over columns: the same bits, whatever lies beside a row.
#[test]
fn a_row_on_simd_has_the_same_bits_in_any_batch() {
    for simd in Cpu::all().into_iter().map(Simd::with) {
        for dtype in DTYPES {
            let random = &mut Random(17);
            let model = Layer::random(random, 96, 3, dtype).load(&simd);
            let mixed = batch(random, &[7, 90, 1, 33, 200]);
            let together = model.run(&simd, &mixed);
            for (i, range) in mixed.ranges().enumerate() {
                let mut alone = Batch::default();
                alone.push(&mixed.ids[range.clone()], &mixed.types[range]);
                assert_eq!(
                    together[i * 96..(i + 1) * 96],
                    model.run(&simd, &alone),
                    "{}, {dtype:?}, sequence {i}",
                    simd.instructions()
                );
            }
        }
    }
}

/// Integer sums are exact and f32 sums have one order: instruction sets differ by roundings alone.
#[test]
fn instruction_sets_agree() {
    let random = &mut Random(18);
    for dtype in DTYPES {
        let layer = Layer::random(random, 96, 3, dtype);
        let batch = batch(random, &[5, 31, 130]);
        let all = Cpu::all().into_iter().map(|cpu| {
            let simd = Simd::with(cpu);
            (cpu.name(), layer.load(&simd).run(&simd, &batch))
        });
        let all: Vec<_> = all.collect();
        for (name, found) in &all {
            // A rounding can move an activation to the next byte.
            Tolerance::Cosine(0.99999).check(&format!("{name} {dtype:?}"), found, &all[0].1, 96);
        }
    }
}

/// Rows of no numbers, heads of none and spans outside the batch are errors, not panics.
#[test]
fn shapes_that_do_not_fit_are_errors_on_simd() {
    let simd = Simd::new();
    let random = &mut Random(19);
    let tables = TableSpec::random(random, 64, Dtype::F32);
    let one = batch(random, &[3]);
    let x = tables.embed(&simd, &one);
    let layer = LinearSpec::random(random, 32, 8, 1, Dtype::Q8_0).load(&simd);
    let is_argument = |e: Error| assert!(matches!(e, Error::InvalidArgument(_)), "{e}");
    is_argument(simd.linear(&x, &layer, Activation::None).err().unwrap());
    let uploaded = simd.upload(&one).unwrap();
    is_argument(simd.attention(&x, &uploaded, 0, None).err().unwrap());
    is_argument(simd.attention(&x, &uploaded, 7, None).err().unwrap());
    let pooling = Pooling {
        rows: 1,
        blocks: 1,
        terms: vec![PoolTerm {
            row: 0,
            block: 0,
            start: u32::MAX,
            len: u32::MAX,
            weight: 1.0,
        }],
    };
    is_argument(simd.pool(&x, &pooling).err().unwrap());
    let short = Weight {
        data: vec![0; 3],
        ..Weight::new(&[1, 32], Dtype::F32, &[0.0; 32])
    };
    let bias = Weight::new(&[1], Dtype::F32, &[0.0]);
    let e = simd.load_linear(vec![(short.tensor(), bias.tensor())]);
    assert!(matches!(e.err(), Some(Error::Tensor { .. })));
}

/// Threads that share a backend and a model on it get what each gets alone.
fn threads_share<B>(backend: &B, model: &LoadedLayer<B>)
where
    B: Backend<Linear: Send + Sync, Norm: Send + Sync, Embeddings: Send + Sync> + Sync,
{
    let batches: Vec<Batch> = (0..4)
        .map(|i| batch(&mut Random(20 + i), &[7, 20 + 9 * i as usize, 1]))
        .collect();
    let alone: Vec<_> = batches
        .iter()
        .map(|batch| model.run(backend, batch))
        .collect();
    std::thread::scope(|scope| {
        for (batch, alone) in batches.iter().zip(&alone) {
            scope.spawn(move || {
                for _ in 0..8 {
                    assert_eq!(model.run(backend, batch), *alone);
                }
            });
        }
    });
}

#[test]
fn threads_share_a_backend() {
    let layer = Layer::random(&mut Random(20), 64, 2, Dtype::Q8_0);
    let (simd, candle) = (Simd::new(), Candle::cpu());
    threads_share(&simd, &layer.load(&simd));
    threads_share(&candle, &layer.load(&candle));
    for gpu in gpus() {
        threads_share(&gpu, &layer.load(&gpu));
    }
}

#[test]
fn buffers_are_reused_from_batch_to_batch() {
    let Some(gpu) = gpu() else { return };
    let random = &mut Random(10);
    let layer = Layer::random(random, 64, 2, Dtype::Q8_0);
    let model = layer.load(&gpu);
    let reference = layer.load(&Candle::cpu());
    let batches: Vec<Batch> = [&[5, 3][..], &[40], &[1, 1, 9]]
        .iter()
        .map(|lengths| batch(random, lengths))
        .collect();
    let mut settled = 0;
    for round in 0..6 {
        for batch in &batches {
            let found = model.run(&gpu, batch);
            let expected = reference.run(&Candle::cpu(), batch);
            Tolerance::Cosine(0.999).check("batch", &found, &expected, 64);
        }
        if round == 1 {
            settled = gpu.allocated_bytes();
        }
    }
    assert_eq!(gpu.allocated_bytes(), settled);
}

#[test]
fn weights_take_the_memory_of_their_dtype() {
    let Some(gpu) = gpu() else { return };
    let random = &mut Random(12);
    let (inputs, outputs) = (384, 256);
    for (dtype, bits) in [(Dtype::F32, 32), (Dtype::F16, 16), (Dtype::Q8_0, 9)] {
        let spec = LinearSpec::random(random, inputs, outputs, 1, dtype);
        let before = gpu.allocated_bytes();
        let layer = spec.load(&gpu);
        let taken = gpu.allocated_bytes() - before;
        assert_eq!(
            taken,
            (inputs * outputs * bits / 8 + 4 * outputs) as u64,
            "{dtype:?}"
        );
        drop(layer);
    }
}

/// Inputs are written before any recorded command runs, so their buffers must not be reused while an
/// earlier batch waits.
#[test]
fn batches_recorded_together_keep_their_inputs() {
    let Some(gpu) = gpu() else { return };
    let random = &mut Random(11);
    let tables = TableSpec::random(random, 64, Dtype::F32);
    let loaded = tables.load(&gpu);
    let batches: Vec<Batch> = (0..4).map(|_| batch(random, &[20])).collect();
    let results: Vec<_> = batches
        .iter()
        .map(|batch| {
            // Dropped at once: only the recorded command still reads it.
            let batch = gpu.upload(batch).unwrap();
            gpu.embed(&loaded, &batch).unwrap()
        })
        .collect();
    for (batch, found) in batches.iter().zip(&results) {
        let expected = tables.embed(&Candle::cpu(), batch);
        Tolerance::Relative(1e-4).check(
            "embed",
            &read(&gpu, found),
            &read(&Candle::cpu(), &expected),
            64,
        );
    }
}

/// More rows than WebGPU has workgroups in one dimension, and more dispatches than one parameter buffer holds.
#[test]
fn large_batches_and_long_passes_work() {
    let Some(gpu) = gpu() else { return };
    let random = &mut Random(12);
    let tables = TableSpec::random(random, 32, Dtype::F32);
    let short = batch(random, &[1]);
    let batch = batch(random, &vec![1; 70_000]);
    let expected = read(&Candle::cpu(), &tables.embed(&Candle::cpu(), &batch));
    let found = tables.embed(&gpu, &batch);
    Tolerance::Relative(1e-4).check("embed", &read(&gpu, &found), &expected, 32);

    let mut x = tables.embed(&gpu, &short);
    for _ in 0..600 {
        x = gpu.normalize(&x).unwrap();
    }
    let length: f32 = read(&gpu, &x).iter().map(|v| v * v).sum();
    assert!((length - 1.0).abs() < 1e-5);
}

/// Kernels that were compiled before there is a model are valid, and give what those compiled on first use give.
#[test]
fn kernels_may_be_compiled_before_there_is_a_model() {
    for (prepared, other) in gpus().into_iter().zip(gpus()) {
        prepared.prepare();
        let layer = Layer::random(&mut Random(16), 64, 2, Dtype::Q8_0);
        let batch = batch(&mut Random(16), &[12, 140]);
        let found = layer.load(&prepared).run(&prepared, &batch);
        assert_eq!(found, layer.load(&other).run(&other, &batch));
    }
}

#[test]
fn a_lost_device_is_an_error_not_a_hang() {
    let Some(gpu) = gpu() else { return };
    let random = &mut Random(13);
    let layer = Layer::random(random, 64, 2, Dtype::Q8_0);
    let model = layer.load(&gpu);
    let batch = batch(random, &[12]);
    model.run(&gpu, &batch);
    // Lost with commands recorded and a tensor at hand …
    let device_batch = gpu.upload(&batch).unwrap();
    let x = gpu.embed(&model.tables, &device_batch).unwrap();
    gpu.destroy();
    let started = std::time::Instant::now();
    let e = block_on(gpu.read(&[&x])).unwrap_err();
    assert!(matches!(e, Error::GpuLost(_)), "{e}");
    assert_eq!(e.code(), "gpu-lost");
    // … and every later batch says so too.
    gpu.prepare();
    let e = block_on(model.try_run(&gpu, &batch)).unwrap_err();
    assert!(matches!(e, Error::GpuLost(_)), "{e}");
    assert!(started.elapsed().as_secs() < 30);
}

#[test]
fn what_does_not_fit_is_a_typed_error() {
    let Some(gpu) = gpu() else { return };
    let columns = 1024;
    let rows = gpu.info().max_buffer_bytes as usize / (4 * columns) + 1;
    let table = Weight {
        shape: vec![rows, columns],
        dtype: Dtype::F32,
        data: vec![0; 4 * rows * columns],
    };
    let bias = Weight::new(&[1], Dtype::F32, &[0.0]);
    let e = gpu
        .load_linear(vec![(table.tensor(), bias.tensor())])
        .err()
        .expect("it cannot fit");
    assert!(matches!(e, Error::NoGpu(_)), "{e}");
    // A head wider than the attention kernel's memory.
    let wide = TableSpec::random(&mut Random(14), 3 * 132, Dtype::F32);
    let input = batch(&mut Random(14), &[3]);
    let qkv = wide.embed(&gpu, &input);
    let input = gpu.upload(&input).unwrap();
    let e = (gpu.attention(&qkv, &input, 1, None).err()).expect("too wide");
    assert!(matches!(e, Error::InvalidArgument(_)), "{e}");
    // The device is as good as before.
    let layer = Layer::random(&mut Random(14), 64, 2, Dtype::F32);
    layer.load(&gpu).run(&gpu, &batch(&mut Random(14), &[3]));
}

/// Each kernel of a pass is timed, with the operations that the shapes say.
#[test]
fn kernels_are_timed_on_request() {
    if gpu().is_none() {
        return;
    }
    let options = Options {
        products: Some(Products::Tiles),
        profile: true,
        ..Options::default()
    };
    let gpu = match block_on(WebGpu::open(options)) {
        Ok(gpu) => gpu,
        Err(error) => {
            assert!(error.to_string().contains("timestamps"), "{error}");
            return eprintln!("skipping: {error}");
        }
    };
    let random = &mut Random(15);
    let layer = Layer::random(random, 64, 2, Dtype::F32);
    let model = layer.load(&gpu);
    let batch = batch(random, &[12, 3]);
    let expected = layer.load(&Candle::cpu()).run(&Candle::cpu(), &batch);
    for _ in 0..2 {
        let found = model.run(&gpu, &batch);
        Tolerance::Relative(1e-4).check("timed", &found, &expected, 64);
    }
    let times = gpu.times();
    let of = |name: &str| {
        let mut times = times.iter().filter(|time| time.kernel.starts_with(name));
        times
            .next()
            .unwrap_or_else(|| panic!("{name} is not in {times:?}"))
    };
    assert!(
        times
            .iter()
            .all(|time| time.seconds >= 0.0 && time.bytes > 0.0)
    );
    assert!(times.iter().map(|time| time.seconds).sum::<f64>() > 0.0);
    assert_eq!(of("Embed").dispatches, 2);
    assert_eq!(
        of("Attention").operations,
        2.0 * 4.0 * (12.0 * 12.0 + 3.0 * 3.0) * 64.0
    );
    assert_eq!(
        of("Linear(F32, Gelu)").operations,
        2.0 * 2.0 * 15.0 * 64.0 * 256.0
    );
    assert!(gpu.times().is_empty());
}

//! How long a forward pass takes, and its two heaviest parts: `cargo bench --bench forward`.
//!
//! The encoders are the fixture of the tests, which costs next to nothing, and the one that ships, where it is there.

use std::{hint::black_box, path::Path};

use caselens::{
    backend::{
        Activation, Backend, RelativeBiasWeights,
        candle::Candle,
        simd::{Cpu, Simd},
    },
    checkpoint::{
        BertCheckpoint, Checkpoint,
        weights::{Dtype, WeightTensor},
    },
    embedding::Encoder,
    text::Batch,
};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

#[path = "../tests/common/mod.rs"]
mod common;

/// Sequences of a batch, and tokens of each: two sentences with and without a condition, and a list of them.
const SHAPES: [(usize, usize); 2] = [(4, 16), (32, 32)];

/// Each encoder by its name and number format.
fn encoders() -> Vec<(String, BertCheckpoint)> {
    let tiny = common::fixture("bert-tiny");
    let formats = [Dtype::Q8_0, Dtype::Q4_0].map(|dtype| {
        let name = format!("tiny {}", dtype.name());
        (name, common::quantized(&tiny, dtype))
    });
    let mut encoders = Vec::from(formats);
    encoders.push(("tiny f32".into(), common::tiny("bert-tiny")));
    let ships =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("www/public/models/caselens-csts-q4_0.gguf");
    if ships.is_file() {
        encoders.push((
            "caselens-csts q4_0".into(),
            Checkpoint::open(&ships).and_then(Checkpoint::bert).unwrap(),
        ));
    }
    encoders
}

/// Sequences of ids that every vocabulary has.
fn batch(sequences: usize, tokens: usize) -> Batch {
    let mut batch = Batch::default();
    for _ in 0..sequences {
        let ids: Vec<u32> = (0..tokens as u32).map(|i| 5 + i * 7 % 90).collect();
        batch.push(&ids, &vec![0; tokens]);
    }
    batch
}

fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|i| (i as f32 * 0.7).sin()).collect()
}

/// A feed-forward layer: `[tokens, hidden] → [tokens, 4 · hidden]` where the encoder is a BERT of the usual kind; by every
/// instruction set that the processor has, each in the form that its weights' dtype takes.
fn linear(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("linear");
    for (name, checkpoint) in encoders() {
        let part = |part: &str| {
            let part = format!("blk.0.ffn_up.{part}");
            checkpoint.weights.get_any(&part).unwrap()
        };
        for cpu in Cpu::all() {
            let simd = Simd::with(cpu);
            let layer = simd
                .load_linear(vec![(part("weight"), part("bias"))])
                .unwrap();
            let hidden = checkpoint.config.hidden_size;
            let x = simd.rows(hidden, &numbers(128 * hidden)).unwrap();
            group.throughput(Throughput::Elements(128));
            group.bench_function(format!("{name}, {}, 128 tokens", cpu.name()), |bencher| {
                bencher.iter(|| {
                    simd.linear(black_box(&x), &layer, Activation::Gelu)
                        .unwrap()
                });
            });
        }
    }
}

fn attention(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("attention");
    let simd = Simd::new();
    let (hidden, heads) = (384, 12);
    for (sequences, tokens) in SHAPES {
        let batch = batch(sequences, tokens);
        let qkv = simd
            .rows(3 * hidden, &numbers(batch.tokens() * 3 * hidden))
            .unwrap();
        let uploaded = simd.upload(&batch).unwrap();
        let bias = RelativeBiasWeights {
            table: WeightTensor {
                name: "bias".into(),
                role: None,
                shape: vec![1, heads],
                dtype: Dtype::F32,
                data: vec![0; 4 * heads].into(),
            },
            buckets: vec![0; 1023],
        };
        let bias = simd.load_relative_bias(bias).unwrap();
        group.throughput(Throughput::Elements(batch.tokens() as u64));
        group.bench_function(
            format!("{hidden} wide, {sequences} × {tokens} tokens, with a relative bias"),
            |bencher| {
                bencher.iter(|| {
                    simd.attention(black_box(&qkv), &uploaded, heads, Some(&bias))
                        .unwrap()
                });
            },
        );
        group.bench_function(
            format!("{hidden} wide, {sequences} × {tokens} tokens"),
            |bencher| {
                bencher.iter(|| {
                    simd.attention(black_box(&qkv), &uploaded, heads, None)
                        .unwrap()
                });
            },
        );
    }
}

fn forward(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("forward");
    for (name, checkpoint) in encoders() {
        let simd = Encoder::load(Simd::new(), &checkpoint).unwrap();
        let candle = Encoder::load(Candle::cpu(), &checkpoint).unwrap();
        for (sequences, tokens) in SHAPES {
            let batch = batch(sequences, tokens);
            let shape = format!("{name}, {sequences} × {tokens} tokens");
            group.throughput(Throughput::Elements(batch.tokens() as u64));
            group.bench_function(format!("simd, {shape}"), |bencher| {
                bencher.iter(|| simd.hidden(black_box(&batch)).unwrap());
            });
            // candle computes in f32, whatever a file's format.
            group.bench_function(format!("candle f32, {shape}"), |bencher| {
                bencher.iter(|| candle.hidden(black_box(&batch)).unwrap());
            });
        }
    }
}

criterion_group!(benches, linear, attention, forward);
criterion_main!(benches);

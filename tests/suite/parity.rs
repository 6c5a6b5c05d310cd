//! Hidden states and embeddings against transformers and sentence-transformers, on each backend.
//!
//! candle f32 is held against the fixtures; every other backend and dtype against the same fixtures with
//! its own tolerance.

use crate::common;
use crate::common::{
    TINY, Tensors, gpu, gpus, minilm_folder, quantized, relative_error, tiny, worst_cosine,
};
use caselens::{
    backend::{
        Backend,
        candle::Candle,
        simd::{Cpu, Simd},
        webgpu::{Products, WebGpu},
    },
    checkpoint::{
        ArrivingCheckpoint, BertCheckpoint, Checkpoint,
        weights::{Bytes, Dtype},
    },
    embedding::{Encoder, Pool},
    text::Batch,
};
use pollster::block_on;

/// What f32 may differ by, norm-wise: sums in another order.
const F32_ERROR: f64 = 1e-4;
/// What blocks of eight bits may cost, row-wise.
const Q8_0_COSINE: f32 = 0.999;
/// The same, with activations in blocks of eight bits too.
const SIMD_COSINE: f32 = 0.9985;

/// All inputs of a tiny fixture as one packed batch, and transformers' hidden states of them.
fn inputs(name: &str) -> (Batch, Vec<f32>) {
    let file = Tensors::open(&format!("{name}/hidden.safetensors"));
    let mut batch = Batch::default();
    let mut expected = Vec::new();
    for i in 0.. {
        if file.shape(&format!("ids.{i}")).is_none() {
            break;
        }
        batch.push(
            &file.integers(&format!("ids.{i}")),
            &file.integers(&format!("types.{i}")),
        );
        expected.extend(file.floats(&format!("hidden.{i}")));
    }
    assert!(batch.len() >= 5, "{name} has {} inputs", batch.len());
    (batch, expected)
}

/// What a dtype may cost there: products of packed bytes have activations in blocks too.
fn on_webgpu(gpu: &WebGpu, least: f32) -> f32 {
    match gpu.info().products {
        Products::Bytes => least.min(SIMD_COSINE),
        _ => least,
    }
}

fn hidden<B: Backend>(encoder: &Encoder<B>, batch: &Batch) -> Vec<f32> {
    let x = encoder.hidden(batch).unwrap();
    block_on(encoder.backend.read(&[&x])).unwrap().remove(0)
}

#[test]
fn tiny_models_in_f32_agree_with_transformers() {
    let gpu = gpu();
    for name in TINY {
        let (batch, expected) = inputs(name);
        let candle = Encoder::load(Candle::cpu(), &tiny(name)).unwrap();
        let error = relative_error(&hidden(&candle, &batch), &expected);
        assert!(error <= F32_ERROR, "{name} on candle: {error:e}");
        if let Some(gpu) = &gpu {
            let encoder = Encoder::load(gpu.clone(), &tiny(name)).unwrap();
            let error = relative_error(&hidden(&encoder, &batch), &expected);
            assert!(error <= F32_ERROR, "{name} on WebGPU: {error:e}");
        }
    }
}

#[test]
fn tiny_models_in_gguf_agree_with_transformers() {
    let gpus = gpus();
    for name in TINY {
        let (batch, expected) = inputs(name);
        // Four bits cost a random model of width 64 more than a trained one.
        for (dtype, least) in [
            (Dtype::F32, 0.99999),
            (Dtype::F16, 0.9999),
            (Dtype::Q8_0, Q8_0_COSINE),
            (Dtype::Q4_0, 0.85),
        ] {
            let checkpoint = quantized(&common::fixture(name), dtype);
            assert_eq!(checkpoint.dtype(), dtype);
            for cpu in Cpu::all() {
                let encoder = Encoder::load(Simd::with(cpu), &checkpoint).unwrap();
                let cosine = worst_cosine(&hidden(&encoder, &batch), &expected, 64);
                assert!(
                    cosine >= least.min(SIMD_COSINE),
                    "{name} {} on {}: {cosine}",
                    dtype.name(),
                    cpu.name()
                );
            }
            let candle = Encoder::load(Candle::cpu(), &checkpoint).unwrap();
            let on_candle = hidden(&candle, &batch);
            let cosine = worst_cosine(&on_candle, &expected, 64);
            assert!(
                cosine >= least,
                "{name} {} on candle: {cosine}",
                dtype.name()
            );
            for gpu in &gpus {
                let encoder = Encoder::load(gpu.clone(), &checkpoint).unwrap();
                let on_gpu = hidden(&encoder, &batch);
                let cosine = worst_cosine(&on_gpu, &expected, 64);
                assert!(
                    cosine >= on_webgpu(gpu, least),
                    "{name} {} on WebGPU: {cosine}",
                    dtype.name()
                );
            }
        }
    }
}

#[test]
fn a_checkpoint_that_arrived_and_is_used_up_gives_the_same_bits() {
    let gpu = gpu();
    for name in TINY {
        let (batch, _) = inputs(name);
        for dtype in [Dtype::F32, Dtype::F16, Dtype::Q8_0, Dtype::Q4_0] {
            let file = common::gguf(&common::fixture(name), dtype);
            let lent = BertCheckpoint::from_gguf("lent", Bytes::Owned(file.clone())).unwrap();
            let arrived = || {
                let mut arriving = ArrivingCheckpoint::new("arrived", None);
                for piece in file.chunks(10_000) {
                    arriving.push(piece).unwrap();
                }
                arriving.finish().unwrap()
            };
            let simd = Encoder::load(Simd::new(), &lent).unwrap();
            let taken = Encoder::consume(Simd::new(), arrived()).unwrap();
            assert_eq!((&simd.id, &simd.dtype), (&taken.id, &taken.dtype));
            assert_eq!(hidden(&simd, &batch), hidden(&taken, &batch), "{name}");
            // A file in one piece is used up too.
            let whole = BertCheckpoint::from_gguf("whole", Bytes::Owned(file.clone())).unwrap();
            let taken = Encoder::consume(Simd::new(), whole).unwrap();
            assert_eq!(hidden(&simd, &batch), hidden(&taken, &batch), "{name}");
            if let Some(gpu) = &gpu {
                let arrived = arrived();
                // As `auto` does: copies for the GPU, the weights themselves for the CPU.
                let copied = Encoder::load(gpu.clone(), &arrived).unwrap();
                let taken = Encoder::consume(gpu.clone(), arrived).unwrap();
                let lent = hidden(&Encoder::load(gpu.clone(), &lent).unwrap(), &batch);
                assert_eq!(lent, hidden(&copied, &batch), "{name} on WebGPU");
                assert_eq!(lent, hidden(&taken, &batch), "{name} on WebGPU");
            }
        }
    }
}

#[test]
fn a_sequence_does_not_depend_on_its_batch() {
    let gpu = gpu();
    for name in TINY {
        let (batch, _) = inputs(name);
        let alone = |i: usize| {
            let range = batch.ranges().nth(i).unwrap();
            let mut one = Batch::default();
            one.push(&batch.ids[range.clone()], &batch.types[range.clone()]);
            (one, range)
        };
        let check = |hidden: &dyn Fn(&Batch) -> Vec<f32>, on: &str| {
            let all = hidden(&batch);
            for i in 0..batch.len() {
                let (one, range) = alone(i);
                let error = relative_error(&hidden(&one), &all[range.start * 64..range.end * 64]);
                assert!(error <= 1e-5, "{name} on {on}, input {i}: {error:e}");
            }
        };
        let candle = Encoder::load(Candle::cpu(), &tiny(name)).unwrap();
        check(&|batch| hidden(&candle, batch), "candle");
        let simd = Encoder::load(Simd::new(), &quantized(&common::fixture(name), Dtype::Q8_0));
        let simd = simd.unwrap();
        check(&|batch| hidden(&simd, batch), "SIMD");
        if let Some(gpu) = &gpu {
            let encoder = Encoder::load(gpu.clone(), &tiny(name)).unwrap();
            check(&|batch| hidden(&encoder, batch), "WebGPU");
        }
    }
}

/// Hidden states of all-MiniLM-L6-v2 at the kept rows: a cosine of at least `least`, or equal in f32.
fn check_minilm<B: Backend>(encoder: &Encoder<B>, least: Option<f32>, on: &str) {
    let file = Tensors::open("minilm/hidden.safetensors");
    for i in 0.. {
        if file.shape(&format!("ids.{i}")).is_none() {
            assert!(i >= 4);
            break;
        }
        let mut batch = Batch::default();
        batch.push(
            &file.integers(&format!("ids.{i}")),
            &file.integers(&format!("types.{i}")),
        );
        let all = hidden(encoder, &batch);
        let kept: Vec<f32> = file
            .integers(&format!("positions.{i}"))
            .into_iter()
            .flat_map(|row| all[row as usize * 384..(row as usize + 1) * 384].to_vec())
            .collect();
        let expected = file.floats(&format!("rows.{i}"));
        match least {
            None => {
                let error = relative_error(&kept, &expected);
                assert!(error <= F32_ERROR, "{on}, input {i}: {error:e}");
            }
            Some(least) => {
                let cosine = worst_cosine(&kept, &expected, 384);
                assert!(cosine >= least, "{on}, input {i}: {cosine}");
            }
        }
    }
}

#[test]
fn minilm_agrees_with_transformers() {
    let Some(folder) = minilm_folder() else {
        return;
    };
    let gpus = gpus();
    for (checkpoint, least, name) in [
        (
            Checkpoint::open(&folder)
                .and_then(Checkpoint::bert)
                .unwrap(),
            None,
            "f32",
        ),
        (quantized(&folder, Dtype::Q8_0), Some(Q8_0_COSINE), "q8_0"),
    ] {
        let candle = Encoder::load(Candle::cpu(), &checkpoint).unwrap();
        check_minilm(&candle, least, &format!("candle {name}"));
        for cpu in Cpu::all() {
            let encoder = Encoder::load(Simd::with(cpu), &checkpoint).unwrap();
            let least = least.map(|_| SIMD_COSINE);
            check_minilm(&encoder, least, &format!("{} {name}", cpu.name()));
        }
        for gpu in &gpus {
            let encoder = Encoder::load(gpu.clone(), &checkpoint).unwrap();
            let least = least.map(|least| on_webgpu(gpu, least));
            check_minilm(&encoder, least, &format!("WebGPU {name}"));
        }
    }
}

#[test]
fn plain_embeddings_are_sentence_transformers() {
    let Some(folder) = minilm_folder() else {
        return;
    };
    let texts = common::json("minilm/sentence.json");
    let texts: Vec<&str> = texts["texts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t.as_str().unwrap())
        .collect();
    let expected = Tensors::open("minilm/sentence.safetensors").floats("embeddings");
    for (checkpoint, least) in [
        (
            Checkpoint::open(&folder)
                .and_then(Checkpoint::bert)
                .unwrap(),
            0.99999,
        ),
        (quantized(&folder, Dtype::Q8_0), Q8_0_COSINE),
    ] {
        let encoder = Encoder::load(Candle::cpu(), &checkpoint).unwrap();
        let (texts, expected): (Vec<&str>, Vec<&[f32]>) = texts
            .iter()
            .zip(expected.chunks_exact(384))
            .filter(|(text, _)| common::is_read_as_it_is(&encoder.tokenizer, text))
            .unzip();
        let expected = expected.concat();
        let rows = block_on(encoder.embed(&texts, Pool::All, true)).unwrap();
        let cosine = worst_cosine(&rows.vectors.concat(), &expected, 384);
        assert!(cosine >= least, "{}: {cosine}", checkpoint.dtype().name());
        for cpu in Cpu::all() {
            let encoder = Encoder::load(Simd::with(cpu), &checkpoint).unwrap();
            let rows = block_on(encoder.embed(&texts, Pool::All, true)).unwrap();
            let cosine = worst_cosine(&rows.vectors.concat(), &expected, 384);
            let least = least.min(SIMD_COSINE);
            assert!(cosine >= least, "{}: {cosine}", cpu.name());
            println!("{} {}: {cosine}", cpu.name(), checkpoint.dtype().name());
        }
    }
}

#[test]
fn tokens_outside_the_model_are_an_error() {
    let encoder = Encoder::load(Candle::cpu(), &tiny("bert-tiny")).unwrap();
    let reject = |ids: &[u32], types: &[u32]| {
        let mut batch = Batch::default();
        batch.push(ids, types);
        assert_eq!(encoder.hidden(&batch).unwrap_err().code(), "tokenizer");
    };
    reject(&[u32::MAX], &[0]);
    reject(&[1], &[2]);
    reject(&[1; 10_000], &[0; 10_000]);
    assert_eq!(
        encoder.hidden(&Batch::default()).unwrap_err().code(),
        "invalid-argument"
    );
}

//! From a GGUF file back to numbers that training can go on from.
//!
//! A number in blocks stands for all that round to it. Training that begins at the middle of that range, as
//! decoding gives it, moves numbers by less than half a step and rounds back to where it began. Begun anywhere in the range
//! (subtractive dither's other half; Lipshitz, Wannamaker & Vanderkooy, 1992), a number crosses to the next step as often
//! as it has moved by: on the average the rounded weights move with the trained ones.

use std::collections::BTreeMap;

use half::f16;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use crate::{
    checkpoint::{
        BertCheckpoint,
        gguf::write::{quantize, tensor_shapes},
        weights::{Dtype, WeightTensor},
    },
    error::Result,
};

/// The weights of `file` that are not those of `base`, rounded, by GGUF name; with `all` those of `base` too, as rounding left
/// them. With a `seed` each number in blocks is drawn from those that round to it, without one it is the middle of them.
///
/// # Errors
/// A tensor is missing, or has another shape than the configuration says.
pub fn dequantize(
    file: &BertCheckpoint,
    base: &BertCheckpoint,
    all: bool,
    seed: Option<u64>,
) -> Result<BTreeMap<String, Vec<f32>>> {
    let mut rng = seed.map(StdRng::seed_from_u64);
    let mut changed = BTreeMap::new();
    for (name, shape) in tensor_shapes(&file.config) {
        let tensor = file.weights.get(&name, &shape)?;
        let published = quantize(&base.weights, &base.config, &name, &shape, tensor.dtype)?;
        let mut numbers = tensor.to_f32();
        // By number: what is rounded twice may have a block's scale, and all of its steps, with the other sign.
        let left_alone = published.dtype == tensor.dtype && published.to_f32() == numbers;
        if left_alone && !all {
            continue;
        }
        if let Some(rng) = rng.as_mut().filter(|_| !left_alone) {
            dither(&tensor, &mut numbers, rng);
        }
        changed.insert(name, numbers);
    }
    Ok(changed)
}

/// Adds up to half a step either way to each of a tensor's decoded numbers.
fn dither(tensor: &WeightTensor<'_>, numbers: &mut [f32], rng: &mut StdRng) {
    if !matches!(tensor.dtype, Dtype::Q4_0 | Dtype::Q8_0) {
        return;
    }
    let (length, bytes) = tensor.dtype.block();
    let blocks = tensor.data.chunks_exact(bytes);
    for (block, numbers) in blocks.zip(numbers.chunks_exact_mut(length)) {
        let step = f16::from_le_bytes([block[0], block[1]]).to_f32();
        for x in numbers {
            *x += step * (rng.random::<f32>() - 0.5);
        }
    }
}

//! Writing q4_0: blocks of 32 numbers as four bits each, with one scale.
//!
//! The usual way takes the scale from the block's largest number alone. Here a few scales about that one
//! are tried, each is then fitted to the numbers by least squares, and the one with the smallest squared error
//! stays: readers of the file notice nothing, and lose less. A block that was rounded before stays as it is.

use half::f16;

use crate::checkpoint::dtype::BLOCK;

/// A block's bytes: the scale in f16, and two numbers a byte.
const BYTES: usize = 2 + BLOCK / 2;

/// Blocks of `numbers`, whose count is a multiple of 32 and which f16 can hold.
pub fn quantize(numbers: &[f32]) -> Vec<u8> {
    let (blocks, _) = numbers.as_chunks::<BLOCK>();
    let packed = |block| {
        let (scale, quants) = rounded(block);
        pack(scale, &quants)
    };
    blocks.iter().flat_map(packed).collect()
}

/// A block's scale, and its numbers in steps of it.
pub(crate) fn rounded(numbers: &[f32; BLOCK]) -> (f16, [i8; BLOCK]) {
    let largest = numbers.iter().fold(0f32, |a, &x| match x.abs() > a.abs() {
        true => x,
        false => a,
    });
    let candidate = |steps: f32| {
        let quants = quants(numbers, steps / largest);
        let scale = fitted(numbers, &quants);
        (error(numbers, &quants, scale), quants, scale)
    };
    // The largest becomes −8 at the usual scale, −6.8 to −9.2 (cut to −8) at the others.
    let about = (-12..=12).map(|step| candidate(-(8.0 + 0.1 * step as f32)));
    // In a block that was rounded with others in view (GPTQ) it may be any whole number of steps.
    let before = (-7..=7).map(|steps| candidate(steps as f32));
    let candidates = about.chain(before.filter(|(error, ..)| *error == 0.0));
    let best = candidates.min_by(|a, b| a.0.total_cmp(&b.0));
    // Nothing but zeros has no scale.
    match best {
        Some((_, quants, scale)) if largest != 0.0 => (scale, quants),
        _ => (f16::ZERO, [0; BLOCK]),
    }
}

/// A block as the format has it.
pub(crate) fn pack(scale: f16, quants: &[i8; BLOCK]) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    bytes[..2].copy_from_slice(&scale.to_le_bytes());
    let (low, high) = quants.split_at(BLOCK / 2);
    for ((byte, low), high) in bytes[2..].iter_mut().zip(low).zip(high) {
        *byte = (low + 8) as u8 | ((high + 8) as u8) << 4;
    }
    bytes
}

/// The number of steps next to `x`.
#[cfg(not(target_arch = "wasm32"))]
#[cfg(feature = "cli")]
pub(crate) fn nearest(x: f32, scale: f16) -> i8 {
    match scale.to_f32() {
        0.0 => 0,
        scale => whole(x / scale),
    }
}

/// A number of steps as the format holds it.
fn whole(steps: f32) -> i8 {
    steps.round().clamp(-8.0, 7.0) as i8
}

fn quants(numbers: &[f32; BLOCK], inverse: f32) -> [i8; BLOCK] {
    numbers.map(|x| whole(x * inverse))
}

/// The scale with the smallest squared error: Σxq / Σq².
fn fitted(numbers: &[f32; BLOCK], quants: &[i8; BLOCK]) -> f16 {
    let (mut both, mut squares) = (0f32, 0f32);
    for (x, &q) in numbers.iter().zip(quants) {
        both += x * f32::from(q);
        squares += f32::from(q) * f32::from(q);
    }
    f16::from_f32(both / squares.max(1.0))
}

fn error(numbers: &[f32; BLOCK], quants: &[i8; BLOCK], scale: f16) -> f32 {
    let scale = scale.to_f32();
    let terms = numbers.iter().zip(quants);
    terms
        .map(|(x, &q)| (x - scale * f32::from(q)).powi(2))
        .sum()
}

#[cfg(test)]
mod tests {
    use candle_core::{
        Device, Tensor,
        quantized::{GgmlDType, QTensor},
    };

    use rand::{RngExt, SeedableRng, rngs::StdRng};

    use super::*;
    use crate::checkpoint::dtype::{Dtype, decode};

    fn squared_error(numbers: &[f32], bytes: &[u8]) -> f32 {
        let pairs = numbers.iter().zip(decode(Dtype::Q4_0, bytes));
        pairs.map(|(x, y)| (x - y).powi(2)).sum()
    }

    #[test]
    fn loses_less_than_the_usual_way() {
        // Weights of a trained layer are about normal: twelve uniform numbers make one.
        let mut rng = StdRng::seed_from_u64(0);
        let mut normal = || (0..12).map(|_| rng.random::<f32>()).sum::<f32>() - 6.0;
        let numbers: Vec<f32> = (0..32 * 500).map(|_| 0.05 * normal()).collect();
        let ours = squared_error(&numbers, &quantize(&numbers));
        let tensor = Tensor::from_slice(&numbers, numbers.len(), &Device::Cpu).unwrap();
        let usual = QTensor::quantize(&tensor, GgmlDType::Q4_0).unwrap();
        let usual = squared_error(&numbers, &usual.data().unwrap());
        assert!(ours < 0.9 * usual, "{ours} against {usual}");
    }

    #[test]
    fn keeps_what_four_bits_hold() {
        let exact: Vec<f32> = (0..32).map(|i| (i % 16 - 8) as f32 * 0.25).collect();
        let zeros = [0.0; 32];
        let tiny = [1e-12; 32];
        for numbers in [&exact[..], &zeros] {
            assert_eq!(squared_error(numbers, &quantize(numbers)), 0.0);
        }
        // Whatever the largest number of a block is.
        for largest in [-7i8, -5, -3, -1, 1, 2, 4, 6, 7] {
            let quants: [i8; BLOCK] = std::array::from_fn(|i| {
                if i == 9 {
                    largest
                } else {
                    (i % 2) as i8 * largest.signum()
                }
            });
            let numbers = decode(Dtype::Q4_0, &pack(f16::from_f32(0.0123), &quants));
            assert_eq!(
                squared_error(&numbers, &quantize(&numbers)),
                0.0,
                "{largest}"
            );
        }
        assert!(squared_error(&tiny, &quantize(&tiny)) <= 32.0 * 1e-24);
        let huge = [65504.0, -65504.0].repeat(16);
        assert!(squared_error(&huge, &quantize(&huge)) < 32.0 * 65504.0f32.powi(2) * 0.01);
    }
}

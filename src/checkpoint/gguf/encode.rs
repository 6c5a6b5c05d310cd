//! Numbers as a tensor's bytes, in each [`Dtype`].

use half::{bf16, f16};

use super::q4_0;
use crate::checkpoint::dtype::{BLOCK, Dtype};

/// `numbers` as `dtype` has them: rounded to the nearest that it holds. Blocks of 32 are whole, and no scale is beyond f16.
pub(super) fn encode(dtype: Dtype, numbers: &[f32]) -> Vec<u8> {
    let all = numbers.iter();
    match dtype {
        Dtype::F32 => all.flat_map(|x| x.to_le_bytes()).collect(),
        Dtype::F16 => all.flat_map(|&x| f16::from_f32(x).to_le_bytes()).collect(),
        Dtype::Bf16 => all.flat_map(|&x| bf16::from_f32(x).to_le_bytes()).collect(),
        Dtype::Q8_0 => numbers.as_chunks().0.iter().flat_map(q8_0).collect(),
        Dtype::Q4_0 => q4_0::quantize(numbers),
    }
}

/// A block as llama.cpp rounds it: the largest number becomes 127 steps.
fn q8_0(numbers: &[f32; BLOCK]) -> [u8; 2 + BLOCK] {
    let largest = numbers.iter().fold(0f32, |most, x| most.max(x.abs()));
    let scale = largest / 127.0;
    let inverse = if scale != 0.0 { 1.0 / scale } else { 0.0 };
    let mut bytes = [0; 2 + BLOCK];
    bytes[..2].copy_from_slice(&f16::from_f32(scale).to_le_bytes());
    for (byte, x) in bytes[2..].iter_mut().zip(numbers) {
        *byte = (x * inverse).round() as i8 as u8;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::dtype::decode;

    #[test]
    fn what_a_format_holds_comes_back() {
        let numbers: Vec<f32> = (0..64).map(|i| (i % 32 - 16) as f32 * 0.5).collect();
        for dtype in [Dtype::F32, Dtype::F16, Dtype::Bf16] {
            assert_eq!(decode(dtype, &encode(dtype, &numbers)), numbers);
        }
        let steps: Vec<f32> = (0..32).map(|i| (i * 8 - 127) as f32 * 0.25).collect();
        assert_eq!(decode(Dtype::Q8_0, &encode(Dtype::Q8_0, &steps)), steps);
        let zeros = [0.0; 32];
        assert_eq!(decode(Dtype::Q8_0, &encode(Dtype::Q8_0, &zeros)), zeros);
    }

    #[test]
    fn numbers_are_rounded_as_candle_rounds_them() {
        use candle_core::{
            Device, Tensor,
            quantized::{GgmlDType, QTensor},
        };
        // All magnitudes that f16 holds, to the ones that it holds with few digits.
        let numbers: Vec<f32> = (0..32 * 64)
            .map(|i| ((i * 37 % 2048) as f32).sin() * 10f32.powi(i / 256 - 6))
            .collect();
        let tensor = Tensor::from_slice(&numbers, numbers.len(), &Device::Cpu).unwrap();
        for (dtype, theirs) in [
            (Dtype::F32, GgmlDType::F32),
            (Dtype::F16, GgmlDType::F16),
            (Dtype::Bf16, GgmlDType::BF16),
            (Dtype::Q8_0, GgmlDType::Q8_0),
        ] {
            let theirs = QTensor::quantize(&tensor, theirs).unwrap();
            assert!(
                encode(dtype, &numbers) == *theirs.data().unwrap(),
                "{dtype:?}"
            );
        }
    }
}

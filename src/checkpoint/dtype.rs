//! How tensors' numbers are stored, of those formats that every backend reads, and their decoding.

use half::{bf16, f16};

/// How a tensor's numbers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    F32,
    F16,
    Bf16,
    /// Blocks of 32: an f16 scale, then 32 signed bytes; x = scale · q.
    #[serde(rename = "q8_0")]
    Q8_0,
    /// Blocks of 32: an f16 scale, then 16 bytes holding q + 8 in four bits (first half of the block in
    /// the low nibbles); x = scale · q.
    #[serde(rename = "q4_0")]
    Q4_0,
}

/// Numbers per block of the quantised formats.
pub const BLOCK: usize = 32;

impl Dtype {
    /// `(numbers, bytes)` of the smallest unit.
    pub fn block(self) -> (usize, usize) {
        match self {
            Self::F32 => (1, 4),
            Self::F16 | Self::Bf16 => (1, 2),
            Self::Q8_0 => (BLOCK, 2 + BLOCK),
            Self::Q4_0 => (BLOCK, 2 + BLOCK / 2),
        }
    }

    /// The one of this [`Dtype::name`].
    pub fn named(name: &str) -> Option<Self> {
        let all = [Self::F32, Self::F16, Self::Bf16, Self::Q8_0, Self::Q4_0];
        all.into_iter().find(|dtype| dtype.name() == name)
    }

    /// The name used in files, options and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::Q8_0 => "q8_0",
            Self::Q4_0 => "q4_0",
        }
    }
}

/// Decodes whole blocks of `dtype` to f32. A trailing partial block is ignored; readers reject it first.
pub fn decode(dtype: Dtype, data: &[u8]) -> Vec<f32> {
    let (numbers, bytes) = dtype.block();
    let mut out = vec![0f32; data.len() / bytes * numbers];
    decode_into(dtype, data, &mut out);
    out
}

/// [`decode`] into memory that is there: as many blocks as both sides hold.
pub fn decode_into(dtype: Dtype, data: &[u8], out: &mut [f32]) {
    let scale = |block: &[u8]| f16::from_le_bytes([block[0], block[1]]).to_f32();
    let (numbers, bytes) = dtype.block();
    for (block, out) in data.chunks_exact(bytes).zip(out.chunks_exact_mut(numbers)) {
        match dtype {
            Dtype::F32 => out[0] = f32::from_le_bytes([block[0], block[1], block[2], block[3]]),
            Dtype::F16 => out[0] = scale(block),
            Dtype::Bf16 => out[0] = bf16::from_le_bytes([block[0], block[1]]).to_f32(),
            Dtype::Q8_0 => {
                let d = scale(block);
                for (x, &q) in out.iter_mut().zip(&block[2..]) {
                    *x = d * f32::from(q as i8);
                }
            }
            Dtype::Q4_0 => {
                let d = scale(block);
                let (low, high) = out.split_at_mut(BLOCK / 2);
                for ((low, high), &q) in low.iter_mut().zip(high).zip(&block[2..]) {
                    *low = d * (f32::from(q & 15) - 8.0);
                    *high = d * (f32::from(q >> 4) - 8.0);
                }
            }
        }
    }
}

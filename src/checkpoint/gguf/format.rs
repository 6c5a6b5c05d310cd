//! The formats that a GGUF file's tensors may have: a [`Dtype`], which every backend reads, or blocks of llama.cpp's that
//! only decoders are read from.

use crate::checkpoint::dtype::Dtype;

/// How a tensor of a GGUF file is stored; the numbers are the format's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    F32 = 0,
    F16 = 1,
    Q4_0 = 2,
    Q4_1 = 3,
    Q5_0 = 6,
    Q5_1 = 7,
    Q8_0 = 8,
    Q8_1 = 9,
    Q2K = 10,
    Q3K = 11,
    Q4K = 12,
    Q5K = 13,
    Q6K = 14,
    Q8K = 15,
    Bf16 = 30,
}

impl Format {
    /// Every one of them.
    pub const ALL: [Self; 15] = [
        Self::F32,
        Self::F16,
        Self::Q4_0,
        Self::Q4_1,
        Self::Q5_0,
        Self::Q5_1,
        Self::Q8_0,
        Self::Q8_1,
        Self::Q2K,
        Self::Q3K,
        Self::Q4K,
        Self::Q5K,
        Self::Q6K,
        Self::Q8K,
        Self::Bf16,
    ];

    /// The format of this number in a file.
    pub fn of(number: u32) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|format| format.number() == number)
    }

    /// Its number in a file.
    pub fn number(self) -> u32 {
        self as u32
    }

    /// `(numbers, bytes)` of a block.
    pub fn block(self) -> (usize, usize) {
        match self {
            Self::F32 => (1, 4),
            Self::F16 | Self::Bf16 => (1, 2),
            Self::Q4_0 => (32, 18),
            Self::Q4_1 => (32, 20),
            Self::Q5_0 => (32, 22),
            Self::Q5_1 => (32, 24),
            Self::Q8_0 => (32, 34),
            Self::Q8_1 => (32, 36),
            Self::Q2K => (256, 84),
            Self::Q3K => (256, 110),
            Self::Q4K => (256, 144),
            Self::Q5K => (256, 176),
            Self::Q6K => (256, 210),
            Self::Q8K => (256, 292),
        }
    }

    /// The name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Q4_0 => "q4_0",
            Self::Q4_1 => "q4_1",
            Self::Q5_0 => "q5_0",
            Self::Q5_1 => "q5_1",
            Self::Q8_0 => "q8_0",
            Self::Q8_1 => "q8_1",
            Self::Q2K => "q2k",
            Self::Q3K => "q3k",
            Self::Q4K => "q4k",
            Self::Q5K => "q5k",
            Self::Q6K => "q6k",
            Self::Q8K => "q8k",
            Self::Bf16 => "bf16",
        }
    }

    /// The dtype that it is, where every backend reads it.
    pub fn dtype(self) -> Option<Dtype> {
        match self {
            Self::F32 => Some(Dtype::F32),
            Self::F16 => Some(Dtype::F16),
            Self::Bf16 => Some(Dtype::Bf16),
            Self::Q8_0 => Some(Dtype::Q8_0),
            Self::Q4_0 => Some(Dtype::Q4_0),
            _ => None,
        }
    }
}

impl From<Dtype> for Format {
    fn from(dtype: Dtype) -> Self {
        match dtype {
            Dtype::F32 => Self::F32,
            Dtype::F16 => Self::F16,
            Dtype::Bf16 => Self::Bf16,
            Dtype::Q8_0 => Self::Q8_0,
            Dtype::Q4_0 => Self::Q4_0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_has_one_number_and_a_dtype_one_format() {
        for format in Format::ALL {
            assert_eq!(Format::of(format.number()), Some(format));
            if let Some(dtype) = format.dtype() {
                assert_eq!(Format::from(dtype), format);
                assert_eq!(
                    (format.block(), format.name()),
                    (dtype.block(), dtype.name())
                );
            }
        }
    }
}

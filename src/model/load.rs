//! How a language model's tensors are copied to a device: each once, from where its file is mapped to where it is used.

use std::borrow::Cow;

use candle_core::{
    DType, Device, Tensor,
    quantized::{GgmlDType, QMatMul, QStorage, QTensor},
};

use super::{
    linear::{Linear, RmsNorm, Table, Weight},
    memory,
};
use crate::{
    checkpoint::{
        Opened,
        gguf::format::Format,
        weights::{Stored, Weights, check_tensor},
    },
    error::{Error, Result},
};

/// What a decoder's weights are kept in; those of GGUF files stay in most kinds of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Precision {
    F32,
    F16,
    Bf16,
}

impl Precision {
    /// What loses nothing of a file in the least memory.
    pub fn of(weights: &Weights) -> Self {
        match weights.format() {
            Format::Bf16 => Self::Bf16,
            Format::F16 => Self::F16,
            _ => Self::F32,
        }
    }

    /// What a file's large matrices are kept in once loaded: those of GGUF files stay in their blocks, where the device
    /// multiplies such blocks well.
    pub fn kept(self, weights: &Weights, device: &Device) -> &'static str {
        match kind(weights.format(), device) {
            Kind::Blocks(_) => weights.format().name(),
            Kind::Dense(_) | Kind::Decoded(_) => self.name(),
        }
    }

    /// The name used in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
        }
    }

    fn dtype(self) -> DType {
        match self {
            Self::F32 => DType::F32,
            Self::F16 => DType::F16,
            Self::Bf16 => DType::BF16,
        }
    }
}

/// candle's name of a format, and what becomes of it.
enum Kind {
    Dense(DType),
    Blocks(GgmlDType),
    /// Blocks that are decoded: on the CPU candle multiplies them a number at a time, which takes ten times as long as
    /// the product of what they stand for.
    Decoded(GgmlDType),
}

fn kind(format: Format, device: &Device) -> Kind {
    let blocks = match format {
        Format::F32 => return Kind::Dense(DType::F32),
        Format::F16 => return Kind::Dense(DType::F16),
        Format::Bf16 => return Kind::Dense(DType::BF16),
        Format::Q4_0 => GgmlDType::Q4_0,
        Format::Q4_1 => GgmlDType::Q4_1,
        Format::Q5_0 => GgmlDType::Q5_0,
        Format::Q5_1 => GgmlDType::Q5_1,
        Format::Q8_0 => GgmlDType::Q8_0,
        Format::Q8_1 => GgmlDType::Q8_1,
        Format::Q2K => GgmlDType::Q2K,
        Format::Q3K => GgmlDType::Q3K,
        Format::Q4K => GgmlDType::Q4K,
        Format::Q5K => GgmlDType::Q5K,
        Format::Q6K => GgmlDType::Q6K,
        Format::Q8K => GgmlDType::Q8K,
    };
    match format {
        Format::Q4_1 | Format::Q5_0 | Format::Q5_1 | Format::Q8_1 if device.is_cpu() => {
            Kind::Decoded(blocks)
        }
        _ => Kind::Blocks(blocks),
    }
}

/// Whether matrices stay in a GGUF file's blocks.
fn in_blocks(weights: &Weights, device: &Device) -> bool {
    let mut all = weights.all();
    all.any(|(_, tensor)| matches!(kind(tensor.format, device), Kind::Blocks(_)))
}

/// # Errors
/// The device has less memory free than `tensors` of the checkpoint take in `precision`.
pub(super) fn check_memory<'a, Config>(
    checkpoint: &Opened<Config>,
    tensors: impl Iterator<Item = (&'a str, Stored<'a>)>,
    device: &Device,
    precision: Precision,
) -> Result<()> {
    let bytes = |tensor: Stored<'_>| match kind(tensor.format, device) {
        Kind::Dense(_) | Kind::Decoded(_) => {
            let numbers = tensor.shape.iter().product::<usize>();
            (numbers * precision.dtype().size_in_bytes()) as u64
        }
        Kind::Blocks(_) => tensor.data.len() as u64,
    };
    let needed = tensors.map(|(_, tensor)| bytes(tensor)).sum();
    match memory::free(device) {
        Some(free) if free < needed => Err(Error::NotEnoughMemory {
            what: checkpoint.encoder.id.clone(),
            dtype: precision.kept(&checkpoint.weights, device).into(),
            needed,
            free,
        }),
        _ => Ok(()),
    }
}

/// Copies tensors to a device.
pub struct Loader<'a> {
    weights: &'a Weights,
    device: &'a Device,
    precision: DType,
    activations: DType,
}

impl<'a> Loader<'a> {
    pub(super) fn new(weights: &'a Weights, device: &'a Device, precision: Precision) -> Self {
        let precision = precision.dtype();
        Self {
            weights,
            device,
            precision,
            activations: match device.is_cuda() && !in_blocks(weights, device) {
                true => precision,
                false => DType::F32,
            },
        }
    }

    /// What activations are.
    pub fn activations(&self) -> DType {
        self.activations
    }

    /// A tensor that must be there, of this shape.
    fn stored(&self, name: &str, shape: &[usize]) -> Result<Stored<'a>> {
        let stored = self.weights.stored(name)?;
        check_tensor(name, stored.shape, shape)?;
        Ok(stored)
    }

    /// A tensor in the type of activations.
    pub fn tensor(&self, name: &str, shape: &[usize]) -> Result<Tensor> {
        let stored = self.stored(name, shape)?;
        let tensor = match kind(stored.format, self.device) {
            Kind::Dense(dtype) => self.dense(stored, dtype)?,
            Kind::Blocks(dtype) | Kind::Decoded(dtype) => self.decoded(name, stored, dtype)?,
        };
        Ok(tensor.to_dtype(self.activations)?)
    }

    fn decoded(&self, name: &str, stored: Stored<'_>, dtype: GgmlDType) -> Result<Tensor> {
        Ok(self.blocks(name, stored, dtype)?.dequantize(self.device)?)
    }

    fn dense(&self, stored: Stored<'_>, dtype: DType) -> Result<Tensor> {
        let tensor = Tensor::from_raw_buffer(stored.data, dtype, stored.shape, self.device)?;
        Ok(tensor)
    }

    fn blocks(&self, name: &str, stored: Stored<'_>, dtype: GgmlDType) -> Result<QTensor> {
        // Blocks are read where they lie.
        if !stored.data.as_ptr().cast::<u32>().is_aligned() {
            return Err(Error::Tensor {
                name: name.into(),
                reason: "begins between two words".into(),
            });
        }
        let storage = QStorage::from_data(Cow::Borrowed(stored.data), self.device, dtype)?;
        Ok(QTensor::new(storage, stored.shape)?)
    }

    /// `NAME.weight` `[rows, columns]` and, with `bias`, `NAME.bias`.
    pub fn linear(&self, name: &str, rows: usize, columns: usize, bias: bool) -> Result<Linear> {
        let weight = format!("{name}.weight");
        let stored = self.stored(&weight, &[rows, columns])?;
        let weight = match kind(stored.format, self.device) {
            Kind::Dense(dtype) => {
                Weight::Dense(self.dense(stored, dtype)?.to_dtype(self.precision)?)
            }
            Kind::Decoded(dtype) => {
                let numbers = self.decoded(&weight, stored, dtype)?;
                Weight::Dense(numbers.to_dtype(self.precision)?)
            }
            Kind::Blocks(dtype) => {
                let blocks = self.blocks(&weight, stored, dtype)?;
                Weight::Blocks(QMatMul::from_qtensor(blocks)?)
            }
        };
        let bias = bias.then(|| self.tensor(&format!("{name}.bias"), &[rows]));
        Ok(Linear {
            weight,
            bias: bias.transpose()?,
        })
    }

    pub(super) fn norm(&self, name: &str, width: usize, eps: f64) -> Result<RmsNorm> {
        Ok(RmsNorm {
            weight: self.tensor(&format!("{name}.weight"), &[width])?,
            eps,
        })
    }

    pub(super) fn table(&self, name: &str, rows: usize, columns: usize) -> Result<Table> {
        let weight = format!("{name}.weight");
        let stored = self.stored(&weight, &[rows, columns])?;
        Ok(match kind(stored.format, self.device) {
            Kind::Dense(dtype) => {
                Table::Dense(self.dense(stored, dtype)?.to_dtype(self.precision)?)
            }
            Kind::Decoded(dtype) => {
                let numbers = self.decoded(&weight, stored, dtype)?;
                Table::Dense(numbers.to_dtype(self.precision)?)
            }
            Kind::Blocks(dtype) => Table::Blocks(self.blocks(&weight, stored, dtype)?.into()),
        })
    }
}

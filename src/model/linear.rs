//! A language model's layers as they lie in memory: numbers of 16 or 32 bits, or a GGUF file's blocks.

use std::sync::Arc;

use candle_core::{
    Device, Module, Tensor,
    quantized::{QMatMul, QTensor},
};

use crate::error::{Error, Result};

/// x·Wᵀ + b.
pub struct Linear {
    pub(super) weight: Weight,
    pub(super) bias: Option<Tensor>,
}

pub(super) enum Weight {
    /// `[out, in]`
    Dense(Tensor),
    Blocks(QMatMul),
}

impl Linear {
    /// `[rows, in] → [rows, out]`, in the type of `x`.
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let y = match &self.weight {
            // On the CPU 16 bits are how weights are kept: widened here, they last for this product.
            Weight::Dense(weight) => x.matmul(&weight.to_dtype(x.dtype())?.t()?)?,
            Weight::Blocks(weight) => weight.forward(x)?,
        };
        match &self.bias {
            Some(bias) => Ok(y.broadcast_add(bias)?),
            None => Ok(y),
        }
    }
}

/// x / √(mean(x²) + ε) · w (Zhang and Sennrich, 2019).
pub struct RmsNorm {
    pub(super) weight: Tensor,
    pub(super) eps: f64,
}

impl RmsNorm {
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        Ok(candle_nn::ops::rms_norm(x, &self.weight, self.eps as f32)?)
    }
}

/// Embeddings of tokens, `[vocabulary, hidden]`.
pub enum Table {
    Dense(Tensor),
    /// In blocks, of which a batch decodes the rows it needs.
    Blocks(Arc<QTensor>),
}

impl Table {
    /// # Errors
    /// A token lies outside a table of so many rows.
    pub fn check(ids: &[u32], rows: usize) -> Result<()> {
        match ids.iter().find(|&&id| id as usize >= rows) {
            Some(id) => Err(Error::Tokenizer(format!(
                "token {id} is outside the model's {rows}: the tokenizer belongs to another model"
            ))),
            None => Ok(()),
        }
    }

    /// The rows of these tokens, `[ids, hidden]`.
    pub fn rows(&self, ids: &[u32], device: &Device) -> Result<Tensor> {
        let ids = Tensor::new(ids, device)?;
        match self {
            Self::Dense(table) => Ok(table.index_select(&ids, 0)?),
            Self::Blocks(table) => Ok(table.embedding(&ids)?),
        }
    }
}

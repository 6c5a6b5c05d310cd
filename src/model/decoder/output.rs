//! The layer of a language model that names the next token: a layer of its own, or the table of tokens, which many share
//! with it (tied).

use std::sync::Arc;

use candle_core::{DType, Device, Tensor, quantized::QMatMul};

use super::{
    Decoder, Precision,
    linear::{Linear, Table, Weight},
    load::{Loader, check_memory},
};
use crate::{
    checkpoint::{DecoderCheckpoint, names::OUTPUT},
    error::{Error, Result},
};

/// From states to a number for each token of the vocabulary.
pub struct Output {
    layer: Linear,
    /// What activations are.
    dtype: DType,
}

impl Output {
    /// The output layer of a decoder that is loaded already: its table's rows where they are tied, which takes no further
    /// memory, else a copy of `output.weight` in GGUF's terms.
    ///
    /// # Errors
    /// There is none, or it is of another shape; or memory does not suffice.
    pub fn load(
        decoder: &Decoder,
        checkpoint: &DecoderCheckpoint,
        device: &Device,
        precision: Precision,
    ) -> Result<Self> {
        let (config, weights) = (&checkpoint.config, &checkpoint.weights);
        let load = Loader::new(weights, device, precision);
        let layer = if config.tied {
            Linear {
                weight: match &decoder.tokens {
                    Table::Dense(table) => Weight::Dense(table.clone()),
                    Table::Blocks(table) => Weight::Blocks(QMatMul::from_arc(Arc::clone(table))?),
                },
                bias: None,
            }
        } else if weights.contains(OUTPUT) {
            let tensor = [(OUTPUT, weights.stored(OUTPUT)?)];
            check_memory(checkpoint, tensor.into_iter(), device, precision)?;
            load.linear("output", config.vocab_size, config.hidden_size, false)?
        } else {
            return Err(Error::InvalidArgument(format!(
                "{} has no output layer: it is an encoder alone, which writes no text. Name a language model.",
                checkpoint.encoder.id
            )));
        };
        Ok(Self {
            layer,
            dtype: load.activations(),
        })
    }

    /// Logits, `[rows, hidden]` to `[rows, vocabulary]`, in f32.
    pub fn forward(&self, states: &Tensor) -> Result<Tensor> {
        let logits = self.layer.forward(&states.to_dtype(self.dtype)?)?;
        Ok(logits.to_dtype(DType::F32)?)
    }
}

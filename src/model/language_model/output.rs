//! The layer of a language model that names the next token: a layer of its own, or the table of tokens, which many share
//! with it (tied).

use std::sync::Arc;

use candle_core::{DType, Device, Tensor, quantized::QMatMul};

use crate::{
    checkpoint::{Opened, names::OUTPUT},
    error::{Error, Result},
    model::{
        linear::{Linear, Table, Weight},
        load::{Loader, Precision, check_memory},
    },
};

/// From states to a number for each token of the vocabulary.
pub struct Output {
    layer: Linear,
    /// What activations are.
    dtype: DType,
}

impl Output {
    /// The output layer of a model that is loaded already, `[vocabulary, hidden]`: the rows of its table where they are `tied`,
    /// which takes no further memory, else a copy of `output.weight` in GGUF's terms.
    ///
    /// # Errors
    /// There is none, or it is of another shape; or memory does not suffice.
    pub fn load<Config>(
        checkpoint: &Opened<Config>,
        tied: Option<&Table>,
        shape: [usize; 2],
        device: &Device,
        precision: Precision,
    ) -> Result<Self> {
        let weights = &checkpoint.weights;
        let load = Loader::new(weights, device, precision);
        let layer = if let Some(table) = tied {
            Linear {
                weight: match table {
                    Table::Dense(table) => Weight::Dense(table.clone()),
                    Table::Blocks(table) => Weight::Blocks(QMatMul::from_arc(Arc::clone(table))?),
                },
                bias: None,
            }
        } else if weights.contains(OUTPUT) {
            let tensor = [(OUTPUT, weights.stored(OUTPUT)?)];
            check_memory(checkpoint, tensor.into_iter(), device, precision)?;
            let [vocabulary, hidden] = shape;
            load.linear("output", vocabulary, hidden, false)?
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

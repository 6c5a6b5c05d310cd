//! Embedding tables on candle's device.

use std::sync::Arc;

use candle_core::{Device, Tensor};

use super::{
    batch::DeviceBatch,
    operations::{Norm, dense},
};
use crate::{
    checkpoint::weights::{Dtype, WeightTensor, decode},
    error::{Error, Result},
};

/// Embedding tables with the LayerNorm that follows them.
pub struct Embeddings {
    pub(super) token: Table,
    pub(super) position: Tensor,
    pub(super) types: Tensor,
    pub(super) norm: Norm,
}

impl Embeddings {
    /// token + position + type: `[tokens, hidden]`.
    pub(super) fn sum(&self, batch: &DeviceBatch) -> Result<Tensor> {
        let token = self.token.rows(&batch.ids, batch.positions.device())?;
        Ok(((token + self.position.index_select(&batch.positions, 0)?)?
            + self.types.index_select(&batch.types, 0)?)?)
    }
}

/// The token table, which stays in its blocks: a batch touches few of its rows.
pub(super) enum Table {
    Dense(Tensor),
    Rows {
        dtype: Dtype,
        columns: usize,
        data: Arc<[u8]>,
    },
}

impl Table {
    pub fn new(w: &WeightTensor<'_>, device: &Device) -> Result<Self> {
        Ok(match w.dtype {
            Dtype::F32 => Self::Dense(dense(w, device)?),
            dtype => Self::Rows {
                dtype,
                columns: w.dims2()?.1,
                data: w.data.as_ref().into(),
            },
        })
    }

    fn rows(&self, ids: &[u32], device: &Device) -> Result<Tensor> {
        match self {
            Self::Dense(table) => Ok(table.index_select(&Tensor::new(ids, device)?, 0)?),
            Self::Rows {
                dtype,
                columns,
                data,
            } => {
                let (numbers, bytes) = dtype.block();
                let row_bytes = columns / numbers * bytes;
                let mut rows = Vec::with_capacity(ids.len() * columns);
                for &id in ids {
                    let row = data
                        .get(id as usize * row_bytes..(id as usize + 1) * row_bytes)
                        .ok_or_else(|| {
                            Error::Tokenizer(format!("token {id} is not in the model's vocabulary"))
                        })?;
                    rows.extend(decode(*dtype, row));
                }
                Ok(Tensor::from_vec(rows, (ids.len(), *columns), device)?)
            }
        }
    }
}

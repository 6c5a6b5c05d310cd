//! The reference backend: candle on the CPU and CUDA.
//!
//! Linear weights are f32 whatever the file holds, decoded as they are loaded: candle's product of blocks
//! (`QMatMul`) rounds activations to eight bits too, which costs a cosine of 0.0017 on all-MiniLM-L6-v2's
//! worst text where decoding q8_0 costs 0.0004, and takes 2.4 times as long on a CPU with AVX2.
//! The token table, of which a batch touches few rows, stays in its blocks.
//!
//! [`training`] has a backend of its own, which shares with this one what both compute alike.

use std::ops::Range;

use candle_core::{Device, Tensor};

use super::{
    Activation, AttentionRow, Backend, Gain, NormWeights, Pooling, RelativeBiasWeights, Route,
    Routing, Scores, Stretch,
};
use crate::{checkpoint::weights::WeightTensor, error::Result, text::Batch};

mod batch;
pub mod gpu;
mod operations;
mod routing;
pub mod swiglu;
mod tables;
pub mod training;

pub use batch::DeviceBatch;
pub use operations::Norm;
pub use tables::Embeddings;

use operations::{dense, layer_norm, stacked};
use tables::Table;

/// candle on one device.
#[derive(Clone)]
pub struct Candle {
    device: Device,
}

impl Candle {
    /// candle on `device`.
    pub fn new(device: Device) -> Self {
        Self { device }
    }

    /// candle on the CPU.
    pub fn cpu() -> Self {
        Self::new(Device::Cpu)
    }

    /// Where it computes.
    pub fn device(&self) -> &Device {
        &self.device
    }
}

/// A linear layer: weight `[out, in]` and bias `[out]`.
pub struct Linear {
    weight: Tensor,
    bias: Tensor,
}

impl Backend for Candle {
    type Tensor = Tensor;
    type Linear = Linear;
    type Norm = Norm;
    type Embeddings = Embeddings;
    /// `[heads, 2n − 1]`, by offset.
    type RelativeBias = Tensor;
    type Batch = DeviceBatch;

    fn load_embeddings(
        &self,
        token: WeightTensor<'_>,
        position: WeightTensor<'_>,
        types: WeightTensor<'_>,
        norm: NormWeights<'_>,
    ) -> Result<Embeddings> {
        Ok(Embeddings {
            token: Table::new(&token, &self.device)?,
            position: dense(&position, &self.device)?,
            types: dense(&types, &self.device)?,
            norm: self.load_norm(norm)?,
        })
    }

    fn load_linear(&self, parts: Vec<(WeightTensor<'_>, WeightTensor<'_>)>) -> Result<Linear> {
        let (weights, biases): (Vec<_>, Vec<_>) = parts.iter().map(|(w, b)| (w, b)).unzip();
        Ok(Linear {
            weight: stacked(&weights, &self.device)?,
            bias: stacked(&biases, &self.device)?,
        })
    }

    fn load_norm(&self, norm: NormWeights<'_>) -> Result<Norm> {
        Ok(Norm {
            weight: dense(&norm.weight, &self.device)?,
            bias: dense(&norm.bias, &self.device)?,
            eps: norm.eps,
        })
    }

    fn load_relative_bias(&self, bias: RelativeBiasWeights<'_>) -> Result<Tensor> {
        let (heads, _) = bias.dims()?;
        let shape = (heads, bias.buckets.len());
        Ok(Tensor::from_vec(bias.by_offset()?, shape, &self.device)?)
    }

    fn upload(&self, batch: &Batch) -> Result<DeviceBatch> {
        DeviceBatch::new(batch, &self.device)
    }

    fn rows(&self, columns: usize, numbers: &[f32]) -> Result<Tensor> {
        operations::rows(columns, numbers, &self.device)
    }

    fn embed(&self, tables: &Embeddings, batch: &DeviceBatch) -> Result<Tensor> {
        layer_norm(&tables.sum(batch)?, &tables.norm)
    }

    fn linear(&self, x: &Tensor, layer: &Linear, activation: Activation) -> Result<Tensor> {
        let y = x.matmul(&layer.weight.t()?)?.broadcast_add(&layer.bias)?;
        operations::activate(y, activation)
    }

    fn linear_add_norm(
        &self,
        x: &Tensor,
        layer: &Linear,
        residual: &Tensor,
        norm: &Norm,
    ) -> Result<Tensor> {
        let y = self.linear(x, layer, Activation::None)?;
        layer_norm(&(y + residual)?, norm)
    }

    fn attention(
        &self,
        qkv: &Tensor,
        batch: &DeviceBatch,
        heads: usize,
        bias: Option<&Tensor>,
    ) -> Result<Tensor> {
        operations::attention(qkv, batch, heads, bias)
    }

    fn attention_weights(
        &self,
        qkv: &Tensor,
        rows: &[AttentionRow],
        heads: usize,
        bias: Option<&Tensor>,
    ) -> Result<Tensor> {
        operations::attention_weights(qkv, rows, heads, bias)
    }

    fn pool(&self, hidden: &Tensor, pooling: &Pooling) -> Result<Tensor> {
        operations::pool(hidden, pooling)
    }

    fn normalize(&self, x: &Tensor) -> Result<Tensor> {
        operations::normalize(x)
    }

    fn routing(&self) -> Option<&dyn Routing<Tensor = Tensor>> {
        Some(self)
    }

    async fn read(&self, tensors: &[&Tensor]) -> Result<Vec<Vec<f32>>> {
        operations::read(tensors)
    }
}

impl Routing for Candle {
    type Tensor = Tensor;

    fn select(&self, x: &Tensor, rows: &[u32]) -> Result<Tensor> {
        routing::select(x, rows)
    }

    fn columns(&self, x: &Tensor, columns: Range<usize>) -> Result<Tensor> {
        routing::columns(x, columns)
    }

    fn stack(&self, x: &Tensor, y: &Tensor) -> Result<Tensor> {
        Ok(Tensor::cat(&[x, y], 0)?)
    }

    fn weights(
        &self,
        queries: &Tensor,
        keys: &Tensor,
        routes: &[Route],
        scores: Scores,
    ) -> Result<Tensor> {
        routing::weights(queries, keys, routes, scores)
    }

    fn shares(&self, attention: &Tensor, stretches: &[Stretch]) -> Result<Tensor> {
        routing::shares(attention, stretches)
    }

    fn scale(
        &self,
        attended: &Tensor,
        rows: &[u32],
        weights: &Tensor,
        gain: Gain,
    ) -> Result<Tensor> {
        routing::scale(attended, rows, weights, gain)
    }

    fn transform(&self, x: &Tensor, matrices: &Tensor, of: &[u32]) -> Result<Tensor> {
        routing::transform(x, matrices, of)
    }
}

//! A backend chosen at run time: what the library's [`Lens`](crate::Lens), the browser and the companion run on.
//!
//! Values of one backend mean nothing to another. An operation on mixed ones is an error, which no caller that keeps to
//! one backend meets.

use std::ops::Range;

#[cfg(not(target_arch = "wasm32"))]
use super::candle::{Candle, gpu::Gpu};
use super::{
    Activation, AttentionRow, Backend, Gain, NormWeights, Pooling, RelativeBiasWeights, Route,
    Routing, Scores, Stretch,
    simd::Simd,
    webgpu::{KernelTime, WebGpu},
};
use crate::{
    checkpoint::weights::WeightTensor,
    error::{Error, Result},
    text::Batch,
};

/// Where to compute, as a user says it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Device {
    /// The processor: products of bytes for an encoder in blocks (q8_0, q4_0), f32 for all others.
    #[default]
    Cpu,
    /// An NVIDIA GPU, in builds with the feature `cuda`.
    Cuda,
    /// A GPU through WebGPU's kernels: Vulkan, Metal or DirectX 12 natively.
    WebGpu,
}

/// One of the backends.
#[derive(Clone)]
pub enum AnyBackend {
    /// The processor's own instructions.
    Simd(Simd),
    /// A GPU through WebGPU.
    WebGpu(WebGpu),
    /// candle, on the CPU or CUDA.
    #[cfg(not(target_arch = "wasm32"))]
    Candle(Candle),
}

/// A type of [`Backend`] for any of them.
macro_rules! any {
    ($(#[$meta:meta])* $name:ident of $kind:ident) => {
        $(#[$meta])*
        #[allow(clippy::large_enum_variant)] // a handful of them lives at a time
        pub enum $name {
            /// Of [`AnyBackend::Simd`].
            Simd(<Simd as Backend>::$kind),
            /// Of [`AnyBackend::WebGpu`].
            WebGpu(<WebGpu as Backend>::$kind),
            /// Of [`AnyBackend::Candle`].
            #[cfg(not(target_arch = "wasm32"))]
            Candle(<Candle as Backend>::$kind),
        }
    };
}

any! {
    /// Activations. Cloning shares.
    #[derive(Clone)]
    AnyTensor of Tensor
}
any! {
    /// A linear layer.
    AnyLinear of Linear
}
any! {
    /// A LayerNorm.
    AnyNorm of Norm
}
any! {
    /// Embedding tables.
    AnyEmbeddings of Embeddings
}
any! {
    /// A bias of attention by offset. Cloning shares.
    #[derive(Clone)]
    AnyRelativeBias of RelativeBias
}
any! {
    /// A batch on the device.
    AnyBatch of Batch
}

/// `on!(self, backend, x: AnyTensor, … => AnyTensor, backend.operation(x, …))`: the operation of the backend that all the
/// values belong to.
macro_rules! on {
    ($self:ident, $backend:ident $(, $value:ident: $any:ident)* => $made:ident, $operation:expr) => {
        #[allow(unreachable_patterns)] // nothing can be mixed where there is the backend alone
        match ($self, $($value,)*) {
            (AnyBackend::Simd($backend), $($any::Simd($value),)*) => $operation.map($made::Simd),
            (AnyBackend::WebGpu($backend), $($any::WebGpu($value),)*) => $operation.map($made::WebGpu),
            #[cfg(not(target_arch = "wasm32"))]
            (AnyBackend::Candle($backend), $($any::Candle($value),)*) => $operation.map($made::Candle),
            _ => Err(foreign()),
        }
    };
}

fn foreign() -> Error {
    Error::InvalidArgument("a value of one device was given to another.".into())
}

impl AnyBackend {
    /// What multiplies: numbers of one file differ in their last digits from one to the other.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Simd(_) => "simd",
            Self::WebGpu(_) => "webgpu",
            #[cfg(not(target_arch = "wasm32"))]
            Self::Candle(_) => "candle",
        }
    }

    /// The instructions that the CPU path uses; `None` on other paths.
    pub fn instructions(&self) -> Option<&'static str> {
        match self {
            Self::Simd(simd) => Some(simd.instructions()),
            _ => None,
        }
    }

    /// The GPU adapter's name, where WebGPU computes.
    pub fn adapter(&self) -> Option<String> {
        match self {
            Self::WebGpu(gpu) => Some(gpu.info().to_string()),
            _ => None,
        }
    }

    /// What each of a GPU's kernels took since the last call, where they are timed.
    pub fn kernel_times(&self) -> Vec<KernelTime> {
        match self {
            Self::WebGpu(gpu) => gpu.times(),
            _ => Vec::new(),
        }
    }

    /// The NVIDIA GPU that candle computes on.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn nvidia(&self) -> Option<Gpu> {
        match self {
            Self::Candle(candle) => Gpu::of(candle.device()),
            _ => None,
        }
    }
}

impl From<Simd> for AnyBackend {
    fn from(simd: Simd) -> Self {
        Self::Simd(simd)
    }
}

impl From<WebGpu> for AnyBackend {
    fn from(gpu: WebGpu) -> Self {
        Self::WebGpu(gpu)
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl From<Candle> for AnyBackend {
    fn from(candle: Candle) -> Self {
        Self::Candle(candle)
    }
}

/// The tensors of one backend among those of any.
macro_rules! own {
    ($tensors:ident, $kind:ident) => {
        $tensors
            .iter()
            .map(|tensor| match tensor {
                AnyTensor::$kind(tensor) => Ok(tensor),
                _ => Err(foreign()),
            })
            .collect::<Result<Vec<_>>>()?
    };
}

impl Backend for AnyBackend {
    type Tensor = AnyTensor;
    type Linear = AnyLinear;
    type Norm = AnyNorm;
    type Embeddings = AnyEmbeddings;
    type RelativeBias = AnyRelativeBias;
    type Batch = AnyBatch;

    fn load_embeddings(
        &self,
        token: WeightTensor<'_>,
        position: WeightTensor<'_>,
        types: WeightTensor<'_>,
        norm: NormWeights<'_>,
    ) -> Result<AnyEmbeddings> {
        on!(self, backend => AnyEmbeddings, backend.load_embeddings(token, position, types, norm))
    }

    fn load_linear(&self, parts: Vec<(WeightTensor<'_>, WeightTensor<'_>)>) -> Result<AnyLinear> {
        on!(self, backend => AnyLinear, backend.load_linear(parts))
    }

    fn load_norm(&self, norm: NormWeights<'_>) -> Result<AnyNorm> {
        on!(self, backend => AnyNorm, backend.load_norm(norm))
    }

    fn load_relative_bias(&self, bias: RelativeBiasWeights<'_>) -> Result<AnyRelativeBias> {
        on!(self, backend => AnyRelativeBias, backend.load_relative_bias(bias))
    }

    fn upload(&self, batch: &Batch) -> Result<AnyBatch> {
        on!(self, backend => AnyBatch, Backend::upload(backend, batch))
    }

    fn rows(&self, columns: usize, numbers: &[f32]) -> Result<AnyTensor> {
        on!(self, backend => AnyTensor, backend.rows(columns, numbers))
    }

    fn embed(&self, tables: &AnyEmbeddings, batch: &AnyBatch) -> Result<AnyTensor> {
        on!(self, backend, tables: AnyEmbeddings, batch: AnyBatch => AnyTensor, backend.embed(tables, batch))
    }

    fn linear(
        &self,
        x: &AnyTensor,
        layer: &AnyLinear,
        activation: Activation,
    ) -> Result<AnyTensor> {
        on!(self, backend, x: AnyTensor, layer: AnyLinear => AnyTensor, backend.linear(x, layer, activation))
    }

    fn linear_add_norm(
        &self,
        x: &AnyTensor,
        layer: &AnyLinear,
        residual: &AnyTensor,
        norm: &AnyNorm,
    ) -> Result<AnyTensor> {
        on!(
            self, backend, x: AnyTensor, layer: AnyLinear, residual: AnyTensor, norm: AnyNorm => AnyTensor,
            backend.linear_add_norm(x, layer, residual, norm)
        )
    }

    fn attention(
        &self,
        qkv: &AnyTensor,
        batch: &AnyBatch,
        heads: usize,
        bias: Option<&AnyRelativeBias>,
    ) -> Result<AnyTensor> {
        match bias {
            None => {
                on!(
                    self, backend, qkv: AnyTensor, batch: AnyBatch => AnyTensor,
                    backend.attention(qkv, batch, heads, None)
                )
            }
            Some(bias) => {
                on!(
                    self, backend, qkv: AnyTensor, batch: AnyBatch, bias: AnyRelativeBias => AnyTensor,
                    backend.attention(qkv, batch, heads, Some(bias))
                )
            }
        }
    }

    fn attention_weights(
        &self,
        qkv: &AnyTensor,
        rows: &[AttentionRow],
        heads: usize,
        bias: Option<&AnyRelativeBias>,
    ) -> Result<AnyTensor> {
        match bias {
            None => {
                on!(
                    self, backend, qkv: AnyTensor => AnyTensor,
                    backend.attention_weights(qkv, rows, heads, None)
                )
            }
            Some(bias) => {
                on!(
                    self, backend, qkv: AnyTensor, bias: AnyRelativeBias => AnyTensor,
                    backend.attention_weights(qkv, rows, heads, Some(bias))
                )
            }
        }
    }

    fn pool(&self, hidden: &AnyTensor, pooling: &Pooling) -> Result<AnyTensor> {
        on!(self, backend, hidden: AnyTensor => AnyTensor, backend.pool(hidden, pooling))
    }

    fn normalize(&self, x: &AnyTensor) -> Result<AnyTensor> {
        on!(self, backend, x: AnyTensor => AnyTensor, backend.normalize(x))
    }

    fn dropout(&self, x: &AnyTensor, p: f32) -> Result<AnyTensor> {
        on!(self, backend, x: AnyTensor => AnyTensor, backend.dropout(x, p))
    }

    // As its backends.
    #[cfg(not(target_arch = "wasm32"))]
    fn routing(&self) -> Option<&dyn Routing<Tensor = AnyTensor>> {
        let has = match self {
            Self::Simd(backend) => backend.routing().is_some(),
            Self::WebGpu(backend) => backend.routing().is_some(),
            Self::Candle(backend) => backend.routing().is_some(),
        };
        has.then_some(self as _)
    }

    async fn read(&self, tensors: &[&AnyTensor]) -> Result<Vec<Vec<f32>>> {
        match self {
            Self::Simd(backend) => backend.read(&own!(tensors, Simd)).await,
            Self::WebGpu(backend) => backend.read(&own!(tensors, WebGpu)).await,
            #[cfg(not(target_arch = "wasm32"))]
            Self::Candle(backend) => backend.read(&own!(tensors, Candle)).await,
        }
    }
}

/// The operations of a backend that has them.
fn having<T>(operations: Option<T>) -> Result<T> {
    operations
        .ok_or_else(|| Error::InvalidArgument("this device does not have the operation.".into()))
}

impl Routing for AnyBackend {
    type Tensor = AnyTensor;

    fn select(&self, x: &AnyTensor, rows: &[u32]) -> Result<AnyTensor> {
        on!(self, backend, x: AnyTensor => AnyTensor, having(backend.routing())?.select(x, rows))
    }

    fn columns(&self, x: &AnyTensor, columns: Range<usize>) -> Result<AnyTensor> {
        on!(self, backend, x: AnyTensor => AnyTensor, having(backend.routing())?.columns(x, columns))
    }

    fn stack(&self, x: &AnyTensor, y: &AnyTensor) -> Result<AnyTensor> {
        on!(
            self, backend, x: AnyTensor, y: AnyTensor => AnyTensor,
            having(backend.routing())?.stack(x, y)
        )
    }

    fn weights(
        &self,
        queries: &AnyTensor,
        keys: &AnyTensor,
        routes: &[Route],
        scores: Scores,
    ) -> Result<AnyTensor> {
        on!(
            self, backend, queries: AnyTensor, keys: AnyTensor => AnyTensor,
            having(backend.routing())?.weights(queries, keys, routes, scores)
        )
    }

    fn shares(&self, attention: &AnyTensor, stretches: &[Stretch]) -> Result<AnyTensor> {
        on!(
            self, backend, attention: AnyTensor => AnyTensor,
            having(backend.routing())?.shares(attention, stretches)
        )
    }

    fn scale(
        &self,
        attended: &AnyTensor,
        rows: &[u32],
        weights: &AnyTensor,
        gain: Gain,
    ) -> Result<AnyTensor> {
        on!(
            self, backend, attended: AnyTensor, weights: AnyTensor => AnyTensor,
            having(backend.routing())?.scale(attended, rows, weights, gain)
        )
    }

    fn transform(&self, x: &AnyTensor, matrices: &AnyTensor, of: &[u32]) -> Result<AnyTensor> {
        on!(
            self, backend, x: AnyTensor, matrices: AnyTensor => AnyTensor,
            having(backend.routing())?.transform(x, matrices, of)
        )
    }
}

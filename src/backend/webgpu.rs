//! WebGPU through wgpu: in browsers (a worker included) and, natively, on Vulkan, Metal and DX12.
//!
//! Operations are recorded and run when [`Backend::read`] asks for numbers: one submission a batch. Weights
//! stay as small on the device as they came (f16, q8_0; q4_0 becomes q8_0). Where WGSL has products of packed bytes (`dot4I8Packed`), linear layers
//! multiply them with activations that are quantised in blocks of 32 too; elsewhere kernels decode them and
//! all sums are f32. Beyond that only what every WebGPU device has is used: no subgroups, no f16 arithmetic,
//! WebGPU's default limits (larger buffers are asked for where the adapter has them).
//!
//! Results agree with the reference on the dequantised weights to within 1e-4 (relative, by norm), those of
//! products of bytes to a cosine of 0.9985, and a row's numbers do not depend on what else is in its batch.
//!
//! Nothing here panics when the GPU fails: whatever the device reports is kept and comes out of the next
//! operation as [`Error::GpuLost`].

// Natively wgpu's objects are shared among threads; in a browser they are not, and there is but one.
#![cfg_attr(target_arch = "wasm32", allow(clippy::arc_with_non_send_sync))]

mod buffers;
mod context;
mod failure;
mod parameters;
mod pipeline;
mod profile;
mod readback;
mod recorder;
mod routing;
mod weights;

use std::{ops::Range, sync::Arc};

use bytemuck::Pod;

pub use context::{AdapterInfo, Options, Products};
pub use profile::KernelTime;
pub use wgpu::PowerPreference;

use self::{
    buffers::{Allocation, Memory, Purpose},
    context::Context,
    parameters::{
        AttentionParams, AttentionWeightsParams, EmbedParams, LinearParams, NormParams, PadParams,
        RowsParams, Term,
    },
    pipeline::{BYTES_HEIGHTS, Format, Kernel, Pipelines},
    profile::{Profile, Work},
    recorder::{Dispatch, Recorder, grid},
    weights::Matrix,
};
use super::{
    Activation, AttentionRow, Backend, NormWeights, Pooling, RelativeBiasWeights,
    check_attention_rows, check_relative_bias, check_shape,
};
use crate::{
    checkpoint::weights::{BLOCK, Dtype, WeightTensor},
    error::{Error, Result},
    text::Batch,
};

/// The largest head that the attention kernel takes.
const MAX_HEAD: usize = 128;
/// Rows and outputs of the linear kernel's tile.
const TILE: usize = 64;
/// Rows and outputs of a workgroup of the linear kernel on bytes, for each thread down it and for all.
const BYTES_ROWS: usize = 4;
const BYTES_OUTPUTS: usize = 64;
/// A GPU. Cloning shares it; tensors belong to the `WebGpu` that made them.
///
/// ```no_run
/// use caselens::backend::webgpu::{PowerPreference, WebGpu};
/// # async fn open() -> caselens::Result<()> {
/// let gpu = WebGpu::new(PowerPreference::HighPerformance).await?;
/// println!("{} ({})", gpu.info().name, gpu.info().backend);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct WebGpu(Arc<Inner>);

struct Inner {
    context: Context,
    memory: Arc<Memory>,
    pipelines: Pipelines,
    recorder: Recorder,
}

/// Activations `[rows, columns]`, f32. Cloning shares.
#[derive(Clone)]
pub struct Tensor {
    data: Arc<Allocation>,
    rows: usize,
    columns: usize,
}

impl Tensor {
    /// `(rows, columns)`.
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }
}

/// A linear layer: weight `[out, in]`, bias `[out]`.
pub struct Linear {
    weight: Matrix,
    bias: Matrix,
}

/// A LayerNorm: weight and bias in one buffer `[2, columns]`.
pub struct Norm {
    parameters: Matrix,
    eps: f32,
}

/// The embedding tables and their LayerNorm.
pub struct Embeddings {
    token: Matrix,
    position: Matrix,
    types: Matrix,
    norm: Norm,
}

/// A bias of attention's scores by how far a key lies from its query.
pub struct RelativeBias {
    /// `[heads, 2 · longest − 1]`
    numbers: Matrix,
    heads: usize,
    /// Tokens of the longest sequence it is for.
    longest: usize,
}

/// A batch on the device.
pub struct DeviceBatch {
    tokens: usize,
    /// Tokens of the longest sequence.
    longest: usize,
    /// Ids, types and positions, one after the other.
    indices: Allocation,
    /// Each token's sequence: its first token and its number of tokens.
    spans: Allocation,
    /// Products of a query and a key for each head: Σ length².
    pairs: usize,
}

impl WebGpu {
    /// Opens the system's adapter for `power`.
    ///
    /// # Errors
    ///
    /// [`Error::NoGpu`] where there is no adapter or it offers less than WebGPU's default limits. A
    /// software adapter is no error: see [`AdapterInfo::software`].
    pub async fn new(power: PowerPreference) -> Result<Self> {
        Self::open(Options {
            power,
            ..Options::default()
        })
        .await
    }

    /// [`WebGpu::new`], with a say in how it is used.
    pub async fn open(options: Options) -> Result<Self> {
        let context = Context::new(&options).await?;
        let profile = match options.profile {
            true => Some(Profile::new(&context.device, &context.queue)?),
            false => None,
        };
        let memory = Memory::new(context.device.clone(), context.info.max_buffer_bytes);
        Ok(Self(Arc::new(Inner {
            context,
            memory,
            pipelines: Pipelines::default(),
            recorder: Recorder::new(profile),
        })))
    }

    /// Has the kernels compiled that an encoder with q8_0 or q4_0 weights is likely to need, which may not be there yet. A
    /// browser does so in the background; natively they are compiled when this returns.
    pub fn prepare(&self) {
        let inner = &*self.0;
        for kernel in Kernel::likely(self.info().products) {
            inner.pipelines.get(&inner.context.device, kernel);
        }
        // A browser may hold back what it was told until something is submitted.
        inner.context.queue.submit([]);
    }

    /// The GPU that was chosen.
    pub fn info(&self) -> &AdapterInfo {
        &self.0.context.info
    }

    /// What each kernel took since the last call; empty unless [`Options::profile`] asked for it.
    pub fn times(&self) -> Vec<KernelTime> {
        self.0.recorder.times()
    }

    /// Bytes of tensors on the device, those kept for reuse included.
    pub fn allocated_bytes(&self) -> u64 {
        self.0.memory.bytes()
    }

    /// Gives the GPU and its memory back now. From here on every operation returns [`Error::GpuLost`].
    pub fn destroy(&self) {
        self.0.context.device.destroy();
        self.0.context.poll();
    }

    fn tensor(&self, rows: usize, columns: usize) -> Result<Tensor> {
        let bytes = 4 * rows as u64 * columns as u64;
        let data = self.0.memory.allocate(Purpose::Activations, bytes)?;
        Ok(Tensor {
            data: Arc::new(data),
            rows,
            columns,
        })
    }

    /// A buffer with `data` in it, in time for the next submission.
    fn inputs<T: Pod>(&self, data: &[T]) -> Result<Allocation> {
        let bytes: &[u8] = bytemuck::cast_slice(data);
        let buffer = self
            .0
            .memory
            .allocate(Purpose::Inputs, bytes.len() as u64)?;
        self.0.context.queue.write_buffer(buffer.buffer(), 0, bytes);
        Ok(buffer)
    }

    fn dispatch(
        &self,
        kernel: Kernel,
        operations: f64,
        parameters: &impl Pod,
        bindings: &[(u32, &Allocation)],
        groups: [u32; 2],
    ) -> Result<()> {
        let inner = &*self.0;
        inner.context.failure.check()?;
        let pipeline = inner.pipelines.get(&inner.context.device, kernel);
        let work = Work {
            kernel,
            operations,
            bytes: bindings.iter().map(|(_, part)| part.bytes()).sum(),
        };
        let dispatch = Dispatch {
            pipeline: &pipeline,
            work,
            parameters,
            bindings,
            groups,
        };
        let recorder = &inner.recorder;
        recorder.dispatch(&inner.context, &inner.memory, dispatch);
        Ok(())
    }

    /// `x` with rows of whole vec4s.
    fn padded(&self, x: &Tensor) -> Result<Tensor> {
        let padded = x.columns.next_multiple_of(4);
        if padded == x.columns {
            return Ok(x.clone());
        }
        let y = self.tensor(x.rows, padded)?;
        self.dispatch(
            Kernel::Pad,
            0.0,
            &PadParams {
                rows: x.rows as u32,
                columns: x.columns as u32,
                padded: padded as u32,
                padding: 0,
            },
            &[(1, &x.data), (2, &y.data)],
            grid(x.rows),
        )?;
        Ok(y)
    }

    /// activation(x·Wᵀ + b) with both sides as bytes.
    fn linear_bytes(&self, x: &Tensor, layer: &Linear, activation: Activation) -> Result<Tensor> {
        let blocks = x.columns / BLOCK;
        let allocate = |bytes: usize| {
            let memory = &self.0.memory;
            memory.allocate(Purpose::Activations, (x.rows * bytes) as u64)
        };
        let (quants, scales) = (allocate(x.columns)?, allocate(4 * blocks)?);
        self.dispatch(
            Kernel::Quantize,
            0.0,
            &RowsParams {
                rows: (x.rows * blocks) as u32,
                columns: BLOCK as u32,
                padding: [0; 2],
            },
            &[(1, &x.data), (2, &quants), (3, &scales)],
            grid((x.rows * blocks).div_ceil(64)),
        )?;
        let weight = &layer.weight;
        let y = self.tensor(x.rows, weight.rows)?;
        let mut bindings = weight.bindings();
        bindings.extend([
            (3, &quants),
            (4, &scales),
            (5, layer.bias.values()),
            (6, &*y.data),
        ]);
        let height = BYTES_HEIGHTS[usize::from(x.rows > 128)];
        self.dispatch(
            Kernel::LinearBytes(activation, height),
            2.0 * (x.rows * x.columns * weight.rows) as f64,
            &LinearParams {
                rows: x.rows as u32,
                outputs: weight.rows as u32,
                quads: blocks as u32,
                padding: 0,
            },
            &bindings,
            [
                weight.rows.div_ceil(BYTES_OUTPUTS) as u32,
                x.rows.div_ceil(BYTES_ROWS * height as usize) as u32,
            ],
        )?;
        Ok(y)
    }

    fn load_matrix(&self, parts: &[&WeightTensor<'_>]) -> Result<Matrix> {
        Matrix::load(&self.0.context, &self.0.memory, parts)
    }

    fn load_dense(&self, parts: &[&WeightTensor<'_>]) -> Result<Matrix> {
        Matrix::load_dense(&self.0.context, &self.0.memory, parts)
    }

    /// The numbers of several vectors, one after the other.
    fn load_vectors(&self, parts: &[&WeightTensor<'_>]) -> Result<Matrix> {
        let numbers: Vec<u8> = parts
            .iter()
            .flat_map(|part| bytemuck::cast_slice(&part.to_f32()).to_vec())
            .collect();
        self.load_dense(&[&WeightTensor {
            name: parts.first().map(|p| p.name.clone()).unwrap_or_default(),
            role: None,
            shape: vec![numbers.len() / 4],
            dtype: Dtype::F32,
            data: numbers.into(),
        }])
    }
}

impl Backend for WebGpu {
    type Tensor = Tensor;
    type Linear = Linear;
    type Norm = Norm;
    type Embeddings = Embeddings;
    type RelativeBias = Arc<RelativeBias>;
    type Batch = DeviceBatch;

    fn load_embeddings(
        &self,
        token: WeightTensor<'_>,
        position: WeightTensor<'_>,
        types: WeightTensor<'_>,
        norm: NormWeights<'_>,
    ) -> Result<Embeddings> {
        let tables = Embeddings {
            token: self.load_matrix(&[&token])?,
            position: self.load_dense(&[&position])?,
            types: self.load_dense(&[&types])?,
            norm: self.load_norm(norm)?,
        };
        let columns = tables.token.columns;
        check_shape(
            "the position table's width",
            tables.position.columns,
            columns,
        )?;
        check_shape("the type table's width", tables.types.columns, columns)?;
        check_shape("the LayerNorm's width", tables.norm.columns(), columns)?;
        Ok(tables)
    }

    fn load_linear(&self, parts: Vec<(WeightTensor<'_>, WeightTensor<'_>)>) -> Result<Linear> {
        let (weights, biases): (Vec<_>, Vec<_>) = parts.iter().map(|(w, b)| (w, b)).unzip();
        let layer = Linear {
            weight: Matrix::load_linear(&self.0.context, &self.0.memory, &weights)?,
            bias: self.load_vectors(&biases)?,
        };
        check_shape("the bias's length", layer.bias.columns, layer.weight.rows)?;
        Ok(layer)
    }

    fn load_norm(&self, norm: NormWeights<'_>) -> Result<Norm> {
        let columns = norm.weight.dims2()?.1;
        check_shape("the LayerNorm's bias", norm.bias.dims2()?.1, columns)?;
        let parameters = self.load_vectors(&[&norm.weight, &norm.bias])?;
        check_shape("the LayerNorm's length", parameters.columns, 2 * columns)?;
        Ok(Norm {
            parameters,
            eps: norm.eps,
        })
    }

    fn load_relative_bias(&self, bias: RelativeBiasWeights<'_>) -> Result<Arc<RelativeBias>> {
        let (heads, longest) = bias.dims()?;
        let numbers = bias.by_offset()?;
        Ok(Arc::new(RelativeBias {
            heads,
            longest,
            numbers: self.load_dense(&[&WeightTensor {
                name: bias.table.name,
                role: None,
                shape: vec![numbers.len()],
                dtype: Dtype::F32,
                data: bytemuck::cast_slice(&numbers).into(),
            }])?,
        }))
    }

    fn upload(&self, batch: &Batch) -> Result<DeviceBatch> {
        let indices = [&batch.ids[..], &batch.types, &batch.positions].concat();
        let spans: Vec<[u32; 2]> = batch
            .ranges()
            .flat_map(|range| {
                let span = [range.start as u32, range.len() as u32];
                std::iter::repeat_n(span, range.len())
            })
            .collect();
        Ok(DeviceBatch {
            tokens: batch.tokens(),
            longest: batch.ranges().map(|range| range.len()).max().unwrap_or(0),
            indices: self.inputs(&indices)?,
            pairs: batch.ranges().map(|range| range.len() * range.len()).sum(),
            spans: self.inputs(&spans)?,
        })
    }

    fn rows(&self, columns: usize, numbers: &[f32]) -> Result<Tensor> {
        let rows = numbers.len() / columns.max(1);
        Ok(Tensor {
            data: Arc::new(self.inputs(&numbers[..rows * columns])?),
            rows,
            columns,
        })
    }

    fn embed(&self, tables: &Embeddings, batch: &DeviceBatch) -> Result<Tensor> {
        let table = &tables.token;
        let y = self.tensor(batch.tokens, table.columns)?;
        let mut bindings = table.bindings();
        bindings.extend([
            (3, &batch.indices),
            (4, tables.position.values()),
            (5, tables.types.values()),
            (6, tables.norm.parameters.values()),
            (7, &*y.data),
        ]);
        self.dispatch(
            Kernel::Embed(table.format),
            0.0,
            &EmbedParams {
                tokens: batch.tokens as u32,
                columns: table.columns as u32,
                quads: table.quads() as u32,
                eps: tables.norm.eps,
            },
            &bindings,
            grid(batch.tokens),
        )?;
        Ok(y)
    }

    fn linear(&self, x: &Tensor, layer: &Linear, activation: Activation) -> Result<Tensor> {
        let weight = &layer.weight;
        check_shape("the input's width", x.columns, weight.columns)?;
        if weight.format == Format::Panels {
            return self.linear_bytes(x, layer, activation);
        }
        let x = self.padded(x)?;
        let y = self.tensor(x.rows, weight.rows)?;
        let mut bindings = weight.bindings();
        bindings.extend([(3, &*x.data), (4, layer.bias.values()), (5, &*y.data)]);
        // Rows and outputs of a workgroup.
        let (kernel, height, width) = match self.info().products {
            Products::Threads => (Kernel::LinearThreads(weight.format, activation), 8, 128),
            _ => (Kernel::Linear(weight.format, activation), TILE, TILE),
        };
        self.dispatch(
            kernel,
            2.0 * (x.rows * x.columns * weight.rows) as f64,
            &LinearParams {
                rows: x.rows as u32,
                outputs: weight.rows as u32,
                quads: weight.quads() as u32,
                padding: 0,
            },
            &bindings,
            [
                weight.rows.div_ceil(width) as u32,
                x.rows.div_ceil(height) as u32,
            ],
        )?;
        Ok(y)
    }

    fn linear_add_norm(
        &self,
        x: &Tensor,
        layer: &Linear,
        residual: &Tensor,
        norm: &Norm,
    ) -> Result<Tensor> {
        check_shape("the residual's width", residual.columns, layer.weight.rows)?;
        check_shape("the residual's height", residual.rows, x.rows)?;
        check_shape("the LayerNorm's width", norm.columns(), layer.weight.rows)?;
        // A tensor that nobody else holds: the second kernel works in place.
        let y = self.linear(x, layer, Activation::None)?;
        self.dispatch(
            Kernel::AddNorm,
            0.0,
            &NormParams {
                rows: y.rows as u32,
                columns: y.columns as u32,
                eps: norm.eps,
                padding: 0,
            },
            &[
                (1, norm.parameters.values()),
                (2, &residual.data),
                (3, &y.data),
            ],
            grid(y.rows),
        )?;
        Ok(y)
    }

    fn attention(
        &self,
        qkv: &Tensor,
        batch: &DeviceBatch,
        heads: usize,
        bias: Option<&Arc<RelativeBias>>,
    ) -> Result<Tensor> {
        check_shape("the number of rows", qkv.rows, batch.tokens)?;
        let hidden = qkv.columns / 3;
        let head = hidden.checked_div(heads).unwrap_or(0);
        check_shape(
            "three times heads · head size",
            3 * heads * head,
            qkv.columns,
        )?;
        if !(1..=MAX_HEAD).contains(&head) {
            return Err(Error::InvalidArgument(format!(
                "the model's attention heads are {head} wide; WebGPU runs heads of up to {MAX_HEAD}. Use the CPU."
            )));
        }
        let y = self.tensor(qkv.rows, hidden)?;
        let mut bindings = vec![(1, &*qkv.data), (2, &batch.spans), (3, &*y.data)];
        if let Some(bias) = bias {
            check_relative_bias((bias.heads, bias.longest), heads, batch.longest)?;
            bindings.push((4, bias.numbers.values()));
        }
        self.dispatch(
            Kernel::Attention(head as u32, bias.is_some()),
            4.0 * (batch.pairs * hidden) as f64,
            &AttentionParams {
                tokens: batch.tokens as u32,
                hidden: hidden as u32,
                heads: heads as u32,
                head_size: head as u32,
                scale: 1.0 / (head as f32).sqrt(),
                longest: bias.map_or(0, |bias| bias.longest as u32),
                padding: [0; 2],
            },
            &bindings,
            grid((batch.tokens * heads).div_ceil(64)),
        )?;
        Ok(y)
    }

    fn attention_weights(
        &self,
        qkv: &Tensor,
        rows: &[AttentionRow],
        heads: usize,
        bias: Option<&Arc<RelativeBias>>,
    ) -> Result<Tensor> {
        let longest = check_attention_rows(rows, qkv.rows, heads)?;
        let hidden = qkv.columns / 3;
        let head = hidden.checked_div(heads).unwrap_or(0);
        check_shape(
            "three times heads · head size",
            3 * heads * head,
            qkv.columns,
        )?;
        let y = self.tensor(rows.len(), longest)?;
        // A binding holds one row at least.
        if rows.is_empty() {
            return Ok(y);
        }
        let numbers: Vec<[u32; 5]> = rows
            .iter()
            .map(|row| {
                let Range { start, end } = row.heads(heads);
                [row.query, row.start, row.len, start as u32, end as u32]
            })
            .collect();
        let rows_on_device = self.inputs(&numbers)?;
        let mut bindings = vec![(1, &*qkv.data), (2, &rows_on_device), (3, &*y.data)];
        if let Some(bias) = bias {
            check_relative_bias((bias.heads, bias.longest), heads, longest)?;
            bindings.push((4, bias.numbers.values()));
        }
        self.dispatch(
            Kernel::AttentionWeights(bias.is_some()),
            0.0,
            &AttentionWeightsParams {
                rows: rows.len() as u32,
                columns: longest as u32,
                hidden: hidden as u32,
                head_size: head as u32,
                scale: 1.0 / (head as f32).sqrt(),
                longest: bias.map_or(0, |bias| bias.longest as u32),
                padding: [0; 2],
            },
            &bindings,
            grid(rows.len()),
        )?;
        Ok(y)
    }

    fn pool(&self, hidden: &Tensor, pooling: &Pooling) -> Result<Tensor> {
        let blocks = pooling.rows * pooling.blocks;
        let block = |row: u32, block: u32| row as usize * pooling.blocks + block as usize;
        let mut terms: Vec<_> = pooling.terms.iter().collect();
        // Within a block the order stays, so that sums do not depend on it.
        terms.sort_by_key(|term| block(term.row, term.block));
        let mut offsets = vec![0u32; blocks + 1];
        for term in &terms {
            let inside = term.block < pooling.blocks as u32
                && (term.row as usize) < pooling.rows
                && term.start as usize + term.len as usize <= hidden.rows;
            if !inside || term.len == 0 {
                return Err(Error::InvalidArgument(format!(
                    "the pooling term {term:?} lies outside the batch"
                )));
            }
            offsets[block(term.row, term.block) + 1] += 1;
        }
        for b in 0..blocks {
            offsets[b + 1] += offsets[b];
        }
        let terms: Vec<Term> = terms
            .iter()
            .map(|term| Term {
                start: term.start,
                length: term.len,
                weight: term.weight,
            })
            .collect();
        let (offsets, terms) = (self.inputs(&offsets)?, self.inputs(&terms)?);
        let y = self.tensor(pooling.rows, pooling.blocks * hidden.columns)?;
        self.dispatch(
            Kernel::Pool,
            0.0,
            &RowsParams {
                rows: blocks as u32,
                columns: hidden.columns as u32,
                padding: [0; 2],
            },
            &[(1, &hidden.data), (2, &offsets), (3, &terms), (4, &y.data)],
            grid(blocks),
        )?;
        Ok(y)
    }

    fn normalize(&self, x: &Tensor) -> Result<Tensor> {
        let y = self.tensor(x.rows, x.columns)?;
        self.dispatch(
            Kernel::Normalize,
            0.0,
            &RowsParams {
                rows: x.rows as u32,
                columns: x.columns as u32,
                padding: [0; 2],
            },
            &[(1, &x.data), (2, &y.data)],
            grid(x.rows),
        )?;
        Ok(y)
    }

    // Browsers do without: what never runs in a page is no part of its download.
    #[cfg(not(target_arch = "wasm32"))]
    fn routing(&self) -> Option<&dyn super::Routing<Tensor = Tensor>> {
        Some(self)
    }

    async fn read(&self, tensors: &[&Tensor]) -> Result<Vec<Vec<f32>>> {
        let inner = &*self.0;
        let sources: Vec<_> = tensors
            .iter()
            .map(|x| (&*x.data, 4 * x.rows as u64 * x.columns as u64))
            .collect();
        readback::read(&inner.context, &inner.memory, &inner.recorder, &sources).await
    }
}

impl Norm {
    fn columns(&self) -> usize {
        self.parameters.columns / 2
    }
}

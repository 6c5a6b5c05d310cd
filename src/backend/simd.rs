//! The processor's own instructions: products of bytes, in browsers (wasm) and natively.
//!
//! Weights in blocks of 32 (q8_0, q4_0) are multiplied as bytes, by activations that are quantised to bytes in
//! blocks of 32 too: one scale a block on both sides, exact integer sums within a block, f32 sums over
//! blocks. f16 weights are put in such blocks as they are loaded. f32 weights stay f32, and so do attention,
//! LayerNorm and pooling: a head keeps its file's precision.
//!
//! | instructions | products of | cosine to f32 on all-MiniLM-L6-v2, q8_0 |
//! |---|---|---|
//! | AVX2, AVX-VNNI, AVX512-VNNI, NEON with and without dot products, `simd128`, none | 8 by 8 bits | ≥ 0.9985 |
//! | `relaxed-simd` | 8 by 7 bits | ≥ 0.996 |
//! | AVX2 or `relaxed-simd`, q4_0 | 4 by 8 bits | as the first |
//!
//! A row's numbers are the same bits whatever else is in its batch, and however many threads there are.
//!
//! ```
//! use caselens::backend::simd::Simd;
//!
//! let simd = Simd::new();
//! println!("{}", simd.instructions()); // AVX512-VNNI, on a recent server
//! ```

use std::{ops::Range, sync::Arc};

mod attention;
mod blocks;
mod dense;
mod isa;
mod linear;
mod math;
mod memory;
mod norm;
mod parallel;
mod peak;
mod product;
mod routing;
mod stack;

pub use attention::RelativeBias;
pub use isa::Cpu;
pub use linear::Linear;
pub use norm::Norm;

use self::{
    attention::{Attention, weights},
    linear::{Forward, Then},
    math::sum,
    memory::{Buffer, Memory},
    norm::NormRows,
};
use super::{
    Activation, AttentionRow, Backend, NormWeights, Pooling, RelativeBiasWeights,
    check_attention_rows, check_relative_bias, check_shape,
};
use crate::{
    checkpoint::weights::{Dtype, WeightTensor, decode_into},
    error::{Error, Result},
    text::Batch,
};

/// The processor, with its fastest instructions. Cloning shares its buffers.
#[derive(Clone)]
pub struct Simd {
    cpu: Cpu,
    memory: Arc<Memory>,
}

impl Default for Simd {
    fn default() -> Self {
        Self::new()
    }
}

impl Simd {
    /// The fastest instructions that this processor has.
    pub fn new() -> Self {
        Self::with(Cpu::detect())
    }

    /// The same, with the form of products that is the fastest here where there are several: they are timed now, for some
    /// milliseconds, by a clock in milliseconds. Results do not depend on it.
    pub fn timed(now: impl Fn() -> f64) -> Self {
        Self::with(peak::fastest(now))
    }

    /// The instructions of `cpu`. Weights that are loaded for one set are not for another.
    pub fn with(cpu: Cpu) -> Self {
        Self {
            cpu,
            memory: Arc::default(),
        }
    }

    /// The name of the instructions it uses.
    pub fn instructions(&self) -> &'static str {
        self.cpu.name()
    }

    /// What one core could reach: operations per second in a loop of the dot product it uses for weights of this dtype (a
    /// product and a sum are two). Measured now, for a fraction of a second, by a clock in milliseconds.
    pub fn peak(&self, dtype: Dtype, now: impl Fn() -> f64) -> f64 {
        peak::measure(self.cpu.for_weights(dtype), now)
    }

    fn tensor(&self, rows: usize, columns: usize, fill: impl FnOnce(&mut [f32])) -> Tensor {
        let mut data = self.memory.take_f32(rows * columns);
        fill(data.slice_mut(rows * columns));
        Tensor {
            data: Arc::new(data),
            rows,
            columns,
        }
    }

    /// A layer on all rows of `x`; `then` is made for each chunk from the range of its numbers.
    fn forward<'a>(
        &self,
        x: &Tensor,
        layer: &Linear,
        then: impl Fn(Range<usize>) -> Then<'a> + Sync,
    ) -> Result<Tensor> {
        check_shape("the input's width", x.columns, layer.inputs)?;
        // A tile's height divides it, and every core has something to do.
        let rows = x.rows.div_ceil(parallel::cores()).next_multiple_of(12);
        let rows = rows.clamp(12, linear::ROWS);
        let numbers = x.numbers();
        let memory = &self.memory;
        Ok(self.tensor(x.rows, layer.outputs, |out| {
            parallel::for_each_chunk(out, rows * layer.outputs, |i, out| {
                let start = i * rows;
                let end = start + out.len() / layer.outputs.max(1);
                let forward = Forward {
                    layer,
                    x: &numbers[start * layer.inputs..end * layer.inputs],
                    then: then(start * layer.outputs..end * layer.outputs),
                    out,
                    memory,
                };
                forward.run();
            });
        }))
    }
}

/// Activations `[rows, columns]`, f32. Cloning shares.
#[derive(Clone)]
pub struct Tensor {
    data: Arc<Buffer>,
    rows: usize,
    columns: usize,
}

impl Tensor {
    fn numbers(&self) -> &[f32] {
        self.data.slice(self.rows * self.columns)
    }
}

/// Embedding tables; the token table stays in its blocks, since a batch touches few of its rows.
pub struct Embeddings {
    token: Table,
    /// `[positions, columns]`
    position: Vec<f32>,
    /// `[types, columns]`
    types: Vec<f32>,
    norm: Norm,
}

struct Table {
    columns: usize,
    dtype: Dtype,
    data: Vec<u8>,
}

/// A batch: what a token's embedding is made of, and where sequences begin.
pub struct DeviceBatch(Batch);

impl Backend for Simd {
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
        let (_, columns) = token.checked_dims2()?;
        check_shape(
            "the position table's width",
            position.checked_dims2()?.1,
            columns,
        )?;
        check_shape("the type table's width", types.checked_dims2()?.1, columns)?;
        let norm = self.load_norm(norm)?;
        check_shape("the LayerNorm's width", norm.weight.len(), columns)?;
        Ok(Embeddings {
            token: Table {
                columns,
                dtype: token.dtype,
                data: token.data.into_owned(),
            },
            position: position.to_f32(),
            types: types.to_f32(),
            norm,
        })
    }

    fn load_linear(&self, parts: Vec<(WeightTensor<'_>, WeightTensor<'_>)>) -> Result<Linear> {
        let (weights, biases): (Vec<_>, Vec<_>) = parts.iter().map(|(w, b)| (w, b)).unzip();
        Linear::load(self.cpu, &weights, &biases)
    }

    fn load_norm(&self, norm: NormWeights<'_>) -> Result<Norm> {
        let (_, columns) = norm.weight.checked_dims2()?;
        check_shape(
            "the LayerNorm's bias",
            norm.bias.checked_dims2()?.1,
            columns,
        )?;
        Ok(Norm {
            weight: norm.weight.to_f32(),
            bias: norm.bias.to_f32(),
            eps: norm.eps,
        })
    }

    fn load_relative_bias(&self, bias: RelativeBiasWeights<'_>) -> Result<Arc<RelativeBias>> {
        let (heads, longest) = bias.dims()?;
        Ok(Arc::new(RelativeBias {
            heads,
            longest,
            numbers: bias.by_offset()?,
        }))
    }

    fn upload(&self, batch: &Batch) -> Result<DeviceBatch> {
        Ok(DeviceBatch(batch.clone()))
    }

    fn rows(&self, columns: usize, numbers: &[f32]) -> Result<Tensor> {
        let rows = numbers.len() / columns.max(1);
        Ok(self.tensor(rows, columns, |out| {
            out.copy_from_slice(&numbers[..rows * columns]);
        }))
    }

    fn embed(&self, tables: &Embeddings, batch: &DeviceBatch) -> Result<Tensor> {
        let DeviceBatch(batch) = batch;
        let Table {
            columns,
            dtype,
            ref data,
        } = tables.token;
        let (numbers, bytes) = dtype.block();
        let row_bytes = columns / numbers * bytes;
        let missing = |what: &str, index: u32| {
            Error::Tokenizer(format!("{what} {index} is not in the model's table"))
        };
        let mut result = Ok(());
        let x = self.tensor(batch.tokens(), columns, |out| {
            result = (|| {
                let rows = out.chunks_exact_mut(columns.max(1));
                let indices = batch.ids.iter().zip(&batch.positions).zip(&batch.types);
                for (row, ((&id, &position), &kind)) in rows.zip(indices) {
                    let token = row_of(data, row_bytes, id).ok_or_else(|| missing("token", id))?;
                    decode_into(dtype, token, row);
                    let position = row_of(&tables.position, columns, position)
                        .ok_or_else(|| missing("position", position))?;
                    let kind = row_of(&tables.types, columns, kind)
                        .ok_or_else(|| missing("type", kind))?;
                    for ((x, p), t) in row.iter_mut().zip(position).zip(kind) {
                        *x = *x + p + t;
                    }
                }
                self.cpu.run_plain(NormRows {
                    norm: &tables.norm,
                    rows: out,
                });
                Ok(())
            })();
        });
        result.map(|()| x)
    }

    fn linear(&self, x: &Tensor, layer: &Linear, activation: Activation) -> Result<Tensor> {
        self.forward(x, layer, |_| Then::Activation(activation))
    }

    fn linear_add_norm(
        &self,
        x: &Tensor,
        layer: &Linear,
        residual: &Tensor,
        norm: &Norm,
    ) -> Result<Tensor> {
        check_shape("the residual's width", residual.columns, layer.outputs)?;
        check_shape("the residual's height", residual.rows, x.rows)?;
        check_shape("the LayerNorm's width", norm.weight.len(), layer.outputs)?;
        let residual = residual.numbers();
        self.forward(x, layer, |chunk| Then::AddNorm(&residual[chunk], norm))
    }

    fn attention(
        &self,
        qkv: &Tensor,
        batch: &DeviceBatch,
        heads: usize,
        bias: Option<&Arc<RelativeBias>>,
    ) -> Result<Tensor> {
        let DeviceBatch(batch) = batch;
        let bias = bias.map(Arc::as_ref);
        if let Some(bias) = bias {
            let longest = batch.ranges().map(|range| range.len()).max().unwrap_or(0);
            check_relative_bias((bias.heads, bias.longest), heads, longest)?;
        }
        check_shape("the number of rows", qkv.rows, batch.tokens())?;
        let hidden = qkv.columns / 3;
        let size = hidden.checked_div(heads).unwrap_or(0);
        check_shape(
            "three times heads · head size",
            3 * heads * size,
            qkv.columns,
        )?;
        let (numbers, width) = (qkv.numbers(), qkv.columns);
        let (cpu, memory) = (self.cpu, &self.memory);
        Ok(self.tensor(qkv.rows, hidden, |out| {
            let lengths = batch.ranges().map(|range| range.len() * hidden);
            parallel::for_each_piece(out, lengths, |i, out| {
                let start = batch.offsets[i] as usize * width;
                if !out.is_empty() {
                    cpu.run_plain(Attention {
                        qkv: &numbers[start..start + 3 * out.len()],
                        hidden,
                        heads,
                        bias,
                        out,
                        memory,
                    });
                }
            });
        }))
    }

    fn attention_weights(
        &self,
        qkv: &Tensor,
        rows: &[AttentionRow],
        heads: usize,
        bias: Option<&Arc<RelativeBias>>,
    ) -> Result<Tensor> {
        let longest = check_attention_rows(rows, qkv.rows, heads)?;
        let bias = bias.map(Arc::as_ref);
        if let Some(bias) = bias {
            check_relative_bias((bias.heads, bias.longest), heads, longest)?;
        }
        let size = (qkv.columns / 3).checked_div(heads).unwrap_or(0);
        check_shape(
            "three times heads · head size",
            3 * heads * size,
            qkv.columns,
        )?;
        Ok(self.tensor(rows.len(), longest, |out| {
            for (row, out) in rows.iter().zip(out.chunks_exact_mut(longest.max(1))) {
                weights(qkv.numbers(), qkv.columns / 3, heads, bias, row, out);
            }
        }))
    }

    fn pool(&self, hidden: &Tensor, pooling: &Pooling) -> Result<Tensor> {
        let outside = pooling.terms.iter().find(|term| {
            term.len == 0
                || term.row as usize >= pooling.rows
                || term.block as usize >= pooling.blocks
                || u64::from(term.start) + u64::from(term.len) > hidden.rows as u64
        });
        if let Some(term) = outside {
            return Err(Error::InvalidArgument(format!(
                "the pooling term {term:?} lies outside the batch"
            )));
        }
        let columns = hidden.columns;
        let numbers = hidden.numbers();
        Ok(self.tensor(pooling.rows, pooling.blocks * columns, |out| {
            out.fill(0.0);
            for term in &pooling.terms {
                let block = term.row as usize * pooling.blocks + term.block as usize;
                let to = &mut out[block * columns..][..columns];
                let weight = term.weight / term.len as f32;
                for token in term.start as usize..(term.start + term.len) as usize {
                    for (y, x) in to.iter_mut().zip(&numbers[token * columns..][..columns]) {
                        *y += weight * x;
                    }
                }
            }
        }))
    }

    fn normalize(&self, x: &Tensor) -> Result<Tensor> {
        Ok(self.tensor(x.rows, x.columns, |out| {
            out.copy_from_slice(x.numbers());
            for row in out.chunks_exact_mut(x.columns.max(1)) {
                // Far below any length that counts, and a row of zeros stays zero.
                let scale = 1.0 / (sum(row, |x| x * x) + 1e-24).sqrt();
                row.iter_mut().for_each(|x| *x *= scale);
            }
        }))
    }

    // Browsers do without: what never runs in a page is no part of its download.
    #[cfg(not(target_arch = "wasm32"))]
    fn routing(&self) -> Option<&dyn super::Routing<Tensor = Tensor>> {
        Some(self)
    }

    async fn read(&self, tensors: &[&Tensor]) -> Result<Vec<Vec<f32>>> {
        Ok(tensors.iter().map(|x| x.numbers().to_vec()).collect())
    }
}

/// Row `index` of a table with rows of `width`.
fn row_of<T>(table: &[T], width: usize, index: u32) -> Option<&[T]> {
    let start = (index as usize).checked_mul(width)?;
    table.get(start..start.checked_add(width)?)
}

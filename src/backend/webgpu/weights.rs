//! Weights on the device: dense f32 or f16, or q8_0 with its bytes and its scales apart, row by row or in panels.
//!
//! They cover every dtype exactly. q4_0 becomes q8_0 (the same scales, q − 8 in a byte); bf16 becomes f32. f16 needs no
//! feature of the device: kernels take two numbers from a u32. Tensors are converted and sent a few rows at a time, so loading needs little memory
//! beside the file.

use std::sync::Arc;

use half::f16;

use super::{
    buffers::{Allocation, Memory, Purpose},
    context::{Context, Products},
    pipeline::Format,
};
use crate::{
    checkpoint::weights::{BLOCK, Dtype, WeightTensor, decode},
    error::{Error, Result},
};

/// Bytes of a file converted at a time, about.
const CHUNK: usize = 1 << 20;

/// Rows of a panel.
pub(super) const PANEL: usize = 16;

/// A matrix `[rows, columns]` on the device.
pub(super) struct Matrix {
    pub format: Format,
    pub rows: usize,
    pub columns: usize,
    values: Allocation,
    /// Of blocks.
    scales: Option<Allocation>,
}

impl Matrix {
    /// Vec4s in a row.
    pub fn quads(&self) -> usize {
        self.columns.div_ceil(4)
    }

    /// Its buffers at the bindings of `weight_*.wgsl`.
    pub fn bindings(&self) -> Vec<(u32, &Allocation)> {
        let mut bindings = vec![(1, &self.values)];
        bindings.extend(self.scales.as_ref().map(|scales| (2, scales)));
        bindings
    }

    /// The buffer of a matrix that was loaded as [`Format::F32`].
    pub fn values(&self) -> &Allocation {
        &self.values
    }

    /// Loads matrices with the same number of columns, one under the other; in blocks, or in f16, if all of them are.
    pub fn load(
        context: &Context,
        memory: &Arc<Memory>,
        parts: &[&WeightTensor<'_>],
    ) -> Result<Self> {
        let format = match in_blocks(parts) {
            true => Format::Q8_0,
            false if parts.iter().all(|part| part.dtype == Dtype::F16) => Format::F16,
            false => Format::F32,
        };
        Self::load_as(context, memory, parts, format)
    }

    /// [`Matrix::load`] for a linear layer: in panels where the device multiplies bytes.
    pub fn load_linear(
        context: &Context,
        memory: &Arc<Memory>,
        parts: &[&WeightTensor<'_>],
    ) -> Result<Self> {
        match context.info.products == Products::Bytes && in_blocks(parts) {
            true => Self::load_panels(context, memory, parts),
            false => Self::load(context, memory, parts),
        }
    }

    /// Loads matrices with the same number of columns, one under the other, as f32.
    pub fn load_dense(
        context: &Context,
        memory: &Arc<Memory>,
        parts: &[&WeightTensor<'_>],
    ) -> Result<Self> {
        Self::load_as(context, memory, parts, Format::F32)
    }

    fn load_as(
        context: &Context,
        memory: &Arc<Memory>,
        parts: &[&WeightTensor<'_>],
        format: Format,
    ) -> Result<Self> {
        let (rows, columns) = stacked_dims(parts)?;
        let name = name(parts);
        // Bytes of a row in each of the two buffers.
        let (value_bytes, scale_bytes) = match format {
            Format::F32 => (columns.next_multiple_of(4) * 4, 0),
            Format::F16 => (columns.next_multiple_of(4) * 2, 0),
            _ => (columns, columns / BLOCK * 4),
        };
        let values = allocate(memory, name, rows, value_bytes)?;
        let scales = match format {
            Format::F32 | Format::F16 => None,
            _ => Some(allocate(memory, name, rows, scale_bytes)?),
        };

        let mut first = 0;
        for part in parts {
            let (numbers, bytes) = part.dtype.block();
            let row_bytes = columns / numbers * bytes;
            if row_bytes == 0 {
                continue;
            }
            let chunk_rows = (CHUNK / row_bytes).max(1);
            // Past what the shape asks for, a file's bytes are not this tensor's.
            let data = &part.data[..part.dims2()?.0 * row_bytes];
            for chunk in data.chunks(chunk_rows * row_bytes) {
                let write = |target: &Allocation, row_bytes: usize, bytes: &[u8]| {
                    context
                        .queue
                        .write_buffer(target.buffer(), (first * row_bytes) as u64, bytes);
                };
                match &scales {
                    None if format == Format::F16 => {
                        let halves = pad(bytemuck::pod_collect_to_vec::<u8, u16>(chunk), columns);
                        write(&values, value_bytes, bytemuck::cast_slice(&halves));
                    }
                    None => {
                        let values_f32 = pad(decode(part.dtype, chunk), columns);
                        write(&values, value_bytes, bytemuck::cast_slice(&values_f32));
                    }
                    Some(scales) => {
                        let (quants, scale) = split_blocks(part.dtype, chunk);
                        write(&values, value_bytes, bytemuck::cast_slice(&quants));
                        write(scales, scale_bytes, bytemuck::cast_slice(&scale));
                    }
                }
                first += chunk.len() / row_bytes;
            }
        }
        sent(context)?;
        Ok(Self {
            format,
            rows,
            columns,
            values,
            scales,
        })
    }

    fn load_panels(
        context: &Context,
        memory: &Arc<Memory>,
        parts: &[&WeightTensor<'_>],
    ) -> Result<Self> {
        let (rows, columns) = stacked_dims(parts)?;
        let (name, padded, blocks) = (name(parts), rows.next_multiple_of(PANEL), columns / BLOCK);
        let values = allocate(memory, name, padded, columns)?;
        let scales = allocate(memory, name, padded, 4 * blocks)?;
        let mut packed = Panels::zeros(padded, blocks);
        let mut first = 0;
        for part in parts {
            let rows = part.dims2()?.0;
            packed.put(first, rows, part);
            first += rows;
        }
        let write = |to: &Allocation, bytes| context.queue.write_buffer(to.buffer(), 0, bytes);
        write(&values, bytemuck::cast_slice(&packed.quants));
        write(&scales, bytemuck::cast_slice(&packed.scales));
        sent(context)?;
        Ok(Self {
            format: Format::Panels,
            rows,
            columns,
            values,
            scales: Some(scales),
        })
    }
}

/// A matrix in the order of [`Format::Panels`].
struct Panels {
    blocks: usize,
    quants: Vec<i8>,
    scales: Vec<f32>,
}

impl Panels {
    fn zeros(rows: usize, blocks: usize) -> Self {
        Self {
            blocks,
            quants: vec![0; rows * blocks * BLOCK],
            scales: vec![0.0; rows * blocks],
        }
    }

    /// Puts the blocks of a tensor of `rows` rows where they belong, from row `first` on.
    fn put(&mut self, first: usize, rows: usize, tensor: &WeightTensor<'_>) {
        const HALF: usize = BLOCK / 2;
        let (_, bytes) = tensor.dtype.block();
        let row_bytes = (self.blocks * bytes).max(1);
        for (i, row) in tensor.data.chunks_exact(row_bytes).take(rows).enumerate() {
            let (panel, lane) = ((first + i) / PANEL, (first + i) % PANEL);
            let (quants, scales) = split_blocks(tensor.dtype, row);
            let blocks = quants.chunks_exact(BLOCK).zip(scales);
            for (block, (quants, scale)) in blocks.enumerate() {
                let at = panel * self.blocks + block;
                self.scales[PANEL * at + lane] = scale;
                let to = &mut self.quants[PANEL * BLOCK * at..][..PANEL * BLOCK];
                for (half, quants) in quants.chunks_exact(HALF).enumerate() {
                    to[(half * PANEL + lane) * HALF..][..HALF].copy_from_slice(quants);
                }
            }
        }
    }
}

fn in_blocks(parts: &[&WeightTensor<'_>]) -> bool {
    let mut parts = parts.iter();
    parts.all(|part| matches!(part.dtype, Dtype::Q8_0 | Dtype::Q4_0))
}

/// What errors call matrices that are loaded together.
fn name<'a>(parts: &[&'a WeightTensor<'_>]) -> &'a str {
    parts.first().map_or("", |part| &part.name)
}

/// `(rows, columns)` of matrices one under the other.
fn stacked_dims(parts: &[&WeightTensor<'_>]) -> Result<(usize, usize)> {
    let (mut rows, mut columns) = (0, None);
    for part in parts {
        let shape = part.checked_dims2()?;
        rows += shape.0;
        let columns = *columns.get_or_insert(shape.1);
        if columns != shape.1 {
            return Err(Error::Tensor {
                name: part.name.clone(),
                reason: format!(
                    "has shape {:?} where {columns} columns are needed",
                    part.shape
                ),
            });
        }
    }
    Ok((rows, columns.unwrap_or_default()))
}

/// Sends writes on their way, so that their staging memory is freed before the next tensor.
fn sent(context: &Context) -> Result<()> {
    context.queue.submit([]);
    context.poll();
    context.failure.check()
}

fn allocate(memory: &Arc<Memory>, name: &str, rows: usize, row_bytes: usize) -> Result<Allocation> {
    let bytes = rows as u64 * row_bytes as u64;
    if !memory.fits(bytes) {
        return Err(Error::NoGpu(format!(
            "tensor `{name}` takes {} MiB and this GPU's largest buffer is {} MiB; a q8_0 model takes a quarter",
            bytes >> 20,
            memory.limit() >> 20
        )));
    }
    memory.allocate(Purpose::Weights, bytes)
}

/// Rows of `columns` numbers with zeros up to whole vec4s.
fn pad<T: Copy + Default>(values: Vec<T>, columns: usize) -> Vec<T> {
    if columns.is_multiple_of(4) {
        return values;
    }
    let padding = columns.next_multiple_of(4) - columns;
    values
        .chunks(columns)
        .flat_map(|row| {
            row.iter()
                .copied()
                .chain(std::iter::repeat_n(T::default(), padding))
        })
        .collect()
}

/// The bytes and the scales of q8_0 or q4_0 blocks.
fn split_blocks(dtype: Dtype, data: &[u8]) -> (Vec<i8>, Vec<f32>) {
    let (numbers, bytes) = dtype.block();
    let blocks = data.len() / bytes;
    let mut quants = Vec::with_capacity(blocks * numbers);
    let mut scales = Vec::with_capacity(blocks);
    for block in data.chunks_exact(bytes) {
        let (scale, block) = block.split_at(2);
        scales.push(f16::from_le_bytes([scale[0], scale[1]]).to_f32());
        if dtype == Dtype::Q8_0 {
            quants.extend(block.iter().map(|&q| q as i8));
        } else {
            quants.extend(block.iter().map(|&q| (q & 15) as i8 - 8));
            quants.extend(block.iter().map(|&q| (q >> 4) as i8 - 8));
        }
    }
    (quants, scales)
}

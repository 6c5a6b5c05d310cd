//! int8 products: blocks of 32 numbers with one scale each, on both sides.
//!
//! x·wᵀ = Σ over blocks of xscale · wscale · Σᵢ xᵢ·wᵢ; the inner sum is exact in 32 bits, the outer one is f32.
//! Where an instruction wants activations unsigned, they are stored with an offset o, and
//! −o · Σᵢ wᵢ, known beforehand, starts the inner sum. Where it wants weights unsigned, −o · Σᵢ xᵢ does.

use bytemuck::Zeroable;
use half::f16;

use super::{
    isa::{Isa, Quant, Work},
    math::{ROUND, largest},
    memory::Aligned,
    product::{Tiles, VECTORS, nth, panel_width},
    stack::Stack,
};
use crate::checkpoint::weights::{BLOCK, Dtype, decode_into};

/// A weight matrix `[outputs, inputs]` in the order a kernel reads it.
///
/// By panel of outputs, by block of inputs: for each step of `DEPTH` inputs, `DEPTH` numbers of each output in
/// turn, those of the panel's second half beside those of its first where a byte holds two; one scale for each output, and
/// one start of the sum where activations have an offset.
pub struct Blocks {
    blocks: usize,
    weights: Aligned,
    scales: Aligned,
    starts: Aligned,
}

/// Packs a matrix whose `inputs` are a multiple of 32.
pub struct Pack<'a>(pub Stack<'a>);

impl Work for Pack<'_> {
    type Output = Blocks;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Blocks {
        let Stack {
            outputs, inputs, ..
        } = self.0;
        let width = panel_width::<I>();
        let blocks = inputs / BLOCK;
        let padded = outputs.next_multiple_of(width);
        let mut packed = Blocks {
            blocks,
            weights: Aligned::zeros::<i8>(padded * inputs / I::PER_BYTE),
            scales: Aligned::zeros::<f32>(padded * blocks),
            starts: Aligned::zeros::<i32>(match I::OFFSET {
                0 => 0,
                _ => padded * blocks,
            }),
        };
        let weights = packed.weights.get_mut::<i8>();
        let scales = packed.scales.get_mut::<f32>();
        let starts = packed.starts.get_mut::<i32>();
        // The columns of a panel that have bytes of their own.
        let apart = width / I::PER_BYTE;
        for (output, (dtype, row)) in self.0.rows().enumerate() {
            let (panel, column) = (output / width, output % width);
            let (numbers, bytes) = dtype.block();
            for (b, block) in row.chunks_exact(BLOCK / numbers * bytes).enumerate() {
                let (quants, scale) = quantised(isa, dtype, block);
                let block = panel * blocks + b;
                scales[block * width + column] = scale;
                if I::OFFSET != 0 {
                    starts[block * width + column] =
                        -I::OFFSET * quants.iter().map(|&q| i32::from(q)).sum::<i32>();
                }
                let quants = quants.map(|q| q + I::WEIGHT_OFFSET as i8);
                let to = &mut weights[block * BLOCK * apart..][..BLOCK * apart];
                for (step, quants) in quants.chunks_exact(I::DEPTH).enumerate() {
                    let to = &mut to[(step * apart + column % apart) * I::DEPTH..];
                    for (to, q) in to.iter_mut().zip(quants) {
                        *to |= q << (4 * (column / apart));
                    }
                }
            }
        }
        packed
    }
}

/// 32 numbers as bytes and their scale; numbers that are in no such block are put in one.
fn quantised<I: Isa>(isa: I, dtype: Dtype, block: &[u8]) -> ([i8; BLOCK], f32) {
    let mut quants = [0i8; BLOCK];
    let scale = || f16::from_le_bytes([block[0], block[1]]).to_f32();
    match dtype {
        Dtype::Q8_0 => {
            for (q, &byte) in quants.iter_mut().zip(&block[2..]) {
                *q = byte as i8;
            }
            (quants, scale())
        }
        Dtype::Q4_0 => {
            let (low, high) = quants.split_at_mut(BLOCK / 2);
            for ((low, high), &byte) in low.iter_mut().zip(high).zip(&block[2..]) {
                *low = (byte & 15) as i8 - 8;
                *high = (byte >> 4) as i8 - 8;
            }
            (quants, scale())
        }
        Dtype::F32 | Dtype::F16 | Dtype::Bf16 => {
            let mut numbers = [0f32; BLOCK];
            decode_into(dtype, block, &mut numbers);
            let scale = largest(isa, &numbers) / 127.0;
            if scale > 0.0 {
                for (q, x) in quants.iter_mut().zip(numbers) {
                    *q = (x / scale).round_ties_even() as i8;
                }
            }
            (quants, scale)
        }
    }
}

/// Rows of activations `[rows, blocks · 32]` in blocks, in the order a kernel reads them.
///
/// By tile of rows (the last one may be lower), by step of `DEPTH` inputs: `DEPTH` numbers of each of the tile's
/// rows in turn. Scales, and starts of the sums: by tile, by block, one for each row.
pub struct Rows<'a, I: Isa> {
    quants: &'a [I::Quant],
    scales: &'a [f32],
    starts: &'a [i32],
}

impl<'a, I: Isa> Rows<'a, I> {
    /// Quantises whole rows of `blocks` blocks; `quants`, `scales` and `starts` are as long as they need to be.
    #[inline(always)]
    pub fn quantise(
        isa: I,
        x: &[f32],
        blocks: usize,
        quants: &'a mut [I::Quant],
        scales: &'a mut [f32],
        starts: &'a mut [i32],
    ) -> Self {
        let inputs = blocks * BLOCK;
        let tile = (I::ROWS * inputs).max(1);
        let tiles = x.chunks(tile).zip(quants.chunks_mut(tile));
        let of_tile = (I::ROWS * blocks).max(1);
        let sums = scales.chunks_mut(of_tile).zip(starts.chunks_mut(of_tile));
        for ((x, quants), (scales, starts)) in tiles.zip(sums) {
            let height = x.len() / inputs;
            for (r, row) in x.chunks_exact(inputs).enumerate() {
                let (row, _) = row.as_chunks::<BLOCK>();
                for (b, block) in row.iter().enumerate() {
                    let (block, scale) = quantise_block(isa, block);
                    scales[b * height + r] = scale;
                    if I::WEIGHT_OFFSET != 0 {
                        let sum: i32 = block.iter().map(|q| q.value()).sum();
                        starts[b * height + r] = -I::WEIGHT_OFFSET * sum;
                    }
                    let to = &mut quants[b * BLOCK * height..][..BLOCK * height];
                    let steps = to.chunks_exact_mut(height * I::DEPTH);
                    for (to, step) in steps.zip(block.chunks_exact(I::DEPTH)) {
                        to[r * I::DEPTH..][..I::DEPTH].copy_from_slice(step);
                    }
                }
            }
        }
        Self::quantised(quants, scales, starts)
    }

    /// Rows that were quantised before.
    #[inline(always)]
    pub fn quantised(quants: &'a [I::Quant], scales: &'a [f32], starts: &'a [i32]) -> Self {
        Self {
            quants,
            scales,
            starts,
        }
    }
}

#[inline(always)]
fn quantise_block<I: Isa>(isa: I, x: &[f32; BLOCK]) -> ([I::Quant; BLOCK], f32) {
    let range = I::RANGE as f32;
    let largest = largest(isa, x);
    let inverse = if largest > 0.0 { range / largest } else { 0.0 };
    // `array::map` is not always inlined, and then knows nothing of the instructions.
    let mut quants = [I::Quant::zeroed(); BLOCK];
    for (quant, x) in quants.iter_mut().zip(x) {
        let rounded = x * inverse + (ROUND + I::OFFSET as f32);
        *quant = I::Quant::from_low_bits(rounded.to_bits());
    }
    (quants, largest / range)
}

/// The product of quantised rows and a packed matrix.
pub struct Product<'a, I: Isa> {
    pub rows: Rows<'a, I>,
    pub weights: &'a Blocks,
}

/// 32, which the compiler for wasm must not know: it would unroll the loop over a block, load all of its numbers
/// first, and the browser's would move them from register to stack and back, at half the speed. Two steps at a time
/// already cost a seventh.
#[inline(always)]
fn block_depth() -> usize {
    match cfg!(target_arch = "wasm32") {
        true => std::hint::black_box(BLOCK),
        false => BLOCK,
    }
}

impl<I: Isa> Tiles<I> for Product<'_, I> {
    #[inline(always)]
    fn tile<const R: usize>(&self, isa: I, row: usize, panel: usize) -> [[I::F32; VECTORS]; R] {
        let width = panel_width::<I>();
        let half = I::LANES * I::DEPTH;
        let blocks = self.weights.blocks;
        let (first, count) = (panel * blocks * width, blocks * width);
        let per_byte = I::PER_BYTE;
        let weights = &self.weights.weights.get::<i8>()[first * BLOCK / per_byte..];
        let weights = &weights[..count * BLOCK / per_byte];
        let scales = &self.weights.scales.get::<f32>()[first..][..count];
        let starts = match I::OFFSET {
            0 => &[],
            _ => &self.weights.starts.get::<i32>()[first..][..count],
        };
        let x = &self.rows.quants[row * blocks * BLOCK..][..R * blocks * BLOCK];
        let x_scales = &self.rows.scales[row * blocks..][..R * blocks];
        let x_starts = &self.rows.starts[row * blocks..][..R * blocks];

        let depth = block_depth();
        let of_step = 2 * half / per_byte;
        let mut sums = [[isa.splat(0.0); VECTORS]; R];
        for b in 0..blocks {
            // SAFETY: the slices above hold this for each of `blocks` blocks.
            let (weights, x, x_scales, scales) = unsafe {
                (
                    nth(weights, b, width * depth / per_byte),
                    nth(x, b, R * depth),
                    nth(x_scales, b, R),
                    nth(scales, b, width),
                )
            };
            let mut start = [[isa.splat_i32(0); VECTORS]; R];
            if I::OFFSET != 0 {
                // SAFETY: as above.
                let starts = unsafe { nth(starts, b, width) };
                let columns = [
                    isa.load_i32(&starts[..I::LANES]),
                    isa.load_i32(&starts[I::LANES..]),
                ];
                start = [columns; R];
            }
            if I::WEIGHT_OFFSET != 0 {
                // Activations are signed then: columns have no starts of their own.
                // SAFETY: as above.
                let x_starts = unsafe { nth(x_starts, b, R) };
                start = std::array::from_fn(|r| [isa.splat_i32(x_starts[r]); VECTORS]);
            }
            let mut dots = [[isa.begin(start[0][0]); VECTORS]; R];
            for r in 0..R {
                for v in 0..VECTORS {
                    dots[r][v] = isa.begin(start[r][v]);
                }
            }
            for step in 0..depth / I::DEPTH {
                // SAFETY: a block is `depth / DEPTH` steps.
                let (weights, x) =
                    unsafe { (nth(weights, step, of_step), nth(x, step, R * I::DEPTH)) };
                let weights = isa.weights_of_two(weights);
                for r in 0..R {
                    let x = isa.activations(&x[r * I::DEPTH..][..I::DEPTH]);
                    for v in 0..VECTORS {
                        dots[r][v] = isa.dot(dots[r][v], weights[v], x);
                    }
                }
            }
            let scales = [isa.load(&scales[..I::LANES]), isa.load(&scales[I::LANES..])];
            for r in 0..R {
                let x_scale = isa.splat(x_scales[r]);
                for v in 0..VECTORS {
                    let scale = isa.mul(x_scale, scales[v]);
                    let dot = isa.to_f32(isa.total(dots[r][v], start[r][v]));
                    sums[r][v] = isa.mul_add(dot, scale, sums[r][v]);
                }
            }
        }
        sums
    }
}

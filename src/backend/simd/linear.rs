//! Linear layers: a product, its bias, and what is fused behind it.

use std::sync::Arc;

use super::{
    blocks::{self, Blocks},
    dense::{self, Dense},
    isa::{Cpu, Isa, Work},
    math::{gelu, tanh},
    memory::{Aligned, Memory},
    norm::Norm,
    product::{Map, Output, Tiles, panel, panel_width},
    stack::Stack,
};
use crate::{
    backend::Activation,
    checkpoint::weights::{BLOCK, Dtype, WeightTensor},
    error::{Error, Result},
};

/// A linear layer: weight `[outputs, inputs]`, bias `[outputs]`.
pub struct Linear {
    /// Columns of what it is applied to.
    pub inputs: usize,
    /// Columns of what it gives.
    pub outputs: usize,
    /// The instructions that the weights are packed for.
    pub cpu: Cpu,
    weight: Weight,
    /// Whole panels.
    bias: Aligned,
}

/// f32 weights stay f32, as do rows that are no whole blocks; all others are multiplied as bytes.
enum Weight {
    Blocks(Blocks),
    Dense(Dense),
}

/// Rows that are worked on together: their activations stay in a core's cache while the weights go by.
pub const ROWS: usize = 96;

impl Linear {
    /// Packs weights `[outputs, inputs]` with one `inputs`, and biases `[outputs]`, one under the other.
    pub fn load(
        cpu: Cpu,
        weights: &[&WeightTensor<'_>],
        biases: &[&WeightTensor<'_>],
    ) -> Result<Self> {
        let (mut outputs, mut columns) = (0, None);
        for weight in weights {
            let (rows, width) = weight.checked_dims2()?;
            outputs += rows;
            let needed = *columns.get_or_insert(width);
            if needed != width {
                return Err(Error::Tensor {
                    name: weight.name.clone(),
                    reason: format!("has {width} columns where {needed} are needed"),
                });
            }
        }
        let inputs = columns.unwrap_or_default();
        let mut bias = Vec::with_capacity(outputs);
        for part in biases {
            part.checked_dims2()?;
            bias.extend(part.to_f32());
        }
        super::check_shape("the bias's length", bias.len(), outputs)?;
        let in_blocks =
            inputs.is_multiple_of(BLOCK) && weights.iter().all(|weight| weight.dtype != Dtype::F32);
        let cpu = match weights {
            [first, rest @ ..] if rest.iter().all(|w| w.dtype == first.dtype) => {
                cpu.for_weights(first.dtype)
            }
            _ => cpu,
        };
        let stack = Stack {
            parts: weights,
            outputs,
            inputs,
        };
        let weight = match in_blocks {
            true => Weight::Blocks(cpu.run(blocks::Pack(stack))),
            false => Weight::Dense(cpu.run_plain(dense::Pack(stack))),
        };
        Ok(Self {
            inputs,
            outputs,
            cpu,
            weight,
            bias: cpu.run_plain(PadBias(&bias)),
        })
    }
}

struct PadBias<'a>(&'a [f32]);

impl Work for PadBias<'_> {
    type Output = Aligned;

    #[inline(always)]
    fn run<I: Isa>(self, _: I) -> Aligned {
        let mut padded = Aligned::zeros::<f32>(self.0.len().next_multiple_of(panel_width::<I>()));
        padded.get_mut::<f32>()[..self.0.len()].copy_from_slice(self.0);
        padded
    }
}

/// What follows a product.
#[derive(Clone, Copy)]
pub enum Then<'a> {
    Activation(Activation),
    /// LayerNorm of the sum with these rows.
    AddNorm(&'a [f32], &'a Norm),
}

/// A layer on some rows: `x` `[rows, inputs]` to `out` `[rows, outputs]`.
pub struct Forward<'a> {
    pub layer: &'a Linear,
    pub x: &'a [f32],
    pub then: Then<'a>,
    pub out: &'a mut [f32],
    /// For quantised activations.
    pub memory: &'a Arc<Memory>,
}

impl Forward<'_> {
    /// Computes it, with the instructions that the layer's weights are packed for.
    pub fn run(self) {
        let cpu = self.layer.cpu;
        match &self.layer.weight {
            Weight::Dense(weights) => cpu.run_plain(ByNumbers(self, weights)),
            Weight::Blocks(weights) => cpu.run(ByBlocks(self, weights)),
        }
    }

    #[inline(always)]
    fn finish<I: Isa, T: Tiles<I>>(self, isa: I, product: &T) {
        let width = self.layer.outputs.max(1);
        panels(
            isa,
            product,
            self.out.len() / width,
            self.layer,
            self.then,
            self.out,
        );
        if let Then::AddNorm(residual, norm) = self.then {
            let rows = self.out.chunks_exact_mut(width);
            for (row, residual) in rows.zip(residual.chunks_exact(width)) {
                for (x, r) in row.iter_mut().zip(residual) {
                    *x += r;
                }
                norm.apply(row);
            }
        }
    }
}

struct ByNumbers<'a>(Forward<'a>, &'a Dense);

impl Work for ByNumbers<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Self(forward, weights) = self;
        let product = dense::Product {
            x: forward.x,
            stride: forward.layer.inputs,
            depth: forward.layer.inputs,
            panels: weights.0.get(),
        };
        forward.finish(isa, &product);
    }
}

struct ByBlocks<'a>(Forward<'a>, &'a Blocks);

impl Work for ByBlocks<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Self(forward, weights) = self;
        let (x, memory) = (forward.x, forward.memory);
        let mut quants = memory.take(size_of_val(x));
        let mut scales = memory.take_f32(x.len() / BLOCK);
        let mut starts = memory.take_f32(x.len() / BLOCK);
        let product = blocks::Product::<I> {
            rows: blocks::Rows::quantise(
                isa,
                x,
                forward.layer.inputs / BLOCK,
                quants.slice_mut(x.len()),
                scales.slice_mut(x.len() / BLOCK),
                starts.slice_mut(x.len() / BLOCK),
            ),
            weights,
        };
        forward.finish(isa, &product);
    }
}

#[derive(Clone, Copy)]
struct Gelu;

impl Map for Gelu {
    #[inline(always)]
    fn map<I: Isa>(self, isa: I, x: I::F32) -> I::F32 {
        gelu(isa, x)
    }
}

#[derive(Clone, Copy)]
struct Relu;

impl Map for Relu {
    #[inline(always)]
    fn map<I: Isa>(self, isa: I, x: I::F32) -> I::F32 {
        isa.max(x, isa.splat(0.0))
    }
}

#[derive(Clone, Copy)]
struct Tanh;

impl Map for Tanh {
    #[inline(always)]
    fn map<I: Isa>(self, isa: I, x: I::F32) -> I::F32 {
        tanh(isa, x)
    }
}

/// All panels of a product, with bias and activation while their numbers are in the first cache.
#[inline(always)]
fn panels<I: Isa, T: Tiles<I>>(
    isa: I,
    tiles: &T,
    rows: usize,
    layer: &Linear,
    then: Then<'_>,
    out: &mut [f32],
) {
    let mut out = Output {
        numbers: out,
        stride: layer.outputs,
        columns: layer.outputs,
        bias: Some(layer.bias.get()),
    };
    for p in 0..layer.outputs.div_ceil(panel_width::<I>()) {
        panel(isa, tiles, rows, p, &mut out);
        match then {
            Then::Activation(Activation::Gelu) => out.map(isa, rows, p, Gelu),
            Then::Activation(Activation::Relu) => out.map(isa, rows, p, Relu),
            Then::Activation(Activation::Tanh) => out.map(isa, rows, p, Tanh),
            Then::Activation(Activation::None) | Then::AddNorm(..) => {}
        }
    }
}

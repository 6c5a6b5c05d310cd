//! Matrices with the same `inputs`, one under the other: what kernels have packed in their order.

use crate::checkpoint::weights::{Dtype, WeightTensor};

/// Checked parts of a matrix `[outputs, inputs]`; `inputs` is whole blocks of each part's format.
#[derive(Clone, Copy)]
pub struct Stack<'a> {
    pub parts: &'a [&'a WeightTensor<'a>],
    pub outputs: usize,
    pub inputs: usize,
}

impl<'a> Stack<'a> {
    /// The rows as their files have them, each with its format.
    #[inline(always)]
    pub fn rows(self) -> impl Iterator<Item = (Dtype, &'a [u8])> {
        self.parts.iter().flat_map(move |part| {
            let (numbers, bytes) = part.dtype.block();
            let row_bytes = (self.inputs / numbers * bytes).max(1);
            // Past what the shape asks for, a file's bytes are not this tensor's.
            let rows = part.dims2().map_or(0, |(rows, _)| rows);
            let data = part.data.chunks_exact(row_bytes).take(rows);
            data.map(|row| (part.dtype, row))
        })
    }
}

//! f32 products: heads, whose files are f32, and the two products of attention.

use super::{
    isa::{Isa, Work},
    memory::Aligned,
    product::{Tiles, VECTORS, panel_width},
};
use crate::model::weights::WeightTensor;

/// A weight matrix `[outputs, inputs]` in the order a kernel reads it: by panel of outputs, the panel's
/// numbers for each input in turn.
pub struct Dense(pub Aligned);

/// Packs matrices with the same `inputs` one under the other.
pub struct Pack<'a> {
    pub parts: &'a [&'a WeightTensor<'a>],
    pub outputs: usize,
    pub inputs: usize,
}

impl Work for Pack<'_> {
    type Output = Dense;

    #[inline(always)]
    fn run<I: Isa>(self, _: I) -> Dense {
        let width = panel_width::<I>();
        let mut packed = Aligned::zeros::<f32>(self.outputs.next_multiple_of(width) * self.inputs);
        let to = packed.get_mut::<f32>();
        let mut output = 0;
        for part in self.parts {
            let rows = part.dims2().map_or(0, |(rows, _)| rows);
            for row in part.to_f32().chunks_exact(self.inputs.max(1)).take(rows) {
                let (panel, column) = (output / width, output % width);
                let to = &mut to[panel * self.inputs * width..][..self.inputs * width];
                for (to, &number) in to.chunks_exact_mut(width).zip(row) {
                    to[column] = number;
                }
                output += 1;
            }
        }
        Dense(packed)
    }
}

/// The product of rows of `depth` numbers, `stride` apart, and a matrix in panels.
pub struct Product<'a> {
    pub x: &'a [f32],
    pub stride: usize,
    pub depth: usize,
    pub panels: &'a [f32],
}

impl<I: Isa> Tiles<I> for Product<'_> {
    #[inline(always)]
    fn tile<const R: usize>(&self, isa: I, row: usize, panel: usize) -> [[I::F32; VECTORS]; R] {
        let width = panel_width::<I>();
        let depth = self.depth;
        let columns = &self.panels[panel * depth * width..][..depth * width];
        let x: [&[f32]; R] = std::array::from_fn(|r| &self.x[(row + r) * self.stride..][..depth]);
        let mut sums = [[isa.splat(0.0); VECTORS]; R];
        for i in 0..depth {
            let columns = &columns[i * width..][..width];
            let columns = [
                isa.load(&columns[..I::LANES]),
                isa.load(&columns[I::LANES..]),
            ];
            for r in 0..R {
                let x = isa.splat(x[r][i]);
                for v in 0..VECTORS {
                    sums[r][v] = isa.mul_add(x, columns[v], sums[r][v]);
                }
            }
        }
        sums
    }
}

//! f32 products: heads, whose files are f32, and the two products of attention.

use super::{
    isa::{Isa, Work},
    memory::Aligned,
    product::{Tiles, VECTORS, nth, panel_width},
    stack::Stack,
};
use crate::checkpoint::weights::decode_into;

/// A weight matrix `[outputs, inputs]` in the order a kernel reads it: by panel of outputs, the panel's
/// numbers for each input in turn.
pub struct Dense(pub Aligned);

/// Packs a matrix.
pub struct Pack<'a>(pub Stack<'a>);

impl Work for Pack<'_> {
    type Output = Dense;

    #[inline(always)]
    fn run<I: Isa>(self, _: I) -> Dense {
        let Stack {
            outputs, inputs, ..
        } = self.0;
        let width = panel_width::<I>();
        let mut packed = Aligned::zeros::<f32>(outputs.next_multiple_of(width) * inputs);
        let to = packed.get_mut::<f32>();
        let mut numbers = vec![0f32; inputs];
        for (output, (dtype, row)) in self.0.rows().enumerate() {
            decode_into(dtype, row, &mut numbers);
            let (panel, column) = (output / width, output % width);
            let to = &mut to[panel * inputs * width..][..inputs * width];
            for (to, &number) in to.chunks_exact_mut(width).zip(&numbers) {
                to[column] = number;
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
            // SAFETY: `columns` and each row of `x` were cut to `depth` runs above.
            let columns = unsafe { nth(columns, i, width) };
            let columns = [
                isa.load(&columns[..I::LANES]),
                isa.load(&columns[I::LANES..]),
            ];
            for r in 0..R {
                // SAFETY: as above.
                let x = isa.splat(unsafe { nth(x[r], i, 1) }[0]);
                for v in 0..VECTORS {
                    sums[r][v] = isa.mul_add(x, columns[v], sums[r][v]);
                }
            }
        }
        sums
    }
}

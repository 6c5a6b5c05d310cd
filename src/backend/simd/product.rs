//! Products x·Wᵀ, tile by tile: a few rows by a panel of two vectors of columns.
//!
//! A number's sum runs over the columns of x in their order, whatever tile it is in: results do not depend
//! on the rows beside it.

use super::isa::Isa;

/// Vectors of columns in a panel.
pub const VECTORS: usize = 2;

/// Columns in a panel.
pub const fn panel_width<I: Isa>() -> usize {
    VECTORS * I::LANES
}

/// A product whose tiles can be computed one by one.
pub trait Tiles<I: Isa> {
    /// Rows `row..row + R` by the columns of panel `panel`.
    fn tile<const R: usize>(&self, isa: I, row: usize, panel: usize) -> [[I::F32; VECTORS]; R];
}

/// The `i`-th run of `count` numbers. Checks of bounds in a tile's loops cost a quarter of
/// their time in browsers.
///
/// # Safety
///
/// `all` holds i + 1 such runs.
#[inline(always)]
pub unsafe fn nth<T>(all: &[T], i: usize, count: usize) -> &[T] {
    debug_assert!((i + 1) * count <= all.len());
    // SAFETY: what this function asks for.
    unsafe { all.get_unchecked(i * count..(i + 1) * count) }
}

/// Where a product's numbers go: rows of `columns` numbers, `stride` apart.
pub struct Output<'a> {
    pub numbers: &'a mut [f32],
    pub stride: usize,
    pub columns: usize,
    /// Added to each row; whole panels.
    pub bias: Option<&'a [f32]>,
}

impl Output<'_> {
    /// The columns of a panel that the rows have.
    #[inline(always)]
    fn span<I: Isa>(&self, panel: usize) -> (usize, usize) {
        let first = panel * panel_width::<I>();
        (first, (first + panel_width::<I>()).min(self.columns))
    }

    /// Applies `f` to the panel's numbers in the first `rows` rows, vector by vector.
    #[inline(always)]
    pub fn map<I: Isa, F: Map>(&mut self, isa: I, rows: usize, panel: usize, f: F) {
        let (first, end) = self.span::<I>(panel);
        for row in 0..rows {
            let row = &mut self.numbers[row * self.stride..][first..end];
            let mut vectors = row.chunks_exact_mut(I::LANES);
            for numbers in &mut vectors {
                let y = f.map(isa, isa.load(numbers));
                isa.store(y, numbers);
            }
            let rest = vectors.into_remainder();
            if !rest.is_empty() {
                let mut padded = [0f32; MOST_LANES];
                padded[..rest.len()].copy_from_slice(rest);
                let y = f.map(isa, isa.load(&padded));
                isa.store(y, &mut padded);
                rest.copy_from_slice(&padded[..rest.len()]);
            }
        }
    }

    #[inline(always)]
    fn put<I: Isa, const R: usize>(
        &mut self,
        isa: I,
        row: usize,
        panel: usize,
        tile: [[I::F32; VECTORS]; R],
    ) {
        let (first, end) = self.span::<I>(panel);
        let bias = self.bias.map(|bias| {
            let bias = &bias[first..][..panel_width::<I>()];
            [isa.load(&bias[..I::LANES]), isa.load(&bias[I::LANES..])]
        });
        for (r, mut sums) in tile.into_iter().enumerate() {
            if let Some(bias) = bias {
                sums = [isa.add(sums[0], bias[0]), isa.add(sums[1], bias[1])];
            }
            let row = &mut self.numbers[(row + r) * self.stride..][first..end];
            if row.len() == panel_width::<I>() {
                isa.store(sums[0], &mut row[..I::LANES]);
                isa.store(sums[1], &mut row[I::LANES..]);
            } else {
                let mut whole = [0f32; VECTORS * MOST_LANES];
                isa.store(sums[0], &mut whole[..I::LANES]);
                isa.store(sums[1], &mut whole[I::LANES..]);
                row.copy_from_slice(&whole[..row.len()]);
            }
        }
    }
}

/// The widest vector of any instruction set.
pub const MOST_LANES: usize = 16;

/// A function of vectors. Must be `#[inline(always)]`, as [`super::isa::Work::run`] must.
pub trait Map: Copy {
    fn map<I: Isa>(self, isa: I, x: I::F32) -> I::F32;
}

/// The first `rows` rows of a product's panel.
#[inline(always)]
pub fn panel<I: Isa, T: Tiles<I>>(
    isa: I,
    tiles: &T,
    rows: usize,
    panel: usize,
    out: &mut Output<'_>,
) {
    let mut row = 0;
    while row < rows {
        let count = (rows - row).min(I::ROWS);
        // Tiles taller than an instruction set's are never asked for: the compiler leaves them out.
        match count {
            6 if I::ROWS >= 6 => out.put::<I, 6>(isa, row, panel, tiles.tile(isa, row, panel)),
            5 if I::ROWS >= 5 => out.put::<I, 5>(isa, row, panel, tiles.tile(isa, row, panel)),
            4 if I::ROWS >= 4 => out.put::<I, 4>(isa, row, panel, tiles.tile(isa, row, panel)),
            3 if I::ROWS >= 3 => out.put::<I, 3>(isa, row, panel, tiles.tile(isa, row, panel)),
            2 => out.put::<I, 2>(isa, row, panel, tiles.tile(isa, row, panel)),
            _ => out.put::<I, 1>(isa, row, panel, tiles.tile(isa, row, panel)),
        }
        row += count;
    }
}

//! Products of bf16 numbers with f32 sums, on CPUs with instructions for them: Advanced Matrix Extensions ([`amx`];
//! Intel, since 2023) or AVX-512's dot products ([`avx512`]; AMD since Zen 4, some of Intel's since 2020).
//!
//! Both take the same tiles: 16 × 16 words of two bf16 numbers that follow each other along the sum. Numbers are rounded to
//! bf16 (to nearest, ties to even) as they are packed; sums run in a fixed order, whatever the number of threads.

use std::{arch::x86_64::*, cell::RefCell, mem::MaybeUninit, sync::LazyLock};

use candle_core::{CpuStorage, Layout, Result, bail};
use rayon::prelude::*;

mod amx;
mod avx512;

/// Rows of a tile, columns of a tile of sums, and pairs of bf16 numbers in a tile's row.
const TILE: usize = 16;
/// Numbers along the summed dimension in a tile.
const DEPTH: usize = 2 * TILE;
/// 32-bit words in a tile.
const WORDS: usize = TILE * TILE;

/// A packed tile. A row fills a cache line: one that lay in two would take three times as long to load.
#[derive(Clone)]
#[repr(C, align(64))]
struct Tile([u32; WORDS]);

/// Rows, and columns, of the sums that the kernel keeps in registers: two tiles each way.
const BLOCK: usize = 2 * TILE;

/// Whose instructions multiply.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kernel {
    Amx,
    Avx512,
}

impl Kernel {
    /// The fastest first.
    const ALL: [Self; 2] = [Self::Amx, Self::Avx512];

    /// Whether this machine has the instructions.
    fn is_available(self) -> bool {
        // The packing is compiled for AVX-512 BW, which CPUs with either have.
        is_x86_feature_detected!("avx512bw")
            && match self {
                Self::Amx => amx::is_available(),
                Self::Avx512 => avx512::is_available(),
            }
    }

    /// The fastest one that this machine has the instructions of.
    fn fastest() -> Option<Self> {
        static FASTEST: LazyLock<Option<Kernel>> = LazyLock::new(|| {
            let mut kernels = Kernel::ALL.into_iter();
            kernels.find(|kernel| kernel.is_available())
        });
        *FASTEST
    }
}

/// Whether this machine has the instructions, and its kernel lets this process use them.
pub fn is_available() -> bool {
    Kernel::fastest().is_some()
}

/// A factor of a product as it lies in memory: rows of `stride` numbers.
#[derive(Clone, Copy)]
pub struct Factor<'a> {
    pub numbers: &'a [f32],
    pub stride: usize,
    /// Whether the numbers that are summed over lie side by side; else they lie `stride` apart.
    pub inner_contiguous: bool,
}

impl<'a> Factor<'a> {
    /// `[m, k]`, contiguous or transposed.
    pub fn left(storage: &'a CpuStorage, layout: &Layout) -> Result<Self> {
        Self::new(storage, layout, 1)
    }

    /// `[k, n]`, contiguous or transposed.
    pub fn right(storage: &'a CpuStorage, layout: &Layout) -> Result<Self> {
        Self::new(storage, layout, 0)
    }

    fn new(storage: &'a CpuStorage, layout: &Layout, inner: usize) -> Result<Self> {
        let numbers = storage.as_slice::<f32>()?;
        let numbers = numbers.get(layout.start_offset()..).unwrap_or_default();
        let stride = layout.stride();
        match (stride.get(inner), stride.get(1 - inner)) {
            (Some(1), Some(&stride)) => Ok(Self {
                numbers,
                stride,
                inner_contiguous: true,
            }),
            (Some(&stride), Some(1)) => Ok(Self {
                numbers,
                stride,
                inner_contiguous: false,
            }),
            _ => bail!("a product needs rows or columns that lie in one piece"),
        }
    }
}

/// a·b: `[m, k]`, `[k, n]` → `[m, n]`.
///
/// Panics if a factor holds fewer numbers than its sizes ask for, or where [`is_available`] is false.
#[expect(clippy::expect_used, reason = "a caller's mistake, as documented")]
pub fn multiply(a: Factor<'_>, b: Factor<'_>, sizes: (usize, usize, usize)) -> Vec<f32> {
    let kernel = Kernel::fastest().expect("the caller asked whether the instructions are there");
    multiply_by(kernel, a, b, sizes)
}

/// [`multiply`] by the instructions of `kernel`, which must be there.
fn multiply_by(
    kernel: Kernel,
    a: Factor<'_>,
    b: Factor<'_>,
    (m, k, n): (usize, usize, usize),
) -> Vec<f32> {
    thread_local! {
        /// Packed factors, kept from call to call: fresh pages cost more than the packing.
        static PACKED: RefCell<(Vec<Tile>, Vec<Tile>)> = RefCell::default();
    }
    if m * n == 0 || k == 0 {
        return vec![0.0; m * n];
    }
    let mut out: Vec<f32> = Vec::with_capacity(m * n);
    let (mut a_tiles, mut b_tiles) = PACKED.take();
    let panel = BLOCK / TILE * k.div_ceil(DEPTH);
    pack(&a, m, k, Side::Left, &mut a_tiles);
    pack(&b, n, k, Side::Right, &mut b_tiles);
    let panels = at_once(m.div_ceil(BLOCK), panel);
    out.spare_capacity_mut()[..m * n]
        .par_chunks_mut(panels * BLOCK * n)
        .zip(a_tiles.par_chunks(panels * panel))
        .for_each(|(rows, a_panels)| {
            let tiles = (kernel == Kernel::Amx).then(amx::Tiles::configure);
            for (column, b_panel) in b_tiles.chunks_exact(panel).enumerate() {
                let column = column * BLOCK;
                let blocks = rows.chunks_mut(BLOCK * n);
                for (rows, a_panel) in blocks.zip(a_panels.chunks_exact(panel)) {
                    let block = |out: &mut [MaybeUninit<f32>], stride| match &tiles {
                        Some(tiles) => tiles.multiply(a_panel, b_panel, out, stride),
                        None => avx512::multiply(a_panel, b_panel, out, stride),
                    };
                    let whole = rows.len() == BLOCK * n && column + BLOCK <= n;
                    if whole {
                        block(&mut rows[column..], n);
                        continue;
                    }
                    let mut sums = [MaybeUninit::uninit(); BLOCK * BLOCK];
                    block(&mut sums, BLOCK);
                    let width = BLOCK.min(n - column);
                    for (row, sums) in rows.chunks_exact_mut(n).zip(sums.chunks_exact(BLOCK)) {
                        row[column..column + width].copy_from_slice(&sums[..width]);
                    }
                }
            }
        });
    PACKED.set((a_tiles, b_tiles));
    // SAFETY: every block of `BLOCK` rows and columns, cut at the edges, was written above.
    unsafe { out.set_len(m * n) };
    out
}

/// How many of `panels`, of so many tiles each, a thread multiplies by one panel of the right before the next: as many as
/// stay in its cache meanwhile, so that the right, which may not fit there, is read once for all of them.
fn at_once(panels: usize, tiles: usize) -> usize {
    /// Half of what CPUs with these instructions have beside each core.
    const CACHE: usize = 1 << 20;
    let fit = (CACHE / (size_of::<Tile>() * tiles)).max(1);
    let threads = rayon::current_num_threads();
    // As much for each thread.
    let parts = panels.div_ceil(fit).next_multiple_of(threads);
    panels.div_ceil(parts)
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Left,
    Right,
}

/// Packs a factor whose other dimension is `outer` long into tiles: panels of [`BLOCK`] rows (columns, on the
/// right), in a panel steps of [`DEPTH`] along the sum, in a step two tiles; zeros at the edges.
fn pack(factor: &Factor<'_>, outer: usize, inner: usize, side: Side, tiles: &mut Vec<Tile>) {
    let needed = match factor.inner_contiguous {
        true => (outer - 1) * factor.stride + inner,
        false => (inner - 1) * factor.stride + outer,
    };
    assert!(factor.numbers.len() >= needed);
    let steps = inner.div_ceil(DEPTH);
    let panel = BLOCK / TILE * steps;
    tiles.resize(outer.div_ceil(BLOCK) * panel, Tile([0; WORDS]));
    tiles
        .par_chunks_exact_mut(panel)
        .enumerate()
        .for_each(|(i, panel)| {
            for (j, Tile(words)) in panel.iter_mut().enumerate() {
                let (step, half) = (j / 2, j % 2);
                let from = (i * BLOCK + half * TILE, step * DEPTH);
                // SAFETY: `is_available` says that the CPU has AVX-512 BW; the numbers were counted above.
                unsafe { pack_tile(factor, (outer, inner), from, side, words) };
            }
        });
}

/// Packs the tile that begins at `(outer, inner)`. On the left a tile's row is a row of the factor and its words
/// are pairs along the sum; on the right it is the other way round.
///
/// # Safety
/// `factor` must hold `outer` × `inner` numbers, the tile must begin below `inner`.
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn pack_tile(
    factor: &Factor<'_>,
    (outer, inner): (usize, usize),
    (outer_from, inner_from): (usize, usize),
    side: Side,
    tile: &mut [u32; WORDS],
) {
    // A panel's second tile may lie beyond the edge altogether.
    let width = TILE.min(outer.saturating_sub(outer_from));
    let depth = DEPTH.min(inner - inner_from);
    let mut words = [_mm512_setzero_si512(); TILE];
    if factor.inner_contiguous {
        // Two numbers a word, the first one low: as they lie in memory.
        for (i, words) in words[..width].iter_mut().enumerate() {
            let at = (outer_from + i) * factor.stride + inner_from;
            // SAFETY: the row's next `depth` numbers are there.
            let [low, high] = unsafe {
                [
                    load(factor, at, depth.min(TILE)),
                    load(factor, at + TILE.min(depth), depth.saturating_sub(TILE)),
                ]
            };
            let halves =
                [low, high].map(|x| _mm512_cvtepi32_epi16(_mm512_srli_epi32::<16>(rounded(x))));
            *words = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(halves[0]), halves[1]);
        }
    } else if width > 0 {
        let row = |i: usize| match i < depth {
            // SAFETY: the row's next `width` numbers are there.
            true => rounded(unsafe {
                load(factor, (inner_from + i) * factor.stride + outer_from, width)
            }),
            false => _mm512_setzero_si512(),
        };
        for (i, words) in words.iter_mut().enumerate() {
            let (even, odd) = (row(2 * i), row(2 * i + 1));
            let upper = _mm512_set1_epi32(0xffff_0000_u32 as i32);
            *words = _mm512_or_si512(_mm512_srli_epi32::<16>(even), _mm512_and_si512(odd, upper));
        }
    }
    if factor.inner_contiguous != (side == Side::Left) {
        words = transpose(words);
    }
    for (tile, words) in tile.as_chunks_mut::<TILE>().0.iter_mut().zip(words) {
        // SAFETY: a tile's row is as long as the register.
        unsafe { _mm512_storeu_si512(tile.as_mut_ptr().cast(), words) };
    }
}

/// `count` numbers of a factor, 16 at most, as bits; zeros after them.
///
/// # Safety
/// The numbers from `at` to `at + count` must be there.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn load(factor: &Factor<'_>, at: usize, count: usize) -> __m512i {
    debug_assert!(count <= TILE && at + count <= factor.numbers.len());
    let mask = ((1u32 << count) - 1) as __mmask16;
    // SAFETY: by the caller; what the mask leaves out is not read.
    unsafe { _mm512_maskz_loadu_epi32(mask, factor.numbers.as_ptr().add(at).cast()) }
}

/// Bits whose upper half is the nearest bf16 number, ties to even.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn rounded(bits: __m512i) -> __m512i {
    let odd = _mm512_and_si512(_mm512_srli_epi32::<16>(bits), _mm512_set1_epi32(1));
    _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)))
}

/// Columns as rows.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn transpose(rows: [__m512i; TILE]) -> [__m512i; TILE] {
    let (mut pairs, mut fours, mut columns) = (rows, rows, rows);
    for i in (0..TILE).step_by(2) {
        pairs[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
        pairs[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
    }
    for i in (0..TILE).step_by(4) {
        fours[i] = _mm512_unpacklo_epi64(pairs[i], pairs[i + 2]);
        fours[i + 1] = _mm512_unpackhi_epi64(pairs[i], pairs[i + 2]);
        fours[i + 2] = _mm512_unpacklo_epi64(pairs[i + 1], pairs[i + 3]);
        fours[i + 3] = _mm512_unpackhi_epi64(pairs[i + 1], pairs[i + 3]);
    }
    // Lane l of fours[4 g + c] now holds column 4 l + c of rows 4 g to 4 g + 3.
    for c in 0..4 {
        let (a, b) = (fours[c], fours[4 + c]);
        let upper = [
            _mm512_shuffle_i32x4::<0x88>(a, b),
            _mm512_shuffle_i32x4::<0xdd>(a, b),
        ];
        let (a, b) = (fours[8 + c], fours[12 + c]);
        let lower = [
            _mm512_shuffle_i32x4::<0x88>(a, b),
            _mm512_shuffle_i32x4::<0xdd>(a, b),
        ];
        columns[c] = _mm512_shuffle_i32x4::<0x88>(upper[0], lower[0]);
        columns[4 + c] = _mm512_shuffle_i32x4::<0x88>(upper[1], lower[1]);
        columns[8 + c] = _mm512_shuffle_i32x4::<0xdd>(upper[0], lower[0]);
        columns[12 + c] = _mm512_shuffle_i32x4::<0xdd>(upper[1], lower[1]);
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The nearest bf16 number, by a library.
    fn rounded(x: f32) -> f64 {
        half::bf16::from_f32(x).to_f64()
    }

    #[test]
    fn every_kernel_gives_the_product_of_rounded_numbers() {
        let mut state = 1u32;
        let mut random = |count: usize| -> Vec<f32> {
            let mut next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 8) as f32 / 8_388_608.0 - 1.0
            };
            (0..count).map(|_| next()).collect()
        };
        for kernel in Kernel::ALL {
            if !kernel.is_available() {
                eprintln!("skipped: this CPU has no instructions for {kernel:?}");
                continue;
            }
            for (m, k, n) in [
                (1, 1, 1),
                (3, 31, 17),
                (32, 64, 32),
                (45, 70, 99),
                (64, 33, 16),
                // More rows than a thread takes at once.
                (300, 40, 70),
            ] {
                for (a_contiguous, b_contiguous) in
                    [(true, true), (true, false), (false, true), (false, false)]
                {
                    let (a, b) = (random(m * k), random(k * n));
                    let factor = |numbers, inner_contiguous, outer| Factor {
                        numbers,
                        stride: if inner_contiguous { k } else { outer },
                        inner_contiguous,
                    };
                    let product = multiply_by(
                        kernel,
                        factor(&a, a_contiguous, m),
                        factor(&b, b_contiguous, n),
                        (m, k, n),
                    );
                    for row in 0..m {
                        for column in 0..n {
                            let at = |i: usize| match (a_contiguous, b_contiguous) {
                                (true, true) => (row * k + i, column * k + i),
                                (true, false) => (row * k + i, i * n + column),
                                (false, true) => (i * m + row, column * k + i),
                                (false, false) => (i * m + row, i * n + column),
                            };
                            let expected: f64 = (0..k)
                                .map(|i| rounded(a[at(i).0]) * rounded(b[at(i).1]))
                                .sum();
                            let got = f64::from(product[row * n + column]);
                            // Sums in f32 of at most 70 products below 1.
                            assert!(
                                (got - expected).abs() < 1e-5,
                                "{kernel:?} {m}×{k}×{n}, row {row}, column {column}: {got} and not {expected}"
                            );
                        }
                    }
                }
            }
        }
    }
}

//! AVX-512's dot products: an instruction multiplies 16 couples of bf16 numbers by 16 others and adds each couple's
//! two products to one of 16 f32 sums. Twice what products of f32 numbers reach, at best.

use std::{arch::x86_64::*, mem::MaybeUninit};

use super::{BLOCK, TILE, Tile};

/// Rows whose sums, two registers wide, are kept in registers at a time: enough sums that no addition waits for the one
/// before it.
const ROWS: usize = 8;

/// Whether the CPU has the instructions.
pub fn is_available() -> bool {
    is_x86_feature_detected!("avx512bf16")
}

/// Writes the product of two packed panels: [`BLOCK`] rows of [`BLOCK`] sums, `stride` numbers apart.
///
/// Needs [`is_available`].
pub fn multiply(a: &[Tile], b: &[Tile], out: &mut [MaybeUninit<f32>], stride: usize) {
    assert!(!a.is_empty() && a.len().is_multiple_of(2) && a.len() == b.len());
    assert!(out.len() >= (BLOCK - 1) * stride + BLOCK);
    for row in (0..BLOCK).step_by(ROWS) {
        // SAFETY: the caller saw to the instructions.
        unsafe { rows(a, b, row, &mut out[row * stride..], stride) };
    }
}

/// [`ROWS`] rows of the product, from `row` of the panel on.
#[target_feature(enable = "avx512f,avx512bf16")]
fn rows(a: &[Tile], b: &[Tile], row: usize, out: &mut [MaybeUninit<f32>], stride: usize) {
    let (half, first) = (row / TILE, row % TILE);
    let mut sums = [[_mm512_setzero_ps(); 2]; ROWS];
    // A step along the sum holds two tiles: the upper and lower rows of `a`, the left and right columns of `b`.
    for (a, b) in a.as_chunks::<2>().0.iter().zip(b.as_chunks::<2>().0) {
        let a = a[half].0.as_chunks::<TILE>().0;
        let b = b.each_ref().map(|Tile(words)| words.as_chunks::<TILE>().0);
        for couple in 0..TILE {
            // SAFETY: a tile's row is as long as the register.
            let columns = [0, 1]
                .map(|side| bf16s(unsafe { _mm512_loadu_si512(b[side][couple].as_ptr().cast()) }));
            for (sums, row) in sums.iter_mut().zip(&a[first..]) {
                let row = bf16s(_mm512_set1_epi32(row[couple] as i32));
                for (sum, columns) in sums.iter_mut().zip(columns) {
                    *sum = _mm512_dpbf16_ps(*sum, row, columns);
                }
            }
        }
    }
    for (i, sums) in sums.iter().enumerate() {
        for (side, &sum) in sums.iter().enumerate() {
            let out = &mut out[i * stride + side * TILE..][..TILE];
            // SAFETY: a register holds as many numbers.
            unsafe { _mm512_storeu_ps(out.as_mut_ptr().cast(), sum) };
        }
    }
}

/// Sixteen couples of bf16 numbers, from their bits.
fn bf16s(bits: __m512i) -> __m512bh {
    // SAFETY: both types are 64 bytes that may hold any bits.
    unsafe { std::mem::transmute::<__m512i, __m512bh>(bits) }
}

//! What the fused operations share: the numbers of a tensor, functions a compiler can do for several numbers at
//! once, sums in a fixed order, and random bits by their place.

use candle_core::{CpuStorage, Layout, Result, bail};
use rayon::prelude::*;

/// Numbers that one task works on where rows do not matter.
pub const SPAN: usize = 1 << 14;
/// Rows that one task works on; sums over rows are made of sums over so many.
pub const ROWS: usize = 64;

/// The numbers of a contiguous f32 tensor.
pub fn numbers<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    part(storage.as_slice()?, layout)
}

/// The part of memory that a contiguous tensor is.
pub fn part<'a, T>(all: &'a [T], layout: &Layout) -> Result<&'a [T]> {
    match layout
        .contiguous_offsets()
        .and_then(|(start, end)| all.get(start..end))
    {
        Some(numbers) => Ok(numbers),
        None => bail!("a fused operation needs contiguous numbers"),
    }
}

/// Φ(x) and φ(x) of the standard normal distribution, to 2·10⁻⁷ (Abramowitz & Stegun, 7.1.26).
#[inline]
pub fn normal(x: f32) -> (f32, f32) {
    let bell = exp(-0.5 * x * x);
    let t = 1.0 / (1.0 + 0.327_591_1 * std::f32::consts::FRAC_1_SQRT_2 * x.abs());
    let series = t
        * (0.254_829_6
            + t * (-0.284_496_74 + t * (1.421_413_7 + t * (-1.453_152 + t * 1.061_405_4))));
    let tail = 0.5 * series * bell;
    let below = if x < 0.0 { tail } else { 1.0 - tail };
    (below, bell * 0.398_942_3)
}

/// eˣ for x ≤ 0, to a relative 3·10⁻⁷, in steps that a compiler can do for several numbers at once.
#[inline]
pub fn exp(x: f32) -> f32 {
    // Adding 1.5·2²³ rounds to a whole number, which then lies in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let x = x.max(-87.0);
    let rounded = x * std::f32::consts::LOG2_E + ROUND;
    let whole = rounded - ROUND;
    let rest = (x - whole * 0.693_359_4) + whole * 2.121_944_4e-4;
    let series = 1.0
        + rest
            * (1.0
                + rest
                    * (0.5
                        + rest
                            * (0.166_666_65
                                + rest
                                    * (0.041_665_795
                                        + rest * (0.008_333_452 + rest * 0.001_398_2)))));
    let power = (rounded
        .to_bits()
        .wrapping_sub(ROUND.to_bits())
        .wrapping_add(127))
        << 23;
    series * f32::from_bits(power)
}

/// Numbers that a CPU's widest instructions take at once. Rows that are whole multiples of it have no end that is gone
/// through number by number.
pub const LANES: usize = 16;

/// out += Σ aᵢ · bᵢ, of numbers aᵢ and rows bᵢ as long as `out`; sums stay in registers meanwhile.
#[inline]
pub fn add_rows<'b>(terms: impl Iterator<Item = (f32, &'b [f32])> + Clone, out: &mut [f32]) {
    let mut from = 0;
    while let Some(out) = out[from..].first_chunk_mut::<{ 4 * LANES }>() {
        add_columns(terms.clone(), from, out);
        from += out.len();
    }
    while let Some(out) = out[from..].first_chunk_mut::<LANES>() {
        add_columns(terms.clone(), from, out);
        from += out.len();
    }
    for (a, row) in terms {
        let columns = out[from..].iter_mut().zip(&row[from..]);
        columns.for_each(|(out, &b)| *out += a * b);
    }
}

/// The columns of [`add_rows`] that begin at `from`.
#[inline]
fn add_columns<'b, const N: usize>(
    terms: impl Iterator<Item = (f32, &'b [f32])>,
    from: usize,
    out: &mut [f32; N],
) {
    let mut sums = [0f32; N];
    for (a, row) in terms {
        if let Some(row) = row[from..].first_chunk::<N>() {
            for (sum, &b) in sums.iter_mut().zip(row) {
                *sum += a * b;
            }
        }
    }
    for (out, sum) in out.iter_mut().zip(sums) {
        *out += sum;
    }
}

/// Σ f(aᵢ, bᵢ), in eight sums that can run side by side.
#[inline]
pub fn sum(a: &[f32], b: &[f32], f: impl Fn(f32, f32) -> f32) -> f32 {
    let mut lanes = [0f32; 8];
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = a8
        .remainder()
        .iter()
        .zip(b8.remainder())
        .map(|(&a, &b)| f(a, b))
        .sum();
    for (a, b) in a8.zip(b8) {
        for (lane, (&a, &b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *lane += f(a, b);
        }
    }
    lanes.iter().sum::<f32>() + rest
}

/// The `i`th number of splitmix64's stream from `seed`.
#[inline]
pub fn mix(seed: u64, i: u64) -> u64 {
    let z = seed.wrapping_add(i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The sum of all rows, `[columns]`, in an order that no number of threads changes.
pub fn column_sums(x: &[f32], columns: usize) -> Vec<f32> {
    let of_rows = |rows: &[f32]| {
        let mut sums = vec![0f32; columns];
        for row in rows.chunks_exact(columns) {
            sums.iter_mut().zip(row).for_each(|(s, x)| *s += x);
        }
        sums
    };
    let parts: Vec<_> = x.par_chunks(ROWS * columns).map(of_rows).collect();
    let mut total = vec![0f32; columns];
    for part in parts {
        total.iter_mut().zip(part).for_each(|(t, p)| *t += p);
    }
    total
}

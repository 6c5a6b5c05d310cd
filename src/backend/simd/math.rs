//! Functions of vectors, and sums in an order that no batch and no vector width changes.

use super::{isa::Isa, product::MOST_LANES};

/// 1.5·2²³: adding it rounds to a whole number, which then lies in the low bits.
pub const ROUND: f32 = 12_582_912.0;

/// eˣ for x ≤ 0, to a relative 3·10⁻⁷.
#[inline(always)]
pub fn exp<I: Isa>(isa: I, x: I::F32) -> I::F32 {
    let x = isa.max(x, isa.splat(-87.0));
    let rounded = isa.mul_add(
        x,
        isa.splat(std::f32::consts::LOG2_E),
        // The exponent's bias comes along.
        isa.splat(ROUND + 127.0),
    );
    let whole = isa.sub(rounded, isa.splat(ROUND + 127.0));
    // ln 2 in two parts, of which the first has few bits: products with it are exact.
    let rest = isa.mul_add(whole, isa.splat(-0.693_359_4), x);
    let rest = isa.mul_add(whole, isa.splat(2.121_944_4e-4), rest);
    let mut series = isa.splat(0.001_398_2);
    for coefficient in [0.008_333_452, 0.041_665_795, 0.166_666_65, 0.5, 1.0, 1.0] {
        series = isa.mul_add(series, rest, isa.splat(coefficient));
    }
    isa.mul(series, isa.low_bits_to_exponent(rounded))
}

/// The exact GELU, x·Φ(x), with Φ to 10⁻⁷ (Abramowitz & Stegun, 7.1.26).
///
/// Their polynomial in t = 1/(1 + z) is written in 1 − t = z·t: near 0, where Φ counts most, nothing cancels.
#[inline(always)]
pub fn gelu<I: Isa>(isa: I, x: I::F32) -> I::F32 {
    let (zero, one) = (isa.splat(0.0), isa.splat(1.0));
    let slope = isa.splat(0.327_591_1 * std::f32::consts::FRAC_1_SQRT_2);
    let size = isa.max(x, isa.sub(zero, x));
    let t = isa.div(one, isa.mul_add(size, slope, one));
    let u = isa.mul(isa.mul(size, slope), t);
    let mut series = isa.splat(-1.061_405_4);
    for coefficient in [3.853_875_2, -6.222_86, 5.874_886_5, -3.444_496_4, 1.0] {
        series = isa.mul_add(series, u, isa.splat(coefficient));
    }
    let bell = exp(isa, isa.mul(isa.mul(x, isa.splat(-0.5)), x));
    // 1 − Φ(|x|)
    let tail = isa.mul(series, isa.mul(bell, isa.splat(0.5)));
    // max(x, 0) − |x|·tail is x·Φ(x) on both sides of 0.
    isa.sub(isa.max(x, zero), isa.mul(size, tail))
}

/// tanh x = ±(1 − e)/(1 + e) with e = e^(−2|x|), to 10⁻⁶.
#[inline(always)]
pub fn tanh<I: Isa>(isa: I, x: I::F32) -> I::F32 {
    let one = isa.splat(1.0);
    let size = isa.max(x, isa.sub(isa.splat(0.0), x));
    let e = exp(isa, isa.mul(size, isa.splat(-2.0)));
    let tanh = isa.div(isa.sub(one, e), isa.add(one, e));
    let sign = isa.div(x, isa.max(size, isa.splat(f32::MIN_POSITIVE)));
    isa.mul(tanh, sign)
}

/// Σ f(xᵢ): sixteen sums side by side, then their sum by halves.
#[inline(always)]
pub fn sum(x: &[f32], f: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0f32; MOST_LANES];
    let (chunks, rest) = x.as_chunks::<MOST_LANES>();
    for chunk in chunks {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane += f(x);
        }
    }
    for (lane, &x) in lanes.iter_mut().zip(rest) {
        *lane += f(x);
    }
    by_halves(lanes, MOST_LANES, |a, b| a + b)
}

/// The largest of |xᵢ|.
#[inline(always)]
pub fn largest<I: Isa>(isa: I, x: &[f32; 32]) -> f32 {
    let zero = isa.splat(0.0);
    let mut most = zero;
    for x in x.chunks_exact(I::LANES) {
        let x = isa.load(x);
        most = isa.max(most, isa.max(x, isa.sub(zero, x)));
    }
    let mut lanes = [0f32; MOST_LANES];
    isa.store(most, &mut lanes);
    by_halves(lanes, I::LANES, larger)
}

/// `a` unless `b` is larger: a NaN in `b` is passed over.
#[inline(always)]
pub fn larger(a: f32, b: f32) -> f32 {
    if b > a { b } else { a }
}

/// One number of the first `count` ones: the second half joins the first, until one is left.
///
/// Written out: a loop over the halves is left as one by the compiler for wasm, with the numbers in memory.
#[inline(always)]
pub fn by_halves(mut x: [f32; MOST_LANES], count: usize, join: impl Fn(f32, f32) -> f32) -> f32 {
    let mut half = |half: usize| {
        if half < count {
            for i in 0..half {
                x[i] = join(x[i], x[i + half]);
            }
        }
    };
    half(8);
    half(4);
    half(2);
    half(1);
    x[0]
}

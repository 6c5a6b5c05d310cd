//! Plain Rust for any processor: what the other instruction sets are tested against.

use super::{Isa, Work, sums_of_32_bits};

const LANES: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scalar;

#[inline(always)]
fn each<T: Copy>(a: [T; LANES], b: [T; LANES], f: impl Fn(T, T) -> T) -> [T; LANES] {
    std::array::from_fn(|i| f(a[i], b[i]))
}

#[inline(always)]
fn first<const N: usize, T: Copy>(x: &[T]) -> [T; N] {
    std::array::from_fn(|i| x[i])
}

impl Isa for Scalar {
    sums_of_32_bits!();

    const LANES: usize = LANES;
    const ROWS: usize = 2;
    const DEPTH: usize = 2;
    const RANGE: i32 = 127;
    const OFFSET: i32 = 0;

    type F32 = [f32; LANES];
    type I32 = [i32; LANES];
    type Weights = [i8; LANES * 2];
    type Activations = [i16; 2];
    type Quant = i16;

    #[inline(always)]
    fn splat(self, x: f32) -> Self::F32 {
        [x; LANES]
    }

    #[inline(always)]
    fn load(self, x: &[f32]) -> Self::F32 {
        first(x)
    }

    #[inline(always)]
    fn store(self, x: Self::F32, to: &mut [f32]) {
        to[..LANES].copy_from_slice(&x);
    }

    #[inline(always)]
    fn add(self, a: Self::F32, b: Self::F32) -> Self::F32 {
        each(a, b, |a, b| a + b)
    }

    #[inline(always)]
    fn sub(self, a: Self::F32, b: Self::F32) -> Self::F32 {
        each(a, b, |a, b| a - b)
    }

    #[inline(always)]
    fn mul(self, a: Self::F32, b: Self::F32) -> Self::F32 {
        each(a, b, |a, b| a * b)
    }

    #[inline(always)]
    fn div(self, a: Self::F32, b: Self::F32) -> Self::F32 {
        each(a, b, |a, b| a / b)
    }

    #[inline(always)]
    fn max(self, a: Self::F32, b: Self::F32) -> Self::F32 {
        each(a, b, f32::max)
    }

    #[inline(always)]
    fn mul_add(self, a: Self::F32, b: Self::F32, c: Self::F32) -> Self::F32 {
        self.add(self.mul(a, b), c)
    }

    #[inline(always)]
    fn low_bits_to_exponent(self, x: Self::F32) -> Self::F32 {
        x.map(|x| f32::from_bits(x.to_bits() << 23))
    }

    #[inline(always)]
    fn splat_i32(self, x: i32) -> Self::I32 {
        [x; LANES]
    }

    #[inline(always)]
    fn load_i32(self, x: &[i32]) -> Self::I32 {
        first(x)
    }

    #[inline(always)]
    fn to_f32(self, x: Self::I32) -> Self::F32 {
        x.map(|x| x as f32)
    }

    #[inline(always)]
    fn weights(self, w: &[i8]) -> Self::Weights {
        first(w)
    }

    #[inline(always)]
    fn activations(self, x: &[i16]) -> Self::Activations {
        first(x)
    }

    #[inline(always)]
    fn dot(self, sum: Self::I32, w: Self::Weights, x: Self::Activations) -> Self::I32 {
        let product = |lane: usize, i: usize| i32::from(w[2 * lane + i]) * i32::from(x[i]);
        std::array::from_fn(|lane| sum[lane] + product(lane, 0) + product(lane, 1))
    }

    #[inline(always)]
    fn run<W: Work>(self, work: W) -> W::Output {
        work.run(self)
    }
}

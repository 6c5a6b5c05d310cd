//! WebAssembly's `relaxed-simd`: products of signed bytes by bytes of seven bits. With a factor of seven bits the
//! instructions give the same on every processor.
//!
//! Which of the two forms for four-bit weights is the faster one is a matter of the processor ([`Form`]); both sums are exact, so
//! that results do not depend on it.

use std::arch::wasm32::*;

use super::{Isa, Work, sums_of_32_bits, v128::v128};

/// The activations have the seven bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RelaxedSimd {
    four_bits: Form,
}

/// How products by weights of four bits are summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Four products at a time, in 32 bits: one instruction with AVX-VNNI and on ARM with dot products, three elsewhere.
    Wide,
    /// Two at a time, in 16 bits for a block of 32, then widened: two instructions and a quarter.
    Narrow,
}

/// The weights have the seven bits, of which q4_0 needs four: two lie in a byte. Activations keep their eight. Sums are
/// [`Form::Wide`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wide4(());

/// The same with sums that are [`Form::Narrow`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Narrow4(());

impl RelaxedSimd {
    /// Always there: a browser without the instructions refuses the module as a whole.
    pub fn new(four_bits: Form) -> Self {
        Self { four_bits }
    }

    /// How products by weights of four bits are summed.
    pub fn four_bits(self) -> Form {
        self.four_bits
    }
}

impl Wide4 {
    pub fn new() -> Self {
        Self(())
    }
}

impl Narrow4 {
    pub fn new() -> Self {
        Self(())
    }
}

/// What all have.
macro_rules! relaxed {
    ($rows:literal) => {
        v128!($rows);

        const DEPTH: usize = 4;

        #[inline(always)]
        fn mul_add(self, a: v128, b: v128, c: v128) -> v128 {
            f32x4_relaxed_madd(a, b, c)
        }

        #[inline(always)]
        fn weights(self, w: &[i8]) -> v128 {
            let w = &w[..Self::LANES * Self::DEPTH];
            // SAFETY: the slice holds what is read; no alignment is asked for.
            unsafe { v128_load(w.as_ptr().cast()) }
        }

        #[inline(always)]
        fn run<W: Work>(self, work: W) -> W::Output {
            work.run(self)
        }
    };
}

/// What both forms for weights of four bits have.
macro_rules! four_bits {
    ($rows:literal) => {
        relaxed!($rows);

        const RANGE: i32 = 127;
        const OFFSET: i32 = 0;
        const WEIGHT_OFFSET: i32 = 8;
        const PER_BYTE: usize = 2;

        type Quant = i8;

        #[inline(always)]
        fn weights_of_two(self, w: &[i8]) -> [v128; 2] {
            let both = self.weights(w);
            [v128_and(both, u8x16_splat(15)), u8x16_shr(both, 4)]
        }
    };
}

impl Isa for RelaxedSimd {
    relaxed!(3);
    sums_of_32_bits!();

    const RANGE: i32 = 63;
    const OFFSET: i32 = 64;

    type Quant = u8;

    #[inline(always)]
    fn dot(self, sum: v128, w: v128, x: v128) -> v128 {
        i32x4_relaxed_dot_i8x16_i7x16_add(w, x, sum)
    }
}

impl Isa for Wide4 {
    four_bits!(3);
    sums_of_32_bits!();

    #[inline(always)]
    fn dot(self, sum: v128, w: v128, x: v128) -> v128 {
        i32x4_relaxed_dot_i8x16_i7x16_add(x, w, sum)
    }
}

impl Isa for Narrow4 {
    four_bits!(4);

    type Sums = v128;

    /// Sixteen bits have no room for a start.
    #[inline(always)]
    fn begin(self, _: v128) -> v128 {
        i16x8_splat(0)
    }

    /// Two products are at most 2 · 127 · 15, and eight such sums of a block meet in a lane: 30,480.
    #[inline(always)]
    fn dot(self, sums: v128, w: v128, x: v128) -> v128 {
        i16x8_add(sums, i16x8_relaxed_dot_i8x16_i7x16(x, w))
    }

    #[inline(always)]
    fn total(self, sums: v128, start: v128) -> v128 {
        i32x4_add(start, i32x4_extadd_pairwise_i16x8(sums))
    }
}

//! WebAssembly's `simd128`: products of pairs of 16-bit numbers.

use std::arch::wasm32::*;

use super::{Isa, Work, sums_of_32_bits, v128::v128};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Simd128(());

/// The weights are of four bits, two in a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Simd128Four(());

impl Simd128 {
    /// Always there: a browser without the instructions refuses the module as a whole.
    pub fn new() -> Self {
        Self(())
    }

    /// For weights of four bits.
    pub fn four_bits(self) -> Simd128Four {
        Simd128Four(())
    }
}

/// What both have.
macro_rules! simd128 {
    () => {
        v128!(3);
        sums_of_32_bits!();

        const DEPTH: usize = 2;
        const RANGE: i32 = 127;
        const OFFSET: i32 = 0;

        type Quant = i16;

        #[inline(always)]
        fn mul_add(self, a: v128, b: v128, c: v128) -> v128 {
            f32x4_add(f32x4_mul(a, b), c)
        }

        #[inline(always)]
        fn weights(self, w: &[i8]) -> v128 {
            let w = &w[..Self::LANES * Self::DEPTH];
            // SAFETY: the slice holds what is read; no alignment is asked for.
            unsafe { i16x8_load_extend_i8x8(w.as_ptr()) }
        }

        #[inline(always)]
        fn dot(self, sum: v128, w: v128, x: v128) -> v128 {
            i32x4_add(sum, i32x4_dot_i16x8(w, x))
        }

        #[inline(always)]
        fn run<W: Work>(self, work: W) -> W::Output {
            work.run(self)
        }
    };
}

impl Isa for Simd128 {
    simd128!();
}

impl Isa for Simd128Four {
    simd128!();

    const WEIGHT_OFFSET: i32 = 8;
    const PER_BYTE: usize = 2;

    #[inline(always)]
    fn weights_of_two(self, w: &[i8]) -> [v128; 2] {
        let w = &w[..Self::LANES * Self::DEPTH];
        // SAFETY: the slice holds what is read; no alignment is asked for.
        let both = unsafe { u16x8_load_extend_u8x8(w.as_ptr().cast()) };
        [v128_and(both, u16x8_splat(15)), u16x8_shr(both, 4)]
    }
}

//! WebAssembly's `relaxed-simd`: products of four signed bytes by four of seven bits. With a factor of seven
//! bits the instruction gives the same on every processor.

use std::arch::wasm32::*;

use super::{Isa, Work, v128::v128};

/// The activations have the seven bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RelaxedSimd(());

/// The weights have the seven bits, of which q4_0 needs four: two lie in a byte. Activations keep their eight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RelaxedSimd4(());

impl RelaxedSimd {
    /// Always there: a browser without the instructions refuses the module as a whole.
    pub fn new() -> Self {
        Self(())
    }

    /// The other way round.
    pub fn four_bits(self) -> RelaxedSimd4 {
        RelaxedSimd4(())
    }
}

/// What both have.
macro_rules! relaxed {
    () => {
        v128!();

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

impl Isa for RelaxedSimd {
    relaxed!();

    const RANGE: i32 = 63;
    const OFFSET: i32 = 64;

    type Quant = u8;

    #[inline(always)]
    fn dot(self, sum: v128, w: v128, x: v128) -> v128 {
        i32x4_relaxed_dot_i8x16_i7x16_add(w, x, sum)
    }
}

impl Isa for RelaxedSimd4 {
    relaxed!();

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

    #[inline(always)]
    fn dot(self, sum: v128, w: v128, x: v128) -> v128 {
        i32x4_relaxed_dot_i8x16_i7x16_add(x, w, sum)
    }
}

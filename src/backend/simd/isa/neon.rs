//! NEON, which every 64-bit ARM has: products of pairs of bytes, summed in pairs.

use std::arch::aarch64::*;

use super::{Isa, Work, f32x4::f32x4, sums_of_32_bits};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neon(());

impl Neon {
    pub fn detect() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("neon").then_some(Self(()))
    }
}

#[target_feature(enable = "neon")]
fn run<W: Work>(isa: Neon, work: W) -> W::Output {
    work.run(isa)
}

impl Isa for Neon {
    f32x4!();
    sums_of_32_bits!();

    const DEPTH: usize = 2;
    const RANGE: i32 = 127;
    const OFFSET: i32 = 0;

    type Weights = int8x8_t;
    type Activations = int8x8_t;
    type Quant = i8;

    #[inline(always)]
    fn weights(self, w: &[i8]) -> int8x8_t {
        let w = &w[..Self::LANES * Self::DEPTH];
        // SAFETY: `self` proves the instructions; the slice holds the 8 bytes that are read.
        unsafe { vld1_s8(w.as_ptr()) }
    }

    #[inline(always)]
    fn activations(self, x: &[i8]) -> int8x8_t {
        let pair = i16::from_le_bytes([x[0] as u8, x[1] as u8]);
        unsafe { vreinterpret_s8_s16(vdup_n_s16(pair)) }
    }

    #[inline(always)]
    fn dot(self, sum: int32x4_t, w: int8x8_t, x: int8x8_t) -> int32x4_t {
        unsafe { vpadalq_s16(sum, vmull_s8(w, x)) }
    }

    #[inline(always)]
    fn run<W: Work>(self, work: W) -> W::Output {
        // SAFETY: `self` exists only where the instructions do.
        unsafe { run(self, work) }
    }
}

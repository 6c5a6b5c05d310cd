//! NEON, which every 64-bit ARM has: products of pairs of bytes, summed in pairs.

use std::arch::aarch64::*;

use super::{Isa, Work};

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
    const LANES: usize = 4;
    const ROWS: usize = 6;
    const DEPTH: usize = 2;
    const RANGE: i32 = 127;
    const OFFSET: i32 = 0;

    type F32 = float32x4_t;
    type I32 = int32x4_t;
    type Weights = int8x8_t;
    type Activations = int8x8_t;
    type Quant = i8;

    #[inline(always)]
    fn splat(self, x: f32) -> float32x4_t {
        // SAFETY: `self` exists only where the processor has NEON; so in every method below.
        unsafe { vdupq_n_f32(x) }
    }

    #[inline(always)]
    fn load(self, x: &[f32]) -> float32x4_t {
        let x = &x[..Self::LANES];
        // SAFETY: as above, and the slice holds what is read.
        unsafe { vld1q_f32(x.as_ptr()) }
    }

    #[inline(always)]
    fn store(self, x: float32x4_t, to: &mut [f32]) {
        let to = &mut to[..Self::LANES];
        // SAFETY: as above, and the slice holds what is written.
        unsafe { vst1q_f32(to.as_mut_ptr(), x) }
    }

    #[inline(always)]
    fn add(self, a: float32x4_t, b: float32x4_t) -> float32x4_t {
        unsafe { vaddq_f32(a, b) }
    }

    #[inline(always)]
    fn sub(self, a: float32x4_t, b: float32x4_t) -> float32x4_t {
        unsafe { vsubq_f32(a, b) }
    }

    #[inline(always)]
    fn mul(self, a: float32x4_t, b: float32x4_t) -> float32x4_t {
        unsafe { vmulq_f32(a, b) }
    }

    #[inline(always)]
    fn div(self, a: float32x4_t, b: float32x4_t) -> float32x4_t {
        unsafe { vdivq_f32(a, b) }
    }

    #[inline(always)]
    fn max(self, a: float32x4_t, b: float32x4_t) -> float32x4_t {
        unsafe { vmaxq_f32(a, b) }
    }

    #[inline(always)]
    fn mul_add(self, a: float32x4_t, b: float32x4_t, c: float32x4_t) -> float32x4_t {
        unsafe { vfmaq_f32(c, a, b) }
    }

    #[inline(always)]
    fn low_bits_to_exponent(self, x: float32x4_t) -> float32x4_t {
        unsafe { vreinterpretq_f32_s32(vshlq_n_s32::<23>(vreinterpretq_s32_f32(x))) }
    }

    #[inline(always)]
    fn splat_i32(self, x: i32) -> int32x4_t {
        unsafe { vdupq_n_s32(x) }
    }

    #[inline(always)]
    fn load_i32(self, x: &[i32]) -> int32x4_t {
        let x = &x[..Self::LANES];
        // SAFETY: as above, and the slice holds what is read.
        unsafe { vld1q_s32(x.as_ptr()) }
    }

    #[inline(always)]
    fn to_f32(self, x: int32x4_t) -> float32x4_t {
        unsafe { vcvtq_f32_s32(x) }
    }

    #[inline(always)]
    fn weights(self, w: &[i8]) -> int8x8_t {
        let w = &w[..Self::LANES * Self::DEPTH];
        // SAFETY: as above; the slice holds the 8 bytes that are read.
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

//! NEON's dot products (ARMv8.2 and later: Apple's M1, most phones and servers since 2018): products of four by four
//! bytes, summed.

use std::arch::{aarch64::*, asm};

use super::{Isa, Work, f32x4::f32x4, sums_of_32_bits};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NeonDotprod(());

impl NeonDotprod {
    pub fn detect() -> Option<Self> {
        let found = std::arch::is_aarch64_feature_detected!("neon")
            && std::arch::is_aarch64_feature_detected!("dotprod");
        found.then_some(Self(()))
    }
}

#[target_feature(enable = "neon,dotprod")]
fn run<W: Work>(isa: NeonDotprod, work: W) -> W::Output {
    work.run(isa)
}

impl Isa for NeonDotprod {
    f32x4!();
    sums_of_32_bits!();

    const DEPTH: usize = 4;
    const RANGE: i32 = 127;
    const OFFSET: i32 = 0;

    type Weights = int8x16_t;
    type Activations = int8x16_t;
    type Quant = i8;

    #[inline(always)]
    fn weights(self, w: &[i8]) -> int8x16_t {
        let w = &w[..Self::LANES * Self::DEPTH];
        // SAFETY: `self` proves the instructions; the slice holds the 16 bytes that are read.
        unsafe { vld1q_s8(w.as_ptr()) }
    }

    #[inline(always)]
    fn activations(self, x: &[i8]) -> int8x16_t {
        let x = &x[..Self::DEPTH];
        // SAFETY: as above; the slice holds the four bytes that are read.
        unsafe { vreinterpretq_s8_s32(vdupq_n_s32(x.as_ptr().cast::<i32>().read_unaligned())) }
    }

    #[inline(always)]
    fn dot(self, mut sum: int32x4_t, w: int8x16_t, x: int8x16_t) -> int32x4_t {
        // SAFETY: `self` proves the instruction, which touches these registers alone. The standard library's name for
        // it, `vdotq_s32`, is not stable yet.
        unsafe {
            asm!(
                "sdot {sum:v}.4s, {w:v}.16b, {x:v}.16b",
                sum = inout(vreg) sum,
                w = in(vreg) w,
                x = in(vreg) x,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        sum
    }

    #[inline(always)]
    fn run<W: Work>(self, work: W) -> W::Output {
        // SAFETY: `self` exists only where the instructions do.
        unsafe { run(self, work) }
    }
}

//! AVX2 with FMA: products of pairs of 16-bit numbers.

use std::arch::x86_64::*;

use super::{Isa, Work, f32x8::f32x8};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Avx2(());

impl Avx2 {
    pub fn detect() -> Option<Self> {
        let found = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        found.then_some(Self(()))
    }
}

#[target_feature(enable = "avx2,fma")]
fn run<W: Work>(isa: Avx2, work: W) -> W::Output {
    work.run(isa)
}

impl Isa for Avx2 {
    f32x8!();

    const DEPTH: usize = 2;
    const RANGE: i32 = 127;
    const OFFSET: i32 = 0;

    type Weights = __m256i;
    type Activations = __m256i;
    type Quant = i16;

    #[inline(always)]
    fn weights(self, w: &[i8]) -> __m256i {
        let w = &w[..Self::LANES * Self::DEPTH];
        // SAFETY: `self` proves the instructions, and the slice holds the 16 bytes that are read.
        unsafe { _mm256_cvtepi8_epi16(_mm_loadu_si128(w.as_ptr().cast())) }
    }

    #[inline(always)]
    fn activations(self, x: &[i16]) -> __m256i {
        let x = &x[..Self::DEPTH];
        // SAFETY: as above; the slice holds the four bytes that are read.
        unsafe { _mm256_set1_epi32(x.as_ptr().cast::<i32>().read_unaligned()) }
    }

    #[inline(always)]
    fn dot(self, sum: __m256i, w: __m256i, x: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_add_epi32(sum, _mm256_madd_epi16(w, x)) }
    }

    #[inline(always)]
    fn run<W: Work>(self, work: W) -> W::Output {
        // SAFETY: `self` exists only where the instructions do.
        unsafe { run(self, work) }
    }
}

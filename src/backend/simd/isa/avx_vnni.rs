//! AVX-VNNI: products of four unsigned by four signed bytes, in AVX's registers.

use std::arch::x86_64::*;

use super::{Isa, Work, f32x8::f32x8, sums_of_32_bits};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AvxVnni(());

impl AvxVnni {
    pub fn detect() -> Option<Self> {
        let found = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("avxvnni");
        found.then_some(Self(()))
    }
}

#[target_feature(enable = "avx2,fma,avxvnni")]
fn run<W: Work>(isa: AvxVnni, work: W) -> W::Output {
    work.run(isa)
}

impl Isa for AvxVnni {
    f32x8!();
    sums_of_32_bits!();

    const DEPTH: usize = 4;
    const RANGE: i32 = 127;
    const OFFSET: i32 = 128;

    type Weights = __m256i;
    type Activations = __m256i;
    type Quant = u8;

    #[inline(always)]
    fn weights(self, w: &[i8]) -> __m256i {
        let w = &w[..Self::LANES * Self::DEPTH];
        // SAFETY: `self` proves the instructions, and the slice holds the 32 bytes that are read.
        unsafe { _mm256_loadu_si256(w.as_ptr().cast()) }
    }

    #[inline(always)]
    fn activations(self, x: &[u8]) -> __m256i {
        let x = &x[..Self::DEPTH];
        // SAFETY: as above; the slice holds the four bytes that are read.
        unsafe { _mm256_set1_epi32(x.as_ptr().cast::<i32>().read_unaligned()) }
    }

    #[inline(always)]
    fn dot(self, sum: __m256i, w: __m256i, x: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_dpbusd_avx_epi32(sum, x, w) }
    }

    #[inline(always)]
    fn run<W: Work>(self, work: W) -> W::Output {
        // SAFETY: `self` exists only where the instructions do.
        unsafe { run(self, work) }
    }
}

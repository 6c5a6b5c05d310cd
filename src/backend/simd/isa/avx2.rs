//! AVX2 with FMA: products of pairs of 16-bit numbers; of weights of four bits, products of bytes summed in 16 bits.
//!
//! A pair of four-bit weights by bytes is at most 2 · 15 · 127, so that the eight pairs of a block that meet in a lane fit
//! 16 bits: two instructions for 32 products, and a quarter of one to widen, where the other way takes four.

use std::arch::x86_64::*;

use super::{Isa, Work, f32x8::f32x8, sums_of_32_bits};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Avx2(());

/// The weights are of four bits, two in a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Avx2Four(());

impl Avx2 {
    pub fn detect() -> Option<Self> {
        let found = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        found.then_some(Self(()))
    }

    /// For weights of four bits.
    pub fn four_bits(self) -> Avx2Four {
        Avx2Four(())
    }
}

#[target_feature(enable = "avx2,fma")]
fn run<I: Isa, W: Work>(isa: I, work: W) -> W::Output {
    work.run(isa)
}

impl Isa for Avx2 {
    f32x8!();
    sums_of_32_bits!();

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

impl Avx2Four {
    /// For all else.
    pub fn plain(self) -> Avx2 {
        Avx2(())
    }
}

impl Isa for Avx2Four {
    f32x8!();

    const DEPTH: usize = 4;
    const RANGE: i32 = 127;
    const OFFSET: i32 = 0;
    const WEIGHT_OFFSET: i32 = 8;
    const PER_BYTE: usize = 2;

    type Sums = __m256i;
    type Weights = __m256i;
    type Activations = __m256i;
    type Quant = i8;

    #[inline(always)]
    fn weights(self, w: &[i8]) -> __m256i {
        let w = &w[..Self::LANES * Self::DEPTH];
        // SAFETY: `self` proves the instructions, and the slice holds the 32 bytes that are read.
        unsafe { _mm256_loadu_si256(w.as_ptr().cast()) }
    }

    #[inline(always)]
    fn weights_of_two(self, w: &[i8]) -> [__m256i; 2] {
        let both = self.weights(w);
        // SAFETY: as above.
        unsafe {
            let low = _mm256_set1_epi8(15);
            [
                _mm256_and_si256(both, low),
                _mm256_and_si256(_mm256_srli_epi16::<4>(both), low),
            ]
        }
    }

    #[inline(always)]
    fn activations(self, x: &[i8]) -> __m256i {
        let x = &x[..Self::DEPTH];
        // SAFETY: as above; the slice holds the four bytes that are read.
        unsafe { _mm256_set1_epi32(x.as_ptr().cast::<i32>().read_unaligned()) }
    }

    /// Sixteen bits have no room for a start.
    #[inline(always)]
    fn begin(self, _: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_setzero_si256() }
    }

    #[inline(always)]
    fn dot(self, sums: __m256i, w: __m256i, x: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_add_epi16(sums, _mm256_maddubs_epi16(w, x)) }
    }

    #[inline(always)]
    fn total(self, sums: __m256i, start: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_add_epi32(start, _mm256_madd_epi16(sums, _mm256_set1_epi16(1))) }
    }

    #[inline(always)]
    fn run<W: Work>(self, work: W) -> W::Output {
        // SAFETY: `self` exists only where the instructions do.
        unsafe { run(self, work) }
    }
}

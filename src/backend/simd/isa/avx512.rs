//! AVX-512 with VNNI: products of four unsigned by four signed bytes, sixteen columns at a time.

use std::arch::x86_64::*;

use super::{Isa, Work, sums_of_32_bits};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Avx512(());

impl Avx512 {
    pub fn detect() -> Option<Self> {
        let found = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vnni");
        found.then_some(Self(()))
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn run<W: Work>(isa: Avx512, work: W) -> W::Output {
    work.run(isa)
}

impl Isa for Avx512 {
    sums_of_32_bits!();

    const LANES: usize = 16;
    const ROWS: usize = 6;
    const DEPTH: usize = 4;
    const RANGE: i32 = 127;
    const OFFSET: i32 = 128;

    type F32 = __m512;
    type I32 = __m512i;
    type Weights = __m512i;
    type Activations = __m512i;
    type Quant = u8;

    #[inline(always)]
    fn splat(self, x: f32) -> __m512 {
        // SAFETY: `self` exists only where the processor has these instructions; so in every method below.
        unsafe { _mm512_set1_ps(x) }
    }

    #[inline(always)]
    fn load(self, x: &[f32]) -> __m512 {
        let x = &x[..Self::LANES];
        // SAFETY: as above, and the slice holds what is read.
        unsafe { _mm512_loadu_ps(x.as_ptr()) }
    }

    #[inline(always)]
    fn store(self, x: __m512, to: &mut [f32]) {
        let to = &mut to[..Self::LANES];
        // SAFETY: as above, and the slice holds what is written.
        unsafe { _mm512_storeu_ps(to.as_mut_ptr(), x) }
    }

    #[inline(always)]
    fn add(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: as above.
        unsafe { _mm512_add_ps(a, b) }
    }

    #[inline(always)]
    fn sub(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: as above.
        unsafe { _mm512_sub_ps(a, b) }
    }

    #[inline(always)]
    fn mul(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: as above.
        unsafe { _mm512_mul_ps(a, b) }
    }

    #[inline(always)]
    fn div(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: as above.
        unsafe { _mm512_div_ps(a, b) }
    }

    #[inline(always)]
    fn max(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: as above.
        unsafe { _mm512_max_ps(a, b) }
    }

    #[inline(always)]
    fn mul_add(self, a: __m512, b: __m512, c: __m512) -> __m512 {
        // SAFETY: as above.
        unsafe { _mm512_fmadd_ps(a, b, c) }
    }

    #[inline(always)]
    fn low_bits_to_exponent(self, x: __m512) -> __m512 {
        // SAFETY: as above.
        unsafe { _mm512_castsi512_ps(_mm512_slli_epi32::<23>(_mm512_castps_si512(x))) }
    }

    #[inline(always)]
    fn splat_i32(self, x: i32) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_set1_epi32(x) }
    }

    #[inline(always)]
    fn load_i32(self, x: &[i32]) -> __m512i {
        let x = &x[..Self::LANES];
        // SAFETY: as above, and the slice holds what is read.
        unsafe { _mm512_loadu_si512(x.as_ptr().cast()) }
    }

    #[inline(always)]
    fn to_f32(self, x: __m512i) -> __m512 {
        // SAFETY: as above.
        unsafe { _mm512_cvtepi32_ps(x) }
    }

    #[inline(always)]
    fn weights(self, w: &[i8]) -> __m512i {
        let w = &w[..Self::LANES * Self::DEPTH];
        // SAFETY: as above; the slice holds the 64 bytes that are read.
        unsafe { _mm512_loadu_si512(w.as_ptr().cast()) }
    }

    #[inline(always)]
    fn activations(self, x: &[u8]) -> __m512i {
        let x = &x[..Self::DEPTH];
        // SAFETY: as above; the slice holds the four bytes that are read.
        unsafe { _mm512_set1_epi32(x.as_ptr().cast::<i32>().read_unaligned()) }
    }

    #[inline(always)]
    fn dot(self, sum: __m512i, w: __m512i, x: __m512i) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_dpbusd_epi32(sum, x, w) }
    }

    #[inline(always)]
    fn run<W: Work>(self, work: W) -> W::Output {
        // SAFETY: `self` exists only where the instructions do.
        unsafe { run(self, work) }
    }
}

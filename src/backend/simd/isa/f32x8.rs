//! The f32 half of an instruction set with AVX's registers, which AVX2 and AVX-VNNI share.

/// Constants, types and methods of [`super::Isa`] that concern f32 and i32 numbers in 256 bits.
macro_rules! f32x8 {
    () => {
        const LANES: usize = 8;
        const ROWS: usize = 4;

        type F32 = __m256;
        type I32 = __m256i;

        #[inline(always)]
        fn splat(self, x: f32) -> __m256 {
            // SAFETY: `self` exists only where the processor has AVX2 and FMA; so in every method below.
            unsafe { _mm256_set1_ps(x) }
        }

        #[inline(always)]
        fn load(self, x: &[f32]) -> __m256 {
            let x = &x[..Self::LANES];
            // SAFETY: as above, and the slice holds what is read.
            unsafe { _mm256_loadu_ps(x.as_ptr()) }
        }

        #[inline(always)]
        fn store(self, x: __m256, to: &mut [f32]) {
            let to = &mut to[..Self::LANES];
            // SAFETY: as above, and the slice holds what is written.
            unsafe { _mm256_storeu_ps(to.as_mut_ptr(), x) }
        }

        #[inline(always)]
        fn add(self, a: __m256, b: __m256) -> __m256 {
            // SAFETY: as above.
            unsafe { _mm256_add_ps(a, b) }
        }

        #[inline(always)]
        fn sub(self, a: __m256, b: __m256) -> __m256 {
            // SAFETY: as above.
            unsafe { _mm256_sub_ps(a, b) }
        }

        #[inline(always)]
        fn mul(self, a: __m256, b: __m256) -> __m256 {
            // SAFETY: as above.
            unsafe { _mm256_mul_ps(a, b) }
        }

        #[inline(always)]
        fn div(self, a: __m256, b: __m256) -> __m256 {
            // SAFETY: as above.
            unsafe { _mm256_div_ps(a, b) }
        }

        #[inline(always)]
        fn max(self, a: __m256, b: __m256) -> __m256 {
            // SAFETY: as above.
            unsafe { _mm256_max_ps(a, b) }
        }

        #[inline(always)]
        fn mul_add(self, a: __m256, b: __m256, c: __m256) -> __m256 {
            // SAFETY: as above.
            unsafe { _mm256_fmadd_ps(a, b, c) }
        }

        #[inline(always)]
        fn low_bits_to_exponent(self, x: __m256) -> __m256 {
            // SAFETY: as above.
            unsafe { _mm256_castsi256_ps(_mm256_slli_epi32::<23>(_mm256_castps_si256(x))) }
        }

        #[inline(always)]
        fn splat_i32(self, x: i32) -> __m256i {
            // SAFETY: as above.
            unsafe { _mm256_set1_epi32(x) }
        }

        #[inline(always)]
        fn load_i32(self, x: &[i32]) -> __m256i {
            let x = &x[..Self::LANES];
            // SAFETY: as above, and the slice holds what is read.
            unsafe { _mm256_loadu_si256(x.as_ptr().cast()) }
        }

        #[inline(always)]
        fn to_f32(self, x: __m256i) -> __m256 {
            // SAFETY: as above.
            unsafe { _mm256_cvtepi32_ps(x) }
        }
    };
}
pub(super) use f32x8;

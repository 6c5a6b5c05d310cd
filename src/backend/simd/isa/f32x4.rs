//! The f32 half of an instruction set with NEON's registers, which NEON and its dot products share.

/// Constants, types and methods of [`super::Isa`] that concern f32 and i32 numbers in 128 bits.
macro_rules! f32x4 {
    () => {
        const LANES: usize = 4;
        const ROWS: usize = 6;

        type F32 = float32x4_t;
        type I32 = int32x4_t;

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
    };
}
pub(super) use f32x4;

//! What WebAssembly's two sets of 128-bit instructions share.

/// Constants, types and methods of [`super::Isa`] that `simd128` has for both.
macro_rules! v128 {
    ($rows:literal) => {
        const LANES: usize = 4;
        const ROWS: usize = $rows;

        type F32 = v128;
        type I32 = v128;
        type Weights = v128;
        type Activations = v128;

        #[inline(always)]
        fn splat(self, x: f32) -> v128 {
            f32x4_splat(x)
        }

        #[inline(always)]
        fn load(self, x: &[f32]) -> v128 {
            let x = &x[..Self::LANES];
            // SAFETY: the slice holds what is read; no alignment is asked for.
            unsafe { v128_load(x.as_ptr().cast()) }
        }

        #[inline(always)]
        fn store(self, x: v128, to: &mut [f32]) {
            let to = &mut to[..Self::LANES];
            // SAFETY: the slice holds what is written; no alignment is asked for.
            unsafe { v128_store(to.as_mut_ptr().cast(), x) }
        }

        #[inline(always)]
        fn add(self, a: v128, b: v128) -> v128 {
            f32x4_add(a, b)
        }

        #[inline(always)]
        fn sub(self, a: v128, b: v128) -> v128 {
            f32x4_sub(a, b)
        }

        #[inline(always)]
        fn mul(self, a: v128, b: v128) -> v128 {
            f32x4_mul(a, b)
        }

        #[inline(always)]
        fn div(self, a: v128, b: v128) -> v128 {
            f32x4_div(a, b)
        }

        #[inline(always)]
        fn max(self, a: v128, b: v128) -> v128 {
            // One instruction on every processor, unlike f32x4_max, which is particular about NaN.
            f32x4_pmax(a, b)
        }

        #[inline(always)]
        fn low_bits_to_exponent(self, x: v128) -> v128 {
            i32x4_shl(x, 23)
        }

        #[inline(always)]
        fn splat_i32(self, x: i32) -> v128 {
            i32x4_splat(x)
        }

        #[inline(always)]
        fn load_i32(self, x: &[i32]) -> v128 {
            let x = &x[..Self::LANES];
            // SAFETY: the slice holds what is read; no alignment is asked for.
            unsafe { v128_load(x.as_ptr().cast()) }
        }

        #[inline(always)]
        fn to_f32(self, x: v128) -> v128 {
            f32x4_convert_i32x4(x)
        }

        #[inline(always)]
        fn activations(self, x: &[Self::Quant]) -> v128 {
            let x = &x[..Self::DEPTH];
            // SAFETY: the slice holds the four bytes that are read; no alignment is asked for.
            unsafe { v128_load32_splat(x.as_ptr().cast()) }
        }
    };
}
pub(super) use v128;

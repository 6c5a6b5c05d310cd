//! Instruction sets: what the kernels ask of a processor, and which processor this is.
//!
//! A kernel is written once, as a [`Work`] over any [`Isa`]; an instruction set is a file of one-line
//! methods below. Natively the best one is found out as the program starts ([`Cpu::detect`]); a wasm module
//! is compiled for one.

use bytemuck::Pod;

use crate::checkpoint::weights::Dtype;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod avx_vnni;
#[cfg(target_arch = "aarch64")]
mod f32x4;
#[cfg(target_arch = "x86_64")]
mod f32x8;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "aarch64")]
mod neon_dotprod;
#[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
pub mod relaxed_simd;
#[cfg(not(target_arch = "wasm32"))]
mod scalar;
#[cfg(all(target_arch = "wasm32", not(target_feature = "relaxed-simd")))]
mod simd128;
#[cfg(target_arch = "wasm32")]
mod v128;

/// Vectors of `LANES` numbers, and products of quantised ones.
///
/// A value of such a type is the proof that the processor has the instructions: it comes from
/// [`Cpu::detect`] alone. Methods are inlined into [`Work::run`], which [`Cpu::run`] compiles with the
/// instructions enabled; a slice shorter than a method says is a panic.
pub trait Isa: Copy + Send + Sync {
    /// Numbers in a vector.
    const LANES: usize;
    /// Rows of a product's tile: as many as the registers hold beside two vectors of columns.
    const ROWS: usize;
    /// Consecutive numbers of one column that [`Isa::dot`] takes at a time.
    const DEPTH: usize;
    /// Activations are quantised to −RANGE..=RANGE.
    const RANGE: i32;
    /// What is added to quantised activations, where the instruction wants them unsigned.
    const OFFSET: i32;
    /// What is added to weights, where the instruction or their form in memory wants those unsigned.
    const WEIGHT_OFFSET: i32 = 0;
    /// Weights in a byte of memory: one, or two of four bits.
    const PER_BYTE: usize = 1;

    type F32: Copy;
    type I32: Copy;
    /// Sums of a block's products on their way, of 32 bits, or of 16 where those are enough.
    type Sums: Copy;
    /// Weights as [`Isa::dot`] takes them: `LANES` columns, `DEPTH` numbers each.
    type Weights: Copy;
    /// `DEPTH` activations of one row, repeated for each column.
    type Activations: Copy;
    /// One quantised activation in memory.
    type Quant: Quant;

    fn splat(self, x: f32) -> Self::F32;
    /// The first `LANES` numbers of `x`.
    fn load(self, x: &[f32]) -> Self::F32;
    /// Into the first `LANES` numbers of `to`.
    fn store(self, x: Self::F32, to: &mut [f32]);
    fn add(self, a: Self::F32, b: Self::F32) -> Self::F32;
    fn sub(self, a: Self::F32, b: Self::F32) -> Self::F32;
    fn mul(self, a: Self::F32, b: Self::F32) -> Self::F32;
    fn div(self, a: Self::F32, b: Self::F32) -> Self::F32;
    fn max(self, a: Self::F32, b: Self::F32) -> Self::F32;
    /// a·b + c, rounded once where there is an instruction for it.
    fn mul_add(self, a: Self::F32, b: Self::F32, c: Self::F32) -> Self::F32;
    /// The bits of each number shifted left by 23: a whole number in the low bits becomes an exponent.
    fn low_bits_to_exponent(self, x: Self::F32) -> Self::F32;

    fn splat_i32(self, x: i32) -> Self::I32;
    /// The first `LANES` numbers of `x`.
    fn load_i32(self, x: &[i32]) -> Self::I32;
    fn to_f32(self, x: Self::I32) -> Self::F32;
    /// The first `LANES · DEPTH` weights of `w`: column by column, `DEPTH` numbers of each.
    fn weights(self, w: &[i8]) -> Self::Weights;
    /// The weights of two vectors of columns, of which `w` begins with the first's; of two in a byte, the first's are the
    /// low bits.
    #[inline(always)]
    fn weights_of_two(self, w: &[i8]) -> [Self::Weights; 2] {
        let half = Self::LANES * Self::DEPTH;
        [self.weights(&w[..half]), self.weights(&w[half..])]
    }
    /// The first `DEPTH` activations of `x`.
    fn activations(self, x: &[Self::Quant]) -> Self::Activations;
    /// Sums to add a block's products to, which are to begin with `start`: at once, or in [`Isa::total`].
    fn begin(self, start: Self::I32) -> Self::Sums;
    /// In each lane, `sums` plus the dot product of a column's numbers and the row's: for one block at most.
    fn dot(self, sums: Self::Sums, w: Self::Weights, x: Self::Activations) -> Self::Sums;
    /// The sums of a block that began with `start`.
    fn total(self, sums: Self::Sums, start: Self::I32) -> Self::I32;

    /// Runs `work` compiled for this instruction set.
    fn run<W: Work>(self, work: W) -> W::Output;
}

/// Sums of 32 bits, which begin with their start.
macro_rules! sums_of_32_bits {
    () => {
        type Sums = Self::I32;

        #[inline(always)]
        fn begin(self, start: Self::I32) -> Self::I32 {
            start
        }

        #[inline(always)]
        fn total(self, sums: Self::I32, _: Self::I32) -> Self::I32 {
            sums
        }
    };
}
use sums_of_32_bits;

/// An integer that activations are quantised to.
pub trait Quant: Pod + Send + Sync {
    /// The number in the low bits of `bits`.
    fn from_low_bits(bits: u32) -> Self;

    fn value(self) -> i32;
}

impl Quant for i8 {
    #[inline(always)]
    fn from_low_bits(bits: u32) -> Self {
        bits as i8
    }

    #[inline(always)]
    fn value(self) -> i32 {
        self.into()
    }
}

impl Quant for u8 {
    #[inline(always)]
    fn from_low_bits(bits: u32) -> Self {
        bits as u8
    }

    #[inline(always)]
    fn value(self) -> i32 {
        self.into()
    }
}

impl Quant for i16 {
    #[inline(always)]
    fn from_low_bits(bits: u32) -> Self {
        bits as i16
    }

    #[inline(always)]
    fn value(self) -> i32 {
        self.into()
    }
}

/// A computation that is compiled once for each instruction set.
pub trait Work {
    type Output;

    /// Must be `#[inline(always)]`: only then does it use the instructions of `I`.
    fn run<I: Isa>(self, isa: I) -> Self::Output;
}

/// An instruction set that this processor has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cpu {
    /// None in particular: plain Rust.
    #[cfg(not(target_arch = "wasm32"))]
    Scalar(scalar::Scalar),
    /// AVX2 with FMA: 256 bits.
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx2Four(avx2::Avx2Four),
    /// AVX2 with products of bytes (VNNI).
    #[cfg(target_arch = "x86_64")]
    AvxVnni(avx_vnni::AvxVnni),
    /// AVX-512 with VNNI: 512 bits.
    #[cfg(target_arch = "x86_64")]
    Avx512(avx512::Avx512),
    #[cfg(target_arch = "aarch64")]
    Neon(neon::Neon),
    #[cfg(target_arch = "aarch64")]
    NeonDotprod(neon_dotprod::NeonDotprod),
    #[cfg(all(target_arch = "wasm32", not(target_feature = "relaxed-simd")))]
    Simd128(simd128::Simd128),
    #[cfg(all(target_arch = "wasm32", not(target_feature = "relaxed-simd")))]
    Simd128Four(simd128::Simd128Four),
    #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
    RelaxedSimd(relaxed_simd::RelaxedSimd),
    #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
    RelaxedWide4(relaxed_simd::Wide4),
    #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
    RelaxedNarrow4(relaxed_simd::Narrow4),
}

impl Cpu {
    /// Every instruction set that this processor has, the slowest first.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn all() -> Vec<Self> {
        let all = [
            #[cfg(not(target_arch = "wasm32"))]
            Some(Self::Scalar(scalar::Scalar)),
            #[cfg(target_arch = "x86_64")]
            avx2::Avx2::detect().map(Self::Avx2),
            #[cfg(target_arch = "x86_64")]
            avx_vnni::AvxVnni::detect().map(Self::AvxVnni),
            #[cfg(target_arch = "x86_64")]
            avx512::Avx512::detect().map(Self::Avx512),
            #[cfg(target_arch = "aarch64")]
            neon::Neon::detect().map(Self::Neon),
            #[cfg(target_arch = "aarch64")]
            neon_dotprod::NeonDotprod::detect().map(Self::NeonDotprod),
        ];
        all.into_iter().flatten().collect()
    }

    /// The fastest instruction set that this processor has.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn detect() -> Self {
        let last = Self::all().pop();
        last.unwrap_or(Self::Scalar(scalar::Scalar))
    }

    /// The instruction set that this module was compiled for.
    #[cfg(all(target_arch = "wasm32", not(target_feature = "relaxed-simd")))]
    pub fn detect() -> Self {
        Self::Simd128(simd128::Simd128::new())
    }

    /// The instruction set that this module was compiled for.
    #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
    pub fn detect() -> Self {
        Self::RelaxedSimd(relaxed_simd::RelaxedSimd::new(relaxed_simd::Form::Wide))
    }

    /// The variant for a layer whose weights are all of this dtype: in browsers, and with AVX2 alone, four bits stay four bits
    /// in memory, and leave an instruction room for activations of eight.
    #[cfg_attr(
        not(any(target_arch = "wasm32", target_arch = "x86_64")),
        expect(unused_variables)
    )]
    pub fn for_weights(self, dtype: Dtype) -> Self {
        #[cfg(target_arch = "x86_64")]
        if let (Self::Avx2(isa), Dtype::Q4_0) = (self, dtype) {
            return Self::Avx2Four(isa.four_bits());
        }
        #[cfg(all(target_arch = "wasm32", not(target_feature = "relaxed-simd")))]
        if let (Self::Simd128(isa), Dtype::Q4_0) = (self, dtype) {
            return Self::Simd128Four(isa.four_bits());
        }
        #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
        if let (Self::RelaxedSimd(isa), Dtype::Q4_0) = (self, dtype) {
            return match isa.four_bits() {
                relaxed_simd::Form::Wide => Self::RelaxedWide4(relaxed_simd::Wide4::new()),
                relaxed_simd::Form::Narrow => Self::RelaxedNarrow4(relaxed_simd::Narrow4::new()),
            };
        }
        self
    }

    /// Its name, for people.
    pub fn name(self) -> &'static str {
        match self {
            #[cfg(not(target_arch = "wasm32"))]
            Self::Scalar(_) => "scalar",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) | Self::Avx2Four(_) => "AVX2",
            #[cfg(target_arch = "x86_64")]
            Self::AvxVnni(_) => "AVX-VNNI",
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => "AVX512-VNNI",
            #[cfg(target_arch = "aarch64")]
            Self::Neon(_) => "NEON",
            #[cfg(target_arch = "aarch64")]
            Self::NeonDotprod(_) => "NEON dot product",
            #[cfg(all(target_arch = "wasm32", not(target_feature = "relaxed-simd")))]
            Self::Simd128(_) | Self::Simd128Four(_) => "simd128",
            #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
            Self::RelaxedSimd(isa) => match isa.four_bits() {
                relaxed_simd::Form::Wide => "relaxed-simd",
                relaxed_simd::Form::Narrow => "relaxed-simd, 16-bit sums",
            },
            #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
            Self::RelaxedWide4(_) => "relaxed-simd",
            #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
            Self::RelaxedNarrow4(_) => "relaxed-simd, 16-bit sums",
        }
    }

    /// Runs `work` that multiplies no weights in blocks: for that, variants of an instruction set are one.
    pub fn run_plain<W: Work>(self, work: W) -> W::Output {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2Four(isa) => isa.plain().run(work),
            #[cfg(all(target_arch = "wasm32", not(target_feature = "relaxed-simd")))]
            Self::Simd128Four(_) => simd128::Simd128::new().run(work),
            #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
            Self::RelaxedWide4(_) | Self::RelaxedNarrow4(_) => {
                relaxed_simd::RelaxedSimd::new(relaxed_simd::Form::Wide).run(work)
            }
            #[cfg(not(target_arch = "wasm32"))]
            Self::Scalar(isa) => isa.run(work),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(isa) => isa.run(work),
            #[cfg(target_arch = "x86_64")]
            Self::AvxVnni(isa) => isa.run(work),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(isa) => isa.run(work),
            #[cfg(target_arch = "aarch64")]
            Self::Neon(isa) => isa.run(work),
            #[cfg(target_arch = "aarch64")]
            Self::NeonDotprod(isa) => isa.run(work),
            #[cfg(all(target_arch = "wasm32", not(target_feature = "relaxed-simd")))]
            Self::Simd128(isa) => isa.run(work),
            #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
            Self::RelaxedSimd(isa) => isa.run(work),
        }
    }

    /// Runs `work` with this instruction set.
    pub fn run<W: Work>(self, work: W) -> W::Output {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2Four(isa) => isa.run(work),
            #[cfg(all(target_arch = "wasm32", not(target_feature = "relaxed-simd")))]
            Self::Simd128Four(isa) => isa.run(work),
            #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
            Self::RelaxedWide4(isa) => isa.run(work),
            #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
            Self::RelaxedNarrow4(isa) => isa.run(work),
            _ => self.run_plain(work),
        }
    }
}

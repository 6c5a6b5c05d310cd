//! SwiGLU (Shazeer, 2020): silu(gate) · up with silu(x) = x / (1 + e⁻ˣ), in one pass over memory.
//!
//! candle's operations make two of it, the second of which reads again what the first wrote. Here a number is read
//! once, f32 is what is computed in, and a result is rounded once, to the type of what came in. The CPU's
//! form is below, CUDA's in `swiglu.cu`, which nvrtc (the CUDA toolkit's library) compiles when it is first
//! launched.

use candle_core::{
    CpuStorage, CustomOp2, DType, Error, Layout, Result, Shape, Tensor, backend::BackendStorage,
};
use half::{bf16, f16};
use rayon::prelude::*;

use super::training::math::{SPAN, part};

/// silu(gate) · up, each of one shape and in f32, f16 or bf16; without a backward pass. Views that are not contiguous
/// are copied first.
///
/// # Errors
/// Shapes or types differ, or the type is another.
pub fn swiglu(gate: &Tensor, up: &Tensor) -> Result<Tensor> {
    gate.contiguous()?
        .apply_op2_no_bwd(&up.contiguous()?, &SwiGlu)
}

struct SwiGlu;

impl SwiGlu {
    /// The result's shape, where the two go together.
    fn shape(&self, gate: (DType, &Layout), up: (DType, &Layout)) -> Result<Shape> {
        let op = self.name();
        let (shape, other) = (gate.1.shape(), up.1.shape());
        if shape != other {
            return Err(Error::ShapeMismatchBinaryOp {
                lhs: shape.clone(),
                rhs: other.clone(),
                op,
            }
            .bt());
        }
        match (gate.0, up.0) {
            (lhs, rhs) if lhs != rhs => Err(Error::DTypeMismatchBinaryOp { lhs, rhs, op }.bt()),
            (DType::F32 | DType::F16 | DType::BF16, _) => Ok(shape.clone()),
            (other, _) => Err(Error::UnsupportedDTypeForOp(other, op).bt()),
        }
    }
}

impl CustomOp2 for SwiGlu {
    fn name(&self) -> &'static str {
        "swiglu"
    }

    fn cpu_fwd(
        &self,
        gate: &CpuStorage,
        gate_layout: &Layout,
        up: &CpuStorage,
        up_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (gates, ups) = (gate_layout, up_layout);
        let shape = self.shape((gate.dtype(), gates), (up.dtype(), ups))?;
        let storage = match (gate, up) {
            (CpuStorage::F32(gate), CpuStorage::F32(up)) => {
                CpuStorage::F32(gated(part(gate, gates)?, part(up, ups)?, |x| x))
            }
            (CpuStorage::F16(gate), CpuStorage::F16(up)) => {
                CpuStorage::F16(gated(part(gate, gates)?, part(up, ups)?, f16::from_f32))
            }
            (CpuStorage::BF16(gate), CpuStorage::BF16(up)) => {
                CpuStorage::BF16(gated(part(gate, gates)?, part(up, ups)?, bf16::from_f32))
            }
            _ => return Err(Error::UnsupportedDTypeForOp(gate.dtype(), self.name()).bt()),
        };
        Ok((storage, shape))
    }

    #[cfg(feature = "cuda")]
    fn cuda_fwd(
        &self,
        gate: &candle_core::CudaStorage,
        gate_layout: &Layout,
        up: &candle_core::CudaStorage,
        up_layout: &Layout,
    ) -> Result<(candle_core::CudaStorage, Shape)> {
        use candle_core::cuda_backend::Map2;
        let shape = self.shape((gate.dtype(), gate_layout), (up.dtype(), up_layout))?;
        let device = gate.device.clone();
        let slice = cuda::Kernel.map(&gate.slice, gate_layout, &up.slice, up_layout, &device)?;
        Ok((candle_core::CudaStorage { slice, device }, shape))
    }
}

/// As `gated` in `swiglu.cu`.
fn gated<T: Copy + Into<f32> + Send + Sync>(
    gate: &[T],
    up: &[T],
    round: impl Fn(f32) -> T + Sync,
) -> Vec<T> {
    gate.par_iter()
        .zip(up)
        .with_min_len(SPAN)
        .map(|(&gate, &up)| {
            let (x, up): (f32, f32) = (gate.into(), up.into());
            round(x / (1.0 + (-x).exp()) * up)
        })
        .collect()
}

#[cfg(feature = "cuda")]
mod cuda {
    use std::sync::OnceLock;

    use candle_core::{
        CudaDevice, Error, Layout, Result, WithDType, bail,
        cuda_backend::{
            Map2, WrapErr,
            cudarc::{
                driver::{
                    CudaSlice, CudaView, DeviceRepr, LaunchConfig, PushKernelArg, ValidAsZeroBits,
                },
                nvrtc::{CompileError, compile_ptx},
            },
            kernel_name,
        },
    };

    /// Threads of a block.
    const THREADS: usize = 256;
    /// What a thread reads at once, in bytes: a `Pack` of the kernel.
    const PACK: usize = 16;
    /// The most blocks that CUDA launches; the kernel's threads go on to what is left.
    const MOST_BLOCKS: usize = i32::MAX as usize;

    /// The kernel, for the types that [`super::SwiGlu::shape`] lets through.
    pub struct Kernel;

    impl Map2 for Kernel {
        fn f<T: DeviceRepr + WithDType + ValidAsZeroBits>(
            &self,
            gate: &CudaSlice<T>,
            gate_layout: &Layout,
            up: &CudaSlice<T>,
            up_layout: &Layout,
            device: &CudaDevice,
        ) -> Result<CudaSlice<T>> {
            let count = gate_layout.shape().elem_count();
            // SAFETY: the kernel writes all `count` numbers, and nobody reads more. The driver has no memory of
            // zero bytes to give.
            let mut out = unsafe { device.alloc::<T>(count.max(1)) }?;
            if count == 0 {
                return Ok(out);
            }
            let (gate, up) = (part(gate, gate_layout)?, part(up, up_layout)?);
            let kernel =
                device.get_or_load_custom_func(&kernel_name::<T>("swiglu"), "swiglu", ptx()?)?;
            let mut launch = kernel.builder();
            let numbers = count as u64;
            launch.arg(&gate).arg(&up).arg(&mut out).arg(&numbers);
            let blocks = count.div_ceil(THREADS * (PACK / size_of::<T>()));
            let config = LaunchConfig {
                grid_dim: (blocks.min(MOST_BLOCKS) as u32, 1, 1),
                block_dim: (THREADS as u32, 1, 1),
                shared_mem_bytes: 0,
            };
            // SAFETY: the arguments are those of the kernel, and each of the three holds `count` numbers of its
            // type: the shapes were found to be one.
            unsafe { launch.launch(config) }.w()?;
            Ok(out)
        }
    }

    /// The numbers of a contiguous tensor.
    fn part<'a, T>(all: &'a CudaSlice<T>, layout: &Layout) -> Result<CudaView<'a, T>> {
        match layout
            .contiguous_offsets()
            .and_then(|(start, end)| all.try_slice(start..end))
        {
            Some(numbers) => Ok(numbers),
            None => bail!("a fused operation needs contiguous numbers"),
        }
    }

    /// The kernels as the driver takes them, compiled once. They name no GPU: the driver makes the code of the one
    /// it has.
    pub fn ptx() -> Result<&'static str> {
        static PTX: OnceLock<std::result::Result<String, String>> = OnceLock::new();
        let ptx = PTX.get_or_init(|| match compile_ptx(include_str!("swiglu.cu")) {
            Ok(ptx) => Ok(ptx.to_src()),
            Err(CompileError::CompileError { log, .. }) => Err(log.to_string_lossy().into_owned()),
            Err(other) => Err(other.to_string()),
        });
        ptx.as_deref().map_err(|reason| {
            let said = format!("nvrtc, of the CUDA toolkit, does not compile swiglu.cu: {reason}");
            Error::Cuda(said.into()).bt()
        })
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::{super::training::math::mix, *};

    /// Most fill no pack of the kernel, no block and no span; the last is several spans.
    const SHAPES: [(usize, usize); 6] = [(1, 1), (1, 7), (3, 5), (2, 8), (33, 65), (41, 2003)];
    const TYPES: [DType; 3] = [DType::F32, DType::F16, DType::BF16];

    /// Numbers between −8 and 8, whose exponentials f16 holds; the same at each call.
    fn random((rows, columns): (usize, usize), seed: u64, dtype: DType) -> Tensor {
        let numbers: Vec<f32> = (0..rows * columns)
            .map(|i| (mix(seed, i as u64) >> 40) as f32 / (1 << 23) as f32 - 1.0)
            .map(|x| 8.0 * x)
            .collect();
        let tensor = Tensor::from_vec(numbers, (rows, columns), &Device::Cpu).unwrap();
        tensor.to_dtype(dtype).unwrap()
    }

    fn composed(gate: &Tensor, up: &Tensor) -> Tensor {
        (candle_nn::ops::silu(gate).unwrap() * up).unwrap()
    }

    fn as_f32(x: &Tensor) -> Vec<f32> {
        let x = x.to_dtype(DType::F32).unwrap();
        x.flatten_all().unwrap().to_vec1().unwrap()
    }

    fn same(found: &Tensor, expected: &Tensor) {
        assert_eq!(found.shape(), expected.shape());
        assert_eq!(found.dtype(), expected.dtype());
        assert_eq!(as_f32(found), as_f32(expected));
    }

    /// The distance from 1 to the next number of a type.
    fn epsilon(dtype: DType) -> f32 {
        match dtype {
            DType::F16 => f16::EPSILON.to_f32(),
            DType::BF16 => bf16::EPSILON.to_f32(),
            _ => f32::EPSILON,
        }
    }

    /// Numbers must be those expected, to within `tolerance` of each; what f16 has no normal numbers for, to within
    /// the steps there.
    fn close(found: &Tensor, expected: &Tensor, tolerance: f32) {
        assert_eq!(found.shape(), expected.shape());
        assert_eq!(found.dtype(), expected.dtype());
        let least = match found.dtype() {
            DType::F16 => 3.0 * f16::MIN_POSITIVE_SUBNORMAL.to_f32(),
            _ => f32::MIN_POSITIVE,
        };
        for (i, (a, b)) in as_f32(found).iter().zip(as_f32(expected)).enumerate() {
            assert!(
                (a - b).abs() <= tolerance * b.abs() + least,
                "{a} for {b}, number {i} of {:?} in {:?}",
                found.shape(),
                found.dtype()
            );
        }
    }

    #[test]
    fn is_the_composed_form() {
        for shape in SHAPES {
            for dtype in TYPES {
                let (gate, up) = (random(shape, 1, dtype), random(shape, 2, dtype));
                let found = swiglu(&gate, &up).unwrap();
                // candle rounds after each of five operations, in the type that comes in: half an ε each.
                close(&found, &composed(&gate, &up), 3.0 * epsilon(dtype));
                let wide = |x: &Tensor| x.to_dtype(DType::F32).unwrap();
                let once = composed(&wide(&gate), &wide(&up));
                same(&found, &once.to_dtype(dtype).unwrap());
            }
        }
    }

    #[test]
    fn views_are_what_they_show() {
        for dtype in TYPES {
            let (rows, width) = (5, 7);
            let alone = |x: &Tensor| x.force_contiguous().unwrap();
            let check = |gate: &Tensor, up: &Tensor| {
                let expected = swiglu(&alone(gate), &alone(up)).unwrap();
                same(&swiglu(gate, up).unwrap(), &expected);
            };
            // Both halves of one matrix: by columns, by columns of some rows, and by rows.
            let wide = random((rows, 2 * width), 1, dtype);
            let half = |at: usize| wide.narrow(1, at, width).unwrap();
            let (gate, up) = (half(0), half(width));
            check(&gate, &up);
            check(&gate.narrow(0, 1, 3).unwrap(), &up.narrow(0, 2, 3).unwrap());
            let tall = random((2 * rows, width), 2, dtype);
            let half = |at: usize| tall.narrow(0, at, rows).unwrap();
            check(&half(rows), &half(0));
            check(&half(rows).t().unwrap(), &half(0).t().unwrap());
            // Without the copy a strided view is refused, not misread.
            let refused = gate.apply_op2_no_bwd(&up, &SwiGlu).unwrap_err();
            assert!(refused.to_string().contains("contiguous"), "{refused}");
        }
    }

    #[test]
    fn nothing_gives_nothing() {
        for dtype in TYPES {
            for shape in [(0, 5), (5, 0)] {
                let empty = Tensor::zeros(shape, dtype, &Device::Cpu).unwrap();
                let found = swiglu(&empty, &empty).unwrap();
                assert_eq!(found.dims2().unwrap(), shape);
                assert_eq!(found.dtype(), dtype);
            }
            // At the end of its memory.
            let x = random((3, 5), 1, dtype);
            let end = x.narrow(0, 3, 0).unwrap();
            assert_eq!(swiglu(&end, &end).unwrap().dims(), [0, 5]);
        }
    }

    #[test]
    fn the_tails_are_finite() {
        let gate = [-1e30f32, -200.0, -88.0, -0.0, 0.0, 88.0, 200.0, 1e30];
        let gate = Tensor::new(&gate, &Device::Cpu).unwrap();
        let up = (gate.ones_like().unwrap() * 2.0).unwrap();
        let found = as_f32(&swiglu(&gate, &up).unwrap());
        assert!(found[..3].iter().all(|y| (-1e-30..=0.0).contains(y)));
        assert_eq!(found[3..], [0.0, 0.0, 176.0, 400.0, 2e30]);
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        let x = random((2, 3), 1, DType::F32);
        let said = |gate: &Tensor, up: &Tensor| swiglu(gate, up).unwrap_err().to_string();
        let turned = x.reshape((3, 2)).unwrap();
        assert!(said(&x, &turned).contains("shape mismatch"));
        let half = x.to_dtype(DType::F16).unwrap();
        assert!(said(&x, &half).contains("dtype mismatch"));
        let wide = x.to_dtype(DType::F64).unwrap();
        assert!(said(&wide, &wide).contains("unsupported dtype"));
    }

    #[cfg(feature = "cuda")]
    #[test]
    fn the_kernels_compile() {
        let ptx = cuda::ptx().unwrap();
        for dtype in TYPES {
            let entry = format!(".entry swiglu_{}(", dtype.as_str());
            assert!(ptx.contains(&entry), "{ptx}");
        }
    }

    #[cfg(feature = "cuda")]
    #[test]
    fn a_gpu_computes_the_same() {
        let Ok(gpu) = Device::new_cuda(0) else {
            eprintln!("skipped: no NVIDIA GPU, or no driver for it");
            return;
        };
        for shape in SHAPES {
            for dtype in TYPES {
                let (gate, up) = (random(shape, 1, dtype), random(shape, 2, dtype));
                let both = |gate: &Tensor, up: &Tensor| {
                    let found = swiglu(gate, up).unwrap();
                    found.to_device(&Device::Cpu).unwrap()
                };
                let on_gpu = |x: &Tensor| x.to_device(&gpu).unwrap();
                let (g, u) = (on_gpu(&gate), on_gpu(&up));
                let expected = swiglu(&gate, &up).unwrap();
                // Exponentials differ by some steps of f32, which at times round to the next number of 16 bits.
                let tolerance = match dtype {
                    DType::F32 => 8.0 * f32::EPSILON,
                    _ => epsilon(dtype),
                };
                close(&both(&g, &u), &expected, tolerance);
                // Two views that begin between two packs, and turned ones.
                let rows = shape.0 - 1;
                let below = |x: &Tensor| x.narrow(0, 1, rows).unwrap();
                close(&both(&below(&g), &below(&u)), &below(&expected), tolerance);
                let turned = |x: &Tensor| x.t().unwrap();
                close(
                    &both(&turned(&g), &turned(&u)),
                    &turned(&expected),
                    tolerance,
                );
            }
        }
    }
}

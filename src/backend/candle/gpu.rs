//! An NVIDIA GPU by itself: its name, its speed in large products, and the memory that is in use.

use std::time::{Duration, Instant};
#[cfg(feature = "cuda")]
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
};

#[cfg(feature = "cuda")]
use candle_core::cuda_backend::cudarc::driver::CudaContext;
use candle_core::{DType, Device, Tensor};

use super::Candle;
use crate::error::{Error, Result};

/// Rows and columns of the matrices whose product is timed: large enough to fill any GPU.
const SIZE: usize = 8192;
/// Products between two waits for the device.
const PRODUCTS: usize = 10;
/// How long to measure for: long enough for the GPU to reach its clock, short enough not to be waited for.
const TIME: Duration = Duration::from_secs(1);
/// Between two looks at the memory in use.
#[cfg(feature = "cuda")]
const LOOK: Duration = Duration::from_millis(1);

/// A GPU that candle computes on.
pub struct Gpu {
    device: Device,
    #[cfg(feature = "cuda")]
    context: Arc<CudaContext>,
}

impl Gpu {
    /// `device`, where it is a GPU.
    #[cfg(feature = "cuda")]
    pub fn of(device: &Device) -> Option<Self> {
        let context = device.as_cuda_device().ok()?.cuda_stream();
        Some(Self {
            device: device.clone(),
            context: context.context().clone(),
        })
    }

    /// `device`, where it is a GPU.
    #[cfg(not(feature = "cuda"))]
    pub fn of(device: &Device) -> Option<Self> {
        device.is_cuda().then(|| Self {
            device: device.clone(),
        })
    }

    /// As its driver has it.
    pub fn name(&self) -> String {
        #[cfg(feature = "cuda")]
        if let Ok(name) = self.context.name() {
            return name;
        }
        "an NVIDIA GPU".into()
    }

    /// Operations (a product and a sum are two) per second of a large product in bf16: what a forward pass's
    /// speed is a share of.
    pub fn peak(&self) -> Result<f64> {
        peak(&self.device, DType::BF16, SIZE)
    }

    /// Runs `work`, and looks meanwhile how much of the GPU's memory is in use, by this program and all others:
    /// the most that was, in bytes.
    #[cfg(feature = "cuda")]
    pub fn watched<T>(&self, work: impl FnOnce() -> T) -> (T, Option<u64>) {
        let used = || {
            let (free, total) = self.context.mem_get_info().ok()?;
            Some(total.saturating_sub(free) as u64)
        };
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let watch = scope.spawn(|| {
                let mut most = used();
                while !done.load(Relaxed) {
                    thread::sleep(LOOK);
                    most = most.max(used());
                }
                most
            });
            let result = work();
            done.store(true, Relaxed);
            (result, watch.join().ok().flatten())
        })
    }

    /// Runs `work`: without CUDA nothing is known of a GPU's memory.
    #[cfg(not(feature = "cuda"))]
    pub fn watched<T>(&self, work: impl FnOnce() -> T) -> (T, Option<u64>) {
        (work(), None)
    }
}

impl Candle {
    /// candle on the first NVIDIA GPU.
    ///
    /// # Errors
    /// This was built without CUDA, or there is no GPU or no driver for it.
    pub fn cuda() -> Result<Self> {
        if !cfg!(feature = "cuda") {
            return Err(Error::NoCuda(
                "this was built without the feature `cuda`".into(),
            ));
        }
        Device::new_cuda(0).map(Self::new).map_err(|e| {
            Error::NoCuda(format!(
                "no GPU answers ({e}). See that `nvidia-smi` lists one, and that NVIDIA's driver (libcuda.so.1) is there and new enough for the toolkit this was built with"
            ))
        })
    }
}

/// The best of several rounds of products as a linear layer makes them, x·Wᵀ, of random numbers: zeros take less
/// power, and so run at a higher clock.
fn peak(device: &Device, dtype: DType, size: usize) -> Result<f64> {
    let matrix = || Tensor::randn(0f32, 1.0, (size, size), device)?.to_dtype(dtype);
    let (x, weight) = (matrix()?, matrix()?.t()?);
    x.matmul(&weight)?;
    let operations = PRODUCTS as f64 * 2.0 * (size as f64).powi(3);
    let mut best = 0f64;
    let start = Instant::now();
    while start.elapsed() < TIME {
        device.synchronize()?;
        let round = Instant::now();
        for _ in 0..PRODUCTS {
            x.matmul(&weight)?;
        }
        device.synchronize()?;
        best = best.max(operations / round.elapsed().as_secs_f64());
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_is_measured_where_there_is_a_gpu() {
        assert!(Gpu::of(&Device::Cpu).is_none());
        // The same loop, on what every machine has.
        let speed = peak(&Device::Cpu, DType::F32, 64).unwrap();
        assert!(speed.is_finite() && speed > 1e6, "{speed}");
    }
}

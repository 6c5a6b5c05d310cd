//! A device that is opened before there is a model to run on it: what takes time there goes on while the model arrives.

use crate::{
    backend::{
        simd::Simd,
        webgpu::{PowerPreference, WebGpu},
    },
    error::Result,
};

/// A device that was asked for, and is open.
pub enum OpenDevice {
    /// The CPU, and the reason for it.
    Cpu(Simd, String),
    /// A GPU.
    WebGpu(WebGpu),
    /// The CPU, and beside it a GPU, or why there is none: which of them is used shows when there is a model.
    Auto(Simd, Result<WebGpu>),
}

impl OpenDevice {
    /// WebGPU alone.
    ///
    /// # Errors
    /// As [`WebGpu::new`].
    pub async fn webgpu() -> Result<Self> {
        prepared().await.map(Self::WebGpu)
    }

    /// Both devices, or the CPU where there is no WebGPU.
    pub async fn auto(cpu: Simd) -> Self {
        Self::Auto(cpu, prepared().await)
    }
}

/// A GPU that is compiling its kernels.
async fn prepared() -> Result<WebGpu> {
    let gpu = WebGpu::new(PowerPreference::HighPerformance).await?;
    gpu.prepare();
    Ok(gpu)
}

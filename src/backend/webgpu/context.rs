//! The adapter and the device: which GPU, with which limits.

use wgpu::PowerPreference;

use super::failure::Failure;
use crate::{
    error::{Error, Result},
    guard::caught,
};

/// Workgroups that WebGPU guarantees in one dimension of a dispatch.
pub(super) const MAX_GROUPS: u32 = 65535;

/// How a GPU is used.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    pub power: PowerPreference,
    /// How linear layers multiply. `None`: [`Products::Bytes`] on GPUs, [`Products::Threads`] on software adapters.
    pub products: Option<Products>,
    /// Whether to time each kernel: see [`WebGpu::times`](super::WebGpu::times). Natively only.
    pub profile: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            power: PowerPreference::HighPerformance,
            products: None,
            profile: false,
        }
    }
}

/// How linear layers multiply. The last two give the same numbers up to rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Products {
    /// As packed bytes, where WGSL has `dot4I8Packed` and the weights lie in blocks; elsewhere as [`Products::Tiles`].
    Bytes,
    /// In f32, a workgroup sharing what it loads: for GPUs.
    Tiles,
    /// In f32, each thread by itself: for software adapters, which are three times as fast with it as with tiles, and
    /// six times as fast as with bytes.
    Threads,
}

/// The GPU that was chosen.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct AdapterInfo {
    /// Its name, as far as the system or browser tells (browsers often tell only vendor and architecture).
    pub name: String,
    /// `"nvidia"`, `"amd"`, `"intel"`, `"apple"`, …; empty where unknown.
    pub vendor: String,
    /// The GPU's family (browsers: `"ampere"`, `"gen-12lp"`, …); empty where unknown.
    pub architecture: String,
    /// The driver and its version; empty in browsers.
    pub driver: String,
    /// What WebGPU runs on: `"vulkan"`, `"metal"`, `"dx12"` or `"webgpu"` (a browser's own).
    pub backend: String,
    /// Whether it is a program on the CPU (SwiftShader, llvmpipe, WARP) rather than a GPU: slower than a
    /// CPU backend.
    pub software: bool,
    /// The largest tensor that fits, in bytes.
    pub max_buffer_bytes: u64,
    /// How linear layers multiply.
    pub products: Products,
}

impl std::fmt::Display for AdapterInfo {
    /// The name, and vendor and architecture where the name does not say them.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts = [&self.name, &self.vendor, &self.architecture];
        let mut known: Vec<&str> = Vec::new();
        for part in parts.into_iter().map(String::as_str) {
            if !part.is_empty() && !known.iter().any(|k| k.contains(part)) {
                known.push(part);
            }
        }
        f.write_str(if known.is_empty() {
            "unnamed adapter"
        } else {
            ""
        })?;
        f.write_str(&known.join(" "))
    }
}

/// An open device.
pub(super) struct Context {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub failure: Failure,
    pub info: AdapterInfo,
}

impl Context {
    /// Opens the system's adapter.
    pub async fn new(options: &Options) -> Result<Self> {
        let instance =
            wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
        let adapter = instance
            .request_adapter(&wgpu::RequestAdapterOptions {
                power_preference: options.power,
                ..Default::default()
            })
            .await
            // wgpu lists every backend it was built without, which helps nobody.
            .map_err(|_| Error::NoGpu("there is no adapter".into()))?;
        let limits = required_limits(&adapter.limits())?;
        let max_buffer_bytes = limits
            .max_buffer_size
            .min(limits.max_storage_buffer_binding_size);
        let (device, queue) = adapter
            .request_device(&wgpu::DeviceDescriptor {
                label: Some("caselens"),
                required_features: match options.profile {
                    true => adapter.features() & wgpu::Features::TIMESTAMP_QUERY,
                    false => wgpu::Features::empty(),
                },
                required_limits: limits,
                // Buffers are pooled here; large blocks beneath them would only sit idle.
                memory_hints: wgpu::MemoryHints::MemoryUsage,
                ..Default::default()
            })
            .await
            .map_err(|e| Error::NoGpu(format!("the adapter gave no device ({e})")))?;
        let failure = Failure::default();
        failure.watch(&device);
        let mut info = AdapterInfo {
            max_buffer_bytes,
            ..describe(&adapter.get_info(), &device)
        };
        let bytes = instance
            .wgsl_language_features()
            .contains(wgpu::WgslLanguageFeatures::Packed4x8IntegerDotProduct);
        info.products = match options.products {
            None if info.software => Products::Threads,
            Some(Products::Bytes) | None if bytes => Products::Bytes,
            Some(Products::Threads) => Products::Threads,
            _ => Products::Tiles,
        };
        tracing::debug!(?info, "opened a WebGPU device");
        Ok(Self {
            device,
            queue,
            failure,
            info,
        })
    }

    /// Lets finished work report itself, without waiting. Browsers do so by themselves.
    pub fn poll(&self) {
        self.wait(wgpu::PollType::Poll);
    }

    /// Waits for the queue to run empty. Browsers do not wait: there it does nothing.
    pub fn wait_idle(&self) {
        self.wait(wgpu::PollType::wait_indefinitely());
    }

    fn wait(&self, poll: wgpu::PollType) {
        // wgpu panics where the driver loses the device in the middle of a wait.
        match caught(|| self.device.poll(poll)) {
            Some(Ok(_)) => {}
            Some(Err(e)) => self.failure.record(e.to_string()),
            None => self.failure.record("the driver stopped responding"),
        }
    }
}

impl Drop for Context {
    /// Frees the GPU's memory now: in a browser, garbage collection would take its time.
    fn drop(&mut self) {
        self.device.destroy();
    }
}

/// WebGPU's defaults, with buffers as large as the adapter takes.
fn required_limits(adapter: &wgpu::Limits) -> Result<wgpu::Limits> {
    let limits = wgpu::Limits {
        max_buffer_size: adapter.max_buffer_size,
        max_storage_buffer_binding_size: adapter.max_storage_buffer_binding_size,
        ..wgpu::Limits::default().or_worse_values_from(adapter)
    };
    // What the kernels need; every conforming WebGPU device has it.
    let needs = [
        (
            "invocations in a workgroup",
            limits.max_compute_invocations_per_workgroup,
            256,
        ),
        (
            "bytes of workgroup memory",
            limits.max_compute_workgroup_storage_size,
            16384,
        ),
        (
            "storage buffers in a shader",
            limits.max_storage_buffers_per_shader_stage,
            8,
        ),
        (
            "workgroups in a dimension",
            limits.max_compute_workgroups_per_dimension,
            MAX_GROUPS,
        ),
    ];
    for (what, has, needed) in needs {
        if has < needed {
            return Err(Error::NoGpu(format!(
                "the adapter offers {has} {what} where {needed} are needed"
            )));
        }
    }
    Ok(limits)
}

/// What is known of the adapter; what was decided about it is the caller's to fill in.
fn describe(info: &wgpu::AdapterInfo, device: &wgpu::Device) -> AdapterInfo {
    let (vendor, architecture) = vendor_and_architecture(info, device);
    let name = match info.name.trim() {
        "" => format!("{vendor} {architecture}").trim().to_owned(),
        name => name.to_owned(),
    };
    let lower = name.to_lowercase();
    let software = info.device_type == wgpu::DeviceType::Cpu
        || ["swiftshader", "llvmpipe", "lavapipe", "basic render driver"]
            .iter()
            .any(|known| lower.contains(known));
    AdapterInfo {
        name,
        vendor,
        architecture,
        driver: format!("{} {}", info.driver, info.driver_info)
            .trim()
            .to_owned(),
        backend: match info.backend {
            wgpu::Backend::BrowserWebGpu => "webgpu".into(),
            backend => backend.to_str().to_owned(),
        },
        software,
        max_buffer_bytes: 0,
        products: Products::Tiles,
    }
}

/// The PCI vendors of GPUs, named as browsers name them; a native driver does not tell the architecture.
#[cfg(not(target_arch = "wasm32"))]
fn vendor_and_architecture(info: &wgpu::AdapterInfo, _: &wgpu::Device) -> (String, String) {
    let vendor = match info.vendor {
        0x1002 => "amd",
        0x10de => "nvidia",
        0x8086 => "intel",
        0x106b => "apple",
        0x13b5 => "arm",
        0x5143 => "qualcomm",
        0x1414 => "microsoft",
        0x10005 => "mesa",
        _ => "",
    };
    (vendor.to_owned(), String::new())
}

/// What the browser tells in `GPUDevice.adapterInfo`, which wgpu does not pass on.
#[cfg(target_arch = "wasm32")]
fn vendor_and_architecture(_: &wgpu::AdapterInfo, device: &wgpu::Device) -> (String, String) {
    use js_sys::Reflect;

    let read = |key: &str| {
        let device = device.as_webgpu()?;
        let info = Reflect::get(device.as_ref(), &"adapterInfo".into()).ok()?;
        Reflect::get(&info, &key.into()).ok()?.as_string()
    };
    (
        read("vendor").unwrap_or_default(),
        read("architecture").unwrap_or_default(),
    )
}

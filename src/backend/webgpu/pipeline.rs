//! The kernels: which shaders make each, and their compiled pipelines, one a variant, made on first use or before.

use std::{collections::HashMap, sync::Mutex};

use super::context::Products;
use crate::backend::{Activation, lock};

/// Threads down a workgroup of the linear kernel on bytes, for few rows and for many. Many share what a core's cache holds of the weights; few are
/// shared out among more cores.
pub(super) const BYTES_HEIGHTS: [u32; 2] = [4, 16];

/// How a matrix lies on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Format {
    /// Rows of f32, padded with zeros to whole vec4s.
    F32,
    /// The same in f16, two numbers to a u32.
    F16,
    /// Blocks of 32: bytes four to a u32; f32 scales.
    Q8_0,
    /// The same blocks in the order of `linear_bytes.wgsl`: by panel of `PANEL` rows (those past the end are
    /// zeros), by block of columns, the low halves of the rows' bytes and then the high ones; one scale a row.
    Panels,
}

/// A kernel and its variant: the key of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kernel {
    Embed(Format),
    Linear(Format, Activation),
    LinearThreads(Format, Activation),
    Quantize,
    /// A linear layer on bytes, with so many threads down a workgroup.
    LinearBytes(Activation, u32),
    Pad,
    AddNorm,
    /// Heads of so many numbers; whether scores take a relative bias.
    Attention(u32, bool),
    /// Whether scores take a relative bias.
    AttentionWeights(bool),
    Pool,
    Normalize,
    Copy,
    Route,
    Shares,
    Scale,
    Transform,
}

/// How wide the attention heads of small encoders are.
const USUAL_HEAD: u32 = 32;

impl Kernel {
    /// What a small encoder in blocks of bytes runs on; those that take longest to compile come first. What else another one
    /// needs is compiled when it is there: a kernel that nobody uses would hold up all others.
    pub fn likely(products: Products) -> Vec<Self> {
        let mut kernels = Vec::new();
        for activation in [Activation::Gelu, Activation::None] {
            match products {
                Products::Bytes => kernels
                    .extend(BYTES_HEIGHTS.map(|height| Self::LinearBytes(activation, height))),
                Products::Tiles => kernels.push(Self::Linear(Format::Q8_0, activation)),
                Products::Threads => kernels.push(Self::LinearThreads(Format::Q8_0, activation)),
            }
        }
        kernels.extend([
            Self::Embed(Format::Q8_0),
            Self::Attention(USUAL_HEAD, false),
            Self::AddNorm,
            Self::Pool,
            Self::Normalize,
        ]);
        if products == Products::Bytes {
            kernels.push(Self::Quantize);
        }
        kernels
    }

    /// The WGSL files it is made of. A later file uses what an earlier one declares.
    fn sources(self) -> Vec<&'static str> {
        const ACTIVATION: &str = include_str!("shaders/activation.wgsl");
        const STORE: &str = include_str!("shaders/store_row.wgsl");
        const LINEAR: &str = include_str!("shaders/linear_bindings.wgsl");
        const SUM: &str = include_str!("shaders/workgroup_sum.wgsl");
        const MAX: &str = include_str!("shaders/workgroup_max.wgsl");
        const NORM: &str = include_str!("shaders/layer_norm.wgsl");
        let weight = |format| match format {
            Format::F32 => include_str!("shaders/weight_f32.wgsl"),
            Format::F16 => include_str!("shaders/weight_f16.wgsl"),
            // Panels are for another kernel, which reads them by itself.
            Format::Q8_0 | Format::Panels => include_str!("shaders/weight_q8_0.wgsl"),
        };
        let bias = |biased| match biased {
            true => include_str!("shaders/bias_relative.wgsl"),
            false => include_str!("shaders/bias_none.wgsl"),
        };
        match self {
            Self::Embed(format) => vec![
                weight(format),
                SUM,
                NORM,
                include_str!("shaders/embed.wgsl"),
            ],
            Self::Linear(format, _) => vec![
                weight(format),
                ACTIVATION,
                STORE,
                LINEAR,
                include_str!("shaders/linear.wgsl"),
            ],
            Self::LinearThreads(format, _) => vec![
                weight(format),
                ACTIVATION,
                STORE,
                LINEAR,
                include_str!("shaders/linear_threads.wgsl"),
            ],
            Self::Quantize => vec![include_str!("shaders/quantize.wgsl")],
            Self::LinearBytes(..) => {
                vec![ACTIVATION, STORE, include_str!("shaders/linear_bytes.wgsl")]
            }
            Self::Pad => vec![include_str!("shaders/pad.wgsl")],
            Self::AddNorm => vec![SUM, NORM, include_str!("shaders/add_norm.wgsl")],
            Self::Attention(head, biased) => vec![
                bias(biased),
                match head % 4 {
                    0 => include_str!("shaders/quads_whole.wgsl"),
                    _ => include_str!("shaders/quads_any.wgsl"),
                },
                include_str!("shaders/attention.wgsl"),
            ],
            Self::AttentionWeights(biased) => vec![
                SUM,
                MAX,
                bias(biased),
                include_str!("shaders/attention_weights.wgsl"),
            ],
            Self::Pool => vec![include_str!("shaders/pool.wgsl")],
            Self::Normalize => vec![SUM, include_str!("shaders/normalize.wgsl")],
            Self::Copy => vec![include_str!("shaders/copy.wgsl")],
            Self::Route => vec![SUM, MAX, include_str!("shaders/route.wgsl")],
            Self::Shares => vec![SUM, include_str!("shaders/shares.wgsl")],
            Self::Scale => vec![include_str!("shaders/scale.wgsl")],
            Self::Transform => vec![include_str!("shaders/transform.wgsl")],
        }
    }

    /// A constant that sizes arrays, which an `override` cannot.
    fn declarations(self) -> String {
        match self {
            Self::Attention(head, _) => format!("const QUADS = {}u;\n", head.div_ceil(4)),
            _ => String::new(),
        }
    }

    /// Values of the shader's `override` declarations.
    fn constants(self) -> Vec<(&'static str, f64)> {
        match self {
            Self::Linear(_, activation) | Self::LinearThreads(_, activation) => {
                vec![("activation", number(activation))]
            }
            Self::LinearBytes(activation, height) => vec![
                ("activation", number(activation)),
                ("height", f64::from(height)),
            ],
            _ => Vec::new(),
        }
    }
}

/// An activation in `activation.wgsl`.
fn number(activation: Activation) -> f64 {
    match activation {
        Activation::None => 0.0,
        Activation::Gelu => 1.0,
        Activation::Relu => 2.0,
        Activation::Tanh => 3.0,
    }
}

/// A compiled kernel with the layout of its bind group.
#[derive(Clone)]
pub(super) struct Pipeline {
    pub compute: wgpu::ComputePipeline,
    pub layout: wgpu::BindGroupLayout,
}

/// The compiled kernels of one device.
#[derive(Default)]
pub(super) struct Pipelines(Mutex<HashMap<Kernel, Pipeline>>);

impl Pipelines {
    /// The pipeline of `kernel`, compiled if it is not yet. A compiler's complaint reaches the device's
    /// error callback.
    pub fn get(&self, device: &wgpu::Device, kernel: Kernel) -> Pipeline {
        lock(&self.0)
            .entry(kernel)
            .or_insert_with(|| compile(device, kernel))
            .clone()
    }
}

fn compile(device: &wgpu::Device, kernel: Kernel) -> Pipeline {
    let label = format!("{kernel:?}");
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(&label),
        source: wgpu::ShaderSource::Wgsl(
            (kernel.declarations() + &kernel.sources().join("\n")).into(),
        ),
    });
    let compute = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(&label),
        // The bindings are declared once, in the shader.
        layout: None,
        module: &module,
        entry_point: Some("main"),
        compilation_options: wgpu::PipelineCompilationOptions {
            constants: &kernel.constants(),
            // Every kernel writes workgroup memory before it reads it.
            zero_initialize_workgroup_memory: false,
        },
        cache: None,
    });
    let layout = compute.get_bind_group_layout(0);
    Pipeline { compute, layout }
}

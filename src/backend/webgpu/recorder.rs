//! Commands of a batch: recorded as operations are called, submitted once.
//!
//! All dispatches of a batch go into one compute pass, where WebGPU runs them in order, and their parameters
//! into slots of shared uniform buffers that are written in one go just before the submission.

use std::sync::Mutex;

use bytemuck::Pod;

use super::{
    buffers::{Allocation, Memory},
    context::{Context, MAX_GROUPS},
    pipeline::Pipeline,
    profile::{KernelTime, Profile, Work},
};
use crate::{backend::lock, error::Result};

/// Bytes of a parameter slot: the largest alignment of uniform bindings that a device may ask for.
const SLOT: usize = 256;
/// Slots in a uniform buffer: more than the dispatches of a 24-layer forward pass.
const SLOTS: usize = 256;

/// At least `count` workgroups as a grid; a shader's workgroup is `y · width + x` and checks for the end.
pub(super) fn grid(count: usize) -> [u32; 2] {
    let rows = count.div_ceil(MAX_GROUPS as usize).max(1);
    [count.div_ceil(rows) as u32, rows as u32]
}

/// A kernel's run.
pub(super) struct Dispatch<'a, P> {
    pub pipeline: &'a Pipeline,
    pub work: Work,
    /// The shader's uniform at binding 0, at most 256 bytes.
    pub parameters: &'a P,
    /// Its storage buffers with their binding numbers.
    pub bindings: &'a [(u32, &'a Allocation)],
    /// Workgroups in each dimension.
    pub groups: [u32; 2],
}

/// Records the commands of one device, whichever thread they come from: what one thread submits takes along what others
/// have recorded.
pub(super) struct Recorder(Mutex<State>);

/// Locked while a dispatch is recorded, and from taking what is pending until it is submitted: in between, commands would be
/// given slots that still hold the parameters of those before them.
struct State {
    pending: Option<Pending>,
    /// Uniform buffers, kept for the next batch.
    parameters: Vec<wgpu::Buffer>,
    /// Where kernels are timed.
    profile: Option<Profile>,
}

/// Commands that are not submitted yet.
struct Pending {
    encoder: wgpu::CommandEncoder,
    /// Open until the submission; `None` where each dispatch is timed in a pass of its own.
    pass: Option<wgpu::ComputePass<'static>>,
    /// The slots' contents.
    parameters: Vec<u8>,
}

impl Pending {
    fn new(context: &Context, timed: bool) -> Self {
        let mut encoder = context
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: None });
        let pass = (!timed).then(|| {
            encoder
                .begin_compute_pass(&wgpu::ComputePassDescriptor::default())
                .forget_lifetime()
        });
        Self {
            encoder,
            pass,
            parameters: Vec::new(),
        }
    }
}

impl Recorder {
    /// Times each kernel where there is a `profile`.
    pub fn new(profile: Option<Profile>) -> Self {
        Self(Mutex::new(State {
            pending: None,
            parameters: Vec::new(),
            profile,
        }))
    }

    /// Records one dispatch.
    pub fn dispatch(&self, context: &Context, memory: &Memory, dispatch: Dispatch<'_, impl Pod>) {
        let Dispatch {
            pipeline,
            work,
            parameters,
            bindings,
            groups: [x, y],
        } = dispatch;
        let device = &context.device;
        let State {
            pending,
            parameters: uniforms,
            profile,
        } = &mut *lock(&self.0);
        let pending = pending.get_or_insert_with(|| {
            memory.recording();
            Pending::new(context, profile.is_some())
        });

        let slot = pending.parameters.len() / SLOT;
        let bytes = bytemuck::bytes_of(parameters);
        debug_assert!(bytes.len() <= SLOT);
        pending.parameters.extend_from_slice(bytes);
        pending.parameters.resize((slot + 1) * SLOT, 0);

        if uniforms.len() <= slot / SLOTS {
            uniforms.push(device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("parameters"),
                size: (SLOT * SLOTS) as u64,
                usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            }));
        }
        let mut entries = vec![wgpu::BindGroupEntry {
            binding: 0,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &uniforms[slot / SLOTS],
                offset: (slot % SLOTS * SLOT) as u64,
                size: wgpu::BufferSize::new(bytes.len() as u64),
            }),
        }];
        entries.extend(bindings.iter().map(|(binding, part)| wgpu::BindGroupEntry {
            binding: *binding,
            resource: part.binding(),
        }));
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.layout,
            entries: &entries,
        });
        let run = |pass: &mut wgpu::ComputePass<'_>| {
            pass.set_pipeline(&pipeline.compute);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(x, y, 1);
        };
        match (&mut pending.pass, profile) {
            (Some(pass), _) => run(pass),
            (None, Some(profile)) => run(&mut profile.pass(&mut pending.encoder, work)),
            (None, None) => {}
        }
    }

    /// Submits everything recorded, and after it copies of `sources`, `(buffer, bytes)`, end to end to
    /// `target`.
    pub fn submit(
        &self,
        context: &Context,
        memory: &Memory,
        sources: &[(&Allocation, u64)],
        target: &Allocation,
    ) {
        let State {
            pending,
            parameters: uniforms,
            profile,
        } = &mut *lock(&self.0);
        let Pending {
            mut encoder,
            pass,
            parameters,
        } = pending
            .take()
            .unwrap_or_else(|| Pending::new(context, profile.is_some()));
        drop(pass);
        let mut at = 0;
        for &(source, bytes) in sources {
            encoder.copy_buffer_to_buffer(source.buffer(), 0, target.buffer(), at, bytes);
            at += bytes;
        }
        if let Some(profile) = profile {
            profile.resolve(&mut encoder);
        }
        for (buffer, part) in uniforms.iter().zip(parameters.chunks(SLOT * SLOTS)) {
            context.queue.write_buffer(buffer, 0, part);
        }
        context.queue.submit([encoder.finish()]);
        memory.submitted();
    }

    /// Adds up the times of the batch that was submitted last, if they are taken.
    pub fn collect_times(&self, context: &Context) -> Result<()> {
        match &mut lock(&self.0).profile {
            Some(profile) => profile.collect(context),
            None => Ok(()),
        }
    }

    /// What each kernel took since the last call.
    pub fn times(&self) -> Vec<KernelTime> {
        let profile = &mut lock(&self.0).profile;
        profile.as_mut().map(Profile::take).unwrap_or_default()
    }
}

//! Commands of a batch: recorded as operations are called, submitted once.
//!
//! All dispatches of a batch go into one compute pass, where WebGPU runs them in order, and their parameters
//! into slots of shared uniform buffers that are written in one go just before the submission.

use std::cell::RefCell;

use bytemuck::Pod;

use super::{
    buffers::{Allocation, Memory},
    context::Context,
    pipeline::Pipeline,
    profile::Work,
};

/// Workgroups that WebGPU guarantees in one dimension of a dispatch.
pub(super) const MAX_GROUPS: u32 = 65535;

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

/// Records the commands of one device.
#[derive(Default)]
pub(super) struct Recorder {
    pending: RefCell<Option<Pending>>,
    /// Uniform buffers, kept for the next batch.
    parameters: RefCell<Vec<wgpu::Buffer>>,
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
    fn new(context: &Context) -> Self {
        let mut encoder = context
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: None });
        let pass = context.profile.is_none().then(|| {
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
        let mut pending = self.pending.borrow_mut();
        let pending = pending.get_or_insert_with(|| {
            memory.recording();
            Pending::new(context)
        });

        let slot = pending.parameters.len() / SLOT;
        let bytes = bytemuck::bytes_of(parameters);
        debug_assert!(bytes.len() <= SLOT);
        pending.parameters.extend_from_slice(bytes);
        pending.parameters.resize((slot + 1) * SLOT, 0);

        let mut uniforms = self.parameters.borrow_mut();
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
        match (&mut pending.pass, &context.profile) {
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
        let pending = self.pending.borrow_mut().take();
        let Pending {
            mut encoder,
            pass,
            parameters,
        } = pending.unwrap_or_else(|| Pending::new(context));
        drop(pass);
        let mut at = 0;
        for &(source, bytes) in sources {
            encoder.copy_buffer_to_buffer(source.buffer(), 0, target.buffer(), at, bytes);
            at += bytes;
        }
        if let Some(profile) = &context.profile {
            profile.resolve(&mut encoder);
        }
        for (buffer, part) in self
            .parameters
            .borrow()
            .iter()
            .zip(parameters.chunks(SLOT * SLOTS))
        {
            context.queue.write_buffer(buffer, 0, part);
        }
        context.queue.submit([encoder.finish()]);
        memory.submitted();
    }
}

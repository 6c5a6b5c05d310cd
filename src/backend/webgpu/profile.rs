//! How long each kernel takes: timestamps around every dispatch, natively and on request.
//!
//! A dispatch is then a compute pass of its own, so a batch as a whole takes longer than without.

use std::collections::BTreeMap;

use super::{context::Context, pipeline::Kernel};
use crate::error::{Error, Result};

/// Dispatches of a batch that are timed: those of a 24-layer forward pass, and more.
const CAPACITY: usize = 1024;
/// A timestamp, in bytes.
const TICK: u64 = 8;

/// What the dispatches of one kernel took together.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct KernelTime {
    /// The kernel and its variant.
    pub kernel: String,
    /// How often it ran.
    pub dispatches: usize,
    /// What that took in all.
    pub seconds: f64,
    /// A product and a sum are two; 0 for kernels that multiply no matrices.
    pub operations: f64,
    /// Of all buffers a dispatch was given, each counted once.
    pub bytes: f64,
}

/// One dispatch's work.
#[derive(Clone, Copy)]
pub(super) struct Work {
    pub kernel: Kernel,
    pub operations: f64,
    pub bytes: u64,
}

/// The timestamps of one device.
pub(super) struct Profile {
    queries: wgpu::QuerySet,
    /// Where timestamps become numbers, and where the host reads them.
    resolved: wgpu::Buffer,
    staging: wgpu::Buffer,
    nanoseconds_a_tick: f64,
    /// What the recorded and timed dispatches do, in their order.
    recorded: Vec<Work>,
    /// Those of the batch that was submitted last, until its times are collected.
    submitted: Vec<Work>,
    times: BTreeMap<String, KernelTime>,
}

impl Profile {
    /// # Errors
    /// The device tells no time.
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Self> {
        if !device.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
            return Err(Error::NoGpu(
                "the adapter has no timestamps, so kernels cannot be timed".into(),
            ));
        }
        let count = 2 * CAPACITY as u64;
        let buffer = |usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("timestamps"),
                size: count * TICK,
                usage,
                mapped_at_creation: false,
            })
        };
        Ok(Self {
            queries: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("timestamps"),
                ty: wgpu::QueryType::Timestamp,
                count: count as u32,
            }),
            resolved: buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC),
            staging: buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST),
            nanoseconds_a_tick: f64::from(queue.get_timestamp_period()),
            recorded: Vec::new(),
            submitted: Vec::new(),
            times: BTreeMap::new(),
        })
    }

    /// A pass for one dispatch; timed while there is room.
    pub fn pass<'a>(
        &mut self,
        encoder: &'a mut wgpu::CommandEncoder,
        work: Work,
    ) -> wgpu::ComputePass<'a> {
        let first = 2 * self.recorded.len() as u32;
        let timed = self.recorded.len() < CAPACITY;
        if timed {
            self.recorded.push(work);
        }
        encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: None,
            timestamp_writes: timed.then_some(wgpu::ComputePassTimestampWrites {
                query_set: &self.queries,
                beginning_of_pass_write_index: Some(first),
                end_of_pass_write_index: Some(first + 1),
            }),
        })
    }

    /// The last commands of a batch: they bring its timestamps to the host.
    pub fn resolve(&mut self, encoder: &mut wgpu::CommandEncoder) {
        self.submitted = std::mem::take(&mut self.recorded);
        let count = 2 * self.submitted.len() as u32;
        if count > 0 {
            encoder.resolve_query_set(&self.queries, 0..count, &self.resolved, 0);
            let bytes = u64::from(count) * TICK;
            encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.staging, 0, bytes);
        }
    }

    /// Adds up the times of the batch that was submitted last. Waits for it.
    pub fn collect(&mut self, context: &Context) -> Result<()> {
        let submitted = std::mem::take(&mut self.submitted);
        if submitted.is_empty() {
            return Ok(());
        }
        let range = ..2 * submitted.len() as u64 * TICK;
        self.staging.map_async(wgpu::MapMode::Read, range, |_| {});
        context.wait_idle();
        let view = self
            .staging
            .get_mapped_range(range)
            .map_err(|e| context.failure.or(&e.to_string()))?;
        let ticks: Vec<u64> = bytemuck::pod_collect_to_vec(&view[..]);
        drop(view);
        self.staging.unmap();
        for (work, ticks) in submitted.iter().zip(ticks.chunks_exact(2)) {
            let kernel = format!("{:?}", work.kernel);
            let time = self.times.entry(kernel.clone()).or_insert(KernelTime {
                kernel,
                dispatches: 0,
                seconds: 0.0,
                operations: 0.0,
                bytes: 0.0,
            });
            time.dispatches += 1;
            time.seconds +=
                ticks[1].saturating_sub(ticks[0]) as f64 * self.nanoseconds_a_tick / 1e9;
            time.operations += work.operations;
            time.bytes += work.bytes as f64;
        }
        Ok(())
    }

    /// All times since the last call.
    pub fn take(&mut self) -> Vec<KernelTime> {
        std::mem::take(&mut self.times).into_values().collect()
    }
}

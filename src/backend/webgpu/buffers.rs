//! GPU memory: allocations that go back to a pool when dropped.
//!
//! A forward pass needs the same few sizes again and again, and a browser frees a forgotten buffer only
//! when its garbage collector comes by. So buffers are kept and reused, and those that sit idle for some
//! submissions are destroyed.
//!
//! When a buffer may be used again depends on who writes it. Kernels run in the order they are recorded:
//! what only they write can be reused at once. What the host writes arrives before *all* commands of
//! the next submission: such a buffer must wait until the commands that still read it are submitted.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use wgpu::BufferUsages;

use crate::{
    backend::lock,
    error::{Error, Result},
};

/// What a buffer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Purpose {
    /// Written and read by kernels alone.
    Activations,
    /// Written by the host once a batch.
    Inputs,
    /// Written by the host once. Not reused: sizes seldom repeat, and memory is dear.
    Weights,
    /// Mapped and read by the host. Reused only through [`Allocation::recycle`].
    Readback,
}

impl Purpose {
    fn usage(self) -> BufferUsages {
        match self {
            Self::Activations => BufferUsages::STORAGE | BufferUsages::COPY_SRC,
            // Rows from outside may be read as they are.
            Self::Inputs => BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC,
            Self::Weights => BufferUsages::STORAGE | BufferUsages::COPY_DST,
            Self::Readback => BufferUsages::MAP_READ | BufferUsages::COPY_DST,
        }
    }
}

/// Submissions that a buffer may sit idle before it is destroyed.
const IDLE_SUBMISSIONS: u64 = 8;

/// The memory of one device.
pub(super) struct Memory {
    device: wgpu::Device,
    /// The largest buffer a kernel can be given, in bytes.
    limit: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Free buffers by purpose and size, with the submission since which they are idle.
    idle: BTreeMap<(Purpose, u64), Vec<(wgpu::Buffer, u64)>>,
    /// Dropped, but perhaps read by commands that are not submitted yet.
    retired: Vec<(wgpu::Buffer, Purpose)>,
    /// Whether such commands exist.
    recording: bool,
    submissions: u64,
    bytes: u64,
}

impl State {
    fn keep(&mut self, buffer: wgpu::Buffer, purpose: Purpose) {
        let since = self.submissions;
        self.idle
            .entry((purpose, buffer.size()))
            .or_default()
            .push((buffer, since));
    }

    fn destroy(&mut self, buffer: &wgpu::Buffer) {
        self.bytes -= buffer.size();
        buffer.destroy();
    }

    /// No recorded command reads `buffer` any more.
    fn settle(&mut self, buffer: wgpu::Buffer, purpose: Purpose) {
        match purpose {
            Purpose::Inputs => self.keep(buffer, purpose),
            _ => self.destroy(&buffer),
        }
    }
}

impl Memory {
    pub fn new(device: wgpu::Device, limit: u64) -> Arc<Self> {
        Arc::new(Self {
            device,
            limit,
            state: Mutex::default(),
        })
    }

    /// Whether `bytes` fit into one buffer.
    pub fn fits(&self, bytes: u64) -> bool {
        bytes <= self.limit
    }

    /// The largest buffer, in bytes.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Bytes held on the device, idle buffers included.
    pub fn bytes(&self) -> u64 {
        lock(&self.state).bytes
    }

    /// A buffer of at least `bytes`, with anything in it.
    pub fn allocate(self: &Arc<Self>, purpose: Purpose, bytes: u64) -> Result<Allocation> {
        if !self.fits(bytes) {
            return Err(Error::InvalidArgument(format!(
                "this batch needs a buffer of {} MiB, and the GPU's largest is {} MiB. Use smaller batches.",
                bytes >> 20,
                self.limit >> 20
            )));
        }
        // An empty binding is invalid.
        let bytes = bytes.max(16);
        let buffer = self.reuse(purpose, bytes).unwrap_or_else(|| {
            let size = match purpose {
                Purpose::Weights => bytes,
                _ => round_up(bytes).min(self.limit).max(bytes),
            };
            lock(&self.state).bytes += size;
            self.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size,
                usage: purpose.usage(),
                mapped_at_creation: false,
            })
        });
        Ok(Allocation {
            buffer,
            bytes,
            purpose,
            unmapped: false,
            memory: self.clone(),
        })
    }

    /// The smallest idle buffer that is large enough and at most twice as large.
    fn reuse(&self, purpose: Purpose, bytes: u64) -> Option<wgpu::Buffer> {
        let mut state = lock(&self.state);
        let (&key, buffers) = state
            .idle
            .range_mut((purpose, bytes)..=(purpose, 2 * bytes.max(256)))
            .next()?;
        let (buffer, _) = buffers.pop()?;
        if buffers.is_empty() {
            state.idle.remove(&key);
        }
        Some(buffer)
    }

    /// Commands are being recorded from now on.
    pub fn recording(&self) {
        lock(&self.state).recording = true;
    }

    /// Everything recorded was submitted.
    pub fn submitted(&self) {
        let state = &mut *lock(&self.state);
        state.recording = false;
        state.submissions += 1;
        for (buffer, purpose) in std::mem::take(&mut state.retired) {
            state.settle(buffer, purpose);
        }
        let oldest = state.submissions.saturating_sub(IDLE_SUBMISSIONS);
        let mut stale = Vec::new();
        for buffers in state.idle.values_mut() {
            stale.extend(buffers.extract_if(.., |(_, since)| *since < oldest));
        }
        state.idle.retain(|_, buffers| !buffers.is_empty());
        for (buffer, _) in &stale {
            state.destroy(buffer);
        }
    }
}

/// Steps of an eighth of the next power of two: few sizes, little waste.
fn round_up(bytes: u64) -> u64 {
    bytes.next_multiple_of((bytes.next_power_of_two() / 8).max(256))
}

/// A buffer in use.
pub(super) struct Allocation {
    buffer: wgpu::Buffer,
    bytes: u64,
    purpose: Purpose,
    /// Whether a readback buffer is known to be unmapped.
    unmapped: bool,
    memory: Arc<Memory>,
}

impl Allocation {
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// What was asked for.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The part that was asked for, as a binding.
    pub fn binding(&self) -> wgpu::BindingResource<'_> {
        wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: &self.buffer,
            offset: 0,
            size: wgpu::BufferSize::new(self.bytes),
        })
    }

    /// Gives an unmapped readback buffer back to the pool. One that is merely dropped may still be mapped
    /// and is destroyed.
    pub fn recycle(mut self) {
        self.unmapped = true;
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        let state = &mut *lock(&self.memory.state);
        let buffer = self.buffer.clone();
        match self.purpose {
            Purpose::Activations => state.keep(buffer, self.purpose),
            Purpose::Readback if self.unmapped => state.keep(buffer, self.purpose),
            Purpose::Readback => state.destroy(&buffer),
            Purpose::Inputs | Purpose::Weights if state.recording => {
                state.retired.push((buffer, self.purpose));
            }
            Purpose::Inputs | Purpose::Weights => state.settle(buffer, self.purpose),
        }
    }
}

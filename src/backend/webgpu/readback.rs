//! Bringing numbers back from the device: the one place that waits.

use std::sync::Arc;

use futures_channel::oneshot;

use super::{
    buffers::{Allocation, Memory, Purpose},
    context::Context,
    recorder::Recorder,
};
use crate::error::Result;

/// Submits what is recorded and returns the f32 of each `(buffer, bytes)`. A lost device ends the wait
/// with an error.
pub(super) async fn read(
    context: &Context,
    memory: &Arc<Memory>,
    recorder: &Recorder,
    sources: &[(&Allocation, u64)],
) -> Result<Vec<Vec<f32>>> {
    context.failure.check()?;
    let bytes: u64 = sources.iter().map(|(_, bytes)| bytes).sum();
    if bytes == 0 {
        return Ok(vec![Vec::new(); sources.len()]);
    }
    let staging = memory.allocate(Purpose::Readback, bytes)?;
    // The error callback may come later than the results. Whatever went wrong while recording makes the
    // submission invalid too, so this scope tells in time.
    let scope = context
        .device
        .push_error_scope(wgpu::ErrorFilter::Validation);
    recorder.submit(context, memory, sources, &staging);
    let rejected = scope.pop();

    let (sender, receiver) = oneshot::channel();
    staging
        .buffer()
        .map_async(wgpu::MapMode::Read, ..bytes, move |mapped| {
            // Nobody listens where the read was abandoned.
            let _ = sender.send(mapped);
        });
    context.wait_idle();
    let mapped = receiver.await;
    if let Some(error) = rejected.await {
        context.failure.record(error.to_string());
    }
    context.failure.check()?;
    if !matches!(mapped, Ok(Ok(()))) {
        return Err(context.failure.or("it did not hand back its results"));
    }

    let view = staging
        .buffer()
        .get_mapped_range(..bytes)
        .map_err(|e| context.failure.or(&e.to_string()))?;
    let mut rest = &view[..];
    let mut numbers = Vec::with_capacity(sources.len());
    for &(_, bytes) in sources {
        let (part, after) = rest.split_at(bytes as usize);
        numbers.push(bytemuck::pod_collect_to_vec(part));
        rest = after;
    }
    drop(view);
    staging.buffer().unmap();
    staging.recycle();
    recorder.collect_times(context)?;
    Ok(numbers)
}

//! What went wrong on the device, remembered until somebody reads.
//!
//! WebGPU reports most errors later and elsewhere than where they were made: through the device's
//! uncaptured-error and lost callbacks. wgpu's own handler panics; here the first report is kept, and every
//! later operation returns it as [`Error::GpuLost`]. A device that has failed once is not trusted again:
//! what it computed since may be wrong.

use std::sync::{Arc, Mutex, MutexGuard};

use crate::{
    backend::lock,
    error::{Error, Result},
};

/// The first failure of a device, shared with its callbacks (which wgpu wants `Send`).
#[derive(Clone, Default)]
pub(super) struct Failure(Arc<Mutex<Option<String>>>);

impl Failure {
    /// Keeps `reason` unless there is an earlier one, which is the likelier cause.
    pub fn record(&self, reason: impl Into<String>) {
        self.slot().get_or_insert(reason.into());
    }

    /// The failure, if there was one.
    pub fn check(&self) -> Result<()> {
        match &*self.slot() {
            Some(reason) => Err(Error::GpuLost(reason.clone())),
            None => Ok(()),
        }
    }

    /// The failure, or `reason` where the device gave none.
    pub fn or(&self, reason: &str) -> Error {
        self.record(reason);
        Error::GpuLost(self.slot().clone().unwrap_or_default())
    }

    /// Listens to `device` from now on.
    pub fn watch(&self, device: &wgpu::Device) {
        let lost = self.clone();
        device.set_device_lost_callback(move |reason, message| {
            lost.record(match (reason, message.is_empty()) {
                (wgpu::DeviceLostReason::Destroyed, _) => "the device was released".into(),
                (_, true) => "the device was lost".into(),
                (_, false) => format!("the device was lost ({message})"),
            });
        });
        self.watch_errors(device);
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn watch_errors(&self, device: &wgpu::Device) {
        let errors = self.clone();
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            errors.record(error.to_string());
        }));
    }

    /// Sets the browser's handler directly: wgpu's wrapper panics on a `GPUInternalError`.
    #[cfg(target_arch = "wasm32")]
    fn watch_errors(&self, device: &wgpu::Device) {
        use js_sys::Reflect;
        use wasm_bindgen::prelude::{Closure, JsValue};

        let errors = self.clone();
        let handler = Closure::<dyn Fn(JsValue)>::new(move |event: JsValue| {
            let message = Reflect::get(&event, &"error".into())
                .and_then(|error| Reflect::get(&error, &"message".into()))
                .ok()
                .and_then(|message| message.as_string());
            errors.record(message.unwrap_or_else(|| "an error without a message".into()));
        });
        if let Some(device) = device.as_webgpu() {
            // Setting a property of a live object fails only where a page froze it; then errors stay on
            // the console.
            let _ = Reflect::set(
                device.as_ref(),
                &"onuncapturederror".into(),
                &handler.into_js_value(),
            );
        }
    }

    fn slot(&self) -> MutexGuard<'_, Option<String>> {
        lock(&self.0)
    }
}

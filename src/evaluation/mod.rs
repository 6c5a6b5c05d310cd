//! How good the answers are: data, metrics and the baseline to print beside everything.

#[cfg(not(target_arch = "wasm32"))]
pub mod answers;
pub mod baseline;
#[cfg(not(target_arch = "wasm32"))]
pub mod breakdown;
#[cfg(not(target_arch = "wasm32"))]
pub mod cluster;
#[cfg(not(target_arch = "wasm32"))]
pub mod condition_type;
#[cfg(not(target_arch = "wasm32"))]
pub mod confidence;
#[cfg(not(target_arch = "wasm32"))]
pub mod dataset;
#[cfg(not(target_arch = "wasm32"))]
pub mod early_stopping;
#[cfg(not(target_arch = "wasm32"))]
pub mod isotropy;
#[cfg(not(target_arch = "wasm32"))]
pub mod metrics;
#[cfg(not(target_arch = "wasm32"))]
pub mod teacher;

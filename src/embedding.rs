//! Hidden states become condition-aware embeddings.

pub mod case;
pub mod encoder;
#[cfg(not(target_arch = "wasm32"))]
mod instruct;
#[cfg(not(target_arch = "wasm32"))]
pub mod presets;
#[cfg(not(target_arch = "wasm32"))]
pub mod router;

pub use case::{Architecture, Case, Input, Instruct, Pool, Router};
pub use encoder::{Encoder, Rows, Shape};

//! Hidden states become condition-aware embeddings.

#[cfg(not(target_arch = "wasm32"))]
pub mod calibrate;
pub mod case;
pub mod encoder;
#[cfg(not(target_arch = "wasm32"))]
mod instruct;
#[cfg(not(target_arch = "wasm32"))]
pub mod router;
#[cfg(not(target_arch = "wasm32"))]
pub mod train;

pub use case::{Architecture, Case, Input, Instruct, Pool, Router};
pub use encoder::{Encoder, Rows, Shape};

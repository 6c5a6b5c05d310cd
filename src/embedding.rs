//! Hidden states become condition-aware embeddings: one file a method, one planner for all of them.

pub mod case;
pub mod encoder;
#[cfg(not(target_arch = "wasm32"))]
mod instruct;
pub mod passes;
pub mod plan;
#[cfg(not(target_arch = "wasm32"))]
mod presets;
#[cfg(not(target_arch = "wasm32"))]
mod remembered;
#[cfg(not(target_arch = "wasm32"))]
pub mod router;

pub use case::{Apart, Case, Input, Instruct, Instructed, Joint, Pool, Router};
pub use encoder::{Encoder, Shape};

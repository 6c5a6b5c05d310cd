//! Hidden states become condition-aware embeddings.

pub mod case;
pub mod encoder;
#[cfg(not(target_arch = "wasm32"))]
pub mod train;

pub use case::{Case, Input, Pool};
pub use encoder::{Encoder, Rows};

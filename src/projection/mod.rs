//! The learnt head: from a condition-aware embedding to a small, accurate one.

pub mod head;
#[cfg(not(target_arch = "wasm32"))]
pub mod train;

pub use head::{Head, HeadFile, HeadSpec};

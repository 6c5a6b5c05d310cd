//! The learnt head: from a condition-aware embedding to a small, accurate one; and what it is compared with,
//! reductions that learn without ratings.

pub mod head;
#[cfg(not(target_arch = "wasm32"))]
pub mod ica;
#[cfg(not(target_arch = "wasm32"))]
pub mod pca;
#[cfg(not(target_arch = "wasm32"))]
pub mod train;

pub use head::{Head, HeadFile, HeadSpec};

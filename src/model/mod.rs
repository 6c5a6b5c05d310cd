//! Tokens become hidden states: configuration, weights and the forward pass.

pub mod bert;
pub mod checkpoint;
pub mod config;
pub mod gguf;
pub mod weights;

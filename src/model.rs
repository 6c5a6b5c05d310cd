//! Tokens become hidden states: one forward pass a family.

pub mod bert;
#[cfg(not(target_arch = "wasm32"))]
pub mod decoder;

//! Tokens become hidden states: configuration, weights and the forward pass.

pub mod arriving;
pub mod bert;
pub mod checkpoint;
pub mod config;
#[cfg(not(target_arch = "wasm32"))]
pub mod decoder;
#[cfg(not(target_arch = "wasm32"))]
pub mod dequantize;
pub mod gguf;
mod gguf_header;
#[cfg(not(target_arch = "wasm32"))]
pub mod gptq;
#[cfg(not(target_arch = "wasm32"))]
pub mod hub;
#[cfg(not(target_arch = "wasm32"))]
pub mod latent;
#[cfg(not(target_arch = "wasm32"))]
pub mod peft;
#[cfg(not(target_arch = "wasm32"))]
pub mod presets;
mod q4_0;
#[cfg(not(target_arch = "wasm32"))]
pub mod save;
pub mod vocabulary;
pub mod weights;

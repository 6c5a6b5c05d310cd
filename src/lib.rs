//! How similar are two sentences, seen through a condition?
//!
//! "She plays chess in the park" and "He plays football in the park" are alike by *the place* and unlike
//! by *the game*. `caselens` implements CASE (Condition-Aware Sentence Embeddings): the condition is
//! encoded in the context of the sentence, its own embedding is subtracted, a small learnt head projects
//! the difference, and two of them are compared by cosine.
//!
//! Read the modules in the order the data flows:
//!
//! ```text
//! text  →  model  →  embedding  →  projection  →  similarity
//!           ↑ runs on a backend: candle (CPU, CUDA) · webgpu · simd
//! ```
//!
//! [`lens`] joins them, [`vectors`] stores and groups many embeddings; `web` and `companion` are thin fronts on it for the browser and the command line.

pub mod backend;
pub mod bundle;
pub mod checkpoint;
pub mod data;
pub mod embedding;
pub mod error;
#[cfg(not(target_arch = "wasm32"))]
pub mod evaluation;
pub mod head;
pub mod lens;
pub mod model;
#[cfg(not(target_arch = "wasm32"))]
pub mod quantization;
pub mod similarity;
pub mod text;
#[cfg(not(target_arch = "wasm32"))]
pub mod training;
pub mod vectors;

#[cfg(not(target_arch = "wasm32"))]
pub mod companion;
#[cfg(target_arch = "wasm32")]
mod web;

pub use error::{Error, Result};
pub use lens::{Comparison, Lens};

//! How similar are two sentences, seen through a condition?
//!
//! "She plays chess in the park" and "He plays football in the park" are alike by *the place* and unlike by *the game*.
//! `caselens` implements CASE (Condition-Aware Sentence Embeddings): the condition is encoded in the context of the
//! sentence, and two of the embeddings that come out are compared by cosine.
//!
//! ```
//! use caselens::{Device, Lens, block_on};
//!
//! # fn main() -> caselens::Result<()> {
//! # let model = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/bert-tiny");
//! // A GGUF file of `caselens quantize`, or a Hugging Face folder. Without a head the encoder's embeddings are compared.
//! let lens = Lens::open(model, None, Device::Cpu)?;
//! let (one, other) = ("She plays chess in the park", "He plays football in the park");
//! let compared = block_on(lens.compare(one, other, &["the place", "the game"]))?;
//! for comparison in &compared {
//!     println!("{}: {:.2}", comparison.condition, comparison.similarity);
//! }
//! assert!(compared.iter().all(|c| (-1.0..=1.0).contains(&c.similarity)));
//! # Ok(())
//! # }
//! ```
//!
//! The modules in the order in which the data flows:
//!
//! ```text
//! text → checkpoint → model → embedding → head → similarity
//!                       ↑ runs on a backend: simd · webgpu · candle (CUDA, training)
//! ```
//!
//! [`lens`] joins them in one loop, [`vectors`] stores and groups many embeddings; `web` and `companion` are thin fronts
//! on it for the browser and the command line. What is hidden here is theirs, and changes without notice.

// What people's files and texts can reach never panics; tests may.
#![cfg_attr(
    not(test),
    warn(clippy::expect_used, clippy::panic, clippy::unwrap_used)
)]

#[doc(hidden)]
pub mod backend;
#[doc(hidden)]
pub mod bundle;
#[doc(hidden)]
pub mod checkpoint;
#[doc(hidden)]
pub mod data;
pub mod embedding;
pub mod error;
#[cfg(not(target_arch = "wasm32"))]
#[doc(hidden)]
pub mod evaluation;
mod guard;
#[doc(hidden)]
pub mod head;
pub mod lens;
#[doc(hidden)]
pub mod model;
#[cfg(not(target_arch = "wasm32"))]
#[doc(hidden)]
pub mod quantization;
pub mod similarity;
#[doc(hidden)]
pub mod text;
#[cfg(not(target_arch = "wasm32"))]
#[doc(hidden)]
pub mod training;
pub mod vectors;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod companion;
#[cfg(target_arch = "wasm32")]
mod web;

pub use backend::any::Device;
pub use embedding::{Case, Encoder};
pub use error::{Error, Result};
pub use lens::{Comparison, Embeddings, Lens};
/// Waits for a future of this crate natively, where nothing but the device is waited for.
#[cfg(not(target_arch = "wasm32"))]
pub use pollster::block_on;

#[cfg(all(feature = "cli", target_arch = "wasm32"))]
compile_error!("the companion does not run in browsers: build for them without the feature `cli`");

//! Rows to train and to evaluate on: C-STS and data in its form, a teacher's scores, what is known of conditions, and prompts
//! that ask a language model.

#[cfg(not(target_arch = "wasm32"))]
pub mod answers;
pub mod baseline;
#[cfg(not(target_arch = "wasm32"))]
pub mod columns;
#[cfg(feature = "cli")]
pub mod criteria;
#[cfg(not(target_arch = "wasm32"))]
pub mod dataset;
#[cfg(not(target_arch = "wasm32"))]
pub mod graph;
pub mod guidelines;
#[cfg(not(target_arch = "wasm32"))]
pub mod mixture;
#[cfg(not(target_arch = "wasm32"))]
pub mod pairs;
#[cfg(not(target_arch = "wasm32"))]
pub mod prompting;
#[cfg(not(target_arch = "wasm32"))]
pub mod summary;
#[cfg(not(target_arch = "wasm32"))]
pub mod teacher;

//! GGUF as llama.cpp reads and writes it: the header, files that arrive in pieces, the vocabulary, and writing.

pub mod arriving;
#[cfg(not(target_arch = "wasm32"))]
pub(super) mod byte_level;
pub(super) mod converted;
#[cfg(not(target_arch = "wasm32"))]
pub(super) mod decoder;
mod encode;
pub mod format;
pub mod header;
pub mod q4_0;
mod tokens;
pub mod value;
pub mod vocabulary;
pub mod write;

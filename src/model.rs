//! Tokens become hidden states: one forward pass a family. What language models write with them ([`language_model`]).

pub mod bert;
#[cfg(not(target_arch = "wasm32"))]
pub mod decoder;
#[cfg(not(target_arch = "wasm32"))]
pub mod language_model;
#[cfg(not(target_arch = "wasm32"))]
mod linear;
#[cfg(not(target_arch = "wasm32"))]
mod load;
#[cfg(not(target_arch = "wasm32"))]
mod memory;
mod relative;
#[cfg(not(target_arch = "wasm32"))]
pub mod t5;

#[cfg(not(target_arch = "wasm32"))]
pub use load::Precision;

/// A language model was given no token.
#[cfg(not(target_arch = "wasm32"))]
fn nothing() -> crate::error::Error {
    crate::error::Error::InvalidArgument(
        "there is nothing to go on from: the text has no token.".into(),
    )
}

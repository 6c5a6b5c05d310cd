//! Conditional sentence similarity.

pub mod backend;
pub mod error;
pub mod model;
pub mod text;

pub use error::{Error, Result};

//! Hidden states become condition-aware embeddings.

pub mod case;
pub mod encoder;

pub use case::{Case, Input, Pool};
pub use encoder::{Encoder, Rows};

//! Hidden states become condition-aware embeddings: one file a method, one planner for all of them.

pub mod apart;
pub mod case;
pub mod composed;
mod digest;
pub mod encoder;
mod instruct;
pub mod layers;
pub mod passes;
pub mod plan;
pub mod pool;
pub mod prefixed;
mod presets;
#[cfg(not(target_arch = "wasm32"))]
mod prompted;
mod reading;
mod remembered;
pub mod router;
pub mod texts;
pub mod within;

pub use apart::{Apart, Composition, Join, Prefix, Router, RouterQuery, RouterScore};
pub use case::{Case, Cross, Input, Inputs, Instruct, Instructed, Joint, JointRouter, Prompted};
pub use encoder::{Encoder, Shape};
pub use pool::Pool;

//! What candle needs to train: a backend whose forward pass autograd follows, parameters, gradients of its own
//! for the slowest operations, and AdamW.

pub mod adamw;
mod attention;
mod backend;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub mod bf16;
#[cfg(test)]
mod composed;
mod dropout;
mod linear;
pub mod math;
mod norm;
pub mod parameters;
mod tape;

pub use backend::Trainer;

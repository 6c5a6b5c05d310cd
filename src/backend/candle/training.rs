//! What candle needs to train: parameters, gradients of its own for the slowest operations, and AdamW.

pub mod adamw;
pub mod autograd;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub mod bf16;
pub mod parameters;

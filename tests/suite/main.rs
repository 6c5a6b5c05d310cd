//! The library against what other programs compute, one module a part. One binary: linking is slow.

#[path = "../common/mod.rs"]
mod common;

mod backends;
mod case;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod cuda_kernels;
mod explain;
mod metrics;
mod parity;
mod templates;
mod tokens;
mod unsupervised;
mod vectors;

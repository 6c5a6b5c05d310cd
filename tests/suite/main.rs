//! The library against what other programs compute, one module a part. One binary: linking is slow.

#[path = "../common/mod.rs"]
mod common;

mod backends;
mod case;
mod composed;
mod csts;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod cuda_kernels;
mod decoders;
mod errors;
mod explain;
mod finetune;
mod gguf;
mod heads;
mod instruct;
mod kgc;
mod language_model;
mod long;
mod metrics;
mod mutated;
mod order;
mod parity;
mod prompts;
mod published;
mod reading;
mod router;
mod t5;
mod templates;
mod tokens;
mod tri;
#[cfg(feature = "cli")]
mod unsupervised;
mod vectors;

//! Rounding an encoder to few bits, and back: by what it computes on texts (GPTQ), and as numbers again.

#[cfg(feature = "cli")]
pub mod calibrate;
pub mod dequantize;
#[cfg(feature = "cli")]
pub mod gptq;

//! Rounding an encoder to few bits, and back: by what it computes on texts (GPTQ), and as numbers again.

pub mod calibrate;
pub mod dequantize;
pub mod gptq;

//! Sentences and conditions become tokens: the tokenizer, the templates that join the two, and packed
//! batches.

pub mod batch;

pub use batch::Batch;

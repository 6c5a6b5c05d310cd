//! Sentences and conditions become tokens: emoji in words, the tokenizer, the templates that join the two, and packed
//! batches.

pub mod batch;
pub mod emoji;
pub mod instruction;
pub mod template;
pub mod tokenizer;

pub use batch::Batch;
pub use instruction::{Setting, Wrapper};
pub use template::{Order, Sequence, Template};
pub use tokenizer::Tokenizer;

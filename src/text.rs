//! Sentences and conditions become tokens: emoji in words, the tokenizer, the templates and prompts that join the two, and
//! packed batches; where a long text is taken apart, and whether a text is in a language that an encoder learnt. Tokens
//! become text where a language model writes it.

pub mod batch;
pub mod emoji;
pub mod instruction;
pub mod language;
pub mod prompt;
pub mod sentences;
pub mod template;
pub mod tokenizer;
mod writing;

pub use batch::{Batch, common};
pub use instruction::{Setting, Wrapper};
pub use prompt::Prompt;
pub use template::{Order, Sequence, Template};
pub use tokenizer::Tokenizer;

//! Training: a head on cached embeddings, or an encoder end to end.

mod batches;
pub mod early_stopping;
pub mod encoder;
pub mod head;
pub mod loss;
pub mod peft;
mod state;

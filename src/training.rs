//! Training: a head on cached embeddings, what tells mentions on an encoder's embeddings, what
//! ratings its similarities stand for, or an encoder end to end.

mod batches;
pub mod calibration;
pub mod early_stopping;
pub mod encoder;
pub mod head;
pub mod info_nce;
mod inputs;
pub mod links;
pub mod loss;
pub mod mentioned;
pub mod peft;
pub mod rated;
mod state;

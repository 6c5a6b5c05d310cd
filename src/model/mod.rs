//! Tokens become hidden states: configuration, weights and the forward pass.

pub mod weights;

//! An encoder that was opened, of whichever family.

use std::sync::Arc;

#[cfg(not(target_arch = "wasm32"))]
use super::presets::Preset;
use super::{encoder_id::EncoderId, weights::Weights};
use crate::text::Tokenizer;

/// An opened encoder, not yet on a backend; `Config` is its family's.
pub struct Opened<Config> {
    pub encoder: EncoderId,
    pub config: Config,
    pub tokenizer: Arc<Tokenizer>,
    pub weights: Weights,
    /// What is known of it beside its files, where it is a published one that was opened by its name.
    #[cfg(not(target_arch = "wasm32"))]
    pub preset: Option<&'static Preset>,
}

impl<Config> Opened<Config> {
    pub(super) fn new(
        encoder: EncoderId,
        config: Config,
        tokenizer: Tokenizer,
        weights: Weights,
    ) -> Self {
        Self {
            encoder,
            config,
            tokenizer: Arc::new(tokenizer),
            weights,
            #[cfg(not(target_arch = "wasm32"))]
            preset: None,
        }
    }
}

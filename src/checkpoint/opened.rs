//! An encoder that was opened, of whichever family.

use std::sync::Arc;

use super::{encoder_id::EncoderId, plain::Plain, presets::Preset, weights::Weights};
use crate::text::Tokenizer;

/// An opened encoder, not yet on a backend; `Config` is its family's.
pub struct Opened<Config> {
    pub encoder: EncoderId,
    pub config: Config,
    pub tokenizer: Arc<Tokenizer>,
    pub weights: Weights,
    /// How its authors embed a text by itself.
    pub plain: Plain,
    /// What is known of it beside its files, where it is a published one by its name.
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
            plain: Plain::default(),
            preset: None,
        }
    }
}

//! A T5, opened: a folder as Hugging Face has it.

use std::path::Path;

use super::{
    config::t5::T5Config,
    encoder_id::EncoderId,
    files::{config_json, folder_id},
    named, names,
    opened::Opened,
    shards,
    slow_tokenizer::tokenizer_json,
    weights::Weights,
};
use crate::{error::Result, text::Tokenizer};

/// An opened T5, not yet on a device.
pub type T5Checkpoint = Opened<T5Config>;

impl T5Checkpoint {
    /// Whether a folder holds a T5.
    pub fn is_in(path: &Path) -> bool {
        path.is_dir() && config_json(path).is_ok_and(|config| T5Config::is_t5(&config))
    }

    /// Opens a folder with config.json, tokenizer.json and model.safetensors, pytorch_model.bin or the shards of either.
    ///
    /// # Errors
    /// A file is missing or broken, or holds another architecture.
    pub fn open(path: &Path) -> Result<Self> {
        Self::folder(path).map_err(|e| e.of_model(&path.display().to_string()))
    }

    fn folder(path: &Path) -> Result<Self> {
        let json = config_json(path)?;
        let id = folder_id(path, &json);
        let config = T5Config::from_json(&id, &json)?;
        let tokenizer = Tokenizer::from_json(&tokenizer_json(path, &json)?)?;
        let weights = Weights::published(named(shards::mapped(path)?), names::t5)?;
        let encoder = EncoderId {
            id,
            sha256: weights.fingerprint(),
        };
        Ok(Self::new(encoder, config, tokenizer, weights))
    }
}

//! A decoder, opened: from the parts of a Hugging Face folder, or from a GGUF file, whose tokenizer may lie beside it.

use std::path::Path;

use super::{
    config::decoder::DecoderConfig,
    encoder_id::EncoderId,
    files::{Bytes, read_text},
    gguf::{byte_level, decoder as gguf, header::Header, value::Value},
    keys, names,
    opened::Opened,
    weights::Weights,
};
use crate::{error::Result, text::Tokenizer};

/// An opened decoder, not yet on a device.
pub type DecoderCheckpoint = Opened<DecoderConfig>;

impl DecoderCheckpoint {
    /// Opens the parts of a Hugging Face folder, each file of weights with what names it in errors. `id` is the encoder's
    /// name.
    pub(super) fn from_files(
        id: &str,
        config: &str,
        tokenizer: &[u8],
        weights: impl IntoIterator<Item = (String, Bytes)>,
    ) -> Result<Self> {
        let config = DecoderConfig::from_json(id, config)?;
        let tokenizer = Tokenizer::from_json(tokenizer)?;
        let weights = Weights::published(weights, names::decoder)?;
        let encoder = EncoderId {
            id: id.into(),
            sha256: weights.fingerprint(),
        };
        Ok(Self::new(encoder, config, tokenizer, weights))
    }

    /// Opens a GGUF file whose header was read.
    pub(super) fn behind(path: &Path, bytes: Bytes, header: Header) -> Result<Self> {
        let what = path.display().to_string();
        let weights = Weights::gguf(&what, bytes, header, |_| true)?;
        let config = gguf::config(&what, &weights)?;
        let tokenizer = tokenizer(&what, path, &weights)?;
        let text = |key: &str| weights.metadata.get(key).and_then(Value::as_str);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let encoder = EncoderId {
            id: text(keys::ENCODER_ID).unwrap_or(&name).to_owned(),
            sha256: text(keys::ENCODER_SHA256).map_or_else(|| weights.fingerprint(), str::to_owned),
        };
        Ok(Self::new(encoder, config, tokenizer, weights))
    }
}

/// The tokenizer that a GGUF file names, else the one beside it, else one that is made of its byte-level vocabulary.
fn tokenizer(what: &str, path: &Path, weights: &Weights) -> Result<Tokenizer> {
    let inside = weights.metadata.get(keys::TOKENIZER);
    if let Some(json) = inside.and_then(Value::as_str) {
        return Tokenizer::from_json(json.as_bytes());
    }
    let beside = path.with_file_name("tokenizer.json");
    match beside.is_file() {
        true => Tokenizer::from_json(&read_text(&beside)?),
        false => byte_level::tokenizer(what, &weights.metadata),
    }
}

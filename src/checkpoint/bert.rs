//! A BERT-family encoder, opened: from one GGUF file, whole or in pieces, or from the parts of a Hugging Face folder.

use std::path::Path;

use super::{
    config::{ARCHITECTURES, Config},
    dtype::Dtype,
    encoder_id::EncoderId,
    files::{Bytes, sha256},
    gguf::{
        arriving::Arriving,
        converted::Converted,
        header::{Header, Metadata, check_magic},
        value::Value,
        vocabulary,
    },
    keys,
    names::{self, POOLER},
    opened::Opened,
    plain::{Plain, PoolingMode},
    presets::Preset,
    weights::Weights,
};
use crate::{
    error::{Error, Result},
    text::Tokenizer,
};

/// An opened encoder of the BERT family, not yet on a backend.
pub type BertCheckpoint = Opened<Config>;

impl BertCheckpoint {
    /// Opens a GGUF file as `caselens quantize` or llama.cpp's converter writes it. `what` names it in errors.
    ///
    /// # Errors
    /// It is none, is broken or cut short, or holds another architecture.
    pub fn from_gguf(what: &str, bytes: Bytes) -> Result<Self> {
        check_magic(what, &bytes)?;
        let header = Header::read(&bytes).map_err(|fault| Error::ModelFormat {
            what: what.into(),
            reason: fault.to_string(),
        })?;
        Self::behind(what, bytes, header)
    }

    /// [`BertCheckpoint::from_gguf`] of a file whose header was read.
    pub(super) fn behind(what: &str, bytes: Bytes, header: Header) -> Result<Self> {
        let weights = Weights::gguf(what, bytes, header, |format| format.dtype().is_some())?;
        Ok(About::read(what, &weights.metadata)?.with(weights))
    }

    /// Opens the parts of a Hugging Face folder: config.json, tokenizer.json and model.safetensors. `id` is the encoder's
    /// name.
    ///
    /// # Errors
    /// A part is none, or holds another architecture.
    pub fn from_parts(id: &str, config: &str, tokenizer: &[u8], weights: Bytes) -> Result<Self> {
        let encoder = EncoderId {
            id: id.into(),
            sha256: sha256(&weights),
        };
        Self::from_files(encoder, config, tokenizer, [(id.to_owned(), weights)])
    }

    /// [`BertCheckpoint::from_parts`] with weights in several files, each with what names it in errors.
    pub(super) fn from_files(
        encoder: EncoderId,
        config: &str,
        tokenizer: &[u8],
        weights: impl IntoIterator<Item = (String, Bytes)>,
    ) -> Result<Self> {
        let config = Config::from_json(&encoder.id, config)?;
        let tokenizer = Tokenizer::from_json(tokenizer)?;
        let mut weights = Weights::published(weights, names::bert)?;
        if config.position_offset > 0 {
            weights.drop_rows("position_embd.weight", config.position_offset)?;
        }
        Ok(Self::new(encoder, config, tokenizer, weights))
    }

    /// Whether it has the pooler that its embeddings may go through.
    pub fn has_pooler(&self) -> bool {
        POOLER.iter().all(|name| self.weights.contains(name))
    }

    /// The dtype of the large matrices.
    pub fn dtype(&self) -> Dtype {
        self.weights.format().dtype().unwrap_or(Dtype::F32)
    }
}

/// What a GGUF file's key-value pairs say of an encoder.
struct About {
    encoder: EncoderId,
    config: Config,
    tokenizer: Tokenizer,
    plain: Plain,
}

impl About {
    fn read(what: &str, metadata: &Metadata) -> Result<Self> {
        let text = |key: &str| metadata.get(key).and_then(Value::as_str);
        let architecture = text("general.architecture").unwrap_or("unknown");
        if !ARCHITECTURES.contains(&architecture) {
            return Err(Error::UnsupportedArchitecture {
                what: what.into(),
                found: architecture.into(),
            });
        }
        let converted = Converted::new(what, metadata);
        let config = match text(keys::CONFIG) {
            Some(config) => Config::from_json(what, config)?,
            None => Config::from_json(what, &converted.config_json()?)?,
        };
        let has_tokenizer = [keys::TOKENIZER, keys::TOKENIZER_REST].map(text);
        let tokenizer = match has_tokenizer {
            [None, None] => converted.tokenizer()?,
            _ => vocabulary::Parts::read(what, metadata, config.vocab_size)?,
        };
        let encoder = EncoderId {
            id: text(keys::ENCODER_ID).map_or_else(|| converted.name(), str::to_owned),
            sha256: text(keys::ENCODER_SHA256).unwrap_or_default().to_owned(),
        };
        let number = |key: &str| metadata.get(key).and_then(Value::as_u32);
        let plain = Plain {
            // As llama.cpp numbers them.
            pooling: match number(&format!("{architecture}.pooling_type")) {
                _ if text(keys::POOLING) == Some("pooler") => PoolingMode::Pooler,
                Some(2) => PoolingMode::Cls,
                Some(3) => PoolingMode::Last,
                _ => PoolingMode::Mean,
            },
            max_tokens: number(keys::MAX_TOKENS)
                .map(|tokens| tokens as usize)
                .filter(|&tokens| tokens > 0),
        };
        Ok(Self {
            plain,
            encoder,
            config,
            tokenizer: tokenizer.tokenizer()?,
        })
    }

    fn with(mut self, weights: Weights) -> BertCheckpoint {
        // Another converter's file does not say what it was made from.
        if self.encoder.sha256.is_empty() {
            self.encoder.sha256 = weights.fingerprint();
        }
        BertCheckpoint {
            plain: self.plain,
            preset: Preset::find(Path::new(&self.encoder.id)),
            ..BertCheckpoint::new(self.encoder, self.config, self.tokenizer, weights)
        }
    }
}

/// [`BertCheckpoint::from_gguf`] of a file that arrives in pieces.
pub struct ArrivingCheckpoint {
    what: String,
    file: Arriving,
    about: Option<About>,
}

impl ArrivingCheckpoint {
    /// As [`Arriving::new`].
    pub fn new(what: &str, size: Option<usize>) -> Self {
        Self {
            what: what.into(),
            file: Arriving::new(what, size),
            about: None,
        }
    }

    /// Takes the next bytes. The tokenizer is built as soon as it is here.
    ///
    /// # Errors
    /// As [`Arriving::push`] and [`BertCheckpoint::from_gguf`].
    pub fn push(&mut self, piece: &[u8]) -> Result<()> {
        self.file.push(piece)?;
        if let Some(metadata) = self.file.take_metadata() {
            self.about = Some(About::read(&self.what, &metadata)?);
        }
        Ok(())
    }

    /// The checkpoint, once all bytes are here.
    ///
    /// # Errors
    /// As [`BertCheckpoint::from_gguf`].
    pub fn finish(self) -> Result<BertCheckpoint> {
        let mut weights = self.file.finish()?;
        let about = match self.about {
            Some(about) => about,
            // A file so short that its header was read at its end.
            None => About::read(&self.what, &std::mem::take(&mut weights.metadata))?,
        };
        Ok(about.with(weights))
    }
}

//! What lies on disk: a published encoder of any family, in a GGUF file or a Hugging Face folder, opened.
//!
//! ```no_run
//! use caselens::checkpoint::Checkpoint;
//!
//! match Checkpoint::open("models/all-MiniLM-L6-v2".as_ref())? {
//!     Checkpoint::Bert(bert) => println!("{} layers", bert.config.num_hidden_layers), // 6 layers
//!     Checkpoint::Decoder(decoder) => println!("{} layers", decoder.config.num_hidden_layers),
//! }
//! # Ok::<(), caselens::Error>(())
//! ```

#[cfg(not(target_arch = "wasm32"))]
use std::path::Path;

mod bert;
pub mod config;
#[cfg(not(target_arch = "wasm32"))]
mod decoder;
pub mod described;
pub mod dtype;
mod encoder_id;
mod files;
pub mod gguf;
#[cfg(feature = "cli")]
pub mod hub;
pub mod keys;
pub(crate) mod names;
mod opened;
pub mod plain;
pub mod presets;
mod published;
#[cfg(not(target_arch = "wasm32"))]
pub mod save;
#[cfg(not(target_arch = "wasm32"))]
pub mod shards;
#[cfg(not(target_arch = "wasm32"))]
mod slow_tokenizer;
#[cfg(not(target_arch = "wasm32"))]
mod t5;
#[cfg(not(target_arch = "wasm32"))]
mod torch;
pub mod weights;

pub use bert::{ArrivingCheckpoint, BertCheckpoint};
#[cfg(not(target_arch = "wasm32"))]
pub use decoder::DecoderCheckpoint;
pub use encoder_id::EncoderId;
#[cfg(not(target_arch = "wasm32"))]
pub use files::config_json;
#[cfg(feature = "cli")]
pub(crate) use files::folder_name;
pub(crate) use files::{is_file_name, sha256};
pub use opened::Opened;
#[cfg(not(target_arch = "wasm32"))]
pub use slow_tokenizer::tokenizer_json;
#[cfg(not(target_arch = "wasm32"))]
pub use t5::T5Checkpoint;

#[cfg(not(target_arch = "wasm32"))]
use self::{
    config::decoder::DecoderConfig,
    files::{Bytes, folder_id},
    gguf::{
        decoder::family,
        header::{Header, check_magic},
    },
    plain::{Plain, PoolingMode},
    presets::Preset,
};
#[cfg(not(target_arch = "wasm32"))]
use crate::error::{Error, Result};

/// An opened encoder, not yet on a backend.
pub enum Checkpoint {
    Bert(BertCheckpoint),
    /// An LLM as an encoder; browsers run none.
    #[cfg(not(target_arch = "wasm32"))]
    Decoder(DecoderCheckpoint),
}

#[cfg(not(target_arch = "wasm32"))]
impl Checkpoint {
    /// Opens a GGUF file, whose tokenizer may lie beside it as tokenizer.json, or a folder with config.json,
    /// tokenizer.json and model.safetensors or its shards. In place of the latter two it may have what Python's tokenizers
    /// are read from (vocab.txt, or vocab.json and merges.txt) and pytorch_model.bin or its shards, of which nothing is
    /// run.
    ///
    /// Which family it is of, a GGUF file's header says, or config.json. What is known of a published encoder beside its
    /// files ([`Preset`]) holds where the file or folder has its name, or a GGUF file names it.
    ///
    /// # Errors
    /// A file is missing or broken, or holds another architecture.
    pub fn open(path: &Path) -> Result<Self> {
        let opened = match path.is_dir() {
            true => Self::folder(path),
            false => Self::file(path),
        };
        let opened = opened.map_err(|e| e.of_model(&path.display().to_string()))?;
        match Preset::find(path) {
            Some(preset) => opened.known(path, preset),
            None => Ok(opened),
        }
    }

    fn folder(path: &Path) -> Result<Self> {
        let config = path.join("config.json");
        if let Some(file) = gguf_in(path).filter(|_| !config.exists()) {
            return Err(Error::InvalidArgument(format!(
                "{} has no config.json, and holds {}: name that file itself.",
                path.display(),
                file.display()
            )));
        }
        let config = config_json(path)?;
        let tokenizer = tokenizer_json(path, &config)?;
        let id = folder_id(path, &config);
        let files = shards::mapped(path)?;
        if DecoderConfig::is_decoder(&config) {
            let files = named(files);
            return DecoderCheckpoint::from_files(&id, &config, &tokenizer, files)
                .map(Self::Decoder);
        }
        let sha256 = shards::sha256(files.iter().map(|(_, bytes)| bytes));
        let encoder = EncoderId { id, sha256 };
        let mut bert = BertCheckpoint::from_files(encoder, &config, &tokenizer, named(files))?;
        bert.plain = Plain::of_folder(path)?;
        Ok(Self::Bert(bert))
    }

    fn file(path: &Path) -> Result<Self> {
        let what = path.display().to_string();
        let bytes = Bytes::map(path)?;
        check_magic(&what, &bytes)?;
        let header = Header::read(&bytes).map_err(|fault| Error::ModelFormat {
            what: what.clone(),
            reason: fault.to_string(),
        })?;
        match family(header.architecture()) {
            Some(_) => DecoderCheckpoint::behind(path, bytes, header).map(Self::Decoder),
            None => BertCheckpoint::behind(&what, bytes, header).map(Self::Bert),
        }
    }

    /// Puts what is known of a published encoder in place of what its files say, or do not say.
    fn known(self, path: &Path, preset: &'static Preset) -> Result<Self> {
        match self {
            Self::Bert(mut bert) => {
                bert.preset = Some(preset);
                // A file may have been written without its pooler.
                if preset.pooling == "pooler" && bert.has_pooler() {
                    bert.plain.pooling = PoolingMode::Pooler;
                }
                Ok(Self::Bert(bert))
            }
            Self::Decoder(mut decoder) => {
                let config = &mut decoder.config;
                if preset.pooling == "latent" && config.latent.is_none() {
                    return Err(Error::ModelFormat {
                        what: path.display().to_string(),
                        reason: format!(
                            "it has no latent attention, which {} ends with",
                            preset.id
                        ),
                    });
                }
                config.causal = !preset.bidirectional;
                config.max_positions = config.max_positions.min(preset.max_tokens);
                decoder.preset = Some(preset);
                Ok(Self::Decoder(decoder))
            }
        }
    }

    /// Who it is.
    pub fn encoder(&self) -> &EncoderId {
        match self {
            Self::Bert(bert) => &bert.encoder,
            Self::Decoder(decoder) => &decoder.encoder,
        }
    }

    /// What is known of it beside its files.
    pub fn preset(&self) -> Option<&'static Preset> {
        match self {
            Self::Bert(bert) => bert.preset,
            Self::Decoder(decoder) => decoder.preset,
        }
    }

    /// The encoder of the BERT family that it is.
    ///
    /// # Errors
    /// It is a decoder.
    pub fn bert(self) -> Result<BertCheckpoint> {
        match self {
            Self::Bert(bert) => Ok(bert),
            Self::Decoder(decoder) => Err(Error::UnsupportedArchitecture {
                what: decoder.encoder.id,
                found: decoder.config.family.name().into(),
            }),
        }
    }

    /// The decoder that it is.
    ///
    /// # Errors
    /// It is of the BERT family.
    pub fn decoder(self) -> Result<DecoderCheckpoint> {
        match self {
            Self::Decoder(decoder) => Ok(decoder),
            Self::Bert(bert) => Err(Error::InvalidArgument(format!(
                "{} is an encoder of the BERT family: this takes a decoder.",
                bert.encoder
            ))),
        }
    }
}

/// A GGUF file of a folder.
#[cfg(not(target_arch = "wasm32"))]
fn gguf_in(folder: &Path) -> Option<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let mut files = entries.map(|entry| entry.path());
    files.find(|file| {
        file.extension()
            .is_some_and(|extension| extension == "gguf")
    })
}

/// Files by what names them in errors.
#[cfg(not(target_arch = "wasm32"))]
fn named(files: Vec<(std::path::PathBuf, Bytes)>) -> impl Iterator<Item = (String, Bytes)> {
    let files = files.into_iter();
    files.map(|(path, bytes)| (path.display().to_string(), bytes))
}

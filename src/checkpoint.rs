//! A published encoder, opened: configuration, tokenizer and weights, from one GGUF file or a Hugging
//! Face folder.

use std::{collections::HashMap, rc::Rc};

use candle_core::quantized::gguf_file::Value;
use sha2::{Digest, Sha256};

use crate::{
    checkpoint::{
        config::Config,
        gguf::{arriving::Arriving, header::check_magic, vocabulary},
        weights::{Bytes, Dtype, Weights},
    },
    error::{Error, Result},
    text::Tokenizer,
};

pub mod config;
pub mod gguf;
#[cfg(not(target_arch = "wasm32"))]
pub mod hub;
#[cfg(not(target_arch = "wasm32"))]
pub mod save;
pub mod weights;

/// Keys of our own in a GGUF file; llama.cpp passes over them.
pub mod keys {
    /// tokenizer.json, as text.
    pub const TOKENIZER: &str = "tokenizer.huggingface.json";
    /// tokenizer.json without its vocabulary, where the token list gives that back
    /// ([`vocabulary`](crate::checkpoint::gguf::vocabulary)); such a file has no [`TOKENIZER`].
    pub const TOKENIZER_REST: &str = "caselens.tokenizer";
    /// config.json, as text.
    pub const CONFIG: &str = "caselens.config";
    /// The encoder's name, such as `sentence-transformers/all-MiniLM-L6-v2`.
    pub const ENCODER_ID: &str = "caselens.encoder.id";
    /// SHA-256 (hex) of the model.safetensors it was made from.
    pub const ENCODER_SHA256: &str = "caselens.encoder.sha256";
}

/// Who an encoder is, whichever format its numbers are in: a head trained on the f32 weights serves each
/// quantisation of them.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct EncoderId {
    /// Its name.
    pub id: String,
    /// SHA-256 (hex) of the f32 weights' file.
    pub sha256: String,
}

impl std::fmt::Display for EncoderId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} ({})",
            self.id,
            self.sha256.get(..8).unwrap_or(&self.sha256)
        )
    }
}

/// An opened encoder, not yet on a backend.
pub struct Checkpoint {
    pub encoder: EncoderId,
    pub config: Config,
    pub tokenizer: Rc<Tokenizer>,
    pub weights: Weights,
}

impl Checkpoint {
    /// Opens a GGUF file as `caselens quantize` writes it. `what` names it in errors.
    pub fn from_gguf(what: &str, bytes: Bytes) -> Result<Self> {
        check_magic(what, &bytes)?;
        let weights = Weights::open(what, bytes)?;
        Ok(About::read(what, &weights.metadata)?.with(weights))
    }

    /// Opens the parts of a Hugging Face folder.
    pub fn from_parts(id: &str, config: &str, tokenizer: &[u8], weights: Bytes) -> Result<Self> {
        let config = Config::from_json(id, config)?;
        let tokenizer = Tokenizer::from_json(tokenizer)?;
        let sha256 = sha256(&weights);
        let mut weights = Weights::open(id, weights)?;
        if config.position_offset > 0 {
            weights.drop_rows("position_embd.weight", config.position_offset)?;
        }
        Ok(Self {
            encoder: EncoderId {
                id: id.into(),
                sha256,
            },
            config,
            tokenizer: Rc::new(tokenizer),
            weights,
        })
    }

    /// Opens a GGUF file, or a folder with config.json, tokenizer.json and model.safetensors.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn open(path: &std::path::Path) -> Result<Self> {
        if !path.is_dir() {
            return Self::from_gguf(&path.display().to_string(), map(path)?);
        }
        let read = |name: &str| {
            let path = path.join(name);
            std::fs::read(&path).map_err(Error::io(path))
        };
        let config = String::from_utf8_lossy(&read("config.json")?).into_owned();
        let id = folder_id(path, &config);
        Self::from_parts(
            &id,
            &config,
            &read("tokenizer.json")?,
            map(&path.join("model.safetensors"))?,
        )
    }

    /// The dtype of the large matrices.
    pub fn dtype(&self) -> Dtype {
        self.weights
            .get_any("blk.0.ffn_up.weight")
            .map_or(Dtype::F32, |w| w.dtype)
    }
}

/// What a GGUF file's key-value pairs say of an encoder.
struct About {
    encoder: EncoderId,
    config: Config,
    tokenizer: Tokenizer,
}

impl About {
    fn read(what: &str, metadata: &HashMap<String, Value>) -> Result<Self> {
        let text = |key: &str| metadata.get(key).and_then(|v| v.to_string().ok());
        let architecture = text("general.architecture").map_or("unknown", |a| a.as_str());
        if architecture != "bert" {
            return Err(Error::UnsupportedArchitecture {
                what: what.into(),
                found: architecture.into(),
            });
        }
        let needed = |key: &str| {
            text(key).ok_or_else(|| Error::ModelFormat {
                what: what.into(),
                reason: format!(
                    "it has no `{key}`; files from other converters lack it, `caselens quantize` writes it"
                ),
            })
        };
        let config = Config::from_json(what, needed(keys::CONFIG)?)?;
        let tokenizer = vocabulary::Parts::read(what, metadata, config.vocab_size)?;
        let encoder = EncoderId {
            id: text(keys::ENCODER_ID).map_or_else(|| what.to_string(), |s| s.clone()),
            sha256: needed(keys::ENCODER_SHA256)?.clone(),
        };
        Ok(Self {
            encoder,
            config,
            tokenizer: tokenizer.tokenizer()?,
        })
    }

    fn with(self, weights: Weights) -> Checkpoint {
        Checkpoint {
            encoder: self.encoder,
            config: self.config,
            tokenizer: Rc::new(self.tokenizer),
            weights,
        }
    }
}

/// [`Checkpoint::from_gguf`] of a file that arrives in pieces.
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
    /// As [`Arriving::push`] and [`Checkpoint::from_gguf`].
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
    /// As [`Checkpoint::from_gguf`].
    pub fn finish(self) -> Result<Checkpoint> {
        let mut weights = self.file.finish()?;
        let about = match self.about {
            Some(about) => about,
            // A file so short that its header was read at its end.
            None => About::read(&self.what, &std::mem::take(&mut weights.metadata))?,
        };
        Ok(about.with(weights))
    }
}

/// SHA-256 of bytes, in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect()
}

/// Whether a name that a file gives of another is of one beside it: no path, and no URL.
pub(crate) fn is_file_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\\', ':'])
}

#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn map(path: &std::path::Path) -> Result<Bytes> {
    let file = std::fs::File::open(path).map_err(Error::io(path))?;
    // SAFETY: the map is read-only; a file changed by somebody else meanwhile gives wrong numbers, as
    // with every mapped model file, and no reference to it outlives the map.
    let map = unsafe { memmap2::Mmap::map(&file) }.map_err(Error::io(path))?;
    Ok(Bytes::Mapped(map))
}

/// A folder's name: its repository's where it is a snapshot in the hub's cache, else its own.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn folder_name(path: &std::path::Path) -> Option<&str> {
    hub::repository_of(path).or_else(|| path.file_name()?.to_str())
}

/// A folder's encoder name: as [`folder_name`], else what its configuration says.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn folder_id(path: &std::path::Path, config: &str) -> String {
    let from_config = || {
        serde_json::from_str::<serde_json::Value>(config)
            .ok()?
            .get("_name_or_path")?
            .as_str()
            .map(str::to_owned)
    };
    std::fs::canonicalize(path)
        .ok()
        .and_then(|p| folder_name(&p).map(str::to_owned))
        .or_else(from_config)
        .unwrap_or_else(|| "encoder".into())
}

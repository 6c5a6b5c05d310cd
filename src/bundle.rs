//! The folder that `caselens export` writes and that pages load by URL: a manifest.json, a head, the encoder where
//! a browser can run it, and a gallery of answers where it cannot.
//!
//! ```text
//! manifest.json                 a Manifest: what the files are, their sizes and SHA-256
//! NAME.head.safetensors         the head
//! NAME.gguf                     the encoder, where a browser runs it
//! NAME.gallery.safetensors      embeddings of chosen pairs, made by any encoder; see [`gallery`]
//! ```

use serde::{Deserialize, Serialize};

use crate::{
    checkpoint::{EncoderId, is_file_name, sha256},
    embedding::Case,
    error::{Error, Result},
};

pub mod gallery;

/// The manifest's name in its folder.
pub const MANIFEST: &str = "manifest.json";
/// The version of [`Manifest`] that is written and read here.
pub const SCHEMA: u32 = 2;

/// What a bundle holds. Files are named without folders: they lie beside the manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`SCHEMA`]. A reader refuses every other one: it does not know what has changed its meaning.
    pub schema: u32,
    /// The encoder whose embeddings the head takes and the gallery holds.
    pub encoder: EncoderId,
    /// How a sentence and a condition become an embedding of the encoder.
    pub case: Case,
    /// Numbers of an embedding behind the head, as it is compared.
    pub dims: usize,
    /// Under which licences encoder, head and texts may be used: a line for each, for people.
    pub licences: Vec<String>,
    /// The head.
    pub head: File,
    /// The encoder, where a browser runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Model>,
    /// Answers of an encoder that a browser does not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gallery: Option<Gallery>,
    /// How the head was trained and what it scored, as the head itself says it.
    #[serde(default)]
    pub training: serde_json::Value,
}

/// A file beside the manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct File {
    /// Its name.
    pub file: String,
    /// Its size.
    pub bytes: usize,
    /// In hexadecimal.
    pub sha256: String,
}

/// The encoder as one GGUF file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// The file.
    #[serde(flatten)]
    pub file: File,
    /// Number format of its matrices, for example `q8_0`.
    pub dtype: String,
}

/// Embeddings of chosen pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gallery {
    /// The file.
    #[serde(flatten)]
    pub file: File,
    /// How its numbers are stored.
    pub dtype: gallery::Numbers,
    /// In the order of the embeddings: those of item i are rows 2i and 2i + 1.
    pub items: Vec<Item>,
}

/// Two sentences under a condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// The first sentence.
    pub sentence1: String,
    /// The second sentence.
    pub sentence2: String,
    /// What they are compared by.
    pub condition: String,
    /// What people said, 1–5, where somebody was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<f32>,
}

impl Manifest {
    /// # Errors
    /// It is no manifest, or one of another version, or it names a file that does not lie beside it.
    pub fn parse(json: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Version {
            schema: u32,
        }
        let bad = |e: serde_json::Error| Error::BundleFormat {
            file: MANIFEST.into(),
            reason: e.to_string(),
        };
        let Version { schema } = serde_json::from_str(json).map_err(bad)?;
        if schema != SCHEMA {
            return Err(Error::BundleSchema {
                found: schema,
                reads: SCHEMA,
            });
        }
        let manifest: Self = serde_json::from_str(json).map_err(bad)?;
        let model = manifest.model.as_ref().map(|model| &model.file);
        let gallery = manifest.gallery.as_ref().map(|gallery| &gallery.file);
        for file in [Some(&manifest.head), model, gallery].into_iter().flatten() {
            if !is_file_name(&file.file) {
                return Err(Error::BundleFormat {
                    file: MANIFEST.into(),
                    reason: format!("it names the file {:?}, which is not beside it", file.file),
                });
            }
        }
        Ok(manifest)
    }

    /// # Errors
    /// There is none.
    pub fn gallery(&self) -> Result<&Gallery> {
        self.gallery.as_ref().ok_or_else(|| Error::BundleFormat {
            file: MANIFEST.into(),
            reason: "it names no gallery".into(),
        })
    }
}

impl File {
    /// Describes a file of these bytes.
    pub fn of(file: impl Into<String>, bytes: &[u8]) -> Self {
        Self {
            file: file.into(),
            bytes: bytes.len(),
            sha256: sha256(bytes),
        }
    }

    /// # Errors
    /// The bytes are not those that were described.
    pub fn check(&self, bytes: &[u8]) -> Result<()> {
        let reason = match bytes.len() == self.bytes {
            false => format!("has {} bytes of {}", bytes.len(), self.bytes),
            true if sha256(bytes) == self.sha256 => return Ok(()),
            true => "has another SHA-256".to_owned(),
        };
        Err(Error::BundleMismatch {
            file: self.file.clone(),
            reason,
        })
    }
}

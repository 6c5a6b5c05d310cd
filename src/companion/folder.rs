//! The Hugging Face folder of a trained encoder: what of it is the published one's, and what is its own.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::output::write_folder;
use crate::{
    checkpoint::{EncoderId, config_json, plain::POOLING, sha256, tokenizer_json},
    error::{Error, Result},
};

/// The head in the folder of an encoder that `caselens fine-tune` wrote.
pub const FOLDER_HEAD: &str = "head.safetensors";

/// How the encoder was trained.
pub const RECORD: &str = "caselens-training.json";

const CONFIG: &str = "config.json";
const TOKENIZER: &str = "tokenizer.json";

/// Files of a published folder that stay as they are. The first must be there, the second may be made.
pub const COPIED: [&str; 7] = [
    CONFIG,
    TOKENIZER,
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.txt",
    "sentencepiece.bpe.model",
    // How far its authors read is not kept: what is trained here reads as far as its positions go.
    POOLING,
];

/// Where what is not done yet of an output is kept: OUTPUT.checkpoint.
pub fn checkpoint_of(output: &Path) -> PathBuf {
    let mut name = output.file_name().unwrap_or_default().to_owned();
    name.push(".checkpoint");
    output.with_file_name(name)
}

/// # Errors
/// Something is there already.
pub fn must_be_new(output: &Path) -> Result<()> {
    match fs::symlink_metadata(output).is_ok() {
        true => Err(Error::InvalidArgument(format!(
            "{} is there already. Name a folder that does not exist with --output.",
            output.display()
        ))),
        false => Ok(()),
    }
}

/// The encoder with these weights, by the name of the folder that is to hold it.
pub fn encoder(output: &Path, weights: &[u8]) -> EncoderId {
    let name = output.file_name().unwrap_or_default().to_string_lossy();
    EncoderId {
        id: name.into_owned(),
        sha256: sha256(weights),
    }
}

/// Writes `own` files and what stays of the folder `published`.
///
/// # Errors
/// A file that must be there is not, or one cannot be read or written.
pub fn write(output: &Path, mut own: Vec<(&str, Vec<u8>)>, published: &Path) -> Result<()> {
    for name in COPIED {
        let path = published.join(name);
        match fs::read(&path) {
            _ if name == TOKENIZER => {
                let config = config_json(published)?;
                own.push((name, tokenizer_json(published, &config)?));
            }
            Ok(bytes) => own.push((name, bytes)),
            Err(e) if name == CONFIG || e.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io(path)(e));
            }
            Err(_) => {}
        }
    }
    write_folder(output, &own)
}

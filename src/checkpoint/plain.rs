//! How an encoder's authors embed a text by itself: what sentence-transformers' files say beside the published ones, and
//! what a GGUF file keeps of that.

#[cfg(not(target_arch = "wasm32"))]
use std::path::Path;

#[cfg(not(target_arch = "wasm32"))]
use serde::Deserialize;

#[cfg(not(target_arch = "wasm32"))]
use super::files::read_text;
#[cfg(not(target_arch = "wasm32"))]
use crate::error::{Error, Result};

/// Which pooling an embedding comes from.
#[cfg(not(target_arch = "wasm32"))]
pub const POOLING: &str = "1_Pooling/config.json";
/// How long an input may be.
#[cfg(not(target_arch = "wasm32"))]
pub const LENGTH: &str = "sentence_bert_config.json";
/// How one embedding is made of a text's hidden states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PoolingMode {
    /// The mean over all tokens.
    #[default]
    Mean,
    /// The first token's.
    Cls,
    /// The last token's.
    Last,
    /// What the pooler makes of the first token's: tanh(W·h + b), as SimCSE has it.
    Pooler,
}

/// How a text by itself is embedded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Plain {
    pub pooling: PoolingMode,
    /// Longest input in tokens, where that is less than the positions that the encoder has.
    pub max_tokens: Option<usize>,
}

/// sentence_bert_config.json; other fields are ignored.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Default, Deserialize)]
struct Length {
    #[serde(default)]
    max_seq_length: Option<usize>,
    #[serde(default)]
    do_lower_case: bool,
}

/// Whether a folder's authors lower a text's capitals before its tokenizer sees them.
///
/// # Errors
/// The file that says so cannot be read.
#[cfg(not(target_arch = "wasm32"))]
pub fn lowers_capitals(folder: &Path) -> Result<bool> {
    let said: Option<Length> = read(folder, LENGTH)?;
    Ok(said.unwrap_or_default().do_lower_case)
}

#[cfg(not(target_arch = "wasm32"))]
impl Plain {
    /// What a folder's files say: the mean over as many tokens as there are positions where there are none.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn of_folder(folder: &Path) -> Result<Self> {
        let length: Option<Length> = read(folder, LENGTH)?;
        let max_tokens = length.unwrap_or_default().max_seq_length;
        let pooling = read(folder, POOLING)?;
        Ok(Self {
            pooling: match pooling {
                Some(said) => pooling_of(&said).unwrap_or_else(|| {
                    tracing::warn!(
                        "{} asks for a pooling that is not computed here: texts by themselves get the mean over all tokens.",
                        folder.join(POOLING).display()
                    );
                    PoolingMode::Mean
                }),
                None => PoolingMode::Mean,
            },
            max_tokens: max_tokens.filter(|&tokens| tokens > 0),
        })
    }
}

/// The pooling that sentence-transformers' file says, by its modes of before and by its name of since version 5; `None`
/// for another one, or several.
#[cfg(not(target_arch = "wasm32"))]
fn pooling_of(said: &serde_json::Value) -> Option<PoolingMode> {
    let fields = said.as_object()?;
    let modes = fields.iter().filter_map(|(name, value)| {
        let mode = name.strip_prefix("pooling_mode_")?;
        value.as_bool()?.then_some(mode)
    });
    let mut modes = modes.chain(fields.get("pooling_mode").and_then(|mode| mode.as_str()));
    let pooling = match modes.next() {
        Some("cls_token" | "cls") => PoolingMode::Cls,
        Some("mean_tokens" | "mean") | None => PoolingMode::Mean,
        Some("lasttoken") => PoolingMode::Last,
        Some(_) => return None,
    };
    modes.next().is_none().then_some(pooling)
}

#[cfg(not(target_arch = "wasm32"))]
fn read<T: serde::de::DeserializeOwned>(folder: &Path, name: &str) -> Result<Option<T>> {
    let path = folder.join(name);
    if !path.is_file() {
        return Ok(None);
    }
    let bytes = read_text(&path)?;
    let read = serde_json::from_slice(&bytes);
    read.map(Some).map_err(|e| Error::ModelFormat {
        what: path.display().to_string(),
        reason: format!("it is not what sentence-transformers writes ({e})"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pooling_is_one_of_the_modes() {
        let of = |json: &str| pooling_of(&serde_json::from_str(json).unwrap());
        let old = r#"{"word_embedding_dimension": 384, "pooling_mode_cls_token": false,
            "pooling_mode_mean_tokens": true, "pooling_mode_max_tokens": false}"#;
        assert_eq!(of(old), Some(PoolingMode::Mean));
        let other = |yes: &str| old.replace("mean_tokens", yes);
        assert_eq!(of(&other("lasttoken")), Some(PoolingMode::Last));
        assert_eq!(of(&other("mean_sqrt_len_tokens")), None);
        let both = old.replace("max_tokens\": false", "max_tokens\": true");
        assert_eq!(of(&both), None);
        assert_eq!(of(r#"{"pooling_mode": "cls"}"#), Some(PoolingMode::Cls));
        assert_eq!(of(r#"{"embedding_dimension": 3}"#), Some(PoolingMode::Mean));
        assert_eq!(of("[]"), None);
    }
}

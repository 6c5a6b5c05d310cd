//! A WordPiece vocabulary as GGUF's token list holds it, and back.
//!
//! A GGUF file lists each token for llama.cpp, in the order of the ids; tokenizer.json lists them once more.
//! Where the first list gives the second to the letter, a file keeps tokenizer.json without its vocabulary
//! ([`keys::TOKENIZER_REST`]), and opening puts it back: half a megabyte less of all-MiniLM-L6-v2.

use serde_json::Map;

use super::{header::Metadata, value::Value};
use crate::{
    checkpoint::keys,
    error::{Error, Result},
    text::tokenizer::{self, Tokenizer, Vocabulary},
};

/// llama.cpp's token types.
pub(crate) mod kind {
    pub const NORMAL: i32 = 1;
    pub const UNKNOWN: i32 = 2;
    pub const CONTROL: i32 = 3;
    pub const USER_DEFINED: i32 = 4;
    /// A row of the token table that no token names.
    pub const UNUSED: i32 = 5;
}

/// SentencePiece's visible space.
const SPACE: char = '\u{2581}';

/// A token that llama.cpp's converter leaves as it is, whatever its kind: `[unused7]`.
pub(super) fn is_bracketed(text: &str) -> bool {
    text.starts_with('[') && text.ends_with(']')
}

/// Keys of the token list.
pub(crate) const TOKENS: &str = "tokenizer.ggml.tokens";
pub(crate) const KINDS: &str = "tokenizer.ggml.token_type";

/// llama.cpp's WordPiece marks the start of a word, Hugging Face's its continuation: `##ing` → `ing`,
/// `run` → `▁run`. Control tokens stay as they are.
pub(crate) fn to_llama_cpp(text: &str, kind: i32) -> String {
    match (kind, text.strip_prefix("##")) {
        (kind::CONTROL, _) => text.to_owned(),
        (_, Some(rest)) => rest.to_owned(),
        (_, None) => format!("{SPACE}{text}"),
    }
}

/// Hugging Face's token → id of llama.cpp's WordPiece `(token, type)`, in the order of the ids. Its own converter leaves
/// `[unused7]` as it is too, whatever its type.
///
/// # Errors
/// Two ids have the same token: the token.
pub(crate) fn from_llama_cpp<'a>(
    tokens: impl IntoIterator<Item = (&'a str, i32)>,
) -> std::result::Result<Vocabulary, String> {
    let tokens = tokens.into_iter();
    let mut ids = Vocabulary::with_capacity(tokens.size_hint().0);
    for (id, (text, kind)) in (0u32..).zip(tokens) {
        let token = match (kind, text.strip_prefix(SPACE)) {
            (kind::UNUSED, _) => continue,
            (kind::CONTROL, _) => text.to_owned(),
            (_, Some(word)) => word.to_owned(),
            (_, None) if is_bracketed(text) => text.to_owned(),
            (_, None) => format!("##{text}"),
        };
        if ids.insert(token, id).is_some() {
            return Err(text.to_owned());
        }
    }
    Ok(ids)
}

/// The tokenizer of a GGUF file: tokenizer.json, and the vocabulary where the token list gives it.
pub struct Parts {
    pub json: Map<String, serde_json::Value>,
    pub vocabulary: Option<Vocabulary>,
}

impl Parts {
    /// Reads them from a file's metadata. `rows` is the configuration's vocabulary size, `what` names the file in
    /// errors.
    ///
    /// # Errors
    /// There is no tokenizer, it is not JSON, or it has no vocabulary and the token list does not give one.
    pub fn read(what: &str, metadata: &Metadata, rows: usize) -> Result<Self> {
        let bad = |reason: String| Error::ModelFormat {
            what: what.into(),
            reason,
        };
        let text = |key: &str| metadata.get(key).and_then(Value::as_str);
        if let Some(whole) = text(keys::TOKENIZER) {
            return Ok(Self {
                json: tokenizer::parse(whole.as_bytes())?,
                vocabulary: None,
            });
        }
        let rest = text(keys::TOKENIZER_REST).ok_or_else(|| {
            bad(format!(
                "it has no `{}`, which files from other converters lack",
                keys::TOKENIZER
            ))
        })?;
        let list = |key: &str| {
            let list = metadata.get(key).and_then(Value::as_array);
            list.ok_or_else(|| {
                bad(format!(
                    "its tokenizer needs the list `{key}`, which it lacks"
                ))
            })
        };
        let (tokens, kinds) = (list(TOKENS)?, list(KINDS)?);
        if tokens.len() != rows || kinds.len() != rows {
            return Err(bad(format!(
                "it lists {} tokens and {} token types where the configuration says {rows}",
                tokens.len(),
                kinds.len()
            )));
        }
        let tokens = tokens
            .iter()
            .zip(kinds)
            .map(|(token, kind)| Some((token.as_str()?, kind.as_i32()?)))
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| bad(format!("`{TOKENS}` must hold strings and `{KINDS}` i32")))?;
        let vocabulary = from_llama_cpp(tokens)
            .map_err(|token| bad(format!("it lists the token {token:?} twice")))?;
        let json = tokenizer::parse(rest.as_bytes())?;
        if !json.get("model").is_some_and(|model| model.is_object()) {
            return Err(bad(format!("`{}` has no model", keys::TOKENIZER_REST)));
        }
        Ok(Self {
            json,
            vocabulary: Some(vocabulary),
        })
    }

    /// The tokenizer they make.
    pub fn tokenizer(self) -> Result<Tokenizer> {
        match self.vocabulary {
            Some(vocabulary) => Tokenizer::with_vocabulary(self.json, vocabulary),
            None => Tokenizer::from_map(self.json),
        }
    }
}

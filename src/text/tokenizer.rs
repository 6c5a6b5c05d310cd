//! Hugging Face `tokenizers`, with the same regex engine natively and on wasm.

use base64::Engine;
use serde_json::{Map, Value};
use tokenizers::Encoding;

use crate::error::{Error, Result};

/// Longest text accepted, in characters. An encoder reads a few thousand at most; what is longer is a
/// mistake or an attack, and tokenizing it would only take time.
pub const MAX_CHARS: usize = 50_000;

/// A tokenizer as published (tokenizer.json), without its truncation and padding.
pub struct Tokenizer {
    inner: tokenizers::Tokenizer,
}

impl Tokenizer {
    /// Parses tokenizer.json.
    pub fn from_json(json: &[u8]) -> Result<Self> {
        Self::from_map(parse(json)?)
    }

    /// Builds it from tokenizer.json as it was parsed.
    pub(crate) fn from_map(mut json: Map<String, Value>) -> Result<Self> {
        check_charsmaps(json.get("normalizer")).map_err(|e| unreadable(&e))?;
        check_templates(json.get("post_processor")).map_err(|e| unreadable(&e))?;
        // Nothing here turns ids into text, and `tokenizers` panics on a decoder it cannot read.
        json.insert("decoder".into(), Value::Null);
        let mut inner: tokenizers::Tokenizer =
            serde_json::from_value(Value::Object(json)).map_err(|e| unreadable(&e))?;
        // Some checkpoints pad everything to a fixed length; batches here are packed, and what is too
        // long is cut by the template, which knows what may be cut.
        inner
            .with_truncation(None)
            .map_err(|e| Error::Tokenizer(e.to_string()))?;
        inner.with_padding(None);
        Ok(Self { inner })
    }

    /// Ids of one text with the model's special tokens, as Hugging Face gives them.
    pub fn ids(&self, text: &str) -> Result<Vec<u32>> {
        let encoding = self
            .inner
            .encode_fast(text, true)
            .map_err(|e| Error::Tokenizer(e.to_string()))?;
        Ok(encoding.get_ids().to_vec())
    }

    /// The special tokens and their ids.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn special_tokens(&self) -> Vec<(String, u32)> {
        self.inner
            .get_added_tokens_decoder()
            .into_iter()
            .filter(|(_, token)| token.special)
            .map(|(id, token)| (token.content, id))
            .collect()
    }

    /// The tokens of a text without special tokens.
    ///
    /// # Errors
    /// The text is empty, too long, or nothing remains of it after the tokenizer's normalisation.
    /// `what` names it in the error.
    pub(crate) fn encode(&self, what: &str, text: &str) -> Result<Encoding> {
        let empty = || Error::EmptyText { what: what.into() };
        if text.trim().is_empty() {
            return Err(empty());
        }
        // Bytes bound characters from above: most texts need no counting.
        if text.len() > MAX_CHARS {
            let chars = text.chars().count();
            if chars > MAX_CHARS {
                return Err(Error::TextTooLong {
                    what: what.into(),
                    chars,
                    max: MAX_CHARS,
                });
            }
        }
        let encoding = self
            .inner
            .encode_fast(text, false)
            .map_err(|e| Error::Tokenizer(e.to_string()))?;
        match encoding.is_empty() {
            true => Err(empty()),
            false => Ok(encoding),
        }
    }

    /// Joins one or two encodings with the model's special tokens.
    pub(crate) fn join(&self, first: Encoding, second: Option<Encoding>) -> Result<Encoding> {
        self.inner
            .post_process(first, second, true)
            .map_err(|e| Error::Tokenizer(e.to_string()))
    }

    /// Special tokens added to one text, or to a pair.
    pub(crate) fn added_tokens(&self, pair: bool) -> usize {
        self.inner
            .get_post_processor()
            .map_or(0, |p| tokenizers::PostProcessor::added_tokens(p, pair))
    }
}

/// tokenizer.json as an object.
pub(crate) fn parse(json: &[u8]) -> Result<Map<String, Value>> {
    serde_json::from_slice(json).map_err(|e| unreadable(&e))
}

fn unreadable(reason: &dyn std::fmt::Display) -> Error {
    Error::Tokenizer(format!("tokenizer.json cannot be read ({reason})"))
}

/// Refuses a SentencePiece normalisation table that is cut short: `tokenizers` panics on it.
fn check_charsmaps(normalizer: Option<&Value>) -> std::result::Result<(), String> {
    let Some(normalizer) = normalizer else {
        return Ok(());
    };
    if normalizer.get("type").and_then(|t| t.as_str()) == Some("Precompiled") {
        let text = normalizer
            .get("precompiled_charsmap")
            .and_then(|t| t.as_str());
        let text = text.ok_or("its normalizer has no precompiled_charsmap")?;
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(text)
            .map_err(|e| format!("its precompiled_charsmap is not base64: {e}"))?;
        // The size of a trie of u32s, the trie, then text.
        let (size, rest) = bytes
            .split_first_chunk()
            .ok_or("its precompiled_charsmap is empty")?;
        let size = u32::from_le_bytes(*size) as usize;
        let text = rest
            .get(size / 4 * 4..)
            .filter(|_| size >= 4)
            .ok_or("its precompiled_charsmap is cut short")?;
        std::str::from_utf8(text).map_err(|_| "its precompiled_charsmap is damaged")?;
    }
    let parts = normalizer.get("normalizers").and_then(|n| n.as_array());
    parts
        .into_iter()
        .flatten()
        .try_for_each(|part| check_charsmaps(Some(part)))
}

/// Refuses a template that names a special token without saying its id: `tokenizers` panics on it when
/// it encodes.
fn check_templates(processor: Option<&Value>) -> std::result::Result<(), String> {
    let Some(processor) = processor else {
        return Ok(());
    };
    let list = |key: &str| {
        processor
            .get(key)
            .and_then(|v| v.as_array())
            .into_iter()
            .flatten()
    };
    for piece in list("single").chain(list("pair")) {
        let Some(token) = piece
            .get("SpecialToken")
            .and_then(|t| t.get("id")?.as_str())
        else {
            continue;
        };
        if processor
            .get("special_tokens")
            .and_then(|t| t.get(token))
            .is_none()
        {
            return Err(format!(
                "its template uses {token:?}, which it does not define"
            ));
        }
    }
    list("processors").try_for_each(|part| check_templates(Some(part)))
}

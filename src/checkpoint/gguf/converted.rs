//! What a GGUF file of another converter says of a BERT-family encoder, as config.json and tokenizer.json say it.
//!
//! llama.cpp's own converter (`convert_hf_to_gguf.py`) keeps neither file, but what llama.cpp reads of them: counts, and a
//! vocabulary of the kind `bert` (WordPiece), `t5` (Unigram: XLM-R) or `gpt2` (byte-level BPE: RoBERTa). Around it all of a family
//! is as its first encoder has it. One thing is not kept, whether texts are lowercased: llama.cpp always does it to WordPiece's;
//! here a vocabulary with capital letters keeps them, as the encoder's own tokenizer does.

use base64::Engine;
use serde_json::{Map, Value as Json, json};

use super::{
    header::Metadata,
    value::Value,
    vocabulary::{
        KINDS, Parts, TOKENS, from_llama_cpp, is_bracketed,
        kind::{CONTROL, NORMAL, UNKNOWN, USER_DEFINED},
    },
};
use crate::error::{Error, Result};

/// How RoBERTa's byte-level vocabulary splits texts, as `tokenizer.ggml.pre` names it.
const ROBERTA: [&str; 2] = ["roberta-bpe", "gpt-2"];

/// A file of another converter.
pub struct Converted<'a> {
    what: &'a str,
    metadata: &'a Metadata,
}

/// A token of the list, and which kind of token it is.
type Token<'a> = (&'a str, i32);

impl<'a> Converted<'a> {
    /// `what` names the file in errors.
    pub fn new(what: &'a str, metadata: &'a Metadata) -> Self {
        Self { what, metadata }
    }

    /// What stands in the place of config.json.
    ///
    /// # Errors
    /// A count is missing.
    pub fn config_json(&self) -> Result<String> {
        let number = |key: &str| self.number(&format!("bert.{key}"));
        let needed = |key: &str| {
            number(key).ok_or_else(|| self.bad(format!("it does not say `bert.{key}`")))
        };
        let epsilon = self.metadata.get("bert.attention.layer_norm_epsilon");
        let json = json!({
            "model_type": "bert",
            "vocab_size": self.list(TOKENS)?.len(),
            "hidden_size": needed("embedding_length")?,
            "num_hidden_layers": needed("block_count")?,
            "num_attention_heads": needed("attention.head_count")?,
            "intermediate_size": needed("feed_forward_length")?,
            "max_position_embeddings": needed("context_length")?,
            "type_vocab_size": self.number("tokenizer.ggml.token_type_count").unwrap_or(2),
            "layer_norm_eps": epsilon.and_then(Value::as_f32).unwrap_or(1e-12),
        });
        Ok(json.to_string())
    }

    /// The encoder's name, without spaces: files have `All MiniLM L6 v2` where the encoder is called all-MiniLM-L6-v2.
    pub fn name(&self) -> String {
        let name = self.text("general.name").map(str::trim);
        let name = name.filter(|name| !name.is_empty()).unwrap_or(self.what);
        name.replace(' ', "-")
    }

    /// What stands in the place of tokenizer.json.
    ///
    /// # Errors
    /// The vocabulary is of a kind, or splits texts in a way, that is not read here; or a part of it is missing or broken.
    pub fn tokenizer(&self) -> Result<Parts> {
        let tokens = self.tokens()?;
        let model = self.text("tokenizer.ggml.model").unwrap_or("unknown");
        match model {
            "bert" => self.word_piece(&tokens),
            "t5" => self.unigram(&tokens),
            "gpt2" => self.byte_level(&tokens),
            other => Err(self.tokenizer_error(&format!("its vocabulary is of the kind `{other}`"))),
        }
    }

    fn word_piece(&self, tokens: &[Token<'_>]) -> Result<Parts> {
        let vocabulary = from_llama_cpp(tokens.iter().copied())
            .map_err(|token| self.bad(format!("it lists the token {token:?} twice")))?;
        // Of ASCII: vocabularies without capitals have ℂ all the same.
        let is_capital = |&(text, kind): &Token<'_>| {
            kind == NORMAL && !is_bracketed(text) && text.contains(|c: char| c.is_ascii_uppercase())
        };
        let (cls, sep) = self.wrapping(tokens, ["[CLS]", "[SEP]"])?;
        let unknown = self.special(tokens, &["unknown_token_id"], "[UNK]")?;
        let json = json!({
            "version": "1.0",
            "added_tokens": added(tokens, None),
            "normalizer": {
                "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                "strip_accents": null, "lowercase": !tokens.iter().any(is_capital),
            },
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": {"type": "BertProcessing", "cls": cls, "sep": sep},
            "model": {
                "type": "WordPiece", "unk_token": unknown.0, "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100,
            },
        });
        Ok(Parts {
            json: object(json),
            vocabulary: Some(vocabulary),
        })
    }

    fn unigram(&self, tokens: &[Token<'_>]) -> Result<Parts> {
        let scores = self.list("tokenizer.ggml.scores")?;
        if scores.len() != tokens.len() {
            let (scores, tokens) = (scores.len(), tokens.len());
            return Err(self.bad(format!("it lists {scores} scores of {tokens} tokens")));
        }
        let scored = tokens.iter().zip(scores);
        let scored = scored.map(|((text, _), score)| Some((*text, score.as_f32()?)));
        let scored = scored.collect::<Option<Vec<_>>>();
        let scored =
            scored.ok_or_else(|| self.bad("`tokenizer.ggml.scores` must hold f32".into()))?;
        let is = |key: &str| self.metadata.get(key).and_then(Value::as_bool);
        let metaspace = json!({
            "type": "Metaspace", "replacement": "▁", "split": true,
            "prepend_scheme": match is("tokenizer.ggml.add_space_prefix") {
                Some(false) => "never",
                _ => "always",
            },
        });
        let split = match is("tokenizer.ggml.remove_extra_whitespaces") {
            Some(false) => metaspace,
            _ => {
                json!({"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace]})
            }
        };
        let mask = self.number("tokenizer.ggml.mask_token_id");
        let unknown = self.special(tokens, &["unknown_token_id"], "<unk>")?;
        let json = json!({
            "version": "1.0",
            "added_tokens": added(tokens, mask),
            "normalizer": self.charsmap()?,
            "pre_tokenizer": split,
            "post_processor": self.around(tokens)?,
            "model": {"type": "Unigram", "unk_id": unknown.1, "vocab": scored, "byte_fallback": false},
        });
        Ok(Parts {
            json: object(json),
            vocabulary: None,
        })
    }

    fn byte_level(&self, tokens: &[Token<'_>]) -> Result<Parts> {
        let pre = self.text("tokenizer.ggml.pre").unwrap_or("unknown");
        if !ROBERTA.contains(&pre) {
            return Err(self.tokenizer_error(&format!(
                "texts are split as `{pre}` has it (`tokenizer.ggml.pre`), which is not known"
            )));
        }
        let merges = self.list("tokenizer.ggml.merges")?.iter();
        let merges = merges.map(Value::as_str).collect::<Option<Vec<_>>>();
        let merges =
            merges.ok_or_else(|| self.bad("`tokenizer.ggml.merges` must hold texts".into()))?;
        let ids = tokens.iter().zip(0u32..);
        let vocabulary: Map<String, Json> = ids
            .map(|(&(text, _), id)| (text.to_owned(), id.into()))
            .collect();
        let mask = self.number("tokenizer.ggml.mask_token_id");
        let json = json!({
            "version": "1.0",
            "added_tokens": added(tokens, mask),
            "normalizer": null,
            "pre_tokenizer": {
                "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true,
            },
            "post_processor": self.around(tokens)?,
            "model": {"type": "BPE", "fuse_unk": false, "vocab": vocabulary, "merges": merges},
        });
        Ok(Parts {
            json: object(json),
            vocabulary: None,
        })
    }

    /// What RoBERTa and XLM-R put around a text, and between two.
    fn around(&self, tokens: &[Token<'_>]) -> Result<Json> {
        let (cls, sep) = self.wrapping(tokens, ["<s>", "</s>"])?;
        Ok(json!({
            "type": "RobertaProcessing", "cls": cls, "sep": sep,
            "trim_offsets": true, "add_prefix_space": false,
        }))
    }

    /// The tokens before and after a text.
    fn wrapping(
        &self,
        tokens: &[Token<'_>],
        [cls, sep]: [&str; 2],
    ) -> Result<((String, u32), (String, u32))> {
        Ok((
            self.special(tokens, &["cls_token_id", "bos_token_id"], cls)?,
            // The misspelling is the format's.
            self.special(tokens, &["seperator_token_id", "eos_token_id"], sep)?,
        ))
    }

    /// The token whose id stands under one of `keys`, else the one of this name.
    fn special(&self, tokens: &[Token<'_>], keys: &[&str], name: &str) -> Result<(String, u32)> {
        let said = keys
            .iter()
            .find_map(|key| self.number(&format!("tokenizer.ggml.{key}")));
        let named = || tokens.iter().zip(0..).find(|((text, _), _)| *text == name);
        let id = said.or_else(|| Some(named()?.1));
        let token = id.and_then(|id| Some((tokens.get(id as usize)?.0.to_owned(), id)));
        token.ok_or_else(|| self.bad(format!("it has no token such as {name}")))
    }

    /// SentencePiece's normalisation, where the file has its table.
    fn charsmap(&self) -> Result<Json> {
        let key = "tokenizer.ggml.precompiled_charsmap";
        let Some(map) = self.metadata.get(key).and_then(Value::as_array) else {
            return Ok(Json::Null);
        };
        let byte = |value: &Value| match *value {
            Value::U8(byte) => Some(byte),
            Value::I8(byte) => Some(byte as u8),
            _ => None,
        };
        let map = map.iter().map(byte).collect::<Option<Vec<u8>>>();
        let map = map.ok_or_else(|| self.bad(format!("`{key}` must hold bytes")))?;
        let text = base64::engine::general_purpose::STANDARD.encode(map);
        Ok(json!({"type": "Precompiled", "precompiled_charsmap": text}))
    }

    /// Every token with its kind, in the order of the ids.
    fn tokens(&self) -> Result<Vec<Token<'a>>> {
        let (tokens, kinds) = (self.list(TOKENS)?, self.list(KINDS)?);
        if tokens.len() != kinds.len() {
            let (tokens, kinds) = (tokens.len(), kinds.len());
            return Err(self.bad(format!("it lists {tokens} tokens and {kinds} token types")));
        }
        let listed = tokens.iter().zip(kinds);
        let listed = listed.map(|(token, kind)| Some((token.as_str()?, kind.as_i32()?)));
        let listed = listed.collect::<Option<Vec<_>>>();
        listed.ok_or_else(|| self.bad(format!("`{TOKENS}` must hold strings and `{KINDS}` i32")))
    }

    fn text(&self, key: &str) -> Option<&'a str> {
        self.metadata.get(key)?.as_str()
    }

    fn number(&self, key: &str) -> Option<u32> {
        self.metadata.get(key)?.as_u32()
    }

    fn list(&self, key: &str) -> Result<&'a [Value]> {
        let list = self.metadata.get(key).and_then(Value::as_array);
        list.ok_or_else(|| {
            self.bad(format!(
                "its tokenizer needs the list `{key}`, which it lacks"
            ))
        })
    }

    fn bad(&self, reason: String) -> Error {
        Error::ModelFormat {
            what: self.what.into(),
            reason,
        }
    }

    fn tokenizer_error(&self, reason: &str) -> Error {
        Error::Tokenizer(format!(
            "{} holds none that is read here: {reason}. Make the file of the published encoder with `caselens quantize`.",
            self.what
        ))
    }
}

/// The tokens that a text may name. `mask` takes the space before it.
fn added(tokens: &[Token<'_>], mask: Option<u32>) -> Vec<Json> {
    let ids = tokens.iter().zip(0u32..);
    let named = ids.filter(|((_, kind), _)| matches!(*kind, CONTROL | UNKNOWN | USER_DEFINED));
    let token = |(&(text, kind), id): (&Token<'_>, u32)| {
        json!({
            "id": id, "content": text, "special": kind != USER_DEFINED, "normalized": false,
            "single_word": false, "lstrip": mask == Some(id), "rstrip": false,
        })
    };
    named.map(token).collect()
}

fn object(json: Json) -> Map<String, Json> {
    match json {
        Json::Object(map) => map,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_lowercased_unless_the_vocabulary_has_capitals() {
        let lowercases = |word: &str| {
            let tokens = ["[UNK]", "[CLS]", "[SEP]", "[Unused1]", "\u{2581}ℂ", word];
            let kinds = [CONTROL, CONTROL, CONTROL, NORMAL, NORMAL, NORMAL];
            let text = |text: &str| Value::String(text.into());
            let metadata = Metadata::from([
                ("tokenizer.ggml.model".into(), text("bert")),
                (TOKENS.into(), Value::Array(tokens.map(text).into())),
                (KINDS.into(), Value::Array(kinds.map(Value::I32).into())),
            ]);
            let parts = Converted::new("m", &metadata).tokenizer().unwrap();
            parts.json["normalizer"]["lowercase"].as_bool().unwrap()
        };
        assert!(lowercases("\u{2581}a"));
        assert!(!lowercases("\u{2581}A"));
    }
}

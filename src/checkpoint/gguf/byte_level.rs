//! The tokenizer of a decoder's GGUF file, made of its byte-level vocabulary.
//!
//! Such a vocabulary applies to the pieces of a text, and how a text is split into them `tokenizer.ggml.pre` names. Split in
//! another way, a text gets other ids without any sign of it: a name that is not known here is an error.

use serde_json::{Map, Value as Json, json};

use super::{
    header::Metadata,
    value::Value,
    vocabulary::{
        KINDS, TOKENS,
        kind::{CONTROL, UNKNOWN, USER_DEFINED},
    },
};
use crate::{
    error::{Error, Result},
    text::Tokenizer,
};

/// How the published tokenizers of Qwen2 split: each digit by itself.
const QWEN2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
/// How those of Llama 3 do: up to three digits together.
const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// What a name in `tokenizer.ggml.pre` stands for, as the published tokenizers have it and llama.cpp after them.
struct Pre {
    normalizer: Json,
    /// What comes before bytes are written as letters.
    split: Option<Json>,
    /// Whether what is left of the text is split as GPT-2's is.
    gpt2: bool,
    /// Whether a piece that is in the vocabulary is one token, whatever the merges make of it.
    ignore_merges: bool,
    /// Whether a text begins with the token of beginnings, where the file does not say.
    begins: bool,
}

impl Pre {
    fn named(name: &str) -> Option<Self> {
        let regex = |regex: &str| {
            Some(json!({
                "type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": false
            }))
        };
        let gpt2 = Self {
            normalizer: Json::Null,
            split: None,
            gpt2: true,
            ignore_merges: false,
            begins: false,
        };
        Some(match name {
            "gpt-2" => gpt2,
            "smollm" => Self {
                split: Some(json!({"type": "Digits", "individual_digits": true})),
                ..gpt2
            },
            "qwen2" | "deepseek-r1-qwen" => Self {
                normalizer: json!({"type": "NFC"}),
                split: regex(QWEN2),
                gpt2: false,
                ..gpt2
            },
            "llama-bpe" | "llama3" | "llama-v3" | "lfm2" => Self {
                split: regex(LLAMA3),
                gpt2: false,
                ignore_merges: true,
                begins: true,
                ..gpt2
            },
            "smaug-bpe" => Self {
                split: regex(LLAMA3),
                gpt2: false,
                ..gpt2
            },
            _ => return None,
        })
    }
}

/// The tokenizer of a byte-level vocabulary. `what` names the file in errors.
///
/// # Errors
/// The vocabulary is another, or incomplete; or how it splits texts is not known here.
pub fn tokenizer(what: &str, metadata: &Metadata) -> Result<Tokenizer> {
    let none = |reason: String| {
        Error::Tokenizer(format!(
            "{what} holds none that is read here: {reason}. Put the published model's tokenizer.json beside it."
        ))
    };
    let text = |key: &str| metadata.get(key).and_then(Value::as_str);
    let list = |key: &str| {
        let list = metadata.get(key).and_then(Value::as_array);
        let list = list.ok_or_else(|| none(format!("it has no list `{key}`")))?;
        let texts: Option<Vec<&str>> = list.iter().map(Value::as_str).collect();
        texts.ok_or_else(|| none(format!("`{key}` does not hold texts")))
    };
    let model = text("tokenizer.ggml.model").unwrap_or("unknown");
    if model != "gpt2" {
        return Err(none(format!("its vocabulary is of the kind `{model}`")));
    }
    let tokens = list(TOKENS)?;
    let merges = list("tokenizer.ggml.merges")?;
    let name = text("tokenizer.ggml.pre")
        .ok_or_else(|| none("it does not say how texts are split (`tokenizer.ggml.pre`)".into()))?;
    let pre = Pre::named(name).ok_or_else(|| {
        none(format!(
            "texts are split as `{name}` has it (`tokenizer.ggml.pre`), which is not known"
        ))
    })?;

    let ids = tokens.iter().zip(0u32..);
    let vocabulary: Map<String, Json> = ids.map(|(&t, id)| (t.to_owned(), id.into())).collect();
    let number = |key: &str| metadata.get(key).and_then(Value::as_u32);
    let token = |key: &str| {
        let id = number(key)?;
        Some((*tokens.get(id as usize)?, id))
    };
    let (first, last) = (
        token("tokenizer.ggml.bos_token_id"),
        token("tokenizer.ggml.eos_token_id"),
    );
    let asked = |key: &str| metadata.get(key).and_then(Value::as_bool);
    let begins = asked("tokenizer.ggml.add_bos_token").unwrap_or(pre.begins);
    let ends = asked("tokenizer.ggml.add_eos_token").unwrap_or(false);
    let around = [first.filter(|_| begins), last.filter(|_| ends)];

    let byte_level = json!({
        "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": pre.gpt2
    });
    let splits: Vec<Json> = pre.split.into_iter().chain([byte_level.clone()]).collect();
    let json = json!({
        "version": "1.0",
        "added_tokens": added(metadata, &tokens, [first, last]),
        "normalizer": pre.normalizer,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": splits},
        "post_processor": {
            "type": "Sequence",
            "processors": [byte_level, template(around)],
        },
        "model": {
            "type": "BPE",
            "ignore_merges": pre.ignore_merges,
            "vocab": vocabulary,
            "merges": merges,
        },
    });
    match json {
        Json::Object(json) => Tokenizer::from_map(json),
        _ => Err(none("it is no object".into())),
    }
}

/// The tokens that a text may name: those of no text, and those that the model's makers added.
fn added(metadata: &Metadata, tokens: &[&str], named: [Option<(&str, u32)>; 2]) -> Vec<Json> {
    let kinds = metadata.get(KINDS).and_then(Value::as_array);
    let kinds = kinds.unwrap_or_default().iter().map(Value::as_i32);
    let by_kind = tokens.iter().zip(0u32..).zip(kinds);
    let by_kind = by_kind.filter_map(|((&text, id), kind)| match kind {
        Some(CONTROL | UNKNOWN | USER_DEFINED) => Some((text, id)),
        _ => None,
    });
    let all: std::collections::BTreeMap<u32, &str> = named
        .into_iter()
        .flatten()
        .chain(by_kind)
        .map(|(text, id)| (id, text))
        .collect();
    let token = |(id, text): (u32, &str)| {
        json!({
            "id": id, "content": text, "special": true, "normalized": false,
            "single_word": false, "lstrip": false, "rstrip": false
        })
    };
    all.into_iter().map(token).collect()
}

/// What stands around a text, or around each of two.
fn template([first, last]: [Option<(&str, u32)>; 2]) -> Json {
    let special = |token: Option<(&str, u32)>, part: u32| {
        let piece = |(text, _)| json!({"SpecialToken": {"id": text, "type_id": part}});
        token.map(piece)
    };
    let around = |name: &str, part: u32| {
        let sequence = json!({"Sequence": {"id": name, "type_id": part}});
        let pieces = [special(first, part), Some(sequence), special(last, part)];
        pieces.into_iter().flatten().collect::<Vec<_>>()
    };
    let tokens = [first, last].into_iter().flatten();
    let tokens: Map<String, Json> = tokens
        .map(|(text, id)| {
            let token = json!({"id": text, "ids": [id], "tokens": [text]});
            (text.to_owned(), token)
        })
        .collect();
    let pair = [around("A", 0), around("B", 1)].concat();
    json!({
        "type": "TemplateProcessing",
        "single": around("A", 0),
        "pair": pair,
        "special_tokens": tokens,
    })
}

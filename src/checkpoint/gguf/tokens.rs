//! tokenizer.json as the vocabulary that llama.cpp reads, in the keys of a GGUF file.

use std::collections::{BTreeMap, HashSet};

use base64::Engine;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    value::Value,
    vocabulary::{
        KINDS, TOKENS, from_llama_cpp,
        kind::{CONTROL, NORMAL, UNKNOWN, UNUSED, USER_DEFINED},
        to_llama_cpp,
    },
};
use crate::{
    checkpoint::{
        config::Config,
        keys::{TOKENIZER, TOKENIZER_REST},
    },
    error::{Error, Result},
    text::tokenizer::Vocabulary,
};

/// The parts of tokenizer.json that a vocabulary is made from.
#[derive(Deserialize)]
struct TokenizerJson {
    model: ModelJson,
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
    #[serde(default)]
    normalizer: serde_json::Value,
    #[serde(default)]
    post_processor: serde_json::Value,
}

#[derive(Deserialize)]
struct AddedToken {
    id: usize,
    content: String,
    #[serde(default)]
    special: bool,
}

#[derive(Deserialize)]
struct ModelJson {
    #[serde(rename = "type")]
    kind: Option<String>,
    vocab: VocabJson,
    #[serde(default)]
    merges: Vec<MergeJson>,
    #[serde(default)]
    unk_token: Option<String>,
    #[serde(default)]
    unk_id: Option<usize>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum VocabJson {
    /// WordPiece and BPE: token → id.
    Ids(BTreeMap<String, usize>),
    /// Unigram: token and score, in the order of the ids.
    Scores(Vec<(String, f64)>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum MergeJson {
    Text(String),
    Pair(String, String),
}

struct Token {
    text: String,
    score: f32,
    kind: i32,
}

/// The keys of a tokenizer and its vocabulary. `published` is tokenizer.json, as text.
///
/// # Errors
/// It cannot be read, has no counterpart in GGUF, or lists a token that the configuration has no row for.
pub(super) fn keys(published: &str, config: &Config) -> Result<Vec<(String, Value)>> {
    let unreadable =
        |e: serde_json::Error| Error::Tokenizer(format!("tokenizer.json cannot be read ({e})"));
    let json: TokenizerJson = serde_json::from_str(published).map_err(unreadable)?;
    let mut tokens = token_list(&json, config.vocab_size)?;

    // llama.cpp's name of the tokenizer, and of the rule that splits text before it (read for BPE alone).
    let (model, pre) = match (&json.model.vocab, json.model.kind.as_deref()) {
        (VocabJson::Scores(_), Some("Unigram") | None) => ("t5", "default"),
        (VocabJson::Ids(_), Some("BPE")) => ("gpt2", "roberta-bpe"),
        (VocabJson::Ids(_), Some("WordPiece")) => ("bert", "jina-v2-en"),
        (VocabJson::Ids(_), None) if json.model.merges.is_empty() => ("bert", "jina-v2-en"),
        (VocabJson::Ids(_), None) => ("gpt2", "roberta-bpe"),
        (_, Some(kind)) => {
            return Err(Error::Tokenizer(format!(
                "a {kind} model has no counterpart in GGUF. WordPiece, byte-level BPE and Unigram do."
            )));
        }
    };
    let mut out = vec![
        ("tokenizer.ggml.model", Value::text(model)),
        ("tokenizer.ggml.pre", Value::text(pre)),
        (
            "tokenizer.ggml.token_type_count",
            Value::count(config.type_vocab_size),
        ),
    ];
    match model {
        "bert" => {
            for token in &mut tokens {
                token.text = to_llama_cpp(&token.text, token.kind);
            }
        }
        "gpt2" => {
            let merges = json.model.merges.iter().map(|merge| match merge {
                MergeJson::Text(text) => Value::text(text),
                MergeJson::Pair(a, b) => Value::String(format!("{a} {b}")),
            });
            out.push(("tokenizer.ggml.merges", Value::Array(merges.collect())));
        }
        _ => {
            let scores = tokens.iter().map(|t| Value::F32(t.score));
            out.push(("tokenizer.ggml.scores", Value::Array(scores.collect())));
            out.push(("tokenizer.ggml.add_space_prefix", Value::Bool(true)));
            out.push(("tokenizer.ggml.remove_extra_whitespaces", Value::Bool(true)));
            if let Some(map) = charsmap(&json.normalizer)? {
                let map = map.into_iter().map(Value::U8).collect();
                out.push(("tokenizer.ggml.precompiled_charsmap", Value::Array(map)));
            }
        }
    }

    let find = |texts: &[&str]| {
        let mut added = json.added_tokens.iter();
        added
            .find(|t| texts.contains(&t.content.as_str()))
            .map(|t| t.id)
    };
    let (first, last) = wrapping_tokens(&json.post_processor);
    let unknown = json
        .model
        .unk_id
        .or_else(|| find(&[json.model.unk_token.as_deref().unwrap_or("<unk>")]))
        .or_else(|| find(&["<unk>", "[UNK]"]));
    for (key, id) in [
        ("tokenizer.ggml.bos_token_id", first),
        ("tokenizer.ggml.eos_token_id", last),
        // The misspelling is the format's.
        ("tokenizer.ggml.seperator_token_id", last),
        ("tokenizer.ggml.unknown_token_id", unknown),
        ("tokenizer.ggml.padding_token_id", find(&["[PAD]", "<pad>"])),
        ("tokenizer.ggml.mask_token_id", find(&["[MASK]", "<mask>"])),
    ] {
        if let Some(id) = id.filter(|&id| id < config.vocab_size) {
            out.push((key, Value::count(id)));
        }
    }
    out.push(("tokenizer.ggml.add_bos_token", Value::Bool(first.is_some())));
    out.push(("tokenizer.ggml.add_eos_token", Value::Bool(last.is_some())));
    out.push(("tokenizer.ggml.add_sep_token", Value::Bool(last.is_some())));

    let mut rest = without_limits(published).map_err(unreadable)?;
    let listed = tokens.iter().map(|t| (t.text.as_str(), t.kind));
    let key = match &json.model.vocab {
        VocabJson::Ids(ids)
            if model == "bert" && from_llama_cpp(listed).is_ok_and(|found| same(&found, ids)) =>
        {
            rest = without_vocabulary(&rest).map_err(unreadable)?;
            TOKENIZER_REST
        }
        _ => TOKENIZER,
    };
    out.push((key, Value::String(rest)));

    let kinds = tokens.iter().map(|t| Value::I32(t.kind)).collect();
    let texts = tokens.into_iter().map(|t| Value::String(t.text)).collect();
    out.push((TOKENS, Value::Array(texts)));
    out.push((KINDS, Value::Array(kinds)));
    Ok(out.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
}

fn same(found: &Vocabulary, ids: &BTreeMap<String, usize>) -> bool {
    let id = |token: &String| found.get(token).map(|&id| id as usize);
    found.len() == ids.len() && ids.iter().all(|(token, &i)| id(token) == Some(i))
}

/// One entry for each row of the token table; rows that no token names are placeholders.
fn token_list(json: &TokenizerJson, rows: usize) -> Result<Vec<Token>> {
    let mut list: Vec<Option<Token>> = Vec::new();
    list.resize_with(rows, || None);
    let mut put = |id: usize, text: &str, score: f64, kind: i32| match list.get_mut(id) {
        Some(slot) => {
            // Added tokens come second and only change what kind an entry is of.
            let score = slot.as_ref().map_or(score as f32, |t| t.score);
            let text = text.to_owned();
            *slot = Some(Token { text, score, kind });
            Ok(())
        }
        None => Err(Error::Tokenizer(format!(
            "its token {text:?} has the id {id}, but the configuration's vocab_size is {rows}. They belong to different encoders."
        ))),
    };
    match &json.model.vocab {
        VocabJson::Ids(ids) => {
            for (text, &id) in ids {
                put(id, text, 0.0, NORMAL)?;
            }
        }
        VocabJson::Scores(scores) => {
            for (id, (text, score)) in scores.iter().enumerate() {
                put(id, text, *score, NORMAL)?;
            }
        }
    }
    for token in &json.added_tokens {
        let kind = match token.special {
            true if json.model.unk_id == Some(token.id) => UNKNOWN,
            true => CONTROL,
            false => USER_DEFINED,
        };
        put(token.id, &token.content, 0.0, kind)?;
    }
    // llama.cpp asks that no two entries have the same text.
    let taken: HashSet<String> = list.iter().flatten().map(|t| t.text.clone()).collect();
    let placeholder = |id: usize| {
        let mut text = format!("[PAD{id}]");
        while taken.contains(&text) {
            text.push('_');
        }
        Token {
            text,
            score: -10000.0,
            kind: UNUSED,
        }
    };
    Ok(list
        .into_iter()
        .enumerate()
        .map(|(id, token)| token.unwrap_or_else(|| placeholder(id)))
        .collect())
}

/// SentencePiece's normalisation table, where the tokenizer has one.
fn charsmap(normalizer: &serde_json::Value) -> Result<Option<Vec<u8>>> {
    let parts = normalizer.get("normalizers").and_then(|v| v.as_array());
    let parts = parts.map_or(std::slice::from_ref(normalizer), Vec::as_slice);
    let Some(text) = parts
        .iter()
        .find_map(|part| part.get("precompiled_charsmap")?.as_str())
    else {
        return Ok(None);
    };
    base64::engine::general_purpose::STANDARD
        .decode(text)
        .map(Some)
        .map_err(|e| Error::Tokenizer(format!("its precompiled_charsmap is not base64 ({e})")))
}

/// The ids that the tokenizer puts before and after a single text: `[CLS]` and `[SEP]`, `<s>` and `</s>`.
fn wrapping_tokens(post_processor: &serde_json::Value) -> (Option<usize>, Option<usize>) {
    let parts = post_processor.get("processors").and_then(|v| v.as_array());
    let parts = parts.map_or(std::slice::from_ref(post_processor), Vec::as_slice);
    let number = |v: &serde_json::Value| v.as_u64().and_then(|id| usize::try_from(id).ok());
    for part in parts {
        // RobertaProcessing and BertProcessing: "cls": ["<s>", 0], "sep": ["</s>", 2].
        if let (Some(cls), Some(sep)) = (part.get("cls"), part.get("sep")) {
            return (cls.get(1).and_then(number), sep.get(1).and_then(number));
        }
        // TemplateProcessing: "single": [{"SpecialToken": {"id": "[CLS]"}}, {"Sequence": …}, …].
        if let Some(single) = part.get("single").and_then(|v| v.as_array()) {
            let id = |piece: Option<&serde_json::Value>| {
                let token = piece?.get("SpecialToken")?.get("id")?.as_str()?;
                number(part.get("special_tokens")?.get(token)?.get("ids")?.get(0)?)
            };
            return (id(single.first()), id(single.last()));
        }
    }
    (None, None)
}

/// The members of a JSON object, to the letter.
type Members<'a> = BTreeMap<String, &'a RawValue>;

/// tokenizer.json without truncation and padding, otherwise to the letter (scores keep every digit).
fn without_limits(json: &str) -> serde_json::Result<String> {
    let none = RawValue::from_string("null".to_owned())?;
    let mut parts: Members<'_> = serde_json::from_str(json)?;
    for limit in ["truncation", "padding"] {
        parts.insert(limit.to_owned(), &none);
    }
    serde_json::to_string(&parts)
}

/// tokenizer.json without the vocabulary of its model, otherwise to the letter.
fn without_vocabulary(json: &str) -> serde_json::Result<String> {
    let mut parts: Members<'_> = serde_json::from_str(json)?;
    let mut model: Members<'_> = match parts.get("model") {
        Some(model) => serde_json::from_str(model.get())?,
        None => return Ok(json.to_owned()),
    };
    model.remove("vocab");
    let model = RawValue::from_string(serde_json::to_string(&model)?)?;
    parts.insert("model".to_owned(), &model);
    serde_json::to_string(&parts)
}

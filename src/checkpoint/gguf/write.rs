//! Writes a BERT-family encoder as one GGUF file: weights, vocabulary, tokenizer and configuration.
//!
//! Keys, tensor names and types are those of llama.cpp's own converter (`convert_hf_to_gguf.py`), so that
//! its tools read the file; the keys of [`checkpoint::keys`](super::checkpoint::keys) come on top and hold
//! what llama.cpp's vocabulary cannot express: the Hugging Face tokenizer itself, config.json, and which
//! published encoder the numbers are from.
//!
//! Matrices and the token table take the chosen dtype; the position table is f16 unless the dtype is f32;
//! LayerNorms, biases and token types stay f32 (llama.cpp adds a token type to f32 numbers as it is, while
//! it looks positions up in any format). A matrix whose width is no multiple of [`BLOCK`] stays f16.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashSet},
    io::{Seek, Write},
};

use base64::Engine;
use candle_core::{
    Device, Tensor,
    quantized::{
        GgmlDType, QStorage, QTensor,
        gguf_file::{self, Value},
    },
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    q4_0,
    vocabulary::{
        KINDS, TOKENS, from_llama_cpp,
        kind::{CONTROL, NORMAL, UNKNOWN, UNUSED, USER_DEFINED},
        to_llama_cpp,
    },
};
use crate::checkpoint::{
    EncoderId,
    config::Config,
    keys,
    weights::{BLOCK, Dtype, Weights},
};
use crate::{
    error::{Error, Result},
    text::tokenizer::Vocabulary,
};

/// How llama.cpp pools hidden states when asked for an embedding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pooling {
    #[default]
    Mean,
    Cls,
}

/// What a GGUF file is made from.
pub struct Source<'a> {
    /// The published weights, RoBERTa's unused positions dropped or not.
    pub weights: &'a Weights,
    /// config.json, as published.
    pub config_json: &'a str,
    /// tokenizer.json, as published.
    pub tokenizer_json: &'a str,
    pub encoder: &'a EncoderId,
    pub pooling: Pooling,
    /// Matrices that are rounded already, in the blocks of the dtype that is written, by GGUF name.
    pub rounded: &'a BTreeMap<String, Vec<u8>>,
}

/// Writes `source` as GGUF with its matrices in `dtype`.
///
/// # Errors
/// The configuration, the tokenizer or a tensor does not fit, a number is not finite, `dtype` is bf16
/// (which llama.cpp's BERT does not load on every device), or writing fails.
pub fn write_gguf(out: &mut (impl Write + Seek), source: &Source<'_>, dtype: Dtype) -> Result<()> {
    let what = source.encoder.id.as_str();
    let config = Config::from_json(what, source.config_json)?;
    let file_type = match dtype {
        Dtype::F32 => 0u32,
        Dtype::F16 => 1,
        Dtype::Q4_0 => 2,
        Dtype::Q8_0 => 7,
        Dtype::Bf16 => {
            return Err(Error::InvalidArgument(
                "bf16 is not written. Choose q8_0, q4_0, f16 or f32.".into(),
            ));
        }
    };

    let mut metadata = model_keys(source, &config, file_type);
    metadata.extend(vocabulary_keys(source, &config)?);
    let metadata: Vec<_> = metadata.iter().map(|(k, v)| (k.as_str(), v)).collect();

    let mut tensors = Vec::new();
    for (name, shape) in tensor_shapes(&config) {
        let tensor = match source.rounded.get(&name) {
            Some(blocks) => in_blocks(blocks.into(), dtype.ggml(), &shape)?,
            None => quantize(source.weights, &config, &name, &shape, dtype.ggml())?,
        };
        tensors.push((name, tensor));
    }
    let tensors: Vec<_> = tensors.iter().map(|(n, t)| (n.as_str(), t)).collect();
    gguf_file::write(out, &metadata, &tensors)?;
    Ok(())
}

/// Every tensor of an encoder with its shape, in the order of the forward pass.
pub fn tensor_shapes(config: &Config) -> Vec<(String, Vec<usize>)> {
    let (hidden, inner) = (config.hidden_size, config.intermediate_size);
    let mut out = vec![
        (
            "token_embd.weight".to_owned(),
            vec![config.vocab_size, hidden],
        ),
        (
            "position_embd.weight".to_owned(),
            vec![config.max_positions, hidden],
        ),
        (
            "token_types.weight".to_owned(),
            vec![config.type_vocab_size, hidden],
        ),
        ("token_embd_norm.weight".to_owned(), vec![hidden]),
        ("token_embd_norm.bias".to_owned(), vec![hidden]),
    ];
    for layer in 0..config.num_hidden_layers {
        let mut linear = |name: &str, rows: usize, columns: usize| {
            out.push((format!("blk.{layer}.{name}.weight"), vec![rows, columns]));
            out.push((format!("blk.{layer}.{name}.bias"), vec![rows]));
        };
        linear("attn_q", hidden, hidden);
        linear("attn_k", hidden, hidden);
        linear("attn_v", hidden, hidden);
        linear("attn_output", hidden, hidden);
        linear("ffn_up", inner, hidden);
        linear("ffn_down", hidden, inner);
        for name in ["attn_output_norm", "layer_output_norm"] {
            for kind in ["weight", "bias"] {
                out.push((format!("blk.{layer}.{name}.{kind}"), vec![hidden]));
            }
        }
    }
    out
}

/// A tensor as [`write_gguf`] writes it to a file of this `format`.
pub(crate) fn quantize(
    weights: &Weights,
    config: &Config,
    name: &str,
    shape: &[usize],
    format: GgmlDType,
) -> Result<QTensor> {
    let bad = |reason: String| Error::Tensor {
        name: name.into(),
        reason,
    };
    let tensor = weights.get_any(name)?;
    let mut numbers = tensor.to_f32();
    let mut found = tensor.shape;
    // A safetensors file still carries RoBERTa's unused positions, unless its opener dropped them.
    if let (true, [rows, columns]) = (name == "position_embd.weight", &mut found[..])
        && *rows == config.max_positions + config.position_offset
    {
        numbers.drain(..(config.position_offset * *columns).min(numbers.len()));
        *rows = config.max_positions;
    }
    if found != shape {
        return Err(bad(format!(
            "has shape {found:?} where the configuration says {shape:?}"
        )));
    }
    let format = match format {
        _ if shape.len() == 1 || name.starts_with("token_types") => GgmlDType::F32,
        GgmlDType::F32 | GgmlDType::F16 => format,
        _ if name.starts_with("position_") => GgmlDType::F16,
        _ if shape
            .last()
            .is_some_and(|width| width.is_multiple_of(BLOCK)) =>
        {
            format
        }
        _ => GgmlDType::F16,
    };
    // f16 holds the numbers themselves or their scales: what it cannot hold would become infinite.
    let limit = match format {
        GgmlDType::F32 => f32::MAX,
        _ => half::f16::MAX.to_f32(),
    };
    if let Some(x) = numbers.iter().find(|x| x.is_nan() || x.abs() > limit) {
        return Err(bad(format!("holds {x}, which {format:?} cannot")));
    }
    if format == GgmlDType::Q4_0 {
        return in_blocks(q4_0::quantize(&numbers).into(), format, shape);
    }
    let tensor = Tensor::from_vec(numbers, shape, &Device::Cpu)?;
    Ok(QTensor::quantize(&tensor, format)?)
}

fn in_blocks(blocks: Cow<'_, [u8]>, format: GgmlDType, shape: &[usize]) -> Result<QTensor> {
    let storage = QStorage::from_data(blocks, &Device::Cpu, format)?;
    Ok(QTensor::new(storage, shape)?)
}

fn string(value: &str) -> Value {
    Value::String(value.to_owned())
}

fn count(value: usize) -> Value {
    Value::U32(u32::try_from(value).unwrap_or(u32::MAX))
}

/// The model's own keys. llama.cpp is strict about their types: counts are u32, epsilon f32.
fn model_keys(source: &Source<'_>, config: &Config, file_type: u32) -> Vec<(String, Value)> {
    let encoder = source.encoder;
    let name = encoder.id.rsplit('/').next().unwrap_or(&encoder.id);
    let pooling = match source.pooling {
        Pooling::Mean => 1,
        Pooling::Cls => 2,
    };
    [
        ("general.architecture", string("bert")),
        ("general.type", string("model")),
        ("general.name", string(name)),
        ("general.file_type", Value::U32(file_type)),
        ("general.quantization_version", Value::U32(2)),
        ("bert.block_count", count(config.num_hidden_layers)),
        ("bert.context_length", count(config.max_positions)),
        ("bert.embedding_length", count(config.hidden_size)),
        ("bert.feed_forward_length", count(config.intermediate_size)),
        (
            "bert.attention.head_count",
            count(config.num_attention_heads),
        ),
        (
            "bert.attention.layer_norm_epsilon",
            Value::F32(config.layer_norm_eps),
        ),
        ("bert.attention.causal", Value::Bool(false)),
        ("bert.pooling_type", Value::U32(pooling)),
        (keys::CONFIG, string(source.config_json)),
        (keys::ENCODER_ID, string(&encoder.id)),
        (keys::ENCODER_SHA256, string(&encoder.sha256)),
    ]
    .map(|(k, v)| (k.to_owned(), v))
    .into()
}

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

fn vocabulary_keys(source: &Source<'_>, config: &Config) -> Result<Vec<(String, Value)>> {
    let unreadable =
        |e: serde_json::Error| Error::Tokenizer(format!("tokenizer.json cannot be read ({e})"));
    let json: TokenizerJson = serde_json::from_str(source.tokenizer_json).map_err(unreadable)?;
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
        ("tokenizer.ggml.model", string(model)),
        ("tokenizer.ggml.pre", string(pre)),
        (
            "tokenizer.ggml.token_type_count",
            count(config.type_vocab_size),
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
                MergeJson::Text(text) => string(text),
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
            out.push((key, count(id)));
        }
    }
    out.push(("tokenizer.ggml.add_bos_token", Value::Bool(first.is_some())));
    out.push(("tokenizer.ggml.add_eos_token", Value::Bool(last.is_some())));
    out.push(("tokenizer.ggml.add_sep_token", Value::Bool(last.is_some())));

    let mut rest = without_limits(source.tokenizer_json).map_err(unreadable)?;
    let listed = tokens.iter().map(|t| (t.text.as_str(), t.kind));
    let key = match &json.model.vocab {
        VocabJson::Ids(ids)
            if model == "bert" && from_llama_cpp(listed).is_ok_and(|found| same(&found, ids)) =>
        {
            rest = without_vocabulary(&rest).map_err(unreadable)?;
            keys::TOKENIZER_REST
        }
        _ => keys::TOKENIZER,
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

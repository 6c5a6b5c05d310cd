//! Decoders in GGUF files, as llama.cpp's converter writes them: architectures llama (which is Mistral's too)
//! and qwen2.
//!
//! Queries and keys of llama are reordered there so that neighbours are rotated together; llama3's scaling
//! is a tensor of divisors. The tokenizer is the one that the file names (`tokenizer.huggingface.json`), else
//! tokenizer.json beside the file, else made of the file's byte-level vocabulary.

use std::{collections::HashMap, path::Path, rc::Rc};

use candle_core::quantized::{
    gguf_file::{Content, Value},
    tokenizer::TokenizerFromGguf,
};

use super::{
    checkpoint::DecoderCheckpoint,
    config::{Biases, Config, Family},
    rope::{Rope, Scaling},
    weights::Weights,
};
use crate::{
    checkpoint::{EncoderId, keys, map},
    error::{Error, Result},
    text::Tokenizer,
};

fn family(architecture: &str) -> Option<Family> {
    match architecture {
        "llama" => Some(Family::Llama),
        "mistral" => Some(Family::Mistral),
        "qwen2" => Some(Family::Qwen2),
        _ => None,
    }
}

/// Whether it is a GGUF file of an architecture that is run here; its header alone is read.
pub fn is_decoder(path: &Path) -> bool {
    let read = || {
        let bytes = map(path).ok().filter(|b| b.starts_with(b"GGUF"))?;
        let (_, content) = Weights::gguf("", bytes).ok()?;
        let architecture = content.metadata.get("general.architecture")?;
        family(architecture.to_string().ok()?)
    };
    path.is_file() && read().is_some()
}

pub fn open(path: &Path) -> Result<DecoderCheckpoint> {
    let what = path.display().to_string();
    let (weights, content) = Weights::gguf(&what, map(path)?)?;
    let config = config(&what, &weights, &content.metadata)?;
    let tokenizer = tokenizer(&what, path, &content)?;
    let text = |key: &str| Some(content.metadata.get(key)?.to_string().ok()?.clone());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Ok(DecoderCheckpoint {
        encoder: EncoderId {
            id: text(keys::ENCODER_ID).unwrap_or_else(|| name.into_owned()),
            sha256: text(keys::ENCODER_SHA256).unwrap_or_else(|| weights.fingerprint()),
        },
        config,
        tokenizer: Rc::new(tokenizer),
        stored: weights.stored(),
        weights,
    })
}

fn config(what: &str, weights: &Weights, metadata: &HashMap<String, Value>) -> Result<Config> {
    let text = |key: &str| Some(metadata.get(key)?.to_string().ok()?.as_str());
    let architecture = text("general.architecture").unwrap_or("unknown");
    let Some(family) = family(architecture) else {
        return Err(Error::UnsupportedArchitecture {
            what: what.into(),
            found: architecture.into(),
        });
    };
    let bad = |reason: String| Error::ModelFormat {
        what: what.into(),
        reason,
    };
    let value = |key: &str| metadata.get(&format!("{architecture}.{key}"));
    let count = |key: &str| Some(value(key)?.to_u32().ok()? as usize);
    let float = |key: &str| Some(f64::from(value(key)?.to_f32().ok()?));
    let needed =
        |key: &str| count(key).ok_or_else(|| bad(format!("it has no `{architecture}.{key}`")));
    let heads = needed("attention.head_count")?;
    let hidden = needed("embedding_length")?;
    let head_dim = count("attention.key_length").unwrap_or(hidden / heads.max(1));
    let trained = count("rope.scaling.original_context_length");
    let positions = needed("context_length")?;
    let factor = float("rope.scaling.factor");
    let divisors = weights.vector("rope_freqs.weight")?;
    let scaling = match (text(&format!("{architecture}.rope.scaling.type")), factor) {
        (None | Some("none"), _) | (_, None) => match divisors {
            Some(by) if by.len() == head_dim / 2 => {
                Scaling::Divided(by.into_iter().map(f64::from).collect())
            }
            Some(by) => {
                return Err(Error::Tensor {
                    name: "rope_freqs.weight".into(),
                    reason: format!("has {} numbers for heads of {head_dim}", by.len()),
                });
            }
            None => Scaling::None,
        },
        (Some("linear"), Some(factor)) => Scaling::Linear { factor },
        (Some("yarn"), Some(factor)) => Scaling::Yarn {
            factor,
            attention: 0.1 * factor.max(1.0).ln() + 1.0,
            fast: 32.0,
            slow: 1.0,
            truncate: true,
            trained: trained.unwrap_or(positions),
        },
        (Some(other), _) => {
            return Err(Error::UnsupportedArchitecture {
                what: what.into(),
                found: format!("{architecture} with rope scaling {other}"),
            });
        }
    };
    let rope = Rope {
        theta: float("rope.freq_base").unwrap_or(10_000.0),
        scaling,
    };
    let rows = metadata
        .get("tokenizer.ggml.tokens")
        .and_then(|v| v.to_vec().ok())
        .map(Vec::len);
    let id = |key: &str| metadata.get(key)?.to_u32().ok();
    let config = Config {
        family,
        vocab_size: match count("vocab_size").or(rows) {
            Some(rows) => rows,
            None => return Err(bad(format!("it has no `{architecture}.vocab_size`"))),
        },
        hidden_size: hidden,
        num_hidden_layers: needed("block_count")?,
        num_attention_heads: heads,
        num_key_value_heads: count("attention.head_count_kv").unwrap_or(heads),
        head_dim,
        intermediate_size: needed("feed_forward_length")?,
        max_positions: positions,
        rms_norm_eps: float("attention.layer_norm_rms_epsilon")
            .ok_or_else(|| bad("it has no epsilon of its norms".into()))?,
        rope,
        biases: Biases {
            query_key_value: family == Family::Qwen2,
            ..Biases::default()
        },
        sliding_window: count("attention.sliding_window").map(|w| (w, 0)),
        causal: value("attention.causal").is_none_or(|v| v.to_bool().unwrap_or(true)),
        rotates_neighbours: family != Family::Qwen2,
        latent: None,
        eos: id("tokenizer.ggml.eos_token_id"),
    };
    config.check().map_err(bad)?;
    match config.rope.is_sound() {
        true => Ok(config),
        false => Err(bad("its rope scaling is out of range".into())),
    }
}

fn tokenizer(what: &str, path: &Path, content: &Content) -> Result<Tokenizer> {
    let inside = content.metadata.get(keys::TOKENIZER);
    if let Some(json) = inside.and_then(|v| v.to_string().ok()) {
        return Tokenizer::from_json(json.as_bytes());
    }
    let beside = path.with_file_name("tokenizer.json");
    if beside.is_file() {
        return Tokenizer::from_json(&std::fs::read(&beside).map_err(Error::io(&beside))?);
    }
    let made = tokenizers::Tokenizer::from_gguf(content).map_err(|e| {
        Error::Tokenizer(format!(
            "{what} holds none that is read here ({e}). Put the published model's tokenizer.json beside it."
        ))
    })?;
    let json = made
        .to_string(false)
        .map_err(|e| Error::Tokenizer(e.to_string()))?;
    Tokenizer::from_json(json.as_bytes())
}

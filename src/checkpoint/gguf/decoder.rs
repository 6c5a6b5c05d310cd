//! A decoder's shape in GGUF files, as llama.cpp's converter writes it: architectures llama (which is Mistral's too)
//! and qwen2.
//!
//! Queries and keys of llama are reordered there so that neighbours are rotated together; llama3's scaling
//! is a tensor of divisors.

use super::value::Value;
use crate::{
    checkpoint::{
        config::{
            decoder::{Biases, DecoderConfig, Family},
            rope::{Rope, Scaling},
        },
        names,
        weights::Weights,
    },
    error::{Error, Result},
};

/// Keys of the tokens that end what a language model writes: a text, a turn, a message.
const ENDS: [&str; 3] = [
    "tokenizer.ggml.eos_token_id",
    "tokenizer.ggml.eot_token_id",
    "tokenizer.ggml.eom_token_id",
];

/// The family of decoders that a file's architecture names.
pub fn family(architecture: &str) -> Option<Family> {
    match architecture {
        "llama" => Some(Family::Llama),
        "mistral" => Some(Family::Mistral),
        "qwen2" => Some(Family::Qwen2),
        _ => None,
    }
}

/// A decoder's shape, from a file's key-value pairs.
///
/// # Errors
/// It is another architecture's, lacks a number, or has one out of range. `what` names the file in them.
pub fn config(what: &str, weights: &Weights) -> Result<DecoderConfig> {
    let metadata = &weights.metadata;
    let text = |key: &str| metadata.get(key)?.as_str();
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
    let count = |key: &str| Some(value(key)?.as_u32()? as usize);
    let float = |key: &str| Some(f64::from(value(key)?.as_f32()?));
    let needed =
        |key: &str| count(key).ok_or_else(|| bad(format!("it has no `{architecture}.{key}`")));
    let heads = needed("attention.head_count")?;
    let hidden = needed("embedding_length")?;
    let head_dim = count("attention.key_length").unwrap_or(hidden / heads.max(1));
    let trained = count("rope.scaling.original_context_length");
    let positions = needed("context_length")?;
    let factor = float("rope.scaling.factor");
    let divisors = divisors(weights)?;
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
        .and_then(Value::as_array)
        .map(<[Value]>::len);
    let id = |key: &str| metadata.get(key)?.as_u32();
    let config = DecoderConfig {
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
        causal: value("attention.causal").is_none_or(|v| v.as_bool().unwrap_or(true)),
        rotates_neighbours: family != Family::Qwen2,
        latent: None,
        eos: id("tokenizer.ggml.eos_token_id"),
        ends: ENDS.iter().filter_map(|key| id(key)).collect(),
        tied: !weights.contains(names::OUTPUT),
    };
    config.check().map_err(bad)?;
    match config.rope.is_sound() {
        true => Ok(config),
        false => Err(bad("its rope scaling is out of range".into())),
    }
}

/// What each frequency of the rotations is divided by, where the file says so.
fn divisors(weights: &Weights) -> Result<Option<Vec<f32>>> {
    let name = "rope_freqs.weight";
    match weights.contains(name) {
        true => Ok(Some(weights.get_any(name)?.to_f32())),
        false => Ok(None),
    }
}

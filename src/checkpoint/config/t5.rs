//! The shape of a T5, from Hugging Face's config.json.

use serde::Deserialize;
use serde_json::Value;

use super::range;
use crate::error::{Error, Result};

/// What the forward pass needs to know of a T5: an encoder, and a decoder that attends to what the encoder read.
#[derive(Debug, Clone, PartialEq)]
pub struct T5Config {
    pub vocab_size: usize,
    pub hidden_size: usize,
    pub intermediate_size: usize,
    pub num_heads: usize,
    pub head_dim: usize,
    pub encoder_layers: usize,
    pub decoder_layers: usize,
    /// Rows of the table of biases by distance, and the distance from which on all share one.
    pub buckets: usize,
    pub furthest: usize,
    pub rms_norm_eps: f64,
    pub feed_forward: FeedForward,
    /// The token that an answer begins behind.
    pub start: u32,
    /// The token that ends a prompt and an answer.
    pub end: u32,
}

/// A layer's feed-forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedForward {
    /// W ReLU(U x), as first published.
    Relu,
    /// W (GELU(G x) ∗ U x), of T5 1.1, Flan-T5 and Tk-Instruct.
    GatedGelu,
    /// W (SiLU(G x) ∗ U x), of UL2.
    GatedSilu,
}

/// config.json as published; unknown fields are ignored.
#[derive(Deserialize)]
struct Raw {
    vocab_size: usize,
    d_model: usize,
    d_kv: usize,
    d_ff: usize,
    num_heads: usize,
    num_layers: usize,
    num_decoder_layers: Option<usize>,
    #[serde(default = "buckets")]
    relative_attention_num_buckets: usize,
    #[serde(default = "furthest")]
    relative_attention_max_distance: usize,
    #[serde(default = "epsilon")]
    layer_norm_epsilon: f64,
    #[serde(default = "relu")]
    feed_forward_proj: String,
    #[serde(default)]
    pad_token_id: u32,
    decoder_start_token_id: Option<u32>,
    #[serde(default = "end")]
    eos_token_id: u32,
}

fn buckets() -> usize {
    32
}

fn furthest() -> usize {
    128
}

fn epsilon() -> f64 {
    1e-6
}

fn relu() -> String {
    "relu".into()
}

fn end() -> u32 {
    1
}

/// Far above every published T5; a broken file must not ask for absurd allocations.
const MAX_LAYERS: usize = 1024;
const MAX_WIDTH: usize = 1 << 20;
const MAX_ROWS: usize = 1 << 24;

impl T5Config {
    /// Whether this config.json is a T5's.
    pub fn is_t5(json: &str) -> bool {
        serde_json::from_str::<Value>(json)
            .is_ok_and(|config| config.get("model_type").is_some_and(|kind| kind == "t5"))
    }

    /// Parses config.json. `what` names the file in errors.
    ///
    /// # Errors
    /// It is none, or asks for what the forward pass does not compute.
    pub fn from_json(what: &str, json: &str) -> Result<Self> {
        let bad = |reason: String| Error::ModelFormat {
            what: what.into(),
            reason,
        };
        let raw: Raw =
            serde_json::from_str(json).map_err(|e| bad(format!("its configuration: {e}")))?;
        let feed_forward = match raw.feed_forward_proj.as_str() {
            "relu" => FeedForward::Relu,
            "gated-gelu" => FeedForward::GatedGelu,
            "gated-silu" => FeedForward::GatedSilu,
            other => {
                return Err(Error::UnsupportedArchitecture {
                    what: what.into(),
                    found: format!("T5 with the feed-forward {other}"),
                });
            }
        };
        let config = Self {
            vocab_size: raw.vocab_size,
            hidden_size: raw.d_model,
            intermediate_size: raw.d_ff,
            num_heads: raw.num_heads,
            head_dim: raw.d_kv,
            encoder_layers: raw.num_layers,
            decoder_layers: raw.num_decoder_layers.unwrap_or(raw.num_layers),
            buckets: raw.relative_attention_num_buckets,
            furthest: raw.relative_attention_max_distance,
            rms_norm_eps: raw.layer_norm_epsilon,
            feed_forward,
            start: raw.decoder_start_token_id.unwrap_or(raw.pad_token_id),
            end: raw.eos_token_id,
        };
        config.check().map_err(bad)?;
        Ok(config)
    }

    fn check(&self) -> std::result::Result<(), String> {
        range("vocab_size", self.vocab_size, MAX_ROWS)?;
        range("d_model", self.hidden_size, MAX_WIDTH)?;
        range("d_ff", self.intermediate_size, MAX_WIDTH)?;
        range("num_heads", self.num_heads, MAX_WIDTH)?;
        range("d_kv", self.head_dim, MAX_WIDTH)?;
        range("num_layers", self.encoder_layers, MAX_LAYERS)?;
        range("num_decoder_layers", self.decoder_layers, MAX_LAYERS)?;
        range("relative_attention_num_buckets", self.buckets, MAX_WIDTH)?;
        range("relative_attention_max_distance", self.furthest, MAX_WIDTH)?;
        if self.buckets < 4 || self.furthest <= self.buckets / 2 {
            return Err(format!(
                "its {} buckets do not hold the distances up to {}",
                self.buckets, self.furthest
            ));
        }
        if !(self.rms_norm_eps >= 0.0 && self.rms_norm_eps < 1.0) {
            return Err(format!("its layer_norm_epsilon is {}", self.rms_norm_eps));
        }
        for (name, id) in [
            ("decoder_start_token_id", self.start),
            ("eos_token_id", self.end),
        ] {
            if id as usize >= self.vocab_size {
                return Err(format!("its {name} is {id}, of {} tokens", self.vocab_size));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As google/flan-t5-small has it.
    const FLAN: &str = r#"{"model_type": "t5", "d_ff": 1024, "d_kv": 64, "d_model": 512, "decoder_start_token_id": 0,
        "eos_token_id": 1, "feed_forward_proj": "gated-gelu", "layer_norm_epsilon": 1e-06, "num_decoder_layers": 8,
        "num_heads": 6, "num_layers": 8, "pad_token_id": 0, "relative_attention_max_distance": 128,
        "relative_attention_num_buckets": 32, "tie_word_embeddings": false, "vocab_size": 32128}"#;

    #[test]
    fn reads_what_is_published() {
        assert!(T5Config::is_t5(FLAN));
        let flan = T5Config::from_json("m", FLAN).unwrap();
        assert_eq!((flan.head_dim, flan.num_heads), (64, 6));
        assert_eq!(flan.feed_forward, FeedForward::GatedGelu);
        let first = r#"{"model_type": "t5", "d_ff": 2048, "d_kv": 64, "d_model": 512, "num_heads": 8, "num_layers": 6,
            "vocab_size": 32128, "relative_attention_num_buckets": 32, "pad_token_id": 0}"#;
        let first = T5Config::from_json("m", first).unwrap();
        assert_eq!(first.feed_forward, FeedForward::Relu);
        assert_eq!((first.decoder_layers, first.furthest), (6, 128));
        assert_eq!((first.start, first.end), (0, 1));
    }

    #[test]
    fn refuses_what_the_forward_pass_does_not_compute() {
        let code = |from: &str, to: &str| {
            let json = FLAN.replace(from, to);
            T5Config::from_json("m", &json).unwrap_err().code()
        };
        assert_eq!(code("gated-gelu", "gelu"), "unsupported-architecture");
        for (from, to) in [
            ("\"num_heads\": 6", "\"num_heads\": 0"),
            ("buckets\": 32", "buckets\": 2"),
            ("distance\": 128", "distance\": 16"),
            ("token_id\": 1", "token_id\": 32128"),
            ("1e-06", "2"),
            ("{", ""),
        ] {
            assert_eq!(code(from, to), "model-format", "{to}");
        }
    }
}

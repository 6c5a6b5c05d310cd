//! A decoder's shape, from Hugging Face's config.json.

use serde::Deserialize;
use serde_json::Value;

use super::{range, rope::Rope};
use crate::error::{Error, Result};

/// The decoder families that share one forward pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    Mistral,
    Qwen2,
    Llama,
}

impl Family {
    /// Its name in configurations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mistral => "mistral",
            Self::Qwen2 => "qwen2",
            Self::Llama => "llama",
        }
    }
}

/// Values of config.json's `model_type` that are decoders run here.
pub const MODEL_TYPES: [&str; 5] = ["mistral", "qwen2", "llama", "nvembed", "bidir_mistral"];

/// Which linear layers have a bias.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Biases {
    pub query_key_value: bool,
    pub output: bool,
    pub feed_forward: bool,
}

/// What the forward pass needs to know of a decoder.
#[derive(Debug, Clone, PartialEq)]
pub struct DecoderConfig {
    pub family: Family,
    pub vocab_size: usize,
    pub hidden_size: usize,
    pub num_hidden_layers: usize,
    pub num_attention_heads: usize,
    /// Fewer than the heads of queries: each serves a group of them.
    pub num_key_value_heads: usize,
    pub head_dim: usize,
    pub intermediate_size: usize,
    /// Tokens that an input may have.
    pub max_positions: usize,
    pub rms_norm_eps: f64,
    pub rope: Rope,
    pub biases: Biases,
    /// Tokens that a token sees, itself included, and the first layer that limits it so.
    pub sliding_window: Option<(usize, usize)>,
    /// Whether a token sees those before it alone. Without causality there is no window either, as in the
    /// published code of NV-Embed and gte-Qwen2.
    pub causal: bool,
    /// Whether a head's numbers are rotated with their neighbour, as llama's GGUF files order them, and not with
    /// the one half a head away.
    pub rotates_neighbours: bool,
    /// NV-Embed's latent attention after the last norm.
    pub latent: Option<Latent>,
    /// The token that ends a text.
    pub eos: Option<u32>,
    /// Tokens that end what it writes as a language model.
    pub ends: Vec<u32>,
    /// Whether its output layer is the table of tokens; a file without an output layer holds an encoder alone otherwise.
    pub tied: bool,
}

/// `latent_attention_config` of NV-Embed's config.json.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Latent {
    /// Entries of the dictionary.
    #[serde(rename = "num_latents_value")]
    pub latents: usize,
    #[serde(rename = "num_cross_heads")]
    pub heads: usize,
    #[serde(rename = "cross_dim_head")]
    pub head_dim: usize,
    /// Width of a latent; the states' own here, as the residual has it.
    pub latent_dim: usize,
    /// Whether an embedding is divided by its length before anything is done with it.
    #[serde(default)]
    pub output_normalize: bool,
}

/// Latent attention's feed-forward is this many times as wide as the states.
pub const WIDER: usize = 4;

/// config.json as published; unknown fields are ignored.
#[derive(Deserialize)]
struct Raw {
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    num_key_value_heads: Option<usize>,
    head_dim: Option<usize>,
    intermediate_size: usize,
    #[serde(default = "positions")]
    max_position_embeddings: usize,
    #[serde(default = "epsilon")]
    rms_norm_eps: f64,
    #[serde(default)]
    hidden_act: Option<String>,
    #[serde(default)]
    attention_bias: bool,
    #[serde(default)]
    mlp_bias: bool,
    #[serde(default)]
    sliding_window: Option<usize>,
    #[serde(default)]
    use_sliding_window: bool,
    #[serde(default)]
    max_window_layers: Option<usize>,
    #[serde(default)]
    is_causal: Option<bool>,
    #[serde(default)]
    eos_token_id: Value,
    #[serde(default)]
    tie_word_embeddings: bool,
}

fn positions() -> usize {
    4096
}

fn epsilon() -> f64 {
    1e-6
}

/// Far above every published decoder; a broken file must not ask for absurd allocations.
const MAX_LAYERS: usize = 1024;
const MAX_WIDTH: usize = 1 << 20;
const MAX_ROWS: usize = 1 << 24;

impl DecoderConfig {
    /// Whether this config.json is a decoder's.
    pub fn is_decoder(json: &str) -> bool {
        serde_json::from_str::<Value>(json)
            .ok()
            .as_ref()
            .and_then(|v| v.get("model_type")?.as_str())
            .is_some_and(|kind| MODEL_TYPES.contains(&kind))
    }

    /// Parses config.json. `what` names the file in errors.
    pub fn from_json(what: &str, json: &str) -> Result<Self> {
        let bad = |reason: String| Error::ModelFormat {
            what: what.into(),
            reason,
        };
        let value: Value = serde_json::from_str(json)
            .map_err(|e| bad(format!("its configuration is not JSON ({e})")))?;
        let kind = value.get("model_type").and_then(Value::as_str);
        let kind = kind.unwrap_or("unknown").to_owned();
        let unsupported = |found: String| Error::UnsupportedArchitecture {
            what: what.into(),
            found,
        };
        let (family, causal) = match kind.as_str() {
            "mistral" => (Family::Mistral, true),
            "bidir_mistral" => (Family::Mistral, false),
            "qwen2" => (Family::Qwen2, true),
            "llama" => (Family::Llama, true),
            "nvembed" => return Self::nv_embed(what, &value),
            _ => return Err(unsupported(kind)),
        };
        let raw: Raw = serde_json::from_value(value.clone())
            .map_err(|e| bad(format!("its configuration: {e}")))?;
        if let Some(act) = raw.hidden_act.filter(|a| a != "silu") {
            return Err(unsupported(format!("{kind} with the activation {act}")));
        }
        let rope = Rope::from_config(&value, raw.max_position_embeddings)
            .map_err(|reason| unsupported(format!("{kind} {reason}")))?;
        let window = match family {
            Family::Mistral => raw.sliding_window.map(|w| (w, 0)),
            Family::Qwen2 if raw.use_sliding_window => raw
                .sliding_window
                .map(|w| (w, raw.max_window_layers.unwrap_or(raw.num_hidden_layers))),
            Family::Qwen2 | Family::Llama => None,
        };
        let heads = raw.num_attention_heads;
        let config = Self {
            family,
            vocab_size: raw.vocab_size,
            hidden_size: raw.hidden_size,
            num_hidden_layers: raw.num_hidden_layers,
            num_attention_heads: heads,
            num_key_value_heads: raw.num_key_value_heads.unwrap_or(heads),
            head_dim: raw.head_dim.unwrap_or(raw.hidden_size / heads.max(1)),
            intermediate_size: raw.intermediate_size,
            max_positions: rope.reach(raw.max_position_embeddings),
            rms_norm_eps: raw.rms_norm_eps,
            rope,
            biases: Biases {
                query_key_value: family == Family::Qwen2 || raw.attention_bias,
                output: family == Family::Llama && raw.attention_bias,
                feed_forward: family == Family::Llama && raw.mlp_bias,
            },
            sliding_window: window,
            causal: raw.is_causal.unwrap_or(causal),
            rotates_neighbours: false,
            latent: None,
            eos: ids(&raw.eos_token_id).next(),
            ends: ids(&raw.eos_token_id).collect(),
            tied: raw.tie_word_embeddings,
        };
        config.check().map_err(bad)?;
        Ok(config)
    }

    /// NV-Embed nests the decoder's configuration beside that of its latent attention.
    fn nv_embed(what: &str, value: &Value) -> Result<Self> {
        let bad = |reason: String| Error::ModelFormat {
            what: what.into(),
            reason,
        };
        let part = |name: &str| {
            let part = value.get(name).filter(|v| v.is_object());
            part.cloned()
                .ok_or_else(|| bad(format!("its configuration has no {name}")))
        };
        let mut text = part("text_config")?;
        if let Some(text) = text.as_object_mut() {
            text.insert("model_type".into(), "bidir_mistral".into());
        }
        let mut config = Self::from_json(what, &text.to_string())?;
        let latent: Latent = serde_json::from_value(part("latent_attention_config")?)
            .map_err(|e| bad(format!("its latent_attention_config: {e}")))?;
        latent.check(config.hidden_size).map_err(bad)?;
        config.latent = Some(latent);
        config.eos = config.eos.or(Some(2));
        Ok(config)
    }

    /// The window of a layer, where it has one.
    pub fn window(&self, layer: usize) -> Option<usize> {
        self.sliding_window
            .filter(|(_, first)| self.causal && layer >= *first)
            .map(|(window, _)| window)
    }

    /// Operations of the products in a forward pass over one input of so many tokens: linear layers, and
    /// attention's two, which are computed whole where a token sees only some of the others. A product and a
    /// sum are two.
    pub fn operations(&self, tokens: usize) -> f64 {
        let (length, hidden) = (tokens as f64, self.hidden_size as f64);
        let queries = (self.num_attention_heads * self.head_dim) as f64;
        let keys = (self.num_key_value_heads * self.head_dim) as f64;
        let wide = self.intermediate_size as f64;
        let weights = 2.0 * hidden * (queries + keys) + 3.0 * hidden * wide;
        let attention = 2.0 * length * queries;
        let layers = self.num_hidden_layers as f64;
        let latent = self.latent.as_ref().map_or(0.0, |l| l.operations());
        length * (2.0 * (weights + attention) * layers + latent)
    }

    pub(crate) fn check(&self) -> std::result::Result<(), String> {
        range("vocab_size", self.vocab_size, MAX_ROWS)?;
        range("hidden_size", self.hidden_size, MAX_WIDTH)?;
        range("num_hidden_layers", self.num_hidden_layers, MAX_LAYERS)?;
        range("num_attention_heads", self.num_attention_heads, MAX_WIDTH)?;
        range(
            "num_key_value_heads",
            self.num_key_value_heads,
            self.num_attention_heads,
        )?;
        range("head_dim", self.head_dim, MAX_WIDTH)?;
        range("intermediate_size", self.intermediate_size, MAX_WIDTH)?;
        range("max_position_embeddings", self.max_positions, MAX_ROWS)?;
        if let Some((window, _)) = self.sliding_window {
            range("sliding_window", window, MAX_ROWS)?;
        }
        if !self
            .num_attention_heads
            .is_multiple_of(self.num_key_value_heads)
        {
            return Err(format!(
                "its {} heads cannot share {} heads of keys and values",
                self.num_attention_heads, self.num_key_value_heads
            ));
        }
        if !self.head_dim.is_multiple_of(2) {
            return Err(format!(
                "its heads of {} numbers cannot be rotated in pairs",
                self.head_dim
            ));
        }
        if !(self.rms_norm_eps >= 0.0 && self.rms_norm_eps < 1.0) {
            return Err(format!("its rms_norm_eps is {}", self.rms_norm_eps));
        }
        Ok(())
    }
}

impl Latent {
    /// Operations of its products for a token. A product and a sum are two.
    fn operations(&self) -> f64 {
        let (hidden, inner) = (self.latent_dim, self.heads * self.head_dim);
        let feed_forward = 3 * WIDER * hidden * hidden;
        2.0 * (2 * hidden * inner + 2 * self.latents * inner + feed_forward) as f64
    }

    /// What is wrong with it beside states of this width.
    fn check(&self, hidden: usize) -> std::result::Result<(), String> {
        let fits = |n: usize| (1..=1 << 20).contains(&n);
        if !(fits(self.latents) && fits(self.heads) && fits(self.head_dim)) {
            return Err("its latent attention has no latents, heads or width".into());
        }
        match self.latent_dim == hidden {
            true => Ok(()),
            false => Err(format!(
                "its latents are {} wide where its states are {hidden}",
                self.latent_dim
            )),
        }
    }
}

/// A token's id, or several.
fn ids(value: &Value) -> impl Iterator<Item = u32> {
    let all = value
        .as_array()
        .map_or(std::slice::from_ref(value), Vec::as_slice);
    all.iter().filter_map(|id| u32::try_from(id.as_u64()?).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MISTRAL: &str = r#"{"model_type": "mistral", "vocab_size": 32000, "hidden_size": 4096,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
        "max_position_embeddings": 32768, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "hidden_act": "silu",
        "sliding_window": 4096, "eos_token_id": 2}"#;

    #[test]
    fn reads_the_families() {
        let mistral = DecoderConfig::from_json("m", MISTRAL).unwrap();
        assert_eq!((mistral.head_dim, mistral.num_key_value_heads), (128, 8));
        assert_eq!((mistral.window(0), mistral.causal), (Some(4096), true));
        assert_eq!(mistral.eos, Some(2));
        let qwen = MISTRAL
            .replace("mistral", "qwen2")
            .replace("\"eos_token_id\": 2", "\"eos_token_id\": [7, 8]")
            .replace("\"hidden_act\"", "\"is_causal\": false, \"hidden_act\"");
        let qwen = DecoderConfig::from_json("m", &qwen).unwrap();
        assert!(qwen.biases.query_key_value && !qwen.biases.output && !qwen.causal);
        assert_eq!((qwen.window(31), qwen.eos), (None, Some(7)));
        let nested = format!(
            r#"{{"model_type": "nvembed", "text_config": {MISTRAL}, "latent_attention_config": {{
            "num_latents_value": 512, "num_cross_heads": 8, "cross_dim_head": 4096, "latent_dim": 4096,
            "hidden_dim": 4096, "mult": 4, "output_normalize": true}}}}"#
        );
        let nv_embed = DecoderConfig::from_json("m", &nested).unwrap();
        assert_eq!((nv_embed.causal, nv_embed.window(0)), (false, None));
        assert_eq!(nv_embed.latent.unwrap().latents, 512);
    }

    #[test]
    fn operations_are_those_of_grouped_heads_and_a_gated_feed_forward() {
        let config = DecoderConfig::from_json("m", MISTRAL).unwrap();
        // Of the 7.24 billion weights, those of the token table and of the norms are not multiplied.
        let layer = 4096 * (4096 + 1024 + 1024 + 4096) + 3 * 4096 * 14336_u64;
        assert_eq!(32 * layer, 6_979_321_856);
        let attention = 2 * 64 * 32 * 128;
        let expected = 64 * 2 * 32 * (layer + attention);
        assert_eq!(config.operations(64), expected as f64);
    }

    #[test]
    fn refuses_what_the_forward_pass_does_not_compute() {
        let code = |from: &str, to: &str| {
            let error = DecoderConfig::from_json("m", &MISTRAL.replace(from, to)).unwrap_err();
            error.code()
        };
        assert_eq!(code("\"mistral\"", "\"gemma\""), "unsupported-architecture");
        assert_eq!(code("silu", "gelu"), "unsupported-architecture");
        let scaled = "\"rope_scaling\": {\"type\": \"longrope\"}, \"hidden_act\"";
        assert_eq!(code("\"hidden_act\"", scaled), "unsupported-architecture");
        assert_eq!(
            code("\"num_key_value_heads\": 8", "\"num_key_value_heads\": 5"),
            "model-format"
        );
        assert_eq!(code("4096,\n", "0,\n"), "model-format");
        assert_eq!(code("\"mistral\"", "\"nvembed\""), "model-format");
        assert_eq!(code("{", ""), "model-format");
    }
}

//! The shape of a BERT-family encoder, from Hugging Face's config.json.

#[cfg(not(target_arch = "wasm32"))]
pub mod decoder;
#[cfg(not(target_arch = "wasm32"))]
pub mod rope;
#[cfg(not(target_arch = "wasm32"))]
pub mod t5;

use serde::Deserialize;

use crate::error::{Error, Result};

/// The encoder families that share one forward pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    Bert,
    Roberta,
    XlmRoberta,
    Mpnet,
}

/// What GGUF files call these families.
pub const ARCHITECTURES: [&str; 2] = ["bert", "mpnet"];

impl Family {
    /// What a GGUF file calls it. What llama.cpp computes as BERT has that name; MPNet must not, or it would go without
    /// its relative bias.
    pub fn architecture(self) -> &'static str {
        let [bert, mpnet] = ARCHITECTURES;
        match self {
            Self::Bert | Self::Roberta | Self::XlmRoberta => bert,
            Self::Mpnet => mpnet,
        }
    }
}

/// Buckets that a relative bias has; MPNet's forward pass knows no other number.
pub const RELATIVE_BUCKETS: usize = 32;

/// What the forward pass needs to know of a BERT-family encoder.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    pub family: Family,
    pub vocab_size: usize,
    pub hidden_size: usize,
    pub num_hidden_layers: usize,
    pub num_attention_heads: usize,
    pub intermediate_size: usize,
    /// Positions an input can take, counted from 0: RoBERTa's unused first rows are not among them.
    pub max_positions: usize,
    /// Types of tokens; 0 where the family has none.
    pub type_vocab_size: usize,
    pub layer_norm_eps: f32,
    /// Rows at the start of a safetensors position table that no token uses (`pad_token_id + 1` for
    /// RoBERTa and XLM-R, 2 for MPNet, 0 for BERT).
    pub position_offset: usize,
    /// Whether attention takes a bias by how far a key lies from its query, of [`RELATIVE_BUCKETS`] buckets.
    pub relative_bias: bool,
}

/// config.json as published; unknown fields are ignored.
#[derive(Deserialize)]
struct Raw {
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    #[serde(default = "two")]
    type_vocab_size: usize,
    #[serde(default = "epsilon")]
    layer_norm_eps: f64,
    #[serde(default)]
    pad_token_id: Option<usize>,
    #[serde(default)]
    hidden_act: Option<String>,
    #[serde(default)]
    position_embedding_type: Option<String>,
    #[serde(default)]
    relative_attention_num_buckets: Option<usize>,
}

fn two() -> usize {
    2
}

fn epsilon() -> f64 {
    1e-12
}

/// Far above every published encoder; a broken file must not ask for absurd allocations.
const MAX_LAYERS: usize = 256;
const MAX_WIDTH: usize = 1 << 16;
const MAX_ROWS: usize = 1 << 24;

impl Config {
    /// Parses config.json. `what` names the file in errors.
    pub fn from_json(what: &str, json: &str) -> Result<Self> {
        let bad = |reason: String| Error::ModelFormat {
            what: what.into(),
            reason,
        };
        // An architecture of another kind lacks the fields below: name it before complaining of those.
        let value: serde_json::Value = serde_json::from_str(json)
            .map_err(|e| bad(format!("its configuration is not JSON ({e})")))?;
        let kind = value
            .get("model_type")
            .and_then(|v| v.as_str())
            .unwrap_or("bert")
            .to_owned();
        let family = match kind.as_str() {
            "bert" => Family::Bert,
            "roberta" => Family::Roberta,
            "xlm-roberta" => Family::XlmRoberta,
            "mpnet" => Family::Mpnet,
            other => {
                return Err(Error::UnsupportedArchitecture {
                    what: what.into(),
                    found: other.into(),
                });
            }
        };
        let raw: Raw =
            serde_json::from_value(value).map_err(|e| bad(format!("its configuration: {e}")))?;
        let unsupported = |found: String| {
            Err(Error::UnsupportedArchitecture {
                what: what.into(),
                found,
            })
        };
        if let Some(act) = raw.hidden_act.filter(|a| a != "gelu") {
            return unsupported(format!("{kind} with the activation {act}"));
        }
        if let Some(kind) = raw.position_embedding_type.filter(|p| p != "absolute") {
            return unsupported(format!("BERT with {kind} positions"));
        }
        let position_offset = match family {
            Family::Bert => 0,
            Family::Roberta | Family::XlmRoberta => raw.pad_token_id.unwrap_or(1) + 1,
            // Whatever its configuration says of padding.
            Family::Mpnet => 2,
        };
        let relative_bias = family == Family::Mpnet;
        let buckets = raw.relative_attention_num_buckets;
        if let Some(buckets) = buckets.filter(|&n| relative_bias && n != RELATIVE_BUCKETS) {
            return unsupported(format!("{kind} with {buckets} buckets of positions"));
        }
        let config = Self {
            family,
            vocab_size: raw.vocab_size,
            hidden_size: raw.hidden_size,
            num_hidden_layers: raw.num_hidden_layers,
            num_attention_heads: raw.num_attention_heads,
            intermediate_size: raw.intermediate_size,
            max_positions: raw.max_position_embeddings.saturating_sub(position_offset),
            type_vocab_size: match family {
                Family::Mpnet => 0,
                _ => raw.type_vocab_size,
            },
            layer_norm_eps: raw.layer_norm_eps as f32,
            position_offset,
            relative_bias,
        };
        config.check().map_err(bad)?;
        Ok(config)
    }

    /// Operations of the products in a forward pass over one input of so many tokens: linear layers, and
    /// attention's two. A product and a sum are two.
    pub fn operations(&self, tokens: usize) -> f64 {
        let (tokens, hidden) = (tokens as f64, self.hidden_size as f64);
        let wide = self.intermediate_size as f64;
        let weights = 4.0 * hidden * hidden + 2.0 * hidden * wide;
        let attention = 2.0 * tokens * hidden;
        2.0 * tokens * (weights + attention) * self.num_hidden_layers as f64
    }

    fn check(&self) -> std::result::Result<(), String> {
        range("vocab_size", self.vocab_size, MAX_ROWS)?;
        range("hidden_size", self.hidden_size, MAX_WIDTH)?;
        range("num_hidden_layers", self.num_hidden_layers, MAX_LAYERS)?;
        range(
            "num_attention_heads",
            self.num_attention_heads,
            self.hidden_size,
        )?;
        range("intermediate_size", self.intermediate_size, MAX_WIDTH)?;
        range("max_position_embeddings", self.max_positions, MAX_ROWS)?;
        if self.family != Family::Mpnet {
            range("type_vocab_size", self.type_vocab_size, MAX_WIDTH)?;
        }
        if !self.hidden_size.is_multiple_of(self.num_attention_heads) {
            return Err(format!(
                "its hidden size {} cannot be shared out to {} heads",
                self.hidden_size, self.num_attention_heads
            ));
        }
        if !(self.layer_norm_eps >= 0.0 && self.layer_norm_eps < 1.0) {
            return Err(format!("its layer_norm_eps is {}", self.layer_norm_eps));
        }
        Ok(())
    }
}

/// A number of a configuration, from 1 to what memory and time allow.
pub(crate) fn range(name: &str, value: usize, max: usize) -> std::result::Result<(), String> {
    match (1..=max).contains(&value) {
        true => Ok(()),
        false => Err(format!("its configuration says {name} = {value}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINILM: &str = r#"{"model_type": "bert", "vocab_size": 30522, "hidden_size": 384,
        "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536,
        "max_position_embeddings": 512, "type_vocab_size": 2, "layer_norm_eps": 1e-12,
        "pad_token_id": 0, "hidden_act": "gelu", "position_embedding_type": "absolute"}"#;

    #[test]
    fn reads_bert_and_roberta() {
        let bert = Config::from_json("m", MINILM).unwrap();
        assert_eq!((bert.max_positions, bert.position_offset), (512, 0));
        let roberta = MINILM
            .replace("\"bert\"", "\"roberta\"")
            .replace("\"pad_token_id\": 0", "\"pad_token_id\": 1")
            .replace("512", "514");
        let roberta = Config::from_json("m", &roberta).unwrap();
        assert_eq!((roberta.max_positions, roberta.position_offset), (512, 2));
        assert!(!roberta.relative_bias);
    }

    #[test]
    fn mpnet_has_a_relative_bias_and_no_types() {
        // As published: without type_vocab_size and position_embedding_type.
        let published = r#"{"model_type": "mpnet", "vocab_size": 30527, "hidden_size": 768,
            "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072,
            "max_position_embeddings": 514, "layer_norm_eps": 1e-05, "pad_token_id": 1,
            "hidden_act": "gelu", "relative_attention_num_buckets": 32}"#;
        let mpnet = Config::from_json("m", published).unwrap();
        assert_eq!((mpnet.family, mpnet.relative_bias), (Family::Mpnet, true));
        assert_eq!((mpnet.max_positions, mpnet.position_offset), (512, 2));
        assert_eq!(mpnet.type_vocab_size, 0);
        let other = published.replace("_buckets\": 32", "_buckets\": 64");
        let error = Config::from_json("m", &other).unwrap_err();
        assert_eq!(error.code(), "unsupported-architecture");
        assert!(error.to_string().contains("64 buckets"), "{error}");
    }

    #[test]
    fn operations_are_those_of_weights_and_attention() {
        let config = Config::from_json("m", MINILM).unwrap();
        let weights = 12 * 384 * 384;
        let attention = 2 * 10 * 384;
        let expected = 6 * 2 * 10 * (weights + attention);
        assert_eq!(config.operations(10), f64::from(expected));
    }

    #[test]
    fn refuses_what_the_forward_pass_does_not_compute() {
        let code = |json: &str| Config::from_json("m", json).unwrap_err().code();
        assert_eq!(code("{"), "model-format");
        assert_eq!(
            code(r#"{"model_type": "llama"}"#),
            "unsupported-architecture"
        );
        assert_eq!(
            code(&MINILM.replace("\"gelu\"", "\"gelu_new\"")),
            "unsupported-architecture"
        );
        assert_eq!(
            code(&MINILM.replace("absolute", "relative_key")),
            "unsupported-architecture"
        );
        assert_eq!(code(&MINILM.replace("12,", "7,")), "model-format");
        assert_eq!(
            code(&MINILM.replace("\"hidden_size\": 384", "\"hidden_size\": 0")),
            "model-format"
        );
        assert_eq!(code(&MINILM.replace("1536", "99999999999")), "model-format");
    }
}

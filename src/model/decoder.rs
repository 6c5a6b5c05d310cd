//! Mistral, Qwen2 and Llama as text encoders, and as the language models that they are
//! ([`language_model`](super::language_model)): one forward pass, on candle alone (they never enter a browser).
//!
//! The three differ in biases, in rotary embeddings and in windows of attention, which are data
//! ([`DecoderConfig`]). Sequences are packed: linear layers run over all tokens at once, attention over the
//! sequences of one length together ([`attention`]), and what sequences begin with alike is read once ([`shared`]). Activations are f32 on the CPU, where bf16 and f16 are
//! how weights are kept, and the weights' own type on CUDA; norms, rotations, softmax and gates are f32 everywhere.
//! NV-Embed's latent attention ([`latent`]) follows the last norm where the file holds it.

use candle_core::{DType, Device, Tensor};

use crate::{
    backend::{
        Backend,
        any::{AnyBackend, AnyTensor},
        candle::{Candle, swiglu::swiglu},
    },
    checkpoint::{DecoderCheckpoint, config::decoder::DecoderConfig},
    error::{Error, Result},
    text::Batch,
};

pub mod attention;
pub mod cache;
pub mod latent;
pub mod rope;
mod shared;

use attention::{Heads, Runs};
use latent::LatentAttention;
use shared::Tree;

use super::{
    linear::{Linear, RmsNorm, Table},
    load::{self, Precision},
};

/// A decoder on one device.
pub struct Decoder {
    pub(super) config: DecoderConfig,
    pub(super) device: Device,
    /// What activations are.
    dtype: DType,
    pub(super) tokens: Table,
    layers: Vec<Layer>,
    norm: RmsNorm,
    latent: Option<LatentAttention>,
}

/// One layer: attention and a gated feed-forward, each after a norm and before its residual.
struct Layer {
    attention_norm: RmsNorm,
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    feed_forward_norm: RmsNorm,
    gate: Linear,
    up: Linear,
    down: Linear,
    /// Tokens that a token sees, itself included, in a layer with a sliding window.
    window: Option<usize>,
}

impl Layer {
    /// `[tokens, hidden]` to the same; `attend` makes the attention's output of queries, keys and values.
    fn forward(
        &self,
        x: Tensor,
        attend: impl FnOnce(Tensor, Tensor, Tensor) -> Result<Tensor>,
    ) -> Result<Tensor> {
        let normed = self.attention_norm.forward(&x)?;
        let attended = attend(
            self.query.forward(&normed)?,
            self.key.forward(&normed)?,
            self.value.forward(&normed)?,
        )?;
        let x = (x + self.output.forward(&attended)?)?;
        let normed = self.feed_forward_norm.forward(&x)?;
        let wide = swiglu(&self.gate.forward(&normed)?, &self.up.forward(&normed)?)?;
        Ok((x + self.down.forward(&wide)?)?)
    }
}

/// What an encoder needs of its model: tokens to hidden states, on a device of its own.
pub trait States<B: Backend>: Send + Sync {
    /// Hidden states of a packed batch, `[tokens, hidden]`.
    fn states(&self, batch: &Batch) -> Result<B::Tensor>;

    /// See [`DecoderConfig::operations`].
    fn operations(&self, tokens: usize) -> f64;
}

impl States<Candle> for Decoder {
    fn states(&self, batch: &Batch) -> Result<Tensor> {
        self.forward(batch)
    }

    fn operations(&self, tokens: usize) -> f64 {
        self.config.operations(tokens)
    }
}

impl States<AnyBackend> for Decoder {
    fn states(&self, batch: &Batch) -> Result<AnyTensor> {
        self.forward(batch).map(AnyTensor::Candle)
    }

    fn operations(&self, tokens: usize) -> f64 {
        self.config.operations(tokens)
    }
}

impl Decoder {
    /// Copies the weights to `device` in `precision`, each checked against the configuration, one tensor
    /// after the other: beside the copy, the file is only mapped.
    ///
    /// # Errors
    /// A tensor is missing or has another shape; memory does not suffice, which is found out before anything
    /// is copied.
    pub fn load(
        checkpoint: &DecoderCheckpoint,
        device: &Device,
        precision: Precision,
    ) -> Result<Self> {
        let config = checkpoint.config.clone();
        let weights = &checkpoint.weights;
        load::check_memory(checkpoint, weights.all(), device, precision)?;
        let load = load::Loader::new(weights, device, precision);
        let hidden = config.hidden_size;
        let queries = config.num_attention_heads * config.head_dim;
        let keys = config.num_key_value_heads * config.head_dim;
        let wide = config.intermediate_size;
        let layer = |i: usize| -> Result<Layer> {
            let norm =
                |part: &str| load.norm(&format!("blk.{i}.{part}"), hidden, config.rms_norm_eps);
            let linear = |part: &str, rows: usize, columns: usize, bias: bool| {
                load.linear(&format!("blk.{i}.{part}"), rows, columns, bias)
            };
            let biases = &config.biases;
            Ok(Layer {
                attention_norm: norm("attn_norm")?,
                query: linear("attn_q", queries, hidden, biases.query_key_value)?,
                key: linear("attn_k", keys, hidden, biases.query_key_value)?,
                value: linear("attn_v", keys, hidden, biases.query_key_value)?,
                output: linear("attn_output", hidden, queries, biases.output)?,
                feed_forward_norm: norm("ffn_norm")?,
                gate: linear("ffn_gate", wide, hidden, biases.feed_forward)?,
                up: linear("ffn_up", wide, hidden, biases.feed_forward)?,
                down: linear("ffn_down", hidden, wide, biases.feed_forward)?,
                window: config.window(i),
            })
        };
        Ok(Self {
            tokens: load.table("token_embd", config.vocab_size, hidden)?,
            layers: (0..config.num_hidden_layers)
                .map(layer)
                .collect::<Result<_>>()?,
            norm: load.norm("output_norm", hidden, config.rms_norm_eps)?,
            latent: config
                .latent
                .as_ref()
                .map(|latent| LatentAttention::load(&load, latent, hidden))
                .transpose()?,
            dtype: load.activations(),
            device: device.clone(),
            config,
        })
    }

    /// Hidden states after the last norm, and after latent attention where the encoder has it:
    /// `[tokens, hidden]` in f32.
    ///
    /// # Errors
    /// A batch or a sequence without tokens, a token that the model's table does not hold, or a sequence longer than
    /// its positions.
    pub fn forward(&self, batch: &Batch) -> Result<Tensor> {
        self.check(batch)?;
        let longest = batch.ranges().map(|range| range.len()).max().unwrap_or(0);
        let tree = match self.shares(longest) {
            true => Tree::shared(batch),
            false => Tree::apart(batch),
        };
        let runs = Runs::new(&tree.segments, &self.config, &self.device)?;
        let heads = self.heads();
        let mut x = self.embed(&tree.ids)?;
        for layer in &self.layers {
            x = layer.forward(x, |query, key, value| {
                runs.attention(&query, &key, &value, heads, layer.window)
            })?;
        }
        let x = self.norm.forward(&x)?;
        let x = match &self.latent {
            Some(latent) => latent.forward(&x)?,
            None => x,
        };
        let x = x.to_dtype(DType::F32)?;
        match tree.places {
            Some(places) => {
                let places = Tensor::new(places, &self.device)?;
                Ok(x.index_select(&places, 0)?)
            }
            None => Ok(x),
        }
    }

    /// Whether sequences that begin alike have the same states there: not where a token sees those behind it, or where
    /// positions are turned by the length of the whole.
    pub fn shares(&self, longest: usize) -> bool {
        self.config.causal && !self.config.rope.turns_by_length(longest)
    }

    fn heads(&self) -> Heads {
        Heads {
            queries: self.config.num_attention_heads,
            keys: self.config.num_key_value_heads,
            dim: self.config.head_dim,
        }
    }

    /// What the first layer is given, `[tokens, hidden]`.
    fn embed(&self, ids: &[u32]) -> Result<Tensor> {
        let rows = self.tokens.rows(ids, &self.device)?;
        Ok(rows.to_dtype(self.dtype)?)
    }

    fn check(&self, batch: &Batch) -> Result<()> {
        if batch.is_empty() || batch.ranges().any(|r| r.is_empty()) {
            return Err(Error::InvalidArgument(
                "there is nothing to encode: the batch, or a sequence of it, is empty.".into(),
            ));
        }
        self.check_tokens(&batch.ids)?;
        self.check_length(batch.ranges().map(|r| r.len()).max().unwrap_or(0))
    }

    fn check_tokens(&self, ids: &[u32]) -> Result<()> {
        Table::check(ids, self.config.vocab_size)
    }

    fn check_length(&self, length: usize) -> Result<()> {
        let positions = self.config.max_positions;
        match length > positions {
            true => Err(Error::InvalidArgument(format!(
                "a sequence of {length} tokens is longer than the model's {positions}."
            ))),
            false => Ok(()),
        }
    }
}

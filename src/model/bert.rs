//! BERT, RoBERTa and XLM-R: one forward pass, over any backend.
//!
//! The three differ in vocabulary, in type ids and in where positions start; the first two are data and
//! the third is undone where weights are read ([`crate::model::weights`]).

use super::{config::Config, weights::Weights};
use crate::{
    backend::{Activation, Backend, NormWeights},
    error::{Error, Result},
    text::Batch,
};

/// A post-LayerNorm transformer encoder (Devlin et al., 2019) on one backend.
pub struct Bert<B: Backend> {
    embeddings: B::Embeddings,
    layers: Vec<Layer<B>>,
    heads: usize,
    vocab_size: usize,
    max_positions: usize,
    types: usize,
}

struct Layer<B: Backend> {
    query_key_value: B::Linear,
    attention_output: B::Linear,
    attention_norm: B::Norm,
    up: B::Linear,
    down: B::Linear,
    output_norm: B::Norm,
}

impl<B: Backend> Bert<B> {
    /// Copies the weights to the backend, each checked against the configuration.
    pub fn load(backend: &B, config: &Config, weights: &Weights) -> Result<Self> {
        let hidden = config.hidden_size;
        let wide = config.intermediate_size;
        let linear = |name: &str, rows: usize, columns: usize| -> Result<_> {
            Ok((
                weights.get(&format!("{name}.weight"), &[rows, columns])?,
                weights.get(&format!("{name}.bias"), &[rows])?,
            ))
        };
        let norm = |name: &str| -> Result<_> {
            Ok(NormWeights {
                weight: weights.get(&format!("{name}.weight"), &[hidden])?,
                bias: weights.get(&format!("{name}.bias"), &[hidden])?,
                eps: config.layer_norm_eps,
            })
        };
        let embeddings = backend.load_embeddings(
            weights.get("token_embd.weight", &[config.vocab_size, hidden])?,
            weights.get("position_embd.weight", &[config.max_positions, hidden])?,
            weights.get("token_types.weight", &[config.type_vocab_size, hidden])?,
            norm("token_embd_norm")?,
        )?;
        let mut layers = Vec::with_capacity(config.num_hidden_layers);
        for i in 0..config.num_hidden_layers {
            let part = |part: &str| format!("blk.{i}.{part}");
            layers.push(Layer {
                query_key_value: backend.load_linear(vec![
                    linear(&part("attn_q"), hidden, hidden)?,
                    linear(&part("attn_k"), hidden, hidden)?,
                    linear(&part("attn_v"), hidden, hidden)?,
                ])?,
                attention_output: backend.load_linear(vec![linear(
                    &part("attn_output"),
                    hidden,
                    hidden,
                )?])?,
                attention_norm: backend.load_norm(norm(&part("attn_output_norm"))?)?,
                up: backend.load_linear(vec![linear(&part("ffn_up"), wide, hidden)?])?,
                down: backend.load_linear(vec![linear(&part("ffn_down"), hidden, wide)?])?,
                output_norm: backend.load_norm(norm(&part("layer_output_norm"))?)?,
            });
        }
        Ok(Self {
            embeddings,
            layers,
            heads: config.num_attention_heads,
            vocab_size: config.vocab_size,
            max_positions: config.max_positions,
            types: config.type_vocab_size,
        })
    }

    /// Hidden states of the last layer, `[tokens, hidden]`, and the batch on the device.
    ///
    /// # Errors
    /// A token, type or position that the model's tables do not hold.
    pub fn forward(&self, backend: &B, batch: &Batch) -> Result<B::Tensor> {
        self.check(batch)?;
        let device_batch = backend.upload(batch)?;
        let mut x = backend.embed(&self.embeddings, &device_batch)?;
        for layer in &self.layers {
            let qkv = backend.linear(&x, &layer.query_key_value, Activation::None)?;
            let attended = backend.attention(&qkv, &device_batch, self.heads)?;
            let x1 = backend.linear_add_norm(
                &attended,
                &layer.attention_output,
                &x,
                &layer.attention_norm,
            )?;
            let wide = backend.linear(&x1, &layer.up, Activation::Gelu)?;
            x = backend.linear_add_norm(&wide, &layer.down, &x1, &layer.output_norm)?;
        }
        Ok(x)
    }

    fn check(&self, batch: &Batch) -> Result<()> {
        let over = |name: &str, values: &[u32], limit: usize| match values
            .iter()
            .find(|&&v| v as usize >= limit)
        {
            None => Ok(()),
            Some(v) => Err(Error::Tokenizer(format!(
                "{name} {v} is outside the model's {limit}: the tokenizer belongs to another model"
            ))),
        };
        if batch.tokens() == 0 {
            return Err(Error::InvalidArgument(
                "there is nothing to encode: the batch is empty.".into(),
            ));
        }
        over("token", &batch.ids, self.vocab_size)?;
        over("type", &batch.types, self.types)?;
        over("position", &batch.positions, self.max_positions)
    }
}

//! BERT, RoBERTa and XLM-R: one forward pass, over any backend.
//!
//! The three differ in vocabulary, in type ids and in where positions start; the first two are data and
//! the third is undone where weights are read ([`crate::checkpoint::weights`]).

use std::cell::RefCell;

use crate::{
    backend::{Activation, AttentionRow, Backend, NormWeights},
    checkpoint::{
        config::Config,
        weights::{Role, WeightTensor},
    },
    error::{Error, Result},
    text::Batch,
};

/// A post-LayerNorm transformer encoder (Devlin et al., 2019) on one backend.
pub struct Bert<B: Backend> {
    embeddings: B::Embeddings,
    layers: Vec<Layer<B>>,
    vocab_size: usize,
    max_positions: usize,
    types: usize,
}

/// What a look at a layer's work sees, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// What the layer is given, `[tokens, hidden]`.
    Input,
    /// Query, key and value side by side, `[tokens, 3 · hidden]`.
    QueryKeyValue,
    /// What attention gives, `[tokens, hidden]`.
    Attended,
    /// What the feed-forward half is given, `[tokens, hidden]`.
    Middle,
    /// Its inner numbers, `[tokens, intermediate]`.
    Wide,
}

/// One layer: attention and feed-forward, each with its residual and LayerNorm.
pub struct Layer<B: Backend> {
    heads: usize,
    query_key_value: B::Linear,
    attention_output: B::Linear,
    attention_norm: B::Norm,
    up: B::Linear,
    down: B::Linear,
    output_norm: B::Norm,
}

impl<B: Backend> Layer<B> {
    /// Attention heads, side by side in `hidden`.
    pub fn heads(&self) -> usize {
        self.heads
    }

    /// Query, key and value side by side: `[rows, hidden] → [rows, 3 · hidden]`.
    pub fn query_key_value(&self, backend: &B, x: &B::Tensor) -> Result<B::Tensor> {
        backend.linear(x, &self.query_key_value, Activation::None)
    }

    /// What follows attention: the layer's output from `attended` and its input `x`, all `[tokens, hidden]`.
    pub fn finish(&self, backend: &B, attended: &B::Tensor, x: &B::Tensor) -> Result<B::Tensor> {
        self.finish_watched(backend, attended, x, |_, _| Ok(()))
    }

    fn finish_watched(
        &self,
        backend: &B,
        attended: &B::Tensor,
        x: &B::Tensor,
        mut watch: impl FnMut(Seen, &B::Tensor) -> Result<()>,
    ) -> Result<B::Tensor> {
        watch(Seen::Attended, attended)?;
        let x =
            backend.linear_add_norm(attended, &self.attention_output, x, &self.attention_norm)?;
        watch(Seen::Middle, &x)?;
        let wide = backend.linear(&x, &self.up, Activation::Gelu)?;
        watch(Seen::Wide, &wide)?;
        backend.linear_add_norm(&wide, &self.down, &x, &self.output_norm)
    }

    /// The whole layer, `[tokens, hidden]` to the same.
    pub fn forward(&self, backend: &B, x: &B::Tensor, batch: &B::Batch) -> Result<B::Tensor> {
        self.forward_watched(backend, x, batch, |_, _| Ok(()))
    }

    /// [`Layer::forward`] with a look at what it computes on the way.
    pub fn forward_watched(
        &self,
        backend: &B,
        x: &B::Tensor,
        batch: &B::Batch,
        mut watch: impl FnMut(Seen, &B::Tensor) -> Result<()>,
    ) -> Result<B::Tensor> {
        watch(Seen::Input, x)?;
        let qkv = self.query_key_value(backend, x)?;
        watch(Seen::QueryKeyValue, &qkv)?;
        let attended = backend.attention(&qkv, batch, self.heads)?;
        self.finish_watched(backend, &attended, x, watch)
    }
}

impl<B: Backend> Bert<B> {
    /// Brings the weights to the backend. `tensor` lends or gives away the tensor of a name, checked against the shape
    /// that the configuration asks for; each is asked for once, shortly before it is loaded.
    pub fn load<'a>(
        backend: &B,
        config: &Config,
        tensor: impl FnMut(&str, &[usize]) -> Result<WeightTensor<'a>>,
    ) -> Result<Self> {
        let hidden = config.hidden_size;
        let wide = config.intermediate_size;
        let tensor = RefCell::new(tensor);
        let get = |role: Role, name: &str, shape: &[usize]| -> Result<_> {
            Ok(WeightTensor {
                role: Some(role),
                ..(tensor.borrow_mut())(name, shape)?
            })
        };
        let norm = |role: Role, name: &str| -> Result<_> {
            Ok(NormWeights {
                weight: get(role, &format!("{name}.weight"), &[hidden])?,
                bias: get(role, &format!("{name}.bias"), &[hidden])?,
                eps: config.layer_norm_eps,
            })
        };
        let table = |role: Role, name: &str, rows: usize| get(role, name, &[rows, hidden]);
        let embeddings = backend.load_embeddings(
            table(Role::TokenTable, "token_embd.weight", config.vocab_size)?,
            table(
                Role::OtherTable,
                "position_embd.weight",
                config.max_positions,
            )?,
            table(
                Role::OtherTable,
                "token_types.weight",
                config.type_vocab_size,
            )?,
            norm(Role::TableNorm, "token_embd_norm")?,
        )?;
        let mut layers = Vec::with_capacity(config.num_hidden_layers);
        for layer in 0..config.num_hidden_layers {
            let linear = |part: &str, rows: usize, columns: usize| -> Result<_> {
                let name = format!("blk.{layer}.{part}");
                Ok((
                    get(
                        Role::Matrix { layer },
                        &format!("{name}.weight"),
                        &[rows, columns],
                    )?,
                    get(Role::Bias { layer }, &format!("{name}.bias"), &[rows])?,
                ))
            };
            let norm = |part: &str| norm(Role::Norm { layer }, &format!("blk.{layer}.{part}"));
            layers.push(Layer {
                heads: config.num_attention_heads,
                query_key_value: backend.load_linear(vec![
                    linear("attn_q", hidden, hidden)?,
                    linear("attn_k", hidden, hidden)?,
                    linear("attn_v", hidden, hidden)?,
                ])?,
                attention_output: backend.load_linear(vec![linear(
                    "attn_output",
                    hidden,
                    hidden,
                )?])?,
                attention_norm: backend.load_norm(norm("attn_output_norm")?)?,
                up: backend.load_linear(vec![linear("ffn_up", wide, hidden)?])?,
                down: backend.load_linear(vec![linear("ffn_down", hidden, wide)?])?,
                output_norm: backend.load_norm(norm("layer_output_norm")?)?,
            });
        }
        Ok(Self {
            embeddings,
            layers,
            vocab_size: config.vocab_size,
            max_positions: config.max_positions,
            types: config.type_vocab_size,
        })
    }

    /// Hidden states of the last layer, `[tokens, hidden]`.
    ///
    /// # Errors
    /// A token, type or position that the model's tables do not hold.
    pub fn forward(&self, backend: &B, batch: &Batch) -> Result<B::Tensor> {
        let (device_batch, mut x) = self.embed(backend, batch)?;
        for layer in &self.layers {
            x = layer.forward(backend, &x, &device_batch)?;
        }
        Ok(x)
    }

    /// As [`Bert::forward`], with the attention weights for `rows` of each layer from `first` on: see
    /// [`Backend::attention_weights`].
    ///
    /// # Errors
    /// As [`Bert::forward`]; or a row lies outside the batch.
    pub fn forward_attending(
        &self,
        backend: &B,
        batch: &Batch,
        rows: &[AttentionRow],
        first: usize,
    ) -> Result<(B::Tensor, Vec<B::Tensor>)> {
        let (device_batch, mut x) = self.embed(backend, batch)?;
        let mut weights = Vec::new();
        for (layer, at) in self.layers.iter().zip(0..) {
            x = layer.forward_watched(backend, &x, &device_batch, |seen, qkv| {
                if seen == Seen::QueryKeyValue && at >= first {
                    weights.push(backend.attention_weights(qkv, rows, layer.heads)?);
                }
                Ok(())
            })?;
        }
        Ok((x, weights))
    }

    /// The first layer's input, `[tokens, hidden]`, and the batch on the device.
    ///
    /// # Errors
    /// As [`Bert::forward`].
    pub fn embed(&self, backend: &B, batch: &Batch) -> Result<(B::Batch, B::Tensor)> {
        self.check(batch)?;
        let device_batch = backend.upload(batch)?;
        let x = backend.embed(&self.embeddings, &device_batch)?;
        Ok((device_batch, x))
    }

    /// The layers, from the first to the last.
    pub fn layers(&self) -> &[Layer<B>] {
        &self.layers
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

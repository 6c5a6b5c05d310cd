//! BERT, RoBERTa, XLM-R and MPNet: one forward pass, over any backend.
//!
//! They differ in vocabulary, in type ids and in where positions start; the first two are data and the third is undone where
//! weights are read ([`crate::checkpoint::weights`]). MPNet (Song et al., 2020) has no type ids, and one bias by offset that
//! attention takes in every layer.

use std::{borrow::Cow, cell::RefCell};

use crate::{
    backend::{
        Activation, AttentionRow, Backend, NormWeights, PoolTerm, Pooling, RelativeBiasWeights,
    },
    checkpoint::{
        config::{Config, RELATIVE_BUCKETS},
        names::{POOLER, RELATIVE_BIAS},
        weights::{Dtype, Role, WeightTensor},
    },
    error::{Error, Result},
    model::relative::Buckets,
    text::Batch,
};

/// A post-LayerNorm transformer encoder (Devlin et al., 2019) on one backend.
pub struct Bert<B: Backend> {
    embeddings: B::Embeddings,
    layers: Vec<Layer<B>>,
    pooler: Option<B::Linear>,
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
    relative_bias: Option<B::RelativeBias>,
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

    /// Attention within each sequence of the batch: `[tokens, 3 · hidden] → [tokens, hidden]`.
    pub fn attend(&self, backend: &B, qkv: &B::Tensor, batch: &B::Batch) -> Result<B::Tensor> {
        backend.attention(qkv, batch, self.heads, self.relative_bias.as_ref())
    }

    /// The weights by which some tokens attend: see [`Backend::attention_weights`].
    pub fn attention_weights(
        &self,
        backend: &B,
        qkv: &B::Tensor,
        rows: &[AttentionRow],
    ) -> Result<B::Tensor> {
        backend.attention_weights(qkv, rows, self.heads, self.relative_bias.as_ref())
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
        let attended = self.attend(backend, &qkv, batch)?;
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
            match config.type_vocab_size {
                0 => no_types(hidden),
                types => table(Role::OtherTable, "token_types.weight", types)?,
            },
            norm(Role::TableNorm, "token_embd_norm")?,
        )?;
        let heads = config.num_attention_heads;
        let relative_bias = match config.relative_bias {
            false => None,
            true => Some(backend.load_relative_bias(RelativeBiasWeights {
                table: get(
                    Role::RelativeBias,
                    RELATIVE_BIAS,
                    &[RELATIVE_BUCKETS, heads],
                )?,
                buckets: buckets_of(config.max_positions),
            })?),
        };
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
                heads,
                relative_bias: relative_bias.clone(),
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
            pooler: None,
            vocab_size: config.vocab_size,
            max_positions: config.max_positions,
            types: config.type_vocab_size.max(1),
        })
    }

    /// Adds the pooler, which a file may lack. `tensor` is as in [`Bert::load`].
    pub fn with_pooler<'a>(
        mut self,
        backend: &B,
        config: &Config,
        mut tensor: impl FnMut(&str, &[usize]) -> Result<WeightTensor<'a>>,
    ) -> Result<Self> {
        let hidden = config.hidden_size;
        let mut get = |name: &str, shape: &[usize]| -> Result<_> {
            Ok(WeightTensor {
                role: Some(Role::Pooler),
                ..tensor(name, shape)?
            })
        };
        let [weight, bias] = POOLER;
        let parts = (get(weight, &[hidden, hidden])?, get(bias, &[hidden])?);
        self.pooler = Some(backend.load_linear(vec![parts])?);
        Ok(self)
    }

    /// Whether it has a pooler.
    pub fn has_pooler(&self) -> bool {
        self.pooler.is_some()
    }

    /// tanh(W·h + b) of the first token's hidden state of each sequence of the batch: `[tokens, hidden] → [sequences,
    /// hidden]`.
    ///
    /// # Errors
    /// It has no pooler.
    pub fn pool(&self, backend: &B, hidden: &B::Tensor, batch: &Batch) -> Result<B::Tensor> {
        let pooler = self
            .pooler
            .as_ref()
            .ok_or_else(|| Error::InvalidArgument("this encoder's file holds no pooler.".into()))?;
        let first = batch.ranges().zip(0..).map(|(range, row)| PoolTerm {
            row,
            block: 0,
            start: range.start as u32,
            len: 1,
            weight: 1.0,
        });
        let first = backend.pool(
            hidden,
            &Pooling {
                rows: batch.len(),
                blocks: 1,
                terms: first.collect(),
            },
        )?;
        backend.linear(&first, pooler, Activation::Tanh)
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

    /// As [`Bert::forward`], where `change` makes of each layer's attention output, `[tokens, hidden]`, what goes on: it is
    /// given the layer's number, the layer, its query, key and value, `[tokens, 3 · hidden]`, and the output.
    ///
    /// # Errors
    /// As [`Bert::forward`]; or what `change` says.
    pub fn forward_through(
        &self,
        backend: &B,
        batch: &Batch,
        mut change: impl FnMut(usize, &Layer<B>, &B::Tensor, B::Tensor) -> Result<B::Tensor>,
    ) -> Result<B::Tensor> {
        let (device_batch, mut x) = self.embed(backend, batch)?;
        for (number, layer) in self.layers.iter().enumerate() {
            let qkv = layer.query_key_value(backend, &x)?;
            let attended = layer.attend(backend, &qkv, &device_batch)?;
            let attended = change(number, layer, &qkv, attended)?;
            x = layer.finish(backend, &attended, &x)?;
        }
        Ok(x)
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

/// The table of a family that has no types: one type, which adds nothing and is never trained.
fn no_types(hidden: usize) -> WeightTensor<'static> {
    WeightTensor {
        name: "token_types.weight".into(),
        role: None,
        shape: vec![1, hidden],
        dtype: Dtype::F32,
        data: Cow::Owned(vec![0; hidden * Dtype::F32.block().1]),
    }
}

/// The bucket of each offset key − query in sequences of up to `longest` tokens, from 1 − `longest` on.
fn buckets_of(longest: usize) -> Vec<u32> {
    let buckets = Buckets {
        rows: RELATIVE_BUCKETS,
        furthest: 128,
        both_sides: true,
    };
    let furthest = longest as i64 - 1;
    (-furthest..=furthest)
        .map(|offset| buckets.of(offset))
        .collect()
}

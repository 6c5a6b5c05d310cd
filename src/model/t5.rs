//! T5 (Raffel et al., 2020), and so Flan-T5, Tk-Instruct and UL2: an encoder reads a prompt in both directions, and a decoder
//! writes an answer a token at a time, attending to what was read and to what it wrote.
//!
//! Positions are a bias of attention by distance, which the layers of each side share, and scores are not scaled. One prompt
//! at a time, on candle alone; activations are as in [`decoder`](super::decoder).

use candle_core::{D, DType, Device, Tensor};

use super::{
    linear::{Linear, RmsNorm, Table},
    load::{Loader, Precision, check_memory},
    nothing,
    relative::Buckets,
};
use crate::{
    checkpoint::{
        T5Checkpoint,
        config::t5::{FeedForward as Kind, T5Config},
    },
    error::{Error, Result},
};

/// Tokens that a prompt or an answer may have: distances have no end, memory has.
pub const MAX_TOKENS: usize = 2048;

/// A T5 on one device, without its output layer.
pub struct T5 {
    pub(super) config: T5Config,
    device: Device,
    /// What activations are.
    dtype: DType,
    pub(super) tokens: Table,
    encoder: Stack,
    decoder: Stack,
    /// Attention of each of the decoder's layers to what the encoder read.
    reading: Vec<Attention>,
}

/// One side: its layers, and the norm behind the last one.
struct Stack {
    layers: Vec<Layer>,
    /// `[buckets, heads]`
    bias: Tensor,
    buckets: Buckets,
    norm: RmsNorm,
}

struct Layer {
    attention: Attention,
    feed_forward: FeedForward,
}

/// Attention after a norm and before its residual.
struct Attention {
    norm: RmsNorm,
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    heads: usize,
}

struct FeedForward {
    norm: RmsNorm,
    gate: Option<Linear>,
    up: Linear,
    down: Linear,
    activation: fn(&Tensor) -> candle_core::Result<Tensor>,
}

/// Keys and values of each head, `[heads, tokens, dim]`.
type Keys = [Tensor; 2];

/// An answer as far as it was read.
pub struct Answer {
    tokens: usize,
    /// What each of the decoder's layers attends to: of the prompt, and of the answer's tokens.
    prompt: Vec<Keys>,
    own: Vec<Option<Keys>>,
}

impl Answer {
    /// Tokens that were read of it, the one that it begins behind included.
    pub fn tokens(&self) -> usize {
        self.tokens
    }
}

impl T5 {
    /// Copies the weights to `device` in `precision`, each checked against the configuration.
    ///
    /// # Errors
    /// A tensor is missing or has another shape; memory does not suffice, which is found out before anything is copied.
    pub fn load(checkpoint: &T5Checkpoint, device: &Device, precision: Precision) -> Result<Self> {
        let config = checkpoint.config.clone();
        check_memory(checkpoint, checkpoint.weights.all(), device, precision)?;
        let load = Loader::new(&checkpoint.weights, device, precision);
        let read = |i: usize| Attention::load(&load, &config, &format!("dec.blk.{i}.cross_attn"));
        Ok(Self {
            reading: (0..config.decoder_layers)
                .map(read)
                .collect::<Result<_>>()?,
            tokens: load.table("token_embd", config.vocab_size, config.hidden_size)?,
            encoder: Stack::load(&load, &config, "enc", config.encoder_layers)?,
            decoder: Stack::load(&load, &config, "dec", config.decoder_layers)?,
            dtype: load.activations(),
            device: device.clone(),
            config,
        })
    }

    /// Hidden states of a prompt after the encoder's last norm, `[tokens, hidden]`.
    ///
    /// # Errors
    /// There is no token, more than [`MAX_TOKENS`], or one that the table does not hold.
    pub fn read(&self, ids: &[u32]) -> Result<Tensor> {
        if ids.is_empty() {
            return Err(nothing());
        }
        check_length(ids.len())?;
        let mut x = self.embed(ids)?;
        let bias = self.encoder.bias(0..ids.len(), ids.len())?;
        for layer in &self.encoder.layers {
            let normed = layer.attention.norm.forward(&x)?;
            let keys = layer.attention.keys(&normed)?;
            x = (x + layer.attention.forward(&normed, &keys, Some(&bias))?)?;
            x = layer.feed_forward.forward(x)?;
        }
        self.encoder.norm.forward(&x)
    }

    /// Begins an answer to a prompt of which these are the states.
    pub fn answer(&self, states: &Tensor) -> Result<Answer> {
        let prompt = self.reading.iter().map(|reading| reading.keys(states));
        Ok(Answer {
            tokens: 0,
            prompt: prompt.collect::<Result<_>>()?,
            own: vec![None; self.reading.len()],
        })
    }

    /// Reads the next token of an answer: its hidden state after the decoder's last norm, `[1, hidden]` in f32.
    ///
    /// # Errors
    /// The token is none that the table holds, or the answer is longer than [`MAX_TOKENS`].
    pub fn next(&self, answer: &mut Answer, id: u32) -> Result<Tensor> {
        let place = answer.tokens;
        check_length(place + 1)?;
        let mut x = self.embed(&[id])?;
        let bias = self.decoder.bias(place..place + 1, place + 1)?;
        let layers = self.decoder.layers.iter().zip(&self.reading);
        for ((layer, reading), (prompt, own)) in
            layers.zip(answer.prompt.iter().zip(&mut answer.own))
        {
            let normed = layer.attention.norm.forward(&x)?;
            let [key, value] = layer.attention.keys(&normed)?;
            let keys = match own.take() {
                Some([keys, values]) => [
                    Tensor::cat(&[keys, key], 1)?,
                    Tensor::cat(&[values, value], 1)?,
                ],
                None => [key, value],
            };
            x = (x + layer.attention.forward(&normed, &keys, Some(&bias))?)?;
            *own = Some(keys);
            let normed = reading.norm.forward(&x)?;
            x = (x + reading.forward(&normed, prompt, None)?)?;
            x = layer.feed_forward.forward(x)?;
        }
        answer.tokens += 1;
        Ok(self.decoder.norm.forward(&x)?.to_dtype(DType::F32)?)
    }

    fn embed(&self, ids: &[u32]) -> Result<Tensor> {
        Table::check(ids, self.config.vocab_size)?;
        let rows = self.tokens.rows(ids, &self.device)?;
        Ok(rows.to_dtype(self.dtype)?)
    }
}

fn check_length(length: usize) -> Result<()> {
    match length > MAX_TOKENS {
        true => Err(Error::InvalidArgument(format!(
            "a text of {length} tokens is longer than the {MAX_TOKENS} that a T5 reads here."
        ))),
        false => Ok(()),
    }
}

impl Stack {
    fn load(load: &Loader<'_>, config: &T5Config, side: &str, layers: usize) -> Result<Self> {
        let layer = |i: usize| -> Result<Layer> {
            let name = |part: &str| format!("{side}.blk.{i}.{part}");
            Ok(Layer {
                attention: Attention::load(load, config, &name("attn"))?,
                feed_forward: FeedForward::load(load, config, &name("ffn"))?,
            })
        };
        let bias = format!("{side}.blk.0.attn_rel_b.weight");
        Ok(Self {
            layers: (0..layers).map(layer).collect::<Result<_>>()?,
            bias: load
                .tensor(&bias, &[config.buckets, config.num_heads])?
                .to_dtype(DType::F32)?,
            buckets: Buckets {
                rows: config.buckets,
                furthest: config.furthest,
                both_sides: side == "enc",
            },
            norm: load.norm(
                &format!("{side}.output_norm"),
                config.hidden_size,
                config.rms_norm_eps,
            )?,
        })
    }

    /// What is added to the scores of these queries over so many keys, `[heads, queries, keys]` in f32.
    fn bias(&self, queries: std::ops::Range<usize>, keys: usize) -> Result<Tensor> {
        let count = queries.len();
        let rows: Vec<u32> = queries
            .flat_map(|query| (0..keys).map(move |key| key as i64 - query as i64))
            .map(|offset| self.buckets.of(offset))
            .collect();
        let rows = Tensor::from_vec(rows, count * keys, self.bias.device())?;
        let heads = self.bias.dim(1)?;
        let bias = self.bias.index_select(&rows, 0)?.t()?;
        Ok(bias.contiguous()?.reshape((heads, count, keys))?)
    }
}

impl Attention {
    fn load(load: &Loader<'_>, config: &T5Config, name: &str) -> Result<Self> {
        let (hidden, inner) = (config.hidden_size, config.num_heads * config.head_dim);
        let into = |part: &str| load.linear(&format!("{name}_{part}"), inner, hidden, false);
        Ok(Self {
            norm: load.norm(&format!("{name}_norm"), hidden, config.rms_norm_eps)?,
            query: into("q")?,
            key: into("k")?,
            value: into("v")?,
            output: load.linear(&format!("{name}_o"), hidden, inner, false)?,
            heads: config.num_heads,
        })
    }

    /// `[tokens, heads · dim]` to `[heads, tokens, dim]`.
    fn apart(&self, x: &Tensor) -> Result<Tensor> {
        let (tokens, width) = x.dims2()?;
        let x = x.reshape((tokens, self.heads, width / self.heads))?;
        Ok(x.transpose(0, 1)?.contiguous()?)
    }

    fn keys(&self, states: &Tensor) -> Result<Keys> {
        Ok([
            self.apart(&self.key.forward(states)?)?,
            self.apart(&self.value.forward(states)?)?,
        ])
    }

    /// What these states find among keys and values, `[tokens, hidden]`.
    fn forward(&self, x: &Tensor, [key, value]: &Keys, bias: Option<&Tensor>) -> Result<Tensor> {
        let query = self.apart(&self.query.forward(x)?)?;
        let scores = query.matmul(&key.transpose(D::Minus2, D::Minus1)?.contiguous()?)?;
        let scores = scores.to_dtype(DType::F32)?;
        let scores = match bias {
            Some(bias) => (scores + bias)?,
            None => scores,
        };
        let weights = candle_nn::ops::softmax_last_dim(&scores)?.to_dtype(x.dtype())?;
        let attended = weights.matmul(value)?.transpose(0, 1)?.contiguous()?;
        self.output.forward(&attended.flatten_from(1)?)
    }
}

impl FeedForward {
    fn load(load: &Loader<'_>, config: &T5Config, name: &str) -> Result<Self> {
        let (hidden, wide) = (config.hidden_size, config.intermediate_size);
        let up = |part: &str| load.linear(&format!("{name}_{part}"), wide, hidden, false);
        let gated = config.feed_forward != Kind::Relu;
        Ok(Self {
            norm: load.norm(&format!("{name}_norm"), hidden, config.rms_norm_eps)?,
            gate: gated.then(|| up("gate")).transpose()?,
            up: up("up")?,
            down: load.linear(&format!("{name}_down"), hidden, wide, false)?,
            activation: match config.feed_forward {
                Kind::Relu => Tensor::relu,
                // The one with a tanh, transformers' `gelu_new`.
                Kind::GatedGelu => Tensor::gelu,
                Kind::GatedSilu => Tensor::silu,
            },
        })
    }

    fn forward(&self, x: Tensor) -> Result<Tensor> {
        let normed = self.norm.forward(&x)?;
        let up = self.up.forward(&normed)?;
        let wide = match &self.gate {
            Some(gate) => ((self.activation)(&gate.forward(&normed)?)? * up)?,
            None => (self.activation)(&up)?,
        };
        Ok((x + self.down.forward(&wide)?)?)
    }
}

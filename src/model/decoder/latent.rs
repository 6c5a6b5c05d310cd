//! NV-Embed's latent attention (Lee et al., 2024): between a decoder's states and their mean, every token asks a
//! learnt dictionary.
//!
//! Tokens are queries; the latents are keys and values, the same for every input and so computed once. Both
//! sides are normed before; a gated feed-forward with the exact GELU follows; each has its residual:
//!
//! ```text
//! x ← x + W_o · attention(LN(x) W_q, LN(latents) W_kv)
//! x ← x + W_2 (u ∗ GELU(g)),   [u g] = LN(x) W_1
//! ```

use candle_core::Tensor;

use super::attention::cross;
use crate::{
    checkpoint::config::decoder::{Latent, WIDER},
    error::Result,
    model::{linear::Linear, load::Loader},
};

/// torch.nn.LayerNorm's.
const EPSILON: f32 = 1e-5;

struct LayerNorm {
    weight: Tensor,
    bias: Tensor,
}

impl LayerNorm {
    fn load(load: &Loader<'_>, name: &str, width: usize) -> Result<Self> {
        Ok(Self {
            weight: load.tensor(&format!("{name}.weight"), &[width])?,
            bias: load.tensor(&format!("{name}.bias"), &[width])?,
        })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        Ok(candle_nn::ops::layer_norm(
            x,
            &self.weight,
            &self.bias,
            EPSILON,
        )?)
    }
}

/// Latent attention on one device.
pub struct LatentAttention {
    norm: LayerNorm,
    query: Linear,
    /// `[heads, latents, head_dim]`
    key: Tensor,
    /// As the keys.
    value: Tensor,
    output: Linear,
    feed_forward_norm: LayerNorm,
    up: Linear,
    down: Linear,
}

impl LatentAttention {
    /// Copies the weights, and computes the latents' keys and values.
    ///
    /// # Errors
    /// A tensor is missing or has another shape.
    pub fn load(load: &Loader<'_>, config: &Latent, hidden: usize) -> Result<Self> {
        let attention = |name: &str| format!("latent.cross_attend_blocks.0.{name}");
        let feed_forward = |name: &str| format!("latent.cross_attend_blocks.1.{name}");
        let inner = config.heads * config.head_dim;
        let latents = load.tensor("latent.latents", &[config.latents, hidden])?;
        let latents =
            LayerNorm::load(load, &attention("norm_context"), hidden)?.forward(&latents)?;
        let both = load
            .linear(&attention("fn.to_kv"), 2 * inner, hidden, false)?
            .forward(&latents)?;
        let half = |at: usize| -> Result<Tensor> {
            let part = both.narrow(1, at * inner, inner)?;
            let part = part.reshape((config.latents, config.heads, config.head_dim))?;
            Ok(part.transpose(0, 1)?.contiguous()?)
        };
        Ok(Self {
            norm: LayerNorm::load(load, &attention("norm"), hidden)?,
            query: load.linear(&attention("fn.to_q"), inner, hidden, false)?,
            key: half(0)?,
            value: half(1)?,
            output: load.linear(&attention("fn.to_out"), hidden, inner, false)?,
            feed_forward_norm: LayerNorm::load(load, &feed_forward("norm"), hidden)?,
            up: load.linear(&feed_forward("fn.net.0"), 2 * WIDER * hidden, hidden, true)?,
            down: load.linear(&feed_forward("fn.net.2"), hidden, WIDER * hidden, true)?,
        })
    }

    /// `[tokens, hidden]` to the same.
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let query = self.query.forward(&self.norm.forward(x)?)?;
        let attended = cross(&query, &self.key, &self.value)?;
        let x = (x + self.output.forward(&attended)?)?;
        let both = self.up.forward(&self.feed_forward_norm.forward(&x)?)?;
        let width = both.dim(1)? / 2;
        let gate = both.narrow(1, width, width)?.gelu_erf()?;
        let wide = (both.narrow(1, 0, width)? * gate)?;
        Ok((self.down.forward(&wide)? + x)?)
    }
}

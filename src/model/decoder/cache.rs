//! Keys and values of the tokens that were read, so that a text that grows is read once.
//!
//! Where positions are turned by the text's length (`dynamic` scaling beyond the training's longest input), the states of all
//! tokens change with each that is added: there the whole text is read anew.

use candle_core::{DType, Tensor};

use super::{Decoder, attention::Runs};
use crate::{
    error::{Error, Result},
    model::nothing,
};

/// What a decoder keeps of a text's tokens.
#[derive(Default)]
pub struct Cache {
    ids: Vec<u32>,
    /// Keys and values of each layer, `[tokens, keys · dim]`.
    layers: Vec<[Tensor; 2]>,
}

impl Cache {
    /// Tokens that were read.
    pub fn tokens(&self) -> usize {
        self.ids.len()
    }
}

impl Decoder {
    /// Reads the next tokens of a text: their hidden states after the last norm, `[ids, hidden]` in f32, are those that
    /// [`Decoder::forward`] gives for the whole text.
    ///
    /// # Errors
    /// It reads in both directions; there is no token, or one that the table does not hold; or the text is longer than
    /// the model's positions.
    pub fn read_on(&self, cache: &mut Cache, ids: &[u32]) -> Result<Tensor> {
        let config = &self.config;
        if !config.causal || self.latent.is_some() {
            return Err(Error::InvalidArgument(
                "this encoder reads texts in both directions: it embeds them, and writes none."
                    .into(),
            ));
        }
        if ids.is_empty() {
            return Err(nothing());
        }
        self.check_tokens(ids)?;
        let read = cache.tokens();
        self.check_length(read + ids.len())?;
        if read > 0 && config.rope.turns_by_length(read + ids.len()) {
            let whole = [&cache.ids, ids].concat();
            *cache = Cache::default();
            let states = self.read_on(cache, &whole)?;
            return Ok(states.narrow(0, read, ids.len())?);
        }
        let runs = Runs::next(read, ids.len(), config, &self.device)?;
        let heads = self.heads();
        let mut x = self.embed(ids)?;
        let mut layers = Vec::with_capacity(self.layers.len());
        for (i, layer) in self.layers.iter().enumerate() {
            x = layer.forward(x, |query, key, value| {
                let [key, value] = match cache.layers.get(i) {
                    Some([keys, values]) => [
                        Tensor::cat(&[keys, &key], 0)?,
                        Tensor::cat(&[values, &value], 0)?,
                    ],
                    None => [key, value],
                };
                let attended = runs.attention(&query, &key, &value, heads, layer.window);
                layers.push([key, value]);
                attended
            })?;
        }
        cache.ids.extend(ids);
        cache.layers = layers;
        Ok(self.norm.forward(&x)?.to_dtype(DType::F32)?)
    }
}

//! How a router's weights are made: of what of a condition and of a sentence ([`RouterScore`]).

use rand::{RngExt, SeedableRng, rngs::StdRng};

use crate::{
    backend::{Activation, Backend, Route, Routing},
    embedding::{Router, RouterScore, digest::fnv},
    error::{Error, Result},
    model::bert::Layer,
    text::Batch,
};

/// A router on an encoder.
pub struct Weigh<'a, B: Backend> {
    pub backend: &'a B,
    pub routing: &'a dyn Routing<Tensor = B::Tensor>,
    pub router: Router,
    /// Width of the encoder's hidden states.
    pub hidden: usize,
    /// W_q and W_k of a heavy router; none of others.
    pub heavy: &'a [B::Linear],
}

impl<B: Backend> Weigh<'_, B> {
    /// Conditions' queries in a layer, by what it is given of their first tokens, `x` `[conditions, hidden]`.
    pub fn query(&self, layer: &Layer<B>, x: &B::Tensor) -> Result<B::Tensor> {
        match (self.router.score, self.heavy) {
            (RouterScore::Hidden, _) => Ok(x.clone()),
            (RouterScore::Heavy, [query, _]) => self.backend.linear(x, query, Activation::None),
            _ => {
                let qkv = layer.query_key_value(self.backend, x)?;
                self.routing.columns(&qkv, 0..self.hidden)
            }
        }
    }

    /// Sentences' keys in a layer that is given `x` `[tokens, hidden]` and makes `qkv` of it; `None` where none are needed.
    pub fn keys(&self, x: &B::Tensor, qkv: &B::Tensor) -> Result<Option<B::Tensor>> {
        Ok(Some(match (self.router.score, self.heavy) {
            (RouterScore::Random(_), _) => return Ok(None),
            (RouterScore::Hidden, _) => x.clone(),
            (RouterScore::Heavy, [_, key]) => self.backend.linear(x, key, Activation::None)?,
            _ => self.routing.columns(qkv, self.hidden..2 * self.hidden)?,
        }))
    }

    /// Weights of each route's tokens in the layer of that number, by queries and keys where they are needed: see
    /// [`Routing::weights`]. `texts` tells the sentence and the condition of each route apart from others.
    pub fn weights(
        &self,
        scored: Option<(&B::Tensor, &B::Tensor)>,
        routes: &[Route],
        heads: usize,
        layer: usize,
        texts: &[[u64; 2]],
    ) -> Result<B::Tensor> {
        let wrong = |reason: &str| Error::InvalidArgument(reason.into());
        match (self.router.score, scored) {
            (RouterScore::Random(seed), _) => {
                let routes = routes.iter().zip(texts);
                let weights = routes.flat_map(|(route, &[sentence, condition])| {
                    random(&[seed, layer as u64, sentence, condition], route.len)
                });
                let weights: Vec<f32> = weights.collect();
                self.backend.rows(1, &weights)
            }
            (score, Some((queries, keys))) => {
                (self.routing).weights(queries, keys, routes, score.scores(heads))
            }
            (_, None) => Err(wrong(
                "the conditions were encoded for fewer routed layers. Encode them again.",
            )),
        }
    }
}

/// So many weights that sum to 1, each such choice as likely as any other.
fn random(seeds: &[u64], len: u32) -> Vec<f32> {
    let seed = seeds.iter().flat_map(|seed| seed.to_le_bytes());
    let mut rng = StdRng::seed_from_u64(fnv(seed));
    // Exponential variates over their sum.
    let mut weights: Vec<f32> = (0..len)
        .map(|_| -(1.0 - rng.random::<f32>()).max(f32::MIN_POSITIVE).ln())
        .collect();
    let sum = weights.iter().sum::<f32>().max(f32::MIN_POSITIVE);
    weights.iter_mut().for_each(|weight| *weight /= sum);
    weights
}

/// What tells each sequence of a batch apart from others: the same for the same tokens.
pub fn digests(batch: &Batch) -> Vec<u64> {
    let ids = batch.ranges().map(|range| batch.ids[range].iter());
    ids.map(|ids| fnv(ids.flat_map(|id| id.to_le_bytes())))
        .collect()
}

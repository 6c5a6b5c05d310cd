//! Tri-encoders: sentence and condition are encoded apart, each once, and joined after that. With a router (CSR; Lin et al.,
//! 2024) the condition says which of the sentence's tokens count, and no parameters are added; with a
//! [`Composition`](super::Composition) trained layers put the two embeddings together.
//!
//! In a routed layer (the last, or the last few) a query q of the condition's first token scores the sentence's keys K: w =
//! softmax(q·Kᵀ/√d) over the sentence's tokens. The sentence's attention output h' becomes h = (1 + w) ∗ h' before its output
//! projection and residual; the last hidden states are averaged. [`Router::PAPER`](super::Router::PAPER) is that, as published:
//! one weight a token, by the condition's query in the last layer. [`Join::Both`](super::Join::Both) puts the embedding that comes of
//! it together with the condition's, and [`Join::Prefix`](super::Join::Prefix) is what the paper's published program does. The default has weights of their own for each head, the
//! query of the same layer, and h = w ∗ h'.
//!
//! Up to the first routed layer, attention included, a sentence knows nothing of the condition: for S
//! sentences under C conditions the encoder runs S + C times, and only the rest of the routed layers S · C times.
//! [`TriEncoder::sentences`] and [`TriEncoder::conditions`] are what is kept, [`TriEncoder::embed`] the rest:
//!
//! ```no_run
//! # use caselens::{Result, backend::candle::Candle, embedding::{Case, Encoder, Router}};
//! # use caselens::embedding::router::{Routed, Texts, TriEncoder};
//! # fn example(encoder: &Encoder<Candle>) -> Result<()> {
//! let case = Case::tri(Router::default());
//! let (template, mut sentences, mut conditions) = (encoder.template(), Texts::default(), Texts::default());
//! for text in ["A dog sleeps on the porch.", "Two dogs run along the river."] {
//!     let input = template.single(&template.sentence("sentence", text)?)?;
//!     sentences.add(&input, case.pooling());
//! }
//! for text in ["the animal", "the number of animals", "the place"] {
//!     let input = template.condition_alone(&template.condition("condition", text)?)?;
//!     conditions.add(&input, case.pooling());
//! }
//! let tri = TriEncoder::new(encoder, &case)?;
//! let (sentences, conditions) = (tri.sentences(sentences)?, tri.conditions(&conditions)?);
//! let pairs: Vec<Routed> = (0..2)
//!     .flat_map(|sentence| (0..3).map(move |condition| Routed { sentence, condition }))
//!     .collect();
//! let embeddings = tri.embed(&sentences, &conditions, &pairs)?; // [6, 384]
//! # Ok(())
//! # }
//! ```

use std::ops::Range;

use super::{Case, Encoder, RouterQuery, composed::Composed, prefixed::Prefixed};
use crate::{
    backend::{Backend, PoolTerm, Pooling, Route, Routing},
    error::{Error, Result},
    model::bert::Layer,
    text::{Batch, Sequence, Template, template::Tokens},
};

pub mod passes;
mod weigh;

pub use super::texts::{Routed, Texts};
use weigh::Weigh;

/// What of conditions is kept.
pub struct Conditions<B: Backend> {
    /// Their queries of each routed layer, `[conditions, hidden]`; none without a router that reads them.
    queries: Vec<B::Tensor>,
    /// What puts them together with sentences; nothing where no layers do.
    joining: Vec<B::Tensor>,
    /// Their last states, `[tokens, hidden]`, and their tokens, where sentences are read behind them.
    states: Option<(B::Tensor, Batch)>,
    /// What tells each of them apart.
    digests: Vec<u64>,
    bytes: usize,
}

/// What of sentences is kept: all that no condition changes.
pub struct Sentences<B: Backend> {
    texts: Texts,
    kept: Kept<B>,
    bytes: usize,
}

enum Kept<B: Backend> {
    /// Of the first routed layer.
    Layer {
        /// Its input, `[tokens, hidden]`.
        x: B::Tensor,
        /// What conditions' queries meet, `[tokens, hidden]`; `None` where the weights are random.
        keys: Option<B::Tensor>,
        /// Its attention output h', `[tokens, hidden]`.
        attended: B::Tensor,
    },
    /// Embeddings, `[sentences, hidden]`.
    Embeddings(B::Tensor),
    /// Nothing: they are read behind their conditions.
    Nothing,
}

impl<B: Backend> Conditions<B> {
    /// Bytes that are kept.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl<B: Backend> Sentences<B> {
    /// Bytes that are kept.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// An encoder that reads sentence and condition apart.
pub struct TriEncoder<'a, B: Backend> {
    encoder: &'a Encoder<B>,
    routing: &'a dyn Routing<Tensor = B::Tensor>,
    router: Option<Weigh<'a, B>>,
    composed: Option<Composed<'a, B>>,
    prefixed: Option<Prefixed<'a, B>>,
    /// The layers before the routed ones, and those.
    unrouted: &'a [Layer<B>],
    routed: &'a [Layer<B>],
}

impl<'a, B: Backend> TriEncoder<'a, B> {
    /// # Errors
    /// `case` is no tri-encoder's, or not one that [`Encoder::check`] allows.
    pub fn new(encoder: &'a Encoder<B>, case: &Case) -> Result<Self> {
        encoder.check(case)?;
        let other = || {
            Error::InvalidArgument(
                "these are settings of a bi-encoder, not of a tri-encoder.".into(),
            )
        };
        let (Case::Apart(apart), Some(routing)) = (case, encoder.backend.routing()) else {
            return Err(other());
        };
        let trained = encoder.layers_of(case)?;
        let layers = encoder.bert()?.0.layers();
        let router = apart.join.router();
        let heavy = router.map_or(0, |router| {
            router.layers_beside(encoder.shape.hidden_size).len()
        });
        let (heavy, composing) = trained.split_at_checked(heavy).ok_or_else(other)?;
        let routed = router.map_or(0, |router| router.layers);
        let (unrouted, routed) = layers
            .len()
            .checked_sub(routed)
            .map(|unrouted| layers.split_at(unrouted))
            .ok_or_else(other)?;
        Ok(Self {
            encoder,
            routing,
            router: router.map(|router| Weigh {
                backend: &encoder.backend,
                routing,
                router,
                hidden: encoder.shape.hidden_size,
                heavy,
            }),
            composed: apart.join.composition().map(|composition| Composed {
                backend: &encoder.backend,
                routing,
                composition,
                layers: composing,
                dropout: encoder.trained.dropout,
            }),
            prefixed: apart.join.prefix().map(|prefix| Prefixed {
                encoder,
                routing,
                prefix,
            }),
            unrouted,
            routed,
        })
    }

    /// A sentence as it is read, under a condition that may stand before it.
    ///
    /// # Errors
    /// What the tokenizer says; or the condition leaves no room for the sentence.
    pub fn sentence(
        &self,
        template: &Template<'_>,
        sentence: &Tokens,
        condition: &Tokens,
    ) -> Result<Sequence> {
        match self.prefixed {
            Some(_) => template.single_behind(sentence, condition),
            None => template.single(sentence),
        }
    }

    /// The states that enter the first routed layer, or leave the last where none is routed, and the batch on the device.
    fn enter(&self, batch: &Batch) -> Result<(B::Batch, B::Tensor)> {
        let backend = &self.encoder.backend;
        let (on_device, mut x) = self.encoder.bert()?.0.embed(backend, batch)?;
        for layer in self.unrouted {
            x = layer.forward(backend, &x, &on_device)?;
        }
        Ok((on_device, x))
    }

    /// The router, where it reads conditions: not where no layer is routed, or by chance.
    fn reading(&self) -> Option<&Weigh<'a, B>> {
        let router = self.router.as_ref();
        router.filter(|weigh| weigh.router.reads_condition())
    }

    /// Whether conditions are encoded at all.
    fn reads_conditions(&self) -> bool {
        self.composed.is_some() || self.prefixed.is_some() || self.reading().is_some()
    }

    /// Encodes conditions, each once, as far as they are needed.
    ///
    /// # Errors
    /// There is no condition, or what the device says.
    pub fn conditions(&self, texts: &Texts) -> Result<Conditions<B>> {
        let hidden = self.encoder.shape.hidden_size;
        let states = match self.reads_conditions() {
            true => Some(self.read(texts)?),
            false => None,
        };
        let (queries, states) = states.unzip();
        let queries = queries.unwrap_or_default();
        let joining = match (&self.composed, &states) {
            (Some(composed), Some(x)) => {
                composed.conditions(&self.encoder.backend.pool(x, &texts.pooling())?)?
            }
            _ => Vec::new(),
        };
        let batch = &texts.plan.batch;
        let states = states.filter(|_| self.prefixed.is_some());
        let prefix = states.as_ref().map_or(0, |_| hidden * batch.tokens());
        let queried = match self.reading() {
            // The same query in every layer is kept once.
            Some(weigh) if weigh.router.query == RouterQuery::Last => hidden,
            _ => hidden * queries.len(),
        };
        let joined = self
            .composed
            .as_ref()
            .map_or(0, |composed| composed.kept_of_condition(hidden));
        Ok(Conditions {
            queries,
            joining,
            digests: weigh::digests(batch),
            bytes: size_of::<f32>() * ((queried + joined) * texts.len() + prefix),
            states: states.map(|states| (states, batch.clone())),
        })
    }

    /// The conditions' queries for each routed layer, `[conditions, hidden]`, and their states: those that leave the last layer
    /// where they are put together with sentences or stand before them, and that nothing has weighed.
    fn read(&self, texts: &Texts) -> Result<(Vec<B::Tensor>, B::Tensor)> {
        let (backend, batch) = (&self.encoder.backend, &texts.plan.batch);
        let first_tokens: Vec<u32> = batch.ranges().map(|r| r.start as u32).collect();
        let (on_device, mut x) = self.enter(batch)?;
        let mut queries = Vec::with_capacity(self.routed.len());
        for (i, layer) in self.routed.iter().enumerate() {
            let last = i + 1 == self.routed.len();
            if let Some(weigh) = self.reading()
                && (last || weigh.router.query == RouterQuery::Same)
            {
                queries.push(weigh.query(layer, &self.routing.select(&x, &first_tokens)?)?);
            }
            if !last || self.composed.is_some() {
                x = layer.forward(backend, &x, &on_device)?;
            }
        }
        if let [last] = &queries[..] {
            queries = vec![last.clone(); self.routed.len()];
        }
        Ok((queries, x))
    }

    /// Encodes sentences, each once, as far as no condition is needed.
    ///
    /// # Errors
    /// There is no sentence, or what the device says.
    pub fn sentences(&self, texts: Texts) -> Result<Sentences<B>> {
        if self.prefixed.is_some() {
            return Ok(Sentences {
                texts,
                kept: Kept::Nothing,
                bytes: 0,
            });
        }
        let backend = &self.encoder.backend;
        let (batch, x) = self.enter(&texts.plan.batch)?;
        let hidden = self.encoder.shape.hidden_size;
        let (kept, numbers) = match (&self.router, self.routed.first()) {
            (Some(weigh), Some(layer)) => {
                let qkv = layer.query_key_value(backend, &x)?;
                let keys = weigh.keys(&x, &qkv)?;
                let matrices = 2 + usize::from(keys.is_some());
                let kept = Kept::Layer {
                    keys,
                    attended: layer.attend(backend, &qkv, &batch)?,
                    x,
                };
                (kept, matrices * hidden * texts.plan.batch.tokens())
            }
            _ => {
                let rows = backend.pool(&x, &texts.pooling())?;
                (Kept::Embeddings(rows), hidden * texts.len())
            }
        };
        Ok(Sentences {
            texts,
            kept,
            bytes: size_of::<f32>() * numbers,
        })
    }

    /// Embeddings of sentences under conditions, `[pairs, hidden]`.
    ///
    /// # Errors
    /// There is no pair, or a pair names a text that is not there.
    pub fn embed(
        &self,
        sentences: &Sentences<B>,
        conditions: &Conditions<B>,
        pairs: &[Routed],
    ) -> Result<B::Tensor> {
        self.embed_watched(sentences, conditions, pairs, |_| ())
    }

    /// As [`TriEncoder::embed`]; `watch` is given the weights of each routed layer in turn, `[Σ tokens, 1]` or `[Σ tokens,
    /// heads]`: of each pair those of its sentence's tokens, which sum to 1 in each column, or to less behind a prefix.
    ///
    /// # Errors
    /// As [`TriEncoder::embed`].
    pub fn embed_watched(
        &self,
        sentences: &Sentences<B>,
        conditions: &Conditions<B>,
        pairs: &[Routed],
        watch: impl FnMut(B::Tensor),
    ) -> Result<B::Tensor> {
        let wrong = |reason: &str| Err(Error::InvalidArgument(reason.into()));
        if pairs.is_empty() {
            return wrong("there is nothing to embed: no sentence is paired with a condition.");
        }
        let there = |pair: &Routed| {
            pair.sentence < sentences.texts.len() && pair.condition < conditions.digests.len()
        };
        if !pairs.iter().all(there) {
            return wrong("a pair names a sentence or a condition that was not encoded.");
        }
        let c: Vec<u32> = pairs.iter().map(|pair| pair.condition as u32).collect();
        let together = |composed: &Composed<'_, B>, rows: &B::Tensor, count: usize, s: &[u32]| {
            composed.join((rows, count), &conditions.joining, s, &c)
        };
        match (&self.router, &sentences.kept) {
            (Some(weigh), Kept::Layer { .. }) => {
                let routed = self.route(weigh, sentences, conditions, pairs, watch)?;
                let own: Vec<u32> = (0..pairs.len() as u32).collect();
                match &self.composed {
                    Some(composed) => together(composed, &routed, pairs.len(), &own),
                    None => Ok(routed),
                }
            }
            (_, Kept::Embeddings(rows)) => {
                let s: Vec<u32> = pairs.iter().map(|pair| pair.sentence as u32).collect();
                match &self.composed {
                    Some(composed) => together(composed, rows, sentences.texts.len(), &s),
                    None => self.routing.select(rows, &s),
                }
            }
            (_, Kept::Nothing) => match (&self.prefixed, &conditions.states) {
                (Some(prefixed), Some((states, batch))) => {
                    prefixed.embed(&sentences.texts, (states, batch), pairs, watch)
                }
                _ => Err(encoded_otherwise()),
            },
            (None, Kept::Layer { .. }) => Err(encoded_otherwise()),
        }
    }

    /// The rest of the routed layers.
    fn route(
        &self,
        weigh: &Weigh<'_, B>,
        sentences: &Sentences<B>,
        conditions: &Conditions<B>,
        pairs: &[Routed],
        mut watch: impl FnMut(B::Tensor),
    ) -> Result<B::Tensor> {
        let (Kept::Layer { x, keys, attended }, Some((first, later))) =
            (&sentences.kept, self.routed.split_first())
        else {
            return Err(encoded_otherwise());
        };
        let backend = &self.encoder.backend;
        let (mut routes, batch, pooling) = lay_out(sentences, pairs);
        let digests = weigh::digests(&sentences.texts.plan.batch);
        let texts: Vec<[u64; 2]> = pairs
            .iter()
            .map(|pair| [digests[pair.sentence], conditions.digests[pair.condition]])
            .collect();
        let mut weights = |number: usize, keys: Option<&B::Tensor>, routes: &[Route]| {
            let heads = first.heads();
            let queries = conditions.queries.get(number);
            let layer = self.unrouted.len() + number;
            let weights = weigh.weights(queries.zip(keys), routes, heads, layer, &texts)?;
            watch(weights.clone());
            Ok::<_, Error>(weights)
        };
        let tokens: Vec<u32> = routes
            .iter()
            .flat_map(|r| r.start..r.start + r.len)
            .collect();
        let gain = weigh.router.gain;
        let weighed = weights(0, keys.as_ref(), &routes)?;
        let attended = self.routing.scale(attended, &tokens, &weighed, gain)?;
        let x = self.routing.select(x, &tokens)?;
        let mut x = first.finish(backend, &attended, &x)?;
        if !later.is_empty() {
            // From here on each pair has tokens of its own.
            let on_device = backend.upload(&batch)?;
            for (route, range) in routes.iter_mut().zip(batch.ranges()) {
                route.start = range.start as u32;
            }
            let tokens: Vec<u32> = (0..batch.tokens() as u32).collect();
            for (layer, number) in later.iter().zip(1..) {
                let qkv = layer.query_key_value(backend, &x)?;
                let attended = layer.attend(backend, &qkv, &on_device)?;
                let keys = weigh.keys(&x, &qkv)?;
                let weights = weights(number, keys.as_ref(), &routes)?;
                let attended = self.routing.scale(&attended, &tokens, &weights, gain)?;
                x = layer.finish(backend, &attended, &x)?;
            }
        }
        backend.pool(&x, &pooling)
    }
}

fn encoded_otherwise() -> Error {
    Error::InvalidArgument(
        "these texts were encoded under other settings. Encode them again.".into(),
    )
}

/// Where pairs, whose texts are there, find their sentences and conditions, the batch of their tokens, and how that is pooled.
fn lay_out<B: Backend>(sentences: &Sentences<B>, pairs: &[Routed]) -> (Vec<Route>, Batch, Pooling) {
    let texts = &sentences.texts;
    let ranges: Vec<Range<usize>> = texts.plan.batch.ranges().collect();
    let mut routes = Vec::with_capacity(pairs.len());
    let mut batch = Batch::default();
    let mut pooling = Pooling {
        rows: pairs.len(),
        blocks: 1,
        terms: Vec::with_capacity(pairs.len()),
    };
    for (row, pair) in pairs.iter().enumerate() {
        let (range, pooled) = (&ranges[pair.sentence], &texts.pooled[pair.sentence]);
        let start = batch.push(
            &texts.plan.batch.ids[range.clone()],
            &texts.plan.batch.types[range.clone()],
        );
        routes.push(Route {
            start: range.start as u32,
            len: range.len() as u32,
            query: pair.condition as u32,
        });
        pooling.terms.push(PoolTerm {
            row: row as u32,
            block: 0,
            start: (start + pooled.start) as u32,
            len: pooled.len() as u32,
            weight: 1.0,
        });
    }
    (routes, batch, pooling)
}

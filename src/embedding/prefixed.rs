//! Tri-encoders whose sentences are read behind their condition, as the published program of CSR has it
//! (<https://github.com/bigai-nlco/CSR>), other than its paper: in every layer, and not in the routed ones alone, a sentence's
//! tokens attend to the condition's states too, those that leave its last layer.
//!
//! A condition takes one pass, as everywhere among tri-encoders; a sentence takes one under each of its conditions, so that
//! nothing of it can be kept. Its positions count on from the condition's. In the last layers the sentence's attention output
//! h' becomes (1 + w) ∗ h', w the attention of its first token to each of its tokens, the mean over the heads.

use super::{
    apart::Prefix,
    encoder::Encoder,
    plan::begin_row,
    texts::{Routed, Texts},
};
use crate::{
    backend::{AttentionRow, Backend, Gain, PoolTerm, Pooling, Routing, Stretch},
    error::Result,
    text::Batch,
};

/// A [`Prefix`] on an encoder.
pub struct Prefixed<'a, B: Backend> {
    pub(super) encoder: &'a Encoder<B>,
    pub(super) routing: &'a dyn Routing<Tensor = B::Tensor>,
    pub(super) prefix: Prefix,
}

/// Pairs as one batch: each is its condition's tokens and behind them its sentence's.
#[derive(Default)]
struct Laid {
    batch: Batch,
    /// Rows of the conditions' states, pair by pair.
    prefixes: Vec<u32>,
    /// Rows of the batch that are sentences', pair by pair.
    sentences: Vec<u32>,
    /// Where each row of the batch lies, once the sentences' rows stand below the conditions'.
    order: Vec<u32>,
    /// The first token of each sentence, and all tokens of its pair.
    firsts: Vec<AttentionRow>,
    pairs: Vec<Stretch>,
    /// Over the sentences' rows.
    pooling: Pooling,
}

impl Laid {
    fn out(sentences: &Texts, conditions: &Batch, pairs: &[Routed]) -> Self {
        let texts: Vec<_> = sentences
            .plan
            .batch
            .ranges()
            .zip(&sentences.pooled)
            .collect();
        let ranges: Vec<_> = conditions.ranges().collect();
        let mut laid = Self::default();
        let joined = |of: fn(&Batch) -> &Vec<u32>, pair: &Routed| {
            let (condition, sentence) = (&ranges[pair.condition], &texts[pair.sentence].0);
            let first = of(conditions)[condition.clone()].iter();
            let both = first.chain(&of(&sentences.plan.batch)[sentence.clone()]);
            both.copied().collect::<Vec<_>>()
        };
        let before: usize = pairs.iter().map(|pair| ranges[pair.condition].len()).sum();
        for (pair, row) in pairs.iter().zip(0..) {
            let (condition, (sentence, pooled)) = (&ranges[pair.condition], &texts[pair.sentence]);
            let (ids, types) = (joined(|b| &b.ids, pair), joined(|b| &b.types, pair));
            let start = laid.batch.push(&ids, &types);
            let (own, begins) = (start + condition.len(), laid.sentences.len());
            laid.order
                .extend((0..condition.len()).map(|i| (laid.prefixes.len() + i) as u32));
            laid.order
                .extend((0..sentence.len()).map(|i| (before + begins + i) as u32));
            laid.prefixes
                .extend(condition.clone().map(|token| token as u32));
            laid.sentences
                .extend((own..own + sentence.len()).map(|token| token as u32));
            laid.firsts.push(AttentionRow {
                query: own as u32,
                start: start as u32,
                len: ids.len() as u32,
                head: None,
            });
            laid.pairs.push(Stretch {
                row,
                first: 0,
                start: start as u32,
                len: ids.len() as u32,
            });
            let row = begin_row(&mut laid.pooling, 1);
            laid.pooling.terms.push(PoolTerm {
                row,
                block: 0,
                start: (begins + pooled.start) as u32,
                len: pooled.len() as u32,
                weight: 1.0,
            });
        }
        laid
    }
}

impl<B: Backend> Prefixed<'_, B> {
    /// Embeddings of sentences under conditions, `[pairs, hidden]`, by the conditions' last states, `[tokens, hidden]`, and their
    /// tokens. `watch` is given the weights of the sentences' tokens, `[Σ tokens, 1]`, in each layer that has some: what is
    /// left to 1 goes to the condition.
    ///
    /// # Errors
    /// A pair is longer than the encoder's positions, or what the device says.
    pub(super) fn embed(
        &self,
        sentences: &Texts,
        (states, conditions): (&B::Tensor, &Batch),
        pairs: &[Routed],
        mut watch: impl FnMut(B::Tensor),
    ) -> Result<B::Tensor> {
        let (backend, routing) = (&self.encoder.backend, self.routing);
        let bert = &self.encoder.bert()?.0;
        let laid = Laid::out(sentences, conditions, pairs);
        let (on_device, embedded) = bert.embed(backend, &laid.batch)?;
        let prefixes = routing.select(states, &laid.prefixes)?;
        let mut x = routing.select(&embedded, &laid.sentences)?;
        let own: Vec<u32> = (0..laid.sentences.len() as u32).collect();
        let plain = bert.layers().len().saturating_sub(self.prefix.layers);
        for (i, layer) in bert.layers().iter().enumerate() {
            let both = routing.select(&routing.stack(&prefixes, &x)?, &laid.order)?;
            let qkv = layer.query_key_value(backend, &both)?;
            let attended = layer.attend(backend, &qkv, &on_device)?;
            let mut attended = routing.select(&attended, &laid.sentences)?;
            if i >= plain {
                let attention = layer.attention_weights(backend, &qkv, &laid.firsts)?;
                // A row of attention sums to 1: shares of all of it are the weights themselves.
                let weights = routing.shares(&attention, &laid.pairs)?;
                let weights = routing.select(&weights, &laid.sentences)?;
                attended = routing.scale(&attended, &own, &weights, Gain::OnePlusWeight)?;
                watch(weights);
            }
            x = layer.finish(backend, &attended, &x)?;
        }
        backend.pool(&x, &laid.pooling)
    }
}

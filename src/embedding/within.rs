//! A router in a bi-encoder (CSR; Lin et al., 2024, Section 3.1): sentence and condition are one input, and the condition
//! weighs the sentence's tokens by how it attends to them.
//!
//! In a routed layer w is the attention of the first token of the condition's part (its `[CLS]`, where it comes first) to the
//! sentence's tokens: the mean over the heads of attention's own probabilities, as the authors' program takes it, divided by
//! their sum over the sentence. The sentence's attention outputs h' become (1 + w) ∗ h'; all other tokens keep theirs.

use super::{case::JointRouter, plan::Read};
use crate::{
    backend::{AttentionRow, Backend, Routing, Stretch},
    error::Result,
    model::bert::Layer,
};

/// A router on the inputs of a batch.
pub struct Within<'a, B: Backend> {
    backend: &'a B,
    routing: &'a dyn Routing<Tensor = B::Tensor>,
    router: JointRouter,
    /// The first routed layer.
    first: usize,
    /// The condition's token of each input.
    rows: Vec<AttentionRow>,
    /// The sentence's tokens of each input, and their rows in the batch.
    stretches: Vec<Stretch>,
    tokens: Vec<u32>,
    /// Where each token of the batch lies once the scaled ones stand below all of them.
    order: Vec<u32>,
}

impl<'a, B: Backend> Within<'a, B> {
    /// The router on `reads`, in each of which sentence and condition are one input, of a batch of so many tokens; `first` is
    /// the first routed layer.
    pub fn new<'r>(
        backend: &'a B,
        routing: &'a dyn Routing<Tensor = B::Tensor>,
        (router, first): (JointRouter, usize),
        reads: impl Iterator<Item = &'r Read>,
        tokens: usize,
    ) -> Self {
        let mut within = Self {
            backend,
            routing,
            router,
            first,
            rows: Vec::new(),
            stretches: Vec::new(),
            tokens: Vec::new(),
            order: (0..tokens as u32).collect(),
        };
        for read in reads {
            within.add(read);
        }
        within
    }

    fn add(&mut self, read: &Read) {
        let sequence = &read.sequence;
        let (condition, sentence) = (sequence.condition.start, sequence.sentence.clone());
        if sentence.is_empty() {
            return;
        }
        let start = read.placed.start as u32;
        // A part that comes first begins with the input's own first token.
        let begins = if condition < sentence.start {
            0
        } else {
            condition
        };
        self.stretches.push(Stretch {
            row: self.rows.len() as u32,
            first: sentence.start as u32,
            start: start + sentence.start as u32,
            len: sentence.len() as u32,
        });
        self.rows.push(AttentionRow {
            query: start + begins as u32,
            start,
            len: sequence.ids.len() as u32,
            head: None,
        });
        let all = self.order.len() as u32;
        for token in sentence {
            let token = start + token as u32;
            self.order[token as usize] = all + self.tokens.len() as u32;
            self.tokens.push(token);
        }
    }

    /// The attention output of the layer of that number, `[tokens, hidden]`, from what it gave, `attended`, and what that was
    /// made of, `qkv`.
    pub fn scale(
        &self,
        number: usize,
        layer: &Layer<B>,
        qkv: &B::Tensor,
        attended: B::Tensor,
    ) -> Result<B::Tensor> {
        if number < self.first || self.rows.is_empty() {
            return Ok(attended);
        }
        let attention = layer.attention_weights(self.backend, qkv, &self.rows)?;
        let weights = self.routing.shares(&attention, &self.stretches)?;
        let (tokens, gain) = (&self.tokens, self.router.gain);
        let scaled = self.routing.scale(&attended, tokens, &weights, gain)?;
        let both = self.routing.stack(&attended, &scaled)?;
        self.routing.select(&both, &self.order)
    }
}

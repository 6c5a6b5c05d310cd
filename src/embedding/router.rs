//! CSR, the tri-encoder with a router (Lin et al., 2024): sentence and condition are encoded apart, and the
//! condition says which of the sentence's tokens count. It adds no parameters.
//!
//! In a routed layer (the last, or the last few) the query q_c of the condition's first token scores the
//! sentence's keys, head by head: w = softmax(q_c·K_sᵀ / √d) over the sentence's tokens. The sentence's
//! attention output h' becomes h = (1 + w) ∗ h' before its output projection and residual; the last hidden
//! states are averaged. (The authors' code averages w over the heads; here each head has its own.) h = w ∗ h' is
//! the default: it trains far better here than the paper's 1 + w.
//!
//! Up to the first routed layer, attention included, a sentence knows nothing of the condition: for S
//! sentences under C conditions the encoder runs S + C times, and only the rest of the last layer S · C times.
//! [`TriEncoder::sentences`] and [`TriEncoder::conditions`] are what is kept, [`TriEncoder::embed`] the rest:
//!
//! ```no_run
//! # use caselens::{Result, backend::{Gain, candle::Candle}, embedding::{Case, Encoder, Router}};
//! # use caselens::embedding::router::{Routed, Texts, TriEncoder};
//! # fn example(encoder: &Encoder<Candle>) -> Result<()> {
//! let case = Case::tri(Router { layers: 1, gain: Gain::Weight });
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

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    ops::Range,
};

use super::{
    Case, Encoder, Input, Pool, Router,
    case::Apart,
    encoder::{Embedded, Made},
    plan::{Job, Pass, Plan, TOKEN_BUDGET},
};
use crate::{
    backend::{Backend, PoolTerm, Pooling, Route, Routing},
    error::{Error, Result},
    model::bert::Layer,
    text::{Batch, Sequence},
};

/// Distinct texts in one batch.
#[derive(Default)]
pub struct Texts {
    plan: Plan,
    /// The tokens of each text that are averaged, counted from its first.
    pooled: Vec<Range<usize>>,
}

impl Texts {
    /// The index of a text, new or known.
    pub fn add(&mut self, text: &Sequence, pool: Pool) -> usize {
        let placed = self.plan.add_once(text);
        if placed.index == self.pooled.len() {
            self.pooled.push(pool.span(text));
        }
        placed.index
    }
}

/// A sentence under a condition, by their indices among [`Texts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Routed {
    /// The sentence's index.
    pub sentence: usize,
    /// The condition's index.
    pub condition: usize,
}

/// What of conditions is kept.
pub struct Conditions<B: Backend> {
    /// For each routed layer, query, key and value of each condition's first token: `[conditions, 3 · hidden]`.
    queries: Vec<B::Tensor>,
    count: usize,
}

/// What of sentences is kept: all that no condition changes.
pub struct Sentences<B: Backend> {
    texts: Texts,
    /// The first routed layer's input, `[tokens, hidden]`.
    x: B::Tensor,
    /// Its query, key and value, `[tokens, 3 · hidden]`.
    qkv: B::Tensor,
    /// Its attention output h', `[tokens, hidden]`.
    attended: B::Tensor,
}

/// An encoder as CSR uses it.
pub struct TriEncoder<'a, B: Backend> {
    encoder: &'a Encoder<B>,
    routing: &'a dyn Routing<Tensor = B::Tensor>,
    router: Router,
    /// The layers before the routed ones, and those.
    unrouted: &'a [Layer<B>],
    first: &'a Layer<B>,
    later: &'a [Layer<B>],
}

impl<'a, B: Backend> TriEncoder<'a, B> {
    /// # Errors
    /// `case` is no tri-encoder's, or not one that [`Encoder::check`] allows.
    pub fn new(encoder: &'a Encoder<B>, case: &Case) -> Result<Self> {
        encoder.check(case)?;
        let layers = encoder.bert()?.0.layers();
        let parts = match (case, encoder.backend.routing()) {
            (Case::Apart(Apart { router, .. }), Some(routing)) => layers
                .len()
                .checked_sub(router.layers)
                .and_then(|at| layers.split_at_checked(at))
                .and_then(|(unrouted, routed)| Some((unrouted, routed.split_first()?)))
                .map(|parts| (*router, routing, parts)),
            _ => None,
        };
        let Some((router, routing, (unrouted, (first, later)))) = parts else {
            return Err(Error::InvalidArgument(
                "these are settings of a bi-encoder, not of a tri-encoder.".into(),
            ));
        };
        Ok(Self {
            encoder,
            routing,
            router,
            unrouted,
            first,
            later,
        })
    }

    /// The states that enter the first routed layer, and the batch on the device.
    fn enter(&self, batch: &Batch) -> Result<(B::Batch, B::Tensor)> {
        let backend = &self.encoder.backend;
        let (on_device, mut x) = self.encoder.bert()?.0.embed(backend, batch)?;
        for layer in self.unrouted {
            x = layer.forward(backend, &x, &on_device)?;
        }
        Ok((on_device, x))
    }

    /// Encodes conditions, each once.
    pub fn conditions(&self, texts: &Texts) -> Result<Conditions<B>> {
        let backend = &self.encoder.backend;
        let (batch, mut x) = self.enter(&texts.plan.batch)?;
        let first_tokens: Vec<u32> = texts.plan.batch.ranges().map(|r| r.start as u32).collect();
        let query = |layer: &Layer<B>, x: &B::Tensor| {
            layer.query_key_value(backend, &self.routing.select(x, &first_tokens)?)
        };
        let mut queries = vec![query(self.first, &x)?];
        let mut before = self.first;
        for layer in self.later {
            x = before.forward(backend, &x, &batch)?;
            queries.push(query(layer, &x)?);
            before = layer;
        }
        Ok(Conditions {
            queries,
            count: texts.plan.batch.len(),
        })
    }

    /// Encodes sentences, each once, as far as no condition is needed.
    pub fn sentences(&self, texts: Texts) -> Result<Sentences<B>> {
        let backend = &self.encoder.backend;
        let (batch, x) = self.enter(&texts.plan.batch)?;
        let qkv = self.first.query_key_value(backend, &x)?;
        let attended = self.first.attend(backend, &qkv, &batch)?;
        Ok(Sentences {
            texts,
            x,
            qkv,
            attended,
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
        let backend = &self.encoder.backend;
        let (mut routes, batch, pooling) = self.lay_out(sentences, conditions, pairs)?;
        let mut queries = conditions.queries.iter();
        let missing = || {
            Error::InvalidArgument(
                "the conditions were encoded for fewer routed layers. Encode them again.".into(),
            )
        };
        let tokens: Vec<u32> = routes
            .iter()
            .flat_map(|r| r.start..r.start + r.len)
            .collect();
        let first = queries.next().ok_or_else(missing)?;
        let (attended, qkv) = (&sentences.attended, &sentences.qkv);
        let attended = self.route(self.first, attended, qkv, first, &routes)?;
        let x = self.routing.select(&sentences.x, &tokens)?;
        let mut x = self.first.finish(backend, &attended, &x)?;
        if !self.later.is_empty() {
            // From here on each pair has tokens of its own.
            let on_device = backend.upload(&batch)?;
            for (route, range) in routes.iter_mut().zip(batch.ranges()) {
                route.start = range.start as u32;
            }
            for layer in self.later {
                let qkv = layer.query_key_value(backend, &x)?;
                let attended = layer.attend(backend, &qkv, &on_device)?;
                let query = queries.next().ok_or_else(missing)?;
                let attended = self.route(layer, &attended, &qkv, query, &routes)?;
                x = layer.finish(backend, &attended, &x)?;
            }
        }
        backend.pool(&x, &pooling)
    }

    fn route(
        &self,
        layer: &Layer<B>,
        attended: &B::Tensor,
        qkv: &B::Tensor,
        queries: &B::Tensor,
        routes: &[Route],
    ) -> Result<B::Tensor> {
        let (heads, gain) = (layer.heads(), self.router.gain);
        self.routing
            .route(attended, qkv, queries, routes, heads, gain)
    }

    /// Where pairs find their sentences and conditions, the batch of their tokens, and how that is pooled.
    fn lay_out(
        &self,
        sentences: &Sentences<B>,
        conditions: &Conditions<B>,
        pairs: &[Routed],
    ) -> Result<(Vec<Route>, Batch, Pooling)> {
        let wrong = |reason: &str| Error::InvalidArgument(reason.into());
        if pairs.is_empty() {
            return Err(wrong(
                "there is nothing to embed: no sentence is paired with a condition.",
            ));
        }
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
            let (Some(range), Some(pooled), true) = (
                ranges.get(pair.sentence),
                texts.pooled.get(pair.sentence),
                pair.condition < conditions.count,
            ) else {
                return Err(wrong(
                    "a pair names a sentence or a condition that was not encoded.",
                ));
            };
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
        Ok((routes, batch, pooling))
    }
}

/// Distinct texts in batches of about [`TOKEN_BUDGET`] tokens.
#[derive(Default)]
struct Batches {
    all: Vec<Texts>,
    known: HashMap<Vec<u32>, (usize, usize)>,
}

impl Batches {
    /// A text's batch and its index there.
    fn add(&mut self, text: &Sequence, pool: Pool) -> (usize, usize) {
        if let Some(&place) = self.known.get(&text.ids) {
            return place;
        }
        let full = |last: &Texts| last.plan.is_full();
        if self.all.last().is_none_or(full) {
            self.all.push(Texts::default());
        }
        let batch = self.all.len() - 1;
        let place = (batch, self.all[batch].add(text, pool));
        self.known.insert(text.ids.clone(), place);
        place
    }
}

/// Passes of inputs whose sentences and conditions are encoded apart, each once.
pub struct ApartPasses<'a, B: Backend> {
    tri: TriEncoder<'a, B>,
    /// Texts by themselves.
    plain: VecDeque<Pass>,
    conditions: VecDeque<Texts>,
    encoded: Vec<Conditions<B>>,
    /// Sentences with what is asked of them, batch by batch.
    sentences: VecDeque<(Texts, VecDeque<Portion>)>,
    current: Option<(Sentences<B>, VecDeque<Portion>)>,
}

/// Inputs that pair a batch of sentences with the batch of conditions of this number.
struct Portion {
    conditions: usize,
    uses: Vec<(usize, Routed)>,
}

impl<'a, B: Backend> ApartPasses<'a, B> {
    /// Sorts the inputs of `job` into passes, and says which of them were cut.
    ///
    /// # Errors
    /// As [`TriEncoder::new`]; or a condition does not fit.
    pub fn new(
        encoder: &'a Encoder<B>,
        job: Job<'a>,
        case: &Case,
        cuts: &mut Vec<(usize, usize)>,
    ) -> Result<Self> {
        let (tri, template) = (TriEncoder::new(encoder, case)?, encoder.template());
        let mut plain: VecDeque<Pass> = VecDeque::new();
        let (mut sentences, mut conditions) = (Batches::default(), Batches::default());
        // By the batches of sentence and condition: the inputs that pair them.
        let mut uses: BTreeMap<(usize, usize), Vec<(usize, Routed)>> = BTreeMap::new();
        for (i, input) in job.inputs.iter().enumerate() {
            let cut = match input {
                Input::Single(text) => {
                    if plain.back().is_none_or(|pass| pass.plan.is_full()) {
                        plain.push_back(Pass::default());
                    }
                    match plain.back_mut() {
                        Some(pass) => pass.add_plain(i, text, &template, job.plain)?,
                        None => 0,
                    }
                }
                Input::Conditional {
                    sentence,
                    condition,
                } => {
                    let (text, alone) = (
                        template.single(sentence)?,
                        template.condition_alone(condition)?,
                    );
                    let (s, sentence) = sentences.add(&text, case.pooling());
                    let (c, condition) = conditions.add(&alone, case.pooling());
                    let pair = Routed {
                        sentence,
                        condition,
                    };
                    uses.entry((s, c)).or_default().push((i, pair));
                    text.cut
                }
            };
            if cut > 0 {
                cuts.push((i, cut));
            }
        }
        let sentences = sentences.all.into_iter().enumerate().map(|(s, texts)| {
            let uses = uses.range((s, 0)..(s + 1, 0));
            let portions = uses.flat_map(|(&(_, conditions), uses)| {
                let uses = portions(uses, &texts).into_iter();
                uses.map(move |uses| Portion {
                    conditions,
                    uses: uses.to_vec(),
                })
            });
            let portions = portions.collect();
            (texts, portions)
        });
        Ok(Self {
            plain,
            sentences: sentences.collect(),
            conditions: conditions.all.into(),
            encoded: Vec::new(),
            current: None,
            tri,
        })
    }

    /// The embeddings of the next pass; `None` after the last.
    pub fn embed_next(&mut self) -> Result<Option<Embedded<B>>> {
        if let Some(pass) = self.plain.pop_front() {
            return self.tri.encoder.embed_pass(pass, false).map(Some);
        }
        while let Some(texts) = self.conditions.pop_front() {
            self.encoded.push(self.tri.conditions(&texts)?);
        }
        loop {
            if let Some((sentences, portions)) = &mut self.current
                && let Some(portion) = portions.pop_front()
            {
                let (inputs, pairs): (Vec<_>, Vec<_>) = portion.uses.into_iter().unzip();
                let conditions = &self.encoded[portion.conditions];
                return Ok(Some(Embedded {
                    plain: None,
                    conditional: Some(Made {
                        rows: self.tri.embed(sentences, conditions, &pairs)?,
                        inputs,
                    }),
                    look: None,
                }));
            }
            let Some((texts, portions)) = self.sentences.pop_front() else {
                return Ok(None);
            };
            self.current = Some((self.tri.sentences(texts)?, portions));
        }
    }
}

/// Uses of sentences in portions of about [`TOKEN_BUDGET`] tokens.
fn portions<'a>(mut uses: &'a [(usize, Routed)], texts: &Texts) -> Vec<&'a [(usize, Routed)]> {
    let lengths: Vec<usize> = texts.plan.batch.ranges().map(|r| r.len()).collect();
    let mut all = Vec::new();
    while !uses.is_empty() {
        let mut tokens = 0;
        let full = uses.iter().position(|(_, pair)| {
            tokens += lengths[pair.sentence];
            tokens >= TOKEN_BUDGET
        });
        let (portion, rest) = uses.split_at(full.map_or(uses.len(), |last| last + 1));
        all.push(portion);
        uses = rest;
    }
    all
}

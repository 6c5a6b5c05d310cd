//! CASE for masked-language-model encoders: the condition is read in the context of the sentence, and the
//! condition's own embedding is subtracted.
//!
//! CASE(s, c) = f(s, c) − f(c), where f(s, c) pools the hidden states of one joint input over a span of
//! its tokens. Small encoders need the condition's own tokens pooled (zero-shot Spearman on C-STS 19.1
//! against 3.0 for all tokens with all-MiniLM-L6-v2); with a trained head, both orders of the two texts
//! side by side are better than one.

use std::{collections::HashMap, ops::Range};

use serde::{Deserialize, Serialize};

use crate::{
    backend::{Gain, PoolTerm, Pooling},
    error::Result,
    text::{Batch, Order, Sequence, Setting, Template, Wrapper, template::Tokens},
};

/// Which hidden states of an input are averaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(not(target_arch = "wasm32"), derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Pool {
    /// The first token alone.
    Cls,
    /// Every token, special tokens included (as sentence-transformers does).
    All,
    /// The condition's tokens.
    Condition,
    /// The sentence's tokens.
    Sentence,
    /// The last token alone: what a decoder has read the whole input for.
    Last,
    /// The embedded text's tokens, without its instruction's.
    Query,
}

impl Pool {
    pub(crate) fn span(self, sequence: &Sequence) -> Range<usize> {
        match self {
            Self::Cls => 0..1,
            Self::All => 0..sequence.ids.len(),
            Self::Last => sequence.ids.len().saturating_sub(1)..sequence.ids.len(),
            Self::Condition | Self::Query => sequence.condition.clone(),
            Self::Sentence => sequence.sentence.clone(),
        }
    }
}

/// How sentence and condition meet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Architecture {
    /// In one input of the encoder: a pass for each pair of the two.
    #[default]
    Bi,
    /// Encoded apart, the condition scaling the sentence's last attention outputs: a pass for each sentence
    /// and one for each condition (CSR; [`super::router`]).
    Tri(Router),
    /// In one input of an encoder that follows instructions: one is embedded, the other is in its instruction.
    Instruct(Instruct),
}

/// The prompts of an encoder that follows instructions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Instruct {
    pub setting: Setting,
    pub wrapper: Wrapper,
}

impl Architecture {
    fn is_bi(&self) -> bool {
        *self == Self::Bi
    }
}

/// The settings of CSR's router.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Router {
    /// It works in so many of the encoder's last layers.
    pub layers: usize,
    pub gain: Gain,
}

/// The settings of a condition-aware embedding.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Case {
    /// One block of the embedding an order, side by side.
    pub orders: Vec<Order>,
    pub pooling: Pool,
    /// Whether the condition's own embedding is subtracted.
    pub subtract: bool,
    /// A tri-encoder has no orders, and subtracts nothing.
    #[serde(default, skip_serializing_if = "Architecture::is_bi")]
    pub architecture: Architecture,
}

impl Default for Case {
    /// What works best for a frozen small encoder with a head.
    fn default() -> Self {
        Self {
            orders: vec![Order::ConditionSentence, Order::SentenceCondition],
            pooling: Pool::Condition,
            subtract: true,
            architecture: Architecture::Bi,
        }
    }
}

impl Case {
    /// Width of the embedding for an encoder of this hidden size.
    pub fn dims(&self, hidden: usize) -> usize {
        match self.architecture {
            Architecture::Bi => self.orders.len() * hidden,
            Architecture::Tri(_) | Architecture::Instruct(_) => hidden,
        }
    }

    /// CASE of an encoder that follows instructions: f(c; I(s)) − f(c; I(∅)).
    pub fn instruct(wrapper: Wrapper, pooling: Pool) -> Self {
        Self {
            orders: Vec::new(),
            pooling,
            subtract: true,
            architecture: Architecture::Instruct(Instruct {
                setting: Setting::Condition,
                wrapper,
            }),
        }
    }

    /// A tri-encoder's embedding: all tokens of the sentence averaged.
    pub fn tri(router: Router) -> Self {
        Self {
            orders: Vec::new(),
            pooling: Pool::All,
            subtract: false,
            architecture: Architecture::Tri(router),
        }
    }

    /// What is wrong with these settings, whatever the encoder.
    pub fn fault(&self) -> Option<&'static str> {
        match self.architecture {
            Architecture::Instruct(_) if !self.orders.is_empty() => {
                Some("behind an instruction there is no order of condition and sentence")
            }
            Architecture::Instruct(_)
                if matches!(self.pooling, Pool::Condition | Pool::Sentence) =>
            {
                Some("behind an instruction the pooling is query, last, all or cls")
            }
            Architecture::Bi | Architecture::Tri(_) if self.pooling == Pool::Query => {
                Some("the pooling query is for encoders that follow instructions")
            }
            Architecture::Bi if self.orders.is_empty() => {
                Some("a bi-encoder needs an order of condition and sentence")
            }
            Architecture::Tri(_) if !self.orders.is_empty() || self.subtract => {
                Some("a tri-encoder has no order of condition and sentence, and subtracts nothing")
            }
            Architecture::Tri(_) if self.pooling == Pool::Condition => {
                Some("a tri-encoder pools the sentence's input, which holds no condition")
            }
            Architecture::Tri(router) if router.layers == 0 => {
                Some("a tri-encoder's router needs a layer to work in")
            }
            _ => None,
        }
    }
}

/// One thing to embed.
#[derive(Clone)]
pub enum Input {
    /// A text by itself.
    Single(Tokens),
    /// A sentence under a condition.
    Conditional { sentence: Tokens, condition: Tokens },
}

/// A batch and the poolings that make embeddings of it: what a backend is given.
#[derive(Default)]
pub struct Plan {
    pub batch: Batch,
    /// One row a single text, `[hidden]` wide.
    pub singles: Pooling,
    /// One row a conditional input, `[orders · hidden]` wide.
    pub conditionals: Pooling,
    /// Conditions already in the batch by themselves.
    alone: HashMap<Vec<u32>, (usize, Range<usize>)>,
}

impl Plan {
    /// Adds an input and returns how many of its sentence's tokens were cut.
    pub fn push(
        &mut self,
        case: &Case,
        single_pool: Pool,
        template: &Template<'_>,
        input: &Input,
    ) -> Result<usize> {
        match input {
            Input::Single(text) => self.push_single(single_pool, template, text),
            Input::Conditional {
                sentence,
                condition,
            } => self.push_conditional(case, template, sentence, condition),
        }
    }

    /// Adds a sequence and one row of it, a block a pooling: `[pools · hidden]` wide.
    pub fn push_pooled(&mut self, sequence: &Sequence, pools: &[Pool]) {
        let start = self.batch.push(&sequence.ids, &sequence.types);
        let row = begin_row(&mut self.conditionals, pools.len());
        for (block, pool) in pools.iter().enumerate() {
            let span = pool.span(sequence);
            add_term(&mut self.conditionals, row, block, start, span, 1.0);
        }
    }

    fn push_single(&mut self, pool: Pool, template: &Template<'_>, text: &Tokens) -> Result<usize> {
        let single = template.single(text)?;
        let start = self.batch.push(&single.ids, &single.types);
        let row = begin_row(&mut self.singles, 1);
        add_term(&mut self.singles, row, 0, start, pool.span(&single), 1.0);
        Ok(single.cut)
    }

    fn push_conditional(
        &mut self,
        case: &Case,
        template: &Template<'_>,
        sentence: &Tokens,
        condition: &Tokens,
    ) -> Result<usize> {
        let pooling = &mut self.conditionals;
        let row = begin_row(pooling, case.orders.len());
        let mut cut = 0;
        for (block, &order) in case.orders.iter().enumerate() {
            let joint = template.pair(sentence, condition, order)?;
            let start = self.batch.push(&joint.ids, &joint.types);
            add_term(pooling, row, block, start, case.pooling.span(&joint), 1.0);
            cut = cut.max(joint.cut);
        }
        if case.subtract {
            let alone = template.condition_alone(condition)?;
            let (start, span) = match self.alone.get(&alone.ids) {
                Some(known) => known.clone(),
                None => {
                    let start = self.batch.push(&alone.ids, &alone.types);
                    let known = (start, case.pooling.span(&alone));
                    self.alone.insert(alone.ids, known.clone());
                    known
                }
            };
            for block in 0..case.orders.len() {
                add_term(pooling, row, block, start, span.clone(), -1.0);
            }
        }
        Ok(cut)
    }
}

fn begin_row(pooling: &mut Pooling, blocks: usize) -> u32 {
    pooling.blocks = blocks;
    pooling.rows += 1;
    pooling.rows as u32 - 1
}

fn add_term(
    pooling: &mut Pooling,
    row: u32,
    block: usize,
    start: usize,
    span: Range<usize>,
    weight: f32,
) {
    pooling.terms.push(PoolTerm {
        row,
        block: block as u32,
        start: (start + span.start) as u32,
        len: span.len() as u32,
        weight,
    });
}

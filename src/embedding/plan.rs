//! What a forward pass reads, and how embeddings are pooled from it: f(s, c) − f(c) is put together here, for
//! comparisons, explanations, the router, instructions and training alike.

use std::{collections::HashMap, ops::Range};

use super::{Case, Input, Pool, case::Joint};
use crate::{
    backend::{AttentionRow, PoolTerm, Pooling},
    error::{Error, Result},
    text::{Batch, Order, Sequence, Template, template::Tokens},
};

/// Tokens that a pass holds before the next one begins. Large enough to fill a device, small enough that activations
/// stay within a few dozen MB.
pub const TOKEN_BUDGET: usize = 2048;

/// The sequences of a pass, end to end.
#[derive(Default)]
pub struct Plan {
    /// What the encoder is given.
    pub batch: Batch,
    /// Those that are there once, by their tokens.
    known: HashMap<Vec<u32>, Placed>,
}

/// A sequence in a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// Which of the batch's sequences it is.
    pub index: usize,
    /// Its first token among the batch's.
    pub start: usize,
}

impl Plan {
    /// Adds a sequence.
    pub fn add(&mut self, sequence: &Sequence) -> Placed {
        Placed {
            index: self.batch.len(),
            start: self.batch.push(&sequence.ids, &sequence.types),
        }
    }

    /// Adds a text by itself, or finds it where it is there already.
    pub fn add_once(&mut self, text: &Sequence) -> Placed {
        if let Some(&placed) = self.known.get(&text.ids) {
            return placed;
        }
        let placed = self.add(text);
        self.known.insert(text.ids.clone(), placed);
        placed
    }

    /// Whether the next sequence belongs in another pass.
    pub fn is_full(&self) -> bool {
        self.batch.tokens() >= TOKEN_BUDGET
    }
}

/// A sequence that a plan holds, and what is pooled of it.
#[derive(Debug, Clone)]
pub struct Read {
    /// Which text comes first; `None` for a text by itself.
    pub order: Option<Order>,
    /// The tokens.
    pub sequence: Sequence,
    /// Where they lie in the batch.
    pub placed: Placed,
}

impl Read {
    /// A text by itself.
    pub fn single(plan: &mut Plan, sequence: Sequence) -> Self {
        Self::of(plan, sequence, None)
    }

    /// A text by itself, or two in an order.
    pub fn of(plan: &mut Plan, sequence: Sequence, order: Option<Order>) -> Self {
        Self {
            order,
            placed: plan.add(&sequence),
            sequence,
        }
    }

    /// Each of the condition's tokens and the sequence that it attends to.
    pub fn attention_rows(&self) -> impl Iterator<Item = AttentionRow> {
        self.attention_rows_of(self.sequence.condition.clone(), None)
    }

    /// Some of its tokens and the sequence that they attend to, by one head or by the mean over all.
    pub fn attention_rows_of(
        &self,
        tokens: Range<usize>,
        head: Option<u32>,
    ) -> impl Iterator<Item = AttentionRow> + use<> {
        let (start, len) = (self.placed.start as u32, self.sequence.ids.len() as u32);
        tokens.map(move |token| AttentionRow {
            query: start + token as u32,
            start,
            len,
            head,
        })
    }

    /// The mean over the tokens that `pool` names, `weight` times, as part of a row.
    pub fn term(&self, pool: Pool, row: u32, block: u32, weight: f32) -> PoolTerm {
        term(&self.sequence, self.placed, pool, row, block, weight)
    }
}

/// As [`Read::term`], of a sequence that is placed. The term is over the rows that
/// [`Encoder::states`](super::Encoder::states) gives for this pooling.
pub fn term(
    sequence: &Sequence,
    placed: Placed,
    pool: Pool,
    row: u32,
    block: u32,
    weight: f32,
) -> PoolTerm {
    let span = pool.span(sequence);
    let start = match pool {
        // Behind the pooler there is a row a sequence.
        Pool::Pooler => placed.index,
        _ => placed.start + span.start,
    };
    PoolTerm {
        row,
        block,
        start: start as u32,
        len: span.len() as u32,
        weight,
    }
}

/// A sentence under a condition, as the encoder reads it.
#[derive(Debug, Clone)]
pub struct Conditioned {
    /// f(s, c): one input an order.
    pub joint: Vec<Read>,
    /// f(c): the condition by itself, where that is subtracted.
    pub alone: Option<Read>,
}

impl Conditioned {
    /// Plans a sentence under a condition.
    ///
    /// # Errors
    /// The condition leaves no room for the sentence.
    pub fn plan(
        plan: &mut Plan,
        template: &Template<'_>,
        joint: &Joint,
        sentence: &Tokens,
        condition: &Tokens,
    ) -> Result<Self> {
        let mut reads = Vec::with_capacity(joint.orders.len());
        for &order in &joint.orders {
            let sequence = template.pair(sentence, condition, order)?;
            reads.push(Read::of(plan, sequence, Some(order)));
        }
        let alone = match joint.subtract {
            true => {
                let sequence = template.condition_alone(condition)?;
                let placed = plan.add_once(&sequence);
                Some(Read {
                    order: None,
                    sequence,
                    placed,
                })
            }
            false => None,
        };
        Ok(Self {
            joint: reads,
            alone,
        })
    }

    /// Tokens of the sentence that did not fit.
    pub fn cut(&self) -> usize {
        let cuts = self.joint.iter().map(|read| read.sequence.cut);
        cuts.max().unwrap_or(0)
    }

    /// Adds the row f(s, c), a block an order, minus f(c) where `subtract` says so and it is planned.
    pub fn pool(&self, pooling: &mut Pooling, pool: Pool, subtract: bool) {
        let row = begin_row(pooling, self.joint.len());
        let joint = self.joint.iter().zip(0..);
        pooling
            .terms
            .extend(joint.map(|(read, block)| read.term(pool, row, block, 1.0)));
        if let Some(alone) = self.alone.as_ref().filter(|_| subtract) {
            let blocks = 0..self.joint.len() as u32;
            pooling
                .terms
                .extend(blocks.map(|block| alone.term(pool, row, block, -1.0)));
        }
    }
}

/// Begins a row of so many blocks.
pub fn begin_row(pooling: &mut Pooling, blocks: usize) -> u32 {
    pooling.blocks = blocks;
    pooling.rows += 1;
    pooling.rows as u32 - 1
}

/// What is to be embedded, and how.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// Texts, and sentences under conditions.
    pub inputs: &'a [Input],
    /// How sentence and condition meet; `None` where all inputs are texts by themselves, which are read alike under any.
    pub case: Option<&'a Case>,
    /// Which tokens of a text by itself are averaged.
    pub plain: Pool,
    /// Whether to tell where conditions look, where they meet sentences in one input.
    pub look: bool,
}

/// A pass over inputs whose texts meet in one sequence: what is read, and the rows that come out.
#[derive(Default)]
pub struct Pass {
    /// The sequences.
    pub plan: Plan,
    /// Rows of texts by themselves, `[hidden]` each.
    pub plain: Pooled,
    /// Rows of sentences under conditions, `[orders · hidden]` each, or of what is scored, `[hidden]` each.
    pub conditional: Pooled,
    /// What was read for each row of [`Pass::conditional`].
    pub reads: Vec<Conditioned>,
}

/// Rows of a pass, and whose they are.
#[derive(Default)]
pub struct Pooled {
    /// The input of each row.
    pub inputs: Vec<usize>,
    /// Whether they are pooled behind the pooler.
    pub pooler: bool,
    /// How they are pooled.
    pub pooling: Pooling,
}

impl Pass {
    /// The inputs in which sentence and condition meet.
    pub fn joint(&self) -> impl Iterator<Item = &Read> {
        self.reads.iter().flat_map(|read| &read.joint)
    }

    /// Adds the input number `index`, which `case` has made or could have, and returns how many tokens of its sentence were
    /// cut.
    ///
    /// # Errors
    /// As [`Conditioned::plan`]; or the input is none of `case`'s.
    pub fn add(
        &mut self,
        index: usize,
        input: &Input,
        template: &Template<'_>,
        case: Option<&Case>,
        plain: Pool,
    ) -> Result<usize> {
        let wrong = |reason: &str| Err(Error::InvalidArgument(reason.into()));
        match (input, case) {
            (Input::Single(text), _) => self.add_plain(index, text, template, plain),
            (
                Input::Conditional {
                    sentence,
                    condition,
                },
                Some(Case::Joint(joint)),
            ) => {
                let read = Conditioned::plan(&mut self.plan, template, joint, sentence, condition)?;
                read.pool(&mut self.conditional.pooling, joint.pooling, joint.subtract);
                self.conditional.pooler = joint.pooling == Pool::Pooler;
                self.conditional.inputs.push(index);
                let cut = read.cut();
                self.reads.push(read);
                Ok(cut)
            }
            (Input::Together(sequence), Some(Case::Cross(cross))) => {
                let placed = self.plan.add(sequence);
                let pooling = &mut self.conditional.pooling;
                let row = begin_row(pooling, 1);
                let term = term(sequence, placed, cross.pooling, row, 0, 1.0);
                pooling.terms.push(term);
                self.conditional.inputs.push(index);
                Ok(sequence.cut)
            }
            (Input::Conditional { .. }, Some(Case::Cross(_))) => wrong(
                "a cross-encoder reads both sentences at once, scores them and embeds neither. Compare them, or take a bi- or a tri-encoder for embeddings.",
            ),
            (Input::Together(_), _) => Err(Input::of_no_cross_encoder()),
            (Input::Conditional { .. }, _) => wrong("these are to be texts by themselves."),
        }
    }

    /// Adds the input number `index`, a text by itself, and returns how many of its tokens were cut.
    ///
    /// # Errors
    /// What the tokenizer says.
    pub fn add_plain(
        &mut self,
        index: usize,
        text: &Tokens,
        template: &Template<'_>,
        pool: Pool,
    ) -> Result<usize> {
        let read = Read::single(&mut self.plan, template.single(text)?);
        let row = begin_row(&mut self.plain.pooling, 1);
        let term = read.term(pool, row, 0, 1.0);
        self.plain.pooling.terms.push(term);
        self.plain.pooler = pool == Pool::Pooler;
        self.plain.inputs.push(index);
        Ok(read.sequence.cut)
    }
}

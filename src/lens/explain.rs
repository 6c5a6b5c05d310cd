//! A comparison taken apart: every step from two sentences and a condition to one number, with what the model
//! has at each of them, and switches that leave steps out.
//!
//! What a model does, its head's file says. An encoder that was fine-tuned end to end takes one step: the mean
//! over all tokens of `[CLS] c [SEP] s [SEP]`. A frozen one under CASE takes them all: the condition's tokens
//! in either order, minus the condition alone, through the head. [`Explanation::usual`] tells which, and with
//! no switch touched the last step's cosine is what [`Lens::compare`] gives, to the last bit.
//!
//! ```no_run
//! # use caselens::{Lens, Result, backend::simd::Simd, lens::explain::Switches};
//! # async fn example(lens: &Lens<Simd>) -> Result<()> {
//! let sentences = ["She plays chess in the park", "He plays football in the park"];
//! let explained = lens.explain(sentences, Some("the game"), Switches::default()).await?;
//! for step in &explained.steps {
//!     println!("{:?}: cosine {:.2}", step.name, step.cosine); // Plain: cosine 0.66, Joint: cosine 0.22
//! }
//! # Ok(())
//! # }
//! ```

use std::ops::Range;

use serde::Serialize;

use super::Lens;
use crate::{
    backend::{AttentionRow, Backend, PoolTerm, Pooling},
    embedding::{Architecture, Pool},
    error::{Error, Result},
    similarity::{cosine, rating},
    text::{Batch, Order, Sequence, Tokenizer, template::normalize_condition, tokenizer::Piece},
};

/// Steps to take in another way than the model's own; `None` is the model's own. They say how sentence and
/// condition are combined, and mean nothing without a condition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Switches {
    /// Whether the condition's own embedding is subtracted.
    pub subtract: Option<bool>,
    /// Which tokens are averaged.
    pub pooling: Option<Pool>,
    /// Whether the embedding goes through the head.
    pub head: Option<bool>,
}

/// How embeddings under a condition are made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recipe {
    /// One input an order, their embeddings side by side.
    pub orders: Vec<Order>,
    pub pooling: Pool,
    pub subtract: bool,
    pub head: bool,
}

/// What a step's vectors are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StepName {
    /// f(s): the sentence alone, all tokens averaged, `[hidden]`.
    Plain,
    /// f(s, c): the sentence with its condition, `[orders · hidden]`.
    Joint,
    /// f(s, c) − f(c), `[orders · hidden]`.
    Offset,
    /// g(e): through the head, `[dims]`.
    Projected,
}

/// What the two sentences have become, and how alike they are there.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub name: StepName,
    /// One a sentence, at the length the step gives them.
    pub vectors: [Vec<f32>; 2],
    /// −1 to 1.
    pub cosine: f32,
}

/// Whose token it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    Condition,
    Sentence,
    /// The encoder's own: `[CLS]`, `[SEP]`.
    Special,
}

/// A token of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub id: u32,
    /// As the vocabulary writes it.
    pub text: String,
    pub part: Part,
    /// The bytes it stands for in the sentence, or in [`Explanation::condition`]; empty for special tokens.
    pub span: Range<usize>,
    /// The word it belongs to, counted within its part.
    pub word: Option<u32>,
}

/// What the encoder read of one sentence.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// `None` for the sentence alone.
    pub order: Option<Order>,
    pub tokens: Vec<Token>,
    /// How each of the condition's tokens attends to all tokens: for each layer, one row a condition's token,
    /// `[layers][condition tokens][tokens]`, averaged over the heads. A row sums to 1.
    pub attention: Vec<Vec<Vec<f32>>>,
    /// Tokens of the sentence that did not fit.
    pub cut: usize,
}

/// A comparison taken apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// As the encoder is given it: without white space around it and its final full stop.
    pub condition: Option<String>,
    /// What was done; `None` without a condition.
    pub recipe: Option<Recipe>,
    /// What the model does where nothing is asked otherwise.
    pub usual: Recipe,
    /// For each sentence, one a [`Recipe::orders`]; without a condition the sentence alone.
    pub readings: [Vec<Reading>; 2],
    /// f(c), `[hidden]`: what is subtracted, where something is.
    pub condition_alone: Option<Vec<f32>>,
    /// The steps taken, in their order. The first is [`StepName::Plain`], the last gives the answer.
    pub steps: Vec<Step>,
    /// The last step's cosine, −1 to 1.
    pub similarity: f32,
    /// The same on the 1–5 scale of human ratings.
    pub rating: f32,
}

impl<B: Backend> Lens<B> {
    /// Takes the comparison of two sentences apart. Without a condition it ends with the sentences alone.
    ///
    /// # Errors
    /// As [`Lens::compare`]; or a head is asked for where there is none, or the model is a tri-encoder, whose
    /// sentences and conditions never meet in one input.
    pub async fn explain(
        &self,
        sentences: [&str; 2],
        condition: Option<&str>,
        switches: Switches,
    ) -> Result<Explanation> {
        let usual = self.usual();
        let recipe = match condition {
            Some(_) => Some(self.recipe(&usual, switches)?),
            None => None,
        };
        let inputs = self.inputs(sentences, condition, recipe.as_ref())?;
        let (steps, condition_alone, attention) = self.steps(&inputs, recipe.as_ref()).await?;
        let readings = self.readings(sentences, condition, &inputs, &attention)?;
        let similarity = steps.last().map_or(0.0, |step| step.cosine);
        Ok(Explanation {
            condition: condition.map(|c| normalize_condition(c).to_owned()),
            recipe,
            usual,
            readings,
            condition_alone,
            steps,
            similarity,
            rating: rating(similarity),
        })
    }

    fn usual(&self) -> Recipe {
        Recipe {
            orders: self.case.orders.clone(),
            pooling: self.case.pooling,
            subtract: self.case.subtract,
            head: self.has_layers(),
        }
    }

    /// Whether there is a head that changes something.
    fn has_layers(&self) -> bool {
        let spec = self.head.as_ref().map(|(_, spec)| spec);
        spec.is_some_and(|spec| spec.dims.len() > 1)
    }

    fn recipe(&self, usual: &Recipe, switches: Switches) -> Result<Recipe> {
        let wrong = |reason: &str| Err(Error::InvalidArgument(reason.into()));
        if self.case.architecture != Architecture::Bi {
            return wrong(
                "a tri-encoder cannot be taken apart: its condition is in no input with the sentence.",
            );
        }
        if switches.head == Some(true) && !self.has_layers() {
            return wrong("this model has no head: leave `head` out, or load one that has.");
        }
        Ok(Recipe {
            orders: usual.orders.clone(),
            pooling: switches.pooling.unwrap_or(usual.pooling),
            subtract: switches.subtract.unwrap_or(usual.subtract),
            head: switches.head.unwrap_or(usual.head),
        })
    }

    fn inputs(
        &self,
        sentences: [&str; 2],
        condition: Option<&str>,
        recipe: Option<&Recipe>,
    ) -> Result<Inputs> {
        let template = self.encoder.template();
        let mut inputs = Inputs::default();
        let [first, second] = sentences;
        let tokens = [
            template.sentence("sentence 1", first)?,
            template.sentence("sentence 2", second)?,
        ];
        for (plain, tokens) in inputs.plain.iter_mut().zip(&tokens) {
            *plain = Some(Placed::push(
                &mut inputs.batch,
                None,
                template.single(tokens)?,
            ));
        }
        let (Some(condition), Some(recipe)) = (condition, recipe) else {
            return Ok(inputs);
        };
        let condition = template.condition("condition", condition)?;
        for (joint, tokens) in inputs.joint.iter_mut().zip(&tokens) {
            for &order in &recipe.orders {
                let pair = template.pair(tokens, &condition, order)?;
                joint.push(Placed::push(&mut inputs.batch, Some(order), pair));
            }
        }
        if recipe.subtract {
            let alone = template.condition_alone(&condition)?;
            inputs.alone = Some(Placed::push(&mut inputs.batch, None, alone));
        }
        Ok(inputs)
    }

    /// Runs everything as one batch: the steps, the condition alone, and each layer's attention.
    async fn steps(
        &self,
        inputs: &Inputs,
        recipe: Option<&Recipe>,
    ) -> Result<(Vec<Step>, Option<Vec<f32>>, Vec<Vec<f32>>)> {
        let encoder = &self.encoder;
        let backend = &encoder.backend;
        let rows = inputs.attention_rows();
        let (hidden, weights) =
            encoder
                .bert()?
                .0
                .forward_attending(backend, &inputs.batch, &rows)?;

        let mut taken = vec![(
            StepName::Plain,
            backend.pool(&hidden, &inputs.plain_pooling())?,
        )];
        let mut alone = None;
        if let Some(recipe) = recipe {
            let pool = |alone| backend.pool(&hidden, &inputs.joint_pooling(recipe.pooling, alone));
            let mut last = pool(None)?;
            taken.push((StepName::Joint, last.clone()));
            if let Some(condition) = &inputs.alone {
                alone = Some(backend.pool(&hidden, &one_pooling(condition.term(recipe.pooling)))?);
                last = pool(Some(condition))?;
                taken.push((StepName::Offset, last.clone()));
            }
            if let (true, Some((head, _))) = (recipe.head, &self.head) {
                taken.push((StepName::Projected, head.forward(backend, &last)?));
            }
        }
        let units = taken
            .iter()
            .map(|(_, x)| backend.normalize(x))
            .collect::<Result<Vec<_>>>()?;
        let tensors: Vec<&B::Tensor> = (taken.iter().map(|(_, x)| x))
            .chain(&units)
            .chain(&alone)
            .chain(&weights)
            .collect();
        let mut numbers = backend.read(&tensors).await?.into_iter();
        let raw: Vec<_> = numbers.by_ref().take(taken.len()).collect();
        let unit: Vec<_> = numbers.by_ref().take(taken.len()).collect();
        let steps = (taken.iter().zip(raw).zip(unit))
            .map(|(((name, _), raw), unit)| {
                let [first, second] = halves(&unit);
                Step {
                    name: *name,
                    vectors: halves(&raw).map(<[f32]>::to_vec),
                    cosine: cosine(first, second),
                }
            })
            .collect();
        let condition_alone = alone.and_then(|_| numbers.next());
        Ok((steps, condition_alone, numbers.collect()))
    }

    fn readings(
        &self,
        sentences: [&str; 2],
        condition: Option<&str>,
        inputs: &Inputs,
        attention: &[Vec<f32>],
    ) -> Result<[Vec<Reading>; 2]> {
        let tokenizer = &self.encoder.tokenizer;
        let rows = inputs.attention_rows();
        let longest = rows.iter().map(|row| row.len as usize).max().unwrap_or(0);
        let of_condition = match condition {
            Some(condition) => tokenizer.pieces(normalize_condition(condition))?,
            None => Vec::new(),
        };
        let mut next = 0;
        let mut readings = [Vec::new(), Vec::new()];
        for (i, readings) in readings.iter_mut().enumerate() {
            let of_sentence = tokenizer.pieces(sentences[i])?;
            let placed: Vec<&Placed> = match condition {
                Some(_) => inputs.joint[i].iter().collect(),
                None => inputs.plain[i].iter().collect(),
            };
            for Placed {
                sequence, order, ..
            } in placed
            {
                let queries = match order {
                    Some(_) => next..next + sequence.condition.len(),
                    None => next..next,
                };
                next = queries.end;
                let of_layer = |layer: &Vec<f32>| -> Vec<Vec<f32>> {
                    (layer.chunks_exact(longest.max(1)))
                        .skip(queries.start)
                        .take(queries.len())
                        .map(|row| row[..sequence.ids.len().min(longest)].to_vec())
                        .collect()
                };
                readings.push(Reading {
                    order: *order,
                    tokens: tokens(
                        tokenizer,
                        sequence,
                        order.is_some().then_some(&of_condition),
                        &of_sentence,
                    ),
                    attention: match order {
                        Some(_) => attention.iter().map(of_layer).collect(),
                        None => Vec::new(),
                    },
                    cut: sequence.cut,
                });
            }
        }
        Ok(readings)
    }
}

/// A sequence and where it begins in the batch.
struct Placed {
    order: Option<Order>,
    sequence: Sequence,
    start: usize,
}

impl Placed {
    /// Appends a sequence to the batch.
    fn push(batch: &mut Batch, order: Option<Order>, sequence: Sequence) -> Self {
        Self {
            start: batch.push(&sequence.ids, &sequence.types),
            order,
            sequence,
        }
    }

    fn term(&self, pool: Pool) -> PoolTerm {
        let span = pool.span(&self.sequence);
        PoolTerm {
            row: 0,
            block: 0,
            start: (self.start + span.start) as u32,
            len: span.len() as u32,
            weight: 1.0,
        }
    }
}

/// All that the encoder reads.
#[derive(Default)]
struct Inputs {
    batch: Batch,
    /// Each sentence alone.
    plain: [Option<Placed>; 2],
    /// Each sentence with the condition, one an order.
    joint: [Vec<Placed>; 2],
    /// The condition alone, where it is subtracted.
    alone: Option<Placed>,
}

impl Inputs {
    /// The condition's tokens, input by input.
    fn attention_rows(&self) -> Vec<AttentionRow> {
        let rows = |placed: &Placed| {
            let start = placed.start as u32;
            let len = placed.sequence.ids.len() as u32;
            let queries = placed.sequence.condition.clone();
            queries.map(move |token| AttentionRow {
                query: start + token as u32,
                start,
                len,
            })
        };
        self.joint.iter().flatten().flat_map(rows).collect()
    }

    fn plain_pooling(&self) -> Pooling {
        Pooling {
            rows: 2,
            blocks: 1,
            terms: (self.plain.iter().flatten().zip(0..))
                .map(|(placed, row)| PoolTerm {
                    row,
                    ..placed.term(Pool::All)
                })
                .collect(),
        }
    }

    /// One row a sentence, one block an order; minus `alone` where it is there.
    fn joint_pooling(&self, pool: Pool, alone: Option<&Placed>) -> Pooling {
        let mut pooling = Pooling {
            rows: 2,
            blocks: self.joint[0].len(),
            terms: Vec::new(),
        };
        for (row, joint) in (0..).zip(&self.joint) {
            let plus = (0..).zip(joint).map(|(block, placed)| PoolTerm {
                row,
                block,
                ..placed.term(pool)
            });
            let minus = alone.map(|alone| alone.term(pool));
            let minus = minus
                .into_iter()
                .flat_map(|term| (0..joint.len() as u32).map(move |block| (term, block)));
            let minus = minus.map(|(term, block)| PoolTerm {
                row,
                block,
                weight: -1.0,
                ..term
            });
            pooling.terms.extend(plus.chain(minus));
        }
        pooling
    }
}

fn one_pooling(term: PoolTerm) -> Pooling {
    Pooling {
        rows: 1,
        blocks: 1,
        terms: vec![term],
    }
}

/// The rows of a matrix of two.
fn halves(numbers: &[f32]) -> [&[f32]; 2] {
    let (first, second) = numbers.split_at(numbers.len() / 2);
    [first, second]
}

/// A sequence's tokens. The pieces of what was cut are left over.
fn tokens(
    tokenizer: &Tokenizer,
    sequence: &Sequence,
    condition: Option<&Vec<Piece>>,
    sentence: &[Piece],
) -> Vec<Token> {
    let part_of = |at: &usize| match condition {
        Some(pieces) if sequence.condition.contains(at) => {
            (Part::Condition, pieces.get(at - sequence.condition.start))
        }
        _ if sequence.sentence.contains(at) => {
            (Part::Sentence, sentence.get(at - sequence.sentence.start))
        }
        _ => (Part::Special, None),
    };
    (sequence.ids.iter().enumerate())
        .map(|(at, &id)| {
            let (part, piece) = part_of(&at);
            Token {
                id,
                text: tokenizer.token(id),
                part,
                span: piece.map_or(0..0, |piece| piece.span.clone()),
                word: piece.and_then(|piece| piece.word),
            }
        })
        .collect()
}

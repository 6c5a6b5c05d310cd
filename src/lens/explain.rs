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

use serde::Serialize;

use super::{
    Lens, long,
    reading::{Dealt, Joined, Reading, Readings, longest},
};
use crate::{
    backend::{AttentionRow, Backend, Pooling},
    embedding::{
        Case, Encoder, Joint, Pool,
        plan::{Conditioned, Plan, Read, begin_row},
    },
    error::{Error, Result},
    head::Mentioned,
    similarity::cosine,
    text::{
        Order,
        template::{Tokens, normalize_condition},
    },
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
    /// Which tokens' vectors are averaged.
    pub pooling: Pool,
    /// Whether the condition's own embedding is subtracted.
    pub subtract: bool,
    /// Whether the embedding goes through the head.
    pub head: bool,
}

/// What a step's vectors are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StepName {
    /// f(s): the sentence alone, pooled as the encoder's authors have it (mostly all tokens averaged), `[hidden]`.
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
    /// What the vectors are.
    pub name: StepName,
    /// One a sentence, at the length the step gives them.
    pub vectors: [Vec<f32>; 2],
    /// −1 to 1.
    pub cosine: f32,
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
    /// As [`Comparison::mentioned`](super::Comparison::mentioned); `None` too where something was asked otherwise, for which it
    /// was not made.
    pub mentioned: Option<[f32; 2]>,
}

impl<B: Backend> Lens<B> {
    /// Takes the comparison of two sentences apart. Without a condition it ends with the sentences alone.
    ///
    /// # Errors
    /// As [`Lens::compare`]; or a head is asked for where there is none, or sentences and conditions do not meet in one input:
    /// for tri-encoders there is `Lens::explain_apart`.
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
        // What tells mentions was made for the model's own embeddings.
        let telling = match (&recipe, &self.mentioned) {
            (Some(recipe), Some(mentioned)) if *recipe == usual => Some(mentioned),
            _ => None,
        };
        let inputs = self.inputs(sentences, condition, recipe.as_ref(), telling.is_some())?;
        let taken = self.steps(&inputs, recipe.as_ref(), telling).await?;
        let readings = self.readings(sentences, condition, &inputs, &taken)?;
        let Taken {
            steps,
            condition_alone,
            mentioned,
            ..
        } = taken;
        let similarity = steps.last().map_or(0.0, |step| step.cosine);
        Ok(Explanation {
            condition: condition.map(|c| normalize_condition(c).to_owned()),
            recipe,
            usual,
            readings,
            condition_alone,
            steps,
            similarity,
            rating: self.rating(similarity),
            mentioned,
        })
    }

    pub(super) fn usual(&self) -> Recipe {
        let case = &self.case;
        Recipe {
            orders: match case {
                Case::Joint(joint) => joint.orders.clone(),
                Case::Apart(_) | Case::Instructed(_) | Case::Cross(_) | Case::Prompted(_) => {
                    Vec::new()
                }
            },
            pooling: case.pooling(),
            subtract: case.subtracts(),
            head: self.has_layers(),
        }
    }

    /// Whether there is a head that changes something.
    pub(super) fn has_layers(&self) -> bool {
        let spec = self.head.as_ref().map(|(_, spec)| spec);
        spec.is_some_and(|spec| spec.dims.len() > 1)
    }

    pub(super) fn recipe(&self, usual: &Recipe, switches: Switches) -> Result<Recipe> {
        let wrong = |reason: &str| Err(Error::InvalidArgument(reason.into()));
        match self.case {
            Case::Joint(_) => {}
            Case::Apart(_) => {
                return wrong(
                    "a tri-encoder's condition is in no input with the sentence: `explain_apart` says how it weighs the sentence's tokens.",
                );
            }
            Case::Cross(_) => {
                return wrong("a cross-encoder cannot be taken apart: it embeds no sentence.");
            }
            Case::Instructed(_) => {
                return wrong("what an encoder reads behind instructions is not taken apart.");
            }
            Case::Prompted(_) => {
                return wrong(
                    "what a language model reads in a prompt is not taken apart: its word for a text tells what the embedding is about.",
                );
            }
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
        [first, second]: [&str; 2],
        condition: Option<&str>,
        recipe: Option<&Recipe>,
        in_parts: bool,
    ) -> Result<Inputs> {
        let template = self.encoder.template();
        let mut plan = Plan::default();
        let tokens = [
            template.sentence("sentence 1", first)?,
            template.sentence("sentence 2", second)?,
        ];
        let plain = [
            Read::single(&mut plan, template.single(&tokens[0])?),
            Read::single(&mut plan, template.single(&tokens[1])?),
        ];
        let conditioned = match (condition, recipe) {
            (Some(condition), Some(recipe)) => {
                let condition = template.condition("condition", condition)?;
                let joint = Joint {
                    orders: recipe.orders.clone(),
                    pooling: recipe.pooling,
                    subtract: recipe.subtract,
                    router: self.case.joint_router(),
                };
                let mut under = |sentence: &Tokens| {
                    let parts = match in_parts {
                        true => sentence.parts(template.tokenizer),
                        false => Vec::new(),
                    };
                    let mut plan = |begin, part: &Tokens| {
                        let read =
                            Conditioned::plan(&mut plan, &template, &joint, part, &condition);
                        Ok(Part { begin, read: read? })
                    };
                    match parts.is_empty() {
                        true => Ok(vec![plan(0, sentence)?]),
                        false => {
                            let parts = parts.iter();
                            parts
                                .map(|(at, part)| plan(at.start, part))
                                .collect::<Result<_>>()
                        }
                    }
                };
                Some([under(&tokens[0])?, under(&tokens[1])?])
            }
            _ => None,
        };
        Ok(Inputs {
            plan,
            plain,
            conditioned,
        })
    }

    /// Runs everything as one batch: the steps, the condition alone, and each layer's attention.
    async fn steps(
        &self,
        inputs: &Inputs,
        recipe: Option<&Recipe>,
        telling: Option<&Mentioned>,
    ) -> Result<Taken> {
        let encoder = &self.encoder;
        let backend = &encoder.backend;
        let rows: Vec<AttentionRow> = inputs.joint().flat_map(Read::attention_rows).collect();
        let batch = &inputs.plan.batch;
        let within = match self.case.joint_router() {
            Some(router) => Some(encoder.within(router, inputs.joint(), batch.tokens())?),
            None => None,
        };
        let (hidden, weights) = encoder.hidden_attending(batch, within.as_ref(), &rows, ..)?;

        let pool = |pool, pooling: &Pooling| {
            let states = encoder.states(&hidden, &inputs.plan.batch, pool)?;
            backend.pool(&states, pooling)
        };
        let mut taken = vec![(
            StepName::Plain,
            pool(
                encoder.shape.plain,
                &inputs.plain_pooling(encoder.shape.plain),
            )?,
        )];
        let mut alone = None;
        if let (Some(recipe), Some(conditioned)) = (recipe, &inputs.conditioned) {
            let joint = |subtract| {
                let mut pooling = Pooling::default();
                for part in conditioned.iter().flatten() {
                    part.read.pool(&mut pooling, recipe.pooling, subtract);
                }
                pool(recipe.pooling, &pooling)
            };
            let mut last = joint(false)?;
            taken.push((StepName::Joint, last.clone()));
            let first = conditioned[0].first();
            if let Some(condition) = first.and_then(|part| part.read.alone.as_ref()) {
                let pooling = Pooling {
                    rows: 1,
                    blocks: 1,
                    terms: vec![condition.term(recipe.pooling, 0, 0, 1.0)],
                };
                alone = Some(pool(recipe.pooling, &pooling)?);
                last = joint(true)?;
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

        // The last step's embeddings say how much each part of a long text counts, in all steps.
        let counts = inputs
            .conditioned
            .as_ref()
            .map(|both| both.each_ref().map(Vec::len));
        let last = unit
            .last()
            .map(|unit| split(unit, counts.unwrap_or([1, 1])));
        let said = match (telling, last) {
            (Some(telling), Some(last)) => Some(last.map(|rows| long::Said::of(&rows, telling))),
            _ => None,
        };
        let mentioned = said
            .as_ref()
            .map(|both| both.each_ref().map(|said| said.most));
        let shares = match said {
            Some(said) => said.map(|said| said.shares),
            None => [vec![1.0], vec![1.0]],
        };
        let steps = (taken.iter().zip(raw).zip(unit)).map(|(((name, _), raw), unit)| {
            let (counts, shares) = match name {
                StepName::Plain => ([1, 1], &[vec![1.0], vec![1.0]]),
                _ => (counts.unwrap_or([1, 1]), &shares),
            };
            let both = split(&unit, counts)
                .into_iter()
                .zip(split(&raw, counts))
                .zip(shares);
            let both = both.map(|((unit, raw), shares)| whole(unit, raw, shares));
            let [first, second] = both.collect::<Vec<_>>().try_into().unwrap_or_default();
            Step {
                name: *name,
                cosine: cosine(&first.0, &second.0),
                vectors: [first.1, second.1],
            }
        });
        Ok(Taken {
            steps: sound(steps.collect(), encoder)?,
            condition_alone: alone.and_then(|_| numbers.next()),
            attention: numbers.collect(),
            mentioned,
            shares,
        })
    }

    fn readings(
        &self,
        sentences: [&str; 2],
        condition: Option<&str>,
        inputs: &Inputs,
        taken: &Taken,
    ) -> Result<[Vec<Reading>; 2]> {
        let readings = Readings::new(&self.encoder.tokenizer, &sentences)?;
        let (Some(conditioned), Some(condition)) = (&inputs.conditioned, condition) else {
            let alone = |which: usize| {
                let read = &inputs.plain[which];
                vec![readings.reading(which, 0, None, read, Vec::new())]
            };
            return Ok([alone(0), alone(1)]);
        };
        let condition = readings.condition(condition)?;
        let longest = longest(inputs.joint());
        let attention = taken.attention.iter();
        let mut layers: Vec<_> = attention.map(|l| Dealt::new(l, longest)).collect();
        let mut of = |which: usize| {
            let mut joined = Joined::default();
            for (part, share) in conditioned[which].iter().zip(&taken.shares[which]) {
                let reading = |read| {
                    let attention = layers.iter_mut().map(|layer| layer.deal(read)).collect();
                    readings.reading(which, part.begin, Some(&condition), read, attention)
                };
                joined.add(part.read.joint.iter().map(reading), *share);
            }
            joined.readings()
        };
        Ok([of(0), of(1)])
    }
}

/// The steps, if all that the sentences have become are numbers.
pub(super) fn sound<B: Backend>(steps: Vec<Step>, encoder: &Encoder<B>) -> Result<Vec<Step>> {
    let broken = |sentence: usize| {
        let mut vectors = steps.iter().map(|step| &step.vectors[sentence]);
        vectors.any(|vector| vector.iter().any(|x| !x.is_finite()))
    };
    let (what, input) = match [0, 1].map(broken) {
        [false, false] => return Ok(steps),
        [true, false] => ("sentence 1", 0),
        [false, true] => ("sentence 2", 1),
        // A product with weights of zero spreads what is no number over all of its rows.
        [true, true] => ("one of the sentences", 0),
    };
    Err(Error::NotFinite {
        what: what.into(),
        input,
        dtype: encoder.dtype.to_string(),
    })
}

/// What came of a batch.
struct Taken {
    steps: Vec<Step>,
    condition_alone: Option<Vec<f32>>,
    /// Of each layer.
    attention: Vec<Vec<f32>>,
    mentioned: Option<[f32; 2]>,
    /// How much each part of either sentence counts.
    shares: [Vec<f32>; 2],
}

/// All that the encoder reads.
struct Inputs {
    plan: Plan,
    /// Each sentence alone.
    plain: [Read; 2],
    /// Each sentence with the condition, in parts where it is long.
    conditioned: Option<[Vec<Part>; 2]>,
}

/// A part of a sentence with the condition.
struct Part {
    /// Where it begins among the tokens of the whole.
    begin: usize,
    read: Conditioned,
}

impl Inputs {
    /// The inputs in which sentence and condition meet.
    fn joint(&self) -> impl Iterator<Item = &Read> {
        let parts = self.conditioned.iter().flatten().flatten();
        parts.flat_map(|part| &part.read.joint)
    }

    fn plain_pooling(&self, pool: Pool) -> Pooling {
        let mut pooling = Pooling::default();
        for read in &self.plain {
            let row = begin_row(&mut pooling, 1);
            pooling.terms.push(read.term(pool, row, 0, 1.0));
        }
        pooling
    }
}

/// A sentence's embedding from its parts', of length 1 and at the length the step gives it: the mean of theirs.
fn whole(unit: Vec<Vec<f32>>, mut raw: Vec<Vec<f32>>, shares: &[f32]) -> (Vec<f32>, Vec<f32>) {
    if raw.len() == 1 {
        return (long::mean(unit, shares), raw.swap_remove(0));
    }
    let length = |row: &[f32]| row.iter().map(|x| x * x).sum::<f32>().sqrt();
    let lengths = raw
        .iter()
        .zip(shares)
        .map(|(row, share)| share * length(row));
    let length: f32 = lengths.sum();
    let unit = long::mean(unit, shares);
    let raw = unit.iter().map(|x| length * x).collect();
    (unit, raw)
}

/// The rows of a matrix, those of either sentence.
fn split(numbers: &[f32], counts: [usize; 2]) -> [Vec<Vec<f32>>; 2] {
    let width = numbers.len() / (counts[0] + counts[1]).max(1);
    let mut rows = numbers.chunks_exact(width.max(1)).map(<[f32]>::to_vec);
    counts.map(|count| rows.by_ref().take(count).collect())
}

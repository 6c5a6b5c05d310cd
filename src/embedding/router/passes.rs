//! The passes of inputs whose sentences and conditions are encoded apart, each once.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::{Conditions, Routed, Sentences, Texts, TriEncoder};
use crate::{
    backend::Backend,
    embedding::{
        Case, Encoder, Input, Pool,
        encoder::{Embedded, Made},
        plan::{Job, Pass, TOKEN_BUDGET},
    },
    error::Result,
    text::Sequence,
};

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
    /// Sentences with what is asked of them, batch by batch: those that are encoded before they are needed, and the others.
    ready: VecDeque<(Sentences<B>, VecDeque<Portion>)>,
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
                Input::Together(_) => return Err(Input::of_no_cross_encoder()),
                Input::Conditional {
                    sentence,
                    condition,
                } => {
                    let text = tri.sentence(&template, sentence, condition)?;
                    let alone = template.condition_alone(condition)?;
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
            ready: VecDeque::new(),
            current: None,
            tri,
        })
    }

    /// The embeddings of the next pass; `None` after the last.
    pub fn embed_next(&mut self) -> Result<Option<Embedded<B>>> {
        if let Some(pass) = self.plain.pop_front() {
            return self.tri.encoder.embed_pass(pass, None, false).map(Some);
        }
        self.encode_conditions()?;
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
            self.current = match self.ready.pop_front() {
                Some(ready) => Some(ready),
                None => match self.sentences.pop_front() {
                    Some((texts, portions)) => Some((self.tri.sentences(texts)?, portions)),
                    None => return Ok(None),
                },
            };
        }
    }

    fn encode_conditions(&mut self) -> Result<()> {
        while let Some(texts) = self.conditions.pop_front() {
            self.encoded.push(self.tri.conditions(&texts)?);
        }
        Ok(())
    }

    /// Encodes all sentences and conditions, as far as they can be without each other, and returns the bytes that are kept of
    /// the sentences and of the conditions.
    ///
    /// # Errors
    /// What the device says.
    pub fn prepare(&mut self) -> Result<[usize; 2]> {
        self.encode_conditions()?;
        while let Some((texts, portions)) = self.sentences.pop_front() {
            self.ready.push_back((self.tri.sentences(texts)?, portions));
        }
        let sentences = self.ready.iter().map(|(sentences, _)| sentences.bytes());
        let conditions = self.encoded.iter().map(Conditions::bytes);
        Ok([sentences.sum(), conditions.sum()])
    }

    /// How many sentences and conditions are still to be encoded: passes of the encoder.
    pub fn to_encode(&self) -> usize {
        let sentences = self.sentences.iter().map(|(texts, _)| texts.len());
        let conditions = self.conditions.iter().map(Texts::len);
        let conditions = match self.tri.reads_conditions() {
            true => conditions.sum(),
            false => 0,
        };
        sentences.sum::<usize>() + conditions
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

//! CASE for encoders that follow instructions: f(c; I(s)) or f(s; I(c)), with or without − f(c; I(∅)).
//!
//! The subtracted embedding depends on the condition alone and is computed once for each, however many calls
//! use it.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::{
    Encoder, Input,
    case::Instructed,
    encoder::{Embedded, Made},
    plan::{Job, Plan, Pooled, TOKEN_BUDGET, begin_row, term},
    reading::Reading,
};
use crate::{backend::Backend, error::Result, similarity::unit, text::Sequence};

/// Passes of inputs behind instructions.
pub struct InstructedPasses<'a, B: Backend> {
    encoder: &'a Encoder<B>,
    case: &'a Instructed,
    sequences: Vec<Prepared>,
    reading: Reading,
    /// Which of its passes is next.
    next: usize,
    /// f(c; I(∅)) by the condition's tokens; `None` until the first pass.
    alone: Option<HashMap<Vec<u32>, Arc<[f32]>>>,
}

/// An input as the encoder reads it.
struct Prepared {
    sequence: Sequence,
    /// Whether it is a sentence under a condition.
    conditional: bool,
    /// The condition by itself, where that is subtracted.
    alone: Option<Sequence>,
}

impl<'a, B: Backend> InstructedPasses<'a, B> {
    /// Prepares the inputs of `job`, and says which of them were cut.
    ///
    /// # Errors
    /// A condition does not fit.
    pub fn new(
        encoder: &'a Encoder<B>,
        job: Job<'a>,
        case: &'a Instructed,
        cuts: &mut Vec<(usize, usize)>,
    ) -> Result<Self> {
        let (template, instruct) = (encoder.template(), case.instruct);
        let mut sequences = Vec::with_capacity(job.inputs.len());
        for (i, input) in job.inputs.iter().enumerate() {
            let prepared = match input {
                Input::Single(text) => Prepared {
                    sequence: template.instructed(instruct.wrapper, text)?,
                    conditional: false,
                    alone: None,
                },
                Input::Conditional {
                    sentence,
                    condition,
                } => {
                    let (wrapper, setting) = (instruct.wrapper, instruct.setting);
                    let alone = case
                        .subtract
                        .then(|| template.instructed(wrapper, condition));
                    Prepared {
                        sequence: template
                            .instructed_pair(wrapper, setting, sentence, condition)?,
                        conditional: true,
                        alone: alone.transpose()?,
                    }
                }
                Input::Together(_) => return Err(Input::of_no_cross_encoder()),
            };
            if prepared.sequence.cut > 0 {
                cuts.push((i, prepared.sequence.cut));
            }
            sequences.push(prepared);
        }
        let ids: Vec<&[u32]> = sequences.iter().map(|s| &s.sequence.ids[..]).collect();
        let reading = encoder.reading(&ids);
        Ok(Self {
            encoder,
            case,
            sequences,
            reading,
            next: 0,
            alone: None,
        })
    }

    /// The embeddings of the next pass; `None` after the last.
    pub async fn embed_next(&mut self) -> Result<Option<Embedded<B>>> {
        if self.alone.is_none() {
            self.alone = Some(self.conditions_alone().await?);
        }
        let Some(pass) = self.reading.passes.get(self.next) else {
            return Ok(None);
        };
        self.next += 1;
        let inputs = &self.reading.order[pass.clone()];
        let of = inputs.iter().map(|&i| &self.sequences[i].sequence);
        let mut vectors = self.pass(of).await?;
        for (vector, &i) in vectors.iter_mut().zip(inputs) {
            let alone = self.sequences[i].alone.as_ref();
            let alone = alone.and_then(|c| self.alone.as_ref()?.get(&c.ids));
            if let Some(alone) = alone {
                vector
                    .iter_mut()
                    .zip(alone.iter())
                    .for_each(|(x, y)| *x -= y);
            }
        }
        Ok(Some(Embedded {
            plain: self.made(inputs, &vectors, false)?,
            conditional: self.made(inputs, &vectors, true)?,
            look: None,
        }))
    }

    /// f(c; I(∅)) of the conditions that are there, by their tokens; those that are not remembered are embedded.
    async fn conditions_alone(&self) -> Result<HashMap<Vec<u32>, Arc<[f32]>>> {
        let (pooling, remembered) = (self.case.pooling, &self.encoder.remembered);
        let (mut found, mut new, mut seen) = (HashMap::new(), Vec::new(), HashSet::new());
        let conditions = self.sequences.iter().filter_map(|s| s.alone.as_ref());
        for condition in conditions.filter(|c| seen.insert(&c.ids)) {
            match remembered.get(pooling, &condition.ids) {
                Some(vector) => drop(found.insert(condition.ids.clone(), vector)),
                None => new.push(condition),
            }
        }
        new.sort_by_key(|condition| condition.ids.len());
        while !new.is_empty() {
            let mut tokens = 0;
            let full = new.iter().position(|condition| {
                tokens += condition.ids.len();
                tokens > TOKEN_BUDGET
            });
            let rest = new.split_off(full.unwrap_or(new.len()).max(1));
            let vectors = self.pass(new.iter().copied()).await?;
            for (condition, vector) in new.into_iter().zip(vectors) {
                let vector: Arc<[f32]> = vector.into();
                remembered.put(pooling, &condition.ids, Arc::clone(&vector));
                found.insert(condition.ids.clone(), vector);
            }
            new = rest;
        }
        Ok(found)
    }

    /// One pass: an embedding a sequence, in their order.
    async fn pass(&self, sequences: impl Iterator<Item = &Sequence>) -> Result<Vec<Vec<f32>>> {
        let encoder = self.encoder;
        let (mut plan, mut pooled) = (Plan::default(), Pooled::default());
        for (sequence, i) in sequences.zip(0..) {
            let placed = plan.add(sequence);
            let row = begin_row(&mut pooled.pooling, 1);
            let term = term(sequence, placed, self.case.pooling, row, 0, 1.0);
            pooled.pooling.terms.push(term);
            pooled.inputs.push(i);
        }
        let count = pooled.inputs.len();
        let hidden = encoder.hidden(&plan.batch)?;
        let rows = encoder.backend.pool(&hidden, &pooled.pooling)?;
        let numbers = encoder.backend.read(&[&rows]).await?.concat();
        let rows = numbers.chunks_exact((numbers.len() / count).max(1));
        Ok(rows
            .map(|row| match encoder.shape.unit_length {
                true => unit(row),
                false => row.to_vec(),
            })
            .collect())
    }

    /// Those of the inputs that are conditional, or those that are not, on the device again.
    fn made(
        &self,
        inputs: &[usize],
        vectors: &[Vec<f32>],
        conditional: bool,
    ) -> Result<Option<Made<B>>> {
        let chosen = inputs.iter().zip(vectors);
        let chosen = chosen.filter(|(i, _)| self.sequences[**i].conditional == conditional);
        let (inputs, numbers): (Vec<usize>, Vec<&[f32]>) =
            chosen.map(|(&i, vector)| (i, &vector[..])).unzip();
        if inputs.is_empty() {
            return Ok(None);
        }
        let (columns, numbers) = (numbers[0].len(), numbers.concat());
        Ok(Some(Made {
            rows: self.encoder.backend.rows(columns, &numbers)?,
            inputs,
        }))
    }
}

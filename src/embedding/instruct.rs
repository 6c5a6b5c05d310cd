//! CASE for encoders that follow instructions: f(c; I(s)) or f(s; I(c)), with or without − f(c; I(∅)).
//!
//! The subtracted embedding depends on the condition alone and is computed once for each, however many calls
//! use it. Inputs of a call are sorted by length: a decoder computes neighbours of one length together.

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
};

use super::{
    Case, Encoder, Input, Pool, Rows,
    case::{Instruct, Plan},
    encoder::{TOKEN_BUDGET, no_instructions},
};
use crate::{backend::Backend, error::Result, similarity::unit, text::Sequence};

/// f(c; I(∅)) of conditions, by what is pooled of which tokens.
pub(super) type Unconditional = HashMap<(Pool, Vec<u32>), Rc<[f32]>>;
/// Conditions whose embeddings are remembered: 65,536 of 4,096 numbers are 1 GB.
const REMEMBERED: usize = 1 << 16;

impl<B: Backend> Encoder<B> {
    /// [`Encoder::run`] for [`Architecture::Instruct`](super::Architecture).
    pub(super) async fn run_instructed(
        &self,
        inputs: &[Input],
        case: &Case,
        instruct: Instruct,
        single: impl Fn(B::Tensor) -> Result<B::Tensor>,
        conditional: impl Fn(B::Tensor) -> Result<B::Tensor>,
    ) -> Result<Rows> {
        let template = self.template();
        let mut rows = Rows::default();
        let mut sequences = Vec::with_capacity(inputs.len());
        // The tokens of each input's condition by itself, where that is subtracted.
        let mut alone = Vec::with_capacity(inputs.len());
        for (i, input) in inputs.iter().enumerate() {
            let (sequence, condition) = match input {
                Input::Single(text) => (template.instructed(instruct.wrapper, text)?, None),
                Input::Conditional {
                    sentence,
                    condition,
                } => {
                    let given = template.instructed_pair(
                        instruct.wrapper,
                        instruct.setting,
                        sentence,
                        condition,
                    )?;
                    let alone = case
                        .subtract
                        .then(|| template.instructed(instruct.wrapper, condition));
                    (given, alone.transpose()?)
                }
            };
            if sequence.cut > 0 {
                rows.cuts.push((i, sequence.cut));
            }
            sequences.push(sequence);
            alone.push(condition);
        }
        let unconditional = self.conditions_alone(case, &alone).await?;
        rows.vectors = self
            .in_batches(case, &sequences.iter().collect::<Vec<_>>())
            .await?;
        for (vector, alone) in rows.vectors.iter_mut().zip(&alone) {
            if let Some(of) = alone.as_ref().and_then(|a| unconditional.get(&a.ids[..])) {
                vector.iter_mut().zip(of.iter()).for_each(|(x, y)| *x -= y);
            }
        }
        let is_single = |i: &usize| matches!(inputs[*i], Input::Single(_));
        let (singles, conditionals): (Vec<_>, Vec<_>) = (0..inputs.len()).partition(is_single);
        self.finish(&mut rows.vectors, &singles, single).await?;
        self.finish(&mut rows.vectors, &conditionals, conditional)
            .await?;
        Ok(rows)
    }

    /// f(c; I(∅)) of the conditions that are there, by their tokens; those that are not remembered are embedded.
    async fn conditions_alone<'a>(
        &self,
        case: &Case,
        alone: &'a [Option<Sequence>],
    ) -> Result<HashMap<&'a [u32], Rc<[f32]>>> {
        let key = |ids: &[u32]| (case.pooling, ids.to_vec());
        let mut found = HashMap::new();
        let mut new = Vec::new();
        let mut seen = HashSet::new();
        for sequence in alone.iter().flatten().filter(|s| seen.insert(&s.ids)) {
            match self.unconditional.borrow().get(&key(&sequence.ids)) {
                Some(vector) => {
                    found.insert(&sequence.ids[..], Rc::clone(vector));
                }
                None => new.push(sequence),
            }
        }
        let vectors = self.in_batches(case, &new).await?;
        let mut remembered = self.unconditional.borrow_mut();
        if remembered.len() + new.len() > REMEMBERED {
            remembered.clear();
        }
        for (sequence, vector) in new.into_iter().zip(vectors) {
            let vector: Rc<[f32]> = vector.into();
            remembered.insert(key(&sequence.ids), Rc::clone(&vector));
            found.insert(&sequence.ids, vector);
        }
        Ok(found)
    }

    /// One embedding a sequence, in their order.
    async fn in_batches(&self, case: &Case, sequences: &[&Sequence]) -> Result<Vec<Vec<f32>>> {
        let mut order: Vec<usize> = (0..sequences.len()).collect();
        order.sort_by_key(|&i| sequences[i].ids.len());
        let mut vectors = vec![Vec::new(); sequences.len()];
        let mut next = 0;
        while next < order.len() {
            let first = next;
            let mut plan = Plan::default();
            while let Some(&i) = order.get(next)
                && (next == first || plan.batch.tokens() + sequences[i].ids.len() <= TOKEN_BUDGET)
            {
                plan.push_pooled(sequences[i], &[case.pooling]);
                next += 1;
            }
            let hidden = self.hidden(&plan.batch)?;
            let pooled = self.backend.pool(&hidden, &plan.conditionals)?;
            let numbers = self.backend.read(&[&pooled]).await?.concat();
            let width = (numbers.len() / (next - first)).max(1);
            for (&i, row) in order[first..next].iter().zip(numbers.chunks_exact(width)) {
                vectors[i] = match self.shape.unit_length {
                    true => unit(row),
                    false => row.to_vec(),
                };
            }
        }
        Ok(vectors)
    }

    /// Puts the chosen rows through a last step on the device.
    async fn finish(
        &self,
        vectors: &mut [Vec<f32>],
        chosen: &[usize],
        step: impl Fn(B::Tensor) -> Result<B::Tensor>,
    ) -> Result<()> {
        if chosen.is_empty() {
            return Ok(());
        }
        let rows = self.backend.rows().ok_or_else(no_instructions)?;
        let numbers: Vec<f32> = chosen.iter().flat_map(|&i| vectors[i].clone()).collect();
        let finished = step(rows.upload(chosen.len(), numbers)?)?;
        let numbers = self.backend.read(&[&finished]).await?.concat();
        let width = (numbers.len() / chosen.len()).max(1);
        for (&i, row) in chosen.iter().zip(numbers.chunks_exact(width)) {
            vectors[i] = row.to_vec();
        }
        Ok(())
    }
}

//! PonTE (Yamada & Zhang, 2025): text and condition stand in one raw prompt of a language model, and the embedding is the
//! state, after the last norm, of the prompt's last token, behind which the model would say in a word what the text is under
//! the condition. A text by itself is read in the same prompt without a condition, as by PromptEOL.

use std::collections::VecDeque;

use super::{
    Encoder, Input, Pool,
    case::Prompted,
    encoder::Embedded,
    plan::{Job, Pass, begin_row, term},
};
use crate::{backend::Backend, error::Result};

/// Passes of inputs in prompts.
pub struct PromptedPasses<'a, B: Backend> {
    encoder: &'a Encoder<B>,
    passes: VecDeque<Pass>,
}

impl<'a, B: Backend> PromptedPasses<'a, B> {
    /// Lays out the inputs of `job`, and says which of them were cut.
    ///
    /// # Errors
    /// A condition does not fit, or the prompt has no field for one.
    pub fn new(
        encoder: &'a Encoder<B>,
        job: Job<'a>,
        case: &Prompted,
        cuts: &mut Vec<(usize, usize)>,
    ) -> Result<Self> {
        let template = encoder.template();
        let mut sequences = Vec::with_capacity(job.inputs.len());
        for (i, input) in job.inputs.iter().enumerate() {
            let (text, condition) = match input {
                Input::Single(text) => (text, None),
                Input::Conditional {
                    sentence,
                    condition,
                } => (sentence, Some(condition)),
                Input::Together(_) => return Err(Input::of_no_cross_encoder()),
            };
            let sequence = template.prompted(&case.prompt, text, condition)?;
            if sequence.cut > 0 {
                cuts.push((i, sequence.cut));
            }
            sequences.push((i, condition.is_some(), sequence));
        }
        let ids: Vec<&[u32]> = sequences.iter().map(|(.., s)| &s.ids[..]).collect();
        let reading = encoder.reading(&ids);
        let mut passes = VecDeque::with_capacity(reading.passes.len());
        for range in reading.passes {
            let mut pass = Pass::default();
            for &at in &reading.order[range] {
                let (i, is_conditional, sequence) = &sequences[at];
                let placed = pass.plan.add_once(sequence);
                let pooled = match is_conditional {
                    true => &mut pass.conditional,
                    false => &mut pass.plain,
                };
                let row = begin_row(&mut pooled.pooling, 1);
                let last = term(sequence, placed, Pool::Last, row, 0, 1.0);
                pooled.pooling.terms.push(last);
                pooled.inputs.push(*i);
            }
            passes.push_back(pass);
        }
        Ok(Self { encoder, passes })
    }

    /// The embeddings of the next pass; `None` after the last.
    pub fn embed_next(&mut self) -> Result<Option<Embedded<B>>> {
        let pass = self.passes.pop_front();
        let pass = pass.filter(|pass| !pass.plan.batch.is_empty());
        pass.map(|pass| self.encoder.embed_pass(pass, None, false))
            .transpose()
    }
}

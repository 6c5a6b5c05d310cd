//! The passes of the encoder that some inputs take, one after the other, each with the embeddings it gives.
//!
//! Inputs share batches of about [`TOKEN_BUDGET`](super::plan::TOKEN_BUDGET) tokens, and an embedding does not depend on
//! what else is in its batch.

use super::{
    Case, Encoder,
    encoder::Embedded,
    instruct::InstructedPasses,
    plan::{Job, Pass},
};
#[cfg(not(target_arch = "wasm32"))]
use super::{prompted::PromptedPasses, router::passes::ApartPasses};
use crate::{backend::Backend, error::Result};

/// The passes of a [`Job`].
pub struct Passes<'a, B: Backend> {
    of: Of<'a, B>,
    cuts: Vec<(usize, usize)>,
}

/// By how sentence and condition meet.
enum Of<'a, B: Backend> {
    Joint(JointPasses<'a, B>),
    #[cfg(not(target_arch = "wasm32"))]
    Apart(Box<ApartPasses<'a, B>>),
    Instructed(InstructedPasses<'a, B>),
    #[cfg(not(target_arch = "wasm32"))]
    Prompted(PromptedPasses<'a, B>),
}

impl<B: Backend> Encoder<B> {
    /// The passes that a job takes.
    ///
    /// # Errors
    /// As [`Encoder::check`]; or a condition leaves no room for its sentence.
    pub fn passes<'a>(&'a self, job: Job<'a>) -> Result<Passes<'a, B>> {
        if let Some(case) = job.case {
            self.check(case)?;
        }
        let mut cuts = Vec::new();
        let of = match job.case {
            None | Some(Case::Joint(_) | Case::Cross(_)) => Of::Joint(JointPasses::new(self, job)),
            #[cfg(not(target_arch = "wasm32"))]
            Some(case @ Case::Apart(_)) => {
                Of::Apart(Box::new(ApartPasses::new(self, job, case, &mut cuts)?))
            }
            Some(Case::Instructed(instructed)) => {
                Of::Instructed(InstructedPasses::new(self, job, instructed, &mut cuts)?)
            }
            #[cfg(not(target_arch = "wasm32"))]
            Some(Case::Prompted(prompted)) => {
                Of::Prompted(PromptedPasses::new(self, job, prompted, &mut cuts)?)
            }
            #[cfg(target_arch = "wasm32")]
            Some(Case::Apart(_) | Case::Prompted(_)) => {
                // [`Encoder::check`] says which devices there are for it, none of which is in a browser.
                return Err(crate::Error::InvalidArgument(
                    "this kind of encoder does not run in browsers.".into(),
                ));
            }
        };
        Ok(Passes { of, cuts })
    }
}

impl<B: Backend> Passes<'_, B> {
    /// The embeddings of the next pass; `None` after the last.
    ///
    /// # Errors
    /// What the device says; or a condition leaves no room for its sentence.
    pub async fn next(&mut self) -> Result<Option<Embedded<B>>> {
        match &mut self.of {
            Of::Joint(passes) => passes.embed_next(&mut self.cuts),
            #[cfg(not(target_arch = "wasm32"))]
            Of::Apart(passes) => passes.embed_next(),
            Of::Instructed(passes) => passes.embed_next().await,
            #[cfg(not(target_arch = "wasm32"))]
            Of::Prompted(passes) => passes.embed_next(),
        }
    }

    /// Inputs so far whose sentence was too long, and how many of its tokens were cut, in the order of the inputs.
    pub fn into_cuts(mut self) -> Vec<(usize, usize)> {
        self.cuts.sort_unstable();
        self.cuts
    }
}

/// Passes of inputs that are one sequence or more each.
pub(super) struct JointPasses<'a, B: Backend> {
    encoder: &'a Encoder<B>,
    job: Job<'a>,
    /// The first input of the next pass.
    next: usize,
}

impl<'a, B: Backend> JointPasses<'a, B> {
    fn new(encoder: &'a Encoder<B>, job: Job<'a>) -> Self {
        Self {
            encoder,
            job,
            next: 0,
        }
    }

    fn embed_next(&mut self, cuts: &mut Vec<(usize, usize)>) -> Result<Option<Embedded<B>>> {
        let template = self.encoder.template();
        let mut pass = Pass::default();
        while let Some(input) = self.job.inputs.get(self.next)
            && !pass.plan.is_full()
        {
            let cut = pass.add(self.next, input, &template, self.job.case, self.job.plain)?;
            if cut > 0 {
                cuts.push((self.next, cut));
            }
            self.next += 1;
        }
        match pass.plan.batch.is_empty() {
            true => Ok(None),
            false => {
                let router = self.job.case.and_then(Case::joint_router);
                let look = self.job.look;
                self.encoder.embed_pass(pass, router, look).map(Some)
            }
        }
    }
}

//! An encoder on a backend, and embeddings of texts with it.

use std::rc::Rc;

use super::{Architecture, Case, Input, Pool, case::Plan};
use crate::{
    backend::{Backend, Pooling},
    error::{Error, Result},
    model::{
        bert::Bert,
        checkpoint::{Checkpoint, EncoderId},
        config::Config,
        weights::Dtype,
    },
    text::{Sequence, Template, Tokenizer},
};

/// Tokens a batch holds before the next one begins. Large enough to fill a device, small enough that
/// activations stay within a few dozen MB.
pub(super) const TOKEN_BUDGET: usize = 2048;

/// An encoder on one backend.
pub struct Encoder<B: Backend> {
    pub backend: B,
    pub id: EncoderId,
    pub config: Config,
    pub tokenizer: Rc<Tokenizer>,
    pub dtype: Dtype,
    pub(super) model: Bert<B>,
}

/// Embeddings and what happened to their inputs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows {
    /// One vector an input, in the order of the inputs.
    pub vectors: Vec<Vec<f32>>,
    /// Inputs whose sentence was too long: `(input, tokens cut)`.
    pub cuts: Vec<(usize, usize)>,
}

impl<B: Backend> Encoder<B> {
    /// Copies an opened checkpoint to a backend.
    pub fn load(backend: B, checkpoint: &Checkpoint) -> Result<Self> {
        let model = Bert::load(&backend, &checkpoint.config, &checkpoint.weights)?;
        Ok(Self {
            backend,
            id: checkpoint.encoder.clone(),
            config: checkpoint.config.clone(),
            tokenizer: Rc::clone(&checkpoint.tokenizer),
            dtype: checkpoint.dtype(),
            model,
        })
    }

    /// How texts become this encoder's inputs.
    pub fn template(&self) -> Template<'_> {
        Template {
            tokenizer: &self.tokenizer,
            max_tokens: self.config.max_positions,
            segments: self.config.type_vocab_size > 1,
        }
    }

    /// # Errors
    /// Embeddings of this kind cannot be made here: the device or the encoder does not allow it.
    pub fn check(&self, case: &Case) -> Result<()> {
        let wrong = |reason: String| Err(Error::InvalidArgument(reason));
        let Architecture::Tri(router) = case.architecture else {
            return Ok(());
        };
        if self.backend.routing().is_none() {
            return wrong(
                "a tri-encoder does not run on this device, WebGPU, nor in browsers. Use --device cpu or cuda.".into(),
            );
        }
        let layers = self.model.layers().len();
        match (1..=layers).contains(&router.layers) {
            true => Ok(()),
            false => wrong(format!(
                "--router-layers {} must be between 1 and {layers}, the layers of the encoder.",
                router.layers
            )),
        }
    }

    /// Hidden states of the last layer for a packed batch, `[tokens, hidden]`.
    pub fn hidden(&self, batch: &crate::text::Batch) -> Result<B::Tensor> {
        self.model.forward(&self.backend, batch)
    }

    /// Tokenizes a text to be embedded by itself. `what` names it in errors.
    pub fn single(&self, what: &str, text: &str) -> Result<Input> {
        Ok(Input::Single(self.template().sentence(what, text)?))
    }

    /// Tokenizes a sentence and a condition. `what` is appended to their names in errors.
    pub fn conditional(&self, sentence: &str, condition: &str, what: &str) -> Result<Input> {
        let template = self.template();
        Ok(Input::Conditional {
            sentence: template.sentence(&format!("sentence{what}"), sentence)?,
            condition: template.condition(&format!("condition{what}"), condition)?,
        })
    }

    /// Plain embeddings of texts, each `[hidden]`; unit length where `normalize` says so.
    ///
    /// With mean pooling this is what sentence-transformers computes.
    pub async fn embed(&self, texts: &[&str], pool: Pool, normalize: bool) -> Result<Rows> {
        let inputs = texts
            .iter()
            .enumerate()
            .map(|(i, text)| self.single(&format!("text {}", i + 1), text))
            .collect::<Result<Vec<_>>>()?;
        let finish = |x| match normalize {
            true => self.backend.normalize(&x),
            false => Ok(x),
        };
        self.run(&inputs, &Case::default(), pool, finish, Ok).await
    }

    /// Embeddings of tokenized inputs, in their order.
    ///
    /// `single` and `conditional` are last steps on the device, for rows of either kind: a head, a
    /// normalisation, or nothing. Inputs share batches of about [`TOKEN_BUDGET`] tokens; each batch is
    /// one submission and one read-back.
    ///
    /// # Errors
    /// As [`Encoder::check`], and what the device says.
    pub async fn run(
        &self,
        inputs: &[Input],
        case: &Case,
        single_pool: Pool,
        single: impl Fn(B::Tensor) -> Result<B::Tensor>,
        conditional: impl Fn(B::Tensor) -> Result<B::Tensor>,
    ) -> Result<Rows> {
        self.check(case)?;
        #[cfg(not(target_arch = "wasm32"))]
        if let Architecture::Tri(_) = case.architecture {
            return self
                .run_apart(inputs, case, single_pool, single, conditional)
                .await;
        }
        self.run_joint(inputs, case, single_pool, single, conditional)
            .await
    }

    /// [`Encoder::run`] where each input is one sequence or more.
    pub(super) async fn run_joint(
        &self,
        inputs: &[Input],
        case: &Case,
        single_pool: Pool,
        single: impl Fn(B::Tensor) -> Result<B::Tensor>,
        conditional: impl Fn(B::Tensor) -> Result<B::Tensor>,
    ) -> Result<Rows> {
        let template = self.template();
        let mut rows = Rows::default();
        let mut next = 0;
        while next < inputs.len() {
            let first = next;
            let mut plan = Plan::default();
            while next < inputs.len() && (next == first || plan.batch.tokens() < TOKEN_BUDGET) {
                let cut = plan.push(case, single_pool, &template, &inputs[next])?;
                if cut > 0 {
                    rows.cuts.push((next, cut));
                }
                next += 1;
            }
            let hidden = self.model.forward(&self.backend, &plan.batch)?;
            let mut outputs = Vec::with_capacity(2);
            if plan.singles.rows > 0 {
                outputs.push(single(self.backend.pool(&hidden, &plan.singles)?)?);
            }
            if plan.conditionals.rows > 0 {
                outputs.push(conditional(
                    self.backend.pool(&hidden, &plan.conditionals)?,
                )?);
            }
            let numbers = self
                .backend
                .read(&outputs.iter().collect::<Vec<_>>())
                .await?;
            let mut numbers = numbers.iter();
            let mut rows_of = |pooling: &Pooling| match pooling.rows {
                0 => [].chunks_exact(1),
                rows => {
                    let all = numbers.next().map_or(&[][..], Vec::as_slice);
                    all.chunks_exact((all.len() / rows).max(1))
                }
            };
            let (mut singles, mut conditionals) =
                (rows_of(&plan.singles), rows_of(&plan.conditionals));
            for input in &inputs[first..next] {
                let row = match input {
                    Input::Single(_) => singles.next(),
                    Input::Conditional { .. } => conditionals.next(),
                };
                rows.vectors.extend(row.map(<[f32]>::to_vec));
            }
        }
        Ok(rows)
    }

    /// Hidden states of the last layer averaged over the tokens of each of `pools`: one row a sequence,
    /// `[pools · hidden]`. One forward pass serves every pooling.
    pub async fn pooled(&self, sequences: &[Sequence], pools: &[Pool]) -> Result<Vec<Vec<f32>>> {
        let mut rows = Vec::with_capacity(sequences.len());
        let mut next = 0;
        while next < sequences.len() {
            let mut plan = Plan::default();
            while next < sequences.len() && plan.batch.tokens() < TOKEN_BUDGET {
                plan.push_pooled(&sequences[next], pools);
                next += 1;
            }
            let hidden = self.model.forward(&self.backend, &plan.batch)?;
            let pooled = self.backend.pool(&hidden, &plan.conditionals)?;
            for all in self.backend.read(&[&pooled]).await? {
                let width = (all.len() / plan.conditionals.rows).max(1);
                rows.extend(all.chunks_exact(width).map(<[f32]>::to_vec));
            }
        }
        Ok(rows)
    }
}

//! An encoder on a backend, and embeddings of texts with it.

#[cfg(not(target_arch = "wasm32"))]
use std::cell::RefCell;
use std::{borrow::Cow, rc::Rc};

#[cfg(not(target_arch = "wasm32"))]
use super::instruct::Unconditional;
use super::{Architecture, Case, Input, Pool, case::Plan};
#[cfg(not(target_arch = "wasm32"))]
use crate::{
    backend::candle::Candle,
    model::decoder::{Decoder, Precision, States, checkpoint::DecoderCheckpoint},
};
use crate::{
    backend::{Backend, Pooling},
    checkpoint::{Checkpoint, EncoderId, config::Config, weights::Dtype},
    error::{Error, Result},
    model::bert::Bert,
    text::{Sequence, Template, Tokenizer},
};

/// Tokens a batch holds before the next one begins. Large enough to fill a device, small enough that
/// activations stay within a few dozen MB.
pub(crate) const TOKEN_BUDGET: usize = 2048;

/// An encoder on one backend.
pub struct Encoder<B: Backend> {
    pub backend: B,
    pub id: EncoderId,
    pub shape: Shape,
    pub tokenizer: Rc<Tokenizer>,
    /// What the large matrices are kept in, such as `q8_0`.
    pub dtype: Cow<'static, str>,
    model: Model<B>,
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) unconditional: RefCell<Unconditional>,
}

/// What of an encoder its inputs and embeddings depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// Width of its hidden states.
    pub hidden_size: usize,
    /// Rows of its token table.
    pub vocab_size: usize,
    /// Longest input in tokens, special tokens included.
    pub max_tokens: usize,
    /// See [`Template::segments`].
    pub segments: bool,
    /// See [`Template::end`].
    pub end: Option<u32>,
    /// Whether an embedding is divided by its length before anything is done with it.
    pub unit_length: bool,
}

/// What turns tokens into hidden states.
enum Model<B: Backend> {
    Bert(Box<(Bert<B>, Config)>),
    #[cfg(not(target_arch = "wasm32"))]
    Decoder(Box<dyn States<Tensor = B::Tensor>>),
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
        let weights = &checkpoint.weights;
        let model = Bert::load(&backend, &checkpoint.config, |name, shape| {
            weights.get(name, shape)
        })?;
        Ok(Self::of(backend, model, checkpoint, checkpoint.dtype()))
    }

    /// As [`Encoder::load`], and uses the checkpoint up: each of its tensors is freed once the backend has its own copy,
    /// or is kept by the backend as it is.
    pub fn consume(backend: B, mut checkpoint: Checkpoint) -> Result<Self> {
        let dtype = checkpoint.dtype();
        let weights = &mut checkpoint.weights;
        let model = Bert::load(&backend, &checkpoint.config, |name, shape| {
            weights.take(name, shape)
        })?;
        Ok(Self::of(backend, model, &checkpoint, dtype))
    }

    fn of(backend: B, model: Bert<B>, checkpoint: &Checkpoint, dtype: Dtype) -> Self {
        let config = &checkpoint.config;
        Self {
            backend,
            id: checkpoint.encoder.clone(),
            shape: Shape {
                hidden_size: config.hidden_size,
                vocab_size: config.vocab_size,
                max_tokens: config.max_positions,
                segments: config.type_vocab_size > 1,
                end: None,
                unit_length: false,
            },
            tokenizer: Rc::clone(&checkpoint.tokenizer),
            dtype: dtype.name().into(),
            model: Model::Bert(Box::new((model, config.clone()))),
            #[cfg(not(target_arch = "wasm32"))]
            unconditional: RefCell::default(),
        }
    }

    /// The BERT-family model and its configuration.
    ///
    /// # Errors
    /// It is a decoder.
    pub fn bert(&self) -> Result<(&Bert<B>, &Config)> {
        match &self.model {
            Model::Bert(both) => Ok((&both.0, &both.1)),
            #[cfg(not(target_arch = "wasm32"))]
            Model::Decoder(_) => Err(Error::InvalidArgument(format!(
                "{} is a decoder: this takes an encoder of the BERT family.",
                self.id
            ))),
        }
    }

    /// How texts become this encoder's inputs.
    pub fn template(&self) -> Template<'_> {
        Template {
            tokenizer: &self.tokenizer,
            max_tokens: self.shape.max_tokens,
            segments: self.shape.segments,
            end: self.shape.end,
        }
    }

    /// # Errors
    /// Embeddings of this kind cannot be made here: the device or the encoder does not allow it.
    pub fn check(&self, case: &Case) -> Result<()> {
        let wrong = |reason: String| Err(Error::InvalidArgument(reason));
        let router = match case.architecture {
            Architecture::Tri(router) => router,
            Architecture::Bi => return self.bert().map(|_| ()),
            Architecture::Instruct(_) => {
                return match self.backend.rows() {
                    Some(_) => Ok(()),
                    None => Err(no_instructions()),
                };
            }
        };
        if self.backend.routing().is_none() {
            return wrong(
                "a tri-encoder does not run on this device, WebGPU, nor in browsers. Use --device cpu or cuda.".into(),
            );
        }
        let layers = self.bert()?.0.layers().len();
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
        match &self.model {
            Model::Bert(both) => both.0.forward(&self.backend, batch),
            #[cfg(not(target_arch = "wasm32"))]
            Model::Decoder(decoder) => decoder.states(batch),
        }
    }

    /// Operations of the products in a forward pass over one input of so many tokens.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn operations(&self, tokens: usize) -> f64 {
        match &self.model {
            Model::Bert(both) => both.1.operations(tokens),
            Model::Decoder(decoder) => decoder.operations(tokens),
        }
    }

    /// Drops what is remembered of earlier calls: what comes next is the same numbers as without them.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn forget(&self) {
        self.unconditional.borrow_mut().clear();
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
        self.run_joint(&inputs, &Case::default(), pool, finish, Ok)
            .await
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
        match case.architecture {
            Architecture::Bi => {}
            Architecture::Tri(_) => {
                return self
                    .run_apart(inputs, case, single_pool, single, conditional)
                    .await;
            }
            Architecture::Instruct(instruct) => {
                return self
                    .run_instructed(inputs, case, instruct, single, conditional)
                    .await;
            }
        }
        self.run_joint(inputs, case, single_pool, single, conditional)
            .await
    }

    /// [`Encoder::run`] where each input is one sequence or more.
    pub(crate) async fn run_joint(
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
            let hidden = self.hidden(&plan.batch)?;
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
            let hidden = self.hidden(&plan.batch)?;
            let pooled = self.backend.pool(&hidden, &plan.conditionals)?;
            for all in self.backend.read(&[&pooled]).await? {
                let width = (all.len() / plan.conditionals.rows).max(1);
                rows.extend(all.chunks_exact(width).map(<[f32]>::to_vec));
            }
        }
        Ok(rows)
    }
}

/// The device takes no rows from outside.
pub(crate) fn no_instructions() -> Error {
    Error::InvalidArgument(
        "encoders that follow instructions do not run on this device, WebGPU, nor in browsers. Use --device cpu or cuda.".into(),
    )
}

#[cfg(not(target_arch = "wasm32"))]
impl Encoder<Candle> {
    /// Copies an opened decoder to candle's device.
    ///
    /// # Errors
    /// As [`Decoder::load`].
    pub fn decoder(
        backend: Candle,
        checkpoint: &DecoderCheckpoint,
        precision: Precision,
    ) -> Result<Self> {
        let model = Decoder::load(checkpoint, backend.device(), precision)?;
        let config = &checkpoint.config;
        Ok(Self {
            id: checkpoint.encoder.clone(),
            shape: Shape {
                hidden_size: config.hidden_size,
                vocab_size: config.vocab_size,
                max_tokens: config.max_positions,
                segments: false,
                end: config.eos,
                unit_length: config.latent.as_ref().is_some_and(|l| l.output_normalize),
            },
            tokenizer: Rc::clone(&checkpoint.tokenizer),
            dtype: checkpoint.kept_in(precision).into(),
            model: Model::Decoder(Box::new(model)),
            unconditional: RefCell::default(),
            backend,
        })
    }
}

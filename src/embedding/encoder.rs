//! An encoder on a backend, and embeddings of texts with it.

use std::{borrow::Cow, ops::RangeBounds, sync::Arc};

use super::{
    Case, Input, Pool,
    case::JointRouter,
    layers::{Layers, LinearNumbers},
    plan::{Pass, Plan, Pooled, Read, begin_row, term},
    reading::Reading,
    remembered::Remembered,
    within::Within,
};
#[cfg(not(target_arch = "wasm32"))]
use crate::{
    backend::candle::Candle,
    checkpoint::DecoderCheckpoint,
    model::{
        Precision,
        decoder::{Decoder, States},
        language_model::LanguageModel,
    },
};
use crate::{
    backend::{AttentionRow, Backend, Pooling},
    checkpoint::{
        BertCheckpoint, EncoderId,
        config::Config,
        weights::{Dtype, WeightTensor},
    },
    error::{Error, Result},
    model::bert::Bert,
    text::{Batch, Sequence, Template, Tokenizer},
};

/// An encoder on one backend.
pub struct Encoder<B: Backend> {
    /// Where it runs.
    pub backend: B,
    /// Who it is.
    pub id: EncoderId,
    /// What its inputs and embeddings depend on.
    pub shape: Shape,
    /// How texts become its tokens.
    pub tokenizer: Arc<Tokenizer>,
    /// What the large matrices are kept in, such as `q8_0`.
    pub dtype: Cow<'static, str>,
    model: Model<B>,
    /// What was trained beside it: see [`Encoder::equip`].
    pub(super) trained: Layers<B>,
    pub(super) remembered: Remembered,
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
    /// Which tokens of a text by itself are averaged, as its authors have it.
    pub plain: Pool,
    /// Whether an embedding is divided by its length before anything is done with it.
    pub unit_length: bool,
}

/// What turns tokens into hidden states.
enum Model<B: Backend> {
    Bert(Box<(Bert<B>, Config)>),
    #[cfg(not(target_arch = "wasm32"))]
    Decoder {
        states: Arc<dyn States<B>>,
        /// The same, for what it does as a language model.
        decoder: Arc<Decoder>,
    },
}

/// Embeddings of a pass on the device, before any head.
pub struct Embedded<B: Backend> {
    /// Of texts by themselves, `[hidden]` each.
    pub plain: Option<Made<B>>,
    /// Of sentences under conditions, [`Case::dims`] wide.
    pub conditional: Option<Made<B>>,
    /// Where the conditions looked, if that was asked for.
    pub look: Option<Look<B>>,
}

/// Rows on the device, and whose they are.
pub struct Made<B: Backend> {
    /// The input of each row.
    pub inputs: Vec<usize>,
    /// One row an input.
    pub rows: B::Tensor,
}

/// Attention of the conditions' tokens in the last layer.
pub struct Look<B: Backend> {
    /// What was read of which input, in the order of the rows.
    pub reads: Vec<(usize, Vec<Read>)>,
    /// See [`Backend::attention_weights`]: the rows of [`Read::attention_rows`], read by read.
    pub weights: B::Tensor,
}

/// A BERT of these tensors, by name and shape.
fn bert<'a, B: Backend>(
    backend: &B,
    config: &Config,
    pooler: bool,
    tensor: &mut dyn FnMut(&str, &[usize]) -> Result<WeightTensor<'a>>,
) -> Result<Bert<B>> {
    let model = Bert::load(backend, config, &mut *tensor)?;
    match pooler {
        true => model.with_pooler(backend, config, tensor),
        false => Ok(model),
    }
}

impl<B: Backend> Encoder<B> {
    /// Copies an opened checkpoint to a backend.
    pub fn load(backend: B, checkpoint: &BertCheckpoint) -> Result<Self> {
        let weights = &checkpoint.weights;
        Self::load_with(backend, checkpoint, |name, shape| weights.get(name, shape))
    }

    /// As [`Encoder::load`], with tensors from elsewhere: see [`Bert::load`].
    pub(crate) fn load_with<'a>(
        backend: B,
        checkpoint: &BertCheckpoint,
        mut tensor: impl FnMut(&str, &[usize]) -> Result<WeightTensor<'a>>,
    ) -> Result<Self> {
        let (config, pooler) = (&checkpoint.config, checkpoint.has_pooler());
        let model = bert(&backend, config, pooler, &mut tensor)
            .map_err(|e| e.of_model(&checkpoint.encoder.id))?;
        Ok(Self::of(backend, model, checkpoint, checkpoint.dtype()))
    }

    /// As [`Encoder::load`], and uses the checkpoint up: each of its tensors is freed once the backend has its own copy,
    /// or is kept by the backend as it is.
    pub fn consume(backend: B, mut checkpoint: BertCheckpoint) -> Result<Self> {
        let (dtype, pooler) = (checkpoint.dtype(), checkpoint.has_pooler());
        let (config, weights) = (&checkpoint.config, &mut checkpoint.weights);
        let mut take = |name: &str, shape: &[usize]| weights.take(name, shape);
        let model = bert(&backend, config, pooler, &mut take)
            .map_err(|e| e.of_model(&checkpoint.encoder.id))?;
        Ok(Self::of(backend, model, &checkpoint, dtype))
    }

    fn of(backend: B, model: Bert<B>, checkpoint: &BertCheckpoint, dtype: Dtype) -> Self {
        let config = &checkpoint.config;
        Self {
            backend,
            id: checkpoint.encoder.clone(),
            shape: Shape {
                hidden_size: config.hidden_size,
                vocab_size: config.vocab_size,
                max_tokens: match checkpoint.plain.max_tokens {
                    Some(tokens) => tokens.min(config.max_positions),
                    None => config.max_positions,
                },
                segments: config.type_vocab_size > 1,
                end: None,
                plain: match Pool::from(checkpoint.plain.pooling) {
                    Pool::Pooler if !model.has_pooler() => Pool::Cls,
                    plain => plain,
                },
                unit_length: false,
            },
            tokenizer: Arc::clone(&checkpoint.tokenizer),
            dtype: dtype.name().into(),
            model: Model::Bert(Box::new((model, config.clone()))),
            trained: Layers::none(),
            remembered: Remembered::default(),
        }
    }

    /// Copies the layers that were trained beside it for `case` to its backend, with this dropout before each of them while
    /// training: those of [`Case::layers`], none for most.
    ///
    /// # Errors
    /// They are others than the case's, or what the device says.
    pub fn equip(&mut self, case: &Case, layers: &[LinearNumbers], dropout: f32) -> Result<()> {
        let shapes = case.layers(self.shape.hidden_size);
        self.trained = Layers::load(&self.backend, shapes, layers, dropout)?;
        Ok(())
    }

    /// What tells the layers that were trained beside it apart from others; 0 where there are none.
    pub fn beside(&self) -> u64 {
        self.trained.digest()
    }

    /// The layers that were trained beside it for `case`.
    ///
    /// # Errors
    /// It has not been given them.
    pub(super) fn layers_of(&self, case: &Case) -> Result<&[B::Linear]> {
        let shapes = case.layers(self.shape.hidden_size);
        match shapes.is_empty() {
            true => Ok(&[]),
            false => self.trained.of(&shapes).ok_or_else(|| {
                Error::InvalidArgument(
                    "joining sentence and condition so takes layers that are trained with the encoder: name the folder, or the head, that `caselens fine-tune` wrote.".into(),
                )
            }),
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
            Model::Decoder { .. } => Err(Error::InvalidArgument(format!(
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
        if case.pooling() == Pool::Pooler && !self.bert()?.0.has_pooler() {
            return wrong(format!(
                "{} has no pooler in its file. Pool in another way; or quantize it again from a folder whose weights hold `pooler.dense`, with a head that pools so.",
                self.id
            ));
        }
        let join = match case {
            Case::Apart(apart) => apart.join,
            Case::Cross(_) => return self.bert().map(|_| ()),
            Case::Prompted(_) => {
                return match self.is_decoder() {
                    true => Ok(()),
                    false => wrong(format!(
                        "{} is an encoder of the BERT family: prompts are for language models, such as Mistral, Qwen2 and Llama.",
                        self.id
                    )),
                };
            }
            Case::Joint(joint) => {
                let layers = self.bert()?.0.layers().len();
                return match joint.router {
                    Some(_) if self.backend.routing().is_none() => {
                        wrong("routers do not work in browsers. Use an encoder without one.".into())
                    }
                    Some(router) if router.layers > layers => wrong(format!(
                        "the router works in {} layers, which must be between 1 and {layers}, the layers of the encoder.",
                        router.layers
                    )),
                    _ => Ok(()),
                };
            }
            Case::Instructed(_) => return Ok(()),
        };
        if self.backend.routing().is_none() {
            return wrong("tri-encoders do not run in browsers. Use a bi-encoder.".into());
        }
        let layers = self.bert()?.0.layers().len();
        self.layers_of(case)?;
        match join.weighed() {
            weighed if weighed > layers => wrong(format!(
                "the router works in {weighed} layers, which must be between 0 and {layers}, the layers of the encoder."
            )),
            _ => Ok(()),
        }
    }

    /// Hidden states of the last layer for a packed batch, `[tokens, hidden]`.
    pub fn hidden(&self, batch: &Batch) -> Result<B::Tensor> {
        match &self.model {
            Model::Bert(both) => both.0.forward(&self.backend, batch),
            #[cfg(not(target_arch = "wasm32"))]
            Model::Decoder { states, .. } => states.states(batch),
        }
    }

    /// What is pooled where `pool` says which tokens: hidden states `[tokens, hidden]`, or behind the pooler a row a sequence
    /// of the batch, `[sequences, hidden]`.
    ///
    /// # Errors
    /// The pooler is asked for and there is none.
    pub fn states(&self, hidden: &B::Tensor, batch: &Batch, pool: Pool) -> Result<B::Tensor> {
        match pool {
            Pool::Pooler => self.bert()?.0.pool(&self.backend, hidden, batch),
            _ => Ok(hidden.clone()),
        }
    }

    /// Operations of the products in a forward pass over one input of so many tokens.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn operations(&self, tokens: usize) -> f64 {
        match &self.model {
            Model::Bert(both) => both.1.operations(tokens),
            Model::Decoder { states, .. } => states.operations(tokens),
        }
    }

    /// In which order and in which passes inputs of these tokens are read.
    pub(super) fn reading(&self, inputs: &[&[u32]]) -> Reading {
        #[cfg(not(target_arch = "wasm32"))]
        if let Model::Decoder { decoder, .. } = &self.model {
            let longest = inputs.iter().map(|ids| ids.len()).max().unwrap_or(0);
            return Reading::of(inputs, decoder.shares(longest));
        }
        Reading::of(inputs, false)
    }

    /// Whether it is a decoder, which takes far longer for an input than others.
    pub fn is_decoder(&self) -> bool {
        self.bert().is_err()
    }

    /// The language model that this decoder is, with its output layer from the checkpoint that it was loaded of, in
    /// `precision`; they share all other weights.
    ///
    /// # Errors
    /// As [`LanguageModel::on`]; or this is no decoder.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn language_model(
        &self,
        checkpoint: &DecoderCheckpoint,
        precision: Precision,
    ) -> Result<LanguageModel> {
        match &self.model {
            Model::Decoder { decoder, .. } => {
                LanguageModel::on(Arc::clone(decoder), checkpoint, precision)
            }
            Model::Bert(_) => Err(Error::InvalidArgument(format!(
                "{} is an encoder of the BERT family: it writes no text.",
                self.id
            ))),
        }
    }

    /// Drops what is remembered of earlier calls: what comes next is the same numbers as without them.
    pub fn forget(&self) {
        self.remembered.clear();
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

    /// Tokenizes two sentences and a condition, and gives what `case` has an encoder read to compare them. `what` is appended
    /// to their names in errors.
    pub fn compared(
        &self,
        case: &Case,
        [sentence1, sentence2]: [&str; 2],
        condition: &str,
        what: &str,
    ) -> Result<Vec<Input>> {
        let template = self.template();
        let first = template.sentence(&format!("sentence 1{what}"), sentence1)?;
        let second = template.sentence(&format!("sentence 2{what}"), sentence2)?;
        let condition = template.condition(&format!("condition{what}"), condition)?;
        case.inputs(&template, [&first, &second], &condition)
    }

    /// Hidden states of the last layer averaged over the tokens of each of `pools`: one row a sequence,
    /// `[pools · hidden]`. One forward pass serves every pooling.
    pub async fn pooled(&self, sequences: &[Sequence], pools: &[Pool]) -> Result<Vec<Vec<f32>>> {
        let mut rows = Vec::with_capacity(sequences.len());
        let mut next = 0;
        while next < sequences.len() {
            let mut plan = Plan::default();
            let first = next;
            let mut placed = Vec::new();
            while next < sequences.len() && !plan.is_full() {
                placed.push(plan.add(&sequences[next]));
                next += 1;
            }
            let hidden = self.hidden(&plan.batch)?;
            let one = |&pool: &Pool| {
                let mut pooling = Pooling::default();
                for (sequence, &placed) in sequences[first..].iter().zip(&placed) {
                    let row = begin_row(&mut pooling, 1);
                    let term = term(sequence, placed, pool, row, 0, 1.0);
                    pooling.terms.push(term);
                }
                let states = self.states(&hidden, &plan.batch, pool)?;
                self.backend.pool(&states, &pooling)
            };
            let pooled = pools.iter().map(one).collect::<Result<Vec<_>>>()?;
            let numbers = self
                .backend
                .read(&pooled.iter().collect::<Vec<_>>())
                .await?;
            let width = self.shape.hidden_size;
            rows.extend((0..placed.len()).map(|row| {
                let parts = numbers
                    .iter()
                    .map(|all| &all[row * width..(row + 1) * width]);
                parts.collect::<Vec<_>>().concat()
            }));
        }
        Ok(rows)
    }
}

impl<B: Backend> Encoder<B> {
    /// A router on `reads`, in each of which sentence and condition are one input, of a batch of so many tokens.
    ///
    /// # Errors
    /// As [`Encoder::check`].
    pub fn within<'r>(
        &self,
        router: JointRouter,
        reads: impl Iterator<Item = &'r Read>,
        tokens: usize,
    ) -> Result<Within<'_, B>> {
        let layers = self.bert()?.0.layers().len();
        match (self.backend.routing(), layers.checked_sub(router.layers)) {
            (Some(routing), Some(first)) => {
                let router = (router, first);
                Ok(Within::new(&self.backend, routing, router, reads, tokens))
            }
            _ => Err(Error::InvalidArgument(
                "a router does not work on this device, or in so many layers.".into(),
            )),
        }
    }

    /// Hidden states of the last layer, `[tokens, hidden]`, through a router where there is one, and the attention weights for
    /// `rows` of each of `layers`, which count from 0: see [`Backend::attention_weights`].
    ///
    /// # Errors
    /// A token that the tables do not hold, a row outside the batch, or what the device says.
    pub fn hidden_attending(
        &self,
        batch: &Batch,
        within: Option<&Within<'_, B>>,
        rows: &[AttentionRow],
        layers: impl RangeBounds<usize>,
    ) -> Result<(B::Tensor, Vec<B::Tensor>)> {
        let mut weights = Vec::new();
        let backend = &self.backend;
        let bert = self.bert()?.0;
        let hidden = bert.forward_through(backend, batch, |number, layer, qkv, attended| {
            if layers.contains(&number) {
                weights.push(layer.attention_weights(backend, qkv, rows)?);
            }
            match within {
                Some(within) => within.scale(number, layer, qkv, attended),
                None => Ok(attended),
            }
        })?;
        Ok((hidden, weights))
    }

    /// As [`Encoder::hidden`], through a router.
    ///
    /// # Errors
    /// As [`Encoder::hidden_attending`].
    pub fn hidden_within(&self, batch: &Batch, within: &Within<'_, B>) -> Result<B::Tensor> {
        Ok(self.hidden_attending(batch, Some(within), &[], ..0)?.0)
    }

    /// The embeddings of a pass, through a router where there is one, and, where asked for, where its conditions look in the
    /// last layer.
    pub(crate) fn embed_pass(
        &self,
        pass: Pass,
        router: Option<JointRouter>,
        look: bool,
    ) -> Result<Embedded<B>> {
        let batch = &pass.plan.batch;
        let within = match router {
            Some(router) => Some(self.within(router, pass.joint(), batch.tokens())?),
            None => None,
        };
        let (hidden, look) = match look && !pass.reads.is_empty() {
            true => {
                let rows: Vec<_> = pass.joint().flat_map(Read::attention_rows).collect();
                let last = self.bert()?.0.layers().len().saturating_sub(1);
                let (hidden, weights) =
                    self.hidden_attending(batch, within.as_ref(), &rows, last..)?;
                let reads = pass.reads.into_iter().map(|read| read.joint);
                let reads = pass.conditional.inputs.iter().copied().zip(reads).collect();
                let look = weights.into_iter().next();
                (hidden, look.map(|weights| Look { reads, weights }))
            }
            false => match &within {
                Some(within) => (self.hidden_within(batch, within)?, None),
                None => (self.hidden(batch)?, None),
            },
        };
        Ok(Embedded {
            plain: self.pool(&hidden, batch, pass.plain)?,
            conditional: self.pool(&hidden, batch, pass.conditional)?,
            look,
        })
    }

    /// Rows of hidden states, where there are any.
    fn pool(&self, hidden: &B::Tensor, batch: &Batch, pooled: Pooled) -> Result<Option<Made<B>>> {
        if pooled.inputs.is_empty() {
            return Ok(None);
        }
        let states = match pooled.pooler {
            true => &self.states(hidden, batch, Pool::Pooler)?,
            false => hidden,
        };
        Ok(Some(Made {
            rows: self.backend.pool(states, &pooled.pooling)?,
            inputs: pooled.inputs,
        }))
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl<B: Backend + From<Candle>> Encoder<B>
where
    Decoder: States<B>,
{
    /// Copies an opened decoder to candle's device.
    ///
    /// # Errors
    /// As [`Decoder::load`].
    pub fn decoder(
        backend: Candle,
        checkpoint: &DecoderCheckpoint,
        precision: Precision,
    ) -> Result<Self> {
        let decoder = Arc::new(Decoder::load(checkpoint, backend.device(), precision)?);
        let config = &checkpoint.config;
        Ok(Self {
            id: checkpoint.encoder.clone(),
            shape: Shape {
                hidden_size: config.hidden_size,
                vocab_size: config.vocab_size,
                max_tokens: config.max_positions,
                segments: false,
                end: config.eos,
                plain: Pool::All,
                unit_length: config.latent.as_ref().is_some_and(|l| l.output_normalize),
            },
            tokenizer: Arc::clone(&checkpoint.tokenizer),
            dtype: precision.kept(&checkpoint.weights, backend.device()).into(),
            model: Model::Decoder {
                states: Arc::clone(&decoder) as Arc<dyn States<B>>,
                decoder,
            },
            trained: Layers::none(),
            remembered: Remembered::default(),
            backend: backend.into(),
        })
    }
}

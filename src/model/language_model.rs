//! Language models: they write behind a text, or in answer to one, taking the likeliest token each time.
//!
//! ```no_run
//! use candle_core::Device;
//! use caselens::model::language_model::{LanguageModel, Limits};
//!
//! let model = LanguageModel::open("SmolLM2-135M-Instruct.Q4_1.gguf".as_ref(), &Device::Cpu, None)?;
//! let limits = Limits { tokens: 20, stop: &["\n"] };
//! let written = model.complete("The capital of France is", &limits)?;
//! println!("{}, ended by {:?}", written.text.trim(), written.end); // Paris.
//! # Ok::<(), caselens::Error>(())
//! ```

use std::{path::Path, sync::Arc};

use candle_core::{Device, Tensor};

mod output;
mod word;

use output::Output;
pub use word::Word;

use super::{
    decoder::{Decoder, cache::Cache},
    load::Precision,
    nothing,
    t5::{Answer, MAX_TOKENS, T5},
};
use crate::{
    checkpoint::{Checkpoint, DecoderCheckpoint, T5Checkpoint, names::OUTPUT},
    error::{Error, Result},
    text::Tokenizer,
};

/// A model, its output layer and its tokenizer.
pub struct LanguageModel {
    model: Model,
    output: Output,
    tokenizer: Arc<Tokenizer>,
    name: String,
}

enum Model {
    /// It goes on with a prompt.
    Decoder(Arc<Decoder>),
    /// It answers one.
    T5(Box<T5>),
}

/// A text as far as a model read it.
enum Text<'a> {
    Prompt(&'a Decoder, Cache),
    Answer(&'a T5, Answer),
}

impl Text<'_> {
    fn tokens(&self) -> usize {
        match self {
            Self::Prompt(_, cache) => cache.tokens(),
            Self::Answer(_, answer) => answer.tokens(),
        }
    }

    /// Reads the next tokens, one at least: the state of the last one, `[1, hidden]`.
    fn read(&mut self, ids: &[u32]) -> Result<Tensor> {
        match self {
            Self::Prompt(decoder, cache) => {
                let states = decoder.read_on(cache, ids)?;
                Ok(states.narrow(0, ids.len() - 1, 1)?)
            }
            Self::Answer(t5, answer) => {
                let (last, before) = ids.split_last().ok_or_else(nothing)?;
                for &id in before {
                    t5.next(answer, id)?;
                }
                t5.next(answer, *last)
            }
        }
    }
}

/// Where writing ends at the latest.
#[derive(Debug, Clone, Copy)]
pub struct Limits<'a> {
    /// After so many tokens.
    pub tokens: usize,
    /// Before the first of these texts, wherever it begins: within a token, or a token that has more behind it.
    pub stop: &'a [&'a str],
}

/// What a language model wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Continuation {
    /// The text up to what ended it, with the space that it begins with.
    pub text: String,
    /// Its tokens, with those of the text that ended it.
    pub ids: Vec<u32>,
    /// What ended it.
    pub end: End,
}

/// What ends a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// One of [`Limits::stop`].
    Stop,
    /// The model's own token for that.
    Token,
    /// [`Limits::tokens`], or the model's positions.
    Length,
}

impl LanguageModel {
    /// Opens a decoder, as [`Checkpoint::open`] does, or the folder of a T5, on a device; in a precision that loses nothing of its
    /// files unless another is named.
    ///
    /// # Errors
    /// A file is missing or broken, or holds an encoder alone; or memory does not suffice.
    pub fn open(path: &Path, device: &Device, precision: Option<Precision>) -> Result<Self> {
        if T5Checkpoint::is_in(path) {
            let checkpoint = T5Checkpoint::open(path)?;
            let precision = precision.unwrap_or_else(|| Precision::of(&checkpoint.weights));
            return Self::t5(&checkpoint, device, precision);
        }
        let checkpoint = Checkpoint::open(path)?.decoder()?;
        let precision = precision.unwrap_or_else(|| Precision::of(&checkpoint.weights));
        Self::load(&checkpoint, device, precision)
    }

    /// Copies a decoder and its output layer to a device. To embed with the same decoder, see
    /// [`Encoder::language_model`](crate::embedding::Encoder::language_model).
    ///
    /// # Errors
    /// As [`Decoder::load`]; or it is an encoder alone, without an output layer.
    pub fn load(
        checkpoint: &DecoderCheckpoint,
        device: &Device,
        precision: Precision,
    ) -> Result<Self> {
        let decoder = Decoder::load(checkpoint, device, precision)?;
        Self::on(Arc::new(decoder), checkpoint, precision)
    }

    /// Adds the output layer to a decoder that was loaded of the same checkpoint.
    ///
    /// # Errors
    /// It is an encoder alone, without an output layer; or memory does not suffice.
    pub fn on(
        decoder: Arc<Decoder>,
        checkpoint: &DecoderCheckpoint,
        precision: Precision,
    ) -> Result<Self> {
        let config = &checkpoint.config;
        let tied = config.tied.then_some(&decoder.tokens);
        let shape = [config.vocab_size, config.hidden_size];
        Ok(Self {
            output: Output::load(checkpoint, tied, shape, &decoder.device, precision)?,
            tokenizer: Arc::clone(&checkpoint.tokenizer),
            name: checkpoint.encoder.id.clone(),
            model: Model::Decoder(decoder),
        })
    }

    /// Copies a T5 and its output layer to a device: the table of tokens where the file holds no other, whatever the configuration
    /// says of it, as transformers has it.
    ///
    /// # Errors
    /// As [`T5::load`].
    pub fn t5(checkpoint: &T5Checkpoint, device: &Device, precision: Precision) -> Result<Self> {
        let t5 = T5::load(checkpoint, device, precision)?;
        let config = &checkpoint.config;
        let tied = (!checkpoint.weights.contains(OUTPUT)).then_some(&t5.tokens);
        let shape = [config.vocab_size, config.hidden_size];
        Ok(Self {
            output: Output::load(checkpoint, tied, shape, device, precision)?,
            tokenizer: Arc::clone(&checkpoint.tokenizer),
            name: checkpoint.encoder.id.clone(),
            model: Model::T5(Box::new(t5)),
        })
    }

    /// What it is called where it comes from.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How texts become its tokens.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Tokens that a prompt and what is written behind it may have together; of a T5, either of them.
    pub fn positions(&self) -> usize {
        match &self.model {
            Model::Decoder(decoder) => decoder.config.max_positions,
            // One is the token that ends a prompt, or begins an answer.
            Model::T5(_) => MAX_TOKENS - 1,
        }
    }

    /// Goes on with a text: [`Tokenizer::prompt`] and [`LanguageModel::go_on`].
    ///
    /// # Errors
    /// As [`LanguageModel::go_on`].
    pub fn complete(&self, prompt: &str, limits: &Limits<'_>) -> Result<Continuation> {
        self.go_on(&self.tokenizer.prompt(prompt)?, limits)
    }

    /// Goes on with a text's tokens, each the likeliest one, as transformers' `generate(do_sample=False)` does; a T5 answers them,
    /// behind which its token for a prompt's end is put. The prompt is read once, and each token that is written.
    ///
    /// # Errors
    /// The prompt has no token, one of another model, or more than the model's positions; or numbers overflow.
    pub fn go_on(&self, prompt: &[u32], limits: &Limits<'_>) -> Result<Continuation> {
        let (mut text, mut unread) = self.begin(prompt)?;
        let mut ids = Vec::new();
        loop {
            let room = ids.len() < limits.tokens && text.tokens() < self.positions();
            if !room {
                return Ok(self.written(ids, End::Length));
            }
            let next = self.likeliest(&text.read(&unread)?)?;
            if self.ends(next) {
                return Ok(self.written(ids, End::Token));
            }
            ids.push(next);
            let said = self.tokenizer.text(&ids);
            if let Some(end) = limits.stop.iter().filter_map(|stop| said.find(stop)).min() {
                return Ok(Continuation {
                    text: said[..end].to_owned(),
                    ids,
                    end: End::Stop,
                });
            }
            unread = vec![next];
        }
    }

    /// What nothing is read of yet, and what is to be read first.
    fn begin(&self, prompt: &[u32]) -> Result<(Text<'_>, Vec<u32>)> {
        if prompt.is_empty() {
            return Err(nothing());
        }
        Ok(match &self.model {
            Model::Decoder(decoder) => (Text::Prompt(decoder, Cache::default()), prompt.to_vec()),
            Model::T5(t5) => {
                let states = t5.read(&[prompt, &[t5.config.end]].concat())?;
                let answer = t5.answer(&states)?;
                (Text::Answer(t5, answer), vec![t5.config.start])
            }
        })
    }

    fn ends(&self, id: u32) -> bool {
        match &self.model {
            Model::Decoder(decoder) => decoder.config.ends.contains(&id),
            Model::T5(t5) => t5.config.end == id,
        }
    }

    /// A text that nothing cut; of its last character not every byte may be there.
    fn written(&self, ids: Vec<u32>, end: End) -> Continuation {
        let text = self.tokenizer.text(&ids);
        Continuation {
            text: text
                .trim_end_matches(char::REPLACEMENT_CHARACTER)
                .to_owned(),
            ids,
            end,
        }
    }

    /// The first of the likeliest tokens behind a state, `[1, hidden]`. A T5 divides the state of a tied output layer by √hidden
    /// first, which changes no order.
    fn likeliest(&self, state: &Tensor) -> Result<u32> {
        let logits = self
            .output
            .forward(state)?
            .flatten_all()?
            .to_vec1::<f32>()?;
        let mut best = (0, f32::NEG_INFINITY);
        for (id, logit) in (0..).zip(logits) {
            if logit > best.1 {
                best = (id, logit);
            }
        }
        match best.1.is_finite() {
            true => Ok(best.0),
            false => Err(Error::InvalidArgument(format!(
                "{} names no next token: its numbers do not fit. Choose another precision, such as bf16 or f32.",
                self.name
            ))),
        }
    }
}

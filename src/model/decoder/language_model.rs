//! A decoder as the language model that it is: it goes on with a text, taking the likeliest token each time.
//!
//! ```no_run
//! use candle_core::Device;
//! use caselens::{
//!     checkpoint::Checkpoint,
//!     model::decoder::{LanguageModel, Limits, Precision},
//! };
//!
//! let checkpoint = Checkpoint::open("SmolLM2-135M-Instruct.Q4_1.gguf".as_ref())?.decoder()?;
//! let model = LanguageModel::load(&checkpoint, &Device::Cpu, Precision::of(&checkpoint.weights))?;
//! let limits = Limits { tokens: 20, stop: &["\n"] };
//! let written = model.complete("The capital of France is", &limits)?;
//! println!("{}, ended by {:?}", written.text.trim(), written.end); // Paris.
//! # Ok::<(), caselens::Error>(())
//! ```

use std::sync::Arc;

use candle_core::{Device, Tensor};

use super::{Decoder, Precision, cache::Cache, output::Output};
use crate::{
    checkpoint::DecoderCheckpoint,
    error::{Error, Result},
    text::Tokenizer,
};

/// A decoder, its output layer and its tokenizer.
pub struct LanguageModel {
    decoder: Arc<Decoder>,
    output: Output,
    tokenizer: Arc<Tokenizer>,
    name: String,
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
        Ok(Self {
            output: Output::load(&decoder, checkpoint, &decoder.device, precision)?,
            tokenizer: Arc::clone(&checkpoint.tokenizer),
            name: checkpoint.encoder.id.clone(),
            decoder,
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

    /// Tokens that a prompt and what is written behind it may have together.
    pub fn positions(&self) -> usize {
        self.decoder.config.max_positions
    }

    /// Goes on with a text: [`Tokenizer::prompt`] and [`LanguageModel::go_on`].
    ///
    /// # Errors
    /// As [`LanguageModel::go_on`].
    pub fn complete(&self, prompt: &str, limits: &Limits<'_>) -> Result<Continuation> {
        self.go_on(&self.tokenizer.prompt(prompt)?, limits)
    }

    /// Goes on with a text's tokens, each the likeliest one, as transformers' `generate(do_sample=False)` does. The prompt is
    /// read once, and each token that is written.
    ///
    /// # Errors
    /// The prompt has no token, one of another model, or more than the model's positions; or numbers overflow.
    pub fn go_on(&self, prompt: &[u32], limits: &Limits<'_>) -> Result<Continuation> {
        let mut cache = Cache::default();
        let mut ids = Vec::new();
        let mut unread = prompt.to_vec();
        loop {
            let room = ids.len() < limits.tokens && cache.tokens() < self.positions();
            if !room {
                return Ok(self.written(ids, End::Length));
            }
            let states = self.decoder.read_on(&mut cache, &unread)?;
            let next = self.likeliest(&states.narrow(0, unread.len() - 1, 1)?)?;
            if self.decoder.config.ends.contains(&next) {
                return Ok(self.written(ids, End::Token));
            }
            ids.push(next);
            let text = self.tokenizer.text(&ids);
            if let Some(end) = limits.stop.iter().filter_map(|stop| text.find(stop)).min() {
                return Ok(Continuation {
                    text: text[..end].to_owned(),
                    ids,
                    end: End::Stop,
                });
            }
            unread = vec![next];
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

    /// The first of the likeliest tokens behind a state, `[1, hidden]`.
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

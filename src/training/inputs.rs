//! Texts as inputs of the encoder that is trained.

use std::collections::{HashMap, hash_map::Entry};

use crate::{
    backend::candle::training::Trainer,
    embedding::{Case, Encoder, Input},
    error::Result,
    text::template::Tokens,
};

/// Makes inputs of texts, each text tokenized once and no input made twice.
pub struct Reader<'a, 'r> {
    encoder: &'a Encoder<Trainer>,
    case: &'a Case,
    /// The inputs so far.
    pub inputs: Vec<Input>,
    sentences: HashMap<&'r str, Tokens>,
    conditions: HashMap<&'r str, Tokens>,
    known: HashMap<(&'r str, Option<&'r str>), usize>,
}

impl<'a, 'r> Reader<'a, 'r> {
    pub fn new(encoder: &'a Encoder<Trainer>, case: &'a Case) -> Self {
        Self {
            encoder,
            case,
            inputs: Vec::new(),
            sentences: HashMap::new(),
            conditions: HashMap::new(),
            known: HashMap::new(),
        }
    }

    /// The input of a text under a condition, or by itself.
    ///
    /// # Errors
    /// What the tokenizer says.
    pub fn input(&mut self, text: &'r str, condition: Option<&'r str>) -> Result<usize> {
        if let Some(&known) = self.known.get(&(text, condition)) {
            return Ok(known);
        }
        let sentence = self.sentence(text)?;
        let input = match condition {
            None => Input::Single(sentence),
            Some(condition) => Input::Conditional {
                sentence,
                condition: self.condition(condition)?,
            },
        };
        self.inputs.push(input);
        self.known.insert((text, condition), self.inputs.len() - 1);
        Ok(self.inputs.len() - 1)
    }

    /// The input of two sentences and their condition at once.
    ///
    /// # Errors
    /// What the tokenizer says; the condition leaves no room for the sentences.
    pub fn together(&mut self, sentences: [&'r str; 2], condition: &'r str) -> Result<usize> {
        let [first, second] = [self.sentence(sentences[0])?, self.sentence(sentences[1])?];
        let condition = self.condition(condition)?;
        let template = self.encoder.template();
        let inputs = self.case.inputs(&template, [&first, &second], &condition)?;
        self.inputs.extend(inputs);
        Ok(self.inputs.len() - 1)
    }

    fn sentence(&mut self, text: &'r str) -> Result<Tokens> {
        let template = self.encoder.template();
        Ok(match self.sentences.entry(text) {
            Entry::Occupied(tokens) => tokens.get().clone(),
            Entry::Vacant(place) => place
                .insert(template.sentence(&format!("text \"{text:.60}\""), text)?)
                .clone(),
        })
    }

    fn condition(&mut self, text: &'r str) -> Result<Tokens> {
        let template = self.encoder.template();
        Ok(match self.conditions.entry(text) {
            Entry::Occupied(tokens) => tokens.get().clone(),
            Entry::Vacant(place) => place
                .insert(template.condition(&format!("condition \"{text:.60}\""), text)?)
                .clone(),
        })
    }
}

/// The inputs of a batch, each once.
#[derive(Default)]
pub struct Inputs {
    /// In the order of their rows.
    pub order: Vec<usize>,
    rows: HashMap<usize, u32>,
}

impl Inputs {
    /// The row of an input's embedding.
    pub fn row(&mut self, input: usize) -> u32 {
        let next = self.order.len() as u32;
        *self.rows.entry(input).or_insert_with(|| {
            self.order.push(input);
            next
        })
    }
}

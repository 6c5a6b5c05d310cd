//! The word that a language model says of a text in a prompt: what it writes behind the opening quote, up to the quote that
//! closes it (PonTE, section 2). It tells what an embedding of the same prompt stands for.

use super::{LanguageModel, Limits};
use crate::{
    error::Result,
    text::{Prompt, Template},
};

/// A word, or what a model took for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Without white space around it; empty where the model closed the quote at once.
    pub word: String,
    /// Tokens of the text that did not fit and were not read.
    pub cut: usize,
}

impl LanguageModel {
    /// The word of a text under a condition, or by itself, of at most so many tokens; a line's end ends it too. `what` is
    /// appended to the texts' names in errors.
    ///
    /// # Errors
    /// A text is empty; the condition leaves no room for the text, or the prompt has no field for it; or as
    /// [`LanguageModel::go_on`].
    pub fn word(
        &self,
        prompt: &Prompt,
        text: &str,
        condition: Option<&str>,
        tokens: usize,
        what: &str,
    ) -> Result<Word> {
        let template = Template {
            tokenizer: self.tokenizer(),
            max_tokens: self.positions().saturating_sub(tokens),
            segments: false,
            end: None,
        };
        let text = template.sentence(&format!("text{what}"), text)?;
        let condition = condition
            .map(|condition| template.condition(&format!("condition{what}"), condition))
            .transpose()?;
        let sequence = template.prompted(prompt, &text, condition.as_ref())?;
        let limits = Limits {
            tokens,
            stop: &[prompt.end(), "\n"],
        };
        let written = self.go_on(&sequence.ids, &limits)?;
        Ok(Word {
            word: written.text.trim().to_owned(),
            cut: sequence.cut,
        })
    }
}

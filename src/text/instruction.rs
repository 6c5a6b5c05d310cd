//! The prompts of CASE for encoders that follow instructions: one of the two texts is embedded, the other
//! shapes it from within the instruction.

use serde::{Deserialize, Serialize};

/// How an instruction stands before a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wrapper {
    /// `Instruct: {I}\nQuery: {text}`: NV-Embed-v2, SFR-Embedding-Mistral, multilingual-e5-large-instruct.
    #[default]
    Spaced,
    /// `Instruct: {I}\nQuery:{text}`: gte-Qwen2.
    Tight,
}

impl Wrapper {
    /// What stands before the text.
    pub fn before(self, instruction: &str) -> String {
        let space = match self {
            Self::Spaced => " ",
            Self::Tight => "",
        };
        format!("Instruct: {instruction}\nQuery:{space}")
    }
}

/// Which of sentence s and condition c is embedded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Setting {
    /// f(c; I(s)): the condition, given the sentence.
    #[default]
    Condition,
    /// f(s; I(c)): the sentence, given the condition.
    Sentence,
}

impl Setting {
    /// I(s) or I(c): the instruction that holds the other text.
    pub fn instruction(self, other: &str) -> String {
        let (embedded, given) = match self {
            Self::Condition => ("Condition", "Sentence"),
            Self::Sentence => ("Sentence", "Condition"),
        };
        format!(
            "Retrieve semantically similar texts to the {embedded}, given the {given} : {other}"
        )
    }
}

/// I(∅): the instruction for a text by itself.
pub const NOTHING: &str = "Retrieve semantically similar texts to a given Sentence";

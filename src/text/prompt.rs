//! Prompts of language models that ask for one word: text and condition stand in one raw prompt, which ends in an opening
//! quote (PonTE, Yamada & Zhang, 2025; without a condition PromptEOL, Jiang et al., 2023).
//!
//! A template has the fields `{text}` and `{condition}`. What stands in square brackets around `{condition}` is left out
//! for a text by itself; other brackets are what they are.
//!
//! ```
//! use caselens::text::Prompt;
//!
//! let prompt = Prompt::named("express-word-terms").unwrap_or_default();
//! assert_eq!(
//!     prompt.fill("Best fish ever.", Some("the rating"))?,
//!     "Express this text \"Best fish ever.\" in one word in terms of the rating: \""
//! );
//! assert_eq!(prompt.fill("Best fish ever.", None)?, "Express this text \"Best fish ever.\" in one word: \"");
//! # Ok::<(), caselens::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

const TEXT: &str = "{text}";
const CONDITION: &str = "{condition}";

/// The twelve templates of PonTE's appendix D in their order, then PromptEOL and plain concatenation: each by a name that
/// stays.
pub const NAMED: [(&str, &str); 14] = [
    (
        "text-terms",
        "This text: \"{text}\" means[ in terms of {condition}]: \"",
    ),
    (
        "text-respect",
        "This text: \"{text}\" means[ with respect to {condition}]: \"",
    ),
    (
        "text-word-terms",
        "This text: \"{text}\" means in one word[ in terms of {condition}]: \"",
    ),
    (
        "text-word-respect",
        "This text: \"{text}\" means in one word[ with respect to {condition}]: \"",
    ),
    (
        "text-terms-word",
        "This text: \"{text}\" means[ in terms of {condition}] in one word: \"",
    ),
    (
        "text-respect-word",
        "This text: \"{text}\" means[ with respect to {condition}] in one word: \"",
    ),
    (
        "express-terms",
        "Express this text \"{text}\"[ in terms of {condition}]: \"",
    ),
    (
        "express-respect",
        "Express this text \"{text}\"[ with respect to {condition}]: \"",
    ),
    (
        "express-word-terms",
        "Express this text \"{text}\" in one word[ in terms of {condition}]: \"",
    ),
    (
        "express-word-respect",
        "Express this text \"{text}\" in one word[ with respect to {condition}]: \"",
    ),
    (
        "express-terms-word",
        "Express this text \"{text}\"[ in terms of {condition}] in one word: \"",
    ),
    (
        "express-respect-word",
        "Express this text \"{text}\"[ with respect to {condition}] in one word: \"",
    ),
    ("prompt-eol", PROMPT_EOL),
    ("concatenation", "{text}[ {condition}]"),
];

/// PonTE's appendix C.
const PROMPT_EOL: &str = "This sentence: \"{text}\" means in one word: \"";

/// The best of PonTE's table 7, for models that follow instructions.
const DEFAULT: &str = "express-word-terms";

/// A template of a prompt, which has the field `{text}`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Prompt {
    template: String,
    /// With the field `{condition}`, where it has that.
    conditional: Option<String>,
    /// Without it.
    plain: String,
}

impl Default for Prompt {
    fn default() -> Self {
        Self::named(DEFAULT).unwrap_or_else(|| Self::of(PROMPT_EOL))
    }
}

impl Prompt {
    /// The published prompt of this name, one of [`NAMED`].
    pub fn named(name: &str) -> Option<Self> {
        let (_, template) = NAMED.iter().find(|(own, _)| *own == name)?;
        Some(Self::of(template))
    }

    /// A template of one's own.
    ///
    /// # Errors
    /// It has no field `{text}`.
    pub fn parse(template: &str) -> Result<Self> {
        let prompt = Self::of(template);
        let has_text = |form: &String| form.contains(TEXT);
        match prompt.conditional.as_ref().is_none_or(has_text) && has_text(&prompt.plain) {
            true => Ok(prompt),
            false => Err(Error::InvalidArgument(format!(
                "the prompt \"{template:.60}\" has no field {TEXT}. Write {TEXT} where the text stands, and {CONDITION} where the condition does."
            ))),
        }
    }

    fn of(template: &str) -> Self {
        let (with, without) = match optional(template) {
            Some([before, inside, behind]) => {
                ([before, inside, behind].concat(), [before, behind].concat())
            }
            None => (template.to_owned(), template.to_owned()),
        };
        Self {
            template: template.to_owned(),
            conditional: with.contains(CONDITION).then_some(with),
            plain: match without.contains(CONDITION) {
                true => PROMPT_EOL.to_owned(),
                false => without,
            },
        }
    }

    /// The template, as it was given.
    pub fn template(&self) -> &str {
        &self.template
    }

    /// Whether it has a field for a condition.
    pub fn has_condition(&self) -> bool {
        self.conditional.is_some()
    }

    /// Its name among the published ones.
    pub fn name(&self) -> Option<&'static str> {
        let mut named = NAMED.iter();
        let (name, _) = named.find(|(_, template)| *template == self.template)?;
        Some(name)
    }

    /// The prompt of a text under a condition, or by itself: in the template without its brackets, or in PromptEOL where
    /// the condition is in none.
    ///
    /// # Errors
    /// There is a condition, and no field for it.
    pub fn fill(&self, text: &str, condition: Option<&str>) -> Result<String> {
        let Some(condition) = condition else {
            return Ok(filled(&self.plain, text, ""));
        };
        match &self.conditional {
            Some(template) => Ok(filled(template, text, condition)),
            None => Err(Error::InvalidArgument(format!(
                "the prompt \"{:.60}\" has no field {CONDITION}, and the condition \"{condition:.60}\" is to be read. Choose a prompt that has it, or leave conditions out.",
                self.template
            ))),
        }
    }

    /// What ends the word that a model writes behind the prompt: the quote that closes its last, else the line's end.
    pub fn end(&self) -> &'static str {
        match self.template.chars().last() {
            Some('"') => "\"",
            Some('\'') => "'",
            Some('“') => "”",
            Some('‘') => "’",
            Some('«') => "»",
            Some('「') => "」",
            _ => "\n",
        }
    }
}

impl TryFrom<String> for Prompt {
    type Error = Error;

    fn try_from(template: String) -> Result<Self> {
        Self::parse(&template)
    }
}

impl From<Prompt> for String {
    fn from(prompt: Prompt) -> Self {
        prompt.template
    }
}

/// What stands before, within and behind the brackets around the condition.
fn optional(template: &str) -> Option<[&str; 3]> {
    let (before, behind) = template.split_once(CONDITION)?;
    let open = before.rfind(['[', ']'])?;
    let close = behind.find(['[', ']'])?;
    let is_pair = before[open..].starts_with('[') && behind[close..].starts_with(']');
    let end = before.len() + CONDITION.len() + close;
    is_pair.then(|| {
        [
            &template[..open],
            &template[open + 1..end],
            &template[end + 1..],
        ]
    })
}

/// The fields in one go: a text that names a field keeps it.
fn filled(template: &str, text: &str, condition: &str) -> String {
    let (mut filled, mut rest) = (String::with_capacity(template.len() + text.len()), template);
    while let Some(at) = rest.find('{') {
        let (before, field) = rest.split_at(at);
        filled += before;
        rest = if let Some(behind) = field.strip_prefix(TEXT) {
            filled += text;
            behind
        } else if let Some(behind) = field.strip_prefix(CONDITION) {
            filled += condition;
            behind
        } else {
            filled.push('{');
            &field[1..]
        };
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_around_the_condition_are_left_out_and_others_stay() {
        let of = |template: &str| {
            let prompt = Prompt::parse(template).unwrap();
            let conditional = prompt.fill("T", Some("C")).ok();
            (conditional, prompt.fill("T", None).unwrap())
        };
        let both = |with: &str, without: &str| (Some(with.to_owned()), without.to_owned());
        assert_eq!(
            of("[INST] {text}[, by {condition},] is [/INST]"),
            both("[INST] T, by C, is [/INST]", "[INST] T is [/INST]")
        );
        let eol = "This sentence: \"T\" means in one word: \"";
        assert_eq!(
            of("[INST] {text} by {condition} [/INST]"),
            both("[INST] T by C [/INST]", eol)
        );
        assert_eq!(of("{text}: {a} {"), (None, "T: {a} {".to_owned()));
    }

    #[test]
    fn what_a_text_says_is_no_field() {
        let prompt = Prompt::default();
        let filled = prompt
            .fill("{condition} and {text}", Some("the [x]"))
            .unwrap();
        assert_eq!(
            filled,
            "Express this text \"{condition} and {text}\" in one word in terms of the [x]: \""
        );
    }

    #[test]
    fn templates_without_their_fields_are_errors() {
        for template in [
            "",
            "Express it in terms of {condition}",
            "[{text}{condition}]",
        ] {
            let error = Prompt::parse(template).unwrap_err();
            assert!(error.to_string().contains("no field {text}"), "{error}");
        }
        let prompt = Prompt::named("prompt-eol").unwrap();
        let error = prompt.fill("T", Some("the place")).unwrap_err();
        assert!(
            error.to_string().contains("no field {condition}"),
            "{error}"
        );
    }

    #[test]
    fn every_published_prompt_is_found_by_its_name_and_reads_back() {
        for (name, template) in NAMED {
            let prompt = Prompt::named(name).unwrap();
            assert_eq!((prompt.name(), prompt.template()), (Some(name), template));
            let stored = serde_json::to_string(&prompt).unwrap();
            assert_eq!(serde_json::from_str::<Prompt>(&stored).unwrap(), prompt);
        }
    }
}

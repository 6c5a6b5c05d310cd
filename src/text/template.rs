//! How a sentence and a condition become one input of an MLM encoder: CONC(c+s) and CONC(s+c) (Conneau et
//! al.'s pair input: `[CLS] a [SEP] b [SEP]` for BERT, `<s> a </s></s> b </s>` for RoBERTa and XLM-R),
//! the condition alone, and the sentence alone.

use std::{ops::Range, rc::Rc};

use tokenizers::{Encoding, TruncationDirection};

use super::Tokenizer;
use crate::error::{Error, Result};

/// Which of the two comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// CONC(c+s)
    ConditionSentence,
    /// CONC(s+c)
    SentenceCondition,
}

/// One encoder input: token ids, type ids, and where the texts' own tokens lie in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequence {
    pub ids: Vec<u32>,
    pub types: Vec<u32>,
    /// The condition's tokens; in an input without a condition, the whole text's.
    pub condition: Range<usize>,
    /// The sentence's tokens; in an input without a sentence, the whole text's.
    pub sentence: Range<usize>,
    /// Sentence tokens that did not fit and were cut.
    pub cut: usize,
}

/// Builds inputs for one encoder.
pub struct Template<'a> {
    pub tokenizer: &'a Tokenizer,
    /// Longest input in tokens, special tokens included.
    pub max_tokens: usize,
    /// Whether the model tells two segments apart (type vocabulary of at least 2).
    pub segments: bool,
}

/// A text's tokens, made once and used in several inputs.
#[derive(Clone)]
pub struct Tokens {
    encoding: Rc<Encoding>,
    what: Rc<str>,
}

impl Template<'_> {
    /// Tokenizes a sentence. `what` names it in errors.
    pub fn sentence(&self, what: &str, text: &str) -> Result<Tokens> {
        Ok(Tokens {
            encoding: self.tokenizer.encode(what, text)?.into(),
            what: what.into(),
        })
    }

    /// Tokenizes a condition, without white space around it and its final full stop.
    pub fn condition(&self, what: &str, text: &str) -> Result<Tokens> {
        self.sentence(what, normalize_condition(text))
    }

    /// A single text: a sentence (cut where too long).
    pub fn single(&self, text: &Tokens) -> Result<Sequence> {
        let room = self
            .max_tokens
            .saturating_sub(self.tokenizer.added_tokens(false));
        let mut encoding = Encoding::clone(&text.encoding);
        let cut = cut(&mut encoding, room);
        let length = encoding.len();
        let joined = self.tokenizer.join(encoding, None)?;
        let [range] = spans(&joined, [length])?;
        Ok(self.sequence(&joined, range.clone(), range, cut))
    }

    /// A condition alone: the unconditional embedding that CASE subtracts. Never cut.
    pub fn condition_alone(&self, condition: &Tokens) -> Result<Sequence> {
        let sequence = self.single(condition)?;
        match sequence.cut {
            0 => Ok(sequence),
            _ => Err(self.too_long(condition)),
        }
    }

    /// A sentence and a condition as one input. The sentence is cut where the two are too long, the
    /// condition never.
    pub fn pair(&self, sentence: &Tokens, condition: &Tokens, order: Order) -> Result<Sequence> {
        let room = self
            .max_tokens
            .saturating_sub(self.tokenizer.added_tokens(true))
            .saturating_sub(condition.encoding.len());
        if room == 0 {
            return Err(self.too_long(condition));
        }
        let mut s = Encoding::clone(&sentence.encoding);
        let cut = cut(&mut s, room);
        let c = Encoding::clone(&condition.encoding);
        let (s_len, c_len) = (s.len(), c.len());
        let (joined, condition, sentence) = match order {
            Order::ConditionSentence => {
                let joined = self.tokenizer.join(c, Some(s))?;
                let [c, s] = spans(&joined, [c_len, s_len])?;
                (joined, c, s)
            }
            Order::SentenceCondition => {
                let joined = self.tokenizer.join(s, Some(c))?;
                let [s, c] = spans(&joined, [s_len, c_len])?;
                (joined, c, s)
            }
        };
        Ok(self.sequence(&joined, condition, sentence, cut))
    }

    fn sequence(
        &self,
        joined: &Encoding,
        condition: Range<usize>,
        sentence: Range<usize>,
        cut: usize,
    ) -> Sequence {
        Sequence {
            ids: joined.get_ids().to_vec(),
            types: match self.segments {
                true => joined.get_type_ids().to_vec(),
                false => vec![0; joined.len()],
            },
            condition,
            sentence,
            cut,
        }
    }

    fn too_long(&self, condition: &Tokens) -> Error {
        Error::ConditionTooLong {
            what: condition.what.to_string(),
            tokens: condition.encoding.len(),
            max: self.max_tokens,
        }
    }
}

/// A condition as encoders are given it: "The number of people." and "The number of people" are the same.
pub fn normalize_condition(text: &str) -> &str {
    let text = text.trim();
    match text.strip_suffix('.') {
        // "etc..." and a lone "." keep theirs.
        Some(stem) if !stem.is_empty() && !stem.ends_with('.') => stem.trim_end(),
        _ => text,
    }
}

/// Cuts to `room` tokens and returns how many went.
fn cut(encoding: &mut Encoding, room: usize) -> usize {
    let over = encoding.len().saturating_sub(room);
    if over > 0 {
        encoding.truncate(room, 0, TruncationDirection::Right);
    }
    over
}

/// Where texts of `lengths` tokens lie in a joined input: the template's own tokens are marked as special,
/// a text's never are.
fn spans<const N: usize>(joined: &Encoding, lengths: [usize; N]) -> Result<[Range<usize>; N]> {
    let special = joined.get_special_tokens_mask();
    let mut at = 0;
    let mut spans = [const { 0..0 }; N];
    for (span, length) in spans.iter_mut().zip(lengths) {
        let skipped = special[at..].iter().take_while(|&&s| s == 1).count();
        *span = at + skipped..at + skipped + length;
        let whole = special
            .get(span.clone())
            .is_some_and(|s| s.iter().all(|&s| s == 0));
        if !whole {
            return Err(Error::Tokenizer(
                "this tokenizer's template does not keep both texts of a pair; BERT's and RoBERTa's do".into(),
            ));
        }
        at = span.end;
    }
    Ok(spans)
}

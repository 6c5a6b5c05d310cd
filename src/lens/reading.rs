//! What the encoder read of a sentence: its tokens, whose they are, and where the condition looked.

use std::ops::Range;

use serde::Serialize;

use crate::{
    embedding::plan::Read,
    error::Result,
    text::{Order, Sequence, Tokenizer, template::normalize_condition, tokenizer::Piece},
};

/// Whose token it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// The condition's.
    Condition,
    /// The sentence's.
    Sentence,
    /// The encoder's own: `[CLS]`, `[SEP]`.
    Special,
}

/// A token of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Its number in the vocabulary.
    pub id: u32,
    /// As the vocabulary writes it.
    pub text: String,
    /// Whose it is.
    pub part: Part,
    /// The bytes it stands for in the sentence, or in [`Explanation::condition`]; empty for special tokens.
    pub span: Range<usize>,
    /// The word it belongs to, counted within its part. An emoji is one word, whose tokens are those of its name.
    pub word: Option<u32>,
    /// Whether it stands for what the vocabulary lacks.
    pub unknown: bool,
}

/// What the encoder read of one sentence.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// `None` for the sentence alone.
    pub order: Option<Order>,
    /// Its tokens, special ones included, in the order in which they are read.
    pub tokens: Vec<Token>,
    /// How each of the condition's tokens attends to all tokens: for each layer, one row a condition's token,
    /// `[layers][condition tokens][tokens]`, averaged over the heads. A row sums to 1.
    pub attention: Vec<Vec<Vec<f32>>>,
    /// Tokens of the sentence that did not fit.
    pub cut: usize,
}

/// Joins the readings of a text's parts, one an order each.
#[derive(Default)]
pub struct Joined(Vec<Vec<(Reading, f32)>>);

impl Joined {
    /// Adds the next part with its share of the whole.
    pub fn add(&mut self, part: impl ExactSizeIterator<Item = Reading>, share: f32) {
        self.0.resize_with(part.len(), Vec::new);
        for (order, reading) in self.0.iter_mut().zip(part) {
            order.push((reading, share));
        }
    }

    /// One an order.
    pub fn readings(self) -> Vec<Reading> {
        self.0.into_iter().filter_map(Reading::joined).collect()
    }
}

impl Reading {
    /// The reading of a text from those of its parts, in their order and with the share of each: what they have in common
    /// once, their sentences one after the other, and of their attention each part's share.
    fn joined(parts: Vec<(Self, f32)>) -> Option<Self> {
        let before = |reading: &Self| {
            let mut tokens = reading.tokens.iter();
            tokens.position(|token| token.part == Part::Sentence)
        };
        let sentence = |reading: &Self| match before(reading) {
            None => reading.tokens.len()..reading.tokens.len(),
            Some(start) => {
                let tokens = reading.tokens[start..].iter();
                start
                    ..start
                        + tokens
                            .take_while(|token| token.part == Part::Sentence)
                            .count()
            }
        };
        let mut parts = parts.into_iter();
        let (mut whole, share) = parts.next()?;
        let mut at = sentence(&whole);
        let start = at.start;
        if share < 1.0 {
            let numbers = whole.attention.iter_mut().flatten().flatten();
            numbers.for_each(|x| *x *= share);
        }
        for (part, share) in parts {
            let own = sentence(&part);
            let rows = whole.attention.iter_mut().flatten();
            for (row, more) in rows.zip(part.attention.iter().flatten()) {
                let common = (0..start).chain(at.end..row.len());
                let theirs = (0..own.start).chain(own.end..more.len());
                for (i, j) in common.zip(theirs) {
                    row[i] += share * more[j];
                }
                row.splice(at.end..at.end, more[own.clone()].iter().map(|x| share * x));
            }
            let tokens = part.tokens.into_iter().skip(own.start).take(own.len());
            whole.tokens.splice(at.end..at.end, tokens);
            whole.cut += part.cut;
            at.end += own.len();
        }
        Some(whole)
    }
}

/// Makes [`Reading`]s of sentences under conditions, or of them alone.
pub struct Readings<'a> {
    tokenizer: &'a Tokenizer,
    sentences: Vec<Vec<Piece>>,
}

impl<'a> Readings<'a> {
    /// Finds out which bytes the tokens stand for.
    ///
    /// # Errors
    /// What the tokenizer says.
    pub fn new(tokenizer: &'a Tokenizer, sentences: &[&str]) -> Result<Self> {
        let sentences = sentences.iter().map(|sentence| tokenizer.pieces(sentence));
        Ok(Self {
            tokenizer,
            sentences: sentences.collect::<Result<_>>()?,
        })
    }

    /// A condition's pieces, for [`Readings::reading`].
    ///
    /// # Errors
    /// As [`Readings::new`].
    pub fn condition(&self, text: &str) -> Result<Vec<Piece>> {
        self.tokenizer.pieces(normalize_condition(text))
    }

    /// What was read of sentence `which` from its token `begin` on, under a condition where there is one; `attention` is as
    /// [`Reading::attention`].
    pub fn reading(
        &self,
        which: usize,
        begin: usize,
        condition: Option<&Vec<Piece>>,
        read: &Read,
        attention: Vec<Vec<Vec<f32>>>,
    ) -> Reading {
        Reading {
            order: read.order,
            tokens: tokens(
                self.tokenizer,
                &read.sequence,
                condition,
                self.sentences[which].get(begin..).unwrap_or_default(),
            ),
            attention,
            cut: read.sequence.cut,
        }
    }
}

/// Deals a layer's attention out: the rows of [`Read::attention_rows`], one read after the other.
pub struct Dealt<'a> {
    rows: std::slice::ChunksExact<'a, f32>,
}

impl<'a> Dealt<'a> {
    /// `weights` `[rows, longest]`, where `longest` is the longest sequence that has a row.
    pub fn new(weights: &'a [f32], longest: usize) -> Self {
        Self {
            rows: weights.chunks_exact(longest.max(1)),
        }
    }

    /// The rows of the next read, `[condition tokens][tokens]`.
    pub fn deal(&mut self, read: &Read) -> Vec<Vec<f32>> {
        let tokens = read.sequence.ids.len();
        let rows = self.rows.by_ref().take(read.sequence.condition.len());
        rows.map(|row| row[..tokens.min(row.len())].to_vec())
            .collect()
    }
}

/// The longest sequence of those that have a row of attention.
pub fn longest<'a>(reads: impl Iterator<Item = &'a Read>) -> usize {
    let looking = reads.filter(|read| !read.sequence.condition.is_empty());
    looking
        .map(|read| read.sequence.ids.len())
        .max()
        .unwrap_or(0)
}

/// A sequence's tokens. The pieces of what was cut are left over.
fn tokens(
    tokenizer: &Tokenizer,
    sequence: &Sequence,
    condition: Option<&Vec<Piece>>,
    sentence: &[Piece],
) -> Vec<Token> {
    let part_of = |at: &usize| match condition {
        Some(pieces) if sequence.condition.contains(at) => {
            (Part::Condition, pieces.get(at - sequence.condition.start))
        }
        _ if sequence.sentence.contains(at) => {
            (Part::Sentence, sentence.get(at - sequence.sentence.start))
        }
        _ => (Part::Special, None),
    };
    (sequence.ids.iter().enumerate())
        .map(|(at, &id)| {
            let (part, piece) = part_of(&at);
            Token {
                id,
                text: tokenizer.token(id),
                part,
                span: piece.map_or(0..0, |piece| piece.span.clone()),
                word: piece.and_then(|piece| piece.word),
                unknown: tokenizer.is_unknown(id),
            }
        })
        .collect()
}

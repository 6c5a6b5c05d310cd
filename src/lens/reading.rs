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

/// Makes [`Reading`]s of two sentences under conditions, or of them alone.
pub struct Readings<'a> {
    tokenizer: &'a Tokenizer,
    sentences: [Vec<Piece>; 2],
}

impl<'a> Readings<'a> {
    /// Finds out which bytes the tokens stand for.
    ///
    /// # Errors
    /// What the tokenizer says.
    pub fn new(tokenizer: &'a Tokenizer, [first, second]: [&str; 2]) -> Result<Self> {
        Ok(Self {
            tokenizer,
            sentences: [tokenizer.pieces(first)?, tokenizer.pieces(second)?],
        })
    }

    /// A condition's pieces, for [`Readings::reading`].
    ///
    /// # Errors
    /// As [`Readings::new`].
    pub fn condition(&self, text: &str) -> Result<Vec<Piece>> {
        self.tokenizer.pieces(normalize_condition(text))
    }

    /// What was read of sentence `which`, under a condition where there is one; `attention` is as [`Reading::attention`].
    pub fn reading(
        &self,
        which: usize,
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
                &self.sentences[which],
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

//! Many comparisons: rows of two sentences under a condition each.

use std::collections::HashMap;

use super::Lens;
use crate::{
    backend::Backend,
    error::{Error, Result},
    similarity::cosine,
};

/// Distinct (sentence, condition) inputs, and the index of each use.
#[derive(Default)]
pub struct Distinct<'a> {
    /// The inputs, in the order in which they came first.
    pub inputs: Vec<(&'a str, &'a str)>,
    known: HashMap<(&'a str, &'a str), u32>,
}

impl<'a> Distinct<'a> {
    /// The index of an input, new or known.
    pub fn add(&mut self, sentence: &'a str, condition: &'a str) -> u32 {
        *self.known.entry((sentence, condition)).or_insert_with(|| {
            self.inputs.push((sentence, condition));
            self.inputs.len() as u32 - 1
        })
    }
}

/// What came of some rows.
pub struct ComparedRows {
    /// A cosine each, −1 to 1.
    pub similarities: Vec<f32>,
    /// Rows with a sentence that was too long, and how many of its tokens were not read.
    pub cuts: Vec<(usize, usize)>,
    /// How probable it is that either sentence of a row says anything about its condition, 0 to 1; empty where no head tells
    /// that.
    pub mentioned: Vec<[f32; 2]>,
    /// Rows with tokens that the encoder's vocabulary lacks.
    pub unknown: Vec<usize>,
}

impl<B: Backend> Lens<B> {
    /// Compares the sentences of rows (sentence 1, sentence 2, condition). Each distinct sentence is embedded once
    /// under each of its conditions.
    ///
    /// # Errors
    /// As [`Lens::run`]; or the encoder's numbers overflow.
    pub async fn compare_rows<'a>(
        &self,
        rows: impl IntoIterator<Item = [&'a str; 3]>,
    ) -> Result<ComparedRows> {
        let mut distinct = Distinct::default();
        let pairs: Vec<_> = rows
            .into_iter()
            .map(|[s1, s2, c]| [s1, s2].map(|sentence| distinct.add(sentence, c) as usize))
            .collect();
        let tokens = distinct
            .inputs
            .iter()
            .map(|(s, c)| self.encoder.conditional(s, c, &format!(" \"{c:.60}\"")))
            .collect::<Result<Vec<_>>>()?;
        let embedded = self.run(&tokens).await?;
        let sound = |vector: &Vec<f32>| vector.iter().all(|x| x.is_finite());
        if let Some(at) = embedded.vectors.iter().position(|v| !sound(v)) {
            let (sentence, condition) = distinct.inputs[at];
            return Err(Error::InvalidArgument(format!(
                "\"{sentence:.40}\" under \"{condition:.40}\" has no embedding: the encoder's numbers do not fit {}. Choose another precision, such as bf16 or f32.",
                self.encoder.dtype
            )));
        }
        let similarity = |&[a, b]: &[usize; 2]| cosine(&embedded.vectors[a], &embedded.vectors[b]);
        let cut = |(row, pair): (usize, &[usize; 2])| {
            let mut cuts = embedded.cuts.iter();
            let (_, tokens) = cuts.find(|(input, _)| pair.contains(input))?;
            Some((row, *tokens))
        };
        let mentioned = |&[a, b]: &[usize; 2]| {
            let of = |input: usize| embedded.mentioned.get(input).copied().flatten();
            Some([of(a)?, of(b)?])
        };
        let lacks = |pair: &[usize; 2]| {
            embedded
                .unknown
                .iter()
                .any(|(input, _)| pair.contains(input))
        };
        Ok(ComparedRows {
            mentioned: pairs.iter().filter_map(mentioned).collect(),
            unknown: (0..pairs.len()).filter(|&row| lacks(&pairs[row])).collect(),
            similarities: pairs.iter().map(similarity).collect(),
            cuts: pairs.iter().enumerate().filter_map(cut).collect(),
        })
    }
}

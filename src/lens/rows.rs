//! Many comparisons: rows of two sentences under a condition each.

use std::collections::HashMap;

use super::Lens;
use crate::{
    backend::Backend,
    embedding::Input,
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
    /// A cosine each, −1 to 1, or a cross-encoder's score.
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
    /// under each of its conditions; a cross-encoder reads row by row.
    ///
    /// # Errors
    /// As [`Lens::run`]; or the encoder's numbers overflow.
    pub async fn compare_rows<'a>(
        &self,
        rows: impl IntoIterator<Item = [&'a str; 3]>,
    ) -> Result<ComparedRows> {
        let rows: Vec<_> = rows.into_iter().collect();
        let (inputs, pairs) = self.inputs_of(&rows)?;
        let embedded = self.run(&inputs).await.map_err(|error| match error {
            Error::NotFinite { input, dtype, .. } => {
                let row = pairs.iter().position(|pair| pair.contains(&input));
                let [first, second, condition] = row.map_or([""; 3], |row| rows[row]);
                let of_second = row.is_some_and(|row| pairs[row][0] != input);
                let sentence = if of_second { second } else { first };
                Error::NotFinite {
                    what: format!("\"{sentence:.40}\" under \"{condition:.40}\""),
                    input,
                    dtype,
                }
            }
            error => error,
        })?;
        let similarity = |pair: &[usize; 2]| {
            let row = |input: usize| embedded.vectors[input].as_slice();
            self.case.similarity(pair.map(row))
        };
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

    /// Compares pairs of sentences by themselves, under no condition: a cosine each, −1 to 1. Each distinct sentence is embedded
    /// once.
    ///
    /// # Errors
    /// As [`Lens::run`]; or this is a cross-encoder, which embeds no sentence.
    pub async fn compare_by_themselves<'a>(
        &self,
        pairs: impl IntoIterator<Item = [&'a str; 2]>,
    ) -> Result<Vec<f32>> {
        let mut distinct = Distinct::default();
        let pairs: Vec<_> = pairs
            .into_iter()
            .map(|pair| pair.map(|sentence| distinct.add(sentence, "") as usize))
            .collect();
        if self.case.scores() && !pairs.is_empty() {
            return Err(Error::InvalidArgument(
                "a cross-encoder compares under conditions alone: it embeds no sentence.".into(),
            ));
        }
        let inputs = distinct.inputs.iter();
        let inputs = inputs.map(|(sentence, _)| self.encoder.single("sentence", sentence));
        let vectors = self
            .run(&inputs.collect::<Result<Vec<_>>>()?)
            .await?
            .vectors;
        let similarity = |[a, b]: [usize; 2]| cosine(&vectors[a], &vectors[b]);
        Ok(pairs.into_iter().map(similarity).collect())
    }

    /// What the encoder reads for these rows, and the two inputs that each compares: one twice where they are read at once.
    fn inputs_of(&self, rows: &[[&str; 3]]) -> Result<(Vec<Input>, Vec<[usize; 2]>)> {
        let what = |condition: &str| format!(" \"{condition:.60}\"");
        if self.case.scores() {
            let mut inputs = Vec::with_capacity(rows.len());
            for &[s1, s2, c] in rows {
                inputs.extend(self.encoder.compared(&self.case, [s1, s2], c, &what(c))?);
            }
            return Ok((inputs, (0..rows.len()).map(|row| [row; 2]).collect()));
        }
        let mut distinct = Distinct::default();
        let pairs = rows
            .iter()
            .map(|&[s1, s2, c]| [s1, s2].map(|sentence| distinct.add(sentence, c) as usize))
            .collect();
        let inputs = distinct.inputs.iter();
        let inputs = inputs.map(|(s, c)| self.encoder.conditional(s, c, &what(c)));
        Ok((inputs.collect::<Result<_>>()?, pairs))
    }
}

//! Similarities of rows: two sentences under a condition each.

use super::{cache::Inputs, wait};
use crate::{
    error::{Error, Result},
    lens::any::AnyLens,
    similarity::cosine,
};

/// What came of some rows.
pub struct Compared {
    /// A cosine each, −1 to 1.
    pub similarities: Vec<f32>,
    /// Rows with a sentence that was too long, and how many of its tokens were not read.
    pub cuts: Vec<(usize, usize)>,
}

/// Compares the sentences of rows (sentence 1, sentence 2, condition). Each distinct sentence is embedded once
/// under each of its conditions.
///
/// # Errors
/// As [`Lens::run`](crate::lens::Lens::run); or the encoder's numbers overflow.
pub fn compare<'a>(
    lens: &AnyLens,
    rows: impl IntoIterator<Item = [&'a str; 3]>,
) -> Result<Compared> {
    let mut inputs = Inputs::default();
    let pairs: Vec<_> = rows
        .into_iter()
        .map(|[s1, s2, c]| [s1, s2].map(|sentence| inputs.add(sentence, c) as usize))
        .collect();
    let tokens = inputs
        .distinct
        .iter()
        .map(|(s, c)| lens.conditional(s, c, &format!(" \"{c:.60}\"")))
        .collect::<Result<Vec<_>>>()?;
    let embedded = wait(lens.run(&tokens))?;
    let sound = |vector: &Vec<f32>| vector.iter().all(|x| x.is_finite());
    if let Some(at) = embedded.vectors.iter().position(|v| !sound(v)) {
        let (sentence, condition) = inputs.distinct[at];
        return Err(Error::InvalidArgument(format!(
            "\"{sentence:.40}\" under \"{condition:.40}\" has no embedding: the encoder's numbers do not fit {}. Choose another --dtype, such as bf16 or f32.",
            lens.dtype()
        )));
    }
    let similarity = |&[a, b]: &[usize; 2]| cosine(&embedded.vectors[a], &embedded.vectors[b]);
    let cut = |(row, pair): (usize, &[usize; 2])| {
        let mut cuts = embedded.cuts.iter();
        let (_, tokens) = cuts.find(|(input, _)| pair.contains(input))?;
        Some((row, *tokens))
    };
    Ok(Compared {
        similarities: pairs.iter().map(similarity).collect(),
        cuts: pairs.iter().enumerate().filter_map(cut).collect(),
    })
}

//! Texts as a lens embeds them, a chunk at a time and with a bar.

use super::{output::progress, wait};
use crate::{
    error::Result,
    lens::{Embeddings, Lens},
};

/// Texts that are embedded in one go.
const CHUNK: usize = 256;

/// Embeddings of unit length of texts, each under its condition where it has one, and whether it mentions that.
///
/// # Errors
/// As [`Lens::embed`].
pub fn embedded(lens: &Lens, items: &[(&str, Option<&str>)]) -> Result<Embeddings> {
    let bar = progress("embedding", items.len() as u64);
    let mut all = Embeddings::default();
    for chunk in items.chunks(CHUNK) {
        let first = all.vectors.len();
        let embedded = wait(lens.embed_from(chunk, first))?;
        let counted = |(input, tokens)| (first + input, tokens);
        all.vectors.extend(embedded.vectors);
        all.mentioned.extend(embedded.mentioned);
        all.cuts.extend(embedded.cuts.into_iter().map(counted));
        all.unknown
            .extend(embedded.unknown.into_iter().map(counted));
        bar.inc(chunk.len() as u64);
    }
    bar.finish_and_clear();
    Ok(all)
}

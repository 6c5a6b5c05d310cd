//! Which of a table's sentence pairs C-STS would have asked about.

use std::path::Path;

use serde::Serialize;

use crate::{
    companion::{output::text_line, wait},
    data::{
        columns::Columns,
        criteria::{Criteria, Measures},
        pairs::SentencePairs,
    },
    error::Result,
    lens::Lens,
};

/// Rows that a model is asked about in one go.
pub const CHUNK: usize = 64;

/// A sentence pair by the criteria.
#[derive(Debug, Serialize)]
struct Judged {
    /// The first row that has it, from 1.
    row: usize,
    #[serde(flatten)]
    measures: Measures,
    /// Why it would have been left out; nothing where it keeps to all.
    violated: Vec<String>,
}

/// The sentence pairs of a table by the criteria.
#[derive(Debug, Serialize)]
pub struct JudgedPairs {
    criteria: Criteria,
    /// How many keep to all of them.
    kept: usize,
    pairs: Vec<Judged>,
}

impl JudgedPairs {
    /// Judges each distinct sentence pair once, by the lens's embeddings of sentences by themselves.
    ///
    /// # Errors
    /// A sentence is missing, or cannot be read.
    pub fn of(criteria: Criteria, lens: &Lens, file: &Path, table: &Columns) -> Result<Self> {
        let name = file.display().to_string();
        let sentences = table.filled(&name, ["sentence1", "sentence2"])?;
        let sentences: Vec<_> = sentences
            .into_iter()
            .map(|cells| cells.map(str::trim))
            .collect();
        let rows = SentencePairs::of(sentences.iter().copied()).rows;
        let firsts: Vec<usize> = rows
            .iter()
            .filter_map(|rows| rows.first().copied())
            .collect();
        let mut pairs = Vec::with_capacity(firsts.len());
        for rows in firsts.chunks(CHUNK) {
            let similarities =
                wait(lens.compare_by_themselves(rows.iter().map(|&row| sentences[row])))?;
            for (&row, similarity) in rows.iter().zip(similarities) {
                let measures = Measures::of(sentences[row], similarity.into());
                pairs.push(Judged {
                    row: row + 1,
                    violated: criteria.violated(&measures),
                    measures,
                });
            }
        }
        Ok(Self {
            criteria,
            kept: pairs.iter().filter(|pair| pair.violated.is_empty()).count(),
            pairs,
        })
    }

    /// Prints how many keep to the criteria, and what speaks against each of the others.
    ///
    /// # Errors
    /// As [`text_line`].
    pub fn print(&self) -> Result<()> {
        text_line(&format!(
            "{} of {} sentence pairs keep to C-STS's criteria for pairs",
            self.kept,
            self.pairs.len()
        ))?;
        for pair in self.pairs.iter().filter(|pair| !pair.violated.is_empty()) {
            text_line(&format!("row {}: {}", pair.row, pair.violated.join("; ")))?;
        }
        Ok(())
    }
}

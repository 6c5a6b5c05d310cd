//! Packed batches: sequences lie end to end, with offsets and without padding.

use std::ops::Range;

/// Tokens of several sequences, end to end.
///
/// `ids`, `types` and `positions` have one entry a token; `offsets` has one entry a sequence plus one:
/// sequence `i` is `offsets[i]..offsets[i + 1]`. Positions count from 0 in each sequence for every
/// family (RoBERTa's shift is undone where its position table is read).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// Each token's row of the token table.
    pub ids: Vec<u32>,
    /// Each token's row of the segment table.
    pub types: Vec<u32>,
    /// Each token's place in its sequence.
    pub positions: Vec<u32>,
    /// Where each sequence begins, and where the last one ends.
    pub offsets: Vec<u32>,
}

/// How many tokens two sequences begin with alike.
pub fn common(a: &[u32], b: &[u32]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

impl Default for Batch {
    fn default() -> Self {
        Self {
            ids: Vec::new(),
            types: Vec::new(),
            positions: Vec::new(),
            offsets: vec![0],
        }
    }
}

impl Batch {
    /// Appends a sequence and returns the index of its first token.
    pub fn push(&mut self, ids: &[u32], types: &[u32]) -> usize {
        let start = self.ids.len();
        self.ids.extend_from_slice(ids);
        self.types.extend_from_slice(types);
        self.positions.extend(0..ids.len() as u32);
        self.offsets.push(self.ids.len() as u32);
        start
    }

    /// Number of tokens.
    pub fn tokens(&self) -> usize {
        self.ids.len()
    }

    /// Number of sequences.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no sequence.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The token ranges of the sequences, in order.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.offsets
            .windows(2)
            .map(|w| w[0] as usize..w[1] as usize)
    }
}

//! Texts that are encoded apart from each other, and pairs of them.

use std::ops::Range;

use super::{plan::Plan, pool::Pool};
use crate::{
    backend::{PoolTerm, Pooling},
    text::Sequence,
};

/// Distinct texts in one batch.
#[derive(Default)]
pub struct Texts {
    pub(super) plan: Plan,
    /// The tokens of each text that are averaged, counted from its first.
    pub(super) pooled: Vec<Range<usize>>,
}

impl Texts {
    /// The index of a text, new or known.
    pub fn add(&mut self, text: &Sequence, pool: Pool) -> usize {
        let placed = self.plan.add_once(text);
        if placed.index == self.pooled.len() {
            self.pooled.push(pool.span(text));
        }
        placed.index
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.pooled.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.pooled.is_empty()
    }

    /// One row a text.
    pub(super) fn pooling(&self) -> Pooling {
        let rows = (0..).zip(self.plan.batch.ranges().zip(&self.pooled));
        let terms = rows.map(|(row, (range, pooled))| PoolTerm {
            row,
            block: 0,
            start: (range.start + pooled.start) as u32,
            len: pooled.len() as u32,
            weight: 1.0,
        });
        Pooling {
            rows: self.len(),
            blocks: 1,
            terms: terms.collect(),
        }
    }
}

/// A sentence under a condition, by their indices among [`Texts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Routed {
    /// The sentence's index.
    pub sentence: usize,
    /// The condition's index.
    pub condition: usize,
}

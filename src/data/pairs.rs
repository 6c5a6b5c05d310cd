//! Which rows are of one sentence pair: those with the same two sentences, wherever they stand.

use std::collections::HashMap;

/// Rows by their sentence pairs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SentencePairs {
    /// For each row its sentence pair. They are counted from 0 in the order in which they come first.
    pub of_row: Vec<usize>,
    /// The rows of each sentence pair, in their order.
    pub rows: Vec<Vec<usize>>,
}

impl SentencePairs {
    /// By the two sentences of each row, letter by letter but for white space around them.
    pub fn of<'a>(sentences: impl IntoIterator<Item = [&'a str; 2]>) -> Self {
        let mut known = HashMap::new();
        let mut pairs = Self::default();
        for (row, sentences) in sentences.into_iter().enumerate() {
            let pair = *known
                .entry(sentences.map(str::trim))
                .or_insert(pairs.rows.len());
            if pair == pairs.rows.len() {
                pairs.rows.push(Vec::new());
            }
            pairs.rows[pair].push(row);
            pairs.of_row.push(pair);
        }
        pairs
    }

    /// The rows of each sentence pair two by two, in the order of the first of them: C-STS rates a pair under two
    /// conditions. A row that is left over is in none.
    pub fn by_two(&self) -> Vec<(usize, usize)> {
        let rows = self.rows.iter();
        let mut all: Vec<_> = rows
            .flat_map(|rows| rows.chunks_exact(2).map(|two| (two[0], two[1])))
            .collect();
        all.sort_unstable();
        all
    }

    /// The most of the first `rows` rows that part no rows of one sentence pair which follow each other.
    pub fn whole(&self, rows: usize) -> usize {
        let mut end = rows.min(self.of_row.len());
        while end > 0 && self.of_row.get(end) == self.of_row.get(end - 1) {
            end -= 1;
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_their_sentences() {
        let of = |rows: &[&str]| {
            let sentences = rows.iter().map(|row| row.split_once(' ').unwrap());
            SentencePairs::of(sentences.map(|(a, b)| [a, b]))
        };
        // It begins in the middle of a pair, one comes again later, and one has three conditions.
        let pairs = of(&[
            "a b", "c d", "c d ", "b a", "b a", "b a", "c d", "c d", "a x",
        ]);
        assert_eq!(pairs.of_row, [0, 1, 1, 2, 2, 2, 1, 1, 3]);
        assert_eq!(pairs.rows[1], [1, 2, 6, 7]);
        assert_eq!(pairs.by_two(), [(1, 2), (3, 4), (6, 7)]);
        let whole: Vec<_> = (0..=10).map(|rows| pairs.whole(rows)).collect();
        assert_eq!(whole, [0, 1, 1, 3, 3, 3, 6, 6, 8, 9, 9]);
    }
}

//! Sequences that begin alike, read once up to where they part: a prompt with its sentence for all conditions.
//!
//! A causal decoder's state of a token depends on those before it alone, so that it is the same in each sequence that
//! begins so. The batch becomes a tree of segments: the linear layers see each token once, and a segment attends to those
//! on its way from the root.

use std::ops::Range;

use crate::text::{Batch, common};

/// Tokens that two sequences have to share at least, beyond what is shared already: a segment is a product of its own in
/// each layer's attention.
const FEWEST: usize = 8;

/// The tokens of a batch, those that sequences share once.
pub struct Tree {
    /// Segment by segment, each behind those that it follows.
    pub ids: Vec<u32>,
    /// In the order of their tokens.
    pub segments: Vec<Segment>,
    /// Where each of the batch's tokens lies among `ids`; `None` where they are the batch's.
    pub places: Option<Vec<u32>>,
}

/// Tokens that follow others.
pub struct Segment {
    pub tokens: Range<usize>,
    /// Those before them, from the sequence's first one on.
    pub past: Vec<Range<usize>>,
}

impl Tree {
    /// Each sequence by itself.
    pub fn apart(batch: &Batch) -> Self {
        let segment = |tokens| Segment {
            tokens,
            past: Vec::new(),
        };
        Self {
            ids: batch.ids.clone(),
            segments: batch.ranges().map(segment).collect(),
            places: None,
        }
    }

    /// Sequences that begin alike together.
    pub fn shared(batch: &Batch) -> Self {
        let mut sequences: Vec<Sequence<'_>> = batch
            .ranges()
            .map(|range| Sequence {
                ids: &batch.ids[range.clone()],
                first: range.start,
            })
            .collect();
        sequences.sort_by_key(|sequence| sequence.ids);
        let parted = sequences
            .windows(2)
            .all(|pair| common(pair[0].ids, pair[1].ids) < FEWEST);
        if parted {
            return Self::apart(batch);
        }
        let mut growing = Growing {
            ids: Vec::new(),
            segments: Vec::new(),
            places: vec![0; batch.ids.len()],
        };
        growing.grow(&sequences, 0, &[]);
        let Growing {
            ids,
            segments,
            places,
        } = growing;
        Self {
            ids,
            segments,
            places: Some(places),
        }
    }
}

/// A sequence of the batch.
#[derive(Clone, Copy)]
struct Sequence<'a> {
    ids: &'a [u32],
    /// The place of its first token in the batch.
    first: usize,
}

struct Growing {
    ids: Vec<u32>,
    segments: Vec<Segment>,
    places: Vec<u32>,
}

impl Growing {
    /// Adds what is left of sorted sequences that have `depth` tokens in common, which lie at `past`.
    fn grow(&mut self, sequences: &[Sequence<'_>], depth: usize, past: &[Range<usize>]) {
        let mut alone = Vec::new();
        let mut rest = sequences;
        while let Some(first) = rest.first() {
            // Of sorted sequences, the least that two neighbours share is what all between them share.
            let shared = rest.windows(2).map(|pair| common(pair[0].ids, pair[1].ids));
            let shared: Vec<usize> = shared.take_while(|&n| n >= depth + FEWEST).collect();
            let (group, others) = rest.split_at(shared.len() + 1);
            rest = others;
            match shared.into_iter().min() {
                Some(end) => {
                    let tokens = self.add(&group[0].ids[depth..end], group, depth, past);
                    let past = [past, &[tokens]].concat();
                    self.grow(group, end, &past);
                }
                None => alone.push(*first),
            }
        }
        // Neighbours of one length are worked through together.
        alone.sort_by_key(|sequence| sequence.ids.len());
        for sequence in alone.iter().filter(|sequence| sequence.ids.len() > depth) {
            self.add(&sequence.ids[depth..], &[*sequence], depth, past);
        }
    }

    /// A segment that all of `group` have `depth` tokens from their beginnings.
    fn add(
        &mut self,
        ids: &[u32],
        group: &[Sequence<'_>],
        depth: usize,
        past: &[Range<usize>],
    ) -> Range<usize> {
        let tokens = self.ids.len()..self.ids.len() + ids.len();
        self.ids.extend(ids);
        for sequence in group {
            let places = &mut self.places[sequence.first + depth..][..ids.len()];
            for (place, token) in places.iter_mut().zip(tokens.clone()) {
                *place = token as u32;
            }
        }
        self.segments.push(Segment {
            tokens: tokens.clone(),
            past: past.to_vec(),
        });
        tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(sequences: &[Vec<u32>]) -> Batch {
        let mut batch = Batch::default();
        for ids in sequences {
            batch.push(ids, &vec![0; ids.len()]);
        }
        batch
    }

    /// Reads a sequence back along its segments.
    fn walked(tree: &Tree, segment: &Segment) -> Vec<u32> {
        let ranges = segment.past.iter().chain([&segment.tokens]);
        ranges
            .flat_map(|range| tree.ids[range.clone()].to_vec())
            .collect()
    }

    #[test]
    fn each_token_is_found_behind_those_it_follows() {
        let prompt: Vec<u32> = (100..120).collect();
        let sentence =
            |s: u32| -> Vec<u32> { prompt.iter().copied().chain(s * 50..s * 50 + 10).collect() };
        let with = |s: u32, tail: &[u32]| -> Vec<u32> { [&sentence(s)[..], tail].concat() };
        let sequences = [
            with(4, &[7, 8, 9]),
            vec![1, 2, 3],
            with(5, &[7, 8, 9]),
            with(4, &[7, 8]),
            with(4, &[6, 8]),
            sentence(5),         // ends where others go on
            with(5, &[7, 8, 9]), // twice, for three tokens more
        ];
        let batch = batch(&sequences);
        let tree = Tree::shared(&batch);
        let places = tree.places.as_ref().unwrap();
        // The prompt, two sentences, 3 + 2 + 2 tokens behind the one and 3 + 3 behind the other, and what is like nothing.
        assert_eq!(tree.ids.len(), 20 + 10 + 10 + 7 + 6 + 3);
        for (range, ids) in batch.ranges().zip(&sequences) {
            let of: Vec<u32> = places[range]
                .iter()
                .map(|&at| tree.ids[at as usize])
                .collect();
            assert_eq!(&of, ids);
        }
        let mut end = 0;
        for segment in &tree.segments {
            assert_eq!(segment.tokens.start, end);
            end = segment.tokens.end;
            let ids = walked(&tree, segment);
            assert!(sequences.iter().any(|sequence| sequence.starts_with(&ids)));
        }
        assert_eq!(end, tree.ids.len());
    }

    #[test]
    fn what_begins_alike_for_a_few_tokens_alone_stays_apart() {
        let sequences = [vec![1, 2, 3, 4], vec![1, 2, 3, 5], vec![1, 2, 3, 5]];
        let tree = Tree::shared(&batch(&sequences));
        assert!(tree.places.is_none());
        assert_eq!(tree.ids, sequences.concat());
        assert_eq!(tree.segments.len(), 3);
    }
}

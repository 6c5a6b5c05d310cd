//! Which rows a training step sees, and what its randomness follows from.
//!
//! Nothing is carried from step to step but the weights and the optimiser's moments: an epoch's order
//! follows from the seed and the epoch, a step's dropout from the seed and the step. That is what lets a
//! run be resumed to the same result.

use std::ops::Range;

use rand::{SeedableRng, rngs::StdRng, seq::SliceRandom};

/// The groups of an epoch in random order, in batches: a batch is full once it holds 2·`pairs` rows.
pub fn batches(
    groups: &[Range<usize>],
    pairs: usize,
    seed: u64,
    epoch: usize,
) -> Vec<Vec<Range<usize>>> {
    let mut order = groups.to_vec();
    // Counted from the other end than steps are.
    order.shuffle(&mut StdRng::seed_from_u64(mixed(
        seed,
        u64::MAX - epoch as u64,
    )));
    let mut all = Vec::new();
    let mut batch = Vec::new();
    let mut rows = 0;
    for group in order {
        rows += group.len();
        batch.push(group);
        if rows >= 2 * pairs {
            all.push(std::mem::take(&mut batch));
            rows = 0;
        }
    }
    if !batch.is_empty() {
        all.push(batch);
    }
    all
}

/// The seed of dropout's masks in a step.
pub fn dropout_seed(seed: u64, step: usize) -> u64 {
    mixed(seed, step as u64)
}

/// The seed of the words that are masked in a step.
pub fn word_seed(seed: u64, step: usize) -> u64 {
    !dropout_seed(seed, step)
}

fn mixed(seed: u64, at: u64) -> u64 {
    seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_sees_every_group_once_in_an_order_of_its_own() {
        let groups: Vec<Range<usize>> = vec![0..2, 2..8, 8..9, 9..11, 11..15, 15..16, 16..18];
        let epoch = |seed, epoch| batches(&groups, 2, seed, epoch);
        let first = epoch(1, 1);
        assert_eq!(first, epoch(1, 1));
        let rows = |batch: &Vec<Range<usize>>| batch.iter().map(Range::len).sum::<usize>();
        for batch in &first[..first.len() - 1] {
            let last = batch.last().map_or(0, Range::len);
            assert!(rows(batch) >= 4 && rows(batch) - last < 4, "{batch:?}");
        }
        let mut seen = first.concat();
        seen.sort_by_key(|g| g.start);
        assert_eq!(seen, groups);
        assert!((2..9).any(|n| epoch(1, n) != first));
        assert!((2..9).any(|seed| epoch(seed, 1) != first));
    }
}

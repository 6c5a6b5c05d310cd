//! Which rows a training step sees, and what its randomness follows from.
//!
//! Nothing is carried from step to step but the weights and the optimiser's moments: an epoch's order
//! follows from the seed and the epoch, a step's dropout from the seed and the step. That is what lets a
//! run be resumed to the same result.

use std::ops::Range;

use rand::{SeedableRng, rngs::StdRng, seq::SliceRandom};

/// The groups of an epoch in random order, of each at most so many rows as stand beside it, drawn anew, in batches: a
/// batch is full once it holds 2·`pairs` rows.
pub fn batches(
    groups: &[(Range<usize>, usize)],
    pairs: usize,
    seed: u64,
    epoch: usize,
) -> Vec<Vec<Vec<usize>>> {
    // Counted from the other end than steps are.
    let mut rng = StdRng::seed_from_u64(mixed(seed, u64::MAX - epoch as u64));
    let mut order = groups.to_vec();
    order.shuffle(&mut rng);
    let mut all = Vec::new();
    let mut batch = Vec::new();
    let mut rows = 0;
    for (group, most) in order {
        let mut drawn: Vec<usize> = group.collect();
        if drawn.len() > most {
            drawn.shuffle(&mut rng);
            drawn.truncate(most);
        }
        rows += drawn.len();
        batch.push(drawn);
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

fn mixed(seed: u64, at: u64) -> u64 {
    seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_sees_every_group_once_in_an_order_of_its_own() {
        let groups = [0..2, 2..8, 8..9, 9..11, 11..15, 15..16, 16..18];
        let whole = groups.clone().map(|g| (g, usize::MAX));
        let epoch = |seed, epoch| batches(&whole, 2, seed, epoch);
        let first = epoch(1, 1);
        assert_eq!(first, epoch(1, 1));
        let rows = |batch: &Vec<Vec<usize>>| batch.iter().map(Vec::len).sum::<usize>();
        for batch in &first[..first.len() - 1] {
            let last = batch.last().map_or(0, Vec::len);
            assert!(rows(batch) >= 4 && rows(batch) - last < 4, "{batch:?}");
        }
        let mut seen = first.concat();
        seen.sort();
        let whole: Vec<Vec<usize>> = groups.map(Iterator::collect).to_vec();
        assert_eq!(seen, whole);
        assert!((2..9).any(|n| epoch(1, n) != first));
        assert!((2..9).any(|seed| epoch(seed, 1) != first));
    }

    #[test]
    fn an_epoch_draws_so_many_rows_of_a_group() {
        let groups = [(0..9, 3), (9..11, 3)];
        let mut seen = std::collections::HashSet::new();
        for epoch in 1..40 {
            let mut drawn = batches(&groups, 100, 0, epoch).concat();
            drawn.sort();
            let (long, short) = (&drawn[0], &drawn[1]);
            assert_eq!((long.len(), short.as_slice()), (3, &[9, 10][..]));
            seen.extend(long.iter().copied());
            assert!(long.iter().all(|row| *row < 9) && long[0] != long[1] && long[1] != long[2]);
        }
        assert_eq!(seen.len(), 9);
    }
}

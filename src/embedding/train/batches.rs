//! Which rows a training step sees, and what its randomness follows from.
//!
//! Nothing is carried from step to step but the weights and the optimiser's moments: an epoch's order
//! follows from the seed and the epoch, a step's dropout from the seed and the step. That is what lets a
//! run be resumed to the same result.

use std::{collections::HashSet, ops::Range};

use rand::{SeedableRng, rngs::StdRng, seq::SliceRandom};

/// Rows of one sentence pair, and how many of them an epoch draws at most.
pub type Group = (Range<usize>, usize);

/// The groups, in bunches that one step sees together: those that follow each other and share a sentence, as long as their rows
/// hold no more than 4·`pairs` texts. A text is then encoded once for all that it is compared with. For each row
/// `sentences` are the numbers of its sentences, `inputs` those of its texts, which are sentences under conditions.
pub fn bunches(
    groups: &[Group],
    sentences: &[[usize; 2]],
    inputs: &[[usize; 2]],
    pairs: usize,
) -> Vec<Vec<Group>> {
    let mut bunches: Vec<Vec<Group>> = Vec::new();
    let mut texts = HashSet::new();
    for group in groups {
        let of = |(rows, _): &Group| sentences[rows.start];
        let more = group.0.clone().flat_map(|row| inputs[row]);
        texts.extend(more.clone());
        let last = bunches.last_mut().filter(|bunch| {
            let before = bunch.last().map(of);
            before.is_some_and(|two| two.iter().any(|sentence| of(group).contains(sentence)))
                && texts.len() <= 4 * pairs
        });
        match last {
            Some(bunch) => bunch.push(group.clone()),
            None => {
                bunches.push(vec![group.clone()]);
                texts = more.collect();
            }
        }
    }
    bunches
}

/// The bunches of an epoch in random order, of each group at most so many rows as stand beside it, drawn anew, in batches: a
/// batch is full once its bunches hold 4·`pairs` texts to encode, which `inputs` are the numbers of for each row.
pub fn batches(
    bunches: &[Vec<Group>],
    inputs: &[[usize; 2]],
    pairs: usize,
    seed: u64,
    epoch: usize,
) -> Vec<Vec<Vec<usize>>> {
    // Counted from the other end than steps are.
    let mut rng = StdRng::seed_from_u64(mixed(seed, u64::MAX - epoch as u64));
    let mut order: Vec<_> = bunches.iter().collect();
    order.shuffle(&mut rng);
    let mut all = Vec::new();
    let mut batch = Vec::new();
    let mut texts = 0;
    for bunch in order {
        let mut own = HashSet::new();
        for (group, most) in bunch {
            let mut drawn: Vec<usize> = group.clone().collect();
            if drawn.len() > *most {
                drawn.shuffle(&mut rng);
                drawn.truncate(*most);
            }
            own.extend(drawn.iter().flat_map(|&row| inputs[row]));
            batch.push(drawn);
        }
        texts += own.len();
        if texts >= 4 * pairs {
            all.push(std::mem::take(&mut batch));
            texts = 0;
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

    /// Rows whose texts are all different, each group a bunch of its own.
    fn apart(groups: &[Group], pairs: usize, seed: u64, epoch: usize) -> Vec<Vec<Vec<usize>>> {
        let texts: Vec<_> = (0..20).map(|row| [2 * row, 2 * row + 1]).collect();
        let bunches = bunches(groups, &texts, &texts, pairs);
        batches(&bunches, &texts, pairs, seed, epoch)
    }

    #[test]
    fn an_epoch_sees_every_group_once_in_an_order_of_its_own() {
        let groups = [0..2, 2..8, 8..9, 9..11, 11..15, 15..16, 16..18];
        let whole = groups.clone().map(|g| (g, usize::MAX));
        let epoch = |seed, epoch| apart(&whole, 2, seed, epoch);
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
            let mut drawn = apart(&groups, 100, 0, epoch).concat();
            drawn.sort();
            let (long, short) = (&drawn[0], &drawn[1]);
            assert_eq!((long.len(), short.as_slice()), (3, &[9, 10][..]));
            seen.extend(long.iter().copied());
            assert!(long.iter().all(|row| *row < 9) && long[0] != long[1] && long[1] != long[2]);
        }
        assert_eq!(seen.len(), 9);
    }

    #[test]
    fn groups_that_share_a_sentence_stay_together() {
        // Three sentences, each with each, and a pair of its own before and after; one row a group.
        let sentences = [[8, 9], [0, 1], [0, 2], [1, 2], [6, 7]];
        let groups: Vec<Group> = (0..5).map(|row| (row..row + 1, 1)).collect();
        let lengths = |pairs| {
            let bunches = bunches(&groups, &sentences, &sentences, pairs);
            bunches.iter().map(Vec::len).collect::<Vec<_>>()
        };
        assert_eq!(lengths(1), [1, 3, 1]);
        let chain: Vec<_> = (0..9).map(|row| [0, row + 1]).collect();
        let rows: Vec<Group> = (0..9).map(|row| (row..row + 1, 1)).collect();
        let parted = super::bunches(&rows, &chain, &chain, 1);
        let parted: Vec<_> = parted.iter().map(Vec::len).collect();
        assert_eq!(parted, [3, 3, 3], "no more than fits a batch");
        let bunches = bunches(&groups, &sentences, &sentences, 1);
        for epoch in 1..20 {
            // Three texts are not yet a batch of four, five are.
            let batches = batches(&bunches, &sentences, 1, 0, epoch);
            let with = |row| batches.iter().position(|b| b.contains(&vec![row])).unwrap();
            assert!(with(1) == with(2) && with(2) == with(3), "{batches:?}");
            assert_eq!(batches.len(), 2, "{batches:?}");
        }
    }
}

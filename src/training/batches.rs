//! Which rows a training step sees, and what its randomness follows from.
//!
//! Nothing is carried from step to step but the weights and the optimiser's moments: an epoch's order
//! follows from the seed and the epoch, a step's dropout from the seed and the step. That is what lets a
//! run be resumed to the same result.

use std::ops::Range;

use rand::{RngExt, SeedableRng, rngs::StdRng, seq::SliceRandom};

/// Loose items that are read together: of texts whose similarities are kept, all pairs count.
const TOGETHER: usize = 16;

/// Rated rows that are read together.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// The rows, by condition, each with the encoder's inputs that it compares.
    pub conditions: Vec<Vec<(usize, [usize; 2])>>,
    /// Most conditions that are read in an epoch.
    pub most: usize,
    /// How often an epoch reads it, on the average.
    pub times: f32,
}

/// Items of one file that no group holds together.
#[derive(Debug, Clone, PartialEq)]
pub struct Loose {
    /// The items.
    pub items: Range<usize>,
    /// How often an epoch reads each, on the average.
    pub times: f32,
}

/// What there is to read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Material {
    /// Rated rows.
    pub rated: Vec<Rows>,
    /// Texts whose similarities are kept; those of one range are compared with each other.
    pub kept: Vec<Loose>,
    /// Texts that say something about a condition, or nothing.
    pub mentioned: Vec<Loose>,
}

/// What one step reads.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// Groups of rated rows.
    pub rated: Vec<Vec<usize>>,
    /// Texts that are compared with each other.
    pub kept: Vec<Vec<usize>>,
    /// Texts with a condition each.
    pub mentioned: Vec<usize>,
}

enum Unit {
    Rated(Vec<usize>),
    Kept(Vec<usize>),
    Mentioned(Vec<usize>),
}

impl Material {
    /// What an epoch reads in random order, in batches: a batch is full once the encoder reads `sequences` inputs for it.
    pub fn batches(&self, sequences: usize, seed: u64, epoch: usize) -> Vec<Batch> {
        let mut rng = epoch_rng(seed, epoch);
        let mut units = Vec::new();
        for rows in &self.rated {
            for _ in 0..visits(rows.times, &mut rng) {
                units.push(rows.draw(&mut rng));
            }
        }
        for (loose, unit) in (self.kept.iter().map(|l| (l, Unit::Kept as fn(_) -> _)))
            .chain(self.mentioned.iter().map(|l| (l, Unit::Mentioned as _)))
        {
            units.extend(
                loose
                    .draw(&mut rng)
                    .into_iter()
                    .map(|(n, items)| (n, unit(items))),
            );
        }
        units.shuffle(&mut rng);
        let mut all = Vec::new();
        let mut batch = Batch::default();
        let mut inputs = 0;
        for (count, unit) in units {
            match unit {
                Unit::Rated(rows) => batch.rated.push(rows),
                Unit::Kept(texts) => batch.kept.push(texts),
                Unit::Mentioned(texts) => batch.mentioned.extend(texts),
            }
            inputs += count;
            if inputs >= sequences {
                all.push(std::mem::take(&mut batch));
                inputs = 0;
            }
        }
        if inputs > 0 {
            all.push(batch);
        }
        all
    }
}

impl Rows {
    /// The rows that an epoch reads, and how many inputs they have.
    fn draw(&self, rng: &mut StdRng) -> (usize, Unit) {
        let mut drawn: Vec<usize> = (0..self.conditions.len()).collect();
        if drawn.len() > self.most {
            drawn.shuffle(rng);
            drawn.truncate(self.most);
        }
        let rows = || {
            drawn
                .iter()
                .flat_map(|&condition| &self.conditions[condition])
        };
        let mut inputs: Vec<usize> = rows().flat_map(|(_, inputs)| *inputs).collect();
        inputs.sort_unstable();
        inputs.dedup();
        (
            inputs.len(),
            Unit::Rated(rows().map(|(row, _)| *row).collect()),
        )
    }
}

impl Loose {
    /// The items that an epoch reads, in random order, [`TOGETHER`] at a time.
    fn draw(&self, rng: &mut StdRng) -> Vec<(usize, Vec<usize>)> {
        let mut items = Vec::new();
        for item in self.items.clone() {
            for _ in 0..visits(self.times, rng) {
                items.push(item);
            }
        }
        items.shuffle(rng);
        let groups = items.chunks(TOGETHER);
        groups.map(|group| (group.len(), group.to_vec())).collect()
    }
}

/// How often something is read in an epoch that is to be read `times` on the average.
fn visits(times: f32, rng: &mut StdRng) -> usize {
    let whole = times.floor();
    let more = times > whole && rng.random::<f32>() < times - whole;
    whole as usize + usize::from(more)
}

/// What an epoch's order follows from.
pub fn epoch_rng(seed: u64, epoch: usize) -> StdRng {
    // Counted from the other end than steps are.
    StdRng::seed_from_u64(mixed(seed, u64::MAX - epoch as u64))
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

    /// Groups of rows that compare two inputs of their own each, one condition a row.
    fn pairs(groups: &[Range<usize>], most: usize, times: f32) -> Material {
        let rows = |rows: &Range<usize>| Rows {
            conditions: rows
                .clone()
                .map(|row| vec![(row, [2 * row, 2 * row + 1])])
                .collect(),
            most,
            times,
        };
        Material {
            rated: groups.iter().map(rows).collect(),
            ..Material::default()
        }
    }

    fn rows(batches: &[Batch]) -> Vec<usize> {
        batches
            .iter()
            .flat_map(|batch| batch.rated.concat())
            .collect()
    }

    #[test]
    fn an_epoch_sees_every_group_once_in_an_order_of_its_own() {
        let groups = [0..2, 2..8, 8..9, 9..11, 11..15, 15..16, 16..18];
        let all = pairs(&groups, usize::MAX, 1.0);
        let epoch = |seed, epoch| all.batches(8, seed, epoch);
        let first = epoch(1, 1);
        assert_eq!(first, epoch(1, 1));
        let inputs = |batch: &Batch| 2 * batch.rated.iter().map(Vec::len).sum::<usize>();
        for batch in &first[..first.len() - 1] {
            let last = 2 * batch.rated.last().map_or(0, Vec::len);
            assert!(inputs(batch) >= 8 && inputs(batch) - last < 8, "{batch:?}");
        }
        let mut seen: Vec<_> = first.iter().flat_map(|batch| batch.rated.clone()).collect();
        seen.sort();
        let whole: Vec<Vec<usize>> = groups.map(Iterator::collect).to_vec();
        assert_eq!(seen, whole);
        assert!((2..9).any(|n| epoch(1, n) != first));
        assert!((2..9).any(|seed| epoch(seed, 1) != first));
    }

    #[test]
    fn an_epoch_draws_so_many_conditions_of_a_group_so_often() {
        let mut seen = std::collections::HashSet::new();
        for epoch in 1..40 {
            let batches = pairs(&[0..9, 9..11], 3, 1.0).batches(400, 0, epoch);
            let mut drawn = batches[0].rated.clone();
            drawn.iter_mut().for_each(|group| group.sort());
            drawn.sort();
            let (long, short) = (&drawn[0], &drawn[1]);
            assert_eq!((long.len(), short.as_slice()), (3, &[9, 10][..]));
            seen.extend(long.iter().copied());
            assert!(long.iter().all(|row| *row < 9) && long[0] != long[1] && long[1] != long[2]);
        }
        assert_eq!(seen.len(), 9);
        let groups: Vec<_> = (0..400).map(|row| row..row + 1).collect();
        for (times, range) in [(0.25, 70..130), (2.0, 800..801), (1.5, 560..640)] {
            let read = rows(&pairs(&groups, 1, times).batches(64, 7, 1)).len();
            assert!(range.contains(&read), "{times}: {read}");
        }
    }

    #[test]
    fn a_set_shares_its_inputs_and_loose_items_come_together() {
        // Three texts under two conditions: six inputs, six rows.
        let condition = |first: usize| {
            vec![
                (first, [first, first + 1]),
                (first + 1, [first, first + 2]),
                (first + 2, [first + 1, first + 2]),
            ]
        };
        let material = Material {
            rated: vec![Rows {
                conditions: vec![condition(0), condition(3)],
                most: 2,
                times: 1.0,
            }],
            kept: vec![Loose {
                items: 0..40,
                times: 1.0,
            }],
            mentioned: vec![Loose {
                items: 0..10,
                times: 0.5,
            }],
        };
        let batches = material.batches(1000, 0, 1);
        assert_eq!(batches.len(), 1);
        assert_eq!(batches[0].rated[0].len(), 6);
        assert_eq!(batches[0].kept.iter().map(Vec::len).sum::<usize>(), 40);
        assert_eq!(batches[0].kept.len(), 3);
        assert!(batches[0].mentioned.len() < 10);
        let (inputs, _) = material.rated[0].draw(&mut StdRng::seed_from_u64(0));
        assert_eq!(inputs, 6);
    }
}

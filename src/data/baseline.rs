//! The condition-only baseline: a rating guessed from the condition alone.
//!
//! On C-STS the mean training rating of a condition already reaches 41 Spearman, more than every
//! zero-shot encoder, so it is printed beside every result. What is kept of the training data is a 32-bit
//! hash, a mean and a count a condition: no text.

use std::collections::BTreeMap;

use safetensors::Dtype;

use crate::{
    checkpoint::described::{Reader, Writer},
    text::template::normalize_condition,
};

/// Ratings that pull a condition's mean towards the mean of all.
const SHRINKAGE: f32 = 1.0;

const HASH: &str = "condition_only.hash";
const MEAN: &str = "condition_only.mean";
const COUNT: &str = "condition_only.count";

/// Mean training rating (1–5) by condition.
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionOnly {
    /// Hash of the normalised condition → (mean rating, occurrences).
    conditions: BTreeMap<u32, (f32, u32)>,
    /// Mean of all ratings.
    overall: f32,
}

impl ConditionOnly {
    /// Learns from `(condition, rating)`.
    pub fn fit<'a>(rows: impl IntoIterator<Item = (&'a str, f32)>) -> Self {
        let mut sums: BTreeMap<u32, (f32, u32)> = BTreeMap::new();
        for (condition, rating) in rows {
            let entry = sums.entry(hash(condition)).or_default();
            entry.0 += rating;
            entry.1 += 1;
        }
        Self::from_means(
            sums.into_iter()
                .map(|(hash, (sum, count))| (hash, (sum / count as f32, count)))
                .collect(),
        )
    }

    fn from_means(conditions: BTreeMap<u32, (f32, u32)>) -> Self {
        let (sum, count) = conditions
            .values()
            .fold((0f64, 0u64), |(sum, count), &(mean, n)| {
                (sum + f64::from(mean) * f64::from(n), count + u64::from(n))
            });
        Self {
            conditions,
            overall: match count {
                0 => 3.0,
                _ => (sum / count as f64) as f32,
            },
        }
    }

    /// The rating it guesses: the condition's mean, shrunk towards the mean of all.
    pub fn rating(&self, condition: &str) -> f32 {
        match self.conditions.get(&hash(condition)) {
            None => self.overall,
            Some(&(mean, count)) => {
                let n = count as f32;
                (n * mean + SHRINKAGE * self.overall) / (n + SHRINKAGE)
            }
        }
    }

    /// How often the condition occurred in training.
    pub fn occurrences(&self, condition: &str) -> u32 {
        self.conditions.get(&hash(condition)).map_or(0, |&(_, n)| n)
    }

    /// Adds it to a head file.
    pub(crate) fn write(&self, file: &mut Writer<'_>) {
        let mut add = |name: &str, dtype: Dtype, word: fn(u32, f32, u32) -> [u8; 4]| {
            let all = self.conditions.iter();
            let words = all.flat_map(|(&hash, &(mean, count))| word(hash, mean, count));
            file.add(
                name,
                dtype,
                &[self.conditions.len()],
                words.collect::<Vec<u8>>(),
            );
        };
        add(HASH, Dtype::U32, |hash, _, _| hash.to_le_bytes());
        add(MEAN, Dtype::F32, |_, mean, _| mean.to_le_bytes());
        add(COUNT, Dtype::U32, |_, _, count| count.to_le_bytes());
    }

    /// From a head file; `None` where it is absent, its parts do not fit together, or a mean is no number.
    pub(crate) fn read(file: &Reader<'_>) -> Option<Self> {
        let rows = file.tensor(HASH).ok()?.data().len() / 4;
        let words = |name: &str, dtype: Dtype| {
            let data = file.data(name, dtype, &[rows]).ok()?;
            Some(data.as_chunks::<4>().0)
        };
        let hashes = words(HASH, Dtype::U32)?;
        let means = words(MEAN, Dtype::F32)?;
        let counts = words(COUNT, Dtype::U32)?;
        let rows = hashes.iter().zip(means).zip(counts);
        let rows = rows.map(|((&hash, &mean), &count)| {
            let (mean, count) = (f32::from_le_bytes(mean), u32::from_le_bytes(count));
            (u32::from_le_bytes(hash), (mean, count))
        });
        let conditions: BTreeMap<_, _> = rows.collect();
        let sound = conditions.values().all(|(mean, _)| mean.is_finite());
        sound.then(|| Self::from_means(conditions))
    }
}

/// FNV-1a of the condition in lower case, white space collapsed, without its final full stop.
fn hash(condition: &str) -> u32 {
    let words = normalize_condition(condition).to_lowercase();
    let normal = words.split_whitespace().collect::<Vec<_>>().join(" ");
    normal.bytes().fold(0x811c_9dc5, |h, b| {
        (h ^ u32::from(b)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_shrunk_and_unknown_conditions_get_the_overall_mean() {
        let baseline = ConditionOnly::fit([
            ("The  place.", 5.0),
            ("the place", 4.0),
            ("mood", 1.0),
            ("mood", 2.0),
        ]);
        assert_eq!(baseline.rating("never seen"), 3.0);
        assert_eq!(baseline.rating("The place"), (4.5 * 2.0 + 3.0) / 3.0);
        assert_eq!(baseline.occurrences("THE PLACE"), 2);
        assert_eq!(baseline.occurrences("never seen"), 0);
    }

    #[test]
    fn means_that_are_no_numbers_are_none() {
        let mut file = Writer::default();
        ConditionOnly::fit([("a", 5.0), ("b", 2.0)]).write(&mut file);
        let mut bytes = file.plain().unwrap();
        let read = |bytes: &[u8]| ConditionOnly::read(&Reader::new(bytes).unwrap());
        assert_eq!(read(&bytes).unwrap().rating("a"), (5.0 + 3.5) / 2.0);
        let five = bytes
            .windows(4)
            .position(|word| *word == 5f32.to_le_bytes());
        let five = five.unwrap();
        bytes[five..five + 4].copy_from_slice(&f32::NAN.to_le_bytes());
        assert_eq!(read(&bytes), None);
    }
}

//! How well probabilities tell whether sentences say anything about conditions.

use serde::Serialize;

use super::metrics::{auc, finite};

/// The figures of one evaluation, as fractions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MentionScores {
    /// Sentences with a condition each.
    pub rows: usize,
    /// Those that say something about it.
    pub mentioned: usize,
    /// How probable it is that one that says something has the higher probability of it than one that does not.
    #[serde(serialize_with = "finite")]
    pub auc: f64,
    /// The probability from which on a sentence counts as saying something.
    pub threshold: f32,
    /// The share of all rows below the threshold.
    #[serde(serialize_with = "finite")]
    pub below: f64,
    /// The share of those that say something: misses.
    #[serde(serialize_with = "finite")]
    pub below_of_mentioned: f64,
    /// The share of those that say nothing: what is found.
    #[serde(serialize_with = "finite")]
    pub below_of_others: f64,
}

impl MentionScores {
    /// Scores a probability a row against whether the sentence says anything about the condition.
    pub fn of(probabilities: &[f32], truths: &[bool], threshold: f32) -> Self {
        let below = |kind: Option<bool>| {
            let rows = probabilities.iter().zip(truths);
            let rows = rows.filter(|(_, truth)| kind.is_none_or(|kind| kind == **truth));
            let (all, below) = rows.fold((0, 0), |(all, below), (p, _)| {
                (all + 1, below + usize::from(*p < threshold))
            });
            f64::from(below as u32) / f64::from(all)
        };
        let scores: Vec<f64> = probabilities.iter().map(|&p| f64::from(p)).collect();
        Self {
            rows: truths.len(),
            mentioned: truths.iter().filter(|truth| **truth).count(),
            auc: auc(&scores, truths),
            threshold,
            below: below(None),
            below_of_mentioned: below(Some(true)),
            below_of_others: below(Some(false)),
        }
    }
}

//! What a command's seeds reached: each of them, and their mean with its standard deviation, as papers print them.

use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    evaluation::confidence::Spread,
    training::early_stopping::{Epoch, Validated},
};

/// What one seed reached.
#[derive(Debug, Clone, Copy, Serialize)]
struct Reached {
    seed: u64,
    /// Which epoch was kept.
    epoch: usize,
    /// What its validation gave; null where there is no number, as all similarities are the same.
    #[serde(flatten)]
    validation: Validated,
    /// How long its training took.
    seconds: f64,
}

/// What the seeds reached so far.
#[derive(Debug, Default)]
pub struct Seeds(Vec<Reached>);

impl Seeds {
    /// Takes note of a seed whose epoch `best` was kept.
    pub fn add(&mut self, seed: u64, best: Epoch, seconds: f64) {
        self.0.push(Reached {
            seed,
            epoch: best.epoch,
            validation: best.validation,
            seconds,
        });
    }

    /// Mean and standard deviation; `None` for a single seed, or where one has no figure.
    fn spread(&self) -> Option<Spread> {
        let figures: Vec<f64> = self.0.iter().map(|r| r.validation.value()).collect();
        let sound = figures.len() > 1 && figures.iter().all(|f| f.is_finite());
        sound.then(|| Spread::of(&figures))
    }

    /// A training's record with what its seeds reached: what `compare-runs` reads.
    pub fn record(&self, training: &Value) -> Value {
        let mut record = training.clone();
        record["seeds"] = json!(self.0);
        if let (Some(spread), Some(first)) = (self.spread(), self.0.first()) {
            record[first.validation.column()] = json!(spread);
        }
        record
    }

    /// A line for people; `None` where a single seed leaves nothing to add.
    pub fn line(&self) -> Option<String> {
        let name = self.0.first()?.validation.name();
        let none = self.0.iter().find(|r| !r.validation.value().is_finite());
        match (self.spread(), none) {
            (Some(Spread { mean, std }), _) => Some(format!(
                "{} seeds: validation {name} {mean:.4} ± {std:.4} (mean and standard deviation)",
                self.0.len()
            )),
            (None, Some(none)) => Some(format!(
                "seed {} has no validation {name}: it makes all similarities the same.",
                none.seed
            )),
            (None, None) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seeds(figures: &[f64]) -> Seeds {
        let mut seeds = Seeds::default();
        for (&spearman, seed) in figures.iter().zip(0..) {
            let best = Epoch {
                epoch: 3,
                loss: 0.1,
                validation: Validated::Spearman(spearman),
            };
            seeds.add(seed, best, 2.5);
        }
        seeds
    }

    #[test]
    fn several_seeds_have_a_mean_and_a_deviation() {
        let three = seeds(&[0.4, 0.5, 0.45]);
        let line = three.line().unwrap();
        assert!(
            line.starts_with("3 seeds: validation Spearman 0.4500 ± 0.0500"),
            "{line}"
        );
        let record = three.record(&json!({"rows": 7}));
        assert_eq!(
            (&record["rows"], &record["seeds"][1]["seconds"]),
            (&json!(7), &json!(2.5))
        );
        let std = record["validation_spearman"]["std"].as_f64().unwrap();
        assert!((std - 0.05).abs() < 1e-12);
        assert!(seeds(&[0.4]).line().is_none());
        assert!(
            seeds(&[0.4])
                .record(&json!({}))
                .get("validation_spearman")
                .is_none()
        );
    }

    #[test]
    fn a_seed_without_a_figure_is_named_and_never_printed_as_one() {
        let two = seeds(&[0.4, f64::NAN]);
        assert!(
            two.line()
                .unwrap()
                .starts_with("seed 1 has no validation Spearman")
        );
        let record = two.record(&json!({}));
        assert!(record["seeds"][1]["validation_spearman"].is_null());
        assert!(record.get("validation_spearman").is_none());
    }
}

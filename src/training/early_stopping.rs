//! Which epoch's weights a training run keeps, and when it gives up waiting for better ones.

use crate::error::{Error, Result};

/// What an epoch reached.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Epoch {
    /// From 1.
    pub epoch: usize,
    /// Mean loss of its steps, dropout on.
    pub loss: f64,
    /// On what is held out, dropout off.
    #[serde(flatten)]
    pub validation: Validated,
}

/// What an epoch is judged by: the more, the better.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub enum Validated {
    /// Spearman's ρ of similarities and ratings.
    #[serde(rename = "validation_spearman")]
    Spearman(f64),
    /// The mean reciprocal rank of entities.
    #[serde(rename = "validation_mrr")]
    Mrr(f64),
}

impl Validated {
    /// The number; NaN where there is none.
    pub fn value(self) -> f64 {
        match self {
            Self::Spearman(value) | Self::Mrr(value) => value,
        }
    }

    /// What the number is, in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Spearman(_) => "Spearman",
            Self::Mrr(_) => "MRR",
        }
    }

    /// The name of its column in tables of epochs.
    pub fn column(self) -> &'static str {
        match self {
            Self::Spearman(_) => "validation_spearman",
            Self::Mrr(_) => "validation_mrr",
        }
    }

    /// The number for people, who are told why there is none.
    pub fn shown(self) -> String {
        match self.value() {
            value if value.is_finite() => format!("{value:.4}"),
            _ => "undefined (all similarities are the same)".into(),
        }
    }
}

/// Which epoch's weights are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Keep {
    /// Those of the epoch that validation rates best; training stops early, after `patience` epochs
    /// without a better one.
    Best { patience: usize },
    /// Those of the last epoch. A small validation set ranks epochs of a falling learning rate worse
    /// than their number does.
    Last,
}

/// Follows a training run whose weights are copied as `W`.
pub struct EarlyStopping<W> {
    keep: Keep,
    best: Option<(Epoch, W)>,
    history: Vec<Epoch>,
}

/// How a run ended.
pub struct Stopped<W> {
    /// The epoch that is kept: of the best ones the first.
    pub best: Epoch,
    /// Its weights.
    pub weights: W,
    pub history: Vec<Epoch>,
}

impl<W> EarlyStopping<W> {
    pub fn new(keep: Keep) -> Self {
        Self {
            keep,
            best: None,
            history: Vec::new(),
        }
    }

    /// Takes note of an epoch, copies its weights if it is the best, and says whether to go on.
    pub fn go_on(&mut self, reached: Epoch, copy: impl FnOnce() -> Result<W>) -> Result<bool> {
        self.history.push(reached);
        let score = |epoch: &Epoch| epoch.validation.value();
        // NaN (a constant prediction) is never better.
        let better = self.best.as_ref().is_none_or(|(best, _)| {
            self.keep == Keep::Last || score(&reached) > score(best) || score(best).is_nan()
        });
        if better {
            self.best = Some((reached, copy()?));
        }
        Ok(self.goes_on())
    }

    /// Takes up a run where it was interrupted: its epochs, and the best of them with its weights.
    pub fn restore(&mut self, history: Vec<Epoch>, best: Option<(Epoch, W)>) {
        self.history = history;
        self.best = best;
    }

    /// The epoch to keep so far and its weights.
    pub fn best(&self) -> Option<&(Epoch, W)> {
        self.best.as_ref()
    }

    /// The epochs so far.
    pub fn history(&self) -> &[Epoch] {
        &self.history
    }

    /// Whether there is patience left.
    pub fn goes_on(&self) -> bool {
        match (self.keep, &self.best, self.history.last()) {
            (Keep::Best { patience }, Some((best, _)), Some(last)) => {
                last.epoch - best.epoch < patience
            }
            _ => true,
        }
    }

    /// # Errors
    /// There was no epoch.
    pub fn finish(self) -> Result<Stopped<W>> {
        let history = self.history;
        match self.best {
            Some((best, weights)) => Ok(Stopped {
                best,
                weights,
                history,
            }),
            None => Err(Error::InvalidArgument(
                "training needs at least one epoch.".into(),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_epoch_is_kept_and_patience_ends() {
        let mut stopping = EarlyStopping::new(Keep::Best { patience: 2 });
        let scores = [f64::NAN, 0.3, 0.5, 0.4, 0.5];
        let mut going = Vec::new();
        for (i, spearman) in scores.into_iter().enumerate() {
            let epoch = Epoch {
                epoch: i + 1,
                loss: 0.0,
                validation: Validated::Spearman(spearman),
            };
            going.push(stopping.go_on(epoch, || Ok(i)).unwrap());
        }
        assert_eq!(going, [true, true, true, true, false]);
        let mut resumed = EarlyStopping::new(Keep::Best { patience: 2 });
        resumed.restore(stopping.history().to_vec(), stopping.best().copied());
        assert!(!resumed.goes_on());
        let stopped = stopping.finish().unwrap();
        assert_eq!((stopped.best.epoch, stopped.weights), (3, 2));
        assert_eq!(stopped.history.len(), 5);
        assert!(EarlyStopping::<()>::new(Keep::Last).finish().is_err());
    }

    #[test]
    fn the_last_epoch_is_kept_where_that_is_asked_for() {
        let mut stopping = EarlyStopping::new(Keep::Last);
        for (i, spearman) in [0.5, 0.4, f64::NAN].into_iter().enumerate() {
            let epoch = Epoch {
                epoch: i + 1,
                loss: 0.0,
                validation: Validated::Spearman(spearman),
            };
            assert!(stopping.go_on(epoch, || Ok(i)).unwrap());
        }
        let stopped = stopping.finish().unwrap();
        assert_eq!((stopped.best.epoch, stopped.weights), (3, 2));
    }
}

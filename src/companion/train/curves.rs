//! How a training went, for people: history.csv and curves.svg.

use crate::{
    companion::plot::{Series, line_chart},
    error::Result,
    training::early_stopping::Epoch,
};

/// How much of the mean so far a new step's loss leaves.
const KEEP: f64 = 0.95;

/// The loss of a step, smoothed over the last twenty or so.
#[derive(Default)]
pub struct Smooth(Option<f64>);

impl Smooth {
    /// Takes in a step's loss and gives the mean.
    pub fn add(&mut self, loss: f64) -> f64 {
        let mean = self.0.map_or(loss, |s| KEEP * s + (1.0 - KEEP) * loss);
        self.0 = Some(mean);
        mean
    }

    /// The mean so far.
    pub fn mean(&self) -> f64 {
        self.0.unwrap_or(f64::NAN)
    }
}

/// history.csv: an epoch a row. A figure that is undefined leaves its cell empty.
pub fn history(history: &[Epoch]) -> String {
    let column = history
        .first()
        .map_or("validation", |e| e.validation.column());
    let mut csv = format!("epoch,loss,{column}\n");
    for epoch in history {
        let [loss, validated] = [epoch.loss, epoch.validation.value()].map(|figure| {
            let defined = Some(figure).filter(|figure| figure.is_finite());
            defined.map_or_else(String::new, |figure| figure.to_string())
        });
        csv += &format!("{},{loss},{validated}\n", epoch.epoch);
    }
    csv
}

/// curves.svg: over the epochs, their losses and validations, and the smoothed loss of `losses`,
/// which are those of the steps.
pub fn chart(history: &[Epoch], losses: &[f64]) -> Result<String> {
    let of = |value: fn(&Epoch) -> f64| {
        let points = history.iter().map(|e| (e.epoch as f64, value(e)));
        points.collect()
    };
    // A few hundred points show all that can be seen.
    let every = losses.len().div_ceil(400).max(1);
    let steps = losses.len() as f64 / history.len().max(1) as f64;
    let mut smooth = Smooth::default();
    let smoothed: Vec<_> = losses
        .iter()
        .enumerate()
        .map(|(i, &loss)| ((i + 1) as f64 / steps, smooth.add(loss)))
        .collect();
    let thinned = smoothed.into_iter().step_by(every).collect();
    let name = history.first().map_or("", |e| e.validation.name());
    line_chart(
        "Training",
        "epoch",
        &format!("loss, {name}"),
        &[
            Series::new(format!("validation {name}"), of(|e| e.validation.value())),
            Series::new("loss, epoch", of(|e| e.loss)),
            Series::new("loss, smoothed", thinned),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::early_stopping::Validated;

    #[test]
    fn every_epoch_is_written_and_drawn() {
        let epoch = |epoch, loss, spearman| Epoch {
            epoch,
            loss,
            validation: Validated::Spearman(spearman),
        };
        let epochs = [epoch(1, 0.5, f64::NAN), epoch(2, 0.25, 0.75)];
        assert_eq!(
            history(&epochs),
            "epoch,loss,validation_spearman\n1,0.5,\n2,0.25,0.75\n"
        );
        let losses: Vec<f64> = (0..1000).map(|i| 1.0 / f64::from(i + 1)).collect();
        let svg = chart(&epochs, &losses).unwrap();
        // Two losses and the one Spearman that is a number; the steps are a line without marks.
        assert_eq!(svg.matches("<circle").count(), 3);
        assert!(svg.contains("validation Spearman") && svg.contains("epoch"));
    }

    #[test]
    fn the_smoothed_loss_begins_at_the_first_and_follows() {
        let mut smooth = Smooth::default();
        assert_eq!(smooth.add(2.0), 2.0);
        assert!((smooth.add(1.0) - 1.95).abs() < 1e-12);
    }
}

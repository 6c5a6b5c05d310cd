//! How the training of the heads went.

use super::{
    fitted::TrainedHead,
    page::{Page, decimals, percent},
    study::Study,
};
use crate::{companion::plot::Series, error::Result};

const TITLE: &str = "Spearman on the data over the epochs of the heads' training";

pub fn section(page: &mut Page, study: &Study<'_>) -> Result<()> {
    page.heading("Training of the heads");
    let heads = &study.fitted.heads;
    let dims = heads.first().map_or(0, |head| head.file.spec.output());
    let validation = match study.tuning.is_some() {
        true => "the sentence pairs to tune by",
        false => "held-out training pairs",
    };
    page.paragraph(&format!(
        "Heads of {dims} dimensions on {}. The epoch with the best Spearman on {validation} is kept; training ends \
         ten epochs after it, or with the 60th. The chart shows Spearman on `{}` after each epoch, which nothing was chosen by.",
        study.base.name,
        study.set().name
    ));
    let row = |head: &TrainedHead| {
        let at = |epoch: usize| head.test.get(epoch.wrapping_sub(1)).copied();
        let at = |epoch: usize| percent(at(epoch).unwrap_or(f64::NAN));
        vec![
            head.name.to_owned(),
            head.history.len().to_string(),
            head.best.epoch.to_string(),
            decimals(head.best.loss, 4),
            percent(head.best.validation.value()),
            at(head.best.epoch),
            at(head.history.len()),
            format!("{:.1}", head.seconds),
        ]
    };
    let columns = [
        "",
        "epochs",
        "epoch kept",
        "its loss",
        "its validation Spearman",
        "its Spearman",
        "Spearman after the last epoch",
        "seconds",
    ];
    page.table(&columns, &heads.iter().map(row).collect::<Vec<_>>());
    let line = |head: &TrainedHead| {
        let points = head.history.iter().zip(&head.test);
        let points = points.map(|(epoch, test)| (epoch.epoch as f64, 100.0 * test));
        Series::new(head.name, points.collect())
    };
    let lines: Vec<Series> = heads.iter().map(line).collect();
    page.lines("heads.svg", TITLE, "epoch", "Spearman × 100", &lines)
}

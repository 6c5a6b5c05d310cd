//! Whether similarities mean what they say.

use super::{
    page::{Page, percent},
    study::Study,
};
use crate::{
    companion::plot::{Series, line_chart},
    error::Result,
    evaluation::calibration::Reliability,
};

pub fn section(page: &mut Page, study: &Study<'_>) -> Result<()> {
    page.heading("Reliability");
    page.paragraph(
        "How far pairs of a similarity agree on the average, (rating − 1) / 4, in ten bins of similarity: on the diagonal a \
         similarity of 0.9 is right nine times in ten. The calibration error is the mean distance from it.",
    );
    let ratings = &study.set().ratings;
    let (mut rows, mut series) = (
        Vec::new(),
        vec![Series::new("what it says", vec![(0.0, 0.0), (1.0, 1.0)])],
    );
    for judge in study.trained() {
        let Some(reliability) = Reliability::of(&judge.predicted[0], ratings) else {
            continue;
        };
        rows.push(vec![judge.name.clone(), percent(reliability.error)]);
        let bins = reliability.bins.iter();
        let points = bins.map(|bin| (bin.similarity, bin.agreement));
        series.push(Series::new(judge.name.clone(), points.collect()));
    }
    page.table(&["", "calibration error"], &rows);
    let chart = line_chart("Reliability", "similarity", "agreement", &series)?;
    page.chart("reliability.svg", "Agreement by similarity", chart);
    Ok(())
}

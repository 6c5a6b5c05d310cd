//! The rows that the trained models get most wrong.

use super::{
    page::Page,
    study::{Judge, Study},
};
use crate::{
    evaluation::{condition_type::ConditionType, metrics::ranks},
    similarity::rating,
};

const WORST: usize = 30;

pub fn section(page: &mut Page, study: &Study<'_>) {
    page.heading("Worst mistakes");
    page.paragraph(
        "The rows whose rank by similarity is furthest from their rank by rating (0 is the lowest of all rows, \
         100 the highest). Rows are counted in the file from 1, the header not included.",
    );
    for judge in study.trained() {
        page.paragraph(&format!("**{}**", judge.name));
        table(page, study, judge);
    }
}

fn table(page: &mut Page, study: &Study<'_>, judge: &Judge) {
    let set = study.set();
    let predicted = &judge.predicted[0];
    // From 0 to 100.
    let percentiles = |values: &[f64]| -> Vec<f64> {
        let last = (values.len() as f64 - 1.0).max(1.0);
        ranks(values)
            .iter()
            .map(|r| 100.0 * (r - 1.0) / last)
            .collect()
    };
    let (by_rating, by_similarity) = (percentiles(&set.ratings), percentiles(predicted));
    let apart = |i: usize| (by_rating[i] - by_similarity[i]).abs();
    let mut order: Vec<usize> = (0..predicted.len()).collect();
    order.sort_by(|&a, &b| apart(b).total_cmp(&apart(a)));
    let in_file = set.places();
    let rows: Vec<Vec<String>> = order
        .iter()
        .take(WORST)
        .map(|&i| {
            let row = &set.data.rows[i];
            let mut cells = vec![
                in_file[i].to_string(),
                ConditionType::of(&row.condition).name().into(),
                row.rating.to_string(),
                format!("{:.1}", rating(predicted[i] as f32, None)),
                format!("{:.0}", by_rating[i]),
                format!("{:.0}", by_similarity[i]),
            ];
            if !study.no_examples {
                let texts = [&row.condition, &row.sentence1, &row.sentence2];
                cells.extend(texts.map(String::from));
            }
            cells
        })
        .collect();
    let mut columns = vec![
        "row",
        "type",
        "rating",
        "rating by similarity",
        "rank by rating",
        "rank by similarity",
    ];
    if !study.no_examples {
        columns.extend(["condition", "sentence 1", "sentence 2"]);
    }
    page.table(&columns, &rows);
}

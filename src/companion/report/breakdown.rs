//! The same scores on parts of the data.

use super::{
    page::{Page, percent},
    study::Study,
};
use crate::evaluation::breakdown::{
    Part, by_condition_type, by_occurrence, by_place, by_shared_sentence,
};

pub fn section(page: &mut Page, study: &Study<'_>) {
    let data = study.set().data;
    page.heading("Sentences that training did not have, and parts of the file");
    page.paragraph("Spearman / accuracy without ties.");
    let mut parts = by_shared_sentence(data, study.train);
    parts.extend(by_place(data, study.part_rows));
    table(page, study, "rows", &parts);

    page.heading("By how often training had the condition");
    page.paragraph("Spearman / accuracy without ties, of which only pairs with both conditions in a row's class count.");
    table(
        page,
        study,
        "times in training",
        &by_occurrence(data, &study.baseline),
    );

    page.heading("By type of condition");
    page.paragraph(
        "Spearman / accuracy without ties, of which only pairs with two conditions of one type count. The type is \
         told by the condition's words (src/evaluation/condition_type.rs).",
    );
    table(page, study, "type", &by_condition_type(data));
}

fn table(page: &mut Page, study: &Study<'_>, what: &str, parts: &[Part]) {
    let columns: Vec<&str> = [what, "number of rows"]
        .into_iter()
        .chain(study.judges.iter().map(|j| j.name.as_str()))
        .collect();
    let data = study.set().data;
    let rows: Vec<Vec<String>> = parts
        .iter()
        .map(|part| {
            let figures = study.judges.iter().map(|judge| {
                let scores = part.scores(&judge.predicted[0], data);
                let of = |v: Option<f64>| percent(v.unwrap_or(f64::NAN));
                format!("{} / {}", of(scores.spearman), of(scores.accuracy_untied))
            });
            [part.name.clone(), part.rows().to_string()]
                .into_iter()
                .chain(figures)
                .collect()
        })
        .collect();
    page.table(&columns, &rows);
}

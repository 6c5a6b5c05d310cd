//! What was compared, on which data, and how well everything did.

use super::{
    page::{Page, percent, spread, with_interval},
    study::Study,
};
use crate::{
    companion::evaluate::CONFIDENCE_SEED,
    evaluation::{confidence::Groups, metrics::Scores},
};

/// Random parts of the data, and the share of its sentence pairs in each.
const SPLITS: u64 = 10;
const SHARE: f64 = 0.3;

pub fn section(page: &mut Page, study: &Study<'_>) {
    let set = study.set();
    page.paragraph(&format!(
        "{} valid rows and {} sentence pairs under two conditions from `{}`; {} rows of training data. Every \
         figure is × 100. The frozen encoder is {}: {}; the heads are trained on that.",
        set.data.rows.len(),
        set.data.pairs.len(),
        set.name,
        study.train.rows.len(),
        study.base.id,
        study.base.described(),
    ));
    if study.tuning.is_some() {
        page.paragraph(
            "These are 30 % of the sentence pairs of the file, drawn at random; the best epochs of the heads were found on the \
             other 70 %.",
        );
    }
    page.heading("Results");
    page.paragraph(
        "In brackets the 95 % interval of a bootstrap over sentence pairs (1000 resamples). Accuracy is the share of \
         sentence pairs whose higher-rated condition gets the higher similarity: over all pairs, ties in \
         the ratings counted as wrong as in the papers, and over pairs without ties. The last two columns are mean and \
         standard deviation over ten random parts of 30 % of the sentence pairs.",
    );
    let groups = Groups::of(set.data);
    let rows: Vec<Vec<String>> = study
        .judges
        .iter()
        .map(|judge| {
            let predicted = &judge.predicted[0];
            let scores = Scores::of(predicted, &set.ratings, &set.data.pairs);
            let interval = groups.intervals(predicted, &set.ratings, CONFIDENCE_SEED);
            let (spearman, accuracy) = groups.splits(predicted, &set.ratings, SPLITS, SHARE);
            vec![
                judge.name.clone(),
                with_interval(scores.spearman, interval.spearman),
                with_interval(scores.accuracy, interval.accuracy),
                with_interval(scores.accuracy_untied, interval.accuracy_untied),
                spread(&spearman),
                spread(&accuracy),
            ]
        })
        .collect();
    page.table(
        &[
            "",
            "Spearman",
            "accuracy",
            "accuracy without ties",
            "Spearman, 30 % parts",
            "accuracy without ties, 30 % parts",
        ],
        &rows,
    );
    if study.sets.len() > 1 {
        out_of_domain(page, study);
    }
}

fn out_of_domain(page: &mut Page, study: &Study<'_>) {
    page.heading("Other domains");
    page.paragraph("Spearman / accuracy without ties on data unlike the training data.");
    let others = &study.sets[1..];
    let names: Vec<String> = others
        .iter()
        .map(|set| format!("{} ({} rows)", set.name, set.data.rows.len()))
        .collect();
    let columns: Vec<&str> = std::iter::once("")
        .chain(names.iter().map(String::as_str))
        .collect();
    let rows: Vec<Vec<String>> = study
        .judges
        .iter()
        .map(|judge| {
            let scores = others.iter().zip(&judge.predicted[1..]).map(|(set, p)| {
                let scores = Scores::of(p, &set.ratings, &set.data.pairs);
                format!(
                    "{} / {}",
                    percent(scores.spearman),
                    percent(scores.accuracy_untied)
                )
            });
            std::iter::once(judge.name.clone()).chain(scores).collect()
        })
        .collect();
    page.table(&columns, &rows);
}

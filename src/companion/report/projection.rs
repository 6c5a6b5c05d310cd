//! The base's embeddings made smaller in four ways: heads, which learn from ratings, and PCA and ICA, which do not.

use super::{
    page::{Page, percent},
    study::Study,
};

/// Each method at its largest width.
pub fn section(page: &mut Page, study: &Study<'_>) {
    page.heading("Heads, PCA and ICA");
    let rows = study.train.rows.len();
    page.paragraph(&format!(
        "Embeddings by {}, {} wide, made smaller: by heads that learn from the ratings of {rows} training rows, and by PCA and ICA, \
         which learn from the same embeddings without ratings. Seconds are what fitting took on this machine, embedding left out.",
        study.base.name, study.base.training.dims
    ));
    let rows = study.fitted.methods().into_iter().filter_map(|method| {
        let widest = study.fitted.of(method).max_by_key(|p| p.dims)?;
        let scores = &widest.scores;
        Some(vec![
            method.to_owned(),
            widest.dims.to_string(),
            percent(scores.spearman),
            percent(scores.accuracy),
            percent(scores.accuracy_untied),
            format!("{:.1}", widest.seconds),
        ])
    });
    let columns = [
        "",
        "dimensions",
        "Spearman",
        "accuracy",
        "accuracy without ties",
        "seconds",
    ];
    page.table(&columns, &rows.collect::<Vec<_>>());
    for note in &study.fitted.notes {
        page.paragraph(note);
    }
}

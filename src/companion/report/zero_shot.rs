//! The base encoder by itself, under every setting of CASE.

use super::{
    blocks::Setting,
    page::{Page, percent},
    study::Study,
};

pub fn section(page: &mut Page, study: &Study<'_>) {
    let (base, set) = (&study.base, study.set());
    page.heading("Zero-shot settings");
    page.paragraph(&format!(
        "{} without training, as the encoder gives the embeddings and minus the condition's own embedding. c is the \
         condition, s the sentence. What suits the encoder, and what heads are trained on, is {}.",
        base.name,
        base.described()
    ));
    let mut rows = Vec::new();
    for (words, layouts) in &base.layouts {
        for &pooling in &base.pools {
            let figures = [false, true].map(|subtract| {
                let layouts = layouts.clone();
                let setting = Setting {
                    layouts,
                    pooling,
                    subtract,
                };
                set.scores(&base.embeddings(&setting))
            });
            let figures = figures
                .iter()
                .flat_map(|s| [s.spearman, s.accuracy, s.accuracy_untied].map(percent));
            let name = format!("{words}, {}", base.pooled(pooling));
            rows.push(std::iter::once(name).chain(figures).collect());
        }
    }
    page.table(
        &[
            "",
            "Spearman",
            "accuracy",
            "accuracy without ties",
            "Spearman, − c",
            "accuracy, − c",
            "accuracy without ties, − c",
        ],
        &rows,
    );
}

//! The base encoder by itself, under every setting of CASE.

use super::{
    page::{Page, percent},
    study::{ORDERS, POOLS, Study},
};
use crate::{
    embedding::{Joint, Pool},
    evaluation::metrics::Scores,
    text::Order,
};

pub fn section(page: &mut Page, study: &Study<'_>) {
    page.heading("Zero-shot settings");
    page.paragraph(&format!(
        "{} without training: Spearman and accuracy without ties, as the encoder gives the embeddings and \
         minus the condition's own embedding. c is the condition, s the sentence.",
        study.base_name
    ));
    let set = study.set();
    let orders = [
        ("[c][sep][s]", vec![ORDERS[0]]),
        ("[s][sep][c]", vec![ORDERS[1]]),
        ("both, side by side", ORDERS.to_vec()),
    ];
    let scores = |orders: &[Order], pooling: Pool, subtract: bool| {
        let vectors = study.base.case(&Joint {
            orders: orders.to_vec(),
            pooling,
            subtract,
            router: None,
        });
        let cosines = vectors.cosines(&set.examples, vectors.dims);
        Scores::of(&cosines, &set.ratings, &set.data.pairs)
    };
    let mut rows = Vec::new();
    for (name, orders) in &orders {
        for pooling in POOLS {
            let figures = [false, true].map(|subtract| scores(orders, pooling, subtract));
            let figures = figures
                .iter()
                .flat_map(|s| [percent(s.spearman), percent(s.accuracy_untied)]);
            let words = format!("{name}, {}", pooled(pooling));
            rows.push(std::iter::once(words).chain(figures).collect());
        }
    }
    page.table(
        &["", "Spearman", "accuracy", "Spearman, − c", "accuracy, − c"],
        &rows,
    );
}

fn pooled(pool: Pool) -> &'static str {
    match pool {
        Pool::Last => "last token",
        Pool::Query => "the text's tokens",
        Pool::All => "all tokens",
        Pool::Condition => "the condition's tokens",
        Pool::Sentence => "the sentence's tokens",
        Pool::Cls => "[CLS]",
    }
}

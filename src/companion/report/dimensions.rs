//! How small an embedding may be: fitted to each width, and cut to it.

use super::{
    page::{Page, percent},
    study::{Judge, Study},
    unsupervised::at_most,
};
use crate::{companion::plot::Series, error::Result, evaluation::metrics::spearman};

const TITLE: &str = "Spearman by number of dimensions";
const DIMENSIONS: &str = "dimensions";

/// A head trained, and PCA and ICA fitted, for each width; an encoder that was trained itself is a dashed line.
pub fn fitted(page: &mut Page, study: &Study<'_>) -> Result<()> {
    page.heading("Number of dimensions");
    page.paragraph(&format!(
        "Spearman of embeddings by {} in d′ dimensions: a head is trained, and PCA and ICA are fitted, for each d′ by itself.",
        study.base.name
    ));
    let line = |method: &'static str| {
        let points = study.fitted.of(method);
        let points = points.map(|p| (p.dims as f64, p.scores.spearman));
        Series::new(method, points.collect())
    };
    let methods = study.fitted.methods();
    let mut lines: Vec<Series> = methods.into_iter().map(line).collect();
    table(page, &lines);
    let ends = ends(&lines);
    let others: Vec<&Judge> = references(study).collect();
    page.paragraph(&match others.is_empty() {
        true => "No model with an encoder of its own was given to compare with (`--model`).".into(),
        false => {
            let said = others.iter().map(|judge| {
                let dims = judge.vectors.as_ref().map_or(0, |v| v.dims);
                let own = percent(own_spearman(judge, study));
                format!("{} ({dims} dimensions): {own}", judge.name)
            });
            let said: Vec<String> = said.collect();
            format!(
                "Dashed in the chart is what encoders that were trained themselves reach: {}.",
                said.join(", ")
            )
        }
    });
    if let Some([low, high]) = ends {
        lines.extend(others.into_iter().map(|judge| {
            let own = own_spearman(judge, study);
            Series::new(&judge.name, vec![(low, own), (high, own)]).dashed()
        }));
    }
    chart(page, "dimensions.svg", TITLE, lines)
}

/// Embeddings cut to their first numbers.
pub fn cut(page: &mut Page, study: &Study<'_>, widths: &[usize]) -> Result<()> {
    page.heading("Embeddings cut short");
    page.paragraph(
        "Spearman of the first k numbers of each embedding, as nested (Matryoshka) embeddings are cut: nothing is fitted to k.",
    );
    let set = study.set();
    let judges = study.judges.iter();
    let lines: Vec<Series> = judges
        .filter_map(|judge| {
            let vectors = judge.vectors.as_ref()?;
            let mut widths = at_most(widths, vectors.dims);
            if widths.last() != Some(&vectors.dims) {
                widths.push(vectors.dims);
            }
            let score = |k| spearman(&vectors.cosines(&set.examples, k), &set.ratings);
            let points = widths.into_iter().map(|k| (k as f64, score(k)));
            Some(Series::new(&judge.name, points.collect()))
        })
        .collect();
    table(page, &lines);
    chart(page, "cut.svg", "Spearman of the first k numbers", lines)
}

/// What comes from --model and has another encoder than the base.
fn references<'s>(study: &'s Study<'_>) -> impl Iterator<Item = &'s Judge> {
    let other = |judge: &&Judge| {
        let id = judge.given.as_ref();
        id.is_some_and(|id| id.sha256 != study.base.id.sha256)
    };
    study.judges.iter().filter(other)
}

fn own_spearman(judge: &Judge, study: &Study<'_>) -> f64 {
    spearman(&judge.predicted[0], &study.set().ratings)
}

/// The smallest and the largest width there is; where there is one alone, 0 and that.
fn ends(lines: &[Series]) -> Option<[f64; 2]> {
    let all = || lines.iter().flat_map(|s| s.points.iter().map(|p| p.0));
    let (low, high) = (all().reduce(f64::min)?, all().reduce(f64::max)?);
    Some([if low < high { low } else { 0.0 }, high])
}

/// A row a width, a column a line.
fn table(page: &mut Page, lines: &[Series]) {
    let points = lines.iter().flat_map(|s| &s.points);
    let mut all: Vec<f64> = points.map(|p| p.0).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|k| {
            let at = |s: &Series| {
                let point = s.points.iter().find(|p| p.0 == *k);
                point.map_or(f64::NAN, |p| p.1)
            };
            std::iter::once(k.to_string())
                .chain(lines.iter().map(|s| percent(at(s))))
                .collect()
        })
        .collect();
    let columns: Vec<&str> = std::iter::once(DIMENSIONS)
        .chain(lines.iter().map(|s| s.name.as_str()))
        .collect();
    page.table(&columns, &rows);
}

fn chart(page: &mut Page, file: &str, title: &str, mut lines: Vec<Series>) -> Result<()> {
    for point in lines.iter_mut().flat_map(|s| &mut s.points) {
        point.1 *= 100.0;
    }
    page.lines(file, title, DIMENSIONS, "Spearman × 100", &lines)
}

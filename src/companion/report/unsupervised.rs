//! PCA and ICA of the base's embeddings, fitted to those of the training data without their ratings.

use std::time::Instant;

use faer::Mat;

use super::{fitted::Projection, page::percent, study::Study, vectors::Vectors};
use crate::{
    error::Result,
    evaluation::{ica::Ica, pca::Pca},
};

/// Training vectors that ICA learns from, evenly spread: beyond some thousand its cost grows and little else.
const ICA_VECTORS: usize = 4096;
/// The most sources ICA looks for: beyond them it takes very long.
const ICA_MOST: usize = 512;

/// Fits both at these widths, and at the embeddings' own where that is smaller than the largest.
pub fn fit(study: &mut Study<'_>, widths: &[usize]) -> Result<()> {
    let (base, set) = (&study.base, study.set());
    let training = &base.training.first(study.trained);
    let width = training.dims;
    let start = Instant::now();
    let pca = Pca::fit(&training.numbers, width)?;
    let pca_seconds = start.elapsed().as_secs_f64();
    let own = base.embeddings(&base.own);
    let some = training.spread(ICA_VECTORS);
    let rows = some.numbers.len() / width;
    let (mut by_pca, mut by_ica) = (Vec::new(), Vec::new());
    let (mut explained, mut iterations) = (Vec::new(), Vec::new());
    for k in at_most(widths, width) {
        let fitted = |method, matrix: &Mat<f64>, seconds| Projection {
            method,
            dims: k,
            scores: set.scores(&vectors(matrix)),
            seconds,
        };
        by_pca.push(fitted("PCA", &pca.transform(&own.numbers, k), pca_seconds));
        explained.push(format!("{k}: {} %", percent(pca.explained(k))));
        // There must be more vectors than sources.
        if k >= rows || k > ICA_MOST {
            continue;
        }
        let start = Instant::now();
        let ica = Ica::fit(&pca.whiten(&some.numbers, k), 0)?;
        let seconds = pca_seconds + start.elapsed().as_secs_f64();
        let sources = ica.transform(&pca.whiten(&own.numbers, k));
        by_ica.push(fitted("ICA", &sources, seconds));
        let how = if ica.converged { "" } else { ", not converged" };
        iterations.push(format!("{k}: {}{how}", ica.iterations));
    }
    study.fitted.notes.push(format!(
        "The first k principal components hold these shares of the variance: {}.",
        explained.join(", ")
    ));
    study.fitted.notes.push(match iterations.is_empty() {
        true => format!("ICA has no figures: {rows} training vectors are too few for it."),
        false => format!(
            "ICA learns from {rows} vectors and only turns whitened principal components, so that its cosines are theirs. \
             Its iterations: {}.",
            iterations.join(", ")
        ),
    });
    study.fitted.projections.extend(by_pca);
    study.fitted.projections.extend(by_ica);
    Ok(())
}

/// The widths up to `most`, which stands for those beyond it.
pub fn at_most(widths: &[usize], most: usize) -> Vec<usize> {
    let mut all: Vec<usize> = widths.iter().map(|&k| k.min(most)).collect();
    all.dedup();
    all
}

fn vectors(matrix: &Mat<f64>) -> Vectors {
    let row = |i: usize| (0..matrix.ncols()).map(move |j| matrix[(i, j)] as f32);
    Vectors {
        dims: matrix.ncols(),
        numbers: (0..matrix.nrows()).flat_map(row).collect(),
    }
}

//! How small an embedding may be: PCA and ICA of the base, and the first dimensions of everything trained.

use faer::Mat;

use super::{
    page::{Page, percent},
    study::Study,
    vectors::Vectors,
};
use crate::{
    companion::plot::{Series, line_chart},
    embedding::Joint,
    error::Result,
    evaluation::{ica::Ica, metrics::spearman, pca::Pca},
};

const DIMS: [usize; 5] = [32, 64, 128, 256, 512];
/// Training vectors that ICA learns from, evenly spread: beyond some thousand its cost grows and little else.
const ICA_VECTORS: usize = 4096;
/// The most sources ICA looks for.
const ICA_MOST: usize = 512;

pub fn section(page: &mut Page, study: &Study<'_>) -> Result<()> {
    let set = study.set();
    let score =
        |vectors: &Vectors, k: usize| spearman(&vectors.cosines(&set.examples, k), &set.ratings);
    let mut lines = Vec::new();

    let (training, _) = &study.training;
    let width = training.dims;
    let pca = Pca::fit(&training.numbers, width)?;
    let base = study.base.case(&Joint::default());
    let some = spread(training, ICA_VECTORS);
    let rows = some.numbers.len() / width;
    let mut notes = Vec::new();
    let (mut by_pca, mut by_ica) = (Vec::new(), Vec::new());
    // ICA needs more vectors than it has sources, and minutes where those are very many.
    for k in dims(width) {
        let projected = vectors(&pca.transform(&base.numbers, k));
        by_pca.push((k as f64, score(&projected, k)));
        if k < rows && k <= ICA_MOST {
            let ica = Ica::fit(&pca.whiten(&some.numbers, k), 0)?;
            let sources = vectors(&ica.transform(&pca.whiten(&base.numbers, k)));
            by_ica.push((k as f64, score(&sources, k)));
            let how = if ica.converged { "" } else { ", not converged" };
            notes.push(format!("{k}: {}{how}", ica.iterations));
        }
    }
    lines.push(Series::new("PCA", by_pca));
    lines.push(Series::new("ICA", by_ica));
    for judge in &study.judges {
        if let Some(vectors) = &judge.vectors {
            let points = dims(vectors.dims).map(|k| (k as f64, score(vectors, k)));
            lines.push(Series::new(&judge.name, points.collect()));
        }
    }

    page.heading("Number of dimensions");
    page.paragraph(&format!(
        "Spearman of embeddings of k dimensions. PCA and ICA are fitted to the training data's embeddings by the \
         frozen encoder (ICA to {rows} of them) without ratings; what follows is cut to its first k numbers, as \
         nested (Matryoshka) embeddings are. ICA only turns whitened principal components, so that its \
         cosines are theirs. The first k principal components hold these shares of the variance: {}. Iterations of \
         ICA: {}.",
        dims(width)
            .map(|k| format!("{k}: {} %", percent(pca.explained(k))))
            .collect::<Vec<_>>()
            .join(", "),
        notes.join(", "),
    ));
    let mut all: Vec<f64> = lines
        .iter()
        .flat_map(|s| s.points.iter().map(|p| p.0))
        .collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|k| {
            let at = |s: &Series| {
                s.points
                    .iter()
                    .find(|p| p.0 == *k)
                    .map_or(f64::NAN, |p| p.1)
            };
            std::iter::once(k.to_string())
                .chain(lines.iter().map(|s| percent(at(s))))
                .collect()
        })
        .collect();
    let columns: Vec<&str> = std::iter::once("dimensions")
        .chain(lines.iter().map(|s| s.name.as_str()))
        .collect();
    page.table(&columns, &rows);
    for point in lines.iter_mut().flat_map(|s| &mut s.points) {
        point.1 *= 100.0;
    }
    let svg = line_chart(
        "Spearman by number of dimensions",
        "dimensions",
        "Spearman × 100",
        &lines,
    )?;
    page.chart("dimensions.svg", "Spearman by number of dimensions", svg);
    Ok(())
}

/// The dimensions looked at for embeddings of this width, which is the last of them.
fn dims(width: usize) -> impl Iterator<Item = usize> {
    DIMS.into_iter()
        .filter(move |&k| k < width)
        .chain(std::iter::once(width))
}

/// At most `n` vectors, evenly spread.
fn spread(vectors: &Vectors, n: usize) -> Vectors {
    let all = vectors.numbers.len() / vectors.dims;
    let n = n.min(all);
    let chosen: Vec<u32> = (0..n).map(|i| (i * all / n) as u32).collect();
    vectors.rows(&chosen)
}

fn vectors(matrix: &Mat<f64>) -> Vectors {
    let row = |i: usize| (0..matrix.ncols()).map(move |j| matrix[(i, j)] as f32);
    Vectors {
        dims: matrix.ncols(),
        numbers: (0..matrix.nrows()).flat_map(row).collect(),
    }
}

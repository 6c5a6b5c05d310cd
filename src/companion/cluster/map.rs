//! Maps of texts (t-SNE), with each text's word beside its point.

use super::grouped::Grouped;
use crate::{
    companion::plot::{Series, joined_chart, labelled_chart},
    error::{Error, Result},
    evaluation::t_sne::Map,
};

const PERPLEXITY: f64 = 30.0;

/// Texts under one condition, a colour a label, or a group where there are no labels.
///
/// # Errors
/// There are too few texts.
pub fn of_groups(
    grouped: &Grouped<'_>,
    labels: Option<&[String]>,
    words: Option<&[String]>,
) -> Result<String> {
    let texts = grouped.groups.len();
    let points = places(&grouped.numbers, grouped.dims, texts)?;
    let number = |group: &usize| format!("group {}", group + 1);
    let kinds: Vec<String> = match labels {
        Some(labels) => labels.to_vec(),
        None => grouped.groups.iter().map(number).collect(),
    };
    let mut names: Vec<&String> = kinds.iter().collect();
    names.sort_unstable();
    names.dedup();
    let of =
        |name: &String| -> Vec<usize> { (0..texts).filter(|&text| kinds[text] == *name).collect() };
    let chosen: Vec<Vec<usize>> = names.iter().map(|&name| of(name)).collect();
    let series: Vec<Series> = (names.iter().zip(&chosen))
        .map(|(name, texts)| {
            let points = texts.iter().map(|&text| points[text]);
            Series::new(name.as_str(), points.collect())
        })
        .collect();
    let word = |&text: &usize| words.map_or("", |words| words[text].as_str());
    let beside: Vec<Vec<&str>> = (chosen.iter())
        .map(|texts| texts.iter().map(word).collect())
        .collect();
    let title = match grouped.condition {
        Some(condition) => format!("t-SNE: {condition}"),
        None => "t-SNE".into(),
    };
    labelled_chart(&title, &series, &beside)
}

/// The same texts under several conditions, a colour a condition, each text joined with itself (PonTE, Figure 3). `words` has
/// those of each condition, where they were asked for.
///
/// # Errors
/// There are too few texts.
pub fn of_conditions(all: &[Grouped<'_>], words: &[Option<Vec<String>>]) -> Result<String> {
    let (texts, dims) = all
        .first()
        .map_or((0, 0), |grouped| (grouped.groups.len(), grouped.dims));
    let numbers: Vec<f32> = all
        .iter()
        .flat_map(|grouped| &grouped.numbers)
        .copied()
        .collect();
    let points = places(&numbers, dims, texts * all.len())?;
    let series: Vec<Series> = (all.iter().zip(points.chunks(texts)))
        .map(|(grouped, points)| {
            Series::new(grouped.condition.unwrap_or_default(), points.to_vec())
        })
        .collect();
    let beside: Vec<Vec<&str>> = (words.iter().flatten())
        .map(|words| words.iter().map(String::as_str).collect())
        .collect();
    joined_chart("t-SNE", &series, &beside)
}

/// So many embeddings, end to end, as points on a plane.
fn places(numbers: &[f32], dims: usize, points: usize) -> Result<Vec<(f64, f64)>> {
    // A map needs more than three vectors for each unit of perplexity.
    let perplexity = PERPLEXITY.min((points as f64 - 2.0) / 3.0 - 0.5);
    if perplexity < 1.0 {
        return Err(Error::InvalidArgument(format!(
            "a map needs 7 points at least; there are {points}. Leave out --map."
        )));
    }
    Ok(Map::t_sne(numbers, dims, perplexity)?.points)
}

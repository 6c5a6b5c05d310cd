//! Do embeddings gather by the condition they are seen through? k-means against the condition, and a map.

use std::collections::HashMap;

use super::{
    page::{Page, percent},
    study::{Judge, Study},
    vectors::Vectors,
};
use crate::{
    companion::plot::{Series, scatter_chart},
    error::Result,
    evaluation::{
        cluster::{K_MEANS, v_measure},
        condition_type::ConditionType,
        t_sne::Map,
    },
    similarity::unit,
    text::template::normalize_condition,
};

/// Conditions shown, the most frequent ones.
const CONDITIONS: usize = 8;
/// Inputs shown of each.
const EACH: usize = 100;
const PERPLEXITY: f64 = 30.0;

pub fn section(page: &mut Page, study: &Study<'_>) -> Result<()> {
    page.heading("Clusters and maps");
    let sample = Sample::of(study);
    let n = sample.inputs.len();
    let k = sample.names.len();
    // A map needs more than three vectors for each unit of perplexity.
    let perplexity = PERPLEXITY.min((n as f64 - 2.0) / 3.0 - 0.5);
    if k < 2 || perplexity < 2.0 {
        page.paragraph("The data has too few conditions that recur.");
        return Ok(());
    }
    page.paragraph(&format!(
        "{n} embeddings (at unit length) of sentences seen through the {k} most frequent conditions, at most {EACH} \
         of each: V-measure × 100 between k-means clusters (k = {k}) and the conditions, 100 where each condition \
         is a cluster. The maps are by t-SNE (perplexity {perplexity:.0})."
    ));
    let mut rows = Vec::new();
    for judge in &study.judges {
        let spaces = match (&judge.raw, &judge.vectors) {
            (Some([whole, offset]), _) if judge.given.is_none() => vec![
                (judge.name.clone(), whole),
                (format!("{}, − c", judge.name), offset),
            ],
            (_, Some(vectors)) => vec![(judge.name.clone(), vectors)],
            _ => continue,
        };
        for (name, vectors) in spaces {
            let chosen = sample.vectors(vectors);
            let clusters = K_MEANS.fit(&chosen.numbers, chosen.dims, k)?;
            let v = v_measure(&sample.labels, &clusters.labels);
            rows.push(vec![name, percent(v)]);
        }
    }
    page.table(&["", "V-measure"], &rows);
    let frozen = study.judges.first().into_iter();
    let shown: Vec<&Judge> = frozen.chain(study.trained()).collect();
    for (i, judge) in shown.iter().enumerate() {
        if let Some(vectors) = &judge.vectors {
            let title = format!("t-SNE: {}", judge.name);
            let svg = sample.map(&title, &sample.vectors(vectors), perplexity)?;
            page.chart(&format!("map-{}.svg", i + 1), &title, svg);
        }
    }
    Ok(())
}

/// Inputs of the most frequent conditions.
struct Sample {
    /// Which of the study's inputs, and which condition each is seen through.
    inputs: Vec<u32>,
    labels: Vec<usize>,
    names: Vec<String>,
}

impl Sample {
    fn of(study: &Study<'_>) -> Self {
        let mut by_condition: HashMap<String, Vec<u32>> = HashMap::new();
        for input in study.set().inputs() {
            let (_, condition) = study.inputs.inputs[input as usize];
            let condition = normalize_condition(condition).to_lowercase();
            by_condition.entry(condition).or_default().push(input);
        }
        let mut frequent: Vec<(String, Vec<u32>)> = by_condition.into_iter().collect();
        frequent.sort_by(|a, b| (b.1.len(), &a.0).cmp(&(a.1.len(), &b.0)));
        frequent.truncate(CONDITIONS);
        let (mut inputs, mut labels, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for (label, (condition, of)) in frequent.into_iter().enumerate() {
            let chosen = of.into_iter().take(EACH);
            let before = inputs.len();
            inputs.extend(chosen);
            labels.resize(labels.len() + inputs.len() - before, label);
            names.push(match study.no_examples {
                true => format!("{} ({})", ConditionType::of(&condition).name(), label + 1),
                false => condition,
            });
        }
        Self {
            inputs,
            labels,
            names,
        }
    }

    /// Its vectors at unit length.
    fn vectors(&self, all: &Vectors) -> Vectors {
        let chosen = all.rows(&self.inputs);
        Vectors {
            dims: chosen.dims,
            numbers: chosen
                .numbers
                .chunks_exact(chosen.dims)
                .flat_map(unit)
                .collect(),
        }
    }

    fn map(&self, title: &str, vectors: &Vectors, perplexity: f64) -> Result<String> {
        let map = Map::t_sne(&vectors.numbers, vectors.dims, perplexity)?;
        let series: Vec<Series> = self
            .names
            .iter()
            .enumerate()
            .map(|(label, name)| {
                let points = map.points.iter().zip(&self.labels);
                let own = points.filter(|&(_, &l)| l == label);
                Series::new(name, own.map(|(&point, _)| point).collect())
            })
            .collect();
        scatter_chart(title, &series)
    }
}

//! A probe for bias: sentences about a woman beside the same about a man. What a condition asks about says whether that
//! may matter.

use super::{
    page::{Page, percent},
    study::{Set, Study},
    vectors::Vectors,
};

/// Rows of one condition.
struct Probe<'a> {
    condition: &'a str,
    rows: Vec<usize>,
}

pub fn section(page: &mut Page, study: &Study<'_>) {
    page.heading("Sentences that differ in a person's gender");
    let Some(set) = &study.swapped else {
        page.paragraph(
            "No table of such sentences was named (`--swapped`; data/gender-swapped.csv of the project is one).",
        );
        return;
    };
    page.paragraph(&format!(
        "`{}`: sentence 1 says of one person what sentence 2 says of another. Under a condition that does not ask about the \
         person, cosines below 100 are what the gender alone makes of the embedding; the condition that asks for it is there to \
         compare with. Of a sentence and what both say about the condition, \"nearer the second\" is the share of rows whose \
         answer the second sentence is nearer to, 50 where gender does not matter, and \"difference\" the mean by which it is.",
        set.name
    ));
    let probes = probes(set);
    let mut rows = Vec::new();
    for judge in &study.judges {
        let Some(vectors) = &judge.vectors else {
            continue;
        };
        for probe in &probes {
            let mut cells = vec![format!("{}, {}", judge.name, probe.condition)];
            cells.extend(probe.figures(set, vectors));
            rows.push(cells);
        }
    }
    let columns = [
        "",
        "rows",
        "mean cosine",
        "lowest cosine",
        "nearer the second",
        "difference",
    ];
    page.table(&columns, &rows);
}

/// The rows by their conditions, in the order in which these come first.
fn probes<'a>(set: &Set<'a>) -> Vec<Probe<'a>> {
    let mut probes: Vec<Probe<'a>> = Vec::new();
    for (i, row) in set.data.rows.iter().enumerate() {
        match probes.iter_mut().find(|p| p.condition == row.condition) {
            Some(probe) => probe.rows.push(i),
            None => probes.push(Probe {
                condition: &row.condition,
                rows: vec![i],
            }),
        }
    }
    probes
}

impl Probe<'_> {
    fn figures(&self, set: &Set<'_>, vectors: &Vectors) -> Vec<String> {
        let cosine = |&row: &usize| {
            let example = &set.examples[row];
            vectors.cosine(example.first, example.second)
        };
        let cosines: Vec<f64> = self.rows.iter().map(cosine).collect();
        // How much nearer the second sentence is to what both of them say.
        let nearer = |&row: &usize| {
            let (example, [first, second]) = (&set.examples[row], set.answers[row]);
            let answer = first.filter(|_| first == second)?;
            let second = vectors.cosine(example.second, answer);
            Some(second - vectors.cosine(example.first, answer))
        };
        let nearer: Vec<f64> = self.rows.iter().filter_map(nearer).collect();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let lowest = cosines.iter().copied().fold(f64::INFINITY, f64::min);
        // One that is as near to either counts half.
        let side = |d: &f64| match d.total_cmp(&0.0) {
            std::cmp::Ordering::Greater => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Less => 0.0,
        };
        let sides: Vec<f64> = nearer.iter().map(side).collect();
        vec![
            cosines.len().to_string(),
            percent(mean(&cosines)),
            percent(lowest),
            percent(mean(&sides)),
            percent(mean(&nearer)),
        ]
    }
}

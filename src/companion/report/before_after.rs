//! What the heads do to single comparisons: cosines before and after, with the condition and without one.

use super::{
    page::{Page, percent},
    study::{Set, Study},
    vectors::Vectors,
};
use crate::{
    data::dataset::Pair,
    error::Result,
    evaluation::metrics::{ALIKE_RATING, DIFFERENT_RATING},
};

/// Sentence pairs shown.
const SHOWN: usize = 5;

/// Embeddings before the heads, and after each of them.
pub struct BeforeAfter {
    before: Vectors,
    after: Vec<Vectors>,
}

impl BeforeAfter {
    /// Of embeddings by the base.
    pub fn new(study: &Study<'_>, before: Vectors) -> Result<Self> {
        let heads = study.fitted.heads.iter();
        let after = heads
            .map(|head| before.project(&head.file))
            .collect::<Result<_>>()?;
        Ok(Self { before, after })
    }

    /// The cosine of two of them: before, and after each head.
    pub fn cosines(&self, a: u32, b: u32) -> Vec<f64> {
        let after = self.after.iter().map(|vectors| vectors.cosine(a, b));
        std::iter::once(self.before.cosine(a, b))
            .chain(after)
            .collect()
    }

    /// The columns that [`cosines`](Self::cosines) fills.
    pub fn columns(study: &Study<'_>) -> Vec<String> {
        let heads = study.fitted.heads.iter();
        let after = heads.map(|head| format!("after the {}", head.name));
        std::iter::once("before".into()).chain(after).collect()
    }
}

/// The mean of each of the columns of some rows.
pub fn means(rows: &[Vec<f64>]) -> Vec<f64> {
    let width = rows.first().map_or(0, Vec::len);
    let sum = |column: usize| rows.iter().map(|row| row[column]).sum::<f64>();
    (0..width)
        .map(|column| sum(column) / rows.len() as f64)
        .collect()
}

/// The sentence pairs whose two ratings are furthest apart, in the order of the file.
pub fn telling(set: &Set<'_>, most: usize) -> Vec<Pair> {
    let apart = |&(a, b): &Pair| (set.ratings[a] - set.ratings[b]).abs();
    let mut pairs = set.data.pairs.clone();
    pairs.sort_by(|x, y| apart(y).total_cmp(&apart(x)));
    pairs.truncate(most);
    pairs.sort_unstable();
    pairs
}

pub fn section(page: &mut Page, study: &Study<'_>) -> Result<()> {
    let (base, set) = (&study.base, study.set());
    let conditional = BeforeAfter::new(study, base.embeddings(&base.own))?;
    let plain = BeforeAfter::new(study, base.unconditional.clone())?;
    let under = |row: usize| {
        let example = &set.examples[row];
        conditional.cosines(example.first, example.second)
    };
    let alone = |row: usize| {
        let (first, second) = set.sentences[row];
        plain.cosines(first, second)
    };

    page.heading("Before and after the heads");
    page.paragraph(&format!(
        "Cosines by {}: of two sentences under a condition, cos(s1, s2; c), and without one, cos(s1, s2), before and after \
         a head, which learnt from the former alone. First the means, then the sentence pairs whose two ratings are furthest \
         apart. Rows are counted in the file from 1, the header not included.",
        base.name
    ));
    let cells = BeforeAfter::columns(study);
    let mut columns = vec!["", "number of rows"];
    columns.extend(cells.iter().map(String::as_str));
    let rows = |rated: &dyn Fn(f64) -> bool| -> Vec<usize> {
        let all = 0..set.ratings.len();
        all.filter(|&row| rated(set.ratings[row])).collect()
    };
    let of = |name: String, rows: &[usize], cosines: &dyn Fn(usize) -> Vec<f64>| {
        let all: Vec<_> = rows.iter().map(|&row| cosines(row)).collect();
        let mut cells = vec![name, rows.len().to_string()];
        match all.is_empty() {
            true => cells.resize(columns.len(), "–".into()),
            false => cells.extend(means(&all).into_iter().map(percent)),
        }
        cells
    };
    let lines = [
        of(
            format!("rated {ALIKE_RATING} or more"),
            &rows(&|rating| rating >= ALIKE_RATING),
            &under,
        ),
        of(
            format!("rated {DIFFERENT_RATING} or less"),
            &rows(&|rating| rating <= DIFFERENT_RATING),
            &under,
        ),
        of("without a condition".into(), &rows(&|_| true), &alone),
    ];
    page.table(&columns, &lines);

    let pairs = telling(set, SHOWN);
    if pairs.is_empty() {
        page.paragraph("The data has no sentence pair with two ratings to show.");
        return Ok(());
    }
    let places = set.places();
    let mut lines = Vec::new();
    let mut line =
        |name: String, rating: String, cosines: Vec<f64>, row: usize, condition: &str| {
            let mut cells = vec![name, rating];
            cells.extend(cosines.into_iter().map(percent));
            if !study.no_examples {
                let row = &set.data.rows[row];
                let texts = [condition, &row.sentence1, &row.sentence2];
                cells.extend(texts.map(String::from));
            }
            lines.push(cells);
        };
    for (a, b) in pairs {
        let both = format!("{} and {}", places[a], places[b]);
        line(both, "–".into(), alone(a), a, "–");
        for row in [a, b] {
            let condition = &set.data.rows[row].condition;
            let rating = set.ratings[row].to_string();
            line(places[row].to_string(), rating, under(row), row, condition);
        }
    }
    let mut columns = vec!["row", "rating"];
    columns.extend(cells.iter().map(String::as_str));
    if !study.no_examples {
        columns.extend(["condition", "sentence 1", "sentence 2"]);
    }
    page.table(&columns, &lines);
    Ok(())
}

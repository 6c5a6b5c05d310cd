//! Does a sentence under a condition come close to what it says about it? Cosines between sentences and answers, before
//! and after the heads.

use super::{
    before_after::{BeforeAfter, means, telling},
    page::{Page, percent},
    study::{Set, Study},
};
use crate::{error::Result, evaluation::metrics::DIFFERENT_RATING};

/// Sentence pairs shown of each file.
const SHOWN: usize = 3;

/// A sentence and an answer, both under the sentence's condition, as inputs of the study.
type Asked = (u32, u32);

pub fn section(page: &mut Page, study: &Study<'_>) -> Result<()> {
    page.heading("Sentences and their answers");
    let answered = |set: &&Set<'_>| set.answers.iter().flatten().any(Option::is_some);
    let sets: Vec<&Set<'_>> = study.sets.iter().filter(answered).collect();
    if sets.is_empty() {
        page.paragraph(
            "No file has the columns answer1 and answer2, which hold what each sentence says about its condition: there is \
             nothing to compare sentences with.",
        );
        return Ok(());
    }
    page.paragraph(&format!(
        "Cosines by {} between a sentence and what it says about its condition in a few words, cos(s, answer; c), both under the \
         condition, before and after the heads, and the share of pairs whose cosine rises. A head that finds what is asked for \
         raises it for a sentence's own answer, and not for the other sentence's, where the two are rated {DIFFERENT_RATING} or less.",
        study.base.name
    ));
    let all = BeforeAfter::new(study, study.base.embeddings(&study.base.own))?;
    let mut columns: Vec<String> = ["", "pairs", "before"].map(String::from).to_vec();
    for column in BeforeAfter::columns(study).into_iter().skip(1) {
        columns.push(format!("{column}, mean"));
        columns.push(format!("{column}, rises"));
    }
    let mut rows = Vec::new();
    for set in &sets {
        for (name, asked) in [("own answer", own(set)), ("the other's answer", other(set))] {
            let cosines: Vec<_> = asked.iter().map(|&(s, a)| all.cosines(s, a)).collect();
            let mut cells = vec![format!("{}, {name}", set.name), cosines.len().to_string()];
            let means = means(&cosines);
            if let Some((before, after)) = means.split_first() {
                cells.push(percent(*before));
                for (mean, head) in after.iter().zip(1..) {
                    let risen = cosines.iter().filter(|of| of[head] > of[0]).count();
                    cells.push(percent(*mean));
                    cells.push(percent(risen as f64 / cosines.len() as f64));
                }
            }
            cells.resize(columns.len(), "–".into());
            rows.push(cells);
        }
    }
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    page.table(&columns, &rows);
    shown(page, study, &sets, &all);
    Ok(())
}

/// Each sentence with its own answer.
fn own(set: &Set<'_>) -> Vec<Asked> {
    let rows = set.examples.iter().zip(&set.answers);
    rows.flat_map(|(example, answers)| {
        let both = [example.first, example.second].into_iter().zip(answers);
        both.filter_map(|(sentence, answer)| Some((sentence, (*answer)?)))
    })
    .collect()
}

/// Each sentence with the other's answer, of rows that are rated as different.
fn other(set: &Set<'_>) -> Vec<Asked> {
    let rows = set.examples.iter().zip(&set.answers).zip(&set.ratings);
    let rows = rows.filter(|(_, rating)| **rating <= DIFFERENT_RATING);
    rows.flat_map(|((example, [first, second]), _)| {
        let both = [(example.first, second), (example.second, first)];
        both.into_iter()
            .filter_map(|(sentence, answer)| Some((sentence, (*answer)?)))
    })
    .collect()
}

/// The answers of some sentence pairs.
fn shown(page: &mut Page, study: &Study<'_>, sets: &[&Set<'_>], all: &BeforeAfter) {
    let mut lines = Vec::new();
    for set in sets {
        let places = set.places();
        let pairs = telling(set, SHOWN).into_iter();
        for row in pairs.flat_map(|(a, b)| [a, b]) {
            let (example, texts) = (&set.examples[row], &set.data.rows[row]);
            let sides = [
                (example.first, &texts.sentence1),
                (example.second, &texts.sentence2),
            ];
            for (side, (sentence, text)) in sides.into_iter().enumerate() {
                let Some(answer) = set.answers[row][side] else {
                    continue;
                };
                let mut cells = vec![format!("{}, row {}", set.name, places[row])];
                cells.push(set.ratings[row].to_string());
                cells.extend(all.cosines(sentence, answer).into_iter().map(percent));
                if !study.no_examples {
                    let texts = [&texts.condition, text, &texts.answers[side]];
                    cells.extend(texts.map(String::from));
                }
                lines.push(cells);
            }
        }
    }
    if lines.is_empty() {
        return;
    }
    let cells = BeforeAfter::columns(study);
    let mut columns = vec!["", "rating of the pair"];
    columns.extend(cells.iter().map(String::as_str));
    if !study.no_examples {
        columns.extend(["condition", "sentence", "its answer"]);
    }
    page.table(&columns, &lines);
}

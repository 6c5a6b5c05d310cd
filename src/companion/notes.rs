//! What is worth knowing of a table's texts: said once, with a count, since a table may have millions.

use std::collections::BTreeMap;

use crate::text::language::Language;

/// How many rows, and the first of them.
#[derive(Default)]
struct Rows {
    count: usize,
    first: usize,
}

impl Rows {
    fn add(&mut self, row: usize) {
        if self.count == 0 {
            self.first = row;
        }
        self.count += 1;
    }
}

/// What came up so far.
#[derive(Default)]
pub struct Notes {
    foreign: BTreeMap<&'static str, Rows>,
    unknown: Rows,
}

impl Notes {
    /// A row, counted from 1, has a text in a language that the model was not trained on.
    pub fn foreign(&mut self, row: usize, language: Language) {
        self.foreign.entry(language.name).or_default().add(row);
    }

    /// A row, counted from 1, has tokens that the encoder's vocabulary lacks.
    pub fn unknown(&mut self, row: usize) {
        self.unknown.add(row);
    }

    /// Says it; `what` names the table.
    pub fn tell(&self, what: &str) {
        for (language, Rows { count, first }) in &self.foreign {
            tracing::warn!(
                "{what}: {count} texts look like {language}, on which the model was not trained (first in row {first}); their numbers mean little"
            );
        }
        let Rows { count, first } = self.unknown;
        if count > 0 {
            tracing::warn!(
                "{what}: {count} rows hold pieces that the encoder does not know (first row {first}); it reads them as blanks"
            );
        }
    }
}

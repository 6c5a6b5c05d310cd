//! A table's cells, by column and as texts: what a [`Dataset`](super::dataset::Dataset) and a
//! [`Teacher`](super::teacher::Teacher) are made of, whichever format a file of them has.

use std::collections::BTreeMap;

use crate::error::{Error, Result};

/// The columns of a table that are there. An empty cell is none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Columns {
    rows: usize,
    columns: BTreeMap<String, Vec<Option<String>>>,
}

impl Columns {
    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn has(&self, column: &str) -> bool {
        self.columns.contains_key(column)
    }

    /// A cell; `None` too where the table lacks the column.
    pub fn cell(&self, column: &str, row: usize) -> Option<&str> {
        self.columns.get(column)?.get(row)?.as_deref()
    }

    /// The cells of these columns in every row; `table` stands for the table in errors.
    ///
    /// # Errors
    /// A column is missing, or one of the cells is empty: its row is named.
    pub fn filled<const N: usize>(&self, table: &str, names: [&str; N]) -> Result<Vec<[&str; N]>> {
        let bad = |row: usize, reason: String| Error::Data {
            file: table.into(),
            row,
            reason,
        };
        if let Some(name) = names.into_iter().find(|name| !self.has(name)) {
            return Err(bad(0, format!("the column `{name}` is missing")));
        }
        let row = |row: usize| {
            let cells = names.map(|name| self.cell(name, row).unwrap_or_default());
            match cells.iter().position(|cell| cell.trim().is_empty()) {
                Some(empty) => Err(bad(row + 1, format!("the {} is empty", names[empty]))),
                None => Ok(cells),
            }
        };
        (0..self.rows).map(row).collect()
    }

    /// Adds rows below those that are there. A column that they lack, or that is new with them, has no value in
    /// the others' rows.
    pub fn extend(
        &mut self,
        rows: usize,
        columns: impl IntoIterator<Item = (String, Vec<Option<String>>)>,
    ) {
        for (name, cells) in columns {
            let column = self.columns.entry(name).or_default();
            column.resize(self.rows, None);
            column.extend(cells);
        }
        self.rows += rows;
        for column in self.columns.values_mut() {
            column.resize(self.rows, None);
        }
    }
}

#[cfg(test)]
impl Columns {
    /// The columns of CSV.
    pub fn of_csv(text: &str) -> Self {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let names = reader.headers().unwrap().clone();
        let mut columns = Self::default();
        columns.extend(0, names.iter().map(|name| (name.to_owned(), Vec::new())));
        for record in reader.records() {
            let record = record.unwrap();
            let cell = |text: &str| vec![Some(text.to_owned()).filter(|text| !text.is_empty())];
            let cells = names.iter().zip(&record);
            columns.extend(1, cells.map(|(name, text)| (name.to_owned(), cell(text))));
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_may_come_late_and_may_end() {
        let text = |text: &str| Some(text.to_owned());
        let mut columns = Columns::default();
        columns.extend(2, [("a".into(), vec![text("1"), None])]);
        columns.extend(1, [("b".into(), vec![text("2")])]);
        let cells = |name: &str| [0, 1, 2].map(|row| columns.cell(name, row).map(str::to_owned));
        assert_eq!(cells("a"), [text("1"), None, None]);
        assert_eq!(cells("b"), [None, None, text("2")]);
        assert!(columns.has("b") && !columns.has("c") && columns.rows() == 3);
        assert_eq!(cells("c"), [None, None, None]);
    }
}

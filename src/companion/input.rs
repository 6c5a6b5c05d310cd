//! Standard input, a line at a time, with the line's number in every error.

use std::io::BufRead;

use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

/// What errors call it.
const INPUT: &str = "standard input";

/// A line of standard input.
pub struct Line {
    /// From 1.
    row: usize,
    pub text: String,
}

impl Line {
    /// What is wrong with this line.
    pub fn error(&self, reason: impl Into<String>) -> Error {
        Error::Data {
            file: INPUT.into(),
            row: self.row,
            reason: reason.into(),
        }
    }

    /// This error, of this line.
    pub fn refuse(&self, error: Error) -> Error {
        error.in_row(INPUT, self.row)
    }

    /// The line as JSON; `shape` says in the error what it should have been.
    pub fn json<T: DeserializeOwned>(&self, shape: &str) -> Result<T> {
        serde_json::from_str(&self.text).map_err(|e| self.error(format!("it is not {shape} ({e})")))
    }

    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }
}

/// The lines of standard input.
pub fn lines() -> impl Iterator<Item = Result<Line>> {
    std::io::stdin()
        .lock()
        .lines()
        .enumerate()
        .map(|(i, text)| {
            let mut line = Line {
                row: i + 1,
                text: String::new(),
            };
            line.text = text.map_err(|e| line.error(e.to_string()))?;
            Ok(line)
        })
}

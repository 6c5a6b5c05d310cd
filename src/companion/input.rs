//! Standard input, a line at a time, with the line's number in every error.

use std::io::{BufRead, Read};

use serde::de::DeserializeOwned;

use super::table::{BYTES, check_length};
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
    let mut input = std::io::stdin().lock();
    let mut row = 0;
    std::iter::from_fn(move || {
        let mut bytes = Vec::new();
        let read = (&mut input)
            .take(BYTES as u64 + 1)
            .read_until(b'\n', &mut bytes);
        row += 1;
        let mut line = Line {
            row,
            text: String::new(),
        };
        let text = match read {
            Ok(0) => return None,
            Ok(_) => check_length(bytes.len(), INPUT, row).and_then(|_| {
                String::from_utf8(bytes).map_err(|_| line.error("it is not text in UTF-8"))
            }),
            Err(error) => Err(Error::io(INPUT)(error)),
        };
        Some(text.map(|text| {
            let own = text.trim_end_matches(['\n', '\r']);
            // Windows' programs mark UTF-8 so.
            let own = own
                .strip_prefix('\u{feff}')
                .filter(|_| row == 1)
                .unwrap_or(own);
            line.text = own.to_owned();
            line
        }))
    })
}

//! Values separated by commas, semicolons or tabs, with a header.

use std::{
    cell::Cell,
    io::{self, BufRead, Read},
    path::Path,
    rc::Rc,
    sync::Arc,
};

use arrow_array::{ArrayRef, RecordBatch, builder::StringBuilder};
use arrow_schema::{DataType, Field, Schema};

use super::{
    Format, Rows, arrow_error,
    common::{BYTES, Batches, Input, check_length},
};
use crate::error::{Error, Result};

/// Whether a file's name says that tabs separate its values.
pub fn is_named_for_tabs(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    ["tsv", "tab"]
        .iter()
        .any(|tabs| extension.eq_ignore_ascii_case(tabs))
}

/// Rows in batches of at most `rows`. Every column is of texts, as it is written; an empty cell is none. `tabs` says that
/// tabs separate them, else a first line such as `sep=;` does, or the header's looks.
pub fn batches(mut input: Input, what: &str, rows: usize, tabs: bool) -> Result<(Batches, Rows)> {
    let what = what.to_owned();
    let delimiter = match tabs {
        true => b'\t',
        false => said_delimiter(&mut input).unwrap_or_else(|| looked_up_delimiter(input.buffer())),
    };
    let bad = move |what: &str, row, e: csv::Error| Error::Data {
        file: what.to_owned(),
        row,
        reason: reason(&e, delimiter),
    };
    let left = Rc::new(Cell::new(BYTES));
    let bounded = Bounded {
        input,
        left: left.clone(),
    };
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .from_reader(bounded);
    let header = reader.headers().map_err(|e| bad(&what, 0, e))?;
    if header.is_empty() {
        return Err(Error::InvalidArgument(format!(
            "{what} is empty. A table begins with the names of its columns."
        )));
    }
    let fields: Vec<_> = header
        .iter()
        .map(|name| Field::new(name.trim(), DataType::Utf8, true))
        .collect();
    let schema = Arc::new(Schema::new(fields));
    let empty = RecordBatch::new_empty(schema.clone());
    let mut row = 0;
    let next = move || {
        let mut columns: Vec<_> = schema
            .fields()
            .iter()
            .map(|_| StringBuilder::new())
            .collect();
        let mut record = csv::StringRecord::new();
        let (first, mut bytes) = (row, 0);
        while row - first < rows && bytes < BYTES {
            left.set(BYTES);
            if !reader
                .read_record(&mut record)
                .map_err(|e| bad(&what, row + 1, e))?
            {
                break;
            }
            row += 1;
            bytes += check_length(record.as_slice().len(), &what, row)?;
            for (column, cell) in columns.iter_mut().zip(&record) {
                column.append_option(Some(cell).filter(|cell| !cell.is_empty()));
            }
        }
        if row == first {
            return Ok(None);
        }
        let columns = columns
            .iter_mut()
            .map(|column| Arc::new(column.finish()) as ArrayRef)
            .collect();
        RecordBatch::try_new(schema.clone(), columns)
            .map(|batch| Some(Rows::Columns(batch)))
            .map_err(arrow_error(&what, Format::Csv))
    };
    Ok((Box::new(next), Rows::Columns(empty)))
}

/// Why a row cannot be read, and what to do about it.
fn reason(e: &csv::Error, delimiter: u8) -> String {
    let csv::ErrorKind::UnequalLengths {
        expected_len, len, ..
    } = *e.kind()
    else {
        return format!("it is not CSV as its header has it ({e})");
    };
    let todo = match (len > expected_len, delimiter) {
        (false, _) => "Fill up what is missing, and close every quote".to_owned(),
        (true, b'\t') => "Put cells that hold a tab in double quotes".to_owned(),
        (true, _) => {
            let delimiter = char::from(delimiter);
            format!("Put cells that hold `{delimiter}` in double quotes")
        }
    };
    format!("its cells are {len} and the header's {expected_len}. {todo}")
}

/// The delimiter that a first line `sep=;` names, as Excel writes it; the line is passed over.
fn said_delimiter(input: &mut Input) -> Option<u8> {
    let line = first_line(input.buffer());
    let &[delimiter] = line.trim_ascii_end().strip_prefix(b"sep=")? else {
        return None;
    };
    let passed = input.buffer().len().min(line.len() + 1);
    input.consume(passed);
    Some(delimiter)
}

/// The delimiter that the header has most of, outside quotes; a comma where it has none.
fn looked_up_delimiter(begins: &[u8]) -> u8 {
    let mut quoted = false;
    let unquoted = first_line(begins).iter().filter(|&&byte| {
        quoted ^= byte == b'"';
        !quoted
    });
    let unquoted: Vec<u8> = unquoted.copied().collect();
    let count = |delimiter: u8| unquoted.iter().filter(|&&byte| byte == delimiter).count();
    // Of equals the last is taken.
    let known = [b'\t', b';', b','];
    known
        .into_iter()
        .max_by_key(|&known| count(known))
        .unwrap_or(b',')
}

fn first_line(begins: &[u8]) -> &[u8] {
    begins
        .split(|&byte| byte == b'\n')
        .next()
        .unwrap_or_default()
}

/// Input of which no more is read than a row may have: a quote that nobody closes makes a row of the whole file.
struct Bounded {
    input: Input,
    /// What may still be read before the next row.
    left: Rc<Cell<usize>>,
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        let left = self.left.get().checked_sub(read).ok_or_else(|| {
            let most = BYTES >> 20;
            io::Error::other(format!(
                "it is longer than {most} MiB: is a quote never closed?"
            ))
        })?;
        self.left.set(left);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_tells_what_separates() {
        for (header, delimiter) in [
            ("text", b','),
            ("text,label", b','),
            ("text;label\nA dog, a cat, a cow;1", b';'),
            ("text\tlabel", b'\t'),
            ("\"a;b;c\",label", b','),
        ] {
            assert_eq!(
                looked_up_delimiter(header.as_bytes()),
                delimiter,
                "{header}"
            );
        }
    }
}

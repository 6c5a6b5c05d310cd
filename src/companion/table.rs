//! Tables in other people's formats, a batch of rows at a time.
//!
//! Rows keep the form they came in, Arrow columns or JSON objects, and are converted where the output wants
//! another: JSON lines that become JSON lines again are the same text, field for field.

use std::{path::Path, sync::Arc};

use arrow_array::{ArrayRef, Float32Array, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use clap::ValueEnum;
use parquet::errors::ParquetError;
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::error::{Error, Result};

mod common;
pub mod data;
mod delimited;
mod encoding;
mod messages;
mod pages;
mod read;
mod write;

pub(crate) use common::{BYTES, check_length};
pub(crate) use encoding::whole;
pub use read::{ReadOptions, Reader};
pub use write::{Vectors, WriteOptions, Writer};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// a text a line; written, a line of numbers for each
    Text,
    /// JSON lines: an object a line; read, also one array of objects or texts
    Jsonl,
    /// values with a header, separated by commas, semicolons or tabs; an empty cell is no value
    Csv,
    /// Arrow IPC stream, as for pipes
    Arrow,
    /// Arrow IPC file, also called Feather
    Feather,
    Parquet,
}

impl Format {
    /// By the extension of a file's name.
    pub fn of_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match extension.as_str() {
            "txt" => Self::Text,
            "jsonl" | "ndjson" | "json" => Self::Jsonl,
            "csv" | "tsv" | "tab" => Self::Csv,
            "arrows" => Self::Arrow,
            "arrow" | "feather" | "ipc" => Self::Feather,
            "parquet" | "pq" => Self::Parquet,
            _ => return None,
        })
    }

    /// By the name of a file to be written, none where it has no extension. A name that promises what is not
    /// written (`x.safetensors`) is an error.
    pub fn of_output(path: &Path) -> Result<Option<Self>> {
        let written = Self::of_path(path).filter(|_| !is_read_alone(path));
        match (written, path.extension()) {
            (None, Some(extension)) => Err(Error::InvalidArgument(format!(
                "{}: tables are not written as .{}. Name a .txt, .jsonl, .csv, .arrows, .feather or .parquet file, or say what it should hold with --output-format.",
                path.display(),
                extension.display()
            ))),
            (format, _) => Ok(format),
        }
    }

    /// By a file's first bytes; no text in UTF-8 begins as the binary formats do.
    fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let word = bytes.trim_ascii_start();
        let in_array = word.strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
        Some(match bytes {
            // UTF-16 may begin with one of them.
            [0xff, 0xff, 0xff, 0xff, ..] => Self::Arrow,
            _ if bytes.starts_with(b"ARROW1") => Self::Feather,
            _ if bytes.starts_with(b"PAR1") => Self::Parquet,
            _ if in_array.unwrap_or(word).starts_with(b"{") => Self::Jsonl,
            _ => return None,
        })
    }

    /// Whether a terminal cannot show it.
    pub fn is_binary(self) -> bool {
        matches!(self, Self::Arrow | Self::Feather | Self::Parquet)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Text => "lines of text",
            Self::Jsonl => "JSON lines",
            Self::Csv => "CSV",
            Self::Arrow | Self::Feather => "Arrow IPC",
            Self::Parquet => "Parquet",
        }
    }
}

/// Whether tables are read from files with this extension and not written to them.
fn is_read_alone(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    extension.eq_ignore_ascii_case("json") || delimited::is_named_for_tabs(path)
}

/// Some rows of a table.
pub enum Rows {
    Columns(RecordBatch),
    Objects(Vec<Object>),
}

/// A JSON object with its fields as they were written, in their order.
pub struct Object(pub Vec<(String, Box<RawValue>)>);

impl Rows {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Columns(batch) => batch.num_rows(),
            Self::Objects(objects) => objects.len(),
        }
    }

    /// Whether there is such a column; in objects, a value of that name in any of them.
    pub fn has(&self, column: &str) -> bool {
        match self {
            Self::Columns(batch) => !named(batch, column).is_empty(),
            Self::Objects(objects) => objects.iter().any(|o| o.get(column).is_some()),
        }
    }

    /// A column of texts. `row` is the number of the first row, and `what` names the table in errors.
    ///
    /// # Errors
    /// The column is not there, or holds something else than texts.
    pub fn texts(&self, column: &str, row: usize, what: &str) -> Result<Vec<Option<String>>> {
        match self {
            Self::Objects(objects) => (row..)
                .zip(objects)
                .map(|(row, object)| object.text(column, row, what))
                .collect(),
            Self::Columns(batch) => {
                let missing = || Error::InvalidArgument(no_column(column, batch, what));
                let found = only(batch, column, what)?.ok_or_else(missing)?;
                let is_text = match found.data_type() {
                    DataType::Dictionary(_, values) => values.is_string(),
                    other => other.is_string() || other.is_null(),
                };
                match is_text {
                    true => strings(found).map_err(|e| not_text(column, row, what, e.to_string())),
                    false => {
                        let kind = found.data_type().to_string();
                        Err(not_text(column, row, what, kind))
                    }
                }
            }
        }
    }

    /// A column of numbers, as they are written; texts may be numbers too. `row` is the number of the first row,
    /// and `what` names the table in errors.
    ///
    /// # Errors
    /// The column holds neither.
    pub fn numbers(&self, column: &str, row: usize, what: &str) -> Result<Vec<Option<String>>> {
        let mut cells = self.numerals(column, row, what)?;
        // A minus sign as it is typeset.
        for cell in cells.iter_mut().flatten() {
            *cell = cell.trim().replacen('\u{2212}', "-", 1);
        }
        Ok(cells)
    }

    fn numerals(&self, column: &str, row: usize, what: &str) -> Result<Vec<Option<String>>> {
        match self {
            Self::Objects(objects) => (row..)
                .zip(objects)
                .map(
                    |(row, object)| match object.get(column).map(RawValue::get) {
                        Some(value) if serde_json::from_str::<f64>(value).is_ok() => {
                            Ok(Some(value.to_owned()))
                        }
                        _ => object.text(column, row, what),
                    },
                )
                .collect(),
            Self::Columns(batch) => match only(batch, column, what)? {
                Some(found) if found.data_type().is_numeric() => {
                    strings(found).map_err(|e| not_text(column, row, what, e.to_string()))
                }
                _ => self.texts(column, row, what),
            },
        }
    }

    /// The rows with a column of numbers more. `what` names the table in errors.
    ///
    /// # Errors
    /// There is such a column already.
    pub fn with_numbers(self, name: &str, numbers: &[Option<f32>], what: &str) -> Result<Self> {
        if self.has(name) {
            return Err(Error::InvalidArgument(format!(
                "{what} has a column `{name}` already. Give the new one another name."
            )));
        }
        match self {
            Self::Objects(mut objects) => {
                for (object, number) in objects.iter_mut().zip(numbers) {
                    let text = serde_json::value::to_raw_value(number)
                        .map_err(|e| Error::InvalidArgument(e.to_string()))?;
                    object.0.push((name.to_owned(), text));
                }
                Ok(Self::Objects(objects))
            }
            Self::Columns(batch) => {
                let schema = batch.schema();
                let mut fields = schema.fields().to_vec();
                fields.push(Arc::new(Field::new(name, DataType::Float32, true)));
                let mut columns = batch.columns().to_vec();
                columns.push(Arc::new(Float32Array::from(numbers.to_vec())));
                let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
                let batch = RecordBatch::try_new(Arc::new(schema), columns);
                batch
                    .map(Self::Columns)
                    .map_err(arrow_error(what, Format::Arrow))
            }
        }
    }

    fn from_texts(name: &str, texts: Vec<String>) -> std::result::Result<Self, ArrowError> {
        let schema = Schema::new(vec![Field::new(name, DataType::Utf8, false)]);
        let column = Arc::new(StringArray::from(texts));
        RecordBatch::try_new(Arc::new(schema), vec![column]).map(Self::Columns)
    }
}

/// The columns of this name, or, where there are none, of the same name in other capitals.
fn named<'a>(batch: &'a RecordBatch, column: &str) -> Vec<&'a ArrayRef> {
    let schema = batch.schema();
    let those = |is: &dyn Fn(&str) -> bool| -> Vec<_> {
        let columns = schema.fields().iter().zip(batch.columns());
        let columns = columns.filter(|(field, _)| is(field.name()));
        columns.map(|(_, column)| column).collect()
    };
    let own = those(&|name| name == column);
    match own.is_empty() {
        true => those(&|name| name.eq_ignore_ascii_case(column)),
        false => own,
    }
}

/// The one column of this name, if there is any.
fn only<'a>(batch: &'a RecordBatch, column: &str, what: &str) -> Result<Option<&'a ArrayRef>> {
    match named(batch, column)[..] {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        [..] => Err(Error::InvalidArgument(format!(
            "{what} has more than one column `{column}`: give the one that is meant another name, and name it."
        ))),
    }
}

fn not_text(column: &str, row: usize, what: &str, found: String) -> Error {
    Error::Data {
        file: what.to_owned(),
        row,
        reason: format!("the column `{column}` holds {found}, where texts are needed"),
    }
}

/// A column's cells as they are written.
fn strings(column: &ArrayRef) -> std::result::Result<Vec<Option<String>>, ArrowError> {
    let strings = StringArray::from(arrow_cast::cast(column, &DataType::Utf8)?.to_data());
    Ok(strings.iter().map(|s| s.map(str::to_owned)).collect())
}

fn no_column(column: &str, batch: &RecordBatch, what: &str) -> String {
    let schema = batch.schema();
    let names: Vec<_> = schema.fields().iter().map(|f| f.name().as_str()).collect();
    format!(
        "{what} has no column `{column}`; it has: {}. Name the right one with the option for that column.",
        names.join(", ")
    )
}

impl Object {
    /// The last value of this name; one of null is none.
    pub fn get(&self, name: &str) -> Option<&RawValue> {
        let mut fields = self.0.iter();
        let same = || (self.0.iter()).rfind(|(field, _)| field.eq_ignore_ascii_case(name));
        let (_, value) = fields.rfind(|(field, _)| field == name).or_else(same)?;
        Some(&**value).filter(|v| v.get() != "null")
    }

    /// The text of this name, if there is one.
    fn text(&self, name: &str, row: usize, what: &str) -> Result<Option<String>> {
        let read = |value: &RawValue| {
            serde_json::from_str(value.get())
                .map_err(|_| not_text(name, row, what, value.get().chars().take(40).collect()))
        };
        self.get(name).map(read).transpose()
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Object;

            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Object, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Object(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

/// An Arrow or Parquet failure. What the operating system says stays that, so that a closed pipe is told from a
/// broken file.
fn arrow_error(what: &str, format: Format) -> impl Fn(ArrowError) -> Error + use<> {
    let what = what.to_owned();
    move |error| match error {
        ArrowError::IoError(_, source) if source.raw_os_error().is_some() => Error::Io {
            path: what.clone().into(),
            source,
        },
        other => Error::TableFormat {
            what: what.clone(),
            format: format.name(),
            reason: other.to_string(),
        },
    }
}

/// The operating system's own errors stay what they are.
fn parquet_error(error: ParquetError) -> ArrowError {
    match error {
        ParquetError::External(inside) => match inside.downcast::<std::io::Error>() {
            Ok(error) => (*error).into(),
            Err(other) => ArrowError::ParquetError(other.to_string()),
        },
        other => other.into(),
    }
}

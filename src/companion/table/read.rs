//! Tables from files and standard input. Nothing holds more than a batch of rows in memory.

use std::{
    fs::File,
    io::{BufRead, BufReader, Cursor, Read},
    path::{Path, PathBuf},
};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_ipc::reader::StreamReader;
use arrow_schema::ArrowError;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::value::RawValue;

use super::{
    Format, Object, Rows, arrow_error,
    common::{BYTES, Batches, Input, check_length},
    delimited, encoding,
    messages::Checked,
    pages, parquet_error,
};
use crate::{
    error::{Error, Result},
    guard::caught,
};

pub struct ReadOptions {
    /// `None` for standard input.
    pub path: Option<PathBuf>,
    /// Guessed where it is not given.
    pub format: Option<Format>,
    /// What it is where neither a name nor the first bytes say so.
    pub otherwise: Format,
    /// Most rows of a batch.
    pub rows: usize,
}

/// The rows of a table, a batch at a time. A table without any gives one batch of none, which still has its
/// columns.
pub struct Reader {
    /// What errors call the table.
    pub what: String,
    pub format: Format,
    batches: Batches,
    /// Until there was another.
    empty: Option<Rows>,
}

impl Reader {
    /// # Errors
    /// The table is not there, or its beginning is not of its format.
    pub fn open(options: &ReadOptions) -> Result<Self> {
        let (what, input): (_, Box<dyn Read>) = match &options.path {
            Some(path) => {
                let file = File::open(path).map_err(Error::io(path))?;
                (path.display().to_string(), Box::new(file))
            }
            None => ("standard input".to_owned(), Box::new(std::io::stdin())),
        };
        let mut input = BufReader::with_capacity(encoding::LOOKED_AT, input);
        let begins = input.fill_buf().map_err(Error::io(&what))?;
        let path = options.path.as_deref();
        let named = path.and_then(Format::of_path);
        let binary = |format: Option<Format>| format.is_some_and(Format::is_binary);
        if !binary(Format::of_bytes(begins)) && !binary(options.format.or(named)) {
            input = encoding::utf8(input, &what, path)?;
        }
        let begins_as = Format::of_bytes(input.buffer());
        if let (None, None, None, Some(path)) = (options.format, named, begins_as, path) {
            refuse_extension(path)?;
        }
        let found = begins_as.unwrap_or(options.otherwise);
        let format = match options.format.or(named) {
            // Arrow's streams and files go by the same names.
            Some(Format::Arrow | Format::Feather) if found == Format::Feather => found,
            Some(Format::Feather) => Format::Arrow,
            Some(format) => format,
            None => found,
        };
        let (batches, empty) = match format {
            Format::Text => lines(input, &what, options.rows, |lines, what| {
                let texts = lines.into_iter().map(|(_, line)| line).collect();
                Rows::from_texts("text", texts).map_err(arrow_error(what, Format::Text))
            })?,
            Format::Jsonl => objects(input, &what, options.rows)?,
            Format::Csv => {
                let tabs = path.is_some_and(delimited::is_named_for_tabs);
                delimited::batches(input, &what, options.rows, tabs)?
            }
            Format::Arrow | Format::Feather => {
                let begins = match format {
                    Format::Feather => stream_of_file(&mut input)
                        .map_err(|e| arrow_error(&what, format)(e.into()))?,
                    _ => Vec::new(),
                };
                let input = Cursor::new(begins).chain(input);
                let open = || StreamReader::try_new(Checked::new(input), None);
                let reader = guarded(&what, format, open)?;
                columns(reader, &what, format, options.rows)
            }
            Format::Parquet => {
                let Some(path) = &options.path else {
                    return Err(Error::InvalidArgument(
                        "Parquet is not read from a pipe: its table of contents comes last. Give the file with --input.".into(),
                    ));
                };
                let file = File::open(path).map_err(Error::io(path))?;
                let again = File::open(path).map_err(Error::io(path))?;
                let open = || {
                    ParquetRecordBatchReaderBuilder::try_new(file)
                        .and_then(|builder| {
                            pages::check(again, builder.metadata())?;
                            builder.with_batch_size(options.rows).build()
                        })
                        .map_err(parquet_error)
                };
                let reader = guarded(&what, format, open)?;
                columns(reader, &what, format, options.rows)
            }
        };
        Ok(Self {
            what,
            format,
            batches,
            empty: Some(empty),
        })
    }
}

impl Iterator for Reader {
    type Item = Result<Rows>;

    fn next(&mut self) -> Option<Result<Rows>> {
        let rows = (self.batches)().transpose();
        match rows {
            Some(_) => self.empty = None,
            None => return self.empty.take().map(Ok),
        }
        rows
    }
}

/// A name that promises what is not read is refused: neither it nor the first bytes say what the file is.
fn refuse_extension(path: &Path) -> Result<()> {
    let Some(extension) = path.extension() else {
        return Ok(());
    };
    Err(Error::InvalidArgument(format!(
        "{}: tables are not read from .{} files. Say what it holds with --input-format, or name it .txt, .csv, .tsv, .jsonl, .json, .arrows, .feather or .parquet.",
        path.display(),
        extension.display()
    )))
}

/// Passes over what stands before the stream that an Arrow file holds, its magic number and what fills that up to 8
/// bytes (Arrow for C++ and Python) or 64 (for Rust); the stream's first 8 bytes.
fn stream_of_file(input: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = [0; 8];
    input.read_exact(&mut bytes)?;
    for _ in 0..8 {
        input.read_exact(&mut bytes)?;
        if bytes != [0; 8] {
            break;
        }
    }
    Ok(bytes.into())
}

/// The batches of an Arrow reader, in slices.
fn columns(
    mut reader: impl RecordBatchReader + 'static,
    what: &str,
    format: Format,
    rows: usize,
) -> (Batches, Rows) {
    let what = what.to_owned();
    let empty = RecordBatch::new_empty(reader.schema());
    let mut rest = empty.clone();
    let next = move || {
        while rest.num_rows() == 0 {
            match guarded(&what, format, || reader.next().transpose())? {
                Some(batch) => rest = batch,
                None => return Ok(None),
            }
        }
        let batch = rest.slice(0, rows.min(rest.num_rows()));
        rest = rest.slice(batch.num_rows(), rest.num_rows() - batch.num_rows());
        Ok(Some(Rows::Columns(batch)))
    };
    (Box::new(next), Rows::Columns(empty))
}

/// Arrow's and Parquet's readers panic on some broken files: that is an error like their others.
fn guarded<T>(
    what: &str,
    format: Format,
    read: impl FnOnce() -> std::result::Result<T, ArrowError>,
) -> Result<T> {
    let broken = || Err(ArrowError::ParseError("it is damaged".into()));
    caught(read)
        .unwrap_or_else(broken)
        .map_err(arrow_error(what, format))
}

/// Lines in batches of at most `rows`. A batch also ends where no more lines have come yet: a partner that waits
/// for the answer to what it has written gets it.
fn lines(
    mut input: Input,
    what: &str,
    rows: usize,
    parse: impl Fn(Vec<(usize, String)>, &str) -> Result<Rows> + 'static,
) -> Result<(Batches, Rows)> {
    let empty = parse(Vec::new(), what)?;
    let what = what.to_owned();
    let mut row = 0;
    let next = move || {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        let more = |input: &Input| !input.buffer().is_empty();
        while batch.len() < rows && bytes < BYTES && (batch.is_empty() || more(&input)) {
            let mut line = Vec::new();
            let most = BYTES as u64 + 1;
            let read = (&mut input).take(most).read_until(b'\n', &mut line);
            if read.map_err(Error::io(&what))? == 0 {
                break;
            }
            row += 1;
            bytes += check_length(line.len(), &what, row)?;
            let line = String::from_utf8(line).map_err(|_| Error::Data {
                file: what.clone(),
                row,
                reason: encoding::NOT_UTF8.into(),
            })?;
            batch.push((row, line.trim_end_matches(['\n', '\r']).to_owned()));
        }
        match batch.is_empty() {
            true => Ok(None),
            false => parse(batch, &what).map(Some),
        }
    };
    Ok((Box::new(next), empty))
}

/// Objects, each on a line of its own, between which lines may be blank, or in an array.
fn objects(input: Input, what: &str, rows: usize) -> Result<(Batches, Rows)> {
    if input.buffer().trim_ascii_start().starts_with(b"[") {
        return array(input, what, rows);
    }
    lines(input, what, rows, |lines, what| {
        let object = |(row, line): (usize, String)| -> Result<Object> {
            serde_json::from_str(&line).map_err(|e| Error::Data {
                file: what.to_owned(),
                row,
                reason: format!(
                    "it is not a JSON object ({e}). Lines of plain text are read with --input-format text"
                ),
            })
        };
        lines
            .into_iter()
            .filter(|(_, line)| !line.trim().is_empty())
            .map(object)
            .collect::<Result<_>>()
            .map(Rows::Objects)
    })
}

/// An array of objects, or of texts, which are objects with a `text`.
fn array(input: Input, what: &str, rows: usize) -> Result<(Batches, Rows)> {
    let bad = |row: usize, reason: String| Error::Data {
        file: what.to_owned(),
        row,
        reason,
    };
    let mut bytes = Vec::new();
    let read = input.take(BYTES as u64 + 1).read_to_end(&mut bytes);
    read.map_err(Error::io(what))?;
    if bytes.len() > BYTES {
        return Err(bad(
            0,
            format!(
                "it is one array of more than {} MiB. Write an object a line",
                BYTES >> 20
            ),
        ));
    }
    let elements: Vec<Box<RawValue>> = serde_json::from_slice(&bytes)
        .map_err(|e| bad(0, format!("it is no array in JSON ({e})")))?;
    let object = |(row, element): (usize, Box<RawValue>)| match element.get().as_bytes() {
        [b'"', ..] => Ok(Object(vec![("text".to_owned(), element)])),
        _ => serde_json::from_str(element.get())
            .map_err(|_| bad(row, "it is neither an object nor a text".into())),
    };
    let mut objects = (1..)
        .zip(elements)
        .map(object)
        .collect::<Result<Vec<_>>>()?;
    let next = move || {
        let rest = objects.split_off(rows.min(objects.len()));
        let batch = std::mem::replace(&mut objects, rest);
        Ok(Some(Rows::Objects(batch)).filter(|batch| batch.len() > 0))
    };
    Ok((Box::new(next), Rows::Objects(Vec::new())))
}

//! `caselens score-table`: a similarity for each row of a table, of any length, for `fine-tune --teacher`.
//!
//! Rows are scored a batch at a time. Batches lie the same in every run and share nothing, and each is written
//! before the next begins, to OUTPUT.checkpoint/rows.csv: the same command reads there how far an interrupted run
//! got, cuts off what is no whole batch, and goes on, to the same bytes in the end.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::{
    folder::checkpoint_of,
    notes::Notes,
    output::{note, progress, write_file},
    runtime::LensArgs,
    table::{Format, ReadOptions, Reader},
    wait,
};
use crate::{
    checkpoint::sha256,
    error::{Error, Result},
    lens::{Lens, rows::ComparedRows},
};

const HEADER: [&str; 4] = ["sentence1", "sentence2", "condition", "similarity"];
/// Columns more with --mentioned.
const MENTIONED: [&str; 2] = ["mentioned1", "mentioned2"];
const ROWS: &str = "rows.csv";
const SETTINGS: &str = "settings.json";
/// What is not worth more memory where rows are only counted or compared.
const READ: usize = 1024;

/// Sentence 1, sentence 2, condition.
type Row = [String; 3];

/// Score the rows of a table, of any length
///
/// Writes CSV with sentence1, sentence2, condition and similarity, which `fine-tune --teacher` reads:
///
///   caselens score-table --data pairs.csv --output scores.csv --model nvidia/NV-Embed-v2 --head none --device cuda
///
/// Rows are written as they are done, to OUTPUT.checkpoint, and OUTPUT appears once all of them are. An
/// interrupted run goes on where it stopped when the same command is given again, to the same result.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The table: CSV, JSON lines, Arrow IPC or Parquet
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// Format of the data [default: by the file's extension, else by its first bytes; CSV has no such bytes]
    #[arg(long, value_enum)]
    data_format: Option<Format>,
    /// File to write, which must not exist yet
    #[arg(short, long, value_name = "FILE.csv")]
    output: PathBuf,
    /// Rows that are scored together: what an interruption costs at most
    #[arg(long, value_name = "N", default_value = "256", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1 << 20))]
    batch_rows: usize,
    /// Column of the data with the first sentence
    #[arg(long, value_name = "NAME", default_value = "sentence1")]
    sentence1_column: String,
    /// Column of the data with the second sentence
    #[arg(long, value_name = "NAME", default_value = "sentence2")]
    sentence2_column: String,
    /// Column of the data with the condition
    #[arg(long, value_name = "NAME", default_value = "condition")]
    condition_column: String,
    /// Write the columns mentioned1 and mentioned2 too: how probable it is that either sentence says anything about the
    /// condition, 0 to 1. The head has to tell that
    #[arg(long)]
    mentioned: bool,
    #[command(flatten)]
    lens: LensArgs,
}

impl Args {
    fn header(&self) -> impl Iterator<Item = &'static str> {
        let more = if self.mentioned { &MENTIONED[..] } else { &[] };
        HEADER.into_iter().chain(more.iter().copied())
    }
}

pub fn run(args: Args) -> Result<()> {
    let (args, output) = (&args, args.output.as_path());
    if fs::symlink_metadata(output).is_ok() {
        return Err(Error::InvalidArgument(format!(
            "{} is there already. Name a file that does not exist with --output.",
            output.display()
        )));
    }
    // What is wrong with a row is said before hours of work.
    let mut rows = Rows::open(args)?;
    rows.pass(usize::MAX)?;
    let total = rows.read;
    let head = args.lens.head.open(&args.lens.model)?;
    let lens = args.lens.with_head(head.as_ref())?;
    if args.mentioned && lens.mentioned().is_none() {
        return Err(Error::InvalidArgument(
            "this head does not tell whether a sentence says anything about a condition. `caselens fit-mentioned` adds that to it; or leave out --mentioned.".into(),
        ));
    }
    let case = lens.case.clone();
    let head = head.map(|head| head.to_bytes()).transpose()?;
    let settings = json!({
        "--model": &lens.encoder.id,
        "--dtype": &lens.encoder.dtype,
        "--device": format!("{:?}", args.lens.model.device),
        "--head": head.map(|bytes| sha256(&bytes)),
        "the settings of embeddings": case,
        "--batch-rows": args.batch_rows,
        "--mentioned": args.mentioned,
        "the version of caselens": env!("CARGO_PKG_VERSION"),
    });
    let checkpoint = checkpoint_of(output);
    let path = checkpoint.join(ROWS);
    begin(&checkpoint, &settings)?;
    let mut out = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&path)
        .map_err(Error::io(&path))?;
    if let Err(TryLockError::WouldBlock) = out.try_lock() {
        return Err(Error::InvalidArgument(format!(
            "{} is being written by another run. Wait for it, or name another --output.",
            path.display()
        )));
    }
    let (done, bytes) = whole_batches(&mut out, &path, Rows::open(args)?, args)?;
    let written = |e| Error::io(&path)(e);
    out.set_len(bytes).map_err(written)?;
    out.seek(SeekFrom::Start(bytes)).map_err(written)?;
    if bytes == 0 {
        let header = args.header().map(str::to_owned).collect();
        out.write_all(&lines(std::iter::once(header)))
            .map_err(written)?;
    }
    let mut rows = Rows::open(args)?;
    rows.pass(done)?;
    let bar = progress("scoring", total as u64);
    bar.set_position(done as u64);
    bar.reset_eta();
    let mut notes = Notes::default();
    loop {
        let first = rows.read + 1;
        let batch = rows.next(args.batch_rows)?;
        if batch.is_empty() {
            break;
        }
        let compared = compared(&lens, &batch, first, &rows.reader.what)?;
        note(&mut notes, &lens, &batch, &compared, first);
        let scored = batch.iter().zip(&compared.similarities).enumerate();
        let scored = scored.map(|(i, (texts, similarity))| {
            let told = compared.mentioned.get(i).filter(|_| args.mentioned);
            let told = told.into_iter().flatten().map(f32::to_string);
            let texts = texts.iter().cloned();
            texts.chain([similarity.to_string()]).chain(told).collect()
        });
        out.write_all(&lines(scored)).map_err(written)?;
        out.sync_data().map_err(written)?;
        bar.inc(batch.len() as u64);
    }
    bar.finish_and_clear();
    notes.tell(&rows.reader.what);
    drop(out);
    fs::rename(&path, output).map_err(Error::io(output))?;
    fs::remove_dir_all(&checkpoint).map_err(Error::io(&checkpoint))?;
    note!("wrote {}: {total} rows", output.display());
    Ok(())
}

/// Makes the folder of an interrupted run, or finds that it is of a run with the same settings.
fn begin(checkpoint: &Path, settings: &Value) -> Result<()> {
    let path = checkpoint.join(SETTINGS);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            return write_file(&path, settings.to_string().as_bytes());
        }
        Err(e) => return Err(Error::io(path)(e)),
    };
    let was: Value = serde_json::from_slice(&bytes).map_err(|e| Error::Data {
        file: path.display().to_string(),
        row: 0,
        reason: format!("it cannot be read ({e}). Remove the folder to begin anew"),
    })?;
    let known = settings.as_object().into_iter().flatten();
    match known.into_iter().find(|(name, now)| was[*name] != **now) {
        Some((option, now)) => Err(Error::CheckpointMismatch {
            option: option.clone(),
            was: was[option].to_string(),
            now: now.to_string(),
        }),
        None => Ok(()),
    }
}

/// How many rows of an interrupted run's output are right, in whole batches, and how many bytes they are.
fn whole_batches(out: &mut File, path: &Path, mut rows: Rows, args: &Args) -> Result<(usize, u64)> {
    let end = last_line_end(out).map_err(Error::io(path))?;
    out.seek(SeekFrom::Start(0)).map_err(Error::io(path))?;
    let mut reader = csv::Reader::from_reader(out.take(end));
    let begins = reader
        .headers()
        .is_ok_and(|header| header.iter().eq(args.header()));
    if !begins {
        return Ok((0, 0));
    }
    let mut right = (0, reader.position().byte());
    let mut record = csv::StringRecord::new();
    loop {
        let expected = rows.next(args.batch_rows)?;
        for row in &expected {
            match reader.read_record(&mut record) {
                Ok(true) if is_of(&record, row, args.header().count()) => {}
                // Cut short, or of other data.
                _ => return Ok(right),
            }
        }
        right = (right.0 + expected.len(), reader.position().byte());
        if expected.is_empty() {
            return Ok(right);
        }
    }
}

fn is_of(record: &csv::StringRecord, row: &Row, cells: usize) -> bool {
    record.len() == cells
        && row.iter().zip(record).all(|(a, b)| a == b)
        && record
            .iter()
            .skip(row.len())
            .all(|cell| cell.parse::<f32>().is_ok())
}

/// Where the last whole line of a file ends.
fn last_line_end(file: &mut File) -> std::io::Result<u64> {
    let mut end = file.seek(SeekFrom::End(0))?;
    let mut block = [0; 4096];
    while end > 0 {
        let start = end.saturating_sub(block.len() as u64);
        let block = &mut block[..(end - start) as usize];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(block)?;
        if let Some(at) = memchr::memrchr(b'\n', block) {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// What comes of a batch, whose first row has the number `first`.
fn compared(lens: &Lens, batch: &[Row], first: usize, what: &str) -> Result<ComparedRows> {
    lens.encoder.forget();
    let compared = wait(lens.compare_rows(batch.iter().map(texts))).map_err(|error| {
        // Which row it is.
        let alone = |row: &Row| wait(lens.compare_rows([texts(row)])).err();
        let is_input = matches!(
            error,
            Error::ConditionTooLong { .. }
                | Error::TextTooLong { .. }
                | Error::InvalidText { .. }
                | Error::NotFinite { .. }
        );
        let mut rows = batch.iter().enumerate();
        match rows.find_map(|(i, row)| Some((i, alone(row).filter(|_| is_input)?))) {
            Some((i, error)) => error.in_row(what, first + i),
            None => error,
        }
    })?;
    for (row, tokens) in &compared.cuts {
        tracing::warn!(
            "{what}, row {}: a sentence was too long; its last {tokens} tokens were not read",
            first + row
        );
    }
    Ok(compared)
}

/// Counts what is worth knowing of a batch, whose first row has the number `first`.
fn note(notes: &mut Notes, lens: &Lens, batch: &[Row], compared: &ComparedRows, first: usize) {
    for row in &compared.unknown {
        notes.unknown(first + row);
    }
    for ([s1, s2, _], row) in batch.iter().zip(first..) {
        for language in [s1, s2].into_iter().filter_map(|text| lens.foreign(text)) {
            notes.foreign(row, language);
        }
    }
}

fn texts(row: &Row) -> [&str; 3] {
    row.each_ref().map(String::as_str)
}

fn lines(rows: impl Iterator<Item = Vec<String>>) -> Vec<u8> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    for row in rows {
        // Memory takes every record.
        let _ = csv.write_record(&row);
    }
    csv.into_inner().unwrap_or_default()
}

/// The rows of a table, in pieces of any size.
struct Rows<'a> {
    args: &'a Args,
    reader: Reader,
    piece: std::vec::IntoIter<Row>,
    /// Rows that were given out.
    read: usize,
}

impl<'a> Rows<'a> {
    fn open(args: &'a Args) -> Result<Self> {
        Ok(Self {
            args,
            reader: Reader::open(&ReadOptions {
                path: Some(args.data.clone()),
                format: args.data_format,
                otherwise: Format::Text,
                rows: READ,
            })?,
            piece: Vec::new().into_iter(),
            read: 0,
        })
    }

    /// The next rows: `count`, or as many as there are.
    fn next(&mut self, count: usize) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        while rows.len() < count {
            match self.piece.next() {
                Some(row) => rows.push(row),
                None => match self.reader.next().transpose()? {
                    Some(piece) => {
                        let first = self.read + rows.len() + 1;
                        self.piece = self.texts(&piece, first)?.into_iter();
                    }
                    None => break,
                },
            }
        }
        self.read += rows.len();
        Ok(rows)
    }

    /// Leaves rows out.
    fn pass(&mut self, mut count: usize) -> Result<()> {
        while count > 0 {
            let passed = self.next(count.min(READ))?.len();
            count = if passed == 0 { 0 } else { count - passed };
        }
        Ok(())
    }

    fn texts(&self, piece: &super::table::Rows, first: usize) -> Result<Vec<Row>> {
        let what = &self.reader.what;
        let columns = [
            &self.args.sentence1_column,
            &self.args.sentence2_column,
            &self.args.condition_column,
        ];
        let mut texts = Vec::with_capacity(3);
        for column in columns {
            texts.push(piece.texts(column, first, what)?.into_iter());
        }
        let row = |i: usize| {
            let mut row = [const { String::new() }; 3];
            for ((text, column), of) in row.iter_mut().zip(columns).zip(&mut texts) {
                *text = of.next().flatten().unwrap_or_default();
                if text.trim().is_empty() {
                    let error = Error::EmptyText {
                        what: format!("the column `{column}`"),
                    };
                    return Err(error.in_row(what, first + i));
                }
            }
            Ok(row)
        };
        (0..piece.len()).map(row).collect()
    }
}

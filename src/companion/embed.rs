//! `caselens embed`: vectors of texts, in lines and in tables.

use std::{
    io::{BufWriter, IsTerminal, Write},
    path::{Path, PathBuf},
};

use clap::ValueEnum;

use super::{
    notes::Notes,
    output::{Ended, rows_done, write_or_keep},
    runtime::LensArgs,
    table::{Format, ReadOptions, Reader, Rows, Vectors, WriteOptions, Writer},
    wait,
};
use crate::{
    embedding::Input,
    error::{Error, Result},
    lens::Lens,
};

/// Columns that hold the text, where none is named; the first that is there.
const TEXT_COLUMNS: [&str; 2] = ["text", "sentence"];
const CONDITION_COLUMN: &str = "condition";

/// Embed texts, or sentences under conditions
///
/// Reads texts, one a line, and prints a vector a line, of unit length. Tables are read and written as well:
/// JSON lines, CSV, Arrow IPC and Parquet; what comes out has the rows and columns of what went in, in their
/// order, and one column more. A plain text gets the encoder's own embedding, pooled as its authors have it
/// (mostly the mean over its tokens), as sentence-transformers computes it; a sentence with a condition beside it
/// goes through the head.
///
///   echo "a text a line" | caselens embed
///   caselens embed --input pairs.parquet --output embedded.parquet
///   some-program | caselens embed --input-format arrow | another-program
///
/// Rows are written as they are done, and a file appears under its name once it is whole; where a row is bad, those
/// before it stay in a file beside it (x.unfinished.jsonl of x.jsonl). Parquet is read from files alone.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// File to read; "-" is standard input
    #[arg(short, long, value_name = "FILE|-", default_value = "-")]
    input: PathBuf,
    /// Format of the input [default: by the file's extension, else by its first bytes; CSV has no such bytes]
    #[arg(long, value_enum)]
    input_format: Option<Format>,
    /// File to write; "-" is standard output
    #[arg(short, long, value_name = "FILE|-", default_value = "-")]
    output: PathBuf,
    /// Format of the output [default: by the file's extension; where it has none, that of the input]
    #[arg(long, value_enum)]
    output_format: Option<Format>,
    /// The same as --output-format jsonl
    #[arg(long, conflicts_with = "output_format")]
    json: bool,
    /// Column of texts or sentences [default: text, else sentence]
    #[arg(long, value_name = "NAME")]
    text_column: Option<String>,
    /// Column of conditions; a row may have none [default: condition, where there is one]
    #[arg(long, value_name = "NAME")]
    condition_column: Option<String>,
    /// Column to write
    #[arg(long, value_name = "NAME", default_value = "embedding")]
    embedding_column: String,
    /// Write a column too that tells how probable it is that the sentence says anything about its condition, 0 to 1; the
    /// head has to tell that
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "mentioned")]
    mentioned: Option<String>,
    /// What to do with a row that has no text, or too long a condition
    #[arg(long, value_enum, default_value = "fail")]
    on_error: OnError,
    /// Most rows of a batch
    #[arg(long, value_name = "N", default_value = "256", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1 << 20))]
    batch_rows: usize,
    #[command(flatten)]
    lens: LensArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OnError {
    /// stop, and say which row it is
    Fail,
    /// leave its embedding empty, and say so
    Null,
}

pub fn run(args: Args) -> Result<()> {
    let file = |path: &Path| Some(path.to_owned()).filter(|p| p.as_os_str() != "-");
    let output = file(&args.output);
    // A wrong name for the output is found before anything is computed.
    let named = match (args.json, args.output_format, &output) {
        (true, ..) => Some(Format::Jsonl),
        (_, None, Some(path)) => Format::of_output(path)?,
        (_, said, _) => said,
    };
    let mut reader = Reader::open(&ReadOptions {
        path: file(&args.input),
        format: args.input_format,
        otherwise: Format::Text,
        rows: args.batch_rows,
    })?;
    let format = named.unwrap_or(match reader.format {
        // A file of Arrow's is whole at its end alone, which is too late for whoever reads a pipe.
        Format::Feather if output.is_none() => Format::Arrow,
        other => other,
    });
    let Some(first) = reader.next().transpose()? else {
        return Ok(());
    };
    match output {
        Some(path) => write_or_keep(&path, |out| {
            let what = path.display().to_string();
            args.embed(&mut reader, first, out, &what, format, true)
        })
        .map(drop),
        None if format.is_binary() && std::io::stdout().is_terminal() => {
            Err(Error::InvalidArgument(
                "a terminal does not show this format. Name a file with --output, or add --output-format jsonl.".into(),
            ))
        }
        None => {
            let mut out = BufWriter::new(std::io::stdout());
            // Whoever reads a pipe is not to take what ends early for the whole.
            let what = "standard output";
            args.embed(&mut reader, first, &mut out, what, format, false)
                .map(drop)
        }
    }
}

impl Args {
    /// Writes the rows. Where it `keeps` those before a bad one, they are a whole table.
    fn embed(
        &self,
        reader: &mut Reader,
        first: Rows,
        out: &mut (impl Write + Send),
        what: &str,
        format: Format,
        keeps: bool,
    ) -> Result<Option<Ended>> {
        if self.mentioned.is_some() && format == Format::Text {
            return Err(Error::InvalidArgument(
                "lines of numbers have no column for --mentioned. Add --output-format jsonl, or name a table with --output.".into(),
            ));
        }
        let mut embedder = Embedder::new(self, &first)?;
        let (first, vectors) = embedder.embed(first, &reader.what)?;
        let options = WriteOptions {
            what: what.to_owned(),
            format,
            column: self.embedding_column.clone(),
            dims: embedder.dims,
        };
        let mut writer = Writer::new(out, options, &first)?;
        let bar = rows_done("embedding");
        let mut next = Ok(Some((first, vectors)));
        let mut written = 0;
        while let Ok(Some((rows, vectors))) = &next {
            let count = rows.len();
            match writer.write(rows, vectors) {
                Err(error @ Error::Io { .. }) => return Err(error),
                Err(error) => {
                    next = Err(error);
                    break;
                }
                Ok(()) => written += count,
            }
            bar.inc(count as u64);
            next = match reader.next().transpose() {
                Ok(Some(rows)) => embedder.embed(rows, &reader.what).map(Some),
                Ok(None) => Ok(None),
                Err(error) => Err(error),
            };
        }
        bar.finish_and_clear();
        embedder.notes.tell(&reader.what);
        match next {
            Ok(_) => writer.finish().map(|()| None),
            // The error that matters is the one before.
            Err(error) if keeps && written > 0 && writer.finish().is_ok() => Ok(Some(Ended {
                rows: written,
                error,
            })),
            Err(error) => Err(error),
        }
    }
}

/// A row's place among those that are embedded together, its vector, and the probability that its text says
/// something about the condition, where that is told.
type Embedded = (usize, Vec<f32>, Option<f32>);

/// Turns rows into vectors.
struct Embedder<'a> {
    args: &'a Args,
    text: &'a str,
    condition: &'a str,
    lens: Lens,
    /// Whether the lens has what conditions need, the head.
    conditional: bool,
    /// Numbers of an embedding: all rows' have the same width.
    dims: usize,
    /// Rows that were embedded.
    done: usize,
    notes: Notes,
}

impl<'a> Embedder<'a> {
    fn new(args: &'a Args, first: &Rows) -> Result<Self> {
        let text = args.text_column.as_deref().unwrap_or_else(|| {
            let mut names = TEXT_COLUMNS.into_iter();
            names
                .find(|name| first.has(name))
                .unwrap_or(TEXT_COLUMNS[0])
        });
        let condition = args.condition_column.as_deref().unwrap_or(CONDITION_COLUMN);
        let conditional = first.has(condition);
        let lens = open(args, conditional)?;
        let dims = match conditional {
            true => lens.dims(),
            false => lens.encoder.shape.hidden_size,
        };
        Ok(Self {
            args,
            text,
            condition,
            lens,
            conditional,
            dims,
            done: 0,
            notes: Notes::default(),
        })
    }

    /// An embedding a row, `[dims]`; `None` for one that cannot have any, where that was asked for. The rows come back with the
    /// column of --mentioned. `what` names the input.
    fn embed(&mut self, rows: Rows, what: &str) -> Result<(Rows, Vectors)> {
        let first = self.done + 1;
        let texts = rows.texts(self.text, first, what)?;
        let named = self.args.condition_column.is_some();
        let conditions = match rows.has(self.condition) || named {
            true => rows.texts(self.condition, first, what)?,
            false => vec![None; texts.len()],
        };
        // JSON lines may have their first condition late.
        if !self.conditional && conditions.iter().any(Option::is_some) {
            self.lens = open(self.args, true)?;
            self.conditional = true;
        }
        self.done += texts.len();
        if self.args.mentioned.is_some() && self.lens.mentioned().is_none() {
            return Err(Error::InvalidArgument(
                "--mentioned is for sentences under conditions, with a head that tells that. `caselens fit-mentioned` adds it to a head; or leave it out.".into(),
            ));
        }
        let mut mentioned = vec![None; texts.len()];
        let mut vectors = vec![None; texts.len()];
        let (mut places, mut inputs) = (Vec::new(), Vec::new());
        for (i, (text, condition)) in texts.iter().zip(&conditions).enumerate() {
            match self.input(text.as_deref(), condition.as_deref()) {
                Ok(input) => {
                    places.push(i);
                    inputs.push(input);
                }
                Err(error) => self.refuse(error, first + i, what)?,
            }
        }
        for (i, vector, probability) in self.run(&inputs, &places, first, what)? {
            vectors[i] = Some(vector);
            mentioned[i] = probability;
        }
        for (i, text) in texts.iter().enumerate() {
            let language = text.as_deref().and_then(|text| self.lens.foreign(text));
            if let Some(language) = language {
                self.notes.foreign(first + i, language);
            }
        }
        let rows = match &self.args.mentioned {
            Some(column) => rows.with_numbers(column, &mentioned, what)?,
            None => rows,
        };
        Ok((rows, vectors))
    }

    fn input(&self, text: Option<&str>, condition: Option<&str>) -> Result<Input> {
        let text = text.ok_or_else(|| Error::EmptyText {
            what: format!("the column `{}`", self.text),
        })?;
        let (makes, input) = match condition {
            Some(condition) => (
                self.lens.dims(),
                self.lens.encoder.conditional(text, condition, "")?,
            ),
            None => (
                self.lens.encoder.shape.hidden_size,
                self.lens.encoder.single("the text", text)?,
            ),
        };
        match makes == self.dims {
            true => Ok(input),
            false => Err(Error::InvalidArgument(format!(
                "its embedding has {makes} numbers and those before it have {}. Give every row a condition, or none.",
                self.dims
            ))),
        }
    }

    /// Embeds inputs that lie at `places`. That a condition leaves no room for its sentence shows only here, or that an
    /// embedding is no number: the rows of such a batch go one by one, to find which they are.
    fn run(
        &mut self,
        inputs: &[Input],
        places: &[usize],
        first: usize,
        what: &str,
    ) -> Result<Vec<Embedded>> {
        match wait(self.lens.run(inputs)) {
            Ok(rows) => {
                for (input, tokens) in &rows.cuts {
                    tracing::warn!(
                        "{what}, row {}: the text was too long; its last {tokens} tokens were not read",
                        first + places[*input]
                    );
                }
                for (input, _) in &rows.unknown {
                    self.notes.unknown(first + places[*input]);
                }
                let mentioned = rows.mentioned.into_iter().chain(std::iter::repeat(None));
                let rows = places.iter().zip(rows.vectors).zip(mentioned);
                Ok(rows
                    .map(|((&place, vector), mentioned)| (place, vector, mentioned))
                    .collect())
            }
            Err(error @ (Error::ConditionTooLong { .. } | Error::NotFinite { .. })) => match places
            {
                &[place] => self.refuse(error, first + place, what).map(|()| Vec::new()),
                _ => {
                    let mut rows = Vec::with_capacity(inputs.len());
                    for i in 0..inputs.len() {
                        rows.extend(self.run(&inputs[i..=i], &places[i..=i], first, what)?);
                    }
                    Ok(rows)
                }
            },
            Err(error) => Err(error),
        }
    }

    fn refuse(&self, error: Error, row: usize, what: &str) -> Result<()> {
        let error = error.in_row(what, row);
        match self.args.on_error {
            OnError::Fail => Err(error),
            OnError::Null => {
                tracing::warn!("{error} Its embedding is left empty.");
                Ok(())
            }
        }
    }
}

/// A head is needed for conditions alone: plain texts work with any encoder.
fn open(args: &Args, conditional: bool) -> Result<Lens> {
    match conditional {
        true => args.lens.open(),
        false => args.lens.with_head(None),
    }
}

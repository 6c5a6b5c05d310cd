//! `caselens words`: what a language model says of each text in one word.

use std::{
    io::{BufWriter, Write},
    path::PathBuf,
};

use serde::Serialize;

use super::{
    numbers::count,
    output::{progress, write_whole},
    runtime::{ModelArgs, prompt},
    table::data::columns,
};
use crate::{
    data::columns::Columns,
    error::{Error, Result},
    model::language_model::LanguageModel,
    text::Prompt,
};

/// Say in one word what each text of a table is, under a condition
///
/// A language model is asked for one word in a prompt (PonTE), and what it writes up to the closing quote stands beside the
/// text: what the embedding of the same prompt is about. Without a condition it is the word of the text by itself.
///
///   caselens words --model SmolLM2-135M-Instruct.Q4_1.gguf --data reviews.csv --condition "the product category"
///   caselens words --model my-llama --data pairs.parquet --text sentence1 --condition-column condition --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A table of texts (CSV, JSON lines, Arrow IPC or Parquet)
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// Column of texts
    #[arg(long, value_name = "NAME", default_value = "text")]
    text: String,
    /// What the words are to be about [default: nothing, texts by themselves]
    #[arg(short, long, value_name = "TEXT")]
    condition: Option<String>,
    /// Column of conditions, for a condition a row; a row may have none
    #[arg(long, value_name = "NAME", conflicts_with = "condition")]
    condition_column: Option<String>,
    /// What text and condition stand in: a published prompt's name, a template with {text} and {condition}, or a file that
    /// holds one; see `caselens evaluate --help` [default: express-word-terms]
    #[arg(long, value_name = "NAME|TEMPLATE|FILE", value_parser = prompt)]
    prompt: Option<Prompt>,
    /// Most tokens of a word
    #[arg(long, value_name = "N", default_value = "10", value_parser = count)]
    tokens: usize,
    /// The first N rows alone
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// File to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write one JSON object a line instead of CSV: text, condition and word
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArgs,
}

#[derive(Serialize)]
struct Row<'a> {
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<&'a str>,
    word: &'a str,
}

pub fn run(args: Args) -> Result<()> {
    let mut names = vec![args.text.as_str()];
    names.extend(args.condition_column.as_deref());
    let table = columns(&args.data, &names, &[], args.limit)?;
    if let Some(name) = names.iter().find(|name| !table.has(name)) {
        return Err(Error::InvalidArgument(format!(
            "{} has no column `{name}`. Name the right one with the option for that column.",
            args.data.display()
        )));
    }
    let model = args.model.language_model()?;
    match &args.output {
        Some(path) => write_whole(path, |out| {
            args.write(&model, &table, out, &path.display().to_string())
        })
        .map(drop),
        None => {
            let mut out = BufWriter::new(std::io::stdout());
            args.write(&model, &table, &mut out, "standard output")
        }
    }
}

impl Args {
    /// A line a text, each as soon as it is known. `what` names the output in errors.
    fn write(
        &self,
        model: &LanguageModel,
        table: &Columns,
        out: &mut impl Write,
        what: &str,
    ) -> Result<()> {
        let conditional = self.condition.is_some() || self.condition_column.is_some();
        let prompt = self.prompt.clone().unwrap_or_default();
        if !self.json {
            let header = ["text", "condition", "word"];
            let header = header
                .into_iter()
                .filter(|name| conditional || *name != "condition");
            out.write_all(&csv_line(header)?).map_err(Error::io(what))?;
        }
        let bar = progress("words", table.rows() as u64);
        for row in 0..table.rows() {
            let file = self.data.display().to_string();
            let text = table.cell(&self.text, row).ok_or_else(|| Error::Data {
                file: file.clone(),
                row: row + 1,
                reason: format!("the column `{}` is empty", self.text),
            })?;
            let condition = match &self.condition_column {
                Some(column) => table.cell(column, row),
                None => self.condition.as_deref(),
            };
            let said = model
                .word(&prompt, text, condition, self.tokens, "")
                .map_err(|error| error.in_row(&file, row + 1))?;
            if said.cut > 0 {
                tracing::warn!(
                    "{file}, row {}: the text was too long; its last {} tokens were not read",
                    row + 1,
                    said.cut
                );
            }
            let line = match self.json {
                true => json_line(&Row {
                    text,
                    condition,
                    word: &said.word,
                })?,
                false => {
                    let condition = conditional.then(|| condition.unwrap_or_default());
                    csv_line([text].into_iter().chain(condition).chain([&*said.word]))?
                }
            };
            out.write_all(&line)
                .and_then(|()| out.flush())
                .map_err(Error::io(what))?;
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(())
    }
}

fn json_line(row: &Row<'_>) -> Result<Vec<u8>> {
    let line = serde_json::to_string(row).map_err(|e| unwritten(&e))?;
    Ok(format!("{line}\n").into_bytes())
}

fn csv_line<'a>(cells: impl IntoIterator<Item = &'a str>) -> Result<Vec<u8>> {
    let mut line = csv::Writer::from_writer(Vec::new());
    line.write_record(cells).map_err(|e| unwritten(&e))?;
    line.into_inner().map_err(|e| unwritten(&e))
}

fn unwritten(error: &dyn std::fmt::Display) -> Error {
    Error::InvalidArgument(format!("the words cannot be written ({error})."))
}

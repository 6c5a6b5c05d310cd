//! `caselens score`: two sentences, some conditions, one similarity each.

use std::path::PathBuf;

use serde::Deserialize;

use super::{
    input::lines,
    output::{json_line, text_line},
    runtime::LensArgs,
    table::Format,
    wait,
};
use crate::{
    error::{Error, Result},
    lens::{Comparison, any::AnyLens},
};

mod table;

/// Compare two sentences under one or more conditions
///
/// Prints a line per condition: the similarity (cosine), the same as a rating from 1 to 5, and for
/// comparison the similarity without a condition.
///
///   caselens score "Three children build a sandcastle." "A lone surfer waits." \
///       --condition "the number of people" --condition "the activity"
///
/// Without sentences, reads JSON lines {"sentence1", "sentence2", "condition"} from standard input.
///
/// With --data, scores the rows of a table of any length, and writes what `distill --teacher` reads:
///
///   caselens score --data pairs.csv --output scores.csv --model nvidia/NV-Embed-v2 --head none --device cuda
///
/// Rows are written as they are done, to OUTPUT.checkpoint, and OUTPUT appears once all of them are. An
/// interrupted run goes on where it stopped when the same command is given again, to the same result.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The first sentence
    #[arg(requires = "sentence2", value_name = "SENTENCE 1")]
    sentence1: Option<String>,
    /// The second sentence
    #[arg(value_name = "SENTENCE 2")]
    sentence2: Option<String>,
    /// A condition; may be given several times
    #[arg(short, long, value_name = "TEXT")]
    condition: Vec<String>,
    /// Print one JSON object a line: condition, similarity, rating, unconditional
    #[arg(long)]
    json: bool,
    /// Score the rows of a table: CSV, JSON lines, Arrow IPC or Parquet
    #[arg(long, value_name = "FILE", requires = "output", conflicts_with_all = ["sentence1", "condition", "json"])]
    data: Option<PathBuf>,
    /// Format of the data [default: by the file's extension, else by its first bytes; CSV has no such bytes]
    #[arg(long, value_enum, requires = "data")]
    data_format: Option<Format>,
    /// File to write the scores of --data to: CSV with sentence1, sentence2, condition, similarity
    #[arg(short, long, value_name = "FILE.csv", requires = "data")]
    output: Option<PathBuf>,
    /// Rows of --data that are scored together: what an interruption costs at most
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
    #[command(flatten)]
    lens: LensArgs,
}

#[derive(Deserialize)]
struct Row {
    sentence1: String,
    sentence2: String,
    condition: String,
}

pub fn run(args: Args) -> Result<()> {
    if let (Some(data), Some(output)) = (&args.data, &args.output) {
        return table::run(&args, data, output);
    }
    let lens = args.lens.open()?;
    let (Some(s1), Some(s2)) = (&args.sentence1, &args.sentence2) else {
        return score_lines(&lens, args.json);
    };
    if args.condition.is_empty() {
        return Err(Error::InvalidArgument(
            "no condition was given. Add --condition \"the place\".".into(),
        ));
    }
    let conditions: Vec<&str> = args.condition.iter().map(String::as_str).collect();
    for comparison in wait(lens.compare(s1, s2, &conditions))? {
        print(&comparison, args.json)?;
    }
    Ok(())
}

fn score_lines(lens: &AnyLens, json: bool) -> Result<()> {
    for line in lines() {
        let line = line?;
        if line.is_empty() {
            continue;
        }
        let row: Row = line.json("{\"sentence1\", \"sentence2\", \"condition\"}")?;
        let results = wait(lens.compare(&row.sentence1, &row.sentence2, &[&row.condition]))
            .map_err(|e| line.error(e.to_string()))?;
        for comparison in results {
            print(&comparison, json)?;
        }
    }
    Ok(())
}

fn print(comparison: &Comparison, json: bool) -> Result<()> {
    if json {
        return json_line(comparison);
    }
    text_line(&format!(
        "{:>7.3}   rating {:.1}   {}   (without a condition {:.3}){}",
        comparison.similarity,
        comparison.rating,
        comparison.condition,
        comparison.unconditional,
        if comparison.truncated {
            "   [a sentence was too long: its end was not read]"
        } else {
            ""
        },
    ))
}

//! `caselens fit-mentioned`: what tells whether a sentence says anything about a condition, fitted to an encoder as it is in use.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{
    embedded::embedded,
    numbers::{positive, share},
    output::{json_line, note, percent, text_line, write_file},
    runtime::{LensArgs, without_layers},
    table::data::mentions,
};
use crate::{
    data::mixture::Mention,
    error::{Error, Result},
    evaluation::mentioned::MentionScores,
    head::Mentioned,
    lens::{Embeddings, Lens},
    training::mentioned::{fit, threshold},
};

/// Fit what tells whether a sentence says anything about a condition
///
/// Takes an encoder, rounded or not, and its head; embeds the sentences of tables with sentence, condition and
/// mentioned (1 or 0), and writes the head again with a logistic regression on these embeddings: weight, bias and
/// the threshold that tells the two kinds apart best. `score`, the npm package and the page then say where a
/// sentence says nothing about a condition. Prints how well that is told (AUC) and what lies below the threshold.
///
///   caselens fit-mentioned --model my-q4_0.gguf --head my.head.safetensors --data mentions.csv --output my.head.safetensors
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A table with sentence, condition and mentioned; may be given several times
    #[arg(long, value_name = "FILE", required = true)]
    data: Vec<PathBuf>,
    /// Such a table to take the threshold from, and to report on [default: --data]
    #[arg(long, value_name = "FILE")]
    validation: Vec<PathBuf>,
    /// The head to write; one that is there is replaced
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Weight of the squared weights beside the loss (L2): more keeps them smaller. 1 / C of scikit-learn
    #[arg(long, value_name = "X", default_value = "0.1", value_parser = positive)]
    l2: f64,
    /// The threshold [default: what tells the two kinds apart best]
    #[arg(long, value_name = "P", value_parser = share)]
    threshold: Option<f32>,
    /// Print JSON, figures as fractions
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    lens: LensArgs,
}

pub fn run(args: Args) -> Result<()> {
    let train = read(&args.data)?;
    let validation = match args.validation.is_empty() {
        true => None,
        false => Some(read(&args.validation)?),
    };
    let mut head = args.lens.head.open(&args.lens.model)?;
    // Without what it tells already, by which long texts would be read.
    if let Some(head) = &mut head {
        head.mentioned = None;
    }
    let lens = args.lens.with_head(head.as_ref())?;
    let embeddings = embed(&lens, &train)?.vectors;
    let mut fitted = fit(&embeddings, &truths(&train), args.l2)?;
    let scores = match &validation {
        None => scores(&mut fitted, &embeddings, &truths(&train), args.threshold),
        Some(rows) => {
            let embeddings = embed(&lens, rows)?.vectors;
            scores(&mut fitted, &embeddings, &truths(rows), args.threshold)
        }
    };
    let mut file = head.unwrap_or_else(|| without_layers(&lens));
    file.mentioned = Some(fitted);
    write_file(&args.output, &file.to_bytes()?)?;
    if args.json {
        return json_line(&json!({"output": args.output, "rows": train.len(), "scores": scores}));
    }
    print(&scores)?;
    note!("wrote {}", args.output.display());
    Ok(())
}

/// The rows of several tables.
fn read(paths: &[PathBuf]) -> Result<Vec<Mention>> {
    let tables = paths.iter().map(|path| mentions(path));
    Ok(tables.collect::<Result<Vec<_>>>()?.concat())
}

fn truths(rows: &[Mention]) -> Vec<bool> {
    rows.iter().map(|row| row.mentioned).collect()
}

fn scores(
    fitted: &mut Mentioned,
    embeddings: &[Vec<f32>],
    truths: &[bool],
    asked: Option<f32>,
) -> MentionScores {
    let probabilities: Vec<f32> = embeddings
        .iter()
        .map(|row| fitted.probability(row))
        .collect();
    fitted.threshold = asked.unwrap_or_else(|| threshold(&probabilities, truths));
    MentionScores::of(&probabilities, truths, fitted.threshold)
}

/// The sentences under their conditions.
fn embed(lens: &Lens, rows: &[Mention]) -> Result<Embeddings> {
    let items = rows
        .iter()
        .map(|row| (row.text.as_str(), Some(row.condition.as_str())));
    embedded(lens, &items.collect::<Vec<_>>())
}

/// How well a lens tells what the sentences of a table say.
///
/// # Errors
/// The lens tells nothing of that, or as [`mentions`].
pub fn evaluated(lens: &Lens, path: &Path) -> Result<MentionScores> {
    let Some(mentioned) = lens.mentioned() else {
        return Err(Error::InvalidArgument(
            "this head does not tell whether a sentence says anything about a condition. `caselens fit-mentioned` adds that to it.".into(),
        ));
    };
    let rows = mentions(path)?;
    let probabilities = embed(lens, &rows)?.mentioned;
    let probabilities: Vec<f32> = probabilities.into_iter().flatten().collect();
    Ok(MentionScores::of(
        &probabilities,
        &truths(&rows),
        mentioned.threshold,
    ))
}

/// The figures, for people.
pub fn print(scores: &MentionScores) -> Result<()> {
    text_line(&format!(
        "{} rows, {} of which say something about their condition\nAUC {}\nbelow the threshold of {:.3}: {} % of all, {} % of those that say something, {} % of the others",
        scores.rows,
        scores.mentioned,
        percent(scores.auc),
        scores.threshold,
        percent(scores.below),
        percent(scores.below_of_mentioned),
        percent(scores.below_of_others),
    ))
}

//! `caselens evaluate`: how well similarities agree with human ratings.

use std::{
    io::BufRead,
    path::{Path, PathBuf},
};

use candle_core::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::{
    cache::{self, Inputs},
    compare::compare,
    output::{json_line, progress, text_line},
    runtime::{LensArgs, describe},
};
use crate::{
    data::{
        baseline::ConditionOnly,
        dataset::{Dataset, Row},
    },
    embedding::Case,
    error::{Error, Result},
    evaluation::{
        breakdown,
        confidence::{Groups, Intervals},
        metrics::Scores,
    },
    head::HeadFile,
    lens::any::AnyLens,
    similarity::cosine,
    training::head::predict,
};

/// Rows scored in one go.
const CHUNK: usize = 64;
/// The bootstrap's seed, here and in reports, so that the two agree.
pub const CONFIDENCE_SEED: u64 = 0;

/// Evaluate on C-STS data: Spearman, Pearson, accuracy
///
/// Accuracy is the share of sentence pairs whose higher-rated condition gets the higher similarity:
/// over all pairs (ties in the ratings count as wrong, as in the papers) and over pairs without ties.
/// Rows with the label −1 are left out. The condition-only baseline guesses from the condition alone
/// (mean training rating, carried in the head's file): a result is worth what it adds to that.
///
///   caselens evaluate --data csts_validation.csv --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Data: CSV with sentence1, sentence2, condition, label
    #[arg(long, value_name = "FILE.csv")]
    data: PathBuf,
    /// Evaluate the first N rows alone
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Score these similarities instead of computing them: JSON lines {"similarity": x}, a line a row of
    /// the data (browser runs are scored so)
    #[arg(long, value_name = "FILE.jsonl")]
    similarities: Option<PathBuf>,
    /// Training data for the condition-only baseline [default: what the head carries]
    #[arg(long, value_name = "FILE.csv")]
    train: Option<PathBuf>,
    /// Add 95 % confidence intervals: bootstrap over sentence pairs, 1000 resamples, the same every time
    #[arg(long)]
    confidence: bool,
    /// Where embeddings of an LLM encoder are kept [default: the user's cache folder]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Print JSON, figures as fractions
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    lens: LensArgs,
}

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    scores: Scores,
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<Intervals>,
    rows: usize,
    pairs: usize,
    /// The same figures of the baseline; null where no training data is known.
    condition_only: Option<Scores>,
    by_occurrence: Vec<Bucket>,
}

/// Rows whose condition occurred so often in training.
#[derive(Serialize)]
struct Bucket {
    occurrences: String,
    rows: usize,
    spearman: Option<f64>,
}

#[derive(Deserialize)]
struct Line {
    similarity: f64,
}

pub fn run(args: Args) -> Result<()> {
    let data = Dataset::read(&args.data, args.limit)?;
    let head = match args.lens.head.open(&args.lens.model) {
        // For similarities from elsewhere a head only brings its baseline: without one there is none.
        Err(_) if args.similarities.is_some() && args.lens.head.head.is_none() => None,
        head => head?,
    };
    let (similarities, described) = match &args.similarities {
        Some(path) => (read_similarities(path, &data)?, path.display().to_string()),
        None => compute(&args, head.as_ref(), &data)?,
    };
    let baseline = match &args.train {
        Some(path) => {
            let train = Dataset::read(path, None)?;
            Some(ConditionOnly::fit(
                train.rows.iter().map(|r| (r.condition.as_str(), r.rating)),
            ))
        }
        None => head.and_then(|h| h.condition_only),
    };
    let report = report(&data, &similarities, baseline.as_ref(), args.confidence);
    match args.json {
        true => json_line(&report),
        false => print(&report, &described),
    }
}

fn compute(args: &Args, head: Option<&HeadFile>, data: &Dataset) -> Result<(Vec<f64>, String)> {
    let lens = args.lens.with_head(head)?;
    let case = match head {
        Some(head) => head.spec.case.clone(),
        None => args.lens.case.case(&args.lens.model)?,
    };
    let described = match head {
        Some(head) => describe(&head.spec),
        None => format!("{} without a head", lens.encoder_id()),
    };
    let similarities = match lens.is_decoder() {
        true => {
            let folder = args.cache.clone().unwrap_or_else(cache::default_folder);
            kept_similarities(&lens, &case, head, data, &folder)?
        }
        false => similarities(&lens, data)?,
    };
    Ok((similarities, described))
}

/// Similarities from embeddings that are kept on disk: an interrupted run of hours goes on where it stopped.
fn kept_similarities(
    lens: &AnyLens,
    case: &Case,
    head: Option<&HeadFile>,
    data: &Dataset,
    folder: &Path,
) -> Result<Vec<f64>> {
    let mut inputs = Inputs::default();
    let examples = inputs.examples(data);
    let numbers = cache::embeddings(lens, case, &inputs, folder)?;
    let width = case.dims(lens.hidden_size());
    if let Some(head) = head {
        let shape = (inputs.distinct.len(), width);
        let embeddings = Tensor::from_vec(numbers, shape, &Device::Cpu)?;
        return predict(&embeddings, head, &examples);
    }
    let row = |i: u32| &numbers[i as usize * width..(i as usize + 1) * width];
    Ok(examples
        .iter()
        .map(|example| f64::from(cosine(row(example.first), row(example.second))))
        .collect())
}

fn similarities(lens: &AnyLens, data: &Dataset) -> Result<Vec<f64>> {
    let bar = progress("evaluating", data.rows.len() as u64);
    let mut all = Vec::with_capacity(data.rows.len());
    for chunk in data.rows.chunks(CHUNK) {
        let compared = compare(lens, chunk.iter().map(Row::texts))?;
        all.extend(compared.similarities.into_iter().map(f64::from));
        bar.inc(chunk.len() as u64);
    }
    bar.finish_and_clear();
    Ok(all)
}

/// Reads a similarity a row of the file; those of invalid rows are passed over.
fn read_similarities(path: &std::path::Path, data: &Dataset) -> Result<Vec<f64>> {
    let name = path.display().to_string();
    let bad = |row: usize, reason: String| Error::Data {
        file: name.clone(),
        row,
        reason,
    };
    let file = std::fs::File::open(path).map_err(Error::io(path))?;
    let mut all = Vec::with_capacity(data.rows.len());
    let mut lines = 0;
    for line in std::io::BufReader::new(file).lines() {
        let line = line.map_err(Error::io(path))?;
        lines += 1;
        let Some(kept) = data.kept.get(lines - 1) else {
            return Err(bad(
                lines,
                format!("the data has {} rows only", data.kept.len()),
            ));
        };
        let line: Line = serde_json::from_str(&line)
            .map_err(|e| bad(lines, format!("it is not {{\"similarity\": number}} ({e})")))?;
        if kept.is_some() {
            all.push(line.similarity);
        }
    }
    match lines == data.kept.len() {
        true => Ok(all),
        false => Err(bad(
            lines,
            format!("it ends here, the data has {} rows", data.kept.len()),
        )),
    }
}

fn report(
    data: &Dataset,
    similarities: &[f64],
    baseline: Option<&ConditionOnly>,
    confidence: bool,
) -> Report {
    let ratings = data.ratings();
    let by_occurrence = baseline.map_or_else(Vec::new, |baseline| {
        breakdown::by_occurrence(data, baseline)
            .into_iter()
            .map(|part| {
                let scores = part.scores(similarities, data);
                Bucket {
                    occurrences: part.name,
                    rows: scores.rows,
                    spearman: scores.spearman,
                }
            })
            .collect()
    });
    Report {
        scores: Scores::of(similarities, &ratings, &data.pairs),
        confidence: confidence
            .then(|| Groups::of(data).intervals(similarities, &ratings, CONFIDENCE_SEED)),
        rows: data.rows.len(),
        pairs: data.pairs.len(),
        condition_only: baseline.map(|baseline| {
            let guessed: Vec<f64> = data
                .rows
                .iter()
                .map(|r| f64::from(baseline.rating(&r.condition)))
                .collect();
            Scores::of(&guessed, &ratings, &data.pairs)
        }),
        by_occurrence,
    }
}

fn print(report: &Report, described: &str) -> Result<()> {
    text_line(&format!(
        "{described}\n{} rows, {} pairs\n",
        report.rows, report.pairs
    ))?;
    text_line("                     Spearman  Pearson  accuracy  accuracy without ties")?;
    let line = |name: &str, s: &Scores| {
        text_line(&format!(
            "{name:<20} {:>8.2} {:>8.2} {:>9.2} {:>22.2}",
            100.0 * s.spearman,
            100.0 * s.pearson,
            100.0 * s.accuracy,
            100.0 * s.accuracy_untied
        ))
    };
    line("this", &report.scores)?;
    if let Some(interval) = &report.confidence {
        for (name, end) in [("  95 % from", 0), ("  95 % to", 1)] {
            let bound = Scores {
                spearman: interval.spearman[end],
                pearson: interval.pearson[end],
                accuracy: interval.accuracy[end],
                accuracy_untied: interval.accuracy_untied[end],
            };
            line(name, &bound)?;
        }
    }
    if let Some(baseline) = &report.condition_only {
        line("condition only", baseline)?;
    }
    for bucket in &report.by_occurrence {
        text_line(&format!(
            "condition seen {:<5} {:>8}   {} rows",
            bucket.occurrences,
            bucket
                .spearman
                .map_or("–".into(), |s| format!("{:.2}", 100.0 * s)),
            bucket.rows
        ))?;
    }
    Ok(())
}

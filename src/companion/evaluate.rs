//! `caselens evaluate`: how well similarities agree with human ratings.

use std::path::{Path, PathBuf};

use candle_core::{Device, Tensor};
use serde::Serialize;

use super::{
    cache::{self, examples},
    fit_mentioned::{self, evaluated},
    output::{json_line, progress, text_line},
    runtime::{LensArgs, describe},
    table, wait,
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
        metrics::{Decisions, Scores},
    },
    head::HeadFile,
    lens::{Lens, rows::Distinct},
    similarity::cosine,
    training::head::predict,
};

/// The column of similarities from elsewhere.
const SIMILARITY: &str = "similarity";
/// Rows scored in one go.
const CHUNK: usize = 64;
/// The bootstrap's seed, here and in reports, so that the two agree.
pub const CONFIDENCE_SEED: u64 = 0;

/// Evaluate on C-STS data: Spearman, Pearson, accuracy
///
/// Accuracy is the share of sentence pairs whose higher-rated condition gets the higher similarity:
/// over all pairs (ties in the ratings count as wrong, as in the papers) and over pairs without ties.
/// Rows with the label −1 are left out. For rows that are rated clearly one way or the other it also says how often
/// the similarity is on the right side (at least 0.6, at most 0.4). The condition-only baseline guesses from the condition alone
/// (mean training rating, carried in the head's file): a result is worth what it adds to that.
///
///   caselens evaluate --data csts_validation.csv --json
///
/// With --mentioned, how well the head tells whether a sentence says anything about a condition: the area under the
/// ROC curve, and what lies below its threshold.
///
///   caselens evaluate --mentioned mentions.csv
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Data: a table with sentence1, sentence2, condition and label (CSV, JSON lines, Arrow IPC or Parquet)
    #[arg(long, value_name = "FILE", required_unless_present = "mentioned")]
    data: Option<PathBuf>,
    /// A table with sentence, condition and mentioned (1 or 0): evaluate what the head tells of that instead
    #[arg(long, value_name = "FILE", conflicts_with_all = ["data", "limit", "split", "similarities", "train", "confidence"])]
    mentioned: Option<PathBuf>,
    /// Evaluate the first N rows alone
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Evaluate on the 30 % of the sentence pairs that CASE's protocol leaves for it; SEED draws them. `train-head
    /// --validation` with the same seed tunes on the others
    #[arg(long, value_name = "SEED", conflicts_with = "limit")]
    split: Option<u64>,
    /// Score these similarities instead of computing them: a table with a column `similarity`, and a row for
    /// each of the data (browser runs are scored so)
    #[arg(long, value_name = "FILE")]
    similarities: Option<PathBuf>,
    /// Training data for the condition-only baseline [default: what the head carries]
    #[arg(long, value_name = "FILE")]
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
    /// That the encoder or the head was trained with, where its record says so: `compare-runs` pairs runs by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    /// How far similarities may be taken at their word; null where all ratings lie in between.
    decisions: Option<Decisions>,
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

pub fn run(args: Args) -> Result<()> {
    if let Some(path) = &args.mentioned {
        let scores = evaluated(&args.lens.open()?, path)?;
        return match args.json {
            true => json_line(&scores),
            false => fit_mentioned::print(&scores),
        };
    }
    let Some(data) = &args.data else {
        return Err(Error::InvalidArgument("no data is named.".into()));
    };
    let mut data = table::data::dataset(data, args.limit)?;
    if let Some(seed) = args.split {
        [_, data] = data.case_split(seed)?;
    }
    let head = match args.lens.head.open(&args.lens.model) {
        // For similarities from elsewhere a head only brings its baseline: without one there is none.
        Err(_) if args.similarities.is_some() && args.lens.head.head.is_none() => None,
        head => head?,
    };
    let (similarities, described) = match &args.similarities {
        Some(path) => (read_similarities(path, &data)?, path.display().to_string()),
        None => compute(&args, head.as_ref(), &data)?,
    };
    let seed = head
        .as_ref()
        .and_then(|head| head.spec.training["options"]["seed"].as_u64());
    let baseline = match &args.train {
        Some(path) => {
            let train = table::data::dataset(path, None)?;
            Some(ConditionOnly::fit(
                train.rows.iter().map(|r| (r.condition.as_str(), r.rating)),
            ))
        }
        None => head.and_then(|h| h.condition_only),
    };
    let report = Report {
        seed,
        ..report(&data, &similarities, baseline.as_ref(), args.confidence)
    };
    match args.json {
        true => json_line(&report),
        false => print(&report, &described),
    }
}

fn compute(args: &Args, head: Option<&HeadFile>, data: &Dataset) -> Result<(Vec<f64>, String)> {
    let lens = args.lens.with_head(head)?;
    let case = lens.case.clone();
    let described = match head {
        Some(head) => describe(&head.spec),
        None => format!("{} without a head", &lens.encoder.id),
    };
    let similarities = match lens.encoder.is_decoder() {
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
    lens: &Lens,
    case: &Case,
    head: Option<&HeadFile>,
    data: &Dataset,
    folder: &Path,
) -> Result<Vec<f64>> {
    let mut inputs = Distinct::default();
    let examples = examples(&mut inputs, data);
    let numbers = cache::embeddings(lens, case, &inputs, folder)?;
    let width = case.dims(lens.encoder.shape.hidden_size);
    if let Some(head) = head {
        let shape = (inputs.inputs.len(), width);
        let embeddings = Tensor::from_vec(numbers, shape, &Device::Cpu)?;
        return predict(&embeddings, head, &examples);
    }
    let row = |i: u32| &numbers[i as usize * width..(i as usize + 1) * width];
    Ok(examples
        .iter()
        .map(|example| f64::from(cosine(row(example.first), row(example.second))))
        .collect())
}

/// The cosines of a table's rows, in their order.
///
/// # Errors
/// As [`Lens::compare_rows`].
pub fn similarities(lens: &Lens, data: &Dataset) -> Result<Vec<f64>> {
    let bar = progress("evaluating", data.rows.len() as u64);
    let mut all = Vec::with_capacity(data.rows.len());
    for chunk in data.rows.chunks(CHUNK) {
        let compared = wait(lens.compare_rows(chunk.iter().map(Row::texts)))?;
        all.extend(compared.similarities.into_iter().map(f64::from));
        bar.inc(chunk.len() as u64);
    }
    bar.finish_and_clear();
    Ok(all)
}

/// Reads a similarity a row of the file; those of invalid rows are passed over.
fn read_similarities(path: &Path, data: &Dataset) -> Result<Vec<f64>> {
    let bad = |row: usize, reason: String| Error::Data {
        file: path.display().to_string(),
        row,
        reason,
    };
    let columns = table::data::columns(path, &[], &[SIMILARITY], None)?;
    let mut all = Vec::with_capacity(data.rows.len());
    for i in 0..columns.rows() {
        let Some(kept) = data.kept.get(i) else {
            let rows = data.kept.len();
            return Err(bad(i + 1, format!("the data has {rows} rows only")));
        };
        let cell = columns.cell(SIMILARITY, i).map(str::parse);
        let Some(Ok(similarity)) = cell else {
            return Err(bad(i + 1, format!("it has no number `{SIMILARITY}`")));
        };
        if kept.is_some() {
            all.push(similarity);
        }
    }
    match columns.rows() == data.kept.len() {
        true => Ok(all),
        false => Err(bad(
            columns.rows(),
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
        seed: None,
        decisions: Decisions::of(similarities, &ratings),
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
    if let Some(decisions) = &report.decisions {
        text_line(&format!(
            "of {} rows rated at least 4 or at most 2: {:.1} % right (similarity at least 0.6, at most 0.4), {:.1} % wrong, AUC {:.1}",
            decisions.rows,
            100.0 * decisions.right,
            100.0 * decisions.wrong,
            100.0 * decisions.auc
        ))?;
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

//! `caselens evaluate`: how well similarities agree with human ratings.

use std::path::{Path, PathBuf};

use candle_core::{Device, Tensor};
use serde::Serialize;

use super::{
    cache,
    fit_mentioned::{self, evaluated},
    numbers,
    output::{fixed, json_line, percent, progress, text_line, write_file},
    runtime::{LensArgs, describe, prompt},
    table::{self, data::RulesArgs},
    wait,
};
use crate::{
    data::{
        baseline::ConditionOnly,
        dataset::{Dataset, Row},
    },
    embedding::{Case, Prompted},
    error::{Error, Result},
    evaluation::{
        breakdown,
        confidence::{Groups, Intervals},
        metrics::{Decisions, Scores},
    },
    head::HeadFile,
    lens::{Lens, rows::Distinct},
    similarity::cosine,
    text::{Prompt, prompt::NAMED},
    training::head::{Example, predict},
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
/// With --predictions it also writes a prediction for each row, rated or not, as the benchmark takes them: one JSON object of
/// the rows' numbers, from 0, and their similarities. Its test set has no labels (or −1 everywhere): then the file is all there
/// is.
///
///   caselens evaluate --data csts_test.csv --predictions predictions.json --expect-rows 4732
///
/// With --unconditional, rows without a condition compare their sentences by themselves: the STS benchmark, whose labels
/// count from 0 to 5, is evaluated so, and has its Spearman. Ratings are read on the scale of 1 to 5 whatever the labels'.
///
///   caselens evaluate --data stsb-test.csv --unconditional --labels 0-5 --head none --model all-MiniLM-L6-v2
///
/// With --mentioned, how well the head tells whether a sentence says anything about a condition: the area under the
/// ROC curve, and what lies below its threshold.
///
///   caselens evaluate --mentioned mentions.csv
///
/// With --prompts, a language model in each of several prompts (PonTE), for choosing one: a line each.
///
///   caselens evaluate --prompts --model my-llama --data csts_validation.csv
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Data: a table with sentence1, sentence2, condition and label (CSV, JSON lines, Arrow IPC or Parquet)
    #[arg(long, value_name = "FILE", required_unless_present = "mentioned")]
    data: Option<PathBuf>,
    /// A table with sentence, condition and mentioned (1 or 0): evaluate what the head tells of that instead
    #[arg(long, value_name = "FILE", conflicts_with_all = ["data", "limit", "split", "similarities", "train", "confidence", "unconditional", "labels"])]
    mentioned: Option<PathBuf>,
    #[command(flatten)]
    rules: RulesArgs,
    /// Evaluate the first N rows alone
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Evaluate on the 30 % of the sentence pairs that CASE's protocol leaves for it; SEED draws them, and `case` is 0.
    /// `train-head --validation` with the same seed tunes on the others
    #[arg(long, value_name = "SEED|case", value_parser = numbers::split, conflicts_with = "limit")]
    split: Option<u64>,
    /// Score these similarities instead of computing them: a table with a column `similarity`, and a row for
    /// each of the data (browser runs are scored so)
    #[arg(long, value_name = "FILE")]
    similarities: Option<PathBuf>,
    /// Write the similarity of every row here, those without a label too: {"0": 0.53, "1": …}, in the order of the rows
    #[arg(long, value_name = "FILE.json", conflicts_with_all = ["mentioned", "split", "unconditional"])]
    predictions: Option<PathBuf>,
    /// Refuse data of another number of rows, such as 4732, of which the benchmark wants predictions
    #[arg(long, value_name = "N", requires = "predictions")]
    expect_rows: Option<usize>,
    /// Training data for the condition-only baseline [default: what the head carries]
    #[arg(long, value_name = "FILE")]
    train: Option<PathBuf>,
    /// Add 95 % confidence intervals: bootstrap over sentence pairs, 1000 resamples, the same every time
    #[arg(long)]
    confidence: bool,
    /// Evaluate a language model in each of these prompts, without a head [default: the published ones that have a
    /// condition]; see --prompt for what they may be
    #[arg(long, value_name = "NAME|TEMPLATE|FILE", num_args = 0.., value_parser = prompt, conflicts_with_all = ["mentioned", "similarities", "train", "confidence", "predictions", "prompt"])]
    prompts: Option<Vec<Prompt>>,
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
    /// Those with a label.
    rows: usize,
    pairs: usize,
    /// How many predictions were written.
    #[serde(skip_serializing_if = "Option::is_none")]
    predictions: Option<usize>,
    /// That the encoder or the head was trained with, where its record says so: `compare-runs` pairs runs by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    /// How far similarities may be taken at their word; null where all ratings lie in between.
    decisions: Option<Decisions>,
    /// The same figures of the baseline; null where no training data is known.
    condition_only: Option<Scores>,
    by_occurrence: Vec<Bucket>,
}

/// What a prompt scores.
#[derive(Serialize)]
struct OfPrompt<'a> {
    /// Null of one that is not published.
    prompt: Option<&'a str>,
    template: &'a str,
    #[serde(flatten)]
    scores: Scores,
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
    let rows = Rows::read(&args, data)?;
    let data = &rows.rated;
    if let Some(prompts) = &args.prompts {
        return evaluate_prompts(&args, prompts, data);
    }
    let head = match args.lens.head.open(&args.lens.model) {
        // For similarities from elsewhere a head only brings its baseline: without one there is none.
        Err(_) if args.similarities.is_some() && args.lens.head.head.is_none() => None,
        head => head?,
    };
    let (similarities, described) = match &args.similarities {
        Some(path) => {
            let all = read_similarities(path, data.kept.len())?;
            (rows.chosen(all), path.display().to_string())
        }
        None => compute(&args, head.as_ref(), &rows.texts())?,
    };
    if let Some(path) = &args.predictions {
        write_file(path, predictions(&similarities)?.as_bytes())?;
    }
    let written = args.predictions.is_some().then_some(similarities.len());
    let similarities = match written {
        Some(_) => rows.of_rated(&similarities),
        None => similarities,
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
    // Of rows without a condition it knows nothing.
    let baseline = baseline.filter(|_| data.rows.iter().any(|row| !row.condition.is_empty()));
    let report = Report {
        seed,
        predictions: written,
        ..report(data, &similarities, baseline.as_ref(), args.confidence)
    };
    match args.json {
        true => json_line(&report),
        false => print(&report, &described),
    }
}

/// What is evaluated, and what gets a prediction.
struct Rows {
    rated: Dataset,
    /// Every row, with a label or without, where each gets a prediction.
    all: Option<Vec<[String; 3]>>,
}

impl Rows {
    /// # Errors
    /// The file cannot be read, a row is broken, or there are not as many as are expected.
    fn read(args: &Args, path: &Path) -> Result<Self> {
        if args.predictions.is_none() {
            let mut rated = table::data::dataset_by(path, args.limit, args.rules.into())?;
            if let Some(seed) = args.split {
                [_, rated] = rated.case_split(seed)?;
            }
            return Ok(Self { rated, all: None });
        }
        let (columns, name) = (
            table::data::rows(path, args.limit)?,
            path.display().to_string(),
        );
        let all = Dataset::texts(&name, &columns)?;
        if let Some(expected) = args.expect_rows.filter(|expected| *expected != all.len()) {
            return Err(Error::Data {
                file: name,
                row: all.len(),
                reason: format!("it ends here, and {expected} rows are expected"),
            });
        }
        Ok(Self {
            rated: Dataset::labelled(&name, &columns)?,
            all: Some(all),
        })
    }

    /// The rows that are compared.
    fn texts(&self) -> Vec<[&str; 3]> {
        match &self.all {
            Some(all) => all
                .iter()
                .map(|row| row.each_ref().map(String::as_str))
                .collect(),
            None => self.rated.rows.iter().map(Row::texts).collect(),
        }
    }

    /// Of a number for each row of the file, those of the rows that are compared.
    fn chosen(&self, numbers: Vec<f64>) -> Vec<f64> {
        match &self.all {
            Some(_) => numbers,
            None => self.of_rated(&numbers),
        }
    }

    /// Of a number for each row of the file, those of rows with a label.
    fn of_rated(&self, numbers: &[f64]) -> Vec<f64> {
        let rows = numbers.iter().zip(&self.rated.kept);
        rows.filter_map(|(number, kept)| kept.map(|_| *number))
            .collect()
    }
}

/// The benchmark's form: an object of row numbers and predictions, in the order of the rows.
fn predictions(similarities: &[f64]) -> Result<String> {
    let mut lines = Vec::with_capacity(similarities.len());
    for (row, similarity) in similarities.iter().enumerate() {
        match similarity.is_finite() {
            true => lines.push(format!("\"{row}\": {similarity:?}")),
            false => {
                return Err(Error::InvalidArgument(format!(
                    "row {} has no prediction: its similarity is no number.",
                    row + 1
                )));
            }
        }
    }
    Ok(format!("{{\n{}\n}}\n", lines.join(",\n")))
}

/// A line a prompt, each as soon as it is known.
fn evaluate_prompts(args: &Args, prompts: &[Prompt], data: &Dataset) -> Result<()> {
    let published = || {
        let all = NAMED.iter().filter_map(|(name, _)| Prompt::named(name));
        all.filter(Prompt::has_condition).collect()
    };
    let prompts: Vec<Prompt> = match prompts {
        [] => published(),
        _ => prompts.to_vec(),
    };
    let folder = args.cache.clone().unwrap_or_else(cache::default_folder);
    let lens = args.lens.with_head(None)?;
    if !args.json {
        let (encoder, rows) = (&lens.encoder.id, data.rows.len());
        text_line(&format!(
            "{encoder}, {rows} rows\n\nSpearman  Pearson  prompt"
        ))?;
    }
    let rows: Vec<_> = data.rows.iter().map(Row::texts).collect();
    for prompt in prompts {
        let template = prompt.template().to_owned();
        let name = prompt.name();
        let case = Case::Prompted(Prompted { prompt });
        let similarities = kept_similarities(&lens, &case, None, &rows, &folder)?;
        let scores = Scores::of(&similarities, &data.ratings(), &data.pairs);
        match args.json {
            true => json_line(&OfPrompt {
                prompt: name,
                template: &template,
                scores,
            })?,
            false => text_line(&format!(
                "{:>8} {:>8}  {}",
                percent(scores.spearman),
                percent(scores.pearson),
                name.unwrap_or(&template)
            ))?,
        }
    }
    Ok(())
}

fn compute(args: &Args, head: Option<&HeadFile>, rows: &[[&str; 3]]) -> Result<(Vec<f64>, String)> {
    let lens = args.lens.with_head(head)?;
    let case = lens.case.clone();
    let described = match head {
        Some(head) => describe(&head.spec),
        None => format!("{} without a head", &lens.encoder.id),
    };
    let conditional = rows.iter().all(|[_, _, condition]| !condition.is_empty());
    let similarities = match lens.encoder.is_decoder() && conditional {
        true => {
            let folder = args.cache.clone().unwrap_or_else(cache::default_folder);
            kept_similarities(&lens, &case, head, rows, &folder)?
        }
        false => similarities(&lens, rows)?,
    };
    Ok((similarities, described))
}

/// Similarities from embeddings that are kept on disk: an interrupted run of hours goes on where it stopped.
fn kept_similarities(
    lens: &Lens,
    case: &Case,
    head: Option<&HeadFile>,
    rows: &[[&str; 3]],
    folder: &Path,
) -> Result<Vec<f64>> {
    let mut inputs = Distinct::default();
    let mut examples = Vec::with_capacity(rows.len());
    for &[s1, s2, c] in rows {
        examples.push(Example {
            first: inputs.add(s1, c),
            second: inputs.add(s2, c),
            // A similarity asks for none.
            rating: 0.0,
        });
    }
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

/// The similarities of a table's rows (sentence 1, sentence 2, condition), in their order.
///
/// # Errors
/// As [`Lens::compare_rows`].
pub fn similarities(lens: &Lens, rows: &[[&str; 3]]) -> Result<Vec<f64>> {
    let bar = progress("evaluating", rows.len() as u64);
    let mut all = Vec::with_capacity(rows.len());
    for chunk in rows.chunks(CHUNK) {
        let (conditional, alone): (Vec<[&str; 3]>, Vec<_>) = chunk
            .iter()
            .partition(|[_, _, condition]| !condition.is_empty());
        let compared = wait(lens.compare_rows(conditional))?.similarities;
        let alone = alone.into_iter().map(|[s1, s2, _]| [s1, s2]);
        let alone = wait(lens.compare_by_themselves(alone))?;
        let (mut compared, mut alone) = (compared.into_iter(), alone.into_iter());
        let similarities = chunk
            .iter()
            .filter_map(|[_, _, condition]| match *condition {
                "" => alone.next(),
                _ => compared.next(),
            });
        all.extend(similarities.map(f64::from));
        bar.inc(chunk.len() as u64);
    }
    bar.finish_and_clear();
    Ok(all)
}

/// Reads a similarity for each of the data's rows.
fn read_similarities(path: &Path, rows: usize) -> Result<Vec<f64>> {
    let bad = |row: usize, reason: String| Error::Data {
        file: path.display().to_string(),
        row,
        reason,
    };
    let columns = table::data::columns(path, &[], &[SIMILARITY], None)?;
    let mut all = Vec::with_capacity(rows);
    for i in 0..columns.rows() {
        if i >= rows {
            return Err(bad(i + 1, format!("the data has {rows} rows only")));
        }
        let cell = columns.cell(SIMILARITY, i).map(str::parse::<f64>);
        match cell {
            Some(Ok(similarity)) if similarity.is_finite() => all.push(similarity),
            _ => return Err(bad(i + 1, format!("it has no number `{SIMILARITY}`"))),
        }
    }
    match columns.rows() == rows {
        true => Ok(all),
        false => Err(bad(
            columns.rows(),
            format!("it ends here, the data has {rows} rows"),
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
        confidence: (confidence && !data.rows.is_empty())
            .then(|| Groups::of(data).intervals(similarities, &ratings, CONFIDENCE_SEED)),
        rows: data.rows.len(),
        pairs: data.pairs.len(),
        predictions: None,
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
    text_line(described)?;
    if let Some(predictions) = report.predictions {
        text_line(&format!(
            "{predictions} predictions, {} of them with a label",
            report.rows
        ))?;
        if report.rows == 0 {
            return Ok(());
        }
    }
    text_line(&format!("{} rows, {} pairs\n", report.rows, report.pairs))?;
    text_line("                     Spearman  Pearson  accuracy  accuracy without ties")?;
    let line = |name: &str, s: &Scores| {
        text_line(&format!(
            "{name:<20} {:>8} {:>8} {:>9} {:>22}",
            percent(s.spearman),
            percent(s.pearson),
            percent(s.accuracy),
            percent(s.accuracy_untied)
        ))
    };
    line("this", &report.scores)?;
    if report.pairs == 0 {
        text_line("  no accuracy: no sentence pair has two rows")?;
    }
    if !report.scores.spearman.is_finite() {
        text_line("  no correlation: all similarities, or all labels, are the same")?;
    }
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
            "of {} rows rated at least 4 or at most 2: {} % right (similarity at least 0.6, at most 0.4), {} % wrong, AUC {}",
            decisions.rows,
            fixed(100.0 * decisions.right, 1),
            fixed(100.0 * decisions.wrong, 1),
            percent(decisions.auc)
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

//! `caselens compare-runs`: whether sets of runs differ by more than their seeds make them.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    folder::RECORD,
    output::{json_line, text_line},
    table::{BYTES, whole},
};
use crate::{
    error::{Error, Result},
    evaluation::{confidence::Spread, significance::TTest},
};

/// What is compared unless told otherwise: the first of these that the runs have.
const FIGURES: [&str; 3] = ["validation_spearman", "validation_mrr", "spearman"];

/// Compare sets of runs: means, standard deviations, t-tests
///
/// Each set is what `fine-tune`, `kgc train` or `train-head` wrote with several --seeds (the folder, or the .training.json beside a
/// head), or a file of what `evaluate --json` printed, a line a run. Every set is compared with the first one: Welch's
/// t-test asks whether the means differ by more than chance makes them; where both have the same seeds, the paired one
/// asks it of the differences seed by seed.
///
///   caselens fine-tune --seeds 0,1,2 --loss mse … --output mse
///   caselens fine-tune --seeds 0,1,2 --loss quad … --output quad
///   caselens compare-runs mse quad
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Sets of runs, of which the others are compared with the first
    #[arg(value_name = "RUNS", required = true)]
    runs: Vec<PathBuf>,
    /// The figure that is compared, by its name in the records, such as pearson [default: validation_spearman, else
    /// validation_mrr, else spearman]
    #[arg(long, value_name = "NAME")]
    figure: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A run's seed, where its record names one, and what it reached.
type Run = (Option<u64>, Map<String, Value>);

/// One set's figures.
#[derive(Debug, Serialize)]
struct Set {
    name: String,
    runs: usize,
    mean: f64,
    /// The sample's standard deviation; null of a single run.
    std: Option<f64>,
    /// null for the first set.
    against_first: Option<Against>,
    #[serde(skip)]
    figures: Vec<f64>,
    #[serde(skip)]
    seeds: Vec<Option<u64>>,
}

/// A set beside the first one.
#[derive(Debug, Serialize)]
struct Against {
    /// Its mean less the first one's.
    difference: f64,
    /// null where a set has one run, or where neither varies.
    welch: Option<TTest>,
    /// null where the sets do not have the same seeds, two or more, or where the differences do not vary.
    paired: Option<TTest>,
}

#[derive(Debug, Serialize)]
struct Report {
    figure: String,
    sets: Vec<Set>,
}

pub fn run(args: Args) -> Result<()> {
    let all = args.runs.iter().map(|path| Ok((path, runs(path)?)));
    let all = all.collect::<Result<Vec<_>>>()?;
    let has = |figure: &str| {
        let runs = all.iter().flat_map(|(_, runs)| runs);
        runs.into_iter().all(|(_, run)| run.contains_key(figure))
    };
    let usual = FIGURES.into_iter().find(|figure| has(figure));
    let figure = args.figure.as_deref().or(usual).unwrap_or("spearman");
    let sets = all
        .into_iter()
        .map(|(path, runs)| Set::of(path, runs, figure));
    let mut sets = sets.collect::<Result<Vec<_>>>()?;
    if let Some((first, others)) = sets.split_first_mut() {
        for set in others {
            set.against_first = Some(Against {
                difference: set.mean - first.mean,
                welch: TTest::welch(&set.figures, &first.figures),
                paired: set.paired(first),
            });
        }
    }
    let report = Report {
        figure: figure.into(),
        sets,
    };
    match args.json {
        true => json_line(&report),
        false => print(&report),
    }
}

impl Set {
    /// # Errors
    /// A run has no such figure.
    fn of(path: &Path, runs: Vec<Run>, figure: &str) -> Result<Self> {
        let (mut figures, mut seeds) = (Vec::new(), Vec::new());
        for ((seed, run), number) in runs.into_iter().zip(1..) {
            let Some(value) = run.get(figure).and_then(Value::as_f64) else {
                let names = run.iter().filter(|(_, value)| value.is_number());
                let names: Vec<_> = names.map(|(name, _)| name.as_str()).collect();
                return Err(Error::Data {
                    file: path.display().to_string(),
                    row: number,
                    reason: match run.contains_key(figure) {
                        true => format!(
                            "the run's {figure} is no number: it made all similarities the same"
                        ),
                        false => format!(
                            "the run has no figure `{figure}`; it has {}",
                            names.join(", ")
                        ),
                    },
                });
            };
            figures.push(value);
            seeds.push(seed);
        }
        let spread = Spread::of(&figures);
        Ok(Self {
            name: path.display().to_string(),
            runs: figures.len(),
            mean: spread.mean,
            std: (figures.len() > 1).then_some(spread.std),
            against_first: None,
            figures,
            seeds,
        })
    }

    /// The paired test, where both sets have the same seeds.
    fn paired(&self, first: &Self) -> Option<TTest> {
        let of = |set: &Self| -> Option<(Vec<u64>, Vec<f64>)> {
            Some(set.by_seed()?.into_iter().unzip())
        };
        let ((seeds, own), (others, theirs)) = (of(self)?, of(first)?);
        (seeds == others).then(|| TTest::paired(&own, &theirs))?
    }

    /// The figures in the order of their seeds; `None` where one is missing or comes twice.
    fn by_seed(&self) -> Option<Vec<(u64, f64)>> {
        let seeds = self.seeds.iter().copied().collect::<Option<Vec<_>>>()?;
        let mut all: Vec<_> = seeds
            .into_iter()
            .zip(self.figures.iter().copied())
            .collect();
        all.sort_unstable_by_key(|(seed, _)| *seed);
        let once = all.windows(2).all(|two| two[0].0 != two[1].0);
        once.then_some(all)
    }
}

/// The runs of a folder or a file.
///
/// # Errors
/// It cannot be read, or is no record.
fn runs(path: &Path) -> Result<Vec<Run>> {
    let file = match path.is_dir() {
        true => path.join(RECORD),
        false => path.to_owned(),
    };
    let bad = |row: usize, reason: String| Error::Data {
        file: file.display().to_string(),
        row,
        reason,
    };
    let text = whole(&file, BYTES)?;
    let parsed: std::result::Result<Vec<Value>, _> = serde_json::Deserializer::from_str(&text)
        .into_iter()
        .collect();
    let values = parsed.map_err(|e| bad(e.line(), format!("it is no JSON ({e})")))?;
    let values = match values.as_slice() {
        [record] if record.get("seeds").is_some_and(Value::is_array) => {
            record["seeds"].as_array().cloned().unwrap_or_default()
        }
        _ => values,
    };
    let all = values.into_iter().zip(1..).map(|(value, row)| match value {
        Value::Object(run) => Ok((run.get("seed").and_then(Value::as_u64), run)),
        _ => Err(bad(row, "it is no record of a run".into())),
    });
    let all: Vec<Run> = all.collect::<Result<_>>()?;
    match all.is_empty() {
        true => Err(bad(0, "it holds no run".into())),
        false => Ok(all),
    }
}

fn print(report: &Report) -> Result<()> {
    let name = |set: &Set| set.name.chars().count();
    let width = report.sets.iter().map(name).max().unwrap_or(0).max(4);
    text_line(&format!(
        "{:<width$}  runs  {}, mean ± standard deviation",
        "", report.figure
    ))?;
    for set in &report.sets {
        let std = set.std.map(|std| format!(" ± {:.2}", 100.0 * std));
        text_line(&format!(
            "{:<width$}  {:>4}  {:.2}{}",
            set.name,
            set.runs,
            100.0 * set.mean,
            std.unwrap_or_default()
        ))?;
    }
    for set in &report.sets {
        let Some(against) = &set.against_first else {
            continue;
        };
        text_line(&format!(
            "\n{} against the first: {:+.2}",
            set.name,
            100.0 * against.difference
        ))?;
        for (name, test, takes) in [
            (
                "Welch's t-test",
                against.welch,
                "it takes two runs a set, and figures that vary",
            ),
            (
                "paired t-test",
                against.paired,
                "it takes the same seeds in both sets, two or more, and differences that vary",
            ),
        ] {
            text_line(&match test {
                Some(TTest { t, df, p }) => {
                    format!("  {name}: t = {t:.3}, {df:.2} degrees of freedom, p = {p:.4}")
                }
                None => format!("  {name}: none, as {takes}"),
            })?;
        }
    }
    Ok(())
}

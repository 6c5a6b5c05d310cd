//! `caselens report`: the tables and figures of the CASE paper from real runs, as Markdown and SVG.
//!
//! One section a file below `report/`. Every section works on the same study: the data, the inputs embedded
//! once, and the judges (everything that gives a pair of sentences a similarity under a condition).

use std::{path::PathBuf, time::Instant};

use super::{
    cache,
    output::text_line,
    runtime::{CaseArgs, DeviceName},
};
use crate::error::{Error, Result};

mod breakdown;
mod curves;
mod heads;
mod isotropy;
mod map;
mod mistakes;
mod model;
mod overview;
mod page;
mod reduction;
mod study;
mod vectors;
mod zero_shot;

use page::Page;
use study::{Sources, Study};

/// Write a report: every table and figure, from one command
///
/// Compares the frozen base encoder (zero-shot settings, heads trained here on its embeddings, PCA, ICA),
/// trained models, and the condition-only baseline, on data that none of them saw: scores with
/// confidence intervals, breakdowns, isotropy, training curves, maps and the worst mistakes. Writes
/// DIR/report.md and the charts beside it.
///
///   caselens report --train csts_train.csv --data csts_validation.csv \
///     --base all-MiniLM-L6-v2 --model my-encoder --output report
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Training data: heads, PCA and ICA learn from it, and breakdowns refer to it
    #[arg(long, value_name = "FILE.csv")]
    train: PathBuf,
    /// Data everything is evaluated on
    #[arg(long, value_name = "FILE.csv")]
    data: PathBuf,
    /// Frozen encoder: a Hugging Face folder, a GGUF file, or a name on the Hugging Face hub
    #[arg(long, value_name = "DIR|GGUF|OWNER/NAME[@REVISION]")]
    base: PathBuf,
    /// A trained model, and its head after "=" if it is not head.safetensors in the model's folder; without
    /// a head it embeds as --order, --pooling and --no-subtract say. May be repeated
    #[arg(long, value_name = "DIR|GGUF[=HEAD]")]
    model: Vec<PathBuf>,
    /// Data of other kinds to evaluate on. May be repeated
    #[arg(long, value_name = "FILE.csv")]
    out_of_domain: Vec<PathBuf>,
    /// Where the first part of the data ends, in rows of the file [default: two thirds of it]
    #[arg(long, value_name = "N")]
    part_rows: Option<usize>,
    /// Leave every text of the data out: examples are row numbers and types of conditions
    #[arg(long)]
    no_examples: bool,
    /// Folder to write; files of an earlier report there are replaced
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Where embeddings are kept [default: the user's cache folder]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Where to compute
    #[arg(long, value_enum, default_value = "cpu")]
    device: DeviceName,
    #[command(flatten)]
    case: CaseArgs,
}

pub fn run(args: Args) -> Result<()> {
    let start = Instant::now();
    if args.output.is_file() {
        return Err(Error::InvalidArgument(format!(
            "{} is a file. Name a folder with --output.",
            args.output.display()
        )));
    }
    let step = |what: &str| eprintln!("{:>5.0} s  {what}", start.elapsed().as_secs_f64());
    let sources = Sources::read(&args)?;
    let folder = args.cache.clone().unwrap_or_else(cache::default_folder);

    step("embedding with the base");
    let mut study = Study::new(&args, &sources, &folder)?;
    step("training heads on the base");
    heads::train_both(&mut study)?;
    for model in &args.model {
        step(&format!("embedding with {}", model.display()));
        study.add_model(&args, model, &folder)?;
    }
    study.add_condition_only();

    let mut page = Page::default();
    page.heading("Conditional sentence similarity: a report");
    step("scores and confidence intervals");
    overview::section(&mut page, &study);
    zero_shot::section(&mut page, &study);
    step("PCA and ICA");
    reduction::section(&mut page, &study)?;
    curves::section(&mut page, &args.model)?;
    step("isotropy");
    isotropy::section(&mut page, &study);
    breakdown::section(&mut page, &study);
    step("maps and clusters");
    map::section(&mut page, &study)?;
    mistakes::section(&mut page, &study);
    page.write(&args.output)?;
    step("done");
    text_line(&args.output.join("report.md").display().to_string())
}

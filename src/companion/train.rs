//! `caselens train`: a projection head on a frozen encoder, or the encoder itself.

use std::path::{Path, PathBuf};

use clap::{ArgAction, ValueEnum};

use super::runtime::{CaseArgs, ModelArgs};
use crate::{
    backend::candle::Precision,
    error::{Error, Result},
    evaluation::dataset::Dataset,
};

mod encoder;
mod head;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Adapter {
    /// a projection head; the encoder stays as it is
    None,
    /// every weight of the encoder, and no head
    Full,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// z = We
    Linear,
    /// z = ReLU(W₂ ReLU(W₁ e))
    Mlp,
}

/// Train a projection head, or the encoder itself, on C-STS data
///
/// By default a head: embeds each distinct (sentence, condition) once with the frozen encoder (kept on
/// disk, so the next run starts at once), then trains a head on the embeddings: squared error between the
/// cosine and the rating scaled to 0–1, Adam, dropout, early stopping.
///
///   caselens train --data csts_train.csv --output my.head.safetensors
///
/// With --adapter full every weight of the encoder is trained, and a Hugging Face folder is written that
/// `quantize`, and every command's --model, take. It embeds with --order cs, --pooling all and
/// --no-subtract unless told otherwise, and needs the same options, and --head none, wherever it is used.
///
///   caselens train --adapter full --model all-MiniLM-L6-v2 --data csts_train.csv --output my-encoder
///   caselens evaluate --model my-encoder --head none --order cs --pooling all --no-subtract \
///     --data csts_validation.csv
///
/// Without --validation a tenth of the training pairs is held out to find the best epoch, so that a
/// validation file stays untouched for `evaluate`.
#[derive(Debug, clap::Args)]
#[command(
    verbatim_doc_comment,
    mut_arg("order", |arg| arg.default_value_if("adapter", "full", "cs")),
    mut_arg("pooling", |arg| arg.default_value_if("adapter", "full", "all")),
    mut_arg("no_subtract", |arg| arg
        .action(ArgAction::Set)
        .value_name("true|false")
        .num_args(0..=1)
        .require_equals(true)
        .default_missing_value("true")
        .default_value("false")
        .default_value_if("adapter", "full", "true")),
)]
pub struct Args {
    /// What is trained
    #[arg(long, value_enum, default_value = "none")]
    adapter: Adapter,
    /// Training data: CSV with sentence1, sentence2, condition, label
    #[arg(long, value_name = "FILE.csv")]
    data: PathBuf,
    /// Data for early stopping [default: a tenth of the training pairs]
    #[arg(long, value_name = "FILE.csv")]
    validation: Option<PathBuf>,
    /// Where to write the head, or the encoder's folder (which must not exist yet)
    #[arg(short, long, value_name = "FILE.safetensors|DIR")]
    output: PathBuf,
    /// Shape of the head [default: mlp]
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// Width of the head's hidden layer (mlp) [default: 1024]
    #[arg(long)]
    hidden: Option<usize>,
    /// Width of the embedding the head makes [default: 256]
    #[arg(long)]
    dims: Option<usize>,
    /// Parts of the loss and their weights; a head is trained by mse alone [default: mse,rank:0.1 for
    /// --adapter full]
    #[arg(long, value_name = "NAME[:WEIGHT],…")]
    loss: Option<String>,
    /// Dropout after each layer [default: 0.20 linear, 0.15 mlp; 0.1 for --adapter full]
    #[arg(long)]
    dropout: Option<f32>,
    /// Adam's learning rate; the highest one for --adapter full [default: 1e-3; 1e-4 for --adapter full]
    #[arg(long)]
    learning_rate: Option<f64>,
    /// Weight decay [default: 0; 0.01 for --adapter full]
    #[arg(long)]
    weight_decay: Option<f64>,
    /// Examples a step; sentence pairs, each with its conditions, for --adapter full [default: 512; 16
    /// for --adapter full]
    #[arg(long)]
    batch: Option<usize>,
    /// Most epochs [default: 60; 4 for --adapter full]
    #[arg(long)]
    epochs: Option<usize>,
    /// Epochs without improvement before it stops [default: 10; 2 for --adapter full]
    #[arg(long)]
    patience: Option<usize>,
    /// Seeds, separated by commas; what has the best validation Spearman is written
    #[arg(long, default_value = "0", value_delimiter = ',')]
    seeds: Vec<u64>,
    /// What the encoder's linear layers multiply while it is trained; sums are f32 [default: the fastest on
    /// this machine: bf16 on CUDA and on CPUs with AMX, f32 on others]
    #[arg(long, value_enum)]
    precision: Option<Precision>,
    /// Where embeddings are kept [default: the user's cache folder]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    case: CaseArgs,
    #[command(flatten)]
    model: ModelArgs,
}

pub fn run(args: Args) -> Result<()> {
    check(&args)?;
    match args.adapter {
        Adapter::None => head::run(&args),
        Adapter::Full => encoder::run(&args),
    }
}

fn check(args: &Args) -> Result<()> {
    let wrong = |reason: &str| Err(Error::InvalidArgument(reason.into()));
    let is_zero = |n: Option<usize>| n == Some(0);
    if [args.batch, args.epochs, args.dims, args.hidden]
        .into_iter()
        .any(is_zero)
    {
        return wrong("--batch, --epochs, --dims and --hidden must be at least 1.");
    }
    if !(0.0..1.0).contains(&args.dropout.unwrap_or(0.0)) {
        return wrong("--dropout must be at least 0 and less than 1.");
    }
    let rate = args.learning_rate.unwrap_or(1e-3);
    let decay = args.weight_decay.unwrap_or(0.0);
    if !(rate > 0.0 && rate.is_finite() && decay >= 0.0 && decay.is_finite()) {
        return wrong("--learning-rate must be positive and --weight-decay not negative.");
    }
    Ok(())
}

/// The name of a data file, for a record of the training.
fn file_name(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_string_lossy().into_owned())
}

/// What the best epoch is found on, in words.
fn validation_name(args: &Args) -> Option<String> {
    match &args.validation {
        Some(path) => file_name(path),
        None => Some("a tenth of the training pairs".into()),
    }
}

/// The validation file, where one is named.
fn validation(args: &Args) -> Result<Option<Dataset>> {
    args.validation
        .as_deref()
        .map(|path| Dataset::read(path, None))
        .transpose()
}

//! `caselens train`: a projection head on a frozen encoder, or the encoder itself.

use std::path::PathBuf;

use clap::ValueEnum;

use super::runtime::{CaseArgs, ModelArgs};
use crate::{
    backend::candle::training::parameters::Precision,
    data::{
        dataset::Dataset,
        teacher::{Teacher, taught},
    },
    error::{Error, Result},
    head::Shape,
    training::early_stopping::Keep,
};

mod curves;
mod encoder;
mod head;
mod interrupted;

/// What is trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Adapter {
    /// A head; the encoder stays as it is.
    None,
    /// The encoder's own weights.
    Full,
    /// Low-rank updates of the encoder, of this rank.
    Lora(usize),
}

impl std::str::FromStr for Adapter {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match (text, text.strip_prefix("lora:").map(str::parse)) {
            ("none", _) => Ok(Self::None),
            ("full", _) => Ok(Self::Full),
            (_, Some(Ok(rank))) => Ok(Self::Lora(rank)),
            _ => Err("name none, full or lora:RANK, such as lora:16".into()),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// z = We
    Linear,
    /// z = ReLU(W₂ ReLU(W₁ e))
    Mlp,
}

/// Which epoch is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kept {
    /// The one with the best validation Spearman
    Best,
    /// The last one: all epochs are run
    Last,
}

/// Train a projection head, or the encoder itself, on C-STS data
///
/// By default a head: embeds each distinct (sentence, condition) once with the frozen encoder (kept on
/// disk, so the next run starts at once), then trains a head on the embeddings: squared error between the
/// cosine and the rating scaled to 0–1, Adam, dropout, early stopping.
///
///   caselens train --data csts_train.csv --output my.head.safetensors
///
/// With --adapter full the encoder's weights are trained, with --adapter lora:RANK low-rank updates of its
/// linear layers, and a Hugging Face folder is written that `quantize`, and every command's --model, take.
/// It embeds with --order cs, --pooling all and --no-subtract unless told otherwise; the folder's
/// head.safetensors remembers how, and holds the head that --kind or --dims put on top. The folder also
/// holds the training's curves (history.csv, curves.svg), and for lora the updates by themselves
/// (adapter/, for the library PEFT).
///
///   caselens train --adapter full --model all-MiniLM-L6-v2 --data csts_train.csv --output my-encoder
///   caselens evaluate --model my-encoder --data csts_validation.csv
///
/// With --architecture tri sentence and condition are encoded apart, and the condition weighs the sentence's
/// tokens in the last layer (CSR): S sentences under C conditions take S + C passes of the encoder. It adds
/// no parameters, and head.safetensors remembers it.
///
///   caselens train --adapter full --architecture tri --model all-MiniLM-L6-v2 --data csts_train.csv --output tri
///
/// The rows of a sentence pair that follow each other, two conditions or more, are trained on together.
/// Where data has the columns answer1 and answer2, what each sentence says about the condition in a few
/// words, an encoder also learns to embed the sentence under the condition as that answer.
/// An interrupted training of an encoder goes on with --resume, to the same result.
///
/// Without --validation a tenth of the training pairs is held out to find the best epoch, so that a
/// validation file stays untouched for `evaluate`.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// What is trained: none (a head; the encoder stays as it is), full (the encoder's weights), or
    /// lora:RANK (low-rank updates of its linear layers, merged into its weights at the end)
    #[arg(long, value_name = "none|full|lora:RANK", default_value = "none")]
    adapter: Adapter,
    /// Training data: CSV with sentence1, sentence2, condition, label; may be given several times
    #[arg(long, value_name = "FILE.csv", required = true)]
    data: Vec<PathBuf>,
    /// Data for early stopping [default: a tenth of the training pairs]
    #[arg(long, value_name = "FILE.csv")]
    validation: Option<PathBuf>,
    /// Where to write the head, or the encoder's folder (which must not exist yet)
    #[arg(short, long, value_name = "FILE.safetensors|DIR")]
    output: PathBuf,
    /// Shape of the head [default: mlp; no head for --adapter full and lora without --kind and --dims]
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// Width of the head's hidden layer (mlp) [default: 1024]
    #[arg(long)]
    hidden: Option<usize>,
    /// Width of the embedding the head makes [default: 256]
    #[arg(long)]
    dims: Option<usize>,
    /// What of the encoder stays as it is for --adapter full: none, tokens (the token table), layers:N (the
    /// embedding tables and the first N layers), or matrices (all but biases and LayerNorms, BitFit: a
    /// quantized encoder's matrices stay as they were rounded) [default: tokens]
    #[arg(long, value_name = "none|tokens|layers:N|matrices")]
    freeze: Option<String>,
    /// Parts of the loss and their weights, of mse, rank, quad and cosent; a head alone is trained by mse
    /// [default: mse,rank:0.1 for --adapter full and lora]
    #[arg(long, value_name = "NAME[:WEIGHT],…")]
    loss: Option<String>,
    /// Dropout after each layer of a head; in the encoder for --adapter full and lora [default: 0.20
    /// linear, 0.15 mlp; 0.1 for --adapter full and lora]
    #[arg(long)]
    dropout: Option<f32>,
    /// Dropout after each layer of a head that is trained with its encoder [default: 0.20 linear, 0.15 mlp]
    #[arg(long)]
    head_dropout: Option<f32>,
    /// Adam's learning rate; the highest one for --adapter full and lora [default: 1e-3; 1e-4 for
    /// --adapter full]
    #[arg(long)]
    learning_rate: Option<f64>,
    /// Weight decay [default: 0; 0.01 for --adapter full and lora]
    #[arg(long)]
    weight_decay: Option<f64>,
    /// Examples a step; for --adapter full and lora sentence pairs of two rows: a batch is full once it
    /// holds twice as many rows, and never parts a sentence pair [default: 512; 16 for --adapter full and
    /// lora]
    #[arg(long)]
    batch: Option<usize>,
    /// Most conditions of a sentence pair that an epoch of --adapter full and lora sees, drawn anew each time
    /// [default: all]
    #[arg(long)]
    conditions: Option<usize>,
    /// Most comparisons of a sentence with what it, or the other one, says about a condition that an epoch of --adapter
    /// full and lora sees, drawn anew each time, where the data has answers
    #[arg(long, value_name = "N", default_value = "2")]
    answers: usize,
    /// Most epochs [default: 60; 4 for --adapter full and lora]
    #[arg(long)]
    epochs: Option<usize>,
    /// Which epoch is written
    #[arg(long, value_enum, default_value = "best")]
    keep: Kept,
    /// Epochs without improvement before it stops [default: 10; 2 for --adapter full and lora]
    #[arg(long)]
    patience: Option<usize>,
    /// Seeds, separated by commas; what has the best validation Spearman is written
    #[arg(long, default_value = "0", value_delimiter = ',')]
    seeds: Vec<u64>,
    /// What the encoder's linear layers multiply while it is trained; sums are f32 [default: the fastest on
    /// this machine: bf16 on CUDA and on CPUs with AMX or AVX-512 BF16, f32 on others]
    #[arg(long, value_enum)]
    precision: Option<Precision>,
    /// Where embeddings are kept [default: the user's cache folder]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Steps after which an encoder's training is saved in OUTPUT.checkpoint, besides after each epoch;
    /// the folder is removed once OUTPUT is written
    #[arg(long, value_name = "STEPS")]
    checkpoint_every: Option<usize>,
    /// Go on where OUTPUT.checkpoint says that an interrupted training stopped, if it is there
    #[arg(long)]
    resume: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// What `distill` adds.
    #[arg(skip)]
    teachers: Option<Teachers>,
    #[command(flatten)]
    case: CaseArgs,
    #[command(flatten)]
    model: ModelArgs,
}

/// Teachers, and how much they count against the data's own labels.
#[derive(Debug, Clone)]
struct Teachers {
    /// Their names.
    files: String,
    teachers: Vec<Teacher>,
    weight: f32,
}

impl Args {
    /// Which epoch is kept; `patience` is what holds by default.
    fn keep(&self, patience: usize) -> Keep {
        match self.keep {
            Kept::Best => Keep::Best {
                patience: self.patience.unwrap_or(patience),
            },
            Kept::Last => Keep::Last,
        }
    }

    /// The training data, with what teachers say of it; what they say alone where there is no other.
    fn data(&self) -> Result<Dataset> {
        let Some(Teachers {
            files,
            teachers,
            weight,
        }) = &self.teachers
        else {
            return Dataset::read_all(&self.data);
        };
        let labelled = match self.data.is_empty() {
            true => Dataset::default(),
            false => Dataset::read_all(&self.data)?,
        };
        let data = taught(&labelled, teachers, *weight)?;
        match data.rows.is_empty() {
            true => Err(Error::InvalidArgument(format!(
                "{files} rates no row. Score some with `caselens score --data`."
            ))),
            false => Ok(data),
        }
    }
}

/// Train an encoder on a teacher's scores, beside the data's own labels
///
/// Takes every option of `train --adapter full`, and files of a teacher's answers: CSV with sentence1,
/// sentence2, condition and similarity (0 to 1), or label (1 to 5). A row of the data that teachers score
/// learns a mix of its label and their mean; rows that only a teacher scores, such as new conditions for
/// the data's sentence pairs, or new pairs of its sentences, are added. In place of texts a file may hold keys of
/// them (key, or key1 and key2 with key3 or condition): what data/ holds for the published C-STS sentences is made so.
///
///   caselens distill --data csts_train.csv --teacher scores.csv --model all-MiniLM-L6-v2 --output my-encoder
///
/// `caselens score --data` writes what a large encoder answers. Without --data its answers are all there is to
/// learn from, and rows need no labels:
///
///   caselens score --data pairs.csv --output scores.csv --model nvidia/NV-Embed-v2 --head none --device cuda
///   caselens distill --teacher scores.csv --model all-MiniLM-L6-v2 --output my-encoder
#[derive(Debug, clap::Args)]
#[command(
    verbatim_doc_comment,
    mut_arg("adapter", |arg| arg.default_value("full").value_name("full|lora:RANK")),
    mut_arg("data", |arg| arg.required(false)),
)]
pub struct DistillArgs {
    /// A teacher's answers; may be given several times: what several teachers say of a row is averaged
    #[arg(long, value_name = "FILE.csv", required = true)]
    teacher: Vec<PathBuf>,
    /// How much teachers count against the label of a row that has one: 0 to 1
    #[arg(long, default_value = "0.5")]
    teacher_weight: f32,
    #[command(flatten)]
    train: Args,
}

pub fn distill(args: DistillArgs) -> Result<()> {
    let wrong = |reason: &str| Err(Error::InvalidArgument(reason.into()));
    if !(0.0..=1.0).contains(&args.teacher_weight) {
        return wrong("--teacher-weight must be between 0 and 1.");
    }
    if args.train.adapter == Adapter::None {
        return wrong("distill trains an encoder: --adapter full or lora:RANK.");
    }
    let teachers = args.teacher.iter().map(|path| Teacher::read(path));
    run(Args {
        teachers: Some(Teachers {
            files: names(&args.teacher),
            teachers: teachers.collect::<Result<_>>()?,
            weight: args.teacher_weight,
        }),
        ..args.train
    })
}

pub fn run(args: Args) -> Result<()> {
    check(&args)?;
    match args.adapter {
        Adapter::None => head::run(&args),
        Adapter::Full | Adapter::Lora(_) => encoder::run(&args),
    }
}

fn check(args: &Args) -> Result<()> {
    let wrong = |reason: &str| Err(Error::InvalidArgument(reason.into()));
    let is_zero = |n: Option<usize>| n == Some(0);
    if [
        args.batch,
        args.epochs,
        args.dims,
        args.hidden,
        args.conditions,
        args.checkpoint_every,
    ]
    .into_iter()
    .any(is_zero)
    {
        return wrong(
            "--batch, --conditions, --epochs, --dims, --hidden and --checkpoint-every must be at least 1.",
        );
    }
    if args.kind == Some(Kind::Linear) && args.hidden.is_some() {
        return wrong(
            "--hidden is for --kind mlp: a linear head has no hidden layer. Leave it out.",
        );
    }
    let dropouts = [args.dropout, args.head_dropout];
    for dropout in dropouts.into_iter().flatten() {
        if !(0.0..1.0).contains(&dropout) {
            return wrong("--dropout and --head-dropout must be at least 0 and less than 1.");
        }
    }
    if args.keep == Kept::Last && args.patience.is_some() {
        return wrong(
            "--patience is for --keep best: with last, all epochs are run. Leave it out.",
        );
    }
    let rate = args.learning_rate.unwrap_or(1e-3);
    let decay = args.weight_decay.unwrap_or(0.0);
    if !(rate > 0.0 && rate.is_finite() && decay >= 0.0 && decay.is_finite()) {
        return wrong("--learning-rate must be positive, --weight-decay not negative.");
    }
    Ok(())
}

/// The head that is asked for.
fn shape(args: &Args) -> Shape {
    let kind = args.kind.unwrap_or(Kind::Mlp);
    let dims = args.dims.unwrap_or(256);
    Shape {
        widths: match kind {
            Kind::Linear => vec![dims],
            Kind::Mlp => vec![args.hidden.unwrap_or(1024), dims],
        },
        relu: kind == Kind::Mlp,
        dropout: match kind {
            Kind::Linear => 0.20,
            Kind::Mlp => 0.15,
        },
    }
}

/// The names of the data files, for a record of the training; of the teachers' where there are no others.
fn data_names(args: &Args) -> String {
    match (&args.teachers, args.data.is_empty()) {
        (Some(teachers), true) => teachers.files.clone(),
        _ => names(&args.data),
    }
}

/// The names of files, for a record of the training.
fn names(paths: &[PathBuf]) -> String {
    let names = paths.iter().filter_map(|path| path.file_name());
    let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
    names.join(", ")
}

/// The teachers' files and their weight, where there are any.
fn teacher_names(args: &Args) -> Option<String> {
    let Teachers { files, weight, .. } = args.teachers.as_ref()?;
    Some(format!("{files}, weight {weight}"))
}

/// What the best epoch is found on, in words.
fn validation_name(args: &Args) -> Option<String> {
    match &args.validation {
        Some(path) => Some(path.file_name()?.to_string_lossy().into_owned()),
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

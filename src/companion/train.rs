//! What the commands that train have in common: a head on an encoder that stays as it is ([`head`]), and the
//! encoder itself, on rated pairs ([`encoder`]) or on a knowledge graph: [`run`].

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::{
    numbers,
    runtime::{CaseArgs, ModelArgs},
    table::data::dataset_by,
};
use crate::{
    backend::Activation,
    data::dataset::{Dataset, Rules},
    embedding::Case,
    error::{Error, Result},
    head::HeadShape,
    training::early_stopping::Keep,
};

mod curves;
pub mod encoder;
pub mod head;
mod interrupt;
pub mod interrupted;
pub mod run;
mod seeds;

/// Width of the hidden layer of a head, unless told otherwise.
const HIDDEN: usize = 1024;
/// Width of the embedding that a head makes, unless told otherwise.
const DIMS: usize = 256;

/// Dropout before each layer of C-STS's heads: as in the encoder.
const SCORE_DROPOUT: f32 = 0.1;

/// The shape of a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// z = We, under a dropout of 0.20
    Linear,
    /// z = ReLU(W₂ ReLU(W₁ e)), under a dropout of 0.15 after each layer
    Mlp,
    /// z = GELU(We), as wide as the embedding e, under a dropout of 0.1 before it (C-STS)
    Transform,
}

impl Kind {
    /// A head of this kind on embeddings that are `width` wide.
    pub fn shape(self, width: usize, widths: &Widths) -> HeadShape {
        let (hidden, dims) = (widths.hidden.unwrap_or(HIDDEN), widths.dims.unwrap_or(DIMS));
        let (of, activation, own) = match self {
            Self::Linear => (vec![dims], Activation::None, 0.20),
            Self::Mlp => (vec![hidden, dims], Activation::Relu, 0.15),
            Self::Transform => (vec![width], Activation::Gelu, SCORE_DROPOUT),
        };
        HeadShape {
            widths: of,
            activation,
            dropout: widths.dropout.unwrap_or(own),
        }
    }

    /// # Errors
    /// Widths that such a head has not.
    fn check(self, widths: &Widths) -> Result<()> {
        let stray = match self {
            Self::Mlp => None,
            Self::Linear => widths.hidden.map(|_| "--hidden is for --kind mlp: a linear head has no hidden layer"),
            Self::Transform => (widths.hidden.or(widths.dims))
                .map(|_| "--hidden and --dims are not for --kind transform: it is as wide as the embedding"),
        };
        match stray {
            Some(stray) => Err(Error::InvalidArgument(format!("{stray}. Leave it out."))),
            None => Ok(()),
        }
    }
}

/// What is asked of a head's layers.
#[derive(Default)]
pub struct Widths {
    /// Of an mlp's hidden layer.
    pub hidden: Option<usize>,
    /// Of the embedding that it makes.
    pub dims: Option<usize>,
    /// Another dropout than that of its kind.
    pub dropout: Option<f32>,
}

/// The head of a command's options on an encoder of this hidden size: one without layers where none is asked for, but for the
/// one that gives a cross-encoder's score.
fn shape_of(kind: Option<Kind>, widths: &Widths, case: &Case, hidden_size: usize) -> HeadShape {
    match kind.or(widths.dims.map(|_| Kind::Mlp)) {
        Some(kind) => kind.shape(case.dims(hidden_size), widths),
        None => HeadShape {
            dropout: match case.scores() {
                true => widths.dropout.unwrap_or(SCORE_DROPOUT),
                false => 0.0,
            },
            ..HeadShape::default()
        },
    }
}

/// Which epoch is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kept {
    /// The one that validation rates best
    Best,
    /// The last one: all epochs are run
    Last,
}

impl Kept {
    /// `patience` is `None` where all epochs are run.
    fn keep(self, patience: Option<usize>) -> Keep {
        match (self, patience) {
            (Self::Best, Some(patience)) => Keep::Best { patience },
            _ => Keep::Last,
        }
    }

    /// # Errors
    /// A patience where all epochs are run.
    fn check(self, patience: Option<usize>) -> Result<()> {
        match self == Self::Last && patience.is_some() {
            true => Err(Error::InvalidArgument(
                "--patience is for --keep best: with last, all epochs are run. Leave it out."
                    .into(),
            )),
            false => Ok(()),
        }
    }
}

/// The options of every training.
#[derive(Debug, clap::Args)]
pub struct Common {
    /// Which epoch is written
    #[arg(long, value_enum, default_value = "best")]
    keep: Kept,
    /// Seeds, separated by commas; what validation rates best is written, and what each of them reached is in the record
    /// of the training, with mean and standard deviation (see `compare-runs`)
    #[arg(long, default_value = "0", value_delimiter = ',')]
    seeds: Vec<u64>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub case: CaseArgs,
    #[command(flatten)]
    pub model: ModelArgs,
}

/// Rated pairs that the best epoch is found on.
#[derive(Debug, clap::Args)]
struct Validation {
    /// Data for finding the best epoch [default: a tenth of the training pairs]
    #[arg(long, value_name = "FILE")]
    validation: Option<PathBuf>,
    /// Find the best epoch on 70 % of the sentence pairs of --validation, which CASE's protocol tunes by; SEED draws them, and
    /// `case` is 0. `evaluate --split` with the same seed is about the others
    #[arg(long, value_name = "SEED|case", value_parser = numbers::split, requires = "validation")]
    split: Option<u64>,
}

impl Validation {
    /// What it is, in words.
    fn name(&self) -> Option<String> {
        match (&self.validation, self.split) {
            (Some(path), None) => Some(path.file_name()?.to_string_lossy().into_owned()),
            (Some(path), Some(seed)) => Some(format!(
                "70 % of the sentence pairs of {}, seed {seed}",
                path.file_name()?.to_string_lossy()
            )),
            (None, _) => Some("a tenth of the training pairs".into()),
        }
    }

    /// The validation file, where one is named.
    fn read(&self, rules: Rules) -> Result<Option<Dataset>> {
        let read = |path: &Path| {
            let data = dataset_by(path, None, rules)?;
            match self.split {
                Some(seed) => data.case_split(seed).map(|[tune, _]| tune),
                None => Ok(data),
            }
        };
        self.validation.as_deref().map(read).transpose()
    }
}

/// The names of files, for a record of the training.
fn names(paths: &[PathBuf]) -> String {
    let names = paths.iter().filter_map(|path| path.file_name());
    let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
    names.join(", ")
}

//! `caselens train`: a projection head on a frozen encoder.

use std::{collections::HashMap, path::PathBuf};

use candle_core::{Device, Tensor};
use clap::ValueEnum;
use rand::{SeedableRng, rngs::StdRng, seq::SliceRandom};
use serde_json::json;

use super::{
    cache::{self, Inputs},
    output::{json_line, progress, write_file},
    runtime::{CaseArgs, ModelArgs, describe},
};
use crate::{
    error::{Error, Result},
    evaluation::{baseline::ConditionOnly, dataset::Dataset, metrics::Scores},
    projection::{
        HeadFile, HeadSpec,
        train::{Example, Options, predict, train},
    },
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// z = We
    Linear,
    /// z = ReLU(W₂ ReLU(W₁ e))
    Mlp,
}

/// Train a projection head on C-STS data
///
/// Embeds each distinct (sentence, condition) once with the frozen encoder (kept on disk, so the next
/// run starts at once), then trains a head on the embeddings: squared error between the cosine and the
/// rating scaled to 0–1, Adam, dropout, early stopping. Without --validation a tenth of the training
/// pairs is held out for early stopping, so that a validation file stays untouched for `evaluate`.
///
///   caselens train --data csts_train.csv --output my.head.safetensors
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Training data: CSV with sentence1, sentence2, condition, label
    #[arg(long, value_name = "FILE.csv")]
    data: PathBuf,
    /// Data for early stopping [default: a tenth of the training pairs]
    #[arg(long, value_name = "FILE.csv")]
    validation: Option<PathBuf>,
    /// Where to write the head
    #[arg(short, long, value_name = "FILE.safetensors")]
    output: PathBuf,
    /// Shape of the head
    #[arg(long, value_enum, default_value = "mlp")]
    kind: Kind,
    /// Width of the hidden layer (mlp)
    #[arg(long, default_value_t = 1024)]
    hidden: usize,
    /// Width of the embedding it makes
    #[arg(long, default_value_t = 256)]
    dims: usize,
    /// Dropout after each layer [default: 0.20 linear, 0.15 mlp]
    #[arg(long)]
    dropout: Option<f32>,
    /// Adam's learning rate
    #[arg(long, default_value_t = 1e-3)]
    learning_rate: f64,
    /// Weight decay
    #[arg(long, default_value_t = 0.0)]
    weight_decay: f64,
    /// Examples a step
    #[arg(long, default_value_t = 512)]
    batch: usize,
    /// Most epochs
    #[arg(long, default_value_t = 60)]
    epochs: usize,
    /// Epochs without improvement before it stops
    #[arg(long, default_value_t = 10)]
    patience: usize,
    /// Seeds, separated by commas; the head with the best validation Spearman is written
    #[arg(long, default_value = "0", value_delimiter = ',')]
    seeds: Vec<u64>,
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
    let data = Dataset::read(&args.data, None)?;
    let validation = args
        .validation
        .as_deref()
        .map(|p| Dataset::read(p, None))
        .transpose()?;
    let case = args.case.case();
    let lens = args.model.lens(None, case.clone())?;

    let mut inputs = Inputs::default();
    let train_examples = collect(&data, &mut inputs);
    let (train_set, validation_set, stop_ratings, stop_pairs) = match &validation {
        Some(validation) => {
            let examples = collect(validation, &mut inputs);
            (
                train_examples,
                examples,
                validation.ratings(),
                validation.pairs.clone(),
            )
        }
        None => hold_out(&data, train_examples),
    };

    let folder = args.cache.clone().unwrap_or_else(cache::default_folder);
    let numbers = cache::embeddings(&lens, &case, &inputs, &folder)?;
    let width = case.dims(lens.hidden_size());
    let embeddings = Tensor::from_vec(numbers, (inputs.distinct.len(), width), &Device::Cpu)?;

    let mut spec = HeadSpec {
        encoder: lens.encoder_id().clone(),
        case,
        dims: match args.kind {
            Kind::Linear => vec![width, args.dims],
            Kind::Mlp => vec![width, args.hidden, args.dims],
        },
        relu: args.kind == Kind::Mlp,
        dropout: args.dropout.unwrap_or(match args.kind {
            Kind::Linear => 0.20,
            Kind::Mlp => 0.15,
        }),
        training: serde_json::Value::Null,
    };
    let mut best: Option<(f64, HeadFile)> = None;
    let mut reached = Vec::new();
    for &seed in &args.seeds {
        let options = Options {
            learning_rate: args.learning_rate,
            weight_decay: args.weight_decay,
            batch: args.batch,
            epochs: args.epochs,
            patience: args.patience,
            seed,
        };
        let bar = progress(&format!("seed {seed}"), args.epochs as u64);
        let trained = train(
            &embeddings,
            &spec,
            &train_set,
            &validation_set,
            &options,
            |epoch| {
                bar.set_message(format!(
                    "seed {seed} · loss {:.4} · Spearman {:.4}",
                    epoch.loss, epoch.validation_spearman
                ));
                bar.inc(1);
            },
        )?;
        bar.finish_and_clear();
        spec.training = json!({
            "data": args.data.file_name().map(|n| n.to_string_lossy()),
            "rows": data.rows.len(),
            "validation": match &args.validation {
                Some(path) => path.file_name().map(|n| n.to_string_lossy().into_owned()),
                None => Some("a tenth of the training pairs".into()),
            },
            "encoder_dtype": lens.dtype().name(),
            "options": options,
            "best_epoch": trained.best,
        });
        let file = HeadFile {
            spec: spec.clone(),
            layers: trained.layers,
            condition_only: Some(ConditionOnly::fit(
                data.rows.iter().map(|r| (r.condition.as_str(), r.rating)),
            )),
        };
        let predicted = predict(&embeddings, &file, &validation_set)?;
        let scores = Scores::of(&predicted, &stop_ratings, &stop_pairs);
        if !args.json {
            eprintln!(
                "seed {seed}: epoch {}, validation Spearman {:.4}, accuracy without ties {:.4}",
                trained.best.epoch, scores.spearman, scores.accuracy_untied
            );
        }
        reached.push(json!({"seed": seed, "epoch": trained.best.epoch, "validation": scores}));
        if best
            .as_ref()
            .is_none_or(|(s, _)| scores.spearman > *s || s.is_nan())
        {
            best = Some((scores.spearman, file));
        }
    }
    let Some((_, file)) = best else {
        return Err(Error::InvalidArgument("--seeds names no seed.".into()));
    };
    let bytes = file.to_bytes()?;
    write_file(&args.output, &bytes)?;
    if args.json {
        json_line(
            &json!({"output": args.output, "bytes": bytes.len(), "spec": file.spec, "seeds": reached}),
        )
    } else {
        eprintln!(
            "wrote {} ({} kB): {}",
            args.output.display(),
            bytes.len() / 1000,
            describe(&file.spec)
        );
        Ok(())
    }
}

fn check(args: &Args) -> Result<()> {
    let wrong = |reason: &str| Err(Error::InvalidArgument(reason.into()));
    if args.batch == 0 || args.epochs == 0 || args.dims == 0 || args.hidden == 0 {
        return wrong("--batch, --epochs, --dims and --hidden must be at least 1.");
    }
    if !(0.0..1.0).contains(&args.dropout.unwrap_or(0.0)) {
        return wrong("--dropout must be at least 0 and less than 1.");
    }
    if !(args.learning_rate > 0.0 && args.learning_rate.is_finite() && args.weight_decay >= 0.0) {
        return wrong("--learning-rate must be positive and --weight-decay not negative.");
    }
    Ok(())
}

fn collect<'a>(data: &'a Dataset, inputs: &mut Inputs<'a>) -> Vec<Example> {
    data.rows
        .iter()
        .map(|row| Example {
            first: inputs.add(&row.sentence1, &row.condition),
            second: inputs.add(&row.sentence2, &row.condition),
            rating: row.rating,
        })
        .collect()
}

type Split = (Vec<Example>, Vec<Example>, Vec<f64>, Vec<(usize, usize)>);

/// Holds out every row of a tenth of the sentence pairs: a pair's two rows never part. Which ones does
/// not depend on the seeds, so that seeds compare.
fn hold_out(data: &Dataset, examples: Vec<Example>) -> Split {
    let mut pairs: Vec<(&str, &str)> = data
        .rows
        .iter()
        .map(|r| (r.sentence1.as_str(), r.sentence2.as_str()))
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs.shuffle(&mut StdRng::seed_from_u64(0));
    pairs.truncate(pairs.len().div_ceil(10));
    let held: std::collections::HashSet<_> = pairs.into_iter().collect();
    let mut train_set = Vec::new();
    let (mut validation, mut ratings) = (Vec::new(), Vec::new());
    let mut place = HashMap::new();
    for (i, (row, example)) in data.rows.iter().zip(examples).enumerate() {
        if held.contains(&(row.sentence1.as_str(), row.sentence2.as_str())) {
            place.insert(i, validation.len());
            ratings.push(f64::from(row.rating));
            validation.push(example);
        } else {
            train_set.push(example);
        }
    }
    let held_pairs = data
        .pairs
        .iter()
        .filter_map(|(a, b)| Some((*place.get(a)?, *place.get(b)?)))
        .collect();
    (train_set, validation, ratings, held_pairs)
}

//! `caselens train-head`: a projection head on cached embeddings of a frozen encoder.

use std::path::{Path, PathBuf};

use candle_core::{Device, Tensor};
use serde_json::json;

use super::{Common, Kind, Validation, Widths, curves, interrupt, names, seeds::Seeds};
use crate::{
    companion::{
        cache::{self, examples},
        numbers::{below_one, count, not_negative, positive},
        output::{fixed, json_line, note, progress, write_file},
        runtime::describe,
        table::data::datasets,
    },
    data::{
        baseline::ConditionOnly,
        dataset::{Dataset, Pair, Rules},
    },
    error::{Error, Result},
    evaluation::metrics::Scores,
    head::HeadFile,
    lens::rows::Distinct,
    training::{
        early_stopping::Validated,
        head::{Example, HeadOptions, Trained, predict, train},
    },
};

/// Train a projection head on an encoder that stays as it is
///
/// Embeds each distinct (sentence, condition) of C-STS data once (kept on disk, so the next run starts at
/// once), then trains a head on the embeddings: squared error between the cosine and the rating scaled to
/// 0–1, Adam, dropout, early stopping.
///
///   caselens train-head --data csts_train.csv --output my.head.safetensors
///   caselens evaluate --head my.head.safetensors --data csts_validation.csv
///
/// Beside the head it writes how training went: my.head.history.csv, an epoch a row, my.head.curves.svg, and
/// my.head.training.json, the options and what each seed reached.
///
/// Ctrl-C ends it behind the seed that is under way, with the best head so far written.
///
/// Without --validation a tenth of the training pairs is held out to find the best epoch, so that a
/// validation file stays untouched for `evaluate`.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Training data: a table with sentence1, sentence2, condition and label; may be given several times
    #[arg(long, value_name = "FILE", required = true)]
    data: Vec<PathBuf>,
    /// Where to write the head
    #[arg(short, long, value_name = "FILE.safetensors")]
    output: PathBuf,
    /// Shape of the head
    #[arg(long, value_enum, default_value = "mlp")]
    kind: Kind,
    /// Width of the hidden layer of an mlp
    #[arg(
        long,
        value_name = "N",
        value_parser = count,
        default_value = "1024",
        default_value_ifs([("kind", "linear", None), ("kind", "transform", None)])
    )]
    hidden: Option<usize>,
    /// Width of the embedding that the head makes
    #[arg(
        long,
        value_name = "N",
        value_parser = count,
        default_value = "256",
        default_value_if("kind", "transform", None)
    )]
    dims: Option<usize>,
    /// Another dropout than that of the head's kind
    #[arg(long, value_name = "P", value_parser = below_one::<f32>)]
    dropout: Option<f32>,
    /// Adam's learning rate
    #[arg(long, value_name = "RATE", value_parser = positive, default_value = "1e-3")]
    learning_rate: f64,
    /// Weight decay
    #[arg(long, value_name = "DECAY", value_parser = not_negative, default_value = "0")]
    weight_decay: f64,
    /// Train on so many of the data's sentence pairs, drawn at random: the same every time, and those of a smaller number
    /// among them; a tenth of them is held out where there is no --validation [default: all]
    #[arg(long, value_name = "N", value_parser = count)]
    train_pairs: Option<usize>,
    /// Examples a step
    #[arg(long, value_name = "N", value_parser = count, default_value = "512")]
    batch: usize,
    /// Most epochs
    #[arg(long, value_name = "N", value_parser = count, default_value = "60")]
    epochs: usize,
    /// Epochs without improvement before it stops, for --keep best
    #[arg(
        long,
        value_name = "N",
        default_value = "10",
        default_value_if("keep", "last", None)
    )]
    patience: Option<usize>,
    /// Where embeddings are kept [default: the user's cache folder]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    #[command(flatten)]
    held: Validation,
    #[command(flatten)]
    common: Common,
}

pub fn run(args: Args) -> Result<()> {
    let widths = Widths {
        hidden: args.hidden,
        dims: args.dims,
        dropout: args.dropout,
    };
    args.kind.check(&widths)?;
    args.common.keep.check(args.patience)?;
    let data = datasets(&args.data)?;
    let data = match args.train_pairs {
        Some(count) => data.subset(&data.sample(count)?),
        None => data,
    };
    let validation = args.held.read(Rules::default())?;
    let lens = args
        .common
        .model
        .lens(None, |checkpoint| args.common.case.case(checkpoint))?;
    let case = lens.case.clone();

    let mut inputs = Distinct::default();
    let train_examples = examples(&mut inputs, &data);
    let (train_set, validation_set, stop_ratings, stop_pairs) = match &validation {
        Some(validation) => {
            let examples = examples(&mut inputs, validation);
            (
                train_examples,
                examples,
                validation.ratings(),
                validation.pairs.clone(),
            )
        }
        None => hold_out(&data, &train_examples),
    };

    let folder = args.cache.clone().unwrap_or_else(cache::default_folder);
    let numbers = cache::embeddings(&lens, &case, &inputs, &folder)?;
    let width = case.dims(lens.encoder.shape.hidden_size);
    let embeddings = Tensor::from_vec(numbers, (inputs.inputs.len(), width), &Device::Cpu)?;

    let shape = args.kind.shape(width, &widths);
    let mut spec = shape.on(
        lens.encoder.id.clone(),
        lens.encoder.shape.hidden_size,
        case,
    );
    let mut best: Option<(f64, HeadFile, Trained)> = None;
    let mut reached = Vec::new();
    let mut seeds = Seeds::default();
    interrupt::watch();
    for &seed in &args.common.seeds {
        // The second Ctrl-C ends it at once.
        if interrupt::asked() && best.is_some() {
            break;
        }
        let options = HeadOptions {
            learning_rate: args.learning_rate,
            weight_decay: args.weight_decay,
            batch: args.batch,
            epochs: args.epochs,
            keep: args.common.keep.keep(args.patience),
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
                    "seed {seed} · loss {:.4} · Spearman {}",
                    epoch.loss,
                    epoch.validation.shown()
                ));
                bar.inc(1);
            },
        )?;
        bar.finish_and_clear();
        spec.training = json!({
            "data": names(&args.data),
            "rows": data.rows.len(),
            "validation": args.held.name(),
            "encoder_dtype": lens.encoder.dtype,
            "options": options,
            "best_epoch": trained.best,
        });
        let file = HeadFile {
            join: Vec::new(),
            mentioned: None,
            calibration: None,
            spec: spec.clone(),
            layers: trained.layers.clone(),
            condition_only: Some(ConditionOnly::fit(
                data.rows.iter().map(|r| (r.condition.as_str(), r.rating)),
            )),
        };
        let predicted = predict(&embeddings, &file, &validation_set)?;
        let scores = Scores::of(&predicted, &stop_ratings, &stop_pairs);
        if !args.common.json {
            note!(
                "seed {seed}: epoch {}, validation Spearman {}, accuracy without ties {}",
                trained.best.epoch,
                Validated::Spearman(scores.spearman).shown(),
                fixed(scores.accuracy_untied, 4)
            );
        }
        seeds.add(seed, trained.best, trained.seconds);
        reached.push(json!({
            "seed": seed,
            "epoch": trained.best.epoch,
            "validation": scores,
            "seconds": trained.seconds,
        }));
        if best
            .as_ref()
            .is_none_or(|(s, ..)| scores.spearman > *s || s.is_nan())
        {
            best = Some((scores.spearman, file, trained));
        }
    }
    let Some((_, file, trained)) = best else {
        return Err(Error::InvalidArgument("--seeds names no seed.".into()));
    };
    let bytes = file.to_bytes()?;
    write_file(&args.output, &bytes)?;
    write_course(&args.output, &trained, &seeds.record(&file.spec.training))?;
    let (done, all) = (reached.len(), args.common.seeds.len());
    if done < all {
        note!(
            "stopped behind {done} of {all} seeds; {} is the best of these",
            args.output.display()
        );
        interrupt::end();
    }
    if args.common.json {
        json_line(
            &json!({"output": args.output, "bytes": bytes.len(), "spec": file.spec, "seeds": reached}),
        )
    } else {
        seeds.line().iter().for_each(|line| note!("{line}"));
        note!(
            "wrote {} ({} kB): {}",
            args.output.display(),
            bytes.len() / 1000,
            describe(&file.spec)
        );
        Ok(())
    }
}

/// Writes how a head's training went beside the head.
fn write_course(head: &Path, trained: &Trained, record: &serde_json::Value) -> Result<()> {
    let history = &trained.history;
    let beside =
        |ending: &str, text: String| write_file(&head.with_extension(ending), text.as_bytes());
    beside("history.csv", curves::history(history))?;
    beside("curves.svg", curves::chart(history, &trained.losses)?)?;
    beside("training.json", format!("{record:#}\n"))
}

type Split = (Vec<Example>, Vec<Example>, Vec<f64>, Vec<Pair>);

/// Holds out every row of a tenth of the sentence pairs. Which ones does not depend on the seeds, so that
/// seeds compare.
fn hold_out(data: &Dataset, examples: &[Example]) -> Split {
    let held = data.held_out();
    let validation = data.subset(&held);
    let of = |kept: bool| {
        let chosen = examples.iter().zip(&held).filter(|&(_, &h)| h == kept);
        chosen.map(|(&example, _)| example).collect()
    };
    let ratings = validation.ratings();
    (of(false), of(true), ratings, validation.pairs)
}

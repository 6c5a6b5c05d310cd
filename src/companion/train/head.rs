//! `caselens train`: a projection head on cached embeddings of a frozen encoder.

use candle_core::{Device, Tensor};
use serde_json::json;

use super::{Args, data_names, shape, validation, validation_name};
use crate::{
    companion::{
        cache::{self, Inputs},
        output::{json_line, progress, write_file},
        runtime::describe,
    },
    data::{baseline::ConditionOnly, dataset::Dataset},
    error::{Error, Result},
    evaluation::metrics::{Pair, Scores},
    head::HeadFile,
    training::head::{Example, Options, predict, train},
};

pub fn run(args: &Args) -> Result<()> {
    let for_encoders = [
        ("--loss", args.loss.is_some()),
        ("--freeze", args.freeze.is_some()),
        ("--head-dropout", args.head_dropout.is_some()),
        ("--checkpoint-every", args.checkpoint_every.is_some()),
        ("--resume", args.resume),
    ];
    if let Some((name, _)) = for_encoders.into_iter().find(|(_, given)| *given) {
        return Err(Error::InvalidArgument(format!(
            "{name} needs --adapter full or lora:RANK. Leave it out: a head on a frozen encoder is trained by mse alone, with --dropout, in seconds."
        )));
    }
    let data = args.data()?;
    let validation = validation(args)?;
    let case = args.case.case(&args.model)?;
    let lens = args.model.lens(None, case.clone())?;

    let mut inputs = Inputs::default();
    let train_examples = inputs.examples(&data);
    let (train_set, validation_set, stop_ratings, stop_pairs) = match &validation {
        Some(validation) => {
            let examples = inputs.examples(validation);
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
    let width = case.dims(lens.hidden_size());
    let embeddings = Tensor::from_vec(numbers, (inputs.distinct.len(), width), &Device::Cpu)?;

    let epochs = args.epochs.unwrap_or(60);
    let mut shape = shape(args);
    shape.dropout = args.dropout.unwrap_or(shape.dropout);
    let mut spec = shape.on(lens.encoder_id().clone(), lens.hidden_size(), case);
    let mut best: Option<(f64, HeadFile)> = None;
    let mut reached = Vec::new();
    for &seed in &args.seeds {
        let options = Options {
            learning_rate: args.learning_rate.unwrap_or(1e-3),
            weight_decay: args.weight_decay.unwrap_or(0.0),
            batch: args.batch.unwrap_or(512),
            epochs,
            keep: args.keep(10),
            seed,
        };
        let bar = progress(&format!("seed {seed}"), epochs as u64);
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
            "data": data_names(args),
            "rows": data.rows.len(),
            "validation": validation_name(args),
            "encoder_dtype": lens.dtype(),
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

//! `caselens train --adapter full`: every weight of the encoder.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::json;

use super::{Args, file_name, validation, validation_name};
use crate::{
    backend::candle::Precision,
    companion::output::{json_line, progress, write_folder},
    embedding::train::{FineTuned, Options, Progress, fine_tune},
    error::{Error, Result},
    evaluation::dataset::Dataset,
    model::{checkpoint::Checkpoint, save},
};

/// Files of a published folder that stay as they are; only the first two must be there.
const COPIED: [&str; 6] = [
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.txt",
    "sentencepiece.bpe.model",
];
/// How the encoder was trained, beside it.
const RECORD: &str = "caselens-training.json";

pub fn run(args: &Args) -> Result<()> {
    let model = check(args)?;
    let device = args.model.training_device()?;
    let options = |seed: u64| -> Result<Options> {
        Ok(Options {
            loss: args.loss.as_deref().unwrap_or("mse,rank:0.1").parse()?,
            learning_rate: args.learning_rate.unwrap_or(1e-4),
            weight_decay: args.weight_decay.unwrap_or(0.01),
            dropout: args.dropout.unwrap_or(0.1),
            tokens: false,
            batch: args.batch.unwrap_or(16),
            epochs: args.epochs.unwrap_or(4),
            patience: args.patience.unwrap_or(2),
            seed,
            precision: match args.precision {
                Some(precision) => precision,
                None if device.is_cpu() => Precision::fastest(),
                None => Precision::Bf16,
            },
        })
    };
    options(0)?;
    let data = Dataset::read(&args.data, None)?;
    let checkpoint = Checkpoint::open(&model)?;
    let (train, validation) = match validation(args)? {
        Some(validation) => (data, validation),
        None => {
            let held = data.held_out();
            let rest: Vec<bool> = held.iter().map(|h| !h).collect();
            (data.subset(&rest), data.subset(&held))
        }
    };
    if train.rows.is_empty() {
        return Err(Error::InvalidArgument(format!(
            "{} holds one sentence pair only, and that is held out. Give more data, or --validation.",
            args.data.display()
        )));
    }
    let case = args.case.case();
    let mut best: Option<(FineTuned, Options)> = None;
    let mut reached = Vec::new();
    for &seed in &args.seeds {
        let options = options(seed)?;
        let bar = progress(&format!("seed {seed}"), 1);
        let mut spearman = None;
        let mut smooth: Option<f64> = None;
        let tuned = fine_tune(
            &checkpoint,
            device.clone(),
            &case,
            &train,
            &validation,
            &options,
            |progress| match progress {
                Progress::Step { step, of, loss } => {
                    let mean = smooth.map_or(loss, |s| 0.95 * s + 0.05 * loss);
                    smooth = Some(mean);
                    let reached = match spearman {
                        Some(s) => format!(" · Spearman {s:.4}"),
                        None => String::new(),
                    };
                    bar.set_length(of as u64);
                    bar.set_position(step as u64);
                    bar.set_message(format!("seed {seed} · loss {mean:.4}{reached}"));
                }
                Progress::Epoch(epoch) => {
                    spearman = Some(epoch.validation_spearman);
                    let line = format!(
                        "seed {seed}, epoch {}: loss {:.4}, validation Spearman {:.4}",
                        epoch.epoch, epoch.loss, epoch.validation_spearman
                    );
                    if !args.json {
                        bar.suspend(|| eprintln!("{line}"));
                    }
                }
            },
        )?;
        bar.finish_and_clear();
        reached.push(json!({"seed": seed, "best_epoch": tuned.best, "history": tuned.history}));
        let better = best.as_ref().is_none_or(|(b, _)| {
            let before = b.best.validation_spearman;
            tuned.best.validation_spearman > before || before.is_nan()
        });
        if better {
            best = Some((tuned, options));
        }
    }
    let Some((tuned, options)) = best else {
        return Err(Error::InvalidArgument("--seeds names no seed.".into()));
    };
    let record = json!({
        "base": checkpoint.encoder,
        "case": case,
        "data": file_name(&args.data),
        "rows": train.rows.len(),
        "pairs": train.pairs.len(),
        "validation": validation_name(args),
        "options": options,
        "best_epoch": tuned.best,
    });
    write(args, &model, &checkpoint, &tuned, &record)?;
    if args.json {
        return json_line(&json!({"output": args.output, "training": record, "seeds": reached}));
    }
    eprintln!(
        "wrote {}: {}, epoch {}, validation Spearman {:.4}",
        args.output.display(),
        checkpoint.encoder.id,
        tuned.best.epoch,
        tuned.best.validation_spearman
    );
    Ok(())
}

/// What must be right before hours of work; the published folder.
fn check(args: &Args) -> Result<PathBuf> {
    let wrong = |reason: String| Err(Error::InvalidArgument(reason));
    let head = [
        ("--kind", args.kind.is_some()),
        ("--hidden", args.hidden.is_some()),
        ("--dims", args.dims.is_some()),
        ("--cache", args.cache.is_some()),
    ];
    if let Some((name, _)) = head.into_iter().find(|(_, given)| *given) {
        return wrong(format!(
            "{name} is for heads, and --adapter full trains none. Leave it out."
        ));
    }
    let Some(model) = args.model.model.clone().filter(|m| m.is_dir()) else {
        return wrong(
            "--adapter full needs --model with a Hugging Face folder (config.json, tokenizer.json, model.safetensors): a GGUF file's rounded weights are no start for training."
                .into(),
        );
    };
    match fs::symlink_metadata(&args.output).is_ok() {
        true => wrong(format!(
            "{} is there already. Name a folder that does not exist with --output.",
            args.output.display()
        )),
        false => Ok(model),
    }
}

fn write(
    args: &Args,
    model: &Path,
    checkpoint: &Checkpoint,
    tuned: &FineTuned,
    record: &serde_json::Value,
) -> Result<()> {
    let what = model.join("model.safetensors").display().to_string();
    let weights = save::safetensors(
        &what,
        checkpoint.weights.bytes(),
        &checkpoint.config,
        &tuned.parameters,
    )?;
    let mut files = vec![
        ("model.safetensors", weights),
        (RECORD, format!("{record:#}\n").into_bytes()),
    ];
    for (i, name) in COPIED.into_iter().enumerate() {
        let path = model.join(name);
        match fs::read(&path) {
            Ok(bytes) => files.push((name, bytes)),
            Err(e) if i >= 2 && e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => return Err(Error::io(path)(e)),
        }
    }
    write_folder(&args.output, &files)
}

//! `caselens train --adapter full` and `lora:RANK`: the encoder itself, with a head on top or without.

use std::path::{Path, PathBuf};

use candle_core::Device;
use serde_json::json;

use super::{
    Adapter, Args, curves, data_names, interrupted::Checkpoints, shape, teacher_names, validation,
    validation_name,
};
use crate::{
    backend::candle::training::parameters::{self, Frozen, Precision},
    checkpoint::{Checkpoint, save},
    companion::{
        folder::{self, RECORD},
        output::{json_line, progress},
        runtime::{FOLDER_HEAD, describe},
    },
    data::{answers::with_answers, baseline::ConditionOnly},
    embedding::{Architecture, Case, Pool},
    error::{Error, Result},
    head::{HeadFile, Shape},
    model::decoder::checkpoint::DecoderCheckpoint,
    text::Order,
    training::{
        encoder::{FineTuned, Options, Progress, Task, fine_tune},
        peft,
    },
};

pub fn run(args: &Args) -> Result<()> {
    let model = check(args)?;
    let device = args.model.training_device()?;
    options(args, &device, 0)?;
    let checkpoints = Checkpoints::of(&args.output, args.resume)?;
    let data = args.data()?;
    if DecoderCheckpoint::is_one(&model) {
        return Err(Error::InvalidArgument(
            "an LLM encoder is not trained itself. Leave --adapter out: a head is trained on it."
                .into(),
        ));
    }
    let checkpoint = Checkpoint::open(&model)?;
    let (train, validation) = match validation(args)? {
        Some(validation) => (data.clone(), validation),
        None => {
            let held = data.held_out();
            let rest: Vec<bool> = held.iter().map(|h| !h).collect();
            (data.subset(&rest), data.subset(&held))
        }
    };
    let train = match args.answers {
        0 => train,
        _ => with_answers(train),
    };
    if train.rows.is_empty() {
        return Err(Error::InvalidArgument(format!(
            "{} holds one sentence pair only, and that is held out. Give more data, or --validation.",
            data_names(args)
        )));
    }
    // What works best for an encoder that is trained, unless told otherwise.
    let case = args.case.case_or(Case {
        orders: vec![Order::ConditionSentence],
        pooling: Pool::All,
        subtract: false,
        architecture: Architecture::Bi,
    })?;
    let mut best: Option<(FineTuned, Options)> = None;
    let mut reached = Vec::new();
    for &seed in &args.seeds {
        let options = options(args, &device, seed)?;
        let task = Task {
            checkpoint: &checkpoint,
            device: device.clone(),
            case: &case,
            train: &train,
            validation: &validation,
            options: &options,
        };
        let tuned = one_seed(args, &task, &checkpoints)?;
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
        "data": data_names(args),
        "rows": train.rows.len(),
        "groups": train.groups.len(),
        "teachers": teacher_names(args),
        "validation": validation_name(args),
        "options": options,
        "best_epoch": tuned.best,
    });
    let baseline = data.rows.iter().map(|r| (r.condition.as_str(), r.rating));
    let output = Output {
        model: &model,
        checkpoint: &checkpoint,
        case,
        tuned: &tuned,
        head: options.head,
        record: &record,
        condition_only: ConditionOnly::fit(baseline),
    };
    let head = output.write(&args.output)?;
    checkpoints.remove()?;
    if args.json {
        return json_line(&json!({
            "output": args.output, "training": record, "spec": head.spec, "seeds": reached,
        }));
    }
    eprintln!(
        "wrote {}: {}, epoch {}, validation Spearman {:.4}",
        args.output.display(),
        describe(&head.spec),
        tuned.best.epoch,
        tuned.best.validation_spearman
    );
    Ok(())
}

fn options(args: &Args, device: &Device, seed: u64) -> Result<Options> {
    Ok(Options {
        adapter: match args.adapter {
            Adapter::Lora(rank) => parameters::Adapter::Lora(rank),
            _ => parameters::Adapter::Full,
        },
        freeze: match &args.freeze {
            Some(text) => text.parse()?,
            None => Frozen::Tokens,
        },
        head: match args.kind.is_some() || args.dims.is_some() {
            true => {
                let shape = shape(args);
                Shape {
                    dropout: args.head_dropout.unwrap_or(shape.dropout),
                    ..shape
                }
            }
            false => Shape::default(),
        },
        loss: args.loss.as_deref().unwrap_or("mse,rank:0.1").parse()?,
        learning_rate: args.learning_rate.unwrap_or(match args.adapter {
            // Updates that begin at zero have further to go.
            Adapter::Lora(_) => 1e-3,
            _ => 1e-4,
        }),
        weight_decay: args.weight_decay.unwrap_or(0.01),
        dropout: args.dropout.unwrap_or(0.1),
        batch: args.batch.unwrap_or(16),
        conditions: args.conditions.unwrap_or(usize::MAX),
        answers: args.answers,
        epochs: args.epochs.unwrap_or(4),
        keep: args.keep(2),
        seed,
        precision: args.precision.unwrap_or_else(|| Precision::fastest(device)),
    })
}

/// Trains with one seed, from its checkpoint where it has one, and shows how far it is.
fn one_seed(args: &Args, task: &Task<'_>, checkpoints: &Checkpoints) -> Result<FineTuned> {
    let seed = task.options.seed;
    let from = checkpoints.read(seed)?;
    let bar = progress(&format!("seed {seed}"), 1);
    let mut spearman = String::new();
    let mut smooth = curves::Smooth::default();
    let mut first = true;
    let tuned = fine_tune(task, from.as_deref(), |progress, run| {
        match progress {
            Progress::Step { step, of, loss } => {
                if std::mem::take(&mut first) {
                    // Steps of an interrupted run say nothing of the time left.
                    bar.set_length(of as u64);
                    bar.set_position(step as u64 - 1);
                    bar.reset_eta();
                }
                bar.set_position(step as u64);
                bar.set_message(format!(
                    "seed {seed} · loss {:.4}{spearman}",
                    smooth.add(loss)
                ));
                match args.checkpoint_every {
                    Some(every) if step % every == 0 => checkpoints.write(seed, &run.save()?),
                    _ => Ok(()),
                }
            }
            Progress::Epoch(epoch) => {
                spearman = format!(" · Spearman {:.4}", epoch.validation_spearman);
                let line = format!(
                    "seed {seed}, epoch {}: loss {:.4}, validation Spearman {:.4}",
                    epoch.epoch, epoch.loss, epoch.validation_spearman
                );
                if !args.json {
                    bar.suspend(|| eprintln!("{line}"));
                }
                checkpoints.write(seed, &run.save()?)
            }
        }
    });
    bar.finish_and_clear();
    tuned
}

/// What must be right before hours of work; the published folder.
fn check(args: &Args) -> Result<PathBuf> {
    let wrong = |reason: String| Err(Error::InvalidArgument(reason));
    if args.cache.is_some() {
        return wrong(
            "--cache is for heads on a frozen encoder: embeddings of one that is trained change. Leave it out."
                .into(),
        );
    }
    let head = args.kind.is_some() || args.dims.is_some();
    for (name, given) in [
        ("--hidden", args.hidden.is_some()),
        ("--head-dropout", args.head_dropout.is_some()),
    ] {
        if given && !head {
            return wrong(format!(
                "{name} needs a head on top of the encoder: add --kind or --dims."
            ));
        }
    }
    if args.freeze.is_some() && args.adapter != Adapter::Full {
        return wrong(
            "--freeze is for --adapter full: with lora all of the encoder's own weights are frozen. Leave it out."
                .into(),
        );
    }
    folder::must_be_new(&args.output)?;
    match args.model.named()?.filter(|model| model.is_dir()) {
        Some(model) => Ok(model),
        None => wrong(
            "--adapter full and lora need --model with a Hugging Face folder (config.json, tokenizer.json, model.safetensors) or a name on the hub: make one of a GGUF file with `caselens dequantize --dither 0`."
                .into(),
        ),
    }
}

/// What is written.
struct Output<'a> {
    model: &'a Path,
    checkpoint: &'a Checkpoint,
    case: Case,
    tuned: &'a FineTuned,
    head: Shape,
    record: &'a serde_json::Value,
    condition_only: ConditionOnly,
}

impl Output<'_> {
    /// Writes the encoder's folder; its head.
    fn write(self, output: &Path) -> Result<HeadFile> {
        let what = self.model.join("model.safetensors").display().to_string();
        let weights = save::safetensors(
            &what,
            self.checkpoint.weights.bytes(),
            &self.checkpoint.config,
            &self.tuned.weights,
        )?;
        let encoder = folder::encoder(output, &weights);
        let hidden = self.checkpoint.config.hidden_size;
        let mut spec = self.head.on(encoder, hidden, self.case);
        spec.training = self.record.clone();
        let head = HeadFile {
            spec,
            layers: self.tuned.layers.clone(),
            condition_only: Some(self.condition_only),
        };
        let history = &self.tuned.history;
        let mut files = vec![
            ("model.safetensors", weights),
            (FOLDER_HEAD, head.to_bytes()?),
            (RECORD, format!("{:#}\n", self.record).into_bytes()),
            ("history.csv", curves::history(history).into_bytes()),
            (
                "curves.svg",
                curves::chart(history, &self.tuned.losses)?.into_bytes(),
            ),
        ];
        if !self.tuned.adapters.is_empty() {
            let base = &self.checkpoint.encoder.id;
            let [tensors, config] = peft::files(base, &self.tuned.adapters)?;
            // In a folder of its own: beside merged weights transformers would take it for theirs.
            files.push(("adapter/adapter_model.safetensors", tensors.1));
            files.push(("adapter/adapter_config.json", config.1));
        }
        folder::write(output, files, self.model)?;
        Ok(head)
    }
}

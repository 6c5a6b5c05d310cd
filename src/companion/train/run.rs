//! What the commands that train an encoder itself have in common, whatever it learns: options, one seed after the other,
//! checkpoints on the way, and the folder that is written.

use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
    time::Instant,
};

use candle_core::Device;
use serde_json::{Value, json};

use super::{Common, curves, interrupt, interrupted::Checkpoints, seeds::Seeds};
use crate::{
    backend::candle::training::parameters::{Adapter, Frozen, TrainingPrecision},
    checkpoint::{BertCheckpoint, Checkpoint, save},
    companion::{
        folder::{self, FOLDER_HEAD, RECORD},
        numbers::{Clip, below_one, clip, count, not_negative},
        output::{json_line, note, progress},
        runtime::{ModelArgs, describe},
    },
    data::baseline::ConditionOnly,
    embedding::Case,
    error::{Error, Result},
    head::{HeadFile, HeadShape, Mentioned},
    training::{
        early_stopping::Keep,
        encoder::{EncoderOptions, FineTuned, Objective, Progress, Task, fine_tune},
        peft,
    },
};

/// Steps from one line of a log to the next.
const LINE_EVERY: usize = 100;

/// The options of a training that changes an encoder, whatever it learns.
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// What is trained: full (the encoder's weights), or lora:RANK (low-rank
    /// updates of its linear layers, merged into its weights at the end)
    #[arg(long, value_name = "full|lora:RANK", default_value = "full", value_parser = adapter)]
    pub adapter: Adapter,
    /// What of the encoder stays as it is: none, tokens (the token table), layers:N (the embedding tables,
    /// MPNet's relative bias and the first N layers), or matrices (all but biases and LayerNorms, BitFit: a
    /// quantized encoder's matrices stay as they were rounded); lora leaves all of it as it is
    #[arg(
        long,
        value_name = "none|tokens|layers:N|matrices",
        default_value = "tokens"
    )]
    freeze: Frozen,
    /// Dropout in the encoder
    #[arg(long, value_name = "P", value_parser = below_one::<f32>, default_value = "0.1")]
    dropout: f32,
    /// Share of all steps over which the learning rate rises to its highest; it then falls to 0
    #[arg(long, value_name = "SHARE", value_parser = below_one::<f64>, default_value = "0.06")]
    warm_up: f64,
    /// Shorten gradients that are longer than this, all together; none takes them as they are
    #[arg(long, value_name = "LENGTH|none", value_parser = clip, default_value = "1")]
    clip: Clip,
    /// Weight decay
    #[arg(long, value_name = "DECAY", value_parser = not_negative, default_value = "0.01")]
    weight_decay: f64,
    /// Keep a running average of the weights, of which each step leaves so much (0.999 is the mean of the last thousand
    /// steps or so), and validate and write that [default: the weights as they are]
    #[arg(long, value_name = "SHARE", value_parser = below_one::<f64>)]
    average: Option<f64>,
    /// Epochs without improvement before it stops, for --keep best
    #[arg(
        long,
        value_name = "N",
        default_value = "2",
        default_value_if("keep", "last", None)
    )]
    patience: Option<usize>,
    /// What the encoder's linear layers multiply while it is trained; sums are f32 [default: the fastest on
    /// this machine: bf16 on CUDA and on CPUs with AMX or AVX-512 BF16, f32 on others]
    #[arg(long, value_enum)]
    precision: Option<TrainingPrecision>,
    /// Steps after which the training is saved in OUTPUT.checkpoint, besides after each epoch; the folder is
    /// removed once OUTPUT is written
    #[arg(long, value_name = "STEPS", value_parser = count)]
    checkpoint_every: Option<usize>,
    /// Go on where OUTPUT.checkpoint says that an interrupted training stopped, if it is there
    #[arg(long)]
    pub resume: bool,
}

fn adapter(text: &str) -> std::result::Result<Adapter, String> {
    match (text, text.strip_prefix("lora:").map(str::parse)) {
        ("full", _) => Ok(Adapter::Full),
        (_, Some(Ok(rank))) => Ok(Adapter::Lora(rank)),
        _ => Err(
            "fine-tune trains an encoder: name full or lora:RANK, such as lora:16. `caselens train-head` leaves it as it is".into(),
        ),
    }
}

/// What differs from one thing that is learnt to the other.
pub struct Learnt<L> {
    pub head: HeadShape,
    pub loss: L,
    pub learning_rate: f64,
    pub batch: usize,
    pub epochs: usize,
}

impl RunArgs {
    /// How to train with a seed.
    pub fn options<L>(
        &self,
        common: &Common,
        device: &Device,
        learnt: Learnt<L>,
    ) -> Result<EncoderOptions<L>> {
        let keep: Keep = common.keep.keep(self.patience);
        let Some(&seed) = common.seeds.first() else {
            return Err(Error::InvalidArgument("--seeds names no seed.".into()));
        };
        Ok(EncoderOptions {
            adapter: self.adapter,
            freeze: self.freeze,
            head: learnt.head,
            loss: learnt.loss,
            learning_rate: learnt.learning_rate,
            warm_up: self.warm_up,
            clip: self.clip.0,
            weight_decay: self.weight_decay,
            dropout: self.dropout,
            batch: learnt.batch,
            average: self.average,
            epochs: learnt.epochs,
            keep,
            seed,
            precision: self
                .precision
                .unwrap_or_else(|| TrainingPrecision::fastest(device)),
        })
    }

    /// What must be right before hours of work; the published folder.
    pub fn check(&self, common: &Common, output: &Path) -> Result<PathBuf> {
        common.keep.check(self.patience)?;
        if self.freeze != Frozen::Tokens && self.adapter != Adapter::Full {
            return Err(Error::InvalidArgument(
                "--freeze is for --adapter full: with lora all of the encoder's own weights are frozen. Leave it out."
                    .into(),
            ));
        }
        folder::must_be_new(output)?;
        published(&common.model)
    }
}

/// The folder of the encoder that training begins with.
fn published(model: &ModelArgs) -> Result<PathBuf> {
    match model.named()?.filter(|model| model.is_dir()) {
        Some(model) => Ok(model),
        None => Err(Error::InvalidArgument(
            "training needs --model with a Hugging Face folder (config.json, tokenizer.json, model.safetensors) or a name on the hub: make one of a GGUF file with `caselens dequantize --dither 0`."
                .into(),
        )),
    }
}

/// The encoder of a folder, to be trained.
pub fn trainable(folder: &Path) -> Result<BertCheckpoint> {
    match Checkpoint::open(folder)? {
        Checkpoint::Bert(checkpoint) => Ok(checkpoint),
        _ => Err(Error::InvalidArgument(
            "an LLM encoder is not trained itself: with `caselens train-head` a head is trained on it."
                .into(),
        )),
    }
}

/// What the seed that validation rates best left.
pub struct Best<L> {
    pub tuned: FineTuned,
    pub options: EncoderOptions<L>,
    /// What each seed reached, and with its epochs.
    seeds: Seeds,
    histories: Vec<Value>,
}

/// Trains with each seed, one after the other.
pub fn best_seed<O: Objective>(
    task: &Task<'_, O>,
    args: &RunArgs,
    common: &Common,
    checkpoints: &Checkpoints,
) -> Result<Best<O::Loss>> {
    let mut best: Option<(FineTuned, EncoderOptions<O::Loss>)> = None;
    let (mut seeds, mut histories) = (Seeds::default(), Vec::new());
    for &seed in &common.seeds {
        let options = EncoderOptions {
            seed,
            ..task.options.clone()
        };
        let tuned = one_seed(&task.with(&options), args, common.json, checkpoints)?;
        seeds.add(seed, tuned.best, tuned.seconds);
        histories.push(json!({
            "seed": seed,
            "best_epoch": tuned.best,
            "history": tuned.history,
            "seconds": tuned.seconds,
        }));
        let better = best.as_ref().is_none_or(|(b, _)| {
            let (now, before) = (tuned.best.validation.value(), b.best.validation.value());
            now > before || before.is_nan()
        });
        if better {
            best = Some((tuned, options));
        }
    }
    match best {
        Some((tuned, options)) => Ok(Best {
            tuned,
            options,
            seeds,
            histories,
        }),
        None => Err(Error::InvalidArgument("--seeds names no seed.".into())),
    }
}

/// Trains with one seed, from its checkpoint where it has one, and shows how far it is.
fn one_seed<O: Objective>(
    task: &Task<'_, O>,
    args: &RunArgs,
    json: bool,
    checkpoints: &Checkpoints,
) -> Result<FineTuned> {
    let seed = task.options.seed;
    interrupt::watch();
    let from = checkpoints.read(seed)?;
    let bar = progress(&format!("seed {seed}"), 1);
    let mut validated = String::new();
    let mut smooth = curves::Smooth::default();
    let mut first = true;
    // Where nobody watches a bar, lines tell how far it is.
    let lines = !json && !std::io::stderr().is_terminal();
    // The first step's time holds what comes before it.
    let mut began = None;
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
                    "seed {seed} · loss {:.4}{validated}",
                    smooth.add(loss)
                ));
                let (since, before) = *began.get_or_insert((Instant::now(), step));
                if lines && step % LINE_EVERY == 0 && step > before {
                    let each = since.elapsed().as_secs_f64() / (step - before) as f64;
                    let mean = smooth.mean();
                    note!("seed {seed}, step {step} of {of}: loss {mean:.4}, {each:.2} s a step");
                }
                if interrupt::asked() {
                    checkpoints.write(seed, &run.save()?)?;
                    bar.finish_and_clear();
                    note!(
                        "seed {seed} stopped at step {step} of {of}, and what is done is saved: the same command with --resume goes on from there"
                    );
                    interrupt::end();
                }
                match args.checkpoint_every {
                    Some(every) if step % every == 0 => checkpoints.write(seed, &run.save()?),
                    _ => Ok(()),
                }
            }
            Progress::Epoch(epoch) => {
                let (name, shown) = (epoch.validation.name(), epoch.validation.shown());
                validated = format!(" · {name} {shown}");
                let line = format!(
                    "seed {seed}, epoch {}: loss {:.4}, validation {name} {shown}",
                    epoch.epoch, epoch.loss
                );
                if !json {
                    bar.suspend(|| note!("{line}"));
                }
                checkpoints.write(seed, &run.save()?)
            }
        }
    });
    bar.finish_and_clear();
    tuned
}

/// What is written beside the encoder.
pub struct Written<'a> {
    /// The folder that training began with, and what it held.
    pub model: &'a Path,
    pub checkpoint: &'a BertCheckpoint,
    pub case: Case,
    /// How it was trained. What each seed took and reached is added in a file of its own, and not to the head's: that depends on
    /// the training alone.
    pub record: Value,
    pub mentioned: Option<Mentioned>,
    pub condition_only: Option<ConditionOnly>,
}

impl Written<'_> {
    /// Writes the encoder's folder, and says what it is.
    pub fn write<L>(self, output: &Path, best: &Best<L>, json: bool) -> Result<()> {
        let tuned = &best.tuned;
        let what = self.model.join("model.safetensors").display().to_string();
        let weights = save::safetensors(
            &what,
            self.checkpoint.weights.files(),
            &self.checkpoint.config,
            &tuned.weights,
        )?;
        let encoder = folder::encoder(output, &weights);
        let hidden = self.checkpoint.config.hidden_size;
        let mut spec = best.options.head.on(encoder, hidden, self.case);
        spec.training = self.record.clone();
        let head = HeadFile {
            spec,
            layers: tuned.layers.clone(),
            join: tuned.join.clone(),
            mentioned: self.mentioned,
            calibration: None,
            condition_only: self.condition_only,
        };
        let mut files = vec![
            ("model.safetensors", weights),
            (FOLDER_HEAD, head.to_bytes()?),
            (
                RECORD,
                format!("{:#}\n", best.seeds.record(&self.record)).into_bytes(),
            ),
            ("history.csv", curves::history(&tuned.history).into_bytes()),
            (
                "curves.svg",
                curves::chart(&tuned.history, &tuned.losses)?.into_bytes(),
            ),
        ];
        if !tuned.adapters.is_empty() {
            let base = &self.checkpoint.encoder.id;
            let [tensors, config] =
                peft::files(base, self.checkpoint.config.family, &tuned.adapters)?;
            // In a folder of its own: beside merged weights transformers would take it for theirs.
            files.push(("adapter/adapter_model.safetensors", tensors.1));
            files.push(("adapter/adapter_config.json", config.1));
        }
        folder::write(output, files, self.model)?;
        if json {
            return json_line(&json!({
                "output": output, "training": self.record, "spec": head.spec, "seeds": best.histories,
            }));
        }
        let line = best.seeds.line();
        line.iter().for_each(|line| note!("{line}"));
        let reached = tuned.best.validation;
        note!(
            "wrote {}: {}, epoch {}, validation {} {}",
            output.display(),
            describe(&head.spec),
            tuned.best.epoch,
            reached.name(),
            reached.shown()
        );
        Ok(())
    }
}

//! `caselens fine-tune`: the encoder itself, with a head on top or without.

use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
    time::Instant,
};

use candle_core::Device;
use serde_json::json;

use super::{
    Common, Kind, Widths, curves, interrupted::Checkpoints, names, seeds::Seeds, shape_of,
};
use crate::{
    backend::candle::training::parameters::{Adapter, Frozen, TrainingPrecision},
    checkpoint::{BertCheckpoint, Checkpoint, save},
    companion::{
        folder::{self, FOLDER_HEAD, RECORD},
        numbers::{Clip, below_one, clip, count, not_negative, positive, share},
        output::{json_line, progress},
        runtime::{ArchitectureName, describe},
        table::data::{dataset, kept_texts, mentions, sources, teacher},
    },
    data::{
        answers::with_answers,
        baseline::ConditionOnly,
        dataset::Draw,
        mixture::{self, Mixture, Source},
        teacher::taught,
    },
    embedding::{Case, Joint, Pool},
    error::{Error, Result},
    head::{HeadFile, HeadShape},
    text::Order,
    training::{
        encoder::{EncoderOptions, FineTuned, Progress, Task, fine_tune},
        loss::Loss,
        peft,
    },
};

/// Steps from one line of a log to the next.
const LINE_EVERY: usize = 100;

/// Fine-tune the encoder itself on C-STS data, and on a teacher's scores
///
/// Trains the encoder's weights, or low-rank updates of its linear layers, and writes a Hugging Face folder
/// that `quantize`, and every command's --model, take. It embeds with --order cs, --pooling all and
/// --no-subtract unless told otherwise; the folder's head.safetensors remembers how, and holds the head that
/// --kind or --dims put on top. The folder also holds the training's curves (history.csv, curves.svg), and
/// for lora the updates by themselves (adapter/, for the library PEFT).
///
///   caselens fine-tune --model all-MiniLM-L6-v2 --data csts_train.csv --output my-encoder
///   caselens evaluate --model my-encoder --data csts_validation.csv
///
/// The rows of a sentence pair that follow each other, two conditions or more, are trained on together.
/// Where data has the columns answer1 and answer2, what each sentence says about the condition in a few
/// words, the encoder also learns to embed the sentence under the condition as that answer.
/// An interrupted training goes on with --resume, to the same result.
///
/// --teacher names tables of a teacher's answers: sentence1, sentence2, condition and similarity (0 to 1), or
/// label (1 to 5). A row of the data that teachers score learns a mix of its label and their mean; rows that
/// only a teacher scores, such as new conditions for the data's sentence pairs, or new pairs of its sentences,
/// are added. In place of texts a file may hold keys of them (key, or key1 and key2 with key3 or condition):
/// what data/ holds for the published C-STS sentences is made so. `caselens score-table` writes what a large
/// encoder answers. Without --data its answers are all there is to learn from, and rows need no labels:
///
///   caselens score-table --data pairs.csv --output scores.csv --model nvidia/NV-Embed-v2 --head none --device cuda
///   caselens fine-tune --teacher scores.csv --model all-MiniLM-L6-v2 --output my-encoder
///
/// With --architecture tri sentence and condition are encoded apart, and the condition weighs the sentence's
/// tokens in the last layer (CSR; --router paper as published): S sentences under C conditions take S + C passes
/// of the encoder. It adds no parameters. --join names what joins the two in its place: layers that are trained
/// along. head.safetensors remembers how, and holds such layers.
///
/// With --architecture cross the encoder reads both sentences and the condition at once, and a layer on top gives
/// their score (C-STS): a pass for each comparison, and no embeddings. The score is that of the sentences in the
/// order in which they are given. --inputs condition and sentences leave the rest out, to see what it adds. As the
/// paper has it:
///
///   caselens fine-tune --architecture cross --kind transform --loss mse --batch 16 --epochs 3 --keep last \
///       --learning-rate 3e-5 --warm-up 0.1 --clip none --freeze none --seeds 0,1,2 \
///       --model all-MiniLM-L6-v2 --data csts_train.csv --validation csts_validation.csv --output cross
///
/// Without --validation a tenth of the training pairs is held out to find the best epoch, so that a
/// validation file stays untouched for `evaluate`.
#[derive(Debug, clap::Args)]
#[command(
    verbatim_doc_comment,
    mut_arg("architecture", |arg| arg.help("How sentence and condition meet [default: bi]")),
    mut_arg("order", |arg| arg.help("Order of condition (c) and sentence (s) in the encoder's input [default: cs]")),
    mut_arg("pooling", |arg| arg.help("Tokens whose hidden states are averaged [default: all, and cls for cross]")),
    mut_arg("no_subtract", |arg| arg.help("Do not subtract the condition's own embedding [default: true]")),
)]
pub struct Args {
    /// What is trained: full (the encoder's weights, at a learning rate of 1e-4), or lora:RANK (low-rank
    /// updates of its linear layers, merged into its weights at the end; they begin at zero, have further to
    /// go, and learn at 1e-3)
    #[arg(long, value_name = "full|lora:RANK", default_value = "full", value_parser = adapter)]
    adapter: Adapter,
    /// Training data: a table with sentence1, sentence2, condition and label; may be given several times
    #[arg(long, value_name = "FILE", required_unless_present_any = ["teacher", "sources"])]
    data: Vec<PathBuf>,
    /// A table of files to train on, in place of --data and --teacher: kind (rated, teacher, kept or mentioned), file, and
    /// where they are not 1, all and 0: times (how often an epoch reads each row, on the average), conditions (most
    /// of a sentence pair or set in an epoch) and answers (as --answers)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["data", "teacher"])]
    sources: Option<PathBuf>,
    /// A teacher's answers; may be given several times: what several teachers say of a row is averaged
    #[arg(long, value_name = "FILE")]
    teacher: Vec<PathBuf>,
    /// How much teachers count against the label of a row that has one: 0 to 1
    #[arg(
        long,
        value_name = "SHARE",
        value_parser = share,
        default_value = "0.5"
    )]
    teacher_weight: f32,
    /// The encoder's folder, which must not exist yet
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Put a head of this shape on top; with --dims alone an mlp [default: no head]; a cross-encoder has a last layer, of
    /// one output, in any case
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// Width of the hidden layer of an mlp on top [default: 1024]
    #[arg(long, value_name = "N", value_parser = count)]
    hidden: Option<usize>,
    /// Width of the embedding that a head on top makes [default: 256]
    #[arg(long, value_name = "N", value_parser = count)]
    dims: Option<usize>,
    /// Another dropout after each layer of a head on top than that of its kind
    #[arg(long, value_name = "P", value_parser = below_one::<f32>)]
    head_dropout: Option<f32>,
    /// What of the encoder stays as it is: none, tokens (the token table), layers:N (the embedding tables,
    /// MPNet's relative bias and the first N layers), or matrices (all but biases and LayerNorms, BitFit: a
    /// quantized encoder's matrices stay as they were rounded); lora leaves all of it as it is
    #[arg(
        long,
        value_name = "none|tokens|layers:N|matrices",
        default_value = "tokens"
    )]
    freeze: Frozen,
    /// Parts of the loss and their weights, of mse, rank, quad, kept and mentioned
    #[arg(
        long,
        value_name = "NAME[:WEIGHT],…",
        default_value = "mse,rank:0.1,kept:1,mentioned:0.1"
    )]
    loss: Loss,
    /// By how much quad wants the higher-rated of two rows to be the more similar one (C-STS's λ)
    #[arg(long, value_name = "MARGIN", value_parser = positive, default_value = "1")]
    quad_margin: f64,
    /// Dropout in the encoder
    #[arg(long, value_name = "P", value_parser = below_one::<f32>, default_value = "0.1")]
    dropout: f32,
    /// Another highest learning rate than that of --adapter
    #[arg(long, value_name = "RATE", value_parser = positive)]
    learning_rate: Option<f64>,
    /// Share of all steps over which the learning rate rises to its highest; it then falls to 0
    #[arg(long, value_name = "SHARE", value_parser = below_one::<f64>, default_value = "0.06")]
    warm_up: f64,
    /// Shorten gradients that are longer than this, all together; none takes them as they are
    #[arg(long, value_name = "LENGTH|none", value_parser = clip, default_value = "1")]
    clip: Clip,
    /// Weight decay
    #[arg(long, value_name = "DECAY", value_parser = not_negative, default_value = "0.01")]
    weight_decay: f64,
    /// Sentence pairs of two rows a step: a batch is full once the encoder reads four times as many inputs for it, and
    /// never parts a sentence pair
    #[arg(long, value_name = "N", value_parser = count, default_value = "16")]
    batch: usize,
    /// Most conditions of a sentence pair that an epoch sees, drawn anew each time [default: all]
    #[arg(long, value_name = "N", value_parser = count)]
    conditions: Option<usize>,
    /// Most conditions under which an epoch compares a sentence with what it and the other one say about them, drawn
    /// anew each time, where the data has answers
    #[arg(long, value_name = "N", default_value = "1")]
    answers: usize,
    /// Train on so many of the data's sentence pairs, drawn at random: the same every time, and those of a smaller number
    /// among them; a tenth of them is held out where there is no --validation [default: all]
    #[arg(long, value_name = "N", value_parser = count)]
    train_pairs: Option<usize>,
    /// Keep a running average of the weights, of which each step leaves so much (0.999 is the mean of the last thousand
    /// steps or so), and validate and write that [default: the weights as they are]
    #[arg(long, value_name = "SHARE", value_parser = below_one::<f64>)]
    average: Option<f64>,
    /// Most epochs
    #[arg(long, value_name = "N", value_parser = count, default_value = "4")]
    epochs: usize,
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
    resume: bool,
    #[command(flatten)]
    common: Common,
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

impl Args {
    /// What is trained on. Teachers' scores alone are enough.
    fn mixture(&self) -> Result<Mixture> {
        let draw = Draw {
            conditions: self.conditions.unwrap_or(usize::MAX),
            answers: self.answers,
            times: 1.0,
        };
        let listed = match &self.sources {
            Some(path) => sources(path)?,
            None => {
                let listed = |kind, file: &PathBuf| (kind, file.clone(), draw);
                let rated = self
                    .data
                    .iter()
                    .map(|file| listed(mixture::Kind::Rated, file));
                let teachers = self
                    .teacher
                    .iter()
                    .map(|file| listed(mixture::Kind::Teacher, file));
                rated.chain(teachers).collect()
            }
        };
        let mut mixture = Mixture::default();
        let mut teachers = Vec::new();
        for (kind, file, draw) in listed {
            let times = draw.times;
            match kind {
                mixture::Kind::Rated => mixture.rated.append(dataset(&file, None)?.drawn(draw)),
                mixture::Kind::Teacher => teachers.push(teacher(&file)?.drawn(draw)),
                mixture::Kind::Kept => mixture.kept.push(Source {
                    rows: kept_texts(&file)?,
                    times,
                }),
                mixture::Kind::Mentioned => mixture.mentioned.push(Source {
                    rows: mentions(&file)?,
                    times,
                }),
            }
        }
        let rated = taught(&mixture.rated, &teachers, self.teacher_weight)?;
        mixture.rated = with_answers(match self.train_pairs {
            Some(count) => rated.subset(&rated.sample(count)?),
            None => rated,
        });
        match mixture.is_empty() {
            true => Err(Error::InvalidArgument(format!(
                "{} holds nothing to train on. Score some rows with `caselens score-table`.",
                self.data_names()
            ))),
            false => Ok(mixture),
        }
    }

    /// The names of the data files, for a record of the training; of the teachers' where there are no others.
    fn data_names(&self) -> String {
        match (&self.sources, self.data.is_empty()) {
            (Some(path), _) => names(std::slice::from_ref(path)),
            (None, true) => names(&self.teacher),
            (None, false) => names(&self.data),
        }
    }

    /// The teachers' files and their weight, where there are any.
    fn teacher_names(&self) -> Option<String> {
        let files = Some(names(&self.teacher)).filter(|_| !self.teacher.is_empty())?;
        Some(format!("{files}, weight {}", self.teacher_weight))
    }

    /// What is asked of the layers on top.
    fn widths(&self) -> Widths {
        Widths {
            hidden: self.hidden,
            dims: self.dims,
            dropout: self.head_dropout,
        }
    }

    fn options(&self, device: &Device, head: HeadShape, seed: u64) -> EncoderOptions {
        EncoderOptions {
            adapter: self.adapter,
            freeze: self.freeze,
            head,
            loss: Loss {
                margin: self.quad_margin,
                ..self.loss
            },
            learning_rate: self.learning_rate.unwrap_or(match self.adapter {
                Adapter::Full => 1e-4,
                Adapter::Lora(_) => 1e-3,
            }),
            warm_up: self.warm_up,
            clip: self.clip.0,
            weight_decay: self.weight_decay,
            dropout: self.dropout,
            batch: self.batch,
            average: self.average,
            epochs: self.epochs,
            keep: self.common.keep.keep(self.patience),
            seed,
            precision: self
                .precision
                .unwrap_or_else(|| TrainingPrecision::fastest(device)),
        }
    }
}

pub fn run(args: Args) -> Result<()> {
    let args = &args;
    let model = check(args)?;
    let device = args.common.model.training_device()?;
    let checkpoints = Checkpoints::of(&args.output, args.resume)?;
    let mut mixture = args.mixture()?;
    let Checkpoint::Bert(checkpoint) = Checkpoint::open(&model)? else {
        return Err(Error::InvalidArgument(
            "an LLM encoder is not trained itself: with `caselens train-head` a head is trained on it."
                .into(),
        ));
    };
    let baseline = mixture.rated.rows.iter();
    let baseline = ConditionOnly::fit(baseline.map(|r| (r.condition.as_str(), r.rating)));
    let validation = match args.common.validation()? {
        Some(validation) => validation,
        None => {
            let held = mixture.rated.held_out();
            let rest: Vec<bool> = held.iter().map(|h| !h).collect();
            let validation = mixture.rated.subset(&held);
            mixture.rated = mixture.rated.subset(&rest);
            validation
        }
    };
    if mixture.is_empty() {
        return Err(Error::InvalidArgument(format!(
            "{} holds one sentence pair only, and that is held out. Give more data, or --validation.",
            args.data_names()
        )));
    }
    // What works best for an encoder that is trained, unless told otherwise.
    let case = args.common.case.case_or(Case::Joint(Joint {
        orders: vec![Order::ConditionSentence],
        pooling: Pool::All,
        subtract: false,
        router: None,
    }))?;
    let hidden_size = checkpoint.config.hidden_size;
    let head = shape_of(args.kind, &args.widths(), &case, hidden_size);
    let mut best: Option<(FineTuned, EncoderOptions)> = None;
    let mut reached = Vec::new();
    let mut seeds = Seeds::default();
    for &seed in &args.common.seeds {
        let options = args.options(&device, head.clone(), seed);
        let task = Task {
            checkpoint: &checkpoint,
            device: device.clone(),
            case: &case,
            train: &mixture,
            validation: &validation,
            options: &options,
        };
        let tuned = one_seed(args, &task, &checkpoints)?;
        seeds.add(seed, tuned.best, tuned.seconds);
        reached.push(json!({
            "seed": seed,
            "best_epoch": tuned.best,
            "history": tuned.history,
            "seconds": tuned.seconds,
        }));
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
        "data": args.data_names(),
        "rows": mixture.rated.rows.len(),
        "groups": mixture.rated.groups.len(),
        "teachers": args.teacher_names(),
        "validation": args.common.validation_name(),
        "options": options,
        "best_epoch": tuned.best,
    });
    let output = Output {
        model: &model,
        checkpoint: &checkpoint,
        case,
        tuned: &tuned,
        head: options.head,
        record: &record,
        written: &seeds.record(&record),
        condition_only: baseline,
    };
    let head = output.write(&args.output)?;
    checkpoints.remove()?;
    if args.common.json {
        return json_line(&json!({
            "output": args.output, "training": record, "spec": head.spec, "seeds": reached,
        }));
    }
    seeds.line().iter().for_each(|line| eprintln!("{line}"));
    eprintln!(
        "wrote {}: {}, epoch {}, validation Spearman {:.4}",
        args.output.display(),
        describe(&head.spec),
        tuned.best.epoch,
        tuned.best.validation_spearman
    );
    Ok(())
}

/// Trains with one seed, from its checkpoint where it has one, and shows how far it is.
fn one_seed(args: &Args, task: &Task<'_>, checkpoints: &Checkpoints) -> Result<FineTuned> {
    let seed = task.options.seed;
    let from = checkpoints.read(seed)?;
    let bar = progress(&format!("seed {seed}"), 1);
    let mut spearman = String::new();
    let mut smooth = curves::Smooth::default();
    let mut first = true;
    // Where nobody watches a bar, lines tell how far it is.
    let lines = !args.common.json && !std::io::stderr().is_terminal();
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
                    "seed {seed} · loss {:.4}{spearman}",
                    smooth.add(loss)
                ));
                let (since, before) = *began.get_or_insert((Instant::now(), step));
                if lines && step % LINE_EVERY == 0 && step > before {
                    let each = since.elapsed().as_secs_f64() / (step - before) as f64;
                    let mean = smooth.mean();
                    eprintln!(
                        "seed {seed}, step {step} of {of}: loss {mean:.4}, {each:.2} s a step"
                    );
                }
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
                if !args.common.json {
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
    let cross = args.common.case.architecture == Some(ArchitectureName::Cross);
    let head = args.kind.is_some() || args.dims.is_some();
    for (name, given) in [
        ("--hidden", args.hidden.is_some()),
        ("--head-dropout", args.head_dropout.is_some() && !cross),
    ] {
        if given && !head {
            return wrong(format!(
                "{name} needs a head on top of the encoder: add --kind or --dims."
            ));
        }
    }
    args.kind
        .map_or(Ok(()), |kind| kind.check(&args.widths()))?;
    args.common.keep.check(args.patience)?;
    if args.freeze != Frozen::Tokens && args.adapter != Adapter::Full {
        return wrong(
            "--freeze is for --adapter full: with lora all of the encoder's own weights are frozen. Leave it out."
                .into(),
        );
    }
    folder::must_be_new(&args.output)?;
    match args.common.model.named()?.filter(|model| model.is_dir()) {
        Some(model) => Ok(model),
        None => wrong(
            "fine-tune needs --model with a Hugging Face folder (config.json, tokenizer.json, model.safetensors) or a name on the hub: make one of a GGUF file with `caselens dequantize --dither 0`."
                .into(),
        ),
    }
}

/// What is written.
struct Output<'a> {
    model: &'a Path,
    checkpoint: &'a BertCheckpoint,
    case: Case,
    tuned: &'a FineTuned,
    head: HeadShape,
    record: &'a serde_json::Value,
    /// The same with what each seed took and reached, which a head's file leaves out: it depends on the training alone.
    written: &'a serde_json::Value,
    condition_only: ConditionOnly,
}

impl Output<'_> {
    /// Writes the encoder's folder; its head.
    fn write(self, output: &Path) -> Result<HeadFile> {
        let what = self.model.join("model.safetensors").display().to_string();
        let weights = save::safetensors(
            &what,
            self.checkpoint.weights.files(),
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
            join: self.tuned.join.clone(),
            mentioned: self.tuned.mentioned.clone(),
            calibration: None,
            condition_only: Some(self.condition_only),
        };
        let history = &self.tuned.history;
        let mut files = vec![
            ("model.safetensors", weights),
            (FOLDER_HEAD, head.to_bytes()?),
            (RECORD, format!("{:#}\n", self.written).into_bytes()),
            ("history.csv", curves::history(history).into_bytes()),
            (
                "curves.svg",
                curves::chart(history, &self.tuned.losses)?.into_bytes(),
            ),
        ];
        if !self.tuned.adapters.is_empty() {
            let base = &self.checkpoint.encoder.id;
            let [tensors, config] =
                peft::files(base, self.checkpoint.config.family, &self.tuned.adapters)?;
            // In a folder of its own: beside merged weights transformers would take it for theirs.
            files.push(("adapter/adapter_model.safetensors", tensors.1));
            files.push(("adapter/adapter_config.json", config.1));
        }
        folder::write(output, files, self.model)?;
        Ok(head)
    }
}

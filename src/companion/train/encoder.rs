//! `caselens fine-tune`: the encoder itself, with a head on top or without.

use std::path::PathBuf;

use serde_json::json;

use super::{
    Common, Kind, Validation, Widths,
    interrupted::Checkpoints,
    names,
    run::{Learnt, RunArgs, Written, best_seed, trainable},
    shape_of,
};
use crate::{
    backend::candle::training::parameters::Adapter,
    companion::{
        numbers::{below_one, count, positive, share},
        runtime::ArchitectureName,
        table::data::{RulesArgs, dataset_by, kept_texts, mentions, sources, teacher},
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
    text::Order,
    training::{
        loss::Loss,
        rated::{self, Task},
    },
};

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
/// With --unconditional, rows without a condition teach how alike their sentences are by themselves, as the STS benchmark
/// has it:
///
///   caselens fine-tune --data stsb-train.csv --validation stsb-dev.csv --unconditional --labels 0-5 --loss mse \
///       --model all-MiniLM-L6-v2 --output sts
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
    /// The highest learning rate [default: 1e-4, and 1e-3 for lora, which begins at zero and has further to go]
    #[arg(long, value_name = "RATE", value_parser = positive)]
    learning_rate: Option<f64>,
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
    /// The folder of an encoder whose similarities kept texts are to have [default: the one that is trained, as it begins]
    #[arg(long, value_name = "DIR", requires = "sources")]
    kept_as: Option<PathBuf>,
    /// Most epochs
    #[arg(long, value_name = "N", value_parser = count, default_value = "4")]
    epochs: usize,
    #[command(flatten)]
    training: RunArgs,
    #[command(flatten)]
    rules: RulesArgs,
    #[command(flatten)]
    held: Validation,
    #[command(flatten)]
    common: Common,
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
                mixture::Kind::Rated => {
                    let data = dataset_by(&file, None, self.rules.into())?;
                    mixture.rated.append(data.drawn(draw));
                }
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

    /// At what rate it learns; low-rank updates begin at zero, and have further to go.
    fn learning_rate(&self) -> f64 {
        self.learning_rate.unwrap_or(match self.training.adapter {
            Adapter::Full => 1e-4,
            Adapter::Lora(_) => 1e-3,
        })
    }
}

pub fn run(args: Args) -> Result<()> {
    let Args {
        training, common, ..
    } = &args;
    let model = check(&args)?;
    let device = common.model.training_device()?;
    let checkpoints = Checkpoints::of(&args.output, training.resume)?;
    let mut mixture = args.mixture()?;
    let checkpoint = trainable(&model)?;
    let general = args.kept_as.as_deref().map(trainable).transpose()?;
    let rows = mixture.rated.rows.iter();
    let mut conditional = rows.filter(|row| !row.condition.is_empty()).peekable();
    let baseline = conditional
        .peek()
        .is_some()
        .then(|| ConditionOnly::fit(conditional.map(|row| (row.condition.as_str(), row.rating))));
    let validation = match args.held.read(args.rules.into())? {
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
    let case = common.case.case_or(Case::Joint(Joint {
        orders: vec![Order::ConditionSentence],
        pooling: Pool::All,
        subtract: false,
        router: None,
    }))?;
    let learnt = Learnt {
        head: shape_of(
            args.kind,
            &args.widths(),
            &case,
            checkpoint.config.hidden_size,
        ),
        loss: Loss {
            margin: args.quad_margin,
            ..args.loss
        },
        learning_rate: args.learning_rate(),
        batch: args.batch,
        epochs: args.epochs,
    };
    let options = training.options(common, &device, learnt)?;
    let task = Task {
        checkpoint: &checkpoint,
        general: general.as_ref(),
        device,
        case: &case,
        train: &mixture,
        validation: &validation,
        options: &options,
    };
    let best = best_seed(&task, training, common, &checkpoints)?;
    let record = json!({
        "base": checkpoint.encoder,
        "case": case,
        "data": args.data_names(),
        "rows": mixture.rated.rows.len(),
        "groups": mixture.rated.groups.len(),
        "teachers": args.teacher_names(),
        "kept_as": general.as_ref().map(|general| &general.encoder),
        "validation": args.held.name(),
        "options": best.options,
        "best_epoch": best.tuned.best,
    });
    let written = Written {
        model: &model,
        checkpoint: &checkpoint,
        mentioned: rated::mentioned(&best.tuned),
        case,
        record,
        condition_only: baseline,
    };
    written.write(&args.output, &best, common.json)?;
    checkpoints.remove()
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
    args.training.check(&args.common, &args.output)
}

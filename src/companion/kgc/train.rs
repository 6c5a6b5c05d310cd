//! `caselens kgc train`: an encoder learns the links of a knowledge graph.

use std::path::PathBuf;

use serde_json::json;

use super::{GraphArgs, link_case};
use crate::{
    companion::{
        numbers::{count, not_negative, positive},
        train::{
            Common,
            interrupted::Checkpoints,
            run::{Learnt, RunArgs, Written, best_seed, trainable},
        },
    },
    error::Result,
    head::HeadShape,
    training::links::{self, LinkLoss, Task},
};

/// Train an encoder on the links of a knowledge graph
///
/// For each triple of train.txt, and for its inverse, the head's text under the relation's words is to be more
/// similar to the tail's text than to the other tails of the batch and to the head's own text, but those that are
/// known to be right as well: InfoNCE with a margin and a temperature that is learnt, as SimKGC trains. After each
/// epoch the entities are ranked for the triples of valid.txt; test.txt is not read.
///
/// Writes a Hugging Face folder as `caselens fine-tune` does, which `kgc evaluate` and every other command's --model
/// take; head.safetensors in it remembers how head and relation meet: by default in one input, the head first.
/// An interrupted training goes on with --resume, to the same result.
///
///   caselens kgc train --data umls --model all-MiniLM-L6-v2 --output my-encoder
#[derive(Debug, clap::Args)]
#[command(
    verbatim_doc_comment,
    mut_arg("architecture", |arg| arg.help("How head and relation meet [default: bi]")),
    mut_arg("order", |arg| arg.help("Order of relation (c) and head (s) in the encoder's input, one of the two [default: sc]")),
    mut_arg("pooling", |arg| arg.help("Tokens whose hidden states are averaged [default: all]")),
    mut_arg("no_subtract", |arg| arg.help("Do not subtract the relation's own embedding [default: true]")),
)]
pub struct Args {
    #[command(flatten)]
    graph: GraphArgs,
    /// The encoder's folder, which must not exist yet
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// By how much the right tail is to be more similar than others
    #[arg(long, value_name = "MARGIN", value_parser = not_negative, default_value_t = LinkLoss::default().margin)]
    margin: f64,
    /// What similarities are divided by at first
    #[arg(long, value_name = "T", value_parser = positive, default_value_t = LinkLoss::default().temperature)]
    temperature: f64,
    /// The highest learning rate
    #[arg(long, value_name = "RATE", value_parser = positive, default_value = "5e-5")]
    learning_rate: f64,
    /// Triples a step: the others' tails are what each is told from. The encoder reads up to three inputs for each
    #[arg(long, value_name = "N", value_parser = count, default_value = "128")]
    batch: usize,
    /// Most epochs
    #[arg(long, value_name = "N", value_parser = count, default_value = "10")]
    epochs: usize,
    #[command(flatten)]
    training: RunArgs,
    #[command(flatten)]
    common: Common,
}

pub fn run(args: Args) -> Result<()> {
    let Args {
        training, common, ..
    } = &args;
    let model = training.check(common, &args.output)?;
    let case = common.case.case_or(link_case())?;
    let device = common.model.training_device()?;
    let checkpoints = Checkpoints::of(&args.output, training.resume)?;
    let graph = args.graph.open()?;
    let validation = args.graph.triples(&graph, "valid")?;
    let checkpoint = trainable(&model)?;
    let learnt = Learnt {
        head: HeadShape::default(),
        loss: LinkLoss {
            margin: args.margin,
            temperature: args.temperature,
        },
        learning_rate: args.learning_rate,
        batch: args.batch,
        epochs: args.epochs,
    };
    let options = training.options(common, &device, learnt)?;
    let task = Task {
        checkpoint: &checkpoint,
        general: None,
        device,
        case: &case,
        train: &graph,
        validation: validation.as_slice(),
        options: &options,
    };
    let best = best_seed(&task, training, common, &checkpoints)?;
    let record = json!({
        "base": checkpoint.encoder,
        "case": case,
        "graph": args.graph.name(),
        "entities": graph.entities(),
        "relations": graph.relations(),
        "triples": graph.training.len(),
        "neighbours": graph.reading.neighbours,
        "tokens": graph.reading.tokens,
        "options": best.options,
        "temperature": links::temperature(&best.tuned),
        "best_epoch": best.tuned.best,
    });
    let written = Written {
        model: &model,
        checkpoint: &checkpoint,
        case,
        record,
        mentioned: None,
        condition_only: None,
    };
    written.write(&args.output, &best, common.json)?;
    checkpoints.remove()
}

//! `caselens kgc evaluate`: how well an encoder finds the links of a knowledge graph.

use clap::ValueEnum;
use serde_json::json;

use super::{GraphArgs, case_of};
use crate::{
    checkpoint::Checkpoint,
    companion::{
        folder::FOLDER_HEAD,
        numbers::count,
        output::{json_line, progress, text_line},
        runtime::{CaseArgs, ModelArgs},
        wait,
    },
    data::graph::Answers,
    error::{Error, Result},
    evaluation::{
        links::{rank_links, texts},
        ranking::Ranking,
    },
    head::HeadFile,
};

/// Which triples are ranked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Split {
    /// those of valid.txt
    Valid,
    /// those of test.txt
    Test,
}

impl Split {
    const ALL: [Self; 2] = [Self::Valid, Self::Test];

    fn stem(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Test => "test",
        }
    }
}

/// Evaluate how well an encoder finds links: MRR, Hits@1, 3 and 10, mean rank
///
/// For each triple all entities are ranked as the tail of its head under its relation, by the cosine of the head's
/// text under the relation's words and each entity's own text; and as the head of its tail under the inverse
/// relation. Other entities that train.txt, valid.txt or test.txt say are right as well are not counted (filtered
/// ranks). Entities of the same similarity share the mean of their ranks.
///
///   caselens kgc evaluate --data umls --model all-MiniLM-L6-v2
#[derive(Debug, clap::Args)]
#[command(
    verbatim_doc_comment,
    mut_arg("architecture", |arg| arg.help("How head and relation meet [default: what head.safetensors in the encoder's folder says, else bi, and instruct for an LLM encoder]")),
    mut_arg("order", |arg| arg.help("Order of relation (c) and head (s) in the encoder's input, one of the two [default: as for --architecture, else sc]")),
    mut_arg("pooling", |arg| arg.help("Tokens whose hidden states are averaged [default: as for --architecture, else all]")),
    mut_arg("no_subtract", |arg| arg.help("Do not subtract the relation's own embedding [default: as for --architecture, else true]")),
)]
pub struct Args {
    #[command(flatten)]
    graph: GraphArgs,
    /// Which triples are ranked for
    #[arg(long, value_enum, default_value = "test")]
    split: Split,
    /// Rank for the first N of them alone
    #[arg(long, value_name = "N", value_parser = count)]
    limit: Option<usize>,
    /// Print JSON, figures as fractions
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    case: CaseArgs,
    #[command(flatten)]
    model: ModelArgs,
}

pub fn run(args: Args) -> Result<()> {
    let graph = args.graph.open()?;
    let mut known = graph.training.clone();
    let mut triples = Vec::new();
    for split in Split::ALL {
        // What is not ranked for is only what else is true, and may be missing.
        if split != args.split && args.graph.find(split.stem()).is_none() {
            continue;
        }
        let more = args.graph.triples(&graph, split.stem())?;
        known.extend(&more);
        if split == args.split {
            triples = more;
        }
    }
    triples.truncate(args.limit.unwrap_or(usize::MAX));
    let head = args.head()?;
    let said = head.as_ref().map(|head| head.spec.case.clone());
    let case = |checkpoint: &Checkpoint| {
        let otherwise = said.clone().unwrap_or_else(|| case_of(checkpoint));
        args.case.case_or(otherwise)
    };
    // What the options say differently is not what the head was made for.
    let head = match &said {
        Some(said) if args.case.case_or(said.clone())? == *said => head,
        _ => None,
    };
    let mut lens = args.model.lens(head.as_ref(), case)?;
    let shape = &mut lens.encoder.shape;
    shape.max_tokens = shape.max_tokens.min(graph.reading.tokens);

    let bar = progress("reading", texts(&graph, &triples) as u64);
    let known = Answers::of(&known);
    let ranked = rank_links(
        &lens.encoder,
        &lens.case,
        &graph,
        &triples,
        &known,
        |more| {
            bar.inc(more as u64);
        },
    );
    let scores = wait(ranked)?;
    bar.finish_and_clear();
    if args.json {
        return json_line(&json!({
            "encoder": lens.encoder.id, "case": lens.case, "split": args.split.stem(), "entities": graph.entities(),
            "triples": triples.len(), "tail": scores.tail, "head": scores.head, "mean": scores.mean,
        }));
    }
    text_line(&format!(
        "{}\n{}: {} triples of {}, {} ranked among {} entities (filtered)\n",
        lens.encoder.id,
        args.graph.name(),
        triples.len(),
        args.split.stem(),
        scores.mean.ranked,
        graph.entities()
    ))?;
    text_line("             MRR  Hits@1  Hits@3  Hits@10  mean rank")?;
    let line = |name: &str, s: &Ranking| {
        let [mrr, one, three, ten] =
            [s.mrr, s.hits_at_1, s.hits_at_3, s.hits_at_10].map(|share| 100.0 * share);
        text_line(&format!(
            "{name:<8} {mrr:>7.2} {one:>7.2} {three:>7.2} {ten:>8.2} {:>10.1}",
            s.mean_rank
        ))
    };
    line("tail", &scores.tail)?;
    line("head", &scores.head)?;
    line("mean", &scores.mean)
}

impl Args {
    /// The head in the encoder's folder, where there is one: it says how embeddings are made.
    ///
    /// # Errors
    /// It has layers, which entities by themselves do not go through.
    fn head(&self) -> Result<Option<HeadFile>> {
        let path = self.model.named()?.map(|folder| folder.join(FOLDER_HEAD));
        let Some(path) = path.filter(|path| path.is_file()) else {
            return Ok(None);
        };
        let head = HeadFile::open(&path)?;
        match head.layers.is_empty() {
            true => Ok(Some(head)),
            false => Err(Error::InvalidArgument(format!(
                "{} projects embeddings under conditions alone: they do not compare with entities by themselves. Take an encoder without a head on top.",
                path.display()
            ))),
        }
    }
}

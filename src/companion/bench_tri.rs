//! `caselens bench-tri`: what encoding sentences and conditions apart saves on this machine (CSR, Figure 4b).

use std::{path::PathBuf, time::Instant};

use serde::Serialize;

use super::{
    numbers::count,
    output::{json_line, text_line},
    runtime::{ArchitectureName, CaseArgs, ModelArgs},
    table::data::dataset,
    wait,
};
use crate::{
    embedding::{
        Apart, Case, Input, Join, Joint, Pool, Router, plan::Job, router::passes::ApartPasses,
    },
    error::{Error, Result},
    lens::{Finish, Lens, rows::Distinct},
    text::Order,
};

/// Time an encoder that reads sentence and condition apart, against both in one input
///
/// Embeds sentences under conditions, each sentence under each condition or those of a table's rows: by a bi-encoder, one
/// pass of the encoder for each sentence under each condition; and by a tri-encoder with a router in none, one, or more of
/// the last layers, one pass for each sentence and one for each condition. Online, these are cached while computing;
/// offline, they were computed before, and the rest is timed. Also tells how many bytes of them are kept.
///
///   caselens bench-tri --model all-MiniLM-L6-v2 --sentences 200 --conditions 200
///   caselens bench-tri --model my-encoder --data csts_validation.csv --router paper --layers 0,1,3
#[derive(Debug, clap::Args)]
#[command(
    verbatim_doc_comment,
    mut_arg("architecture", |arg| arg.hide(true)),
    mut_arg("join", |arg| arg.hide(true)),
    mut_arg("router_layers", |arg| arg.hide(true)),
    mut_arg("setting", |arg| arg.hide(true)),
    mut_arg("order", |arg| arg.hide(true)),
    mut_arg("no_subtract", |arg| arg.hide(true)),
)]
pub struct Args {
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    case: CaseArgs,
    /// A table of sentence pairs under conditions, in place of made-up ones
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sentences", "conditions"])]
    data: Option<PathBuf>,
    /// Only the first rows of the table
    #[arg(long, value_name = "N", value_parser = count, requires = "data")]
    limit: Option<usize>,
    /// Sentences of twenty words or so that are made up
    #[arg(long, value_name = "N", value_parser = count, default_value = "100")]
    sentences: usize,
    /// Conditions of three words or so that are made up
    #[arg(long, value_name = "N", value_parser = count, default_value = "100")]
    conditions: usize,
    /// In how many of the last layers a router works, one after the other [default: from 0 to all of them]
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    layers: Vec<usize>,
    /// Times of which the fastest counts
    #[arg(long, value_name = "N", value_parser = count, default_value = "1")]
    runs: usize,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Line {
    /// bi or tri.
    architecture: &'static str,
    /// Routed layers, of tri-encoders.
    #[serde(skip_serializing_if = "Option::is_none")]
    layers: Option<usize>,
    /// Sentences under conditions.
    embeddings: usize,
    /// Passes of the encoder: inputs that enter its first layer.
    passes: usize,
    /// Seconds for all embeddings; of a tri-encoder online.
    seconds: f64,
    /// Seconds where sentences and conditions were encoded before.
    #[serde(skip_serializing_if = "Option::is_none")]
    offline_seconds: Option<f64>,
    /// Bytes kept of sentences, and of conditions.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept_bytes: Option<[usize; 2]>,
}

pub fn run(args: Args) -> Result<()> {
    let router = router(&args.case)?;
    let bi = Case::Joint(Joint {
        orders: vec![Order::ConditionSentence],
        pooling: Pool::All,
        subtract: false,
        router: None,
    });
    let lens = args.model.lens(None, |_| Ok(bi.clone()))?;
    let all = lens.encoder.bert()?.0.layers().len();
    let layers = match args.layers.is_empty() {
        true => (0..=all).collect(),
        false => args.layers.clone(),
    };
    let cases: Vec<(usize, Case)> = layers
        .into_iter()
        .map(|layers| {
            let join = Join::Router(Router { layers, ..router.1 });
            let pooling = router.0;
            (layers, Case::Apart(Apart { pooling, join }))
        })
        .collect();
    for (_, case) in &cases {
        lens.encoder.check(case)?;
    }
    let inputs = inputs(&lens, &args)?;
    if !args.json {
        let (encoder, dtype) = (&lens.encoder.id, &lens.encoder.dtype);
        let backend = lens.encoder.backend.name();
        text_line(&format!("{encoder} in {dtype} on {backend}"))?;
    }
    // The first pass fills buffers and caches.
    embed(&lens, &bi, &inputs[..inputs.len().min(64)])?;
    let line = Line {
        architecture: "bi",
        layers: None,
        embeddings: inputs.len(),
        passes: inputs.len(),
        seconds: fastest(args.runs, || embed(&lens, &bi, &inputs))?,
        offline_seconds: None,
        kept_bytes: None,
    };
    print(&line, args.json)?;
    for (layers, case) in &cases {
        let to_encode = passes(&lens, case, &inputs)?.to_encode();
        let online = fastest(args.runs, || embed(&lens, case, &inputs))?;
        let (mut kept, mut offline) = ([0; 2], f64::INFINITY);
        for _ in 0..args.runs {
            let mut passes = passes(&lens, case, &inputs)?;
            kept = passes.prepare()?;
            let start = Instant::now();
            while let Some(embedded) = passes.embed_next()? {
                let rows: Vec<_> = embedded.conditional.iter().map(|made| &made.rows).collect();
                wait(crate::backend::Backend::read(&lens.encoder.backend, &rows))?;
            }
            offline = offline.min(start.elapsed().as_secs_f64());
        }
        let line = Line {
            architecture: "tri",
            layers: Some(*layers),
            embeddings: inputs.len(),
            passes: to_encode,
            seconds: online,
            offline_seconds: Some(offline),
            kept_bytes: Some(kept),
        };
        print(&line, args.json)?;
    }
    Ok(())
}

/// The pooling and the router that were asked for.
fn router(case: &CaseArgs) -> Result<(Pool, Router)> {
    let args = CaseArgs {
        architecture: Some(ArchitectureName::Tri),
        ..case.clone()
    };
    match args.case_or(Case::tri(Router::default()))? {
        Case::Apart(Apart {
            pooling,
            join: Join::Router(router),
        }) => Ok((pooling, router)),
        _ => Err(Error::InvalidArgument(
            "what is timed is a tri-encoder with a router. Leave --join out.".into(),
        )),
    }
}

fn passes<'a>(
    lens: &'a Lens,
    case: &'a Case,
    inputs: &'a [Input],
) -> Result<ApartPasses<'a, crate::backend::any::AnyBackend>> {
    let job = Job {
        inputs,
        case: Some(case),
        plain: Pool::All,
        look: false,
    };
    ApartPasses::new(&lens.encoder, job, case, &mut Vec::new())
}

fn embed(lens: &Lens, case: &Case, inputs: &[Input]) -> Result<()> {
    let job = Job {
        inputs,
        case: Some(case),
        plain: Pool::All,
        look: false,
    };
    let finish = Finish {
        head: None,
        normalize: false,
    };
    wait(lens.encoder.run(job, finish)).map(|_| ())
}

/// Seconds of the fastest of some runs.
fn fastest(runs: usize, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut fastest = f64::INFINITY;
    for _ in 0..runs {
        let start = Instant::now();
        work()?;
        fastest = fastest.min(start.elapsed().as_secs_f64());
    }
    Ok(fastest)
}

/// The inputs, none twice.
fn inputs(lens: &Lens, args: &Args) -> Result<Vec<Input>> {
    let conditional = |sentence: &str, condition: &str| {
        let what = format!(" \"{condition:.60}\"");
        lens.encoder.conditional(sentence, condition, &what)
    };
    if let Some(path) = &args.data {
        let data = dataset(path, args.limit)?;
        let mut distinct = Distinct::default();
        for row in &data.rows {
            for sentence in [&row.sentence1, &row.sentence2] {
                distinct.add(sentence, &row.condition);
            }
        }
        let inputs = distinct.inputs.iter();
        return inputs.map(|(s, c)| conditional(s, c)).collect();
    }
    let sentences: Vec<String> = (0..args.sentences).map(|i| made_up(i, 18)).collect();
    let conditions: Vec<String> = (0..args.conditions).map(|i| made_up(i, 1)).collect();
    let pairs = sentences
        .iter()
        .flat_map(|s| conditions.iter().map(move |c| (s, c)));
    pairs.map(|(s, c)| conditional(s, c)).collect()
}

/// A text of that number and some two words more than so many: which ones makes no difference to the time.
fn made_up(number: usize, words: usize) -> String {
    const WORDS: [&str; 16] = [
        "dog", "river", "street", "woman", "ball", "green", "two", "plays", "near", "old", "house",
        "morning", "bus", "people", "red", "waits",
    ];
    let digits = (0..).scan(number, |rest, _| {
        let digit = *rest % WORDS.len();
        *rest /= WORDS.len();
        Some(digit)
    });
    // The number in words first, so that no two texts are alike.
    let own = number
        .checked_ilog(WORDS.len())
        .map_or(1, |n| n as usize + 1);
    let rest = (0..words).map(|i| (number * 7 + i * 5) % WORDS.len());
    let words: Vec<&str> = (digits.take(own).chain(rest))
        .map(|word| WORDS[word])
        .collect();
    format!("the {}", words.join(" "))
}

fn print(line: &Line, json: bool) -> Result<()> {
    if json {
        return json_line(line);
    }
    let name = match line.layers {
        None => "bi".to_owned(),
        Some(1) => "tri, 1 routed layer".to_owned(),
        Some(layers) => format!("tri, {layers} routed layers"),
    };
    let passes = line.passes;
    let offline = match (line.offline_seconds, line.kept_bytes) {
        (Some(seconds), Some([sentences, conditions])) => format!(
            "   offline {seconds:>8.3} s   kept {:.1} MB of sentences, {:.2} MB of conditions",
            sentences as f64 / 1e6,
            conditions as f64 / 1e6
        ),
        _ => String::new(),
    };
    text_line(&format!(
        "{name:<22} {:>6} embeddings, {passes:>6} passes {:>9.3} s{offline}",
        line.embeddings, line.seconds
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_texts_that_are_made_up_are_alike() {
        for words in [1, 18] {
            let mut texts: Vec<String> = (0..5000).map(|i| made_up(i, words)).collect();
            texts.sort();
            texts.dedup();
            assert_eq!(texts.len(), 5000);
        }
    }
}

//! `caselens explain`: what a comparison is made of, step by step and token by token.

use serde::Serialize;

use super::{
    output::{json_line, text_line},
    runtime::LensArgs,
    wait,
};
use crate::{
    embedding::Case,
    error::Result,
    lens::{
        Lens,
        explain::{Step, StepName, Switches},
        reading::{Part, Reading, Token},
    },
};

/// Show what a comparison is made of, step by step and token by token
///
/// Prints the cosine after each step, and of either sentence each token with how much it counts. By a tri-encoder's
/// router: the weight that the condition gives it in each routed layer, and beside them how [CLS] attends to it in the
/// last layer without a condition; each column sums to 1. By a bi-encoder: how the condition's tokens attend to it in
/// each layer, on the average.
///
///   caselens explain "She plays chess in the park" "He plays football in the park" --condition "the game"
///   caselens explain … --model my-tri-encoder
///   caselens explain … --model all-MiniLM-L6-v2 --head none --architecture tri --router paper
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The first sentence
    #[arg(value_name = "SENTENCE 1")]
    sentence1: String,
    /// The second sentence
    #[arg(value_name = "SENTENCE 2")]
    sentence2: String,
    /// The condition
    #[arg(short, long, value_name = "TEXT")]
    condition: String,
    /// Print one JSON object: condition, steps, similarity, rating, and tokens with columns of numbers for each sentence
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    lens: LensArgs,
}

#[derive(Serialize)]
struct Explained {
    condition: String,
    steps: Vec<Named>,
    similarity: f32,
    rating: f32,
    sentences: Vec<Table>,
}

#[derive(Serialize)]
struct Named {
    name: StepName,
    cosine: f32,
}

/// A sentence's tokens, and columns of numbers for them.
#[derive(Serialize)]
struct Table {
    /// Which sentence, and in which order with the condition where there are several.
    title: String,
    tokens: Vec<String>,
    columns: Vec<Column>,
}

#[derive(Serialize)]
struct Column {
    name: String,
    numbers: Vec<f32>,
}

pub fn run(args: Args) -> Result<()> {
    let lens = args.lens.open()?;
    let sentences = [&*args.sentence1, &*args.sentence2];
    let explained = match &lens.case {
        Case::Apart(_) => apart(&lens, sentences, &args.condition)?,
        Case::Joint(_) | Case::Instructed(_) | Case::Cross(_) | Case::Prompted(_) => {
            joint(&lens, sentences, &args.condition)?
        }
    };
    match args.json {
        true => json_line(&explained),
        false => print(&explained),
    }
}

fn steps(steps: &[Step]) -> Vec<Named> {
    let named = steps.iter().map(|step| Named {
        name: step.name,
        cosine: step.cosine,
    });
    named.collect()
}

fn apart(lens: &Lens, sentences: [&str; 2], condition: &str) -> Result<Explained> {
    let explained = wait(lens.explain_apart(sentences, condition))?;
    let layers = lens.encoder.bert()?.0.layers().len();
    let tables = explained
        .sentences
        .into_iter()
        .zip(1..)
        .map(|(weighed, n)| {
            let first = layers - weighed.weights.len();
            let routed = weighed.weights.into_iter().zip(first + 1..);
            let routed = routed.map(|(numbers, layer)| Column {
                name: format!("layer {layer}"),
                numbers,
            });
            let cls = Column {
                name: "[CLS]".into(),
                numbers: weighed.cls,
            };
            Table {
                title: format!("sentence {n}"),
                tokens: texts(&weighed.tokens),
                columns: routed.chain([cls]).collect(),
            }
        });
    Ok(Explained {
        sentences: tables.collect(),
        condition: explained.condition,
        steps: steps(&explained.steps),
        similarity: explained.similarity,
        rating: explained.rating,
    })
}

fn joint(lens: &Lens, sentences: [&str; 2], condition: &str) -> Result<Explained> {
    let explained = wait(lens.explain(sentences, Some(condition), Switches::default()))?;
    let tables = explained
        .readings
        .iter()
        .zip(1..)
        .flat_map(|(readings, n)| {
            let several = readings.len() > 1;
            readings.iter().zip(1..).map(move |(reading, order)| Table {
                title: match several {
                    true => format!("sentence {n}, input {order}"),
                    false => format!("sentence {n}"),
                },
                tokens: texts(&reading.tokens),
                columns: attention(reading),
            })
        });
    Ok(Explained {
        sentences: tables.collect(),
        condition: explained.condition.unwrap_or_default(),
        steps: steps(&explained.steps),
        similarity: explained.similarity,
        rating: explained.rating,
    })
}

/// How the condition's tokens attend, on the average: a column a layer.
fn attention(reading: &Reading) -> Vec<Column> {
    let layers = reading.attention.iter().zip(1..).map(|(rows, layer)| {
        let mean = |token: usize| {
            let sum: f32 = rows.iter().filter_map(|row| row.get(token)).sum();
            sum / rows.len().max(1) as f32
        };
        Column {
            name: format!("layer {layer}"),
            numbers: (0..reading.tokens.len()).map(mean).collect(),
        }
    });
    layers.collect()
}

/// Tokens as the vocabulary writes them; the condition's with a mark before them.
fn texts(tokens: &[Token]) -> Vec<String> {
    let text = |token: &Token| match token.part {
        Part::Condition => format!("· {}", token.text),
        Part::Sentence | Part::Special => token.text.clone(),
    };
    tokens.iter().map(text).collect()
}

fn print(explained: &Explained) -> Result<()> {
    let name = |name: StepName| match name {
        StepName::Plain => "without a condition",
        StepName::Joint => "under the condition",
        StepName::Offset => "minus the condition's own embedding",
        StepName::Projected => "through the head",
    };
    for step in &explained.steps {
        text_line(&format!("{:>7.3}   {}", step.cosine, name(step.name)))?;
    }
    let rating = explained.rating;
    text_line(&format!(
        "rating {rating:.1}, under: {}",
        explained.condition
    ))?;
    for table in &explained.sentences {
        let width = table.tokens.iter().map(|t| t.chars().count()).max();
        let width = width.unwrap_or(0).max(table.title.chars().count());
        let names = table.columns.iter();
        let names: String = names.map(|column| format!("{:>9}", column.name)).collect();
        text_line(&format!("\n{:<width$}{names}", table.title))?;
        for (i, token) in table.tokens.iter().enumerate() {
            let numbers = table.columns.iter().filter_map(|c| c.numbers.get(i));
            let numbers: String = numbers.map(|x| format!("{x:>9.3}")).collect();
            text_line(&format!("{token:<width$}{numbers}"))?;
        }
    }
    Ok(())
}

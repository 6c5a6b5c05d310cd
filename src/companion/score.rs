//! `caselens score`: two sentences, some conditions, one similarity each.

use serde::Deserialize;

use super::{
    input::lines,
    output::{json_line, text_line},
    runtime::LensArgs,
    wait,
};
use crate::{
    error::{Error, Result},
    lens::{Comparison, Lens},
};

/// Compare two sentences under one or more conditions
///
/// Prints a line per condition: the similarity (cosine), the same as a rating from 1 to 5, and for
/// comparison the similarity without a condition. What makes a number mean little stands behind it: a sentence that
/// says nothing about the condition, another language than the model was trained on, signs that the encoder does not
/// know, an end that was not read.
///
///   caselens score "Three children build a sandcastle." "A lone surfer waits." \
///       --condition "the number of people" --condition "the activity"
///
/// Without sentences, reads JSON lines {"sentence1", "sentence2", "condition"} from standard input.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The first sentence
    #[arg(requires = "sentence2", value_name = "SENTENCE 1")]
    sentence1: Option<String>,
    /// The second sentence
    #[arg(value_name = "SENTENCE 2")]
    sentence2: Option<String>,
    /// A condition; may be given several times
    #[arg(short, long, value_name = "TEXT")]
    condition: Vec<String>,
    /// Print one JSON object a line: condition, similarity, rating, unconditional, and where they apply truncated,
    /// unknown, language and mentioned
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    lens: LensArgs,
}

#[derive(Deserialize)]
struct Row {
    sentence1: String,
    sentence2: String,
    condition: String,
}

pub fn run(args: Args) -> Result<()> {
    let lens = args.lens.open()?;
    let (Some(s1), Some(s2)) = (&args.sentence1, &args.sentence2) else {
        return score_lines(&lens, args.json);
    };
    if args.condition.is_empty() {
        return Err(Error::InvalidArgument(
            "no condition was given. Add --condition \"the place\".".into(),
        ));
    }
    let conditions: Vec<&str> = args.condition.iter().map(String::as_str).collect();
    for comparison in wait(lens.compare(s1, s2, &conditions))? {
        print(&lens, &comparison, args.json)?;
    }
    Ok(())
}

fn score_lines(lens: &Lens, json: bool) -> Result<()> {
    for line in lines() {
        let line = line?;
        if line.is_empty() {
            continue;
        }
        let row: Row = line.json("{\"sentence1\", \"sentence2\", \"condition\"}")?;
        let results = wait(lens.compare(&row.sentence1, &row.sentence2, &[&row.condition]))
            .map_err(|e| line.refuse(e))?;
        for comparison in results {
            print(lens, &comparison, json)?;
        }
    }
    Ok(())
}

fn print(lens: &Lens, comparison: &Comparison, json: bool) -> Result<()> {
    if json {
        return json_line(comparison);
    }
    let notes: String = notes(lens, comparison)
        .iter()
        .map(|note| format!("   [{note}]"))
        .collect();
    text_line(&format!(
        "{:>7.3}   rating {:.1}   {}   (without a condition {:.3}){notes}",
        comparison.similarity, comparison.rating, comparison.condition, comparison.unconditional,
    ))
}

/// What makes the numbers mean little.
fn notes(lens: &Lens, comparison: &Comparison) -> Vec<String> {
    let mut notes = Vec::new();
    let said = comparison.mentioned.zip(lens.mentioned());
    notes.extend(said.and_then(|(p, mentioned)| mentioned.unsaid(p).map(str::to_owned)));
    for (language, number) in comparison.language.iter().zip(1..) {
        notes.extend(language.map(|language| {
            format!(
                "sentence {number} looks like {}, on which the model was not trained",
                language.name
            )
        }));
    }
    match comparison.unknown {
        0 => {}
        1 => notes.push("1 piece is not known to the encoder".into()),
        n => notes.push(format!("{n} pieces are not known to the encoder")),
    }
    if comparison.truncated {
        notes.push("a sentence was too long: its end was not read".into());
    }
    notes
}

//! `caselens embed`: vectors of texts.

use serde::{Deserialize, Serialize};

use super::{
    input::lines,
    output::{json_line, progress, text_line},
    runtime::LensArgs,
    wait,
};
use crate::error::Result;

/// Texts embedded in one go.
const CHUNK: usize = 256;

/// Embed texts, or sentences under conditions
///
/// Reads standard input, a text a line; with --json-lines a JSON object a line, {"sentence"} or
/// {"sentence", "condition"}. Prints a vector a line, of unit length. A plain text gets the encoder's
/// mean-pooled embedding, as sentence-transformers computes it; a sentence with a condition goes through
/// the head.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Input is JSON lines {"sentence", "condition"}; the condition may be absent
    #[arg(long)]
    json_lines: bool,
    /// Print {"text", "embedding"} objects instead of bare numbers
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    lens: LensArgs,
}

#[derive(Deserialize)]
struct Item {
    sentence: String,
    condition: Option<String>,
}

#[derive(Serialize)]
struct Output<'a> {
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<&'a str>,
    embedding: &'a [f32],
}

pub fn run(args: Args) -> Result<()> {
    let mut items = Vec::new();
    for line in lines() {
        let line = line?;
        if line.is_empty() {
            return Err(line.error("it is empty. Remove the line or write a text."));
        }
        items.push(match args.json_lines {
            true => line.json("{\"sentence\", \"condition\"}")?,
            false => Item {
                sentence: line.text,
                condition: None,
            },
        });
    }
    // A head is needed for conditions alone: plain texts work with any encoder.
    let lens = match items.iter().any(|i| i.condition.is_some()) {
        true => args.lens.open()?,
        false => args.lens.with_head(None)?,
    };
    let bar = progress("embedding", items.len() as u64);
    for chunk in items.chunks(CHUNK) {
        let inputs: Vec<_> = chunk
            .iter()
            .map(|i| (i.sentence.as_str(), i.condition.as_deref()))
            .collect();
        let rows = wait(lens.embed(&inputs))?;
        for (input, _) in &rows.cuts {
            tracing::warn!(
                "a text was too long and its end was not read: {:.40}…",
                inputs[*input].0
            );
        }
        for ((text, condition), embedding) in inputs.iter().zip(&rows.vectors) {
            if args.json {
                json_line(&Output {
                    text,
                    condition: *condition,
                    embedding,
                })?;
            } else {
                let numbers: Vec<_> = embedding.iter().map(f32::to_string).collect();
                text_line(&numbers.join(" "))?;
            }
        }
        bar.inc(chunk.len() as u64);
    }
    bar.finish_and_clear();
    Ok(())
}

//! `caselens models`: the published encoders that are known here.

use super::output::{json_line, text_line};
use crate::{
    embedding::presets::{PRESETS, Preset},
    error::Result,
    text::Wrapper,
};

/// List the published encoders that are known here
///
/// Each is a name for --model: of a repository that is fetched from the Hugging Face hub once, where the column
/// `hub` says yes, or of a folder. The others' repositories lack safetensors and tokenizer.json, which
/// `save_pretrained` of Python's transformers writes into a folder. Others run too: BERT, RoBERTa, XLM-RoBERTa, Mistral, Qwen2, Llama and NV-Embed, from the
/// hub, in folders, and in GGUF files.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result<()> {
    if args.json {
        return PRESETS.iter().try_for_each(json_line);
    }
    text_line(&format!(
        "{:<46} {:>7} {:>6} {:>7}  {:<8} {:<8} {:<5} {:<8} licence",
        "encoder", "size", "dims", "tokens", "pooling", "prompt", "hub", "browser"
    ))?;
    PRESETS
        .iter()
        .try_for_each(|preset| text_line(&line(preset)))
}

fn yes(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}

fn line(preset: &Preset) -> String {
    let size = match preset.parameters {
        millions @ 1000.. => format!("{:.1} B", millions as f64 / 1e3),
        millions => format!("{millions} M"),
    };
    let prompt = match preset.prompt {
        Some(Wrapper::Spaced) => "Query: …",
        Some(Wrapper::Tight) => "Query:…",
        None => "–",
    };
    format!(
        "{:<46} {size:>7} {:>6} {:>7}  {:<8} {prompt:<8} {:<5} {:<8} {}",
        preset.id,
        preset.dims,
        preset.max_tokens,
        preset.pooling,
        yes(preset.fetched),
        yes(preset.browser),
        preset.licence
    )
}

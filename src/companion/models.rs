//! `caselens models`: the published encoders that are known here.

use super::output::{json_line, text_line};
use crate::{
    error::Result,
    model::presets::{PRESETS, Preset},
    text::Wrapper,
};

/// List the published encoders that are known here
///
/// Each is a name for --model: fetched from the Hugging Face hub once, if it has safetensors there, or in a
/// folder of that name. Others run too: BERT, RoBERTa, XLM-RoBERTa, Mistral, Qwen2, Llama and NV-Embed, from the
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
        "{:<46} {:>7} {:>6} {:>7}  {:<8} {:<8} {:<8} licence",
        "encoder", "size", "dims", "tokens", "pooling", "prompt", "browser"
    ))?;
    PRESETS
        .iter()
        .try_for_each(|preset| text_line(&line(preset)))
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
        "{:<46} {size:>7} {:>6} {:>7}  {:<8} {prompt:<8} {:<8} {}",
        preset.id,
        preset.dims,
        preset.max_tokens,
        preset.pooling,
        if preset.browser { "yes" } else { "no" },
        preset.licence
    )
}

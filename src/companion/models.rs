//! `caselens models`: the encoders that are known by name, and `fetch`, which brings what ships.

use clap::Subcommand;

use super::{
    output::{json_line, note, text_line},
    shipped::SHIPPED,
};
use crate::{
    checkpoint::presets::{PRESETS, Preset},
    error::Result,
    text::Wrapper,
};

mod fetch;

/// List the encoders that are known by name, or fetch the one that ships
///
/// Each is a name for --model: of a repository that is fetched from the Hugging Face hub once, or of a folder.
/// Others run too: BERT, RoBERTa, XLM-RoBERTa, MPNet, Mistral, Qwen2, Llama and NV-Embed, from the hub, in folders,
/// and in GGUF files. Weights are read from safetensors and from pytorch_model.bin, of which nothing is run;
/// tokenizers from tokenizer.json, and BERT's, MPNet's and RoBERTa's from vocab.txt, or vocab.json and merges.txt.
///
/// What ships goes by its name too, caselens-csts or caselens-csts-large. It is found beside the program, in
/// www/public/models of the working directory, or in the platform's data folder, where `fetch` puts it.
///
///   caselens models
///   caselens models fetch --from https://cdn.jsdelivr.net/npm/caselens-csts
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Fetch(fetch::Args),
}

pub fn run(args: Args) -> Result<()> {
    if let Some(Command::Fetch(args)) = args.command {
        return fetch::run(args);
    }
    if args.json {
        return PRESETS.iter().try_for_each(json_line);
    }
    text_line(&format!(
        "{:<46} {:>7} {:>6} {:>7}  {:<8} {:<8} {:<8} licence",
        "encoder", "size", "dims", "tokens", "pooling", "prompt", "browser"
    ))?;
    PRESETS
        .iter()
        .try_for_each(|preset| text_line(&line(preset)))?;
    for shipped in &SHIPPED {
        let place = match shipped.model.find() {
            Some(path) => path.display().to_string(),
            None => format!(
                "not on this machine; `caselens models fetch {}` says from where it is brought",
                shipped.name
            ),
        };
        note!("{}, which ships: {place}", shipped.name);
    }
    Ok(())
}

fn yes(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}

fn line(preset: &Preset) -> String {
    let size = match preset.parameters {
        millions @ 1000.. => format!("{:.1} B", millions as f64 / 1e3),
        millions => format!("{millions} M"),
    };
    let prompt = match (preset.prompt, preset.word) {
        (Some(Wrapper::Spaced), _) => "Query: …",
        (Some(Wrapper::Tight), _) => "Query:…",
        (None, Some(_)) => "one word",
        (None, None) => "–",
    };
    format!(
        "{:<46} {size:>7} {:>6} {:>7}  {:<8} {prompt:<8} {:<8} {}",
        preset.id,
        preset.dims,
        preset.max_tokens,
        preset.pooling,
        yes(preset.browser),
        preset.licence
    )
}

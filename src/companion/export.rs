//! `caselens export`: one folder that the package and the demo load by URL.

use std::path::PathBuf;

use serde_json::json;

use super::{
    output::{json_line, write_file},
    runtime::{HeadArgs, ModelArgs, describe},
};
use crate::{
    embedding::Architecture,
    error::{Error, Result},
    model::checkpoint::{Checkpoint, sha256},
};

/// Export an encoder and its head as a folder for the web
///
/// Writes the GGUF encoder, the head and a manifest.json that names both with sizes and SHA-256. The
/// head is checked against the encoder first, so a folder that was written loads. Serve it and pass the
/// files' URLs to CaseLens.load({ model, head }).
///
///   caselens export --output my-site/models
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Folder to write
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Print the manifest
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    head: HeadArgs,
}

pub fn run(args: Args) -> Result<()> {
    let model = args.model.path()?;
    if model.is_dir() {
        return Err(Error::InvalidArgument(format!(
            "{} is a folder; browsers load one GGUF file. Make it with `caselens quantize --model {} --output model.gguf`.",
            model.display(),
            model.display()
        )));
    }
    let head = args.head.open(&args.model)?.ok_or_else(|| {
        Error::InvalidArgument("an export needs a head. Train one with `caselens train`.".into())
    })?;
    if head.spec.case.architecture != Architecture::Bi {
        return Err(Error::InvalidArgument(
            "browsers do not run tri-encoders. Export a head that was trained with --architecture bi.".into(),
        ));
    }
    let checkpoint = Checkpoint::open(&model)?;
    head.spec.check_encoder(&checkpoint.encoder)?;
    let stem = model
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let files = [
        (
            "model",
            format!("{stem}.gguf"),
            checkpoint.weights.bytes().to_vec(),
        ),
        ("head", format!("{stem}.head.safetensors"), head.to_bytes()?),
    ];
    let mut manifest = json!({
        "schema": 1,
        "encoder": checkpoint.encoder,
        "dtype": checkpoint.dtype().name(),
        "dims": head.spec.output(),
        "case": head.spec.case,
        "training": head.spec.training,
    });
    for (kind, name, bytes) in &files {
        write_file(&args.output.join(name), bytes)?;
        manifest[*kind] = json!({"file": name, "bytes": bytes.len(), "sha256": sha256(bytes)});
    }
    let text = serde_json::to_string_pretty(&manifest)
        .map_err(|e| Error::InvalidArgument(e.to_string()))?;
    write_file(&args.output.join("manifest.json"), text.as_bytes())?;
    if args.json {
        return json_line(&manifest);
    }
    eprintln!("wrote {}: {}", args.output.display(), describe(&head.spec));
    for (_, name, bytes) in &files {
        eprintln!("  {name}  {:.1} MB", bytes.len() as f64 / 1e6);
    }
    Ok(())
}

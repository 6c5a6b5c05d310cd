//! `caselens export`: one folder that the package and the demo load by URL.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{
    adapter,
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
///
/// With --adapter, writes instead what training changed in an encoder's folder, by itself, for people who have
/// the published folder: `caselens apply` puts it back.
///
///   caselens export --adapter --base all-MiniLM-L6-v2 --model my-encoder --output mine.safetensors
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Folder to write; the file, with --adapter
    #[arg(short, long, value_name = "DIR|FILE.safetensors")]
    output: PathBuf,
    /// Write what training changed, for --model with a trained folder
    #[arg(long, requires = "base")]
    adapter: bool,
    /// Hugging Face folder of the encoder that it was trained from, with --adapter
    #[arg(long, value_name = "DIR", requires = "adapter")]
    base: Option<PathBuf>,
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
    if let Some(base) = &args.base {
        return export_adapter(&args, base, &model);
    }
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

fn export_adapter(args: &Args, base: &Path, model: &Path) -> Result<()> {
    if let Some(folder) = [base, model].into_iter().find(|folder| !folder.is_dir()) {
        return Err(Error::InvalidArgument(format!(
            "{} is not a folder. An adapter is the difference of two Hugging Face folders: give both with --base and --model.",
            folder.display()
        )));
    }
    let bytes = adapter::export(base, model, &args.output)?;
    if args.json {
        return json_line(&json!({"adapter": args.output, "bytes": bytes}));
    }
    eprintln!(
        "wrote {}: {:.1} MB",
        args.output.display(),
        bytes as f64 / 1e6
    );
    Ok(())
}

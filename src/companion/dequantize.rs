//! `caselens dequantize`: a GGUF file becomes a Hugging Face folder again.

use std::path::PathBuf;

use serde_json::json;

use super::{
    folder::{self, FOLDER_HEAD},
    hub::located,
    output::{json_line, note},
    runtime::describe,
};
use crate::{
    checkpoint::{Checkpoint, save},
    error::{Error, Result},
    head::HeadFile,
    quantization::dequantize::dequantize,
};

/// Make a Hugging Face folder of a GGUF file again, to train on from it
///
/// Takes a GGUF file that `quantize` wrote and the folder of the encoder that it was trained from, which gives the
/// tokenizer, and the numbers of whatever training left alone. With --dither each rounded number is drawn from those
/// that round to it: what is trained from there does not round back to what it was. With --keep-rounding what training left
/// alone stays as it was rounded too, so that training learns to live with it: a frozen token table then loses nothing by
/// being rounded again.
///
///   caselens dequantize --model caselens-csts-q4_0.gguf --head caselens-csts.head.safetensors \
///     --base all-MiniLM-L6-v2 --dither 0 --output start
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The GGUF file
    #[arg(long, value_name = "FILE.gguf")]
    model: PathBuf,
    /// Its head, to go into the folder
    #[arg(long, value_name = "FILE.safetensors")]
    head: Option<PathBuf>,
    /// Hugging Face folder of the encoder that it was trained from, or its name on the Hugging Face hub
    #[arg(long, value_name = "DIR|OWNER/NAME[@REVISION]")]
    base: PathBuf,
    /// Draw each rounded number from those that round to it, with this seed
    #[arg(long, value_name = "SEED")]
    dither: Option<u64>,
    /// Take what training left alone from the file as well, not from the base
    #[arg(long)]
    keep_rounding: bool,
    /// The folder to write, which must not exist yet
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Print the encoder, and the head's description, as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(mut args: Args) -> Result<()> {
    folder::must_be_new(&args.output)?;
    let wrong = |reason: String| Err(Error::InvalidArgument(reason));
    if args.model.is_dir() {
        return wrong(format!(
            "{} is a folder already. Give --model a GGUF file.",
            args.model.display()
        ));
    }
    args.base = located(&args.base)?;
    if !args.base.is_dir() {
        return wrong(format!(
            "{} is no folder. Give --base the Hugging Face folder that the encoder was trained from.",
            args.base.display()
        ));
    }
    let (file, base) = (
        Checkpoint::open(&args.model)?.bert()?,
        Checkpoint::open(&args.base)?.bert()?,
    );
    if file.config != base.config {
        return wrong(format!(
            "{} was trained from an encoder of another shape than {}.",
            args.model.display(),
            args.base.display()
        ));
    }
    let head = args.head.as_deref().map(HeadFile::open).transpose()?;
    if let Some(head) = &head {
        head.spec.check_encoder(&file.encoder)?;
    }
    let what = args.base.join("model.safetensors").display().to_string();
    let numbers = dequantize(&file, &base, args.keep_rounding, args.dither)?;
    let weights = save::safetensors(&what, base.weights.files(), &base.config, &numbers)?;
    let encoder = folder::encoder(&args.output, &weights);
    let mut files = vec![("model.safetensors", weights)];
    let mut spec = None;
    if let Some(mut head) = head {
        head.spec.encoder = encoder.clone();
        files.push((FOLDER_HEAD, head.to_bytes()?));
        spec = Some(head.spec);
    }
    folder::write(&args.output, files, &args.base)?;
    if args.json {
        return json_line(&json!({ "output": args.output, "encoder": encoder, "spec": spec }));
    }
    let described = spec.as_ref().map_or_else(|| encoder.to_string(), describe);
    note!("wrote {}: {described}", args.output.display());
    Ok(())
}

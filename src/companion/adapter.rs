//! What training changed in an encoder, by itself: for people who have the published one.
//!
//! The difference of each tensor that changed, in f16: half the size of the f32 weights, and exact to a two
//! thousandth of the difference. (LoRA's updates are written by `train` itself, in PEFT's format.)

use std::{
    fs,
    path::{Path, PathBuf},
};

use half::f16;
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde::{Deserialize, Serialize};

use super::{
    folder,
    hub::located,
    output::{json_line, write_file},
    runtime::{FOLDER_HEAD, describe},
};
use crate::{
    checkpoint::{EncoderId, folder_name, sha256, weights::WeightTensor},
    error::{Error, Result},
    head::HeadFile,
};

const KEY: &str = "caselens.adapter";
const WEIGHTS: &str = "model.safetensors";

/// What the file says of itself.
#[derive(Serialize, Deserialize)]
struct Described {
    version: u32,
    /// The SHA-256 of the weights that it is added to.
    base_sha256: String,
    /// The trained encoder's name.
    encoder: String,
    /// head.safetensors of the trained folder, in base64, where it has one.
    head: Option<String>,
}

/// Writes what turns the folder `base` into the folder `model` to `output`; returns its size.
///
/// # Errors
/// A folder is incomplete, or they hold different tensors.
pub fn export(base: &Path, model: &Path, output: &Path) -> Result<u64> {
    use base64::{Engine, engine::general_purpose::STANDARD};
    let (base_bytes, model_bytes) = (read(&base.join(WEIGHTS))?, read(&model.join(WEIGHTS))?);
    let (from, to) = (parse(base, &base_bytes)?, parse(model, &model_bytes)?);
    let mut tensors = Vec::new();
    for (name, trained) in to.tensors() {
        let published = from
            .tensor(&name)
            .ok()
            .filter(|p| p.shape() == trained.shape());
        let published = published.ok_or_else(|| {
            Error::InvalidArgument(format!(
                "{} has no tensor `{name}` of the shape {:?}: {} was trained from another encoder.",
                base.display(),
                trained.shape(),
                model.display()
            ))
        })?;
        if published.data() == trained.data() || trained.dtype() == Dtype::I64 {
            continue;
        }
        let numbers = |view| Ok::<_, Error>(WeightTensor::from_view(&name, view)?.to_f32());
        let (a, b) = (numbers(&published)?, numbers(&trained)?);
        let difference: Vec<f16> = a
            .iter()
            .zip(&b)
            .map(|(a, b)| f16::from_f32(b - a))
            .collect();
        tensors.push((name, trained.shape().to_vec(), difference));
    }
    if tensors.is_empty() {
        return Err(Error::InvalidArgument(format!(
            "{} holds the same weights as {}: there is nothing to export.",
            model.display(),
            base.display()
        )));
    }
    let head = match fs::read(model.join(FOLDER_HEAD)) {
        Ok(bytes) => Some(STANDARD.encode(bytes)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
        Err(e) => return Err(Error::io(model.join(FOLDER_HEAD))(e)),
    };
    let described = Described {
        version: 1,
        base_sha256: sha256(&base_bytes),
        encoder: folder_name(model).unwrap_or("encoder").to_owned(),
        head,
    };
    let described =
        serde_json::to_string(&described).map_err(|e| Error::InvalidArgument(e.to_string()))?;
    let bad = |e| not_safetensors(output, e);
    let views = tensors
        .iter()
        .map(|(name, shape, numbers)| {
            let bytes = bytemuck::cast_slice(numbers.as_slice());
            let view = TensorView::new(Dtype::F16, shape.clone(), bytes).map_err(bad)?;
            Ok((name.as_str(), view))
        })
        .collect::<Result<Vec<_>>>()?;
    let metadata = [(KEY.to_owned(), described)].into();
    let bytes = safetensors::serialize(views, Some(metadata)).map_err(bad)?;
    write_file(output, &bytes)?;
    Ok(bytes.len() as u64)
}

/// Put an adapter back on the encoder it was made for
///
/// Takes what `export --adapter` wrote, and the folder of the published encoder, and writes the folder of the
/// trained one, with its head.
///
///   caselens apply --adapter mine.safetensors --base all-MiniLM-L6-v2 --output my-encoder
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The adapter
    #[arg(long, value_name = "FILE.safetensors")]
    adapter: PathBuf,
    /// Hugging Face folder of the encoder that it was trained from, or its name on the Hugging Face hub
    #[arg(long, value_name = "DIR|OWNER/NAME[@REVISION]")]
    base: PathBuf,
    /// The folder to write, which must not exist yet
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Print the head's description as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(mut args: Args) -> Result<()> {
    use base64::{Engine, engine::general_purpose::STANDARD};
    folder::must_be_new(&args.output)?;
    let what = args.adapter.display().to_string();
    let bad = |reason: String| Error::ModelFormat {
        what: what.clone(),
        reason,
    };
    let bytes = read(&args.adapter)?;
    let adapter =
        SafeTensors::deserialize(&bytes).map_err(|e| not_safetensors(&args.adapter, e))?;
    let (_, header) =
        SafeTensors::read_metadata(&bytes).map_err(|e| not_safetensors(&args.adapter, e))?;
    let described: Described = header
        .metadata()
        .as_ref()
        .and_then(|m| serde_json::from_str(m.get(KEY)?).ok())
        .ok_or_else(|| bad("it is no adapter that `caselens export --adapter` wrote".into()))?;
    args.base = located(&args.base)?;
    let base_bytes = read(&args.base.join(WEIGHTS))?;
    if described.base_sha256 != sha256(&base_bytes) {
        return Err(Error::InvalidArgument(format!(
            "{what} was made for other weights than those of {}: give the published folder that the encoder was trained from.",
            args.base.display()
        )));
    }
    let base = parse(&args.base, &base_bytes)?;
    let mut sums: Vec<(String, Vec<usize>, Vec<f32>)> = Vec::new();
    for (name, difference) in adapter.tensors() {
        let published = base
            .tensor(&name)
            .ok()
            .filter(|p| p.shape() == difference.shape());
        let published = published.ok_or_else(|| bad(format!("tensor `{name}` fits no weight")))?;
        let numbers = |view| Ok::<_, Error>(WeightTensor::from_view(&name, view)?.to_f32());
        let (a, b) = (numbers(&published)?, numbers(&difference)?);
        let sum = a.iter().zip(&b).map(|(a, b)| a + b).collect();
        sums.push((name, difference.shape().to_vec(), sum));
    }
    let mut views = Vec::new();
    for (name, view) in base.tensors() {
        let view = match sums.iter().find(|(n, ..)| *n == name) {
            Some((_, shape, sum)) => {
                TensorView::new(Dtype::F32, shape.clone(), bytemuck::cast_slice(sum))
                    .map_err(|e| not_safetensors(&args.adapter, e))?
            }
            None => view,
        };
        views.push((name, view));
    }
    let metadata = [("format".to_owned(), "pt".to_owned())].into();
    let weights = safetensors::serialize(views, Some(metadata))
        .map_err(|e| not_safetensors(&args.base, e))?;

    let mut files = Vec::new();
    let mut spec = None;
    if let Some(head) = &described.head {
        let bytes = STANDARD
            .decode(head)
            .map_err(|e| bad(format!("its head cannot be read ({e})")))?;
        let mut head = HeadFile::parse(&what, &bytes)?;
        // Rounding makes it another encoder than the one that was exported.
        head.spec.encoder = EncoderId {
            id: described.encoder,
            sha256: sha256(&weights),
        };
        files.push((FOLDER_HEAD, head.to_bytes()?));
        spec = Some(head.spec);
    }
    files.push((WEIGHTS, weights));
    folder::write(&args.output, files, &args.base)?;
    match (args.json, spec) {
        (true, spec) => json_line(&spec),
        (false, Some(spec)) => {
            eprintln!("wrote {}: {}", args.output.display(), describe(&spec));
            Ok(())
        }
        (false, None) => {
            eprintln!("wrote {}", args.output.display());
            Ok(())
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(Error::io(path))
}

fn parse<'a>(folder: &Path, bytes: &'a [u8]) -> Result<SafeTensors<'a>> {
    SafeTensors::deserialize(bytes).map_err(|e| not_safetensors(&folder.join(WEIGHTS), e))
}

fn not_safetensors(path: &Path, e: safetensors::SafeTensorError) -> Error {
    Error::ModelFormat {
        what: path.display().to_string(),
        reason: format!("it is no safetensors ({e})"),
    }
}

//! `caselens export`: one folder that the package and the demo load by URL.

use std::path::{Path, PathBuf};

use super::{
    output::{json_line, note, progress, write_file},
    runtime::{HeadArgs, ModelArgs, describe},
    table::data::columns,
    wait,
};
use crate::{
    bundle::{
        File, Gallery, Item, MANIFEST, Manifest, Model, SCHEMA,
        gallery::{self, Numbers},
    },
    checkpoint::{Checkpoint, folder_name},
    embedding::Case,
    error::{Error, Result},
    head::HeadFile,
};

/// Pairs whose sentences are embedded in one go.
const CHUNK: usize = 64;

/// Export an encoder and its head as a folder for the web
///
/// Writes the GGUF encoder, the head and a manifest.json that names both with sizes and SHA-256. The
/// head is checked against the encoder first, so a folder that was written loads. Serve it and pass the
/// files' URLs to CaseLens.load({ model, head }).
///
///   caselens export --output my-site/models
///
/// With --gallery, also stores the encoder's embeddings of the pairs of a table (sentence1, sentence2,
/// condition, and label where there is one). A page shows the answers of an encoder so that no browser can
/// run, a Hugging Face folder for example: the head is applied to them there. Gallery.load(url) reads them.
///
///   caselens export --model my-encoder --gallery pairs.csv --licence "encoder: Apache-2.0" --output bundle
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Folder to write
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Store the embeddings of this file's pairs
    #[arg(long, value_name = "FILE")]
    gallery: Option<PathBuf>,
    /// How numbers of the gallery are stored
    #[arg(long, value_enum, default_value = "f16", requires = "gallery")]
    gallery_dtype: Numbers,
    /// A line about the licence of the encoder, the head or the texts; may be given several times
    #[arg(long, value_name = "TEXT")]
    licence: Vec<String>,
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
    if model.is_dir() && args.gallery.is_none() {
        return Err(Error::InvalidArgument(format!(
            "{} is a folder; browsers load one GGUF file. Make it with `caselens quantize --model {} --output model.gguf`, or show the encoder's answers with --gallery.",
            model.display(),
            model.display()
        )));
    }
    let head = args.head.open(&args.model)?.ok_or_else(|| {
        Error::InvalidArgument(
            "an export needs a head. Train one with `caselens train-head`.".into(),
        )
    })?;
    if head.spec.case.scores() {
        return Err(Error::InvalidArgument(
            "a cross-encoder scores two sentences and embeds neither: pages, which embed, have no use for it. Export a head that was trained with --architecture bi.".into(),
        ));
    }
    // A browser runs an encoder of the BERT family in one GGUF file, without a router.
    let routed =
        matches!(head.spec.case, Case::Apart(_)) || head.spec.case.joint_router().is_some();
    if routed && args.gallery.is_none() {
        return Err(Error::InvalidArgument(
            "browsers run neither tri-encoders nor routers. Export a head that was trained with --architecture bi, or show the encoder's answers with --gallery.".into(),
        ));
    }
    let runs = match model.is_file() && !routed {
        true => match Checkpoint::open(&model)? {
            Checkpoint::Bert(bert) => Some(bert),
            Checkpoint::Decoder(_) => None,
        },
        false => None,
    };
    if runs.is_none() && args.gallery.is_none() {
        return Err(Error::InvalidArgument(
            "browsers do not run large language models. Export a head of an encoder of the BERT family, or show the encoder's answers with --gallery.".into(),
        ));
    }
    let stem = match model.is_dir() {
        true => folder_name(&model),
        false => model.file_stem().and_then(|stem| stem.to_str()),
    };
    let stem = stem.unwrap_or("encoder").to_owned();
    let mut files: Vec<(File, Vec<u8>)> = Vec::new();
    let mut add = |name: String, bytes: Vec<u8>| {
        // A name that a manifest may say.
        let name = name.replace(['\\', ':'], "-");
        let file = File::of(name, &bytes);
        files.push((file.clone(), bytes));
        file
    };
    let model = match runs {
        Some(checkpoint) => {
            head.spec.check_encoder(&checkpoint.encoder)?;
            let bytes: Vec<&[u8]> = checkpoint.weights.files().iter().map(|f| &**f).collect();
            Some(Model {
                dtype: checkpoint.dtype().name().to_owned(),
                file: add(format!("{stem}.gguf"), bytes.concat()),
            })
        }
        None => None,
    };
    let gallery = match &args.gallery {
        Some(path) => {
            let items = read_items(path)?;
            let numbers = args.gallery_dtype;
            let bytes = gallery::to_bytes(&embed(&args, &head, &items)?, numbers)?;
            Some(Gallery {
                dtype: numbers,
                items,
                file: add(format!("{stem}.gallery.safetensors"), bytes),
            })
        }
        None => None,
    };
    let manifest = Manifest {
        schema: SCHEMA,
        encoder: head.spec.encoder.clone(),
        case: head.spec.case.clone(),
        dims: head.spec.output(),
        licences: args.licence,
        head: add(format!("{stem}.head.safetensors"), head.to_bytes()?),
        model,
        gallery,
        training: head.spec.training.clone(),
    };
    for (file, bytes) in &files {
        write_file(&args.output.join(&file.file), bytes)?;
    }
    let text = serde_json::to_string_pretty(&manifest)
        .map_err(|e| Error::InvalidArgument(e.to_string()))?;
    // Last: a folder with a manifest is whole.
    write_file(&args.output.join(MANIFEST), text.as_bytes())?;
    if args.json {
        return json_line(&manifest);
    }
    note!("wrote {}: {}", args.output.display(), describe(&head.spec));
    for (file, bytes) in &files {
        note!("  {}  {:.1} MB", file.file, bytes.len() as f64 / 1e6);
    }
    Ok(())
}

/// The pairs of a table.
fn read_items(path: &Path) -> Result<Vec<Item>> {
    let bad = |row: usize, reason: String| Error::Data {
        file: path.display().to_string(),
        row,
        reason,
    };
    let needed = ["sentence1", "sentence2", "condition"];
    let columns = columns(path, &needed, &["label"], None)?;
    if let Some(column) = needed.into_iter().find(|column| !columns.has(column)) {
        return Err(bad(
            0,
            format!(
                "the column `{column}` is missing; sentence1, sentence2 and condition are needed"
            ),
        ));
    }
    let item = |i: usize| {
        let text = |column| columns.cell(column, i).unwrap_or_default().to_owned();
        let label = text("label");
        let label = match label.trim() {
            "" => None,
            text => Some(text.parse().map_err(|_| {
                bad(
                    i + 1,
                    format!("its label is `{text}`, where a rating 1–5 is needed"),
                )
            })?),
        };
        Ok(Item {
            sentence1: text("sentence1"),
            sentence2: text("sentence2"),
            condition: text("condition"),
            // C-STS says −1 where a condition is invalid, and where a label is kept secret.
            label: label.filter(|x| (1.0..=5.0).contains(x)),
        })
    };
    (0..columns.rows()).map(item).collect()
}

/// The head's inputs for both sentences of each item.
fn embed(args: &Args, head: &HeadFile, items: &[Item]) -> Result<Vec<Vec<f32>>> {
    let lens = args.model.lens(Some(head), |_| Ok(Case::default()))?;
    let bar = progress("embedding", items.len() as u64);
    let mut vectors = Vec::with_capacity(2 * items.len());
    for (chunk, items) in items.chunks(CHUNK).enumerate() {
        let mut inputs = Vec::with_capacity(2 * items.len());
        for (i, item) in items.iter().enumerate() {
            let what = format!(" of row {}", chunk * CHUNK + i + 1);
            for sentence in [&item.sentence1, &item.sentence2] {
                inputs.push(lens.encoder.conditional(sentence, &item.condition, &what)?);
            }
        }
        vectors.extend(wait(lens.encoder.run_raw(&inputs, &head.spec.case))?.vectors);
        bar.inc(items.len() as u64);
    }
    bar.finish_and_clear();
    Ok(vectors)
}

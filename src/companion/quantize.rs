//! `caselens quantize`: a Hugging Face folder becomes one GGUF file.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use clap::ValueEnum;
use serde::Serialize;

use super::{
    folder::{COPIED, FOLDER_HEAD},
    hub::located,
    output::{json_line, progress, text_line, write_file, write_whole},
    table::data::datasets,
};
use crate::{
    checkpoint::{
        BertCheckpoint, Checkpoint, EncoderId, config_json,
        gguf::write::{Source, write_gguf},
        plain::PoolingMode,
        shards, tokenizer_json,
        weights::Dtype,
    },
    embedding::{Case, Pool},
    error::{Error, Result},
    head::HeadFile,
    quantization::calibrate::calibrated,
};

/// Texts that rounding is fitted to: three times as many bring all-MiniLM-L6-v2's similarities closer by a twenty-fifth.
const TEXTS: usize = 2048;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DtypeName {
    /// 8 bits in blocks of 32: a quarter of f32, cosine above 0.999 to it
    #[value(name = "q8_0")]
    Q8_0,
    /// 4 bits in blocks of 32: an eighth of f32, visibly less exact
    #[value(name = "q4_0")]
    Q4_0,
    /// half precision
    #[value(name = "f16")]
    F16,
    /// as published
    #[value(name = "f32")]
    F32,
}

impl From<DtypeName> for Dtype {
    fn from(name: DtypeName) -> Self {
        match name {
            DtypeName::Q8_0 => Self::Q8_0,
            DtypeName::Q4_0 => Self::Q4_0,
            DtypeName::F16 => Self::F16,
            DtypeName::F32 => Self::F32,
        }
    }
}

/// Make one GGUF file of a Hugging Face encoder, for the browser and for llama.cpp
///
/// Takes a folder with config.json, tokenizer.json and model.safetensors (BERT, RoBERTa,
/// XLM-RoBERTa or MPNet; or with vocab.txt and pytorch_model.bin in place of the latter two) and writes weights,
/// tokenizer and configuration into one file. Heads trained on the folder work with every file made of it.
/// llama.cpp computes no MPNet.
///
///   caselens quantize --model all-MiniLM-L6-v2 --output all-MiniLM-L6-v2-q8_0.gguf
///   caselens quantize --model my-encoder --dtype q4_0 --output my.gguf --head my.head.safetensors
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Hugging Face folder, or a name on the Hugging Face hub
    #[arg(long, value_name = "DIR|OWNER/NAME[@REVISION]")]
    model: PathBuf,
    /// File to write; one that is there is replaced once the new one is whole
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Write the folder's head.safetensors here too, for use with the GGUF file
    #[arg(long, value_name = "FILE")]
    head: Option<PathBuf>,
    /// Number format of the matrices
    #[arg(long, value_enum, default_value = "q8_0")]
    dtype: DtypeName,
    /// Round to q4_0 for texts like these: tables with sentence1, sentence2, condition and label, which may be given again. Similarities
    /// then differ from those in f32 by a third less than where each number is rounded by itself
    #[arg(long, value_name = "FILE")]
    calibrate: Vec<PathBuf>,
    /// How many texts of --calibrate are used, evenly spaced [default: 2048]
    #[arg(long, value_name = "N", requires = "calibrate")]
    texts: Option<usize>,
    /// The encoder's name, which heads remember [default: the folder's name]
    #[arg(long, value_name = "NAME")]
    id: Option<String>,
    /// Print a JSON object with the sizes
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    output: String,
    encoder: &'a EncoderId,
    dtype: &'static str,
    source_bytes: usize,
    bytes: u64,
}

pub fn run(mut args: Args) -> Result<()> {
    args.model = located(&args.model)?;
    if !args.model.is_dir() {
        return Err(Error::InvalidArgument(format!(
            "{} is not a folder. Give the Hugging Face folder that holds config.json, tokenizer.json and model.safetensors.",
            args.model.display()
        )));
    }
    refuse_source(&args.model, &args.output)?;
    let mut checkpoint = Checkpoint::open(&args.model)?.bert()?;
    if let Some(id) = args.id.take() {
        checkpoint.encoder.id = id;
    }
    let dtype = Dtype::from(args.dtype);
    if !args.calibrate.is_empty() && dtype != Dtype::Q4_0 {
        return Err(Error::InvalidArgument(format!(
            "--calibrate is for --dtype q4_0: {} loses too little to gain by it. Leave it out.",
            dtype.name()
        )));
    }
    let rounded = match args.calibrate.is_empty() {
        true => BTreeMap::new(),
        false => calibrate(&args, &checkpoint)?,
    };
    let config = config_json(&args.model)?;
    let tokenizer = tokenizer_json(&args.model, &config)?;
    let tokenizer = String::from_utf8(tokenizer)
        .map_err(|e| Error::Tokenizer(format!("tokenizer.json cannot be read ({e})")))?;
    let source = Source {
        weights: &checkpoint.weights,
        config_json: &config,
        tokenizer_json: &tokenizer,
        encoder: &checkpoint.encoder,
        plain: checkpoint.plain,
        pooler: checkpoint.plain.pooling == PoolingMode::Pooler
            || case(&args.model)?.is_some_and(|case| case.pooling() == Pool::Pooler),
        rounded: &rounded,
    };
    let head = match &args.head {
        Some(output) => {
            refuse_source(&args.model, output)?;
            Some((output, head(&args.model, &checkpoint.encoder)?.to_bytes()?))
        }
        None => None,
    };
    let bytes = write_whole(&args.output, |out| write_gguf(out, &source, dtype))?;
    if let Some((output, bytes)) = head {
        write_file(output, &bytes)?;
    }

    let report = Report {
        output: args.output.display().to_string(),
        encoder: &checkpoint.encoder,
        dtype: dtype.name(),
        source_bytes: checkpoint.weights.size(),
        bytes,
    };
    if args.json {
        return json_line(&report);
    }
    let mib = |n: f64| n / f64::from(1 << 20);
    text_line(&format!(
        "{}: {} as {}, {:.1} MiB (published: {:.1} MiB)",
        report.output,
        report.encoder,
        report.dtype,
        mib(bytes as f64),
        mib(report.source_bytes as f64),
    ))
}

/// The matrices rounded for the texts of --calibrate, as the folder's head makes embeddings of them.
fn calibrate(args: &Args, checkpoint: &BertCheckpoint) -> Result<BTreeMap<String, Vec<u8>>> {
    let case = case(&args.model)?.unwrap_or_default();
    let data = datasets(&args.calibrate)?;
    let bar = progress("rounding", 1);
    let texts = args.texts.unwrap_or(TEXTS);
    let rounded = calibrated(checkpoint, &case, &data.rows, texts, |done, of| {
        bar.set_length(of as u64);
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    rounded
}

/// How the head in a folder makes embeddings, where there is one.
fn case(model: &Path) -> Result<Option<Case>> {
    let head = model.join(FOLDER_HEAD);
    match head.is_file() {
        true => Ok(Some(HeadFile::open(&head)?.spec.case)),
        false => Ok(None),
    }
}

/// The output must not replace a file that the input consists of, or the folder itself.
fn refuse_source(model: &Path, output: &Path) -> Result<()> {
    let Ok(output) = fs::canonicalize(output) else {
        return Ok(()); // nothing is there yet
    };
    let weights = shards::names(model)?;
    let sources = weights
        .iter()
        .map(String::as_str)
        .chain(COPIED)
        .chain([FOLDER_HEAD]);
    let mut sources = sources.map(|name| model.join(name));
    let is_source = |path: PathBuf| fs::canonicalize(path).is_ok_and(|path| path == output);
    if output.is_dir() || sources.any(is_source) {
        return Err(Error::InvalidArgument(format!(
            "{} would be overwritten. Name another file with --output.",
            output.display()
        )));
    }
    Ok(())
}

/// The head of a folder that `caselens fine-tune` wrote, under the encoder's name. What browsers download goes
/// without the table of the training conditions' ratings.
fn head(model: &Path, encoder: &EncoderId) -> Result<HeadFile> {
    let mut head = HeadFile::open(&model.join(FOLDER_HEAD))?;
    head.spec.check_encoder(encoder)?;
    head.spec.encoder = encoder.clone();
    head.condition_only = None;
    Ok(head)
}

//! One typed error for the crate.
//!
//! Every variant says what was wrong, in which input, and what to do next. [`Error::code`] is stable:
//! it crosses the wasm border and the command line unchanged, so programs can match on it.

use std::path::PathBuf;

/// What can go wrong between a sentence and its similarity.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A text is empty or holds only white space.
    #[error("{what} is empty. Give it at least one word.")]
    EmptyText { what: String },

    /// A text is not Unicode (a lone surrogate reached us from JavaScript).
    #[error(
        "{what} is not valid Unicode text (half of a surrogate pair at position {position}). Clean it with `text.toWellFormed()` first."
    )]
    InvalidText { what: String, position: usize },

    /// A text is longer than this library accepts at all.
    #[error("{what} has {chars} characters; at most {max} are accepted. Split it into sentences.")]
    TextTooLong {
        what: String,
        chars: usize,
        max: usize,
    },

    /// A condition leaves no room for the sentence: conditions are never cut.
    #[error(
        "{what} takes {tokens} tokens and leaves no room for the sentence in the encoder's {max}. Conditions are never cut: shorten it."
    )]
    ConditionTooLong {
        what: String,
        tokens: usize,
        max: usize,
    },

    /// An option's value makes no sense.
    #[error("{0}")]
    InvalidArgument(String),

    /// A model file cannot be read: truncated, not a model, or inconsistent.
    #[error("{what} cannot be read as a model: {reason}. Download or export it again.")]
    ModelFormat { what: String, reason: String },

    /// A readable model of a kind this library does not run.
    #[error(
        "{what} holds a `{found}` model, which is not supported here. Use a BERT, RoBERTa or XLM-RoBERTa encoder, or in the companion a Mistral, Qwen2, Llama or NV-Embed one."
    )]
    UnsupportedArchitecture { what: String, found: String },

    /// A tensor the forward pass needs is absent or has another shape.
    #[error(
        "tensor `{name}` {reason}. The file does not match its configuration: export it again."
    )]
    Tensor { name: String, reason: String },

    /// A file of a model is not where the others are.
    #[error("{model} has no {file}. Fetch the model again, whole.")]
    MissingFile { model: String, file: String },

    /// A model of the Hugging Face hub whose files are given to those alone who accepted its licence.
    #[error(
        "`{model}` is gated, and {sent}. Accept its licence on {page}, then set HF_TOKEN to a token of the same account."
    )]
    HubGated {
        model: String,
        page: String,
        sent: &'static str,
    },

    /// A name that is neither here nor on the Hugging Face hub.
    #[error(
        "`{model}` is no file or folder here, and the Hugging Face hub shows no such model at `{revision}` ({reason}). Check the spelling; a private model needs a token that may read it, in HF_TOKEN."
    )]
    HubUnknown {
        model: String,
        revision: String,
        reason: String,
    },

    /// A model of the Hugging Face hub that is not published in a form that is read here.
    #[error(
        "`{model}` has no {file} on the Hugging Face hub. Name a revision that has it, such as {model}@refs/pr/1 where the hub proposed its own conversion, or convert the model (`save_pretrained` of Python's transformers writes what is needed) and name the folder."
    )]
    HubFile { model: String, file: String },

    /// The Hugging Face hub is out of reach, and its cache lacks the model.
    #[error(
        "`{model}` is no file or folder here, nor in the hub's cache, and the Hugging Face hub is out of reach: {reason}. Try again with a network; or bring config.json, tokenizer.json and the safetensors files here by other means, and name their folder with --model."
    )]
    HubOffline { model: String, reason: String },

    /// A file of the Hugging Face hub did not arrive whole.
    #[error(
        "{file} of `{model}` was not fetched: {reason}. What has arrived is kept: the same command goes on from there."
    )]
    HubDownload {
        model: String,
        file: String,
        reason: String,
    },

    /// A model does not fit into memory; sizes are in bytes.
    #[error(
        "{what} takes {:.1} GB of memory in {dtype}, and {:.1} GB are free. Close what else uses memory, choose fewer bits (--dtype bf16), or name a GGUF file of it in q8_0 or q4_k_m.",
        *needed as f64 / 1e9,
        *free as f64 / 1e9
    )]
    NotEnoughMemory {
        what: String,
        dtype: String,
        needed: u64,
        free: u64,
    },

    /// There is no more memory to be had.
    #[error(
        "{what} needs {:.1} MB more memory than there is. Close what else uses memory, or load a smaller model: q8_0 or q4_0.",
        *bytes as f64 / 1e6
    )]
    OutOfMemory { what: String, bytes: usize },

    /// The tokenizer cannot be read or failed.
    #[error("tokenizer: {0}")]
    Tokenizer(String),

    /// A head file cannot be read.
    #[error(
        "{what} cannot be read as a projection head: {reason}. Train it again with `caselens train`."
    )]
    HeadFormat { what: String, reason: String },

    /// A head was trained on another encoder.
    #[error(
        "this head was trained on encoder `{head_encoder}`, but the loaded encoder is `{encoder}`. Load the encoder the head was made for, or train a head for this one with `caselens train`."
    )]
    HeadMismatch {
        head_encoder: String,
        encoder: String,
    },

    /// A head takes embeddings of another width than the encoder makes.
    #[error(
        "this head takes embeddings of {takes} numbers, but encoder `{encoder}` makes {makes}. Load the encoder the head was made for, or train a head for this one with `caselens train`."
    )]
    HeadWidth {
        takes: usize,
        makes: usize,
        encoder: String,
    },

    /// A checkpoint of an interrupted training cannot be read.
    #[error(
        "the checkpoint cannot be read: {reason}. Remove it and train from the start, without --resume."
    )]
    CheckpointFormat { reason: String },

    /// A training or a scoring is to be resumed under other options than it was begun with.
    #[error(
        "the interrupted run had {was} for {option}, this one has {now}. Resume it with the options it was begun with, or remove the checkpoint."
    )]
    CheckpointMismatch {
        option: String,
        was: String,
        now: String,
    },

    /// No usable GPU adapter.
    #[error(
        "WebGPU is not available: {0}. Use the CPU (device \"wasm\" in the browser, \"cpu\" in the companion)."
    )]
    NoGpu(String),

    /// No usable NVIDIA GPU, or no driver for it.
    #[error("CUDA is not available: {0}. Or use --device cpu.")]
    NoCuda(String),

    /// The GPU went away or refused work.
    #[error("the GPU stopped working: {0}. Load again, on the CPU if it keeps happening.")]
    GpuLost(String),

    /// An exported folder cannot be read: its manifest or its gallery.
    #[error(
        "{file} cannot be read as part of an exported folder: {reason}. Export it again with `caselens export`."
    )]
    BundleFormat { file: String, reason: String },

    /// An exported folder of another version.
    #[error(
        "the exported folder has version {found}, this program reads version {reads}. Export it again with the `caselens export` that belongs to this one."
    )]
    BundleSchema { found: u32, reads: u32 },

    /// A file of an exported folder is not the one that its manifest describes.
    #[error(
        "{file} {reason}, not what the manifest says. It is damaged or of another export: copy the whole folder again."
    )]
    BundleMismatch { file: String, reason: String },

    /// A row of a data file is wrong. `row` counts data rows from 1, the header not included.
    #[error("{file}, row {row}: {reason}")]
    Data {
        file: String,
        row: usize,
        reason: String,
    },

    /// What is wrong with one row of a table.
    #[error("{file}, row {row}: {source}")]
    Row {
        file: String,
        row: usize,
        #[source]
        source: Box<Error>,
    },

    /// A table cannot be read, or not be written.
    #[error("{what}: {reason}. It was taken for {format}; name another format if it is none.")]
    TableFormat {
        what: String,
        format: &'static str,
        reason: String,
    },

    /// The file system said no.
    #[error("{path}: {source}", path = path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },

    /// A device's memory does not hold what is computed at once.
    #[error(
        "the device's memory does not suffice for what is computed at once ({0}). Make batches smaller where the command has --batch, shorten the longest texts, close what else uses the memory, or choose fewer bits (--dtype bf16, or --precision bf16 for a training)."
    )]
    BatchTooLarge(String),

    /// The tensor library failed; not reachable from checked input.
    #[error("tensor operation failed: {0}")]
    Candle(#[source] candle_core::Error),
}

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;

impl From<candle_core::Error> for Error {
    fn from(error: candle_core::Error) -> Self {
        let said = error.to_string();
        // CUDA's and cuBLAS's words for it; candle has no kind of its own.
        let full = ["OUT_OF_MEMORY", "ALLOC_FAILED"];
        match full.iter().any(|words| said.contains(words)) {
            true => Self::BatchTooLarge(said.lines().next().unwrap_or_default().to_owned()),
            false => Self::Candle(error),
        }
    }
}

impl Error {
    /// A stable, machine-readable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::EmptyText { .. } => "empty-text",
            Self::InvalidText { .. } => "invalid-text",
            Self::TextTooLong { .. } => "text-too-long",
            Self::ConditionTooLong { .. } => "condition-too-long",
            Self::InvalidArgument(_) => "invalid-argument",
            Self::ModelFormat { .. } => "model-format",
            Self::UnsupportedArchitecture { .. } => "unsupported-architecture",
            Self::Tensor { .. } => "model-format",
            Self::MissingFile { .. } => "missing-file",
            Self::HubGated { .. } => "hub-gated",
            Self::HubUnknown { .. } => "hub-unknown",
            Self::HubFile { .. } => "hub-file",
            Self::HubOffline { .. } => "hub-offline",
            Self::HubDownload { .. } => "hub-download",
            Self::NotEnoughMemory { .. } | Self::BatchTooLarge(_) | Self::OutOfMemory { .. } => {
                "not-enough-memory"
            }
            Self::Tokenizer(_) => "tokenizer",
            Self::HeadFormat { .. } => "head-format",
            Self::HeadMismatch { .. } | Self::HeadWidth { .. } => "head-mismatch",
            Self::CheckpointFormat { .. } => "checkpoint-format",
            Self::CheckpointMismatch { .. } => "checkpoint-mismatch",
            Self::BundleFormat { .. } => "bundle-format",
            Self::BundleSchema { .. } => "bundle-schema",
            Self::BundleMismatch { .. } => "bundle-mismatch",
            Self::NoGpu(_) => "webgpu-unavailable",
            Self::NoCuda(_) => "cuda-unavailable",
            Self::GpuLost(_) => "gpu-lost",
            Self::Data { .. } => "data",
            Self::Row { source, .. } => source.code(),
            Self::TableFormat { .. } => "table-format",
            Self::Io { .. } => "io",
            Self::Candle(_) => "internal",
        }
    }

    /// This error, of a row counted from 1.
    pub fn in_row(self, file: &str, row: usize) -> Self {
        Self::Row {
            file: file.to_owned(),
            row,
            source: Box::new(self),
        }
    }

    /// An [`Error::Io`] at a path; for `map_err`.
    pub fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_device_asks_for_smaller_batches() {
        let cuda = "DriverError(CUDA_ERROR_OUT_OF_MEMORY, \"out of memory\")";
        let error = Error::from(candle_core::Error::Msg(cuda.into()));
        assert_eq!(error.code(), "not-enough-memory");
        assert!(error.to_string().contains("--batch"), "{error}");
        let other = Error::from(candle_core::Error::Msg("shape mismatch".into()));
        assert_eq!(other.code(), "internal");
    }
}

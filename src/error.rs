//! One typed error for the crate.
//!
//! Every variant says what was wrong, in which input, and what to do next. What that is called in a program, an
//! option of the command line or an argument in JavaScript, that program adds. [`Error::code`] is stable: it
//! crosses the wasm border unchanged, so programs can match on it; [`CODES`] explains each.

use std::path::PathBuf;

/// What can go wrong between a sentence and its similarity.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A text is empty or holds only white space.
    #[error("{what} is empty. Give it at least one word.")]
    EmptyText {
        /// What it is about, by its name in the call or on disk.
        what: String,
    },

    /// A text is not Unicode (a lone surrogate reached us from JavaScript).
    #[error("{what} is not valid Unicode text (half of a surrogate pair at position {position}).")]
    InvalidText {
        /// What it is about, by its name in the call or on disk.
        what: String,
        /// Where, in UTF-16 units.
        position: usize,
    },

    /// A text is longer than this library accepts at all.
    #[error("{what} has {chars} characters; at most {max} are accepted. Split it into sentences.")]
    TextTooLong {
        /// What it is about, by its name in the call or on disk.
        what: String,
        /// Its characters.
        chars: usize,
        /// The most that is accepted.
        max: usize,
    },

    /// A condition leaves no room for the sentence: conditions are never cut.
    #[error(
        "{what} takes {tokens} tokens and leaves no room for the sentence in the encoder's {max}. Conditions are never cut: shorten it."
    )]
    ConditionTooLong {
        /// What it is about, by its name in the call or on disk.
        what: String,
        /// Its tokens.
        tokens: usize,
        /// The most that is accepted.
        max: usize,
    },

    /// What an encoder makes of a text is no number.
    #[error(
        "{what} has no embedding: what the encoder makes of it is no number. Its weights are damaged, or do not fit {dtype}: fetch the model again, or choose another precision, such as bf16 or f32."
    )]
    NotFinite {
        /// The text.
        what: String,
        /// Which of a call's inputs it is, from 0.
        input: usize,
        /// What the encoder computes in.
        dtype: String,
    },

    /// An option's value makes no sense.
    #[error("{0}")]
    InvalidArgument(String),

    /// A model file cannot be read: truncated, not a model, or inconsistent.
    #[error("{what} cannot be read as a model: {reason}. Download or export it again.")]
    ModelFormat {
        /// What it is about, by its name in the call or on disk.
        what: String,
        /// Why, in words.
        reason: String,
    },

    /// A readable model of a kind this library does not run.
    #[error(
        "{what} holds a `{found}` model, which is not supported here. BERT, RoBERTa, XLM-RoBERTa and MPNet encoders are, and outside browsers Mistral, Qwen2, Llama and NV-Embed ones."
    )]
    UnsupportedArchitecture {
        /// What it is about, by its name in the call or on disk.
        what: String,
        /// What it holds instead.
        found: String,
    },

    /// A tensor the forward pass needs is absent or has another shape.
    #[error(
        "tensor `{name}` {reason}. The file does not match its configuration: export it again."
    )]
    Tensor {
        /// The tensor's name.
        name: String,
        /// Why, in words.
        reason: String,
    },

    /// A file of a model is not where the others are.
    #[error("{model} has no {file}. Fetch the model again, whole.")]
    MissingFile {
        /// The model's name.
        model: String,
        /// The file's name.
        file: String,
    },

    /// A model of the Hugging Face hub whose files are given to those alone who accepted its licence.
    #[error(
        "`{model}` is gated, and {sent}. Accept its licence on {page}, then set HF_TOKEN to a token of the same account."
    )]
    HubGated {
        /// The model's name.
        model: String,
        /// Where its licence is accepted.
        page: String,
        /// What was sent as proof of access.
        sent: &'static str,
    },

    /// A name that is neither here nor on the Hugging Face hub.
    #[error(
        "`{model}` is no file or folder here, and the Hugging Face hub shows no such model at `{revision}` ({reason}). Check the spelling; a private model needs a token that may read it, in HF_TOKEN."
    )]
    HubUnknown {
        /// The model's name.
        model: String,
        /// The branch, tag or commit.
        revision: String,
        /// Why, in words.
        reason: String,
    },

    /// A model of the Hugging Face hub that is not published in a form that is read here.
    #[error(
        "`{model}` has no {file} on the Hugging Face hub. Name a revision that has it, such as {model}@refs/pr/1 where the hub proposed its own conversion, or convert the model (`save_pretrained` of Python's transformers writes what is needed) and name the folder."
    )]
    HubFile {
        /// The model's name.
        model: String,
        /// The file's name.
        file: String,
    },

    /// The Hugging Face hub is out of reach, and its cache lacks the model.
    #[error(
        "`{model}` is no file or folder here, nor in the hub's cache, and the Hugging Face hub is out of reach: {reason}. Try again with a network; or bring config.json, tokenizer.json and the safetensors files here by other means."
    )]
    HubOffline {
        /// The model's name.
        model: String,
        /// Why, in words.
        reason: String,
    },

    /// A file of the Hugging Face hub did not arrive whole.
    #[error(
        "{file} of `{model}` was not fetched: {reason}. What has arrived is kept: asked again, it goes on from there."
    )]
    HubDownload {
        /// The model's name.
        model: String,
        /// The file's name.
        file: String,
        /// Why, in words.
        reason: String,
    },

    /// A model does not fit into memory; sizes are in bytes.
    #[error(
        "{what} takes {:.1} GB of memory in {dtype}, and {:.1} GB are free. Close what else uses memory, choose fewer bits, or name a GGUF file of it in q8_0 or q4_k_m.",
        *needed as f64 / 1e9,
        *free as f64 / 1e9
    )]
    NotEnoughMemory {
        /// What it is about, by its name in the call or on disk.
        what: String,
        /// How its numbers are kept.
        dtype: String,
        /// Bytes that it takes.
        needed: u64,
        /// Bytes that are free.
        free: u64,
    },

    /// There is no more memory to be had.
    #[error(
        "{what} needs {:.1} MB more memory than there is. Close what else uses memory, or load a smaller model: q8_0 or q4_0.",
        *bytes as f64 / 1e6
    )]
    OutOfMemory {
        /// What it is about, by its name in the call or on disk.
        what: String,
        /// Bytes that were asked for.
        bytes: usize,
    },

    /// The tokenizer cannot be read or failed.
    #[error("tokenizer: {0}")]
    Tokenizer(String),

    /// A head file cannot be read.
    #[error("{what} cannot be read as a projection head: {reason}. Train it again.")]
    HeadFormat {
        /// What it is about, by its name in the call or on disk.
        what: String,
        /// Why, in words.
        reason: String,
    },

    /// A head was trained on another encoder.
    #[error(
        "this head was trained on encoder `{head_encoder}`, but the loaded encoder is `{encoder}`. Load the encoder the head was made for, or train a head for this one."
    )]
    HeadMismatch {
        /// The encoder that the head was trained on.
        head_encoder: String,
        /// The encoder that is there.
        encoder: String,
    },

    /// A head takes embeddings of another width than the encoder makes.
    #[error(
        "this head takes embeddings of {takes} numbers, but encoder `{encoder}` makes {makes}. Load the encoder the head was made for, or train a head for this one."
    )]
    HeadWidth {
        /// Numbers that the head takes.
        takes: usize,
        /// Numbers that the encoder makes.
        makes: usize,
        /// The encoder that is there.
        encoder: String,
    },

    /// A checkpoint of an interrupted training cannot be read.
    #[error("the checkpoint cannot be read: {reason}. Remove it and train from the start.")]
    CheckpointFormat {
        /// Why, in words.
        reason: String,
    },

    /// A training or a scoring is to be resumed under other options than it was begun with.
    #[error(
        "the interrupted run had {was} for {option}, this one has {now}. Resume it with the options it was begun with, or remove the checkpoint."
    )]
    CheckpointMismatch {
        /// The option or property.
        option: String,
        /// Its value in the interrupted run.
        was: String,
        /// Its value in this one.
        now: String,
    },

    /// No usable GPU adapter.
    #[error("WebGPU is not available: {0}. Use the CPU.")]
    NoGpu(String),

    /// No usable NVIDIA GPU, or no driver for it.
    #[error("CUDA is not available: {0}. Or use the CPU.")]
    NoCuda(String),

    /// The GPU went away or refused work.
    #[error("the GPU stopped working: {0}. Load again, on the CPU if it keeps happening.")]
    GpuLost(String),

    /// An exported folder cannot be read: its manifest or its gallery.
    #[error("{file} cannot be read as part of an exported folder: {reason}. Export it again.")]
    BundleFormat {
        /// The file's name.
        file: String,
        /// Why, in words.
        reason: String,
    },

    /// An exported folder of another version.
    #[error(
        "the exported folder has version {found}, this program reads version {reads}. Export it again with the program of this version."
    )]
    BundleSchema {
        /// What it holds instead.
        found: u32,
        /// The version that is read here.
        reads: u32,
    },

    /// A file of an exported folder is not the one that its manifest describes.
    #[error(
        "{file} {reason}, not what the manifest says. It is damaged or of another export: copy the whole folder again."
    )]
    BundleMismatch {
        /// The file's name.
        file: String,
        /// Why, in words.
        reason: String,
    },

    /// A row of a data file is wrong. `row` counts data rows from 1, the header not included.
    #[error("{file}, row {row}: {reason}")]
    Data {
        /// The file's name.
        file: String,
        /// Counted from 1, the header not included.
        row: usize,
        /// Why, in words.
        reason: String,
    },

    /// What is wrong with one row of a table.
    #[error("{file}, row {row}: {source}")]
    Row {
        /// The file's name.
        file: String,
        /// Counted from 1, the header not included.
        row: usize,
        /// What was wrong.
        #[source]
        source: Box<Error>,
    },

    /// A table cannot be read, or not be written.
    #[error("{what}: {reason}. It was taken for {format}; name another format if it is none.")]
    TableFormat {
        /// What it is about, by its name in the call or on disk.
        what: String,
        /// What it was taken for.
        format: &'static str,
        /// Why, in words.
        reason: String,
    },

    /// The file system said no.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// The system's words for it.
        #[source]
        source: std::io::Error,
    },

    /// A device's memory does not hold what is computed at once.
    #[error(
        "the device's memory does not suffice for what is computed at once ({0}). Make batches smaller, shorten the longest texts, close what else uses the memory, or choose fewer bits."
    )]
    BatchTooLarge(String),

    /// The tensor library failed; not reachable from checked input.
    #[cfg(not(target_arch = "wasm32"))]
    #[error("tensor operation failed: {0}")]
    Candle(#[source] candle_core::Error),
}

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;

/// What a code says went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// As programs compare it.
    pub name: &'static str,
    /// What it stands for, for people.
    pub meaning: &'static str,
    /// Whether it comes up in browsers too.
    pub in_browsers: bool,
}

impl Code {
    const fn anywhere(name: &'static str, meaning: &'static str) -> Self {
        Self {
            name,
            meaning,
            in_browsers: true,
        }
    }

    const fn native(name: &'static str, meaning: &'static str) -> Self {
        Self {
            name,
            meaning,
            in_browsers: false,
        }
    }
}

/// Every code. The lists in the package's sources and README are written from this one (`tests/suite/errors.rs`).
pub const CODES: [Code; 29] = [
    Code::anywhere(
        "empty-text",
        "a sentence, condition or text is empty or white space",
    ),
    Code::anywhere("invalid-text", "a text holds half of a surrogate pair"),
    Code::anywhere(
        "text-too-long",
        "a text has more characters than are accepted, or more than the encoder reads where its end is not to be left out",
    ),
    Code::anywhere(
        "condition-too-long",
        "a condition leaves no room for the sentence",
    ),
    Code::anywhere(
        "invalid-argument",
        "an argument or option has the wrong type or value",
    ),
    Code::anywhere("model-format", "the file is no model, or a damaged one"),
    Code::anywhere(
        "unsupported-architecture",
        "the model is of a kind that is not supported",
    ),
    Code::anywhere("tokenizer", "the model's tokenizer cannot be used"),
    Code::anywhere("head-format", "the file is no head, or a damaged one"),
    Code::anywhere("head-mismatch", "the head was made for another encoder"),
    Code::anywhere(
        "bundle-format",
        "an exported folder's manifest or gallery is none, or a damaged one",
    ),
    Code::anywhere(
        "bundle-schema",
        "an exported folder has a version that is not read here",
    ),
    Code::anywhere(
        "bundle-mismatch",
        "a file of an exported folder is not the one that its manifest describes",
    ),
    Code::anywhere("not-enough-memory", "there is no memory left for the model"),
    Code::anywhere(
        "webgpu-unavailable",
        "WebGPU was asked for, and there is no adapter",
    ),
    Code::anywhere("gpu-lost", "the GPU stopped working"),
    Code::anywhere("internal", "a fault of this library"),
    Code::native(
        "missing-file",
        "a file of a model is not where the others are",
    ),
    Code::native(
        "hub-gated",
        "the model's licence must be accepted on the Hugging Face hub first",
    ),
    Code::native(
        "hub-unknown",
        "neither this machine nor the Hugging Face hub has such a model",
    ),
    Code::native(
        "hub-file",
        "the model is not published in a form that is read here",
    ),
    Code::native(
        "hub-offline",
        "the Hugging Face hub is out of reach, and its cache lacks the model",
    ),
    Code::native(
        "hub-download",
        "a file of the Hugging Face hub did not arrive whole",
    ),
    Code::native(
        "checkpoint-format",
        "a checkpoint of an interrupted training cannot be read",
    ),
    Code::native(
        "checkpoint-mismatch",
        "an interrupted run is to be resumed under other options",
    ),
    Code::native(
        "cuda-unavailable",
        "there is no usable NVIDIA GPU, or no driver for it",
    ),
    Code::native("data", "a row of a data file is wrong"),
    Code::native("table-format", "a table cannot be read, or not be written"),
    Code::native("io", "the file system refused"),
];

/// A code of [`CODES`]; another does not compile.
const fn listed(name: &'static str) -> &'static str {
    let mut i = 0;
    while i < CODES.len() {
        if is_same(CODES[i].name.as_bytes(), name.as_bytes()) {
            return CODES[i].name;
        }
        i += 1;
    }
    #[expect(clippy::panic, reason = "of the compiler, not of the program")]
    {
        panic!("a code that is not in the table")
    }
}

/// `==` of texts, which compile-time code lacks.
const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

#[cfg(not(target_arch = "wasm32"))]
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
    /// A stable, machine-readable code: one of [`CODES`].
    pub fn code(&self) -> &'static str {
        match self {
            Self::EmptyText { .. } => const { listed("empty-text") },
            Self::InvalidText { .. } => const { listed("invalid-text") },
            Self::TextTooLong { .. } => const { listed("text-too-long") },
            Self::ConditionTooLong { .. } => const { listed("condition-too-long") },
            Self::InvalidArgument(_) => const { listed("invalid-argument") },
            Self::ModelFormat { .. } | Self::NotFinite { .. } => const { listed("model-format") },
            Self::UnsupportedArchitecture { .. } => const { listed("unsupported-architecture") },
            Self::Tensor { .. } => const { listed("model-format") },
            Self::MissingFile { .. } => const { listed("missing-file") },
            Self::HubGated { .. } => const { listed("hub-gated") },
            Self::HubUnknown { .. } => const { listed("hub-unknown") },
            Self::HubFile { .. } => const { listed("hub-file") },
            Self::HubOffline { .. } => const { listed("hub-offline") },
            Self::HubDownload { .. } => const { listed("hub-download") },
            Self::NotEnoughMemory { .. } | Self::BatchTooLarge(_) | Self::OutOfMemory { .. } => {
                const { listed("not-enough-memory") }
            }
            Self::Tokenizer(_) => const { listed("tokenizer") },
            Self::HeadFormat { .. } => const { listed("head-format") },
            Self::HeadMismatch { .. } | Self::HeadWidth { .. } => const { listed("head-mismatch") },
            Self::CheckpointFormat { .. } => const { listed("checkpoint-format") },
            Self::CheckpointMismatch { .. } => const { listed("checkpoint-mismatch") },
            Self::BundleFormat { .. } => const { listed("bundle-format") },
            Self::BundleSchema { .. } => const { listed("bundle-schema") },
            Self::BundleMismatch { .. } => const { listed("bundle-mismatch") },
            Self::NoGpu(_) => const { listed("webgpu-unavailable") },
            Self::NoCuda(_) => const { listed("cuda-unavailable") },
            Self::GpuLost(_) => const { listed("gpu-lost") },
            Self::Data { .. } => const { listed("data") },
            Self::Row { source, .. } => source.code(),
            Self::TableFormat { .. } => const { listed("table-format") },
            Self::Io { .. } => const { listed("io") },
            #[cfg(not(target_arch = "wasm32"))]
            Self::Candle(_) => const { listed("internal") },
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

    /// That one of a call's inputs, counted from 0, has no embedding.
    pub(crate) fn not_finite(input: usize, dtype: String) -> Self {
        Self::NotFinite {
            what: format!("text {}", input + 1),
            input,
            dtype,
        }
    }

    /// The same of this model, where it is about a part of one and does not say of which.
    pub(crate) fn of_model(self, model: &str) -> Self {
        match self {
            Self::Tensor { name, reason } => Self::Tensor {
                name,
                reason: format!("{reason}, in {model}"),
            },
            Self::Tokenizer(reason) => Self::Tokenizer(format!("that of {model}: {reason}")),
            other => other,
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
        assert!(error.to_string().contains("batches smaller"), "{error}");
        let other = Error::from(candle_core::Error::Msg("shape mismatch".into()));
        assert_eq!(other.code(), "internal");
    }
}

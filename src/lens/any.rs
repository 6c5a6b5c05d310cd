//! Which backend, chosen at run time: what the browser and the companion hold.

#[cfg(not(target_arch = "wasm32"))]
use crate::{
    backend::candle::{Candle, gpu::Gpu},
    checkpoint::weights::Dtype,
    embedding::Architecture,
    model::decoder::{Precision, checkpoint::DecoderCheckpoint},
};
use crate::{
    backend::{
        Backend,
        simd::Simd,
        webgpu::{PowerPreference, WebGpu},
    },
    checkpoint::{Checkpoint, EncoderId},
    embedding::{Case, Encoder, Input, Pool, Rows, Shape},
    error::Result,
    head::HeadFile,
    lens::{
        Comparison, Lens,
        explain::{Explanation, Switches},
    },
    text::{Sequence, Template, Tokenizer},
};

/// A lens on whichever backend was chosen.
pub enum AnyLens {
    Simd(Box<Lens<Simd>>),
    #[cfg(not(target_arch = "wasm32"))]
    Candle(Box<Lens<Candle>>),
    WebGpu(Box<Lens<WebGpu>>),
}

/// What a lens is made of.
pub struct Parts<'a> {
    pub checkpoint: &'a Checkpoint,
    pub head: Option<&'a HeadFile>,
    /// Used where there is no head; a head brings its own.
    pub case: Case,
}

impl Parts<'_> {
    /// A head for another encoder is found before anything is copied to a device.
    fn check(&self) -> Result<()> {
        match self.head {
            Some(head) => head.spec.check_encoder(&self.checkpoint.encoder),
            None => Ok(()),
        }
    }

    fn on<B: Backend>(&self, backend: B) -> Result<Lens<B>> {
        self.check()?;
        let encoder = Encoder::load(backend, self.checkpoint)?;
        Lens::new(encoder, self.head, self.case.clone())
    }
}

/// [`Parts`] whose checkpoint is used up, so that no weight is in memory twice.
pub struct OwnParts<'a> {
    pub checkpoint: Checkpoint,
    pub head: Option<&'a HeadFile>,
    /// As [`Parts::case`].
    pub case: Case,
}

impl OwnParts<'_> {
    pub(super) fn lent(&self) -> Parts<'_> {
        Parts {
            checkpoint: &self.checkpoint,
            head: self.head,
            case: self.case.clone(),
        }
    }

    pub(super) fn on<B: Backend>(self, backend: B) -> Result<Lens<B>> {
        self.lent().check()?;
        let encoder = Encoder::consume(backend, self.checkpoint)?;
        Lens::new(encoder, self.head, self.case)
    }
}

/// Runs one expression on the lens inside.
macro_rules! on_lens {
    ($any:expr, $lens:ident => $body:expr) => {
        match $any {
            AnyLens::Simd($lens) => $body,
            #[cfg(not(target_arch = "wasm32"))]
            AnyLens::Candle($lens) => $body,
            AnyLens::WebGpu($lens) => $body,
        }
    };
}

impl AnyLens {
    /// The processor's own instructions.
    pub fn simd(parts: &Parts<'_>) -> Result<Self> {
        Ok(Self::Simd(Box::new(parts.on(Simd::new())?)))
    }

    /// The CPU: products of bytes for an encoder in blocks (q8_0, q4_0), candle's f32 for all others and for
    /// what only candle does, a tri-encoder.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn cpu(parts: &Parts<'_>) -> Result<Self> {
        let case = parts.head.map_or(&parts.case, |head| &head.spec.case);
        let in_blocks = matches!(parts.checkpoint.dtype(), Dtype::Q8_0 | Dtype::Q4_0);
        match in_blocks && case.architecture == Architecture::Bi {
            true => Self::simd(parts),
            false => Self::candle(parts, Candle::cpu()),
        }
    }

    /// candle on a device of its own.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn candle(parts: &Parts<'_>, backend: Candle) -> Result<Self> {
        Ok(Self::Candle(Box::new(parts.on(backend)?)))
    }

    /// A decoder on candle, with what a head or `case` says of its prompts.
    ///
    /// # Errors
    /// The head is another encoder's, or [`Encoder::decoder`] fails.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn decoder(
        checkpoint: &DecoderCheckpoint,
        precision: Precision,
        head: Option<&HeadFile>,
        case: Case,
        backend: Candle,
    ) -> Result<Self> {
        if let Some(head) = head {
            head.spec.check_encoder(&checkpoint.encoder)?;
        }
        let encoder = Encoder::decoder(backend, checkpoint, precision)?;
        Ok(Self::Candle(Box::new(Lens::new(encoder, head, case)?)))
    }

    /// WebGPU.
    ///
    /// # Errors
    /// No adapter answers, or the model does not fit its limits.
    pub async fn webgpu(parts: &Parts<'_>) -> Result<Self> {
        Self::on_webgpu(parts, WebGpu::new(PowerPreference::HighPerformance).await?)
    }

    /// A GPU that was opened.
    pub fn on_webgpu(parts: &Parts<'_>, backend: WebGpu) -> Result<Self> {
        Ok(Self::WebGpu(Box::new(parts.on(backend)?)))
    }

    /// See [`Lens::compare`].
    pub async fn compare(
        &self,
        s1: &str,
        s2: &str,
        conditions: &[&str],
    ) -> Result<Vec<Comparison>> {
        on_lens!(self, lens => lens.compare(s1, s2, conditions).await)
    }

    /// See [`Lens::explain`].
    pub async fn explain(
        &self,
        sentences: [&str; 2],
        condition: Option<&str>,
        switches: Switches,
    ) -> Result<Explanation> {
        on_lens!(self, lens => lens.explain(sentences, condition, switches).await)
    }

    /// See [`Lens::embed`].
    pub async fn embed(&self, items: &[(&str, Option<&str>)]) -> Result<Rows> {
        on_lens!(self, lens => lens.embed(items).await)
    }

    /// See [`Encoder::single`].
    pub fn single(&self, what: &str, text: &str) -> Result<Input> {
        on_lens!(self, lens => lens.encoder.single(what, text))
    }

    /// See [`Encoder::conditional`].
    pub fn conditional(&self, sentence: &str, condition: &str, what: &str) -> Result<Input> {
        on_lens!(self, lens => lens.encoder.conditional(sentence, condition, what))
    }

    /// See [`Encoder::forget`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn forget(&self) {
        on_lens!(self, lens => lens.encoder.forget());
    }

    /// See [`Lens::run`].
    pub async fn run(&self, inputs: &[Input]) -> Result<Rows> {
        on_lens!(self, lens => lens.run(inputs).await)
    }

    /// CASE embeddings before any head or normalisation.
    pub async fn run_raw(&self, inputs: &[Input], case: &Case) -> Result<Rows> {
        on_lens!(self, lens => lens.encoder.run(inputs, case, Pool::All, Ok, Ok).await)
    }

    /// See [`Encoder::pooled`].
    pub async fn pooled(&self, sequences: &[Sequence], pools: &[Pool]) -> Result<Vec<Vec<f32>>> {
        on_lens!(self, lens => lens.encoder.pooled(sequences, pools).await)
    }

    /// See [`Encoder::template`].
    pub fn template(&self) -> Template<'_> {
        on_lens!(self, lens => lens.encoder.template())
    }

    /// See [`Encoder::embed`].
    pub async fn encode(&self, texts: &[&str], pool: Pool, normalize: bool) -> Result<Rows> {
        on_lens!(self, lens => lens.encoder.embed(texts, pool, normalize).await)
    }

    /// The encoder's name and hash.
    pub fn encoder_id(&self) -> &EncoderId {
        on_lens!(self, lens => &lens.encoder.id)
    }

    /// The dtype of the encoder's large matrices.
    pub fn dtype(&self) -> &str {
        on_lens!(self, lens => &lens.encoder.dtype)
    }

    /// Whether the encoder is a decoder, which takes far longer for an input than others.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn is_decoder(&self) -> bool {
        on_lens!(self, lens => lens.encoder.bert().is_err())
    }

    /// See [`Encoder::operations`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn operations(&self, tokens: usize) -> f64 {
        on_lens!(self, lens => lens.encoder.operations(tokens))
    }

    /// What of the encoder its inputs depend on.
    pub fn shape(&self) -> &Shape {
        on_lens!(self, lens => &lens.encoder.shape)
    }

    /// Width of the encoder's hidden states.
    pub fn hidden_size(&self) -> usize {
        self.shape().hidden_size
    }

    /// Width of a conditional embedding.
    pub fn dims(&self) -> usize {
        on_lens!(self, lens => lens.dims())
    }

    /// The encoder's tokenizer.
    pub fn tokenizer(&self) -> &Tokenizer {
        on_lens!(self, lens => &lens.encoder.tokenizer)
    }

    /// What multiplies: numbers of one file differ in their last digits from one to the other.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn backend(&self) -> &'static str {
        match self {
            Self::Simd(_) => "simd",
            Self::Candle(_) => "candle",
            Self::WebGpu(_) => "webgpu",
        }
    }

    /// The instructions that the CPU path uses; `None` on other paths.
    pub fn instructions(&self) -> Option<&'static str> {
        match self {
            Self::Simd(lens) => Some(lens.encoder.backend.instructions()),
            _ => None,
        }
    }

    /// What each of a GPU's kernels took since the last call, where they are timed.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn kernel_times(&self) -> Vec<crate::backend::webgpu::KernelTime> {
        match self {
            Self::WebGpu(lens) => lens.encoder.backend.times(),
            _ => Vec::new(),
        }
    }

    /// The GPU adapter's name.
    pub fn adapter(&self) -> Option<String> {
        match self {
            Self::WebGpu(lens) => Some(lens.encoder.backend.info().to_string()),
            _ => None,
        }
    }

    /// The NVIDIA GPU that candle computes on.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn nvidia(&self) -> Option<Gpu> {
        match self {
            Self::Candle(lens) => Gpu::of(lens.encoder.backend.device()),
            _ => None,
        }
    }
}

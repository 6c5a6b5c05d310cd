//! Opening a lens natively: files become an encoder and a head on a device that is chosen at run time.

use std::path::Path;

use super::Lens;
use crate::{
    backend::{
        any::{AnyBackend, Device},
        candle::Candle,
        simd::Simd,
        webgpu::{PowerPreference, WebGpu},
    },
    checkpoint::{Checkpoint, DecoderCheckpoint, weights::Dtype},
    embedding::{Case, Encoder},
    error::{Error, Result},
    head::HeadFile,
    model::Precision,
};

impl AnyBackend {
    /// The backend for an encoder of the BERT family on `device`. On the CPU that is products of bytes for weights in
    /// blocks (q8_0, q4_0), and candle's f32 for all others and for what only candle does, a tri-encoder.
    ///
    /// # Errors
    /// There is no such device here.
    pub async fn open(device: Device, dtype: Dtype, case: &Case) -> Result<Self> {
        let in_blocks = matches!(dtype, Dtype::Q8_0 | Dtype::Q4_0);
        Ok(match device {
            Device::Cpu if in_blocks && !matches!(case, Case::Apart(_)) => Simd::new().into(),
            Device::Cpu => Candle::cpu().into(),
            Device::Cuda => Candle::cuda()?.into(),
            Device::WebGpu => WebGpu::new(PowerPreference::HighPerformance).await?.into(),
        })
    }
}

impl Lens {
    /// Opens an encoder, a GGUF file or a Hugging Face folder, with the head in a file. Without a head, embeddings are
    /// made as [`Case::of`] has it.
    ///
    /// # Errors
    /// A file cannot be read, the head is another encoder's, or there is no such device here.
    pub fn open<P: AsRef<Path>>(model: P, head: Option<P>, device: Device) -> Result<Self> {
        let head = head.map(|path| HeadFile::open(path.as_ref())).transpose()?;
        let checkpoint = Checkpoint::open(model.as_ref())?;
        let case = Case::of(&checkpoint);
        Self::of(&checkpoint, head.as_ref(), case, device, None)
    }

    /// Puts an opened encoder on a device, with a head, or, without one, with the embeddings of `case`. `precision` is what
    /// the weights of an LLM encoder are kept in: as they are stored, where none is named.
    ///
    /// # Errors
    /// The head is another encoder's, there is no such device here, or the encoder does not run on it.
    pub fn of(
        checkpoint: &Checkpoint,
        head: Option<&HeadFile>,
        case: Case,
        device: Device,
        precision: Option<Precision>,
    ) -> Result<Self> {
        let bert = match checkpoint {
            Checkpoint::Bert(bert) => bert,
            Checkpoint::Decoder(decoder) => {
                return Self::decoder(decoder, head, case, device, precision);
            }
        };
        if precision.is_some() {
            return Err(Error::InvalidArgument(
                "only the weights of LLM encoders are kept in another precision than their file's. Leave it out, or quantize the encoder.".into(),
            ));
        }
        let made = head.map_or(&case, |head| &head.spec.case);
        let backend = pollster::block_on(AnyBackend::open(device, bert.dtype(), made))?;
        Self::load(backend, bert, head, case)
    }

    fn decoder(
        checkpoint: &DecoderCheckpoint,
        head: Option<&HeadFile>,
        case: Case,
        device: Device,
        precision: Option<Precision>,
    ) -> Result<Self> {
        let backend = match device {
            Device::Cpu => Candle::cpu(),
            Device::Cuda => Candle::cuda()?,
            Device::WebGpu => {
                return Err(Error::InvalidArgument(
                    "LLM encoders do not run on WebGPU. Use CUDA or the CPU.".into(),
                ));
            }
        };
        if let Some(head) = head {
            head.spec.check_encoder(&checkpoint.encoder)?;
        }
        let precision = precision.unwrap_or(Precision::of(&checkpoint.weights));
        let encoder = Encoder::decoder(backend, checkpoint, precision)?;
        Self::new(encoder, head, case)
    }
}

//! Weights by name, from safetensors or GGUF, without copying what can be borrowed.
//!
//! Names are GGUF's (`blk.0.attn_q.weight`, …) whichever file they come from: Hugging Face names are
//! translated once, here. RoBERTa's position table loses its first rows here too (those below
//! `pad_token_id + 1`, as in llama.cpp's converter), so that positions count from 0 for every family.

use std::{borrow::Cow, collections::HashMap, ops::Range};

use candle_core::quantized::{GgmlDType, gguf_file};
use half::{bf16, f16};

use super::gguf::header::Header;
use crate::error::{Error, Result};

/// How a tensor's numbers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    F32,
    F16,
    Bf16,
    /// Blocks of 32: an f16 scale, then 32 signed bytes; x = scale · q.
    #[serde(rename = "q8_0")]
    Q8_0,
    /// Blocks of 32: an f16 scale, then 16 bytes holding q + 8 in four bits (first half of the block in
    /// the low nibbles); x = scale · q.
    #[serde(rename = "q4_0")]
    Q4_0,
}

/// Numbers per block of the quantised formats.
pub const BLOCK: usize = 32;

impl Dtype {
    /// `(numbers, bytes)` of the smallest unit.
    pub fn block(self) -> (usize, usize) {
        match self {
            Self::F32 => (1, 4),
            Self::F16 | Self::Bf16 => (1, 2),
            Self::Q8_0 => (BLOCK, 2 + BLOCK),
            Self::Q4_0 => (BLOCK, 2 + BLOCK / 2),
        }
    }

    /// The name used in files, options and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::Q8_0 => "q8_0",
            Self::Q4_0 => "q4_0",
        }
    }

    fn from_safetensors(dtype: safetensors::Dtype) -> Option<Self> {
        match dtype {
            safetensors::Dtype::F32 => Some(Self::F32),
            safetensors::Dtype::F16 => Some(Self::F16),
            safetensors::Dtype::BF16 => Some(Self::Bf16),
            _ => None,
        }
    }

    pub(crate) fn from_ggml(dtype: GgmlDType) -> Option<Self> {
        match dtype {
            GgmlDType::F32 => Some(Self::F32),
            GgmlDType::F16 => Some(Self::F16),
            GgmlDType::BF16 => Some(Self::Bf16),
            GgmlDType::Q8_0 => Some(Self::Q8_0),
            GgmlDType::Q4_0 => Some(Self::Q4_0),
            _ => None,
        }
    }

    /// candle's name for it.
    pub(crate) fn ggml(self) -> GgmlDType {
        match self {
            Self::F32 => GgmlDType::F32,
            Self::F16 => GgmlDType::F16,
            Self::Bf16 => GgmlDType::BF16,
            Self::Q8_0 => GgmlDType::Q8_0,
            Self::Q4_0 => GgmlDType::Q4_0,
        }
    }
}

/// A named tensor in a file: shape (outermost first), dtype and its bytes, row by row.
#[derive(Debug, Clone)]
pub struct WeightTensor<'a> {
    pub name: String,
    pub shape: Vec<usize>,
    pub dtype: Dtype,
    pub data: Cow<'a, [u8]>,
}

impl<'a> WeightTensor<'a> {
    /// A tensor of a safetensors file under its own name.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn from_view(
        name: &str,
        view: &safetensors::tensor::TensorView<'a>,
    ) -> Result<Self> {
        let dtype = Dtype::from_safetensors(view.dtype()).ok_or_else(|| Error::Tensor {
            name: name.into(),
            reason: format!("holds {:?}, not floating-point numbers", view.dtype()),
        })?;
        Ok(Self {
            name: name.into(),
            shape: view.shape().to_vec(),
            dtype,
            data: Cow::Borrowed(view.data()),
        })
    }

    /// `(rows, columns)` of a matrix; a vector is one row.
    pub fn dims2(&self) -> Result<(usize, usize)> {
        match self.shape[..] {
            [columns] => Ok((1, columns)),
            [rows, columns] => Ok((rows, columns)),
            _ => Err(Error::Tensor {
                name: self.name.clone(),
                reason: format!("has shape {:?} where a matrix is needed", self.shape),
            }),
        }
    }

    /// [`WeightTensor::dims2`], once the bytes are known to be there.
    pub fn checked_dims2(&self) -> Result<(usize, usize)> {
        let (rows, columns) = self.dims2()?;
        let (numbers, bytes) = self.dtype.block();
        let complete = columns.is_multiple_of(numbers)
            && rows
                .checked_mul(columns / numbers * bytes)
                .is_some_and(|needed| self.data.len() >= needed);
        match complete {
            true => Ok((rows, columns)),
            false => Err(Error::Tensor {
                name: self.name.clone(),
                reason: format!(
                    "holds {} bytes, which is too little for {} of shape {:?}",
                    self.data.len(),
                    self.dtype.name(),
                    self.shape
                ),
            }),
        }
    }

    /// All numbers as f32.
    pub fn to_f32(&self) -> Vec<f32> {
        decode(self.dtype, &self.data)
    }
}

/// Decodes whole blocks of `dtype` to f32. A trailing partial block is ignored; readers reject it first.
pub fn decode(dtype: Dtype, data: &[u8]) -> Vec<f32> {
    let (numbers, bytes) = dtype.block();
    let mut out = vec![0f32; data.len() / bytes * numbers];
    decode_into(dtype, data, &mut out);
    out
}

/// [`decode`] into memory that is there: as many blocks as both sides hold.
pub fn decode_into(dtype: Dtype, data: &[u8], out: &mut [f32]) {
    let scale = |block: &[u8]| f16::from_le_bytes([block[0], block[1]]).to_f32();
    let (numbers, bytes) = dtype.block();
    for (block, out) in data.chunks_exact(bytes).zip(out.chunks_exact_mut(numbers)) {
        match dtype {
            Dtype::F32 => out[0] = f32::from_le_bytes([block[0], block[1], block[2], block[3]]),
            Dtype::F16 => out[0] = scale(block),
            Dtype::Bf16 => out[0] = bf16::from_le_bytes([block[0], block[1]]).to_f32(),
            Dtype::Q8_0 => {
                let d = scale(block);
                for (x, &q) in out.iter_mut().zip(&block[2..]) {
                    *x = d * f32::from(q as i8);
                }
            }
            Dtype::Q4_0 => {
                let d = scale(block);
                let (low, high) = out.split_at_mut(BLOCK / 2);
                for ((low, high), &q) in low.iter_mut().zip(high).zip(&block[2..]) {
                    *low = d * (f32::from(q & 15) - 8.0);
                    *high = d * (f32::from(q >> 4) - 8.0);
                }
            }
        }
    }
}

/// The bytes of a file: owned, or mapped into memory.
pub enum Bytes {
    Owned(Vec<u8>),
    #[cfg(not(target_arch = "wasm32"))]
    Mapped(memmap2::Mmap),
}

impl std::ops::Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Owned(bytes) => bytes,
            #[cfg(not(target_arch = "wasm32"))]
            Self::Mapped(map) => map,
        }
    }
}

/// A tensor of a file: what is said of it, and where its bytes lie.
pub(crate) struct Entry {
    pub shape: Vec<usize>,
    pub dtype: Dtype,
    pub place: Place,
}

/// Where the bytes of a tensor lie.
pub(crate) enum Place {
    /// Within the file's.
    File(Range<usize>),
    Own(Vec<u8>),
}

/// An opened model file: its bytes as a whole, or tensor by tensor ([`Arriving`](super::arriving::Arriving)).
pub struct Weights {
    /// Empty where tensors have their own.
    bytes: Bytes,
    entries: HashMap<String, Entry>,
    size: usize,
    /// GGUF's key–value pairs; empty for safetensors.
    pub metadata: HashMap<String, gguf_file::Value>,
}

impl Weights {
    /// Opens GGUF or safetensors by the first bytes. `what` names the file in errors.
    pub fn open(what: &str, bytes: Bytes) -> Result<Self> {
        if bytes.starts_with(b"GGUF") {
            Self::gguf(what, bytes)
        } else {
            Self::safetensors(what, bytes)
        }
    }

    fn safetensors(what: &str, bytes: Bytes) -> Result<Self> {
        let bad = |reason: String| Error::ModelFormat {
            what: what.into(),
            reason,
        };
        let (header, metadata) = safetensors::SafeTensors::read_metadata(&bytes)
            .map_err(|e| bad(format!("neither GGUF nor complete safetensors ({e})")))?;
        let start = header + 8;
        let mut entries = HashMap::new();
        for (name, info) in metadata.tensors() {
            let Some(dtype) = Dtype::from_safetensors(info.dtype) else {
                continue; // position_ids and the like: integers that no forward pass reads
            };
            let Some(name) = gguf_name(&name) else {
                continue; // the pooler and task heads
            };
            let range = start + info.data_offsets.0..start + info.data_offsets.1;
            if range.end > bytes.len() {
                return Err(bad(format!("it ends inside tensor `{name}`")));
            }
            entries.insert(
                name,
                Entry {
                    shape: info.shape.clone(),
                    dtype,
                    place: Place::File(range),
                },
            );
        }
        Ok(Self {
            size: bytes.len(),
            bytes,
            entries,
            metadata: HashMap::new(),
        })
    }

    fn gguf(what: &str, bytes: Bytes) -> Result<Self> {
        let header = Header::read(&bytes).map_err(|reason| Error::ModelFormat {
            what: what.into(),
            reason,
        })?;
        let table = header.table(what, Some(bytes.len()), Dtype::from_ggml)?;
        let entries = table.into_iter().map(|(name, tensor)| {
            let entry = Entry {
                shape: tensor.shape,
                dtype: tensor.dtype,
                place: Place::File(tensor.range),
            };
            (name, entry)
        });
        Ok(Self {
            size: bytes.len(),
            entries: entries.collect(),
            metadata: header.content.metadata,
            bytes,
        })
    }

    /// Tensors with bytes of their own, from a file of `size` bytes.
    pub(crate) fn of(
        entries: HashMap<String, Entry>,
        metadata: HashMap<String, gguf_file::Value>,
        size: usize,
    ) -> Self {
        Self {
            bytes: Bytes::Owned(Vec::new()),
            entries,
            size,
            metadata,
        }
    }

    /// Size of the file in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The file's bytes; none where it arrived in pieces.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether a tensor is there.
    pub fn contains(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    /// The tensor of that name, checked against the shape the configuration asks for.
    pub fn get(&self, name: &str, shape: &[usize]) -> Result<WeightTensor<'_>> {
        let tensor = self.get_any(name)?;
        check_tensor(name, &tensor.shape, shape)?;
        Ok(tensor)
    }

    /// As [`Weights::get`], and it is here no longer: what has bytes of its own gives them away.
    pub fn take(&mut self, name: &str, shape: &[usize]) -> Result<WeightTensor<'static>> {
        self.get(name, shape)?;
        let entry = self.entries.remove(name).ok_or_else(|| missing(name))?;
        Ok(WeightTensor {
            name: name.into(),
            shape: entry.shape,
            dtype: entry.dtype,
            data: Cow::Owned(match entry.place {
                Place::File(range) => self.bytes[range].to_vec(),
                Place::Own(bytes) => bytes,
            }),
        })
    }

    /// The tensor of that name, whatever its shape.
    pub fn get_any(&self, name: &str) -> Result<WeightTensor<'_>> {
        let entry = self.entries.get(name).ok_or_else(|| missing(name))?;
        Ok(WeightTensor {
            name: name.into(),
            shape: entry.shape.clone(),
            dtype: entry.dtype,
            data: Cow::Borrowed(match &entry.place {
                Place::File(range) => &self.bytes[range.clone()],
                Place::Own(bytes) => bytes,
            }),
        })
    }

    /// Drops the first `rows` rows of a matrix: RoBERTa's unused positions.
    pub(crate) fn drop_rows(&mut self, name: &str, rows: usize) -> Result<()> {
        let missing = || Error::Tensor {
            name: name.into(),
            reason: format!("has fewer than the {} rows needed", rows + 1),
        };
        let entry = self.entries.get_mut(name).ok_or_else(missing)?;
        let [all, columns] = entry.shape[..] else {
            return Err(missing());
        };
        if all <= rows {
            return Err(missing());
        }
        let (numbers, bytes) = entry.dtype.block();
        let dropped = rows * columns / numbers * bytes;
        match &mut entry.place {
            Place::File(range) => range.start += dropped,
            Place::Own(bytes) => drop(bytes.drain(..dropped.min(bytes.len()))),
        }
        entry.shape[0] -= rows;
        Ok(())
    }
}

fn missing(name: &str) -> Error {
    Error::Tensor {
        name: name.into(),
        reason: "is missing".into(),
    }
}

fn check_tensor(name: &str, found: &[usize], needed: &[usize]) -> Result<()> {
    match found == needed {
        true => Ok(()),
        false => Err(Error::Tensor {
            name: name.into(),
            reason: format!("has shape {found:?} where the configuration says {needed:?}"),
        }),
    }
}

/// Hugging Face's name of a BERT-family tensor in GGUF's terms; `None` for what a forward pass ignores.
pub(crate) fn gguf_name(name: &str) -> Option<String> {
    let name = [
        "bert.",
        "roberta.",
        "xlm_roberta.",
        "model.",
        "0.auto_model.",
    ]
    .iter()
    .find_map(|prefix| name.strip_prefix(prefix))
    .unwrap_or(name);
    let (stem, kind) = name.rsplit_once('.')?;
    // Checkpoints converted from TensorFlow call LayerNorm's weight gamma and its bias beta.
    let kind = match kind {
        "weight" | "gamma" => "weight",
        "bias" | "beta" => "bias",
        _ => return None,
    };
    let stem = match stem {
        "embeddings.word_embeddings" => "token_embd".into(),
        "embeddings.position_embeddings" => "position_embd".into(),
        "embeddings.token_type_embeddings" => "token_types".into(),
        "embeddings.LayerNorm" => "token_embd_norm".into(),
        _ => {
            let (layer, part) = stem.strip_prefix("encoder.layer.")?.split_once('.')?;
            let layer: usize = layer.parse().ok()?;
            let part = match part {
                "attention.self.query" => "attn_q",
                "attention.self.key" => "attn_k",
                "attention.self.value" => "attn_v",
                "attention.output.dense" => "attn_output",
                "attention.output.LayerNorm" => "attn_output_norm",
                "intermediate.dense" => "ffn_up",
                "output.dense" => "ffn_down",
                "output.LayerNorm" => "layer_output_norm",
                _ => return None,
            };
            format!("blk.{layer}.{part}")
        }
    };
    Some(format!("{stem}.{kind}"))
}

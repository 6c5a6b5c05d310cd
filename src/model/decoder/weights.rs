//! A decoder's tensors by name, from one safetensors file, several (shards) or GGUF, and how they are copied
//! to a device.
//!
//! Files are mapped into memory, and a tensor is copied once, to where it is used. Names are GGUF's
//! (`blk.0.attn_q.weight`, …) whichever file they come from.

use std::{borrow::Cow, collections::BTreeMap, ops::Range, path::Path};

use candle_core::{
    DType, Device, Tensor,
    quantized::{GgmlDType, QMatMul, QStorage, QTensor, gguf_file},
};
use sha2::{Digest, Sha256};

use super::linear::{Linear, RmsNorm, Table, Weight};
use crate::{
    checkpoint::{gguf::header::Header, map, weights::Bytes},
    error::{Error, Result},
};

/// What a decoder's weights are kept in; those of GGUF files stay in their blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Precision {
    F32,
    F16,
    Bf16,
}

impl Precision {
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
        }
    }

    fn dtype(self) -> DType {
        match self {
            Self::F32 => DType::F32,
            Self::F16 => DType::F16,
            Self::Bf16 => DType::BF16,
        }
    }
}

/// How a file holds a tensor's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stored {
    Dense(DType),
    Blocks(GgmlDType),
}

impl Stored {
    fn name(self) -> String {
        match self {
            Self::Dense(dtype) => dtype.as_str().into(),
            Self::Blocks(dtype) => format!("{dtype:?}").to_lowercase(),
        }
    }
}

struct Entry {
    file: usize,
    shape: Vec<usize>,
    stored: Stored,
    range: Range<usize>,
}

/// An opened decoder's tensors.
pub struct Weights {
    files: Vec<Bytes>,
    entries: BTreeMap<String, Entry>,
}

impl Weights {
    /// Maps safetensors files. `what` names the model in errors.
    pub(super) fn safetensors(what: &str, paths: &[impl AsRef<Path>]) -> Result<Self> {
        let mut all = Self {
            files: Vec::new(),
            entries: BTreeMap::new(),
        };
        for path in paths {
            let bytes = map(path.as_ref())?;
            let bad = |reason: String| Error::ModelFormat {
                what: format!("{what} ({})", path.as_ref().display()),
                reason,
            };
            let (header, metadata) = safetensors::SafeTensors::read_metadata(&bytes)
                .map_err(|e| bad(format!("it is not complete safetensors ({e})")))?;
            for (name, info) in metadata.tensors() {
                let Some(name) = gguf_name(&name) else {
                    continue; // the output layer, rotary tables
                };
                let dtype = match info.dtype {
                    safetensors::Dtype::F32 => DType::F32,
                    safetensors::Dtype::F16 => DType::F16,
                    safetensors::Dtype::BF16 => DType::BF16,
                    other => {
                        return Err(Error::Tensor {
                            name,
                            reason: format!(
                                "holds {other:?}, not floating-point numbers of 16 or 32 bits"
                            ),
                        });
                    }
                };
                let (from, to) = info.data_offsets;
                let range = header + 8 + from..header + 8 + to;
                if range.end > bytes.len() {
                    return Err(bad(format!("it ends inside tensor `{name}`")));
                }
                all.entries.insert(
                    name,
                    Entry {
                        file: all.files.len(),
                        shape: info.shape.clone(),
                        stored: Stored::Dense(dtype),
                        range,
                    },
                );
            }
            all.files.push(bytes);
        }
        Ok(all)
    }

    /// A mapped GGUF file and its header. `what` names it in errors.
    pub(super) fn gguf(what: &str, bytes: Bytes) -> Result<(Self, gguf_file::Content)> {
        let bad = |reason: String| Error::ModelFormat {
            what: what.into(),
            reason,
        };
        let header = Header::read(&bytes).map_err(bad)?;
        let stored = |dtype| {
            Some(match dtype {
                GgmlDType::F32 => Stored::Dense(DType::F32),
                GgmlDType::F16 => Stored::Dense(DType::F16),
                GgmlDType::BF16 => Stored::Dense(DType::BF16),
                blocks => Stored::Blocks(blocks),
            })
        };
        let mut entries = BTreeMap::new();
        for (name, tensor) in header.table(what, Some(bytes.len()), stored)? {
            // Blocks are read where they lie.
            if !tensor.range.start.is_multiple_of(4) {
                return Err(bad(format!("tensor `{name}` begins between two words")));
            }
            if name == "output.weight" {
                continue;
            }
            let entry = Entry {
                file: 0,
                shape: tensor.shape,
                stored: tensor.dtype,
                range: tensor.range,
            };
            entries.insert(name, entry);
        }
        let weights = Self {
            files: vec![bytes],
            entries,
        };
        Ok((weights, header.content))
    }

    fn entry(&self, name: &str) -> Result<&Entry> {
        self.entries.get(name).ok_or_else(|| Error::Tensor {
            name: name.into(),
            reason: "is missing".into(),
        })
    }

    fn data(&self, entry: &Entry) -> &[u8] {
        &self.files[entry.file][entry.range.clone()]
    }

    /// Numbers of a vector that may be there.
    pub(super) fn vector(&self, name: &str) -> Result<Option<Vec<f32>>> {
        let Some(entry) = self.entries.get(name) else {
            return Ok(None);
        };
        let tensor = self.dense(entry, &Device::Cpu)?;
        Ok(Some(tensor.flatten_all()?.to_dtype(DType::F32)?.to_vec1()?))
    }

    fn dense(&self, entry: &Entry, device: &Device) -> Result<Tensor> {
        match entry.stored {
            Stored::Dense(dtype) => Ok(Tensor::from_raw_buffer(
                self.data(entry),
                dtype,
                &entry.shape,
                device,
            )?),
            Stored::Blocks(dtype) => Ok(self.blocks(entry, dtype, device)?.dequantize(device)?),
        }
    }

    fn blocks(&self, entry: &Entry, dtype: GgmlDType, device: &Device) -> Result<QTensor> {
        let storage = QStorage::from_data(Cow::Borrowed(self.data(entry)), device, dtype)?;
        Ok(QTensor::new(storage, entry.shape.as_slice())?)
    }

    /// What its large matrices are stored in, such as `bf16` or `q4k`.
    pub(super) fn stored(&self) -> String {
        self.entries
            .get("blk.0.ffn_up.weight")
            .map_or_else(|| "f32".into(), |e| e.stored.name())
    }

    /// Whether its matrices are in a GGUF file's blocks.
    pub(super) fn in_blocks(&self) -> bool {
        let mut stored = self.entries.values().map(|e| e.stored);
        stored.any(|s| matches!(s, Stored::Blocks(_)))
    }

    /// SHA-256 (hex) of every tensor's name, shape and type and of its first 4 KiB: tells any two models
    /// apart without reading all of the one at hand.
    pub(super) fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        for (name, entry) in &self.entries {
            hash.update(format!(
                "{name} {:?} {}\n",
                entry.shape,
                entry.stored.name()
            ));
            let data = self.data(entry);
            hash.update(&data[..data.len().min(4096)]);
        }
        hash.finalize().iter().map(|b| format!("{b:02x}")).collect()
    }

    /// # Errors
    /// The device has less memory free than the weights take in `precision`.
    pub(super) fn check_memory(
        &self,
        what: &str,
        device: &Device,
        precision: Precision,
    ) -> Result<()> {
        let bytes = |entry: &Entry| match entry.stored {
            Stored::Dense(_) => {
                let numbers = entry.shape.iter().product::<usize>();
                (numbers * precision.dtype().size_in_bytes()) as u64
            }
            Stored::Blocks(_) => entry.range.len() as u64,
        };
        let needed = self.entries.values().map(bytes).sum();
        match super::checkpoint::free_memory(device) {
            Some(free) if free < needed => Err(Error::NotEnoughMemory {
                what: what.into(),
                dtype: match self.in_blocks() {
                    true => self.stored(),
                    false => precision.name().into(),
                },
                needed,
                free,
            }),
            _ => Ok(()),
        }
    }
}

/// Copies tensors to a device.
pub struct Loader<'a> {
    weights: &'a Weights,
    device: &'a Device,
    precision: DType,
    activations: DType,
}

impl<'a> Loader<'a> {
    pub(super) fn new(weights: &'a Weights, device: &'a Device, precision: Precision) -> Self {
        let precision = precision.dtype();
        Self {
            weights,
            device,
            precision,
            activations: match device.is_cuda() && !weights.in_blocks() {
                true => precision,
                false => DType::F32,
            },
        }
    }

    /// What activations are.
    pub fn activations(&self) -> DType {
        self.activations
    }

    /// A tensor that must be there, of this shape.
    fn entry(&self, name: &str, shape: &[usize]) -> Result<&Entry> {
        let entry = self.weights.entry(name)?;
        match entry.shape == shape {
            true => Ok(entry),
            false => Err(Error::Tensor {
                name: name.into(),
                reason: format!(
                    "has shape {:?} where the configuration says {shape:?}",
                    entry.shape
                ),
            }),
        }
    }

    /// A tensor in the type of activations.
    pub fn tensor(&self, name: &str, shape: &[usize]) -> Result<Tensor> {
        let entry = self.entry(name, shape)?;
        let tensor = self.weights.dense(entry, self.device)?;
        Ok(tensor.to_dtype(self.activations)?)
    }

    /// A matrix in the precision that was asked for.
    fn numbers(&self, entry: &Entry) -> Result<Tensor> {
        let tensor = self.weights.dense(entry, self.device)?;
        Ok(tensor.to_dtype(self.precision)?)
    }

    fn blocks(&self, entry: &Entry, dtype: GgmlDType) -> Result<QTensor> {
        self.weights.blocks(entry, dtype, self.device)
    }

    /// `NAME.weight` `[rows, columns]` and, with `bias`, `NAME.bias`.
    pub fn linear(&self, name: &str, rows: usize, columns: usize, bias: bool) -> Result<Linear> {
        let entry = self.entry(&format!("{name}.weight"), &[rows, columns])?;
        let weight = match entry.stored {
            Stored::Dense(_) => Weight::Dense(self.numbers(entry)?),
            Stored::Blocks(dtype) => {
                Weight::Blocks(QMatMul::from_qtensor(self.blocks(entry, dtype)?)?)
            }
        };
        let bias = bias.then(|| self.tensor(&format!("{name}.bias"), &[rows]));
        Ok(Linear {
            weight,
            bias: bias.transpose()?,
        })
    }

    pub(super) fn norm(&self, name: &str, width: usize, eps: f64) -> Result<RmsNorm> {
        Ok(RmsNorm {
            weight: self.tensor(&format!("{name}.weight"), &[width])?,
            eps,
        })
    }

    pub(super) fn table(&self, name: &str, rows: usize, columns: usize) -> Result<Table> {
        let entry = self.entry(&format!("{name}.weight"), &[rows, columns])?;
        Ok(match entry.stored {
            Stored::Dense(_) => Table::Dense(self.numbers(entry)?),
            Stored::Blocks(dtype) => Table::Blocks(self.blocks(entry, dtype)?.into()),
        })
    }
}

/// Hugging Face's name of a decoder's tensor in GGUF's terms; `None` for what a forward pass ignores.
fn gguf_name(name: &str) -> Option<String> {
    if let Some(latent) = name.strip_prefix("latent_attention_model.") {
        return Some(format!("latent.{latent}"));
    }
    let name = ["embedding_model.", "model.", "0.auto_model."]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .unwrap_or(name);
    let (stem, kind) = name.rsplit_once('.')?;
    if !matches!(kind, "weight" | "bias") {
        return None;
    }
    let stem = match stem {
        "embed_tokens" => "token_embd".into(),
        "norm" => "output_norm".into(),
        _ => {
            let (layer, part) = stem.strip_prefix("layers.")?.split_once('.')?;
            let layer: usize = layer.parse().ok()?;
            let part = match part {
                "input_layernorm" => "attn_norm",
                "self_attn.q_proj" => "attn_q",
                "self_attn.k_proj" => "attn_k",
                "self_attn.v_proj" => "attn_v",
                "self_attn.o_proj" => "attn_output",
                "post_attention_layernorm" => "ffn_norm",
                "mlp.gate_proj" => "ffn_gate",
                "mlp.up_proj" => "ffn_up",
                "mlp.down_proj" => "ffn_down",
                _ => return None,
            };
            format!("blk.{layer}.{part}")
        }
    };
    Some(format!("{stem}.{kind}"))
}

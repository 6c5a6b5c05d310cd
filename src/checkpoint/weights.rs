//! Weights by name, from safetensors or files of `torch.save` (one, or shards) or GGUF, without copying what can be borrowed.
//!
//! Names are GGUF's (`blk.0.attn_q.weight`, …) whichever file they come from: Hugging Face's are
//! translated once ([`names`](super::names)). RoBERTa's position table loses its first rows here too (those below
//! `pad_token_id + 1`, as in llama.cpp's converter), so that positions count from 0 for every family.

use std::{borrow::Cow, collections::BTreeMap};

use sha2::{Digest, Sha256};

pub use super::{
    dtype::{BLOCK, Dtype, decode, decode_into},
    files::Bytes,
};
use super::{
    files::Place,
    gguf::{
        format::Format,
        header::{Header, Metadata},
    },
    names,
    published::Published,
};
use crate::error::{Error, Result};

/// What a tensor is to the model that asks for it. Training decides by it what changes and what stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    TokenTable,
    /// Positions or types.
    OtherTable,
    /// Of the LayerNorm behind the tables: its weight or its bias.
    TableNorm,
    /// A linear layer's weight in a layer of the encoder.
    Matrix {
        layer: usize,
    },
    /// A linear layer's bias.
    Bias {
        layer: usize,
    },
    /// A LayerNorm's weight or bias.
    Norm {
        layer: usize,
    },
    /// The bias of attention by offset, which all layers share.
    RelativeBias,
    /// The pooler's weight or bias.
    Pooler,
    /// A head's weight or bias.
    Head,
}

impl Role {
    /// The encoder's layer that it is of.
    pub fn layer(self) -> Option<usize> {
        match self {
            Self::Matrix { layer } | Self::Bias { layer } | Self::Norm { layer } => Some(layer),
            Self::TokenTable
            | Self::OtherTable
            | Self::TableNorm
            | Self::RelativeBias
            | Self::Pooler
            | Self::Head => None,
        }
    }
}

/// A named tensor in a file: shape (outermost first), dtype and its bytes, row by row.
#[derive(Debug, Clone)]
pub struct WeightTensor<'a> {
    pub name: String,
    /// What it is to the model; none until a model asks for it.
    pub role: Option<Role>,
    pub shape: Vec<usize>,
    pub dtype: Dtype,
    pub data: Cow<'a, [u8]>,
}

impl WeightTensor<'_> {
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

/// # Errors
/// The numbers are none that a model computes with. `name` is the tensor's.
pub(crate) fn from_safetensors(name: &str, dtype: safetensors::Dtype) -> Result<Dtype> {
    match dtype {
        safetensors::Dtype::F32 => Ok(Dtype::F32),
        safetensors::Dtype::F16 => Ok(Dtype::F16),
        safetensors::Dtype::BF16 => Ok(Dtype::Bf16),
        other => Err(Error::Tensor {
            name: name.into(),
            reason: format!("holds {other:?}, not floating-point numbers of 16 or 32 bits"),
        }),
    }
}

/// A tensor of a file: what is said of it, and where its bytes lie.
pub(crate) struct Entry {
    pub shape: Vec<usize>,
    pub format: Format,
    pub place: Place,
}

/// A tensor as its file holds it, whatever its format.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stored<'a> {
    pub shape: &'a [usize],
    pub format: Format,
    pub data: &'a [u8],
}

/// An opened model's tensors: with the bytes of its files, or each with its own
/// ([`Arriving`](super::gguf::arriving::Arriving)).
pub struct Weights {
    files: Vec<Bytes>,
    entries: BTreeMap<String, Entry>,
    size: usize,
    /// GGUF's key–value pairs; empty for published files.
    pub metadata: Metadata,
}

impl Weights {
    /// Opens a BERT-family encoder's GGUF or published file by the first bytes. `what` names the file in errors.
    pub fn open(what: &str, bytes: Bytes) -> Result<Self> {
        if !bytes.starts_with(b"GGUF") {
            return Self::published([(what.to_owned(), bytes)], names::bert);
        }
        let header = Header::read(&bytes).map_err(|fault| Error::ModelFormat {
            what: what.into(),
            reason: fault.to_string(),
        })?;
        Self::gguf(what, bytes, header, |format| format.dtype().is_some())
    }

    /// The tensors of published files, each with what names it in errors. `named` gives their GGUF names, and `None`
    /// for those that no forward pass reads.
    pub(crate) fn published(
        files: impl IntoIterator<Item = (String, Bytes)>,
        named: impl Fn(&str) -> Option<String>,
    ) -> Result<Self> {
        let mut all = Self::of(BTreeMap::new(), Metadata::new(), 0);
        for (what, bytes) in files {
            for tensor in Published::read(&what, all.files.len(), &bytes)?.tensors {
                let Some(name) = named(&tensor.name) else {
                    continue;
                };
                let entry = Entry {
                    format: from_safetensors(&name, tensor.dtype)?.into(),
                    shape: tensor.shape,
                    place: tensor.place,
                };
                all.entries.insert(name, entry);
            }
            all.size += bytes.len();
            all.files.push(bytes);
        }
        Ok(all)
    }

    /// The tensors of a GGUF file whose header was read, in the formats that `reads` tells.
    pub(crate) fn gguf(
        what: &str,
        bytes: Bytes,
        header: Header,
        reads: impl Fn(Format) -> bool,
    ) -> Result<Self> {
        let table = header.table(what, Some(bytes.len()), reads)?;
        let entries = table.into_iter().map(|tensor| {
            let entry = Entry {
                shape: tensor.shape,
                format: tensor.format,
                place: Place::File(0, tensor.range),
            };
            (tensor.name, entry)
        });
        Ok(Self {
            size: bytes.len(),
            entries: entries.collect(),
            metadata: header.metadata,
            files: vec![bytes],
        })
    }

    /// Tensors with bytes of their own, from a file of `size` bytes.
    pub(crate) fn of(entries: BTreeMap<String, Entry>, metadata: Metadata, size: usize) -> Self {
        Self {
            files: Vec::new(),
            entries,
            size,
            metadata,
        }
    }

    /// Size of the files in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The files' bytes; none of one that arrived in pieces.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn files(&self) -> &[Bytes] {
        &self.files
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
        let dtype = self.get(name, shape)?.dtype;
        let entry = self.entries.remove(name).ok_or_else(|| missing(name))?;
        Ok(WeightTensor {
            name: name.into(),
            role: None,
            shape: entry.shape,
            dtype,
            data: Cow::Owned(match entry.place {
                Place::File(file, range) => self.files[file][range].to_vec(),
                Place::Own(bytes) => bytes,
            }),
        })
    }

    /// The tensor of that name, whatever its shape.
    ///
    /// # Errors
    /// There is none, or its format is one that decoders alone are read from.
    pub fn get_any(&self, name: &str) -> Result<WeightTensor<'_>> {
        let stored = self.stored(name)?;
        let dtype = stored.format.dtype().ok_or_else(|| Error::Tensor {
            name: name.into(),
            reason: format!("is in {}, which is not decoded here", stored.format.name()),
        })?;
        Ok(WeightTensor {
            name: name.into(),
            role: None,
            shape: stored.shape.to_vec(),
            dtype,
            data: Cow::Borrowed(stored.data),
        })
    }

    /// The tensor of that name in whatever format it is.
    pub(crate) fn stored(&self, name: &str) -> Result<Stored<'_>> {
        let entry = self.entries.get(name).ok_or_else(|| missing(name))?;
        Ok(self.stored_at(entry))
    }

    /// Every tensor that embeddings are made with, by name: all but a language model's output layer.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, Stored<'_>)> {
        let entries = self.entries.iter();
        let entries = entries.filter(|(name, _)| *name != names::OUTPUT);
        entries.map(|(name, entry)| (name.as_str(), self.stored_at(entry)))
    }

    fn stored_at<'a>(&'a self, entry: &'a Entry) -> Stored<'a> {
        Stored {
            shape: &entry.shape,
            format: entry.format,
            data: entry.place.bytes(&self.files),
        }
    }

    /// What the large matrices are stored in.
    pub fn format(&self) -> Format {
        let names = ["blk.0.ffn_up.weight", "enc.blk.0.ffn_up.weight"];
        let matrix = names.iter().find_map(|name| self.entries.get(*name));
        matrix.map_or(Format::F32, |entry| entry.format)
    }

    /// SHA-256 (hex) of the name, shape and format of each of [`Weights::all`] and of its first 4 KiB: tells any two
    /// encoders apart without reading all of the one at hand.
    pub(crate) fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        for (name, tensor) in self.all() {
            let (shape, format) = (tensor.shape, tensor.format.name());
            hash.update(format!("{name} {shape:?} {format}\n"));
            hash.update(&tensor.data[..tensor.data.len().min(4096)]);
        }
        super::files::hexadecimal(hash)
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
        let (numbers, bytes) = entry.format.block();
        let dropped = rows * columns / numbers * bytes;
        match &mut entry.place {
            Place::File(_, range) => range.start += dropped,
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

/// # Errors
/// A tensor has another shape than the configuration says.
pub(crate) fn check_tensor(name: &str, found: &[usize], needed: &[usize]) -> Result<()> {
    match found == needed {
        true => Ok(()),
        false => Err(Error::Tensor {
            name: name.into(),
            reason: format!("has shape {found:?} where the configuration says {needed:?}"),
        }),
    }
}

//! Files of tensors that say what they are: safetensors with a description as JSON under one key of the metadata.
//!
//! safetensors keeps no order among several keys, and the same content must give the same bytes: hence one key.
//! Errors are words: which kind of file it was to be, and what to do about it, the caller knows.
//!
//! ```
//! use caselens::checkpoint::described::{Reader, Writer};
//! use safetensors::Dtype;
//!
//! let mut file = Writer::default();
//! file.add("numbers", Dtype::F32, &[2], vec![0; 8]);
//! let bytes = file.described("example", &"two zeros")?;
//!
//! let file = Reader::new(&bytes)?;
//! assert_eq!(file.description::<String>("example")?, "two zeros");
//! assert_eq!(file.data("numbers", Dtype::F32, &[2])?, [0; 8]);
//! # Ok::<(), String>(())
//! ```

use std::{borrow::Cow, collections::HashMap};

use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde::{Serialize, de::DeserializeOwned};

type Result<T> = std::result::Result<T, String>;

/// Tensors to be written.
#[derive(Default)]
pub struct Writer<'a> {
    tensors: Vec<Tensor<'a>>,
}

/// Name, dtype, shape and bytes.
type Tensor<'a> = (String, Dtype, Vec<usize>, Cow<'a, [u8]>);

impl<'a> Writer<'a> {
    /// Adds a tensor: its bytes row by row, little-endian.
    pub fn add(
        &mut self,
        name: impl Into<String>,
        dtype: Dtype,
        shape: &[usize],
        data: impl Into<Cow<'a, [u8]>>,
    ) {
        let tensor = (name.into(), dtype, shape.to_vec(), data.into());
        self.tensors.push(tensor);
    }

    /// The file, with `description` under `key`.
    ///
    /// # Errors
    /// The description is no JSON, or as [`Writer::with`].
    pub fn described(&self, key: &str, description: &impl Serialize) -> Result<Vec<u8>> {
        let text = serde_json::to_string(description).map_err(|e| e.to_string())?;
        self.with([(key.to_owned(), text)].into())
    }

    /// The file as transformers reads it, which refuses one that does not say which library's tensors it holds.
    ///
    /// # Errors
    /// As [`Writer::with`].
    pub fn published(&self) -> Result<Vec<u8>> {
        self.with([("format".to_owned(), "pt".to_owned())].into())
    }

    /// The file with tensors alone.
    ///
    /// # Errors
    /// As [`Writer::with`].
    pub fn plain(&self) -> Result<Vec<u8>> {
        safetensors::serialize(self.views()?, None).map_err(|e| e.to_string())
    }

    /// The file with this metadata.
    ///
    /// # Errors
    /// A tensor has not the bytes that its shape needs.
    pub fn with(&self, metadata: HashMap<String, String>) -> Result<Vec<u8>> {
        safetensors::serialize(self.views()?, Some(metadata)).map_err(|e| e.to_string())
    }

    fn views(&self) -> Result<Vec<(&str, TensorView<'_>)>> {
        let tensors = self.tensors.iter();
        let views = tensors.map(|(name, dtype, shape, data)| {
            if !are_finite(*dtype, data) {
                return Err(format!("`{name}` would hold numbers that are not finite"));
            }
            let view = TensorView::new(*dtype, shape.clone(), data);
            Ok((name.as_str(), view.map_err(|e| e.to_string())?))
        });
        views.collect()
    }
}

/// Whether all numbers of a tensor are: what computed others went wrong, and nobody could use its file.
fn are_finite(dtype: Dtype, data: &[u8]) -> bool {
    // All bits of the exponent are set in infinities and NaN.
    let halves = |exponent: u16| {
        let mut numbers = data.as_chunks().0.iter();
        numbers.all(|&x| u16::from_le_bytes(x) & exponent != exponent)
    };
    match dtype {
        Dtype::F32 => {
            let mut numbers = data.as_chunks().0.iter();
            numbers.all(|&x| f32::from_le_bytes(x).is_finite())
        }
        Dtype::F16 => halves(0x7c00),
        Dtype::BF16 => halves(0x7f80),
        _ => true,
    }
}

/// A file of tensors, read.
pub struct Reader<'a> {
    tensors: SafeTensors<'a>,
    metadata: HashMap<String, String>,
}

impl<'a> Reader<'a> {
    /// Reads a file's header, and finds that its tensors are there.
    ///
    /// # Errors
    /// It is no safetensors, or cut short.
    pub fn new(bytes: &'a [u8]) -> Result<Self> {
        let bad = |e| format!("it is not complete safetensors ({e})");
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(bad)?;
        Ok(Self {
            tensors: SafeTensors::deserialize(bytes).map_err(bad)?,
            metadata: header.metadata().clone().unwrap_or_default(),
        })
    }

    /// What the file says of itself under `key`.
    ///
    /// # Errors
    /// There is nothing under it, or something else.
    pub fn description<T: DeserializeOwned>(&self, key: &str) -> Result<T> {
        let text = self.metadata.get(key);
        let text = text.ok_or("it is safetensors of another kind")?;
        serde_json::from_str(text).map_err(|e| format!("its description is broken ({e})"))
    }

    /// The file's metadata.
    pub fn metadata(&self) -> &HashMap<String, String> {
        &self.metadata
    }

    /// Every tensor with its name, in the order of their bytes.
    pub fn tensors(&self) -> Vec<(String, TensorView<'a>)> {
        self.tensors.tensors()
    }

    /// A tensor by name.
    ///
    /// # Errors
    /// It is missing.
    pub fn tensor(&self, name: &str) -> Result<TensorView<'a>> {
        let view = self.tensors.tensor(name);
        view.map_err(|_| format!("`{name}` is missing"))
    }

    /// The bytes of a tensor of this dtype and shape.
    ///
    /// # Errors
    /// It is missing, or another.
    pub fn data(&self, name: &str, dtype: Dtype, shape: &[usize]) -> Result<&'a [u8]> {
        let view = self.tensor(name)?;
        match view.dtype() == dtype && view.shape() == shape {
            true => Ok(view.data()),
            false => Err(format!(
                "`{name}` is {:?} {:?}, where {dtype:?} {shape:?} is needed",
                view.dtype(),
                view.shape()
            )),
        }
    }
}

//! The tensors of a published file under the names they were published under: of safetensors, or of `torch.save`.

use std::collections::HashMap;

use safetensors::{Dtype, SafeTensors};

use super::files::Place;
#[cfg(not(target_arch = "wasm32"))]
use super::torch::{self, Data, PICKLE, ZIP};
use crate::error::{Error, Result};

/// A file of tensors, listed.
pub(crate) struct Published {
    /// In the order of their bytes, or of their names in a file of `torch.save`.
    pub tensors: Vec<NamedTensor>,
    /// What the file says beside its tensors; nothing in one of `torch.save`.
    #[cfg_attr(target_arch = "wasm32", allow(dead_code))]
    pub metadata: HashMap<String, String>,
}

/// A tensor of a file.
pub(crate) struct NamedTensor {
    pub name: String,
    pub dtype: Dtype,
    pub shape: Vec<usize>,
    pub place: Place,
}

impl Published {
    /// Lists the tensors of a file, which is the one of this number where there are several. `what` names it in errors.
    ///
    /// # Errors
    /// It is no file of tensors, is cut short, or wants more than tensors.
    pub fn read(what: &str, file: usize, bytes: &[u8]) -> Result<Self> {
        let bad = |reason: String| Error::ModelFormat {
            what: what.into(),
            reason,
        };
        #[cfg(not(target_arch = "wasm32"))]
        if bytes.starts_with(ZIP) {
            return Ok(Self {
                tensors: of_torch(file, bytes).map_err(bad)?,
                metadata: HashMap::new(),
            });
        }
        #[cfg(not(target_arch = "wasm32"))]
        if bytes.starts_with(PICKLE) {
            return Err(bad("it is a file of torch before 1.6, which is read by running it. Write it anew where you trust it, with Python's torch and safetensors: `safetensors.torch.save_file(torch.load(\"pytorch_model.bin\", weights_only=True), \"model.safetensors\")`".into()));
        }
        let (header, metadata) = SafeTensors::read_metadata(bytes)
            .map_err(|e| bad(format!("neither GGUF nor complete safetensors ({e})")))?;
        let start = header + 8;
        let mut infos: Vec<_> = metadata.tensors().into_iter().collect();
        infos.sort_by_key(|(_, info)| info.data_offsets);
        let mut tensors = Vec::with_capacity(infos.len());
        for (name, info) in infos {
            let (from, to) = info.data_offsets;
            if start + to > bytes.len() {
                return Err(bad(format!("it ends inside tensor `{name}`")));
            }
            tensors.push(NamedTensor {
                name,
                dtype: info.dtype,
                shape: info.shape.clone(),
                place: Place::File(file, start + from..start + to),
            });
        }
        Ok(Self {
            tensors,
            metadata: metadata.metadata().clone().unwrap_or_default(),
        })
    }
}

#[cfg(not(target_arch = "wasm32"))]
fn of_torch(file: usize, bytes: &[u8]) -> std::result::Result<Vec<NamedTensor>, String> {
    let listed = |tensor: torch::Saved| NamedTensor {
        name: tensor.name,
        dtype: tensor.dtype,
        shape: tensor.shape,
        place: match tensor.data {
            Data::At(range) => Place::File(file, range),
            Data::Own(bytes) => Place::Own(bytes),
        },
    };
    Ok(torch::tensors(bytes)?.into_iter().map(listed).collect())
}

//! A fine-tuned encoder as a Hugging Face folder: the published one's files, with other numbers.
//!
//! Tensors keep the names they were published under, and what training does not touch (the pooler,
//! RoBERTa's unused positions) is copied, so that whatever read the published folder reads this one.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
};

use safetensors::Dtype;

use super::{
    config::Config,
    described::Writer,
    dtype,
    files::Bytes,
    names,
    published::{NamedTensor, Published},
    weights::from_safetensors,
};
use crate::error::{Error, Result};

/// model.safetensors with the numbers of `trained`, by GGUF name, in place of the published ones, which are in one file
/// or in shards. `what` names them in errors.
///
/// # Errors
/// A published file is none, or holds a tensor of another shape.
pub fn safetensors(
    what: &str,
    published: &[Bytes],
    config: &Config,
    trained: &BTreeMap<String, Vec<f32>>,
) -> Result<Vec<u8>> {
    let bad = |reason: String| Error::ModelFormat {
        what: what.into(),
        reason,
    };
    let mut trained: BTreeMap<&str, &[f32]> = trained
        .iter()
        .map(|(n, x)| (n.as_str(), x.as_slice()))
        .collect();
    let mut written = Writer::default();
    let mut metadata = HashMap::new();
    let mut listed = Vec::new();
    for (file, bytes) in published.iter().enumerate() {
        let file = Published::read(what, file, bytes)?;
        metadata.extend(file.metadata);
        listed.extend(file.tensors);
    }
    for tensor in &listed {
        let NamedTensor { name, shape, .. } = tensor;
        let data = tensor.place.bytes(published);
        let numbers =
            names::bert(name).and_then(|known| Some((trained.remove(known.as_str())?, known)));
        let (dtype, bytes) = match numbers {
            None => (tensor.dtype, Cow::Borrowed(data)),
            Some((numbers, known)) => {
                let mut all = match known.as_str() {
                    "position_embd.weight" => unused(tensor, data, config)?,
                    _ => Vec::new(),
                };
                all.extend_from_slice(numbers);
                if all.len() != shape.iter().product::<usize>() {
                    return Err(bad(format!("tensor `{name}` has the shape {shape:?}")));
                }
                let bytes = bytemuck::cast_slice::<f32, u8>(&all).to_vec();
                (Dtype::F32, Cow::Owned(bytes))
            }
        };
        written.add(name, dtype, shape, bytes);
    }
    if let Some(name) = trained.keys().next() {
        return Err(bad(format!("it has no tensor for `{name}`")));
    }
    // transformers refuses a file that does not say which library's tensors it holds.
    metadata.entry("format".into()).or_insert("pt".into());
    written.with(metadata).map_err(bad)
}

/// The rows of a published position table that no token uses.
fn unused(table: &NamedTensor, data: &[u8], config: &Config) -> Result<Vec<f32>> {
    let mut numbers = dtype::decode(from_safetensors(&table.name, table.dtype)?, data);
    numbers.truncate(config.position_offset * config.hidden_size);
    Ok(numbers)
}

//! A fine-tuned encoder as a Hugging Face folder: the published one's files, with other numbers.
//!
//! Tensors keep the names they were published under, and what training does not touch (the pooler,
//! RoBERTa's unused positions) is copied, so that whatever read the published folder reads this one.

use std::{borrow::Cow, collections::BTreeMap};

use safetensors::{Dtype, SafeTensors, tensor::TensorView};

use super::{
    config::Config,
    weights::{WeightTensor, gguf_name},
};
use crate::error::{Error, Result};

/// Name, dtype, shape and bytes.
type Tensor<'a> = (String, Dtype, Vec<usize>, Cow<'a, [u8]>);

/// model.safetensors with the numbers of `trained`, by GGUF name, in place of the published ones. `what`
/// names the published file in errors.
///
/// # Errors
/// The published file is no safetensors, or holds a tensor of another shape.
pub fn safetensors(
    what: &str,
    published: &[u8],
    config: &Config,
    trained: &BTreeMap<String, Vec<f32>>,
) -> Result<Vec<u8>> {
    let bad = |reason: String| Error::ModelFormat {
        what: what.into(),
        reason,
    };
    let not_safetensors =
        |e: safetensors::SafeTensorError| bad(format!("it is no safetensors ({e})"));
    let file = SafeTensors::deserialize(published).map_err(not_safetensors)?;
    let (_, header) = SafeTensors::read_metadata(published).map_err(not_safetensors)?;
    let mut trained: BTreeMap<&str, &[f32]> = trained
        .iter()
        .map(|(n, x)| (n.as_str(), x.as_slice()))
        .collect();
    let mut tensors: Vec<Tensor<'_>> = Vec::new();
    for (name, view) in file.tensors() {
        let shape = view.shape().to_vec();
        let numbers =
            gguf_name(&name).and_then(|known| Some((trained.remove(known.as_str())?, known)));
        let (dtype, bytes) = match numbers {
            None => (view.dtype(), Cow::Borrowed(view.data())),
            Some((numbers, known)) => {
                let mut all = match known.as_str() {
                    "position_embd.weight" => unused(&name, &view, config.position_offset)?,
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
        tensors.push((name, dtype, shape, bytes));
    }
    if let Some(name) = trained.keys().next() {
        return Err(bad(format!("it has no tensor for `{name}`")));
    }
    let views = tensors
        .iter()
        .map(|(name, dtype, shape, bytes)| {
            Ok((
                name.as_str(),
                TensorView::new(*dtype, shape.clone(), bytes).map_err(not_safetensors)?,
            ))
        })
        .collect::<Result<Vec<_>>>()?;
    // transformers refuses a file that does not say which library's tensors it holds.
    let mut metadata = header.metadata().clone().unwrap_or_default();
    metadata.entry("format".into()).or_insert("pt".into());
    safetensors::serialize(views, Some(metadata)).map_err(not_safetensors)
}

/// The first `rows` rows of a published matrix.
fn unused(name: &str, view: &TensorView<'_>, rows: usize) -> Result<Vec<f32>> {
    let tensor = WeightTensor::from_view(name, view)?;
    let (_, columns) = tensor.dims2()?;
    Ok(tensor.to_f32().into_iter().take(rows * columns).collect())
}

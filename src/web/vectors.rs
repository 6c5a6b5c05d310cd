//! Many embeddings across the border: stored, grouped, laid out.

use js_sys::{Array, Float32Array, Int8Array, Uint8Array, Uint32Array};
use wasm_bindgen::prelude::*;

use super::{Engine, js_error, object};
use crate::{
    embedding::Rows,
    vectors::{
        groups::{KMeans, silhouette},
        plane,
        storage::{Numbers, Storage, Stored},
    },
};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(typescript_type = "Embedded")]
    pub type JsVectors;
    #[wasm_bindgen(typescript_type = "Grouping")]
    pub type JsGroups;
}

/// Several runs, because a list that was grouped once is looked at for long.
const K_MEANS: KMeans = KMeans {
    spherical: true,
    runs: 8,
    steps: 100,
};

#[wasm_bindgen]
impl Engine {
    /// Unit vectors, row by row, in `count` groups by spherical k-means, the largest first; with each vector's cosine to
    /// its group's centre and the mean silhouette.
    pub fn group(&self, data: &[f32], dims: usize, count: usize) -> Result<JsGroups, JsValue> {
        let groups = K_MEANS.fit(data, dims, count).map_err(js_error)?;
        let groups = groups.largest_first(dims);
        let labels: Vec<u32> = groups.labels.iter().map(|&label| label as u32).collect();
        object([
            ("labels", Uint32Array::from(labels.as_slice()).into()),
            (
                "centrality",
                Float32Array::from(groups.centrality(data, dims).as_slice()).into(),
            ),
            ("silhouette", silhouette(data, dims, &groups.labels).into()),
        ])
    }

    /// Vectors, row by row, on a plane, two coordinates each; as close to `previous` as turning brings them.
    pub fn plane(
        &self,
        data: &[f32],
        dims: usize,
        previous: Option<Vec<f32>>,
    ) -> Result<Vec<f32>, JsValue> {
        plane::plane(data, dims, previous.as_deref()).map_err(js_error)
    }
}

/// Embeddings in the form that was asked for. `renormalize`: they have unit length.
pub(super) fn vectors(
    rows: &Rows,
    dims: Option<usize>,
    dtype: &str,
    renormalize: bool,
) -> Result<JsVectors, JsValue> {
    let stored = Storage::parse(dtype)
        .and_then(|storage| Stored::of(&rows.vectors, dims, storage, renormalize))
        .map_err(js_error)?;
    let (data, scales): (JsValue, JsValue) = match &stored.numbers {
        Numbers::Float32(data) => (Float32Array::from(&data[..]).into(), JsValue::UNDEFINED),
        Numbers::Int8 { values, scales } => (
            Int8Array::from(&values[..]).into(),
            Float32Array::from(&scales[..]).into(),
        ),
        Numbers::Binary(bits) => (Uint8Array::from(&bits[..]).into(), JsValue::UNDEFINED),
    };
    let warnings = Array::new();
    for (input, tokens) in &rows.cuts {
        let warning = format!(
            "Text {} is longer than the encoder reads: its last {tokens} tokens were left out.",
            input + 1
        );
        warnings.push(&warning.into());
    }
    object([
        ("data", data),
        ("scales", scales),
        ("count", (rows.vectors.len() as u32).into()),
        ("dims", (stored.dims as u32).into()),
        ("warnings", warnings.into()),
    ])
}

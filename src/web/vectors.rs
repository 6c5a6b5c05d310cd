//! Many embeddings across the border: stored, grouped, laid out.

use js_sys::{Array, Float32Array, Int8Array, Uint8Array, Uint32Array};
use wasm_bindgen::prelude::*;

use super::{Engine, js_error, object};
use crate::{
    embedding::Pool,
    error::Error,
    lens::{Embeddings, notices},
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
    #[wasm_bindgen(typescript_type = "readonly (string | undefined)[]")]
    pub type JsConditions;
}

/// How the vectors of a text's tokens become one, by the names that cross the border.
const POOLINGS: [(&str, Pool); 4] = [
    ("mean", Pool::All),
    ("cls", Pool::Cls),
    ("last", Pool::Last),
    ("pooler", Pool::Pooler),
];

/// The name of a pooling of whole texts.
pub(super) fn pooling_name(pool: Pool) -> Option<&'static str> {
    let named = POOLINGS.iter().find(|(_, pooling)| *pooling == pool);
    named.map(|(name, _)| *name)
}

fn pooling(name: &str) -> crate::Result<Pool> {
    let named = POOLINGS.iter().find(|(known, _)| *known == name);
    named.map(|(_, pooling)| *pooling).ok_or_else(|| {
        let names = POOLINGS.map(|(known, _)| format!("\"{known}\"")).join(", ");
        Error::InvalidArgument(format!("pooling is one of {names}, not \"{name}\"."))
    })
}

/// Several runs, because a list that was grouped once is looked at for long.
const K_MEANS: KMeans = KMeans {
    spherical: true,
    runs: 8,
    steps: 100,
    seed: 0,
};

#[wasm_bindgen]
impl Engine {
    /// Unit-length embeddings of sentences, each through its condition where it has one: their first `dims`
    /// dimensions, all where absent, as `dtype` "float32", "int8" or "binary". `first` as in [`Engine::compare`].
    pub async fn embed(
        &self,
        sentences: Vec<String>,
        conditions: JsConditions,
        dims: Option<usize>,
        #[wasm_bindgen(unchecked_param_type = "EmbeddingType")] dtype: String,
        first: usize,
    ) -> Result<JsVectors, JsValue> {
        let conditions = Array::from(conditions.as_ref());
        let conditions: Vec<Option<String>> = conditions.iter().map(|c| c.as_string()).collect();
        let items: Vec<_> = sentences
            .iter()
            .enumerate()
            .map(|(i, s)| (s.as_str(), conditions.get(i).and_then(Option::as_deref)))
            .collect();
        let lens = &self.chosen.lens;
        let rows = lens.embed_from(&items, first).await.map_err(js_error)?;
        let warnings = self.warnings(&rows, sentences.iter().map(String::as_str), first);
        vectors(&rows, dims, &dtype, true, warnings)
    }

    /// The bare encoder's embeddings of texts; `pooling` is one of [`POOLINGS`], `dims`, `dtype` and `first` as in
    /// [`Engine::embed`].
    pub async fn encode(
        &self,
        texts: Vec<String>,
        #[wasm_bindgen(unchecked_param_type = "Pooling")] pooling: String,
        normalize: bool,
        dims: Option<usize>,
        #[wasm_bindgen(unchecked_param_type = "EmbeddingType")] dtype: String,
        first: usize,
    ) -> Result<JsVectors, JsValue> {
        let pool = self::pooling(&pooling).map_err(js_error)?;
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let rows = self
            .chosen
            .lens
            .encoder
            .embed_from(&texts, pool, normalize, first)
            .await
            .map_err(js_error)?;
        let warnings = self.warnings(&rows, texts.iter().copied(), first);
        vectors(&rows, dims, &dtype, normalize, warnings)
    }

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

impl Engine {
    /// What is worth knowing of texts whose embeddings these are, in words, but for what was left out of them, which
    /// [`vectors`] gives as numbers. `first` texts come before them in the whole call.
    fn warnings<'a>(
        &self,
        rows: &Embeddings,
        texts: impl Iterator<Item = &'a str>,
        first: usize,
    ) -> Array {
        let named = |input: usize| format!("texts[{}]", first + input);
        let lens = &self.chosen.lens;
        let trained = lens.languages().unwrap_or_default();
        let unknown = rows.unknown.iter();
        let unknown = unknown.map(|(input, tokens)| notices::unknown(&named(*input), *tokens));
        let foreign = texts.enumerate().filter_map(|(input, text)| {
            let language = lens.foreign(text)?;
            Some(notices::foreign(&named(input), language, &trained))
        });
        unknown.chain(foreign).map(JsValue::from).collect()
    }
}

/// A number of tokens for each of `texts` texts, 0 for one that is not `told` of; `undefined` where none is.
fn tokens(told: &[(usize, usize)], texts: usize) -> JsValue {
    if told.is_empty() {
        return JsValue::UNDEFINED;
    }
    let mut numbers = vec![0_u32; texts];
    for (input, count) in told {
        if let Some(number) = numbers.get_mut(*input) {
            *number = *count as u32;
        }
    }
    Uint32Array::from(numbers.as_slice()).into()
}

/// Embeddings in the form that was asked for. `renormalize`: they have unit length.
fn vectors(
    rows: &Embeddings,
    dims: Option<usize>,
    dtype: &str,
    renormalize: bool,
    warnings: Array,
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
    // A number for each text: NaN for one without a condition.
    let mentioned = match rows.mentioned.as_slice() {
        [] => JsValue::UNDEFINED,
        mentioned => {
            let numbers: Vec<f32> = mentioned.iter().map(|p| p.unwrap_or(f32::NAN)).collect();
            Float32Array::from(numbers.as_slice()).into()
        }
    };
    object([
        ("data", data),
        ("scales", scales),
        ("count", (rows.vectors.len() as u32).into()),
        ("dims", (stored.dims as u32).into()),
        ("mentioned", mentioned),
        ("truncated", tokens(&rows.cuts, rows.vectors.len())),
        ("unknown", tokens(&rows.unknown, rows.vectors.len())),
        ("warnings", warnings.into()),
    ])
}

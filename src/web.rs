//! The `#[wasm_bindgen]` surface: as thin as it can be. The npm package wraps it in a worker, downloads,
//! typed errors and cancellation.

use js_sys::{Object, Reflect, Uint32Array};
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::{
    backend::{any::AnyBackend, simd::Simd},
    checkpoint::{ArrivingCheckpoint, weights::Dtype},
    error::Error,
    head::HeadFile,
    lens::{auto::Chosen, opened::OpenDevice},
};

mod compare;
mod explain;
mod gallery;
mod heads;
mod vectors;

/// What crosses the border is typed once, in the package's `types.ts`: the declarations that wasm-bindgen writes name
/// those types.
#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r##"
import type {
  AttentionHeads, Compared, Device, Embedded, EmbeddingType, EngineInfo, Explanation, GalleryInfo, GalleryItem, Grouping, Pooling, TokenPooling,
} from "#types";
"##;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(typescript_type = "EngineInfo")]
    pub type JsInfo;
}

/// A JavaScript `Error` with a stable `code`.
fn js_error(error: Error) -> JsValue {
    let js = js_sys::Error::new(&error.to_string());
    // Setting a property of a fresh Error cannot fail.
    let _ = Reflect::set(&js, &"code".into(), &error.code().into());
    js.into()
}

fn to_js<T: JsCast>(value: &impl Serialize) -> Result<T, JsValue> {
    let serializer = serde_wasm_bindgen::Serializer::json_compatible();
    Ok(value.serialize(&serializer)?.unchecked_into())
}

/// An object whose values are JavaScript's already.
fn object<T: JsCast, const N: usize>(fields: [(&str, JsValue); N]) -> Result<T, JsValue> {
    let object = Object::new();
    for (name, value) in fields {
        Reflect::set(&object, &name.into(), &value)?;
    }
    Ok(object.unchecked_into())
}

/// Routes a Rust panic's message to the console. Called once, when the module starts.
#[wasm_bindgen(start)]
pub fn start() {
    console_error_panic_hook::set_once();
}

/// A GGUF encoder that arrives in pieces.
#[wasm_bindgen]
pub struct ModelFile {
    checkpoint: ArrivingCheckpoint,
    bytes: usize,
}

#[wasm_bindgen]
impl ModelFile {
    /// A file of which nothing is here; `size` is its size in bytes, where that is known, `name` what errors call it.
    #[wasm_bindgen(constructor)]
    pub fn new(size: Option<f64>, name: &str) -> ModelFile {
        ModelFile {
            checkpoint: ArrivingCheckpoint::new(name, size.map(|size| size as usize)),
            bytes: 0,
        }
    }

    /// Takes the next bytes. After an error there is no going on.
    pub fn push(&mut self, piece: &[u8]) -> Result<(), JsValue> {
        self.bytes += piece.len();
        self.checkpoint.push(piece).map_err(js_error)
    }
}

/// A device that is open for one [`Engine`]. Freeing it gives a GPU back.
#[wasm_bindgen]
pub struct EngineDevice(OpenDevice);

#[wasm_bindgen]
impl EngineDevice {
    /// Opens `device`: "auto", "webgpu" or "wasm". A GPU begins to compile its kernels. Where there is none, "auto" is
    /// the CPU, and "webgpu" fails.
    pub async fn open(
        #[wasm_bindgen(unchecked_param_type = "\"auto\" | Device")] device: String,
    ) -> Result<EngineDevice, JsValue> {
        let opened = match device.as_str() {
            "auto" => OpenDevice::auto(Simd::timed(now)).await,
            "webgpu" => OpenDevice::webgpu().await.map_err(js_error)?,
            "wasm" => return Ok(Self::cpu("wasm was asked for".into())),
            other => {
                return Err(js_error(Error::InvalidArgument(format!(
                    "device is \"auto\", \"webgpu\" or \"wasm\", not \"{other}\"."
                ))));
            }
        };
        Ok(EngineDevice(opened))
    }

    /// The CPU, and why it is taken.
    pub fn cpu(reason: String) -> EngineDevice {
        EngineDevice(OpenDevice::Cpu(Simd::timed(now), reason))
    }
}

/// An encoder, with or without a head, on one device.
#[wasm_bindgen]
pub struct Engine {
    chosen: Chosen,
    has_head: bool,
    bytes: usize,
}

#[derive(Serialize)]
struct Info {
    device: &'static str,
    adapter: Option<String>,
    instructions: Option<&'static str>,
    dtype: String,
    dim: usize,
    model: String,
    bytes: usize,
    reason: String,
    languages: Option<Vec<String>>,
    mentioned: Option<MentionedInfo>,
    pooling: Option<&'static str>,
    #[serde(rename = "maxLength")]
    max_length: usize,
}

#[derive(Serialize)]
struct MentionedInfo {
    threshold: f32,
}

#[wasm_bindgen]
impl Engine {
    /// Opens an encoder, whose file is here and is used up, and, where given, a head, which errors call `head_name`, on a
    /// device that is its own from then on.
    pub async fn load(
        model: ModelFile,
        head: Option<Vec<u8>>,
        head_name: &str,
        device: EngineDevice,
    ) -> Result<Engine, JsValue> {
        let head = head.map(|bytes| (head_name, bytes));
        Self::open(model, head, device.0).await.map_err(js_error)
    }

    /// What was loaded, and on which device and why.
    pub fn info(&self) -> Result<JsInfo, JsValue> {
        let lens = &self.chosen.lens;
        let backend = &lens.encoder.backend;
        to_js(&Info {
            device: match backend {
                AnyBackend::Simd(_) => "wasm",
                AnyBackend::WebGpu(_) => "webgpu",
            },
            adapter: backend.adapter(),
            instructions: backend.instructions(),
            dtype: lens.encoder.dtype.clone().into_owned(),
            dim: match self.has_head {
                true => lens.dims(),
                false => lens.encoder.shape.hidden_size,
            },
            model: lens.encoder.id.id.clone(),
            bytes: self.bytes,
            reason: self.chosen.reason.clone(),
            languages: lens
                .languages()
                .map(|languages| languages.into_iter().map(str::to_owned).collect()),
            mentioned: lens.mentioned().map(|mentioned| MentionedInfo {
                threshold: mentioned.threshold,
            }),
            pooling: vectors::pooling_name(lens.encoder.shape.plain),
            max_length: lens.encoder.shape.max_tokens,
        })
    }

    /// Operations per second that this thread could make in a loop of the instruction its products use, measured now;
    /// `undefined` where a GPU multiplies.
    pub fn peak(&self) -> Option<f64> {
        let encoder = &self.chosen.lens.encoder;
        let dtype = Dtype::named(&encoder.dtype).unwrap_or(Dtype::Q8_0);
        match &encoder.backend {
            AnyBackend::Simd(simd) => Some(simd.peak(dtype, now)),
            AnyBackend::WebGpu(_) => None,
        }
    }

    /// Token ids of a text as the encoder reads it, special tokens included.
    pub fn tokenize(&self, text: &str) -> Result<Uint32Array, JsValue> {
        let tokenizer = &self.chosen.lens.encoder.tokenizer;
        let ids = tokenizer
            .ids(&tokenizer.spelled(text).text)
            .map_err(js_error)?;
        Ok(Uint32Array::from(ids.as_slice()))
    }

    /// Of each text, the ISO 639-1 code of a language that the model was not trained on, where it is certainly in one; empty elsewhere.
    pub fn languages(&self, texts: Vec<String>) -> Vec<String> {
        let code = |text: &String| self.chosen.lens.foreign(text).map(|language| language.code);
        texts
            .iter()
            .map(|text| code(text).unwrap_or_default().to_string())
            .collect()
    }
}

impl Engine {
    async fn open(
        model: ModelFile,
        head: Option<(&str, Vec<u8>)>,
        device: OpenDevice,
    ) -> crate::Result<Engine> {
        let bytes = model.bytes + head.as_ref().map_or(0, |(_, head)| head.len());
        let checkpoint = model.checkpoint.finish()?;
        let head = head
            .map(|(name, bytes)| HeadFile::parse(name, &bytes))
            .transpose()?;
        Ok(Engine {
            chosen: Chosen::load(checkpoint, head.as_ref(), device, now).await?,
            has_head: head.is_some(),
            bytes,
        })
    }
}

#[wasm_bindgen]
extern "C" {
    /// Milliseconds, in pages and workers alike.
    #[wasm_bindgen(js_namespace = performance)]
    fn now() -> f64;
}

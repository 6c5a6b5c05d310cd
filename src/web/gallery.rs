//! Answers of an encoder that does not run here, from an exported folder.

use serde::Serialize;
use wasm_bindgen::prelude::*;

use super::{js_error, to_js};
use crate::bundle::{Item, Manifest, gallery};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(typescript_type = "GalleryInfo")]
    pub type JsGalleryInfo;
    #[wasm_bindgen(typescript_type = "GalleryItem[]")]
    pub type JsGalleryAnswers;
}

/// Answers of an encoder that does not run here, from an exported folder.
#[wasm_bindgen]
pub struct Gallery {
    manifest: Manifest,
}

#[derive(Serialize)]
struct GalleryInfo<'a> {
    encoder: &'a str,
    dim: usize,
    licences: &'a [String],
    /// The head's and the embeddings', beside the manifest.
    files: [&'a str; 2],
}

#[derive(Serialize)]
struct GalleryAnswer<'a> {
    #[serde(flatten)]
    item: &'a Item,
    #[serde(flatten)]
    answer: gallery::Answer,
}

#[wasm_bindgen]
impl Gallery {
    /// Reads a manifest.json.
    #[wasm_bindgen(constructor)]
    pub fn new(manifest: &str) -> Result<Gallery, JsValue> {
        let manifest = Manifest::parse(manifest).map_err(js_error)?;
        Ok(Self { manifest })
    }

    /// What it is, and which files it is made of.
    pub fn info(&self) -> Result<JsGalleryInfo, JsValue> {
        let gallery = self.manifest.gallery().map_err(js_error)?;
        to_js(&GalleryInfo {
            encoder: &self.manifest.encoder.id,
            dim: self.manifest.dims,
            licences: &self.manifest.licences,
            files: [&self.manifest.head.file, &gallery.file.file],
        })
    }

    /// Applies the head to the embeddings: each item with its answer.
    pub async fn answers(
        &self,
        head: Vec<u8>,
        embeddings: Vec<u8>,
    ) -> Result<JsGalleryAnswers, JsValue> {
        let gallery = self.manifest.gallery().map_err(js_error)?;
        let answers = gallery::answers(&self.manifest, &head, &embeddings)
            .await
            .map_err(js_error)?;
        let items = gallery.items.iter().zip(answers);
        let answers: Vec<_> = items
            .map(|(item, answer)| GalleryAnswer { item, answer })
            .collect();
        to_js(&answers)
    }
}

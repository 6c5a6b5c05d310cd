//! Where every token looks by each head, for JavaScript: the shares as one `Float32Array`.

use wasm_bindgen::prelude::*;

use super::{
    Engine,
    explain::{floats, list, to_token},
    js_error, object, to_js,
};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(typescript_type = "AttentionHeads")]
    pub type JsAttentionHeads;
}

#[wasm_bindgen]
impl Engine {
    /// How every token of a sentence attends to every token in a layer, the last where none is named, head by head.
    pub async fn attention(
        &self,
        sentence: String,
        condition: Option<String>,
        layer: Option<u32>,
    ) -> Result<JsAttentionHeads, JsValue> {
        let layer = layer.map(|layer| layer as usize);
        let seen = (self.chosen.lens)
            .attention(&sentence, condition.as_deref(), layer)
            .await
            .map_err(js_error)?;
        let texts = [seen.condition.as_deref().unwrap_or_default(), &sentence];
        object([
            ("condition", to_js(&seen.condition)?),
            ("order", to_js(&seen.order)?),
            (
                "tokens",
                list(&seen.tokens, |token| to_token(token, texts))?,
            ),
            ("cut", (seen.cut as f64).into()),
            ("layer", (seen.layer as f64).into()),
            ("layers", (seen.layers as f64).into()),
            ("heads", (seen.heads as f64).into()),
            ("shares", floats(&seen.shares)),
        ])
    }
}

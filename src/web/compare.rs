//! Comparisons for JavaScript.

use js_sys::{Array, Reflect};
use wasm_bindgen::prelude::*;

use super::{Engine, explain, js_error, object, to_js};
use crate::{
    data::guidelines,
    lens::{Question, notices},
    text::template::normalize_condition,
};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(typescript_type = "Compared")]
    pub type JsCompared;
}

#[wasm_bindgen]
impl Engine {
    /// Similarities of two sentences, one a condition. Of a longer call's conditions `first` come before these: errors
    /// count on from them. `unconditional` is the similarity without a condition, where it is known: it is not computed
    /// again. With `attention` each result has its readings, of the last layer alone. That a sentence was cut is for the
    /// results to say (`truncated`), and not among the warnings.
    pub async fn compare(
        &self,
        sentence1: String,
        sentence2: String,
        conditions: Vec<String>,
        first: usize,
        unconditional: Option<f32>,
        attention: bool,
    ) -> Result<JsCompared, JsValue> {
        let conditions: Vec<&str> = conditions.iter().map(String::as_str).collect();
        let question = Question {
            sentences: [&sentence1, &sentence2],
            conditions: &conditions,
            first,
            unconditional,
            attention,
        };
        let lens = &self.chosen.lens;
        let results = lens.answer(&question).await.map_err(js_error)?;
        let warnings = Array::new();
        let unknown = results.iter().map(|result| result.unknown).max();
        if let Some(tokens @ 1..) = unknown {
            let warning = notices::unknown("A sentence or condition", tokens);
            warnings.push(&warning.into());
        }
        let languages = results.first().map(|result| result.language);
        for (language, number) in languages.into_iter().flatten().zip(1..) {
            if let Some(language) = language {
                let sentence = format!("Sentence {number}");
                warnings.push(
                    &notices::foreign(&sentence, language, &lens.languages().unwrap_or_default())
                        .into(),
                );
            }
        }
        let list = Array::new();
        for result in &results {
            let js: JsValue = to_js(result)?;
            if let Some(readings) = &result.readings {
                let texts = [
                    normalize_condition(&result.condition),
                    &sentence1,
                    &sentence2,
                ];
                Reflect::set(
                    &js,
                    &"readings".into(),
                    &explain::readings(readings, texts)?,
                )?;
            }
            let findings = guidelines::findings(&result.condition);
            if !findings.is_empty() {
                let missed = findings.iter().map(|f| JsValue::from(f.guideline.missed()));
                let missed: Array = missed.collect();
                Reflect::set(&js, &"advice".into(), &missed)?;
            }
            list.push(&js);
        }
        object([("results", list.into()), ("warnings", warnings.into())])
    }
}

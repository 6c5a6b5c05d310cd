//! An explanation for JavaScript: vectors as `Float32Array`s, positions in texts as JavaScript counts them.

use std::ops::Range;

use js_sys::{Array, Float32Array};
use wasm_bindgen::prelude::*;

use super::{Engine, js_error, object, to_js};
use crate::{
    embedding::Pool,
    error::{Error, Result},
    lens::{
        explain::{Explanation, Step, Switches},
        reading::{Part, Reading, Token},
    },
};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(typescript_type = "Explanation")]
    pub type JsExplanation;
}

#[wasm_bindgen]
impl Engine {
    /// A comparison taken apart; `pooling` is "all", "condition", "sentence" or "cls".
    pub async fn explain(
        &self,
        sentence1: String,
        sentence2: String,
        condition: Option<String>,
        subtract: Option<bool>,
        #[wasm_bindgen(unchecked_param_type = "TokenPooling | undefined")] pooling: Option<String>,
        head: Option<bool>,
    ) -> Js<JsExplanation> {
        let switches = Switches {
            subtract,
            pooling: pooling
                .map(|name| pool(&name))
                .transpose()
                .map_err(js_error)?,
            head,
        };
        let sentences = [sentence1.as_str(), &sentence2];
        let explanation = (self.chosen.lens)
            .explain(sentences, condition.as_deref(), switches)
            .await
            .map_err(js_error)?;
        to_object(&explanation, sentences)
    }
}

fn pool(name: &str) -> Result<Pool> {
    Ok(match name {
        "all" => Pool::All,
        "condition" => Pool::Condition,
        "sentence" => Pool::Sentence,
        "cls" => Pool::Cls,
        other => {
            return Err(Error::InvalidArgument(format!(
                "pooling is \"all\", \"condition\", \"sentence\" or \"cls\", not \"{other}\"."
            )));
        }
    })
}

type Js<T = JsValue> = std::result::Result<T, JsValue>;

fn to_object(explanation: &Explanation, sentences: [&str; 2]) -> Js<JsExplanation> {
    let Explanation {
        condition,
        recipe,
        usual,
        readings,
        condition_alone,
        steps,
        similarity,
        rating,
        mentioned,
    } = explanation;
    let [first, second] = sentences;
    let texts = [condition.as_deref().unwrap_or_default(), first, second];
    object([
        ("condition", to_js(condition)?),
        ("recipe", to_js(recipe)?),
        ("usual", to_js(usual)?),
        ("readings", self::readings(readings, texts)?),
        (
            "conditionAlone",
            condition_alone
                .as_deref()
                .map_or(JsValue::UNDEFINED, floats),
        ),
        ("steps", list(steps, to_step)?),
        ("similarity", (*similarity).into()),
        ("rating", (*rating).into()),
        (
            "mentioned",
            mentioned.map_or(JsValue::UNDEFINED, floats_of_two),
        ),
    ])
}

/// What was read of both sentences; `texts` are the condition and the two.
pub(super) fn readings(readings: &[Vec<Reading>; 2], [condition, first, second]: [&str; 3]) -> Js {
    let of = |readings: &[Reading], sentence| {
        list(readings, |reading| {
            to_reading(reading, [condition, sentence])
        })
    };
    let [of_first, of_second] = readings;
    Ok(Array::of2(&of(of_first, first)?, &of(of_second, second)?).into())
}

fn to_step(step: &Step) -> Js {
    let [first, second] = &step.vectors;
    object([
        ("name", to_js(&step.name)?),
        (
            "vectors",
            Array::of2(&floats(first), &floats(second)).into(),
        ),
        ("cosine", step.cosine.into()),
    ])
}

fn to_reading(reading: &Reading, texts: [&str; 2]) -> Js {
    object([
        ("order", to_js(&reading.order)?),
        (
            "tokens",
            list(&reading.tokens, |token| to_token(token, texts))?,
        ),
        (
            "attention",
            list(&reading.attention, |layer| {
                list(layer, |row| Ok(floats(row)))
            })?,
        ),
        ("cut", (reading.cut as f64).into()),
    ])
}

pub(super) fn to_token(token: &Token, [condition, sentence]: [&str; 2]) -> Js {
    let text = match token.part {
        Part::Condition => condition,
        _ => sentence,
    };
    let span = utf16(text, &token.span);
    // Present where it says something, as in a comparison.
    let unknown = match token.unknown {
        true => JsValue::TRUE,
        false => JsValue::UNDEFINED,
    };
    object([
        ("id", token.id.into()),
        ("text", token.text.as_str().into()),
        ("part", to_js(&token.part)?),
        ("start", (span.start as f64).into()),
        ("end", (span.end as f64).into()),
        ("word", token.word.map_or(JsValue::UNDEFINED, Into::into)),
        ("unknown", unknown),
    ])
}

/// A range of bytes as a range of UTF-16 units, of which JavaScript's strings are made.
fn utf16(text: &str, bytes: &Range<usize>) -> Range<usize> {
    let units = |at: usize| text.get(..at).map_or(0, |text| text.encode_utf16().count());
    units(bytes.start)..units(bytes.end)
}

/// A pair of numbers, as a list.
fn floats_of_two([first, second]: [f32; 2]) -> JsValue {
    Array::of2(&first.into(), &second.into()).into()
}

pub(super) fn floats(numbers: impl AsRef<[f32]>) -> JsValue {
    Float32Array::from(numbers.as_ref()).into()
}

pub(super) fn list<T>(items: &[T], to_js: impl Fn(&T) -> Js) -> Js {
    let array = Array::new();
    for item in items {
        array.push(&to_js(item)?);
    }
    Ok(array.into())
}

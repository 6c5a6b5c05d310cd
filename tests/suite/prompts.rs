//! Text and condition in a prompt of a language model (PonTE), with tiny decoders: against states by transformers.

use crate::common::{Folder, Tensors, decoder, json, relative_error, tiny};
use caselens::{
    backend::candle::Candle,
    checkpoint::Checkpoint,
    embedding::{Case, Encoder, Input, Pool, Prompted},
    model::Precision,
    text::{Prompt, prompt::NAMED},
};
use pollster::block_on;
use serde_json::json;

/// Sums in another order.
const F32_ERROR: f64 = 1e-4;

fn encoder(folder: &Folder) -> Encoder<Candle> {
    let checkpoint = Checkpoint::open(&folder.0)
        .and_then(Checkpoint::decoder)
        .unwrap();
    Encoder::decoder(Candle::cpu(), &checkpoint, Precision::F32).unwrap()
}

fn rows(fixture: &serde_json::Value) -> Vec<[&str; 2]> {
    let rows = fixture["rows"].as_array().unwrap().iter();
    rows.map(|row| ["text", "condition"].map(|key| row[key].as_str().unwrap()))
        .collect()
}

fn case(prompt: Prompt) -> Case {
    Case::Prompted(Prompted { prompt })
}

#[test]
fn published_prompts_are_what_the_papers_say() {
    let fixture = json("decoders/prompts.json");
    let expected = fixture["prompts"].as_object().unwrap();
    assert_eq!(expected.len(), NAMED.len());
    for (name, forms) in expected {
        let prompt = Prompt::named(name).unwrap();
        let filled = |condition| prompt.fill("{text}", condition).ok();
        let form = |key: &str| forms[key].as_str().map(str::to_owned);
        assert_eq!(filled(Some("{condition}")), form("with"), "{name}");
        assert_eq!(filled(None), form("without"), "{name}");
    }
}

#[test]
fn embeddings_are_the_states_of_the_prompts_last_token() {
    let (fixture, states) = (
        json("decoders/prompts.json"),
        Tensors::open("decoders/prompts.safetensors"),
    );
    let rows = rows(&fixture);
    for model in ["llama", "mistral", "qwen2"] {
        let encoder = encoder(&decoder("prompts", model, &json!({})));
        let template = encoder.template();
        let ids = &fixture["models"][model]["ids"];
        for (name, _) in NAMED {
            let prompt = Prompt::named(name).unwrap();
            let conditional = prompt.fill("a text", Some("a condition")).is_ok();
            for (row, [text, condition]) in rows.iter().enumerate() {
                let text = template.sentence("text", text).unwrap();
                let condition = template.condition("condition", condition).unwrap();
                let condition = conditional.then_some(&condition);
                let sequence = template.prompted(&prompt, &text, condition).unwrap();
                assert_eq!(json!(sequence.ids), ids[name][row], "{model} {name}");
                let last = encoder
                    .tokenizer
                    .text(&sequence.ids[sequence.ids.len() - 1..]);
                assert!(
                    name == "concatenation" || last.ends_with('"'),
                    "{name}: {last:?}"
                );
            }
            let case = case(prompt);
            for form in ["with", "without"] {
                if form == "with" && !conditional {
                    continue;
                }
                let inputs = rows.iter().map(|[text, condition]| match form {
                    "with" => encoder.conditional(text, condition, ""),
                    _ => encoder.single("text", text),
                });
                let inputs: Vec<Input> = inputs.map(Result::unwrap).collect();
                let found = block_on(encoder.run_raw(&inputs, &case)).unwrap();
                assert!(found.cuts.is_empty());
                let expected = states.floats(&format!("{model}.{name}.{form}"));
                let error = relative_error(&found.vectors.concat(), &expected);
                assert!(error <= F32_ERROR, "{model} {name} {form}: {error:e}");
            }
        }
    }
}

#[test]
fn of_what_is_too_long_the_text_is_cut_and_never_the_prompt() {
    let folder = decoder(
        "prompts-long",
        "mistral",
        &json!({"max_position_embeddings": 120}),
    );
    let encoder = encoder(&folder);
    let template = encoder.template();
    let long = "The dog runs across the frozen river and the green hills. ".repeat(20);
    let prompt = Prompt::default();
    let text = template.sentence("text", &long).unwrap();
    let condition = template.condition("condition", "the weather").unwrap();
    let short = template.sentence("text", "dog").unwrap();
    let tail = |sequence: &caselens::text::Sequence| {
        let all = encoder.tokenizer.text(&sequence.ids);
        all[all.rfind("\" in one word").unwrap()..].to_owned()
    };
    for condition in [Some(&condition), None] {
        let cut = template.prompted(&prompt, &text, condition).unwrap();
        let whole = template.prompted(&prompt, &short, condition).unwrap();
        assert!(
            cut.ids.len() <= 120 && cut.cut > 100,
            "{} {}",
            cut.ids.len(),
            cut.cut
        );
        assert_eq!(tail(&cut), tail(&whole));
    }
    let input = encoder.conditional(&long, "the weather", "").unwrap();
    let embedded = block_on(encoder.run_raw(&[input], &case(prompt.clone()))).unwrap();
    assert!(matches!(embedded.cuts[..], [(0, cut)] if cut > 100));

    let input = encoder.conditional("A dog.", &long, "").unwrap();
    let error = block_on(encoder.run_raw(&[input], &case(prompt))).unwrap_err();
    assert_eq!(error.code(), "condition-too-long", "{error}");
    assert!(error.to_string().starts_with("condition takes"), "{error}");
}

#[test]
fn what_cannot_be_asked_is_an_error_and_head_files_hold_the_rest() {
    let encoder = encoder(&decoder("prompts-errors", "llama", &json!({})));
    let input = encoder.conditional("A dog.", "the place", "").unwrap();
    let eol = case(Prompt::named("prompt-eol").unwrap());
    let error = block_on(encoder.run_raw(&[input], &eol)).unwrap_err();
    assert!(
        error.to_string().contains("no field {condition}"),
        "{error}"
    );

    let bert = Encoder::load(Candle::cpu(), &tiny("bert-tiny")).unwrap();
    let error = bert.check(&eol).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("prompts are for language models"),
        "{error}"
    );

    let own = case(Prompt::parse("{text} by {condition} is").unwrap());
    for case in [own, eol, case(Prompt::default())] {
        assert_eq!(
            (case.pooling(), case.subtracts(), case.dims(32)),
            (Pool::Last, false, 32)
        );
        let stored = json!(case);
        assert_eq!(
            serde_json::from_value::<Case>(stored.clone()).unwrap(),
            case
        );
        for (key, value) in [("pooling", json!("all")), ("subtract", json!(true))] {
            let mut wrong = stored.clone();
            wrong[key] = value;
            assert!(serde_json::from_value::<Case>(wrong).is_err(), "{key}");
        }
    }
    let stored = json!({"orders": [], "pooling": "last", "subtract": false, "architecture": {"prompt": "no field"}});
    let error = serde_json::from_value::<Case>(stored).unwrap_err();
    assert!(error.to_string().contains("no field {text}"), "{error}");
}

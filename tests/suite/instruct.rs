//! CASE behind instructions, with tiny decoders: against embeddings by transformers.

use crate::common::{Folder, Tensors, decoder, json, relative_error, worst_cosine};
use caselens::{
    backend::candle::Candle,
    checkpoint::Checkpoint,
    embedding::{Case, Encoder, Input, Instruct, Instructed, Pool},
    model::decoder::Precision,
    similarity::unit,
    text::{Setting, Wrapper},
};
use pollster::block_on;

/// Sums in another order.
const F32_ERROR: f64 = 1e-4;

fn encoder(folder: &Folder, precision: Precision) -> Encoder<Candle> {
    let checkpoint = Checkpoint::open(&folder.0)
        .and_then(Checkpoint::decoder)
        .unwrap();
    Encoder::decoder(Candle::cpu(), &checkpoint, precision).unwrap()
}

fn rows() -> Vec<(String, String)> {
    let rows = json("decoders/case.json");
    let text = |row: &serde_json::Value, key: &str| row[key].as_str().unwrap().to_owned();
    rows["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (text(row, "sentence"), text(row, "condition")))
        .collect()
}

fn conditionals(encoder: &Encoder<Candle>) -> Vec<Input> {
    rows()
        .iter()
        .map(|(s, c)| encoder.conditional(s, c, "").unwrap())
        .collect()
}

fn case(wrapper: Wrapper, pooling: Pool, setting: Setting, subtract: bool) -> Case {
    Case::Instructed(Instructed {
        instruct: Instruct { setting, wrapper },
        pooling,
        subtract,
    })
}

fn run(encoder: &Encoder<Candle>, inputs: &[Input], case: &Case) -> Vec<f32> {
    let rows = block_on(encoder.run_raw(inputs, case)).unwrap();
    assert!(rows.cuts.is_empty());
    rows.vectors.concat()
}

#[test]
fn embeddings_are_those_of_the_published_rules() {
    let file = Tensors::open("decoders/case.safetensors");
    for (model, wrapper, pooling, changes) in [
        ("mistral", Wrapper::Spaced, Pool::Last, "{}"),
        ("mistral", Wrapper::Spaced, Pool::Query, "{}"),
        ("nvembed", Wrapper::Spaced, Pool::Query, "{}"),
        (
            "qwen2",
            Wrapper::Tight,
            Pool::Last,
            r#"{"is_causal": false}"#,
        ),
    ] {
        let folder = decoder("case", model, &serde_json::from_str(changes).unwrap());
        let name = if pooling == Pool::Last {
            "last"
        } else {
            "query"
        };
        // NV-Embed's embeddings have unit length before anything is done with them.
        let expected = |kind: &str| -> Vec<f32> {
            let rows = file.floats(&format!("{model}.{name}.{kind}"));
            match model {
                "nvembed" => rows.chunks(32).flat_map(unit).collect(),
                _ => rows,
            }
        };
        for precision in [Precision::F32, Precision::Bf16] {
            let encoder = encoder(&folder, precision);
            let check = |kind: &str, found: &[f32], expected: &[f32]| {
                let what = format!("{model} {name} {kind} in {}", precision.name());
                let error = relative_error(found, expected);
                let cosine = worst_cosine(found, expected, 32);
                match precision {
                    Precision::F32 => assert!(error <= F32_ERROR, "{what}: {error:e}"),
                    _ => assert!(cosine >= 0.999, "{what}: {cosine}"),
                }
            };
            let pairs = conditionals(&encoder);
            let alone = expected("condition");
            for (kind, setting) in [("cond", Setting::Condition), ("sent", Setting::Sentence)] {
                let raw = expected(kind);
                let case = |subtract| case(wrapper, pooling, setting, subtract);
                check(kind, &run(&encoder, &pairs, &case(false)), &raw);
                let less: Vec<f32> = raw.iter().zip(&alone).map(|(x, y)| x - y).collect();
                let found = run(&encoder, &pairs, &case(true));
                check(&format!("{kind} − c"), &found, &less);
            }
            let case = case(wrapper, pooling, Setting::Condition, true);
            let singles = |of: &dyn Fn(&(String, String)) -> String| -> Vec<Input> {
                let texts = rows();
                let texts = texts
                    .iter()
                    .map(|row| encoder.single("a text", &of(row)).unwrap());
                texts.collect()
            };
            let sentences = singles(&|(sentence, _)| sentence.clone());
            check(
                "sentence",
                &run(&encoder, &sentences, &case),
                &expected("sentence"),
            );
            let conditions = singles(&|(_, condition)| condition.clone());
            check("condition", &run(&encoder, &conditions, &case), &alone);
            if model != "nvembed" {
                let texts = rows();
                let texts: Vec<_> = texts.iter().map(|(s, _)| s.as_str()).collect();
                let pool = if pooling == Pool::Last {
                    Pool::Last
                } else {
                    Pool::All
                };
                let plain = block_on(encoder.embed(&texts, pool, false)).unwrap();
                check("plain", &plain.vectors.concat(), &expected("plain"));
            }
        }
    }
}

#[test]
fn an_input_does_not_depend_on_its_call() {
    let folder = decoder("calls", "mistral", &serde_json::json!({}));
    let encoder = encoder(&folder, Precision::F32);
    let pairs = conditionals(&encoder);
    let case = Case::instruct(Wrapper::Spaced, Pool::Query);
    let all = run(&encoder, &pairs, &case);
    for (pair, expected) in pairs.iter().zip(all.chunks_exact(32)) {
        let one = run(&encoder, std::slice::from_ref(pair), &case);
        assert!(relative_error(&one, expected) <= 1e-5);
    }
    // Nor on calls before it that pooled otherwise, though the conditions they embedded are remembered.
    let last = Case::instruct(Wrapper::Spaced, Pool::Last);
    let after = run(&encoder, &pairs, &last);
    let fresh = self::encoder(&folder, Precision::F32);
    assert!(relative_error(&after, &run(&fresh, &pairs, &last)) <= 1e-5);
    assert!(relative_error(&after, &all) > 1e-2);
}

#[test]
fn what_is_too_long_is_cut_or_refused() {
    let folder = decoder(
        "long",
        "mistral",
        &serde_json::json!({"max_position_embeddings": 150}),
    );
    let encoder = encoder(&folder, Precision::F32);
    let long = "The dog runs across the frozen river and the green hills. ".repeat(20);
    for setting in [Setting::Condition, Setting::Sentence] {
        let case = case(Wrapper::Spaced, Pool::Query, setting, false);
        let input = encoder.conditional(&long, "the weather", "").unwrap();
        let rows = block_on(encoder.run_raw(&[input], &case)).unwrap();
        assert!(
            matches!(rows.cuts[..], [(0, cut)] if cut > 100),
            "{:?}",
            rows.cuts
        );
        let input = encoder.conditional("A dog.", &long, "").unwrap();
        let error = block_on(encoder.run_raw(&[input], &case)).unwrap_err();
        assert_eq!(error.code(), "condition-too-long", "{error}");
    }
    // Characters of several tokens each.
    let long = "\u{1f42c}\u{1f3d4}".repeat(40);
    for setting in [Setting::Condition, Setting::Sentence] {
        let case = case(Wrapper::Spaced, Pool::Query, setting, false);
        let input = encoder.conditional(&long, "the weather", "").unwrap();
        let rows = block_on(encoder.run_raw(&[input], &case)).unwrap();
        assert!(matches!(rows.cuts[..], [(0, 1..)]), "{:?}", rows.cuts);
    }
    // Joint inputs of sentence and condition are not what a decoder reads.
    let input = encoder.conditional("A dog.", "the weather", "").unwrap();
    let error = block_on(encoder.run_raw(&[input], &Case::default())).unwrap_err();
    assert!(error.to_string().contains("is a decoder"), "{error}");
}

//! CASE behind instructions, with tiny decoders and an XLM-R: against embeddings by transformers.

use crate::common::{self, Folder, Tensors, decoder, json, relative_error, tiny, worst_cosine};
use caselens::{
    backend::{Backend, candle::Candle, simd::Simd},
    checkpoint::{Checkpoint, weights::Dtype},
    embedding::{Case, Encoder, Input, Instruct, Instructed, Pool},
    model::Precision,
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

fn conditionals<B: Backend>(encoder: &Encoder<B>) -> Vec<Input> {
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

fn run<B: Backend>(encoder: &Encoder<B>, inputs: &[Input], case: &Case) -> Vec<f32> {
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

/// An MLM encoder that follows instructions, as multilingual-e5-large-instruct does, on one backend.
fn check_xlm_r<B: Backend>(encoder: &Encoder<B>, least: f32, what: &str) {
    let file = Tensors::open("xlm-r-tiny/instruct.safetensors");
    let expected = |kind: &str| file.floats(&format!("query.{kind}"));
    let check = |kind: &str, found: &[f32], expected: &[f32]| {
        let cosine = worst_cosine(found, expected, 64);
        assert!(cosine >= least, "{kind} {what}: {cosine}");
        if least > 0.9999 {
            let error = relative_error(found, expected);
            assert!(error <= F32_ERROR, "{kind} {what}: {error:e}");
        }
    };
    let (pairs, alone) = (conditionals(encoder), expected("condition"));
    for (kind, setting) in [("cond", Setting::Condition), ("sent", Setting::Sentence)] {
        let case = |subtract| case(Wrapper::Spaced, Pool::Query, setting, subtract);
        let raw = expected(kind);
        check(kind, &run(encoder, &pairs, &case(false)), &raw);
        let less: Vec<f32> = raw.iter().zip(&alone).map(|(x, y)| x - y).collect();
        let found = run(encoder, &pairs, &case(true));
        check(&format!("{kind} − c"), &found, &less);
    }
    let case = Case::instruct(Wrapper::Spaced, Pool::Query);
    let sentences = rows();
    let sentences = sentences
        .iter()
        .map(|(s, _)| encoder.single("a text", s).unwrap());
    let sentences: Vec<_> = sentences.collect();
    check(
        "sentence",
        &run(encoder, &sentences, &case),
        &expected("sentence"),
    );
}

#[test]
fn xlm_r_follows_instructions_on_every_backend() {
    let checkpoint = tiny("xlm-r-tiny");
    check_xlm_r(
        &Encoder::load(Candle::cpu(), &checkpoint).unwrap(),
        1.0 - 1e-6,
        "on candle",
    );
    check_xlm_r(
        &Encoder::load(Simd::new(), &checkpoint).unwrap(),
        1.0 - 1e-6,
        "on simd",
    );
    let file = common::quantized(&common::fixture("xlm-r-tiny"), Dtype::Q8_0);
    // Differences of embeddings that are near each other.
    check_xlm_r(
        &Encoder::load(Simd::new(), &file).unwrap(),
        0.98,
        "in q8_0 on simd",
    );
    if let Some(gpu) = common::gpu() {
        check_xlm_r(
            &Encoder::load(gpu, &checkpoint).unwrap(),
            1.0 - 1e-6,
            "on WebGPU",
        );
    }
}

#[test]
fn what_follows_instructions_is_known_by_the_name_in_its_file() {
    let below = Folder::new("instruct-e5");
    let path = below.0.join("multilingual-e5-large-instruct");
    std::fs::create_dir(&path).unwrap();
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        std::fs::copy(common::fixture("xlm-r-tiny").join(name), path.join(name)).unwrap();
    }
    let file = common::quantized(&path, Dtype::Q8_0);
    assert_eq!(
        Case::of_bert(&file),
        Case::instruct(Wrapper::Spaced, Pool::Query)
    );
    let other = common::quantized(&common::fixture("xlm-r-tiny"), Dtype::Q8_0);
    assert_eq!(Case::of_bert(&other), Case::default());
}

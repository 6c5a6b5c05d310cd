//! Decoders as language models, with tiny ones: what they write against transformers' `generate`.

use std::{collections::HashMap, path::Path};

use crate::{
    common::{Folder, decoder, fixture, json},
    decoders::write_gguf_of,
};
use candle_core::{
    Device, Tensor,
    quantized::{GgmlDType, gguf_file::Value},
};
use caselens::{
    backend::candle::Candle,
    checkpoint::{Checkpoint, DecoderCheckpoint},
    embedding::Encoder,
    model::{
        Precision,
        decoder::{Decoder, cache::Cache},
        language_model::{End, LanguageModel, Limits},
    },
    text::Batch,
};
use serde_json::json;

const MODELS: [&str; 3] = ["llama", "mistral", "qwen2"];

fn open(path: &Path) -> DecoderCheckpoint {
    Checkpoint::open(path)
        .and_then(Checkpoint::decoder)
        .unwrap()
}

/// A tiny decoder's folder with an output layer of its own, or with none.
fn folder(test: &str, model: &str, tied: bool) -> Folder {
    let changes = json!({"tie_word_embeddings": tied});
    let folder = decoder(&format!("{test}-{model}-{tied}"), model, &changes);
    let path = folder.file("model.safetensors");
    let mut tensors = candle_core::safetensors::load(&path, &Device::Cpu).unwrap();
    tensors.remove("lm_head.weight");
    if !tied {
        let file = fixture("decoders/prompts.safetensors");
        let mut outputs = candle_core::safetensors::load(file, &Device::Cpu).unwrap();
        let output = outputs.remove(&format!("{model}.output")).unwrap();
        tensors.insert("lm_head.weight".into(), output);
    }
    candle_core::safetensors::save(&tensors, path).unwrap();
    folder
}

fn load(checkpoint: &DecoderCheckpoint) -> LanguageModel {
    LanguageModel::load(checkpoint, &Device::Cpu, Precision::F32).unwrap()
}

fn ids(value: &serde_json::Value) -> Vec<u32> {
    serde_json::from_value(value.clone()).unwrap()
}

/// Prompts of a tiny decoder, and what transformers writes behind each.
fn expected(fixture: &serde_json::Value, model: &str, tied: bool) -> Vec<(Vec<u32>, Vec<u32>)> {
    let of = &fixture["models"][model];
    let prompts = of["ids"]["express-word-terms"].as_array().unwrap().iter();
    let written = of[if tied { "tied" } else { "untied" }].as_array().unwrap();
    prompts
        .zip(written)
        .map(|(prompt, written)| (ids(prompt), ids(written)))
        .collect()
}

const EIGHT: Limits<'static> = Limits {
    tokens: 8,
    stop: &[],
};

#[test]
fn what_is_written_is_what_transformers_writes() {
    let fixture = json("decoders/prompts.json");
    for model in MODELS {
        for tied in [true, false] {
            let folder = folder("written", model, tied);
            let checkpoint = open(&folder.0);
            let language_model = load(&checkpoint);
            // Without the keys and values of what was read before, the same.
            let backend = Candle::cpu();
            let encoder: Encoder<Candle> =
                Encoder::decoder(backend, &checkpoint, Precision::F32).unwrap();
            let shared = encoder.language_model(&checkpoint, Precision::F32).unwrap();
            for (prompt, expected) in expected(&fixture, model, tied) {
                let written = language_model.go_on(&prompt, &EIGHT).unwrap();
                assert_eq!(written.ids, expected, "{model}, tied: {tied}");
                assert_eq!(written.end, End::Length);
                assert_eq!(shared.go_on(&prompt, &EIGHT).unwrap(), written);
                let mut all = prompt.clone();
                let one = Limits {
                    tokens: 1,
                    stop: &[],
                };
                for id in expected {
                    assert_eq!(language_model.go_on(&all, &one).unwrap().ids, [id]);
                    all.push(id);
                }
            }
        }
    }
}

#[test]
fn what_is_read_on_has_the_states_of_the_whole() {
    let fixture = json("decoders/prompts.json");
    for (model, changes) in [
        ("llama", json!({})),
        // Longer inputs are rotated otherwise, from the first token on.
        (
            "llama",
            json!({"rope_scaling": {"rope_type": "dynamic", "factor": 4.0}, "max_position_embeddings": 24}),
        ),
        ("mistral", json!({})),
        (
            "qwen2",
            json!({"use_sliding_window": true, "max_window_layers": 1}),
        ),
    ] {
        let checkpoint = open(&decoder("read-on", model, &changes).0);
        let decoder = Decoder::load(&checkpoint, &Device::Cpu, Precision::F32).unwrap();
        let (prompt, _) = &expected(&fixture, model, true)[0];
        let states = |ids: &[u32]| {
            let mut batch = Batch::default();
            batch.push(ids, &vec![0; ids.len()]);
            decoder.forward(&batch).unwrap()
        };
        let mut cache = Cache::default();
        let mut read = 0;
        for new in [17, 1, 1, 9, 1] {
            let next = decoder
                .read_on(&mut cache, &prompt[read..read + new])
                .unwrap();
            read += new;
            assert_eq!(cache.tokens(), read);
            let whole = states(&prompt[..read]).narrow(0, read - new, new).unwrap();
            let apart = (next - whole).unwrap().abs().unwrap().max_all().unwrap();
            let apart = apart.to_scalar::<f32>().unwrap();
            assert!(apart <= 1e-4, "{model} after {read}: {apart:e}");
        }
    }
}

#[test]
fn gguf_files_write_the_same() {
    let fixture = json("decoders/prompts.json");
    for tied in [true, false] {
        let from = folder("gguf", "llama", tied);
        let path = from.file("model.gguf");
        let weights = from.0.join("model.safetensors");
        let extra = vec![("llama.vocab_size".into(), Value::U32(439))];
        write_gguf_of(&weights, &path, "llama", GgmlDType::F32, extra);
        let language_model = load(&open(Path::new(&path)));
        for (prompt, expected) in expected(&fixture, "llama", tied) {
            assert_eq!(language_model.go_on(&prompt, &EIGHT).unwrap().ids, expected);
        }
    }
}

#[test]
fn blocks_that_are_decoded_stand_for_the_same_numbers() {
    let from = folder("blocks", "llama", true);
    let path = from.file("model.gguf");
    let weights = from.0.join("model.safetensors");
    let extra = vec![("llama.vocab_size".into(), Value::U32(439))];
    write_gguf_of(&weights, &path, "llama", GgmlDType::Q4_1, extra);
    let encoder: Encoder<Candle> =
        Encoder::decoder(Candle::cpu(), &open(Path::new(&path)), Precision::F32).unwrap();
    assert_eq!(encoder.dtype, "f32");
    // The same blocks, decoded beforehand.
    let mut file = std::fs::File::open(&path).unwrap();
    let content = candle_core::quantized::gguf_file::Content::read(&mut file).unwrap();
    let decoded: HashMap<String, Tensor> = (content.tensor_infos.keys())
        .map(|name| {
            let tensor = content.tensor(&mut file, name, &Device::Cpu).unwrap();
            (name.clone(), tensor.dequantize(&Device::Cpu).unwrap())
        })
        .collect();
    let mut batch = Batch::default();
    batch.push(&[1, 300, 400], &[0; 3]);
    let states = encoder.hidden(&batch).unwrap();
    let plain = from.file("plain.gguf");
    let tensors: Vec<_> = (decoded.iter())
        .map(|(name, tensor)| {
            let tensor = candle_core::quantized::QTensor::quantize(tensor, GgmlDType::F32);
            (name.as_str(), tensor.unwrap())
        })
        .collect();
    let metadata: Vec<_> = content
        .metadata
        .iter()
        .map(|(key, value)| (key.as_str(), value))
        .collect();
    let tensors: Vec<_> = tensors
        .iter()
        .map(|(name, tensor)| (*name, tensor))
        .collect();
    let mut out = std::fs::File::create(&plain).unwrap();
    candle_core::quantized::gguf_file::write(&mut out, &metadata, &tensors).unwrap();
    let plain: Encoder<Candle> =
        Encoder::decoder(Candle::cpu(), &open(Path::new(&plain)), Precision::F32).unwrap();
    let apart = (states - plain.hidden(&batch).unwrap()).unwrap();
    let apart = apart
        .abs()
        .unwrap()
        .max_all()
        .unwrap()
        .to_scalar::<f32>()
        .unwrap();
    assert!(apart <= 1e-6, "{apart:e}");
}

#[test]
fn writing_ends_where_it_is_told_to() {
    let fixture = json("decoders/prompts.json");
    let (prompt, written) = &expected(&fixture, "qwen2", true)[0];
    let from = folder("ends", "qwen2", true);
    let checkpoint = open(&from.0);
    let model = load(&checkpoint);
    let whole = model.go_on(prompt, &EIGHT).unwrap();
    assert_eq!(whole.text, model.tokenizer().text(&whole.ids));

    // A text within a token, and one that begins in one token and ends in the next.
    let texts: Vec<String> = written
        .iter()
        .map(|id| model.tokenizer().text(&[*id]))
        .collect();
    let (at, token) = texts
        .iter()
        .enumerate()
        .find(|(_, text)| text.chars().count() > 1)
        .unwrap();
    let first = token.chars().next().unwrap().len_utf8();
    let inside = &token[first..];
    let stopped = model
        .go_on(
            prompt,
            &Limits {
                tokens: 8,
                stop: &["no such text", inside],
            },
        )
        .unwrap();
    assert_eq!(stopped.end, End::Stop);
    assert_eq!(stopped.text, whole.text[..whole.text.find(inside).unwrap()]);
    assert!(stopped.ids.len() <= at + 1);
    let last = |text: &String| text.chars().last().unwrap().to_string();
    let across = last(&texts[0]) + &texts[1];
    let stopped = model
        .go_on(
            prompt,
            &Limits {
                tokens: 8,
                stop: &[&across],
            },
        )
        .unwrap();
    assert_eq!(
        stopped.text,
        whole.text[..whole.text.find(&across).unwrap()]
    );

    // The model's own token, which is no part of what it wrote.
    let ends = json!({"tie_word_embeddings": true, "eos_token_id": [0, written[3]]});
    let named = decoder("ends-token", "qwen2", &ends);
    let ended = load(&open(&named.0)).go_on(prompt, &EIGHT).unwrap();
    let before = written.iter().position(|id| *id == written[3]).unwrap();
    assert_eq!(
        (ended.end, &ended.ids[..]),
        (End::Token, &written[..before])
    );

    // As many as there is room for.
    let room = json!({"tie_word_embeddings": true, "max_position_embeddings": prompt.len() + 2});
    let narrow = load(&open(&decoder("ends-room", "qwen2", &room).0));
    let ended = narrow.go_on(prompt, &EIGHT).unwrap();
    assert_eq!((ended.end, &ended.ids[..]), (End::Length, &written[..3]));
    let none = narrow
        .go_on(
            prompt,
            &Limits {
                tokens: 0,
                stop: &[],
            },
        )
        .unwrap();
    assert_eq!((none.text.as_str(), none.ids.len()), ("", 0));
}

#[test]
fn an_encoder_alone_writes_nothing() {
    let refused = |model: &str, changes: serde_json::Value| {
        let checkpoint = open(&decoder("encoder-alone", model, &changes).0);
        let loaded = LanguageModel::load(&checkpoint, &Device::Cpu, Precision::F32);
        let written = loaded.and_then(|model| model.complete("A dog", &EIGHT));
        written.unwrap_err().to_string()
    };
    // Its file has no output layer, and its configuration does not say that the table is one.
    let error = refused("mistral", json!({}));
    assert!(error.contains("it is an encoder alone"), "{error}");
    // Its output layer is another vocabulary's.
    let error = refused("llama", json!({}));
    assert!(error.contains("output.weight"), "{error}");
    let error = refused(
        "qwen2",
        json!({"tie_word_embeddings": true, "is_causal": false}),
    );
    assert!(error.contains("in both directions"), "{error}");
    let tied = json!({"tie_word_embeddings": true});
    let checkpoint = open(&decoder("encoder-alone", "qwen2", &tied).0);
    let model = load(&checkpoint);
    let error = model.go_on(&[], &EIGHT).unwrap_err();
    assert!(
        error.to_string().contains("nothing to go on from"),
        "{error}"
    );
    let error = model.go_on(&[100_000], &EIGHT).unwrap_err();
    assert_eq!(error.code(), "tokenizer", "{error}");
}

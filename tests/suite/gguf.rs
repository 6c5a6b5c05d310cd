//! GGUF files: what is written is read back, in each dtype; and no file, however broken, ends in a panic.

use crate::common;
use std::{
    collections::HashMap,
    io::Cursor,
    panic::{AssertUnwindSafe, catch_unwind},
};

use crate::common::{Folder, TINY, minilm_folder, parts};
use caselens::{
    Result,
    checkpoint::{
        ArrivingCheckpoint, BertCheckpoint, Checkpoint, EncoderId,
        config::Config,
        gguf::{
            arriving::Arriving,
            header::{Header, Metadata},
            value::Value,
            vocabulary,
            write::{Source, tensor_shapes, write_gguf},
        },
        keys,
        plain::Plain,
        weights::{Bytes, Dtype, Weights},
    },
};

const DTYPES: [Dtype; 4] = [Dtype::F32, Dtype::F16, Dtype::Q8_0, Dtype::Q4_0];

/// The largest error that rounding to `dtype` explains, relative to the largest number of a block.
fn step(dtype: Dtype) -> f32 {
    match dtype {
        Dtype::F32 => 0.0,
        Dtype::F16 | Dtype::Bf16 => 1.0 / 2048.0,
        // Half a step of 1/127; the scale itself is rounded to f16.
        Dtype::Q8_0 => 0.5 / 127.0 + 1.0 / 1024.0,
        // Steps of 1/9.2 at the least, the last of which is the seventh: what is above is cut.
        Dtype::Q4_0 => 1.0 - 7.0 / 9.2 + 1.0 / 1024.0,
    }
}

fn encoder(name: &str) -> EncoderId {
    EncoderId {
        id: format!("caselens/{name}"),
        sha256: "5a".repeat(32),
    }
}

/// Writes GGUF from a folder's files, some of them changed.
fn write(config: &str, tokenizer: &str, weights: Bytes, dtype: Dtype) -> Result<Vec<u8>> {
    let weights = Weights::open("fixture", weights)?;
    let source = Source {
        weights: &weights,
        config_json: config,
        tokenizer_json: tokenizer,
        encoder: &encoder("fixture"),
        plain: Plain::default(),
        pooler: false,
        rounded: &std::collections::BTreeMap::new(),
    };
    let mut out = Cursor::new(Vec::new());
    write_gguf(&mut out, &source, dtype)?;
    Ok(out.into_inner())
}

fn gguf(name: &str, dtype: Dtype) -> Vec<u8> {
    let (config, tokenizer, weights) = parts(name);
    write(&config, &tokenizer, weights, dtype).unwrap()
}

fn tokenizer_json_of(
    weights: &Weights,
    rows: usize,
) -> Result<serde_json::Map<String, serde_json::Value>> {
    let parts = vocabulary::Parts::read("test.gguf", &weights.metadata, rows)?;
    let mut json = parts.json;
    if let Some(ids) = parts.vocabulary {
        let ids: serde_json::Map<_, _> = ids.into_iter().map(|(t, id)| (t, id.into())).collect();
        json["model"]["vocab"] = ids.into();
    }
    Ok(json)
}

/// A file in one piece; in pieces it is the same, or the same error.
fn open(bytes: &[u8]) -> Result<Weights> {
    let whole = Weights::open("test.gguf", Bytes::Owned(bytes.to_vec()));
    for stated in [None, Some(bytes.len())] {
        let arrived = arrive(bytes, 30_000, stated);
        match (&whole, &arrived) {
            (Ok(_), Ok(_)) => {}
            (Err(whole), Err(arrived)) => assert_eq!(whole.code(), arrived.code(), "{arrived}"),
            (whole, arrived) => panic!(
                "{:?} in one piece, {:?} in several",
                whole.as_ref().err(),
                arrived.as_ref().err()
            ),
        }
    }
    whole
}

/// A file that comes in pieces of so many bytes.
fn arrive(bytes: &[u8], piece: usize, stated: Option<usize>) -> Result<Weights> {
    let mut file = Arriving::new("test.gguf", stated);
    for piece in bytes.chunks(piece) {
        file.push(piece)?;
    }
    file.finish()
}

#[test]
fn every_tensor_is_read_back() {
    for name in TINY {
        let (config, _, weights) = parts(name);
        let config = Config::from_json(name, &config).unwrap();
        let published = Weights::open(name, weights).unwrap();
        for dtype in DTYPES {
            let written = open(&gguf(name, dtype)).unwrap();
            for (tensor, shape) in tensor_shapes(&config) {
                let got = written.get(&tensor, &shape).unwrap();
                let mut want = published.get_any(&tensor).unwrap().to_f32();
                if tensor == "position_embd.weight" {
                    want.drain(..config.position_offset * config.hidden_size);
                }
                let kept = match (tensor.as_str(), shape.len(), dtype) {
                    (_, 1, _) | ("token_types.weight" | "blk.0.attn_rel_b.weight", ..) => {
                        Dtype::F32
                    }
                    ("position_embd.weight", _, Dtype::Q8_0 | Dtype::Q4_0) => Dtype::F16,
                    _ => dtype,
                };
                assert_eq!(got.dtype, kept, "{name} {tensor}");
                let got_f32 = got.to_f32();
                assert_eq!(got_f32.len(), want.len(), "{name} {tensor}");
                for (got, want) in got_f32.chunks(32).zip(want.chunks(32)) {
                    let largest = want.iter().fold(0f32, |m, x| m.max(x.abs()));
                    for (g, w) in got.iter().zip(want) {
                        let error = (g - w).abs();
                        let allowed = step(kept) * largest;
                        assert!(error <= allowed, "{name} {tensor} {dtype:?}: {g} for {w}");
                    }
                }
            }
        }
    }
}

#[test]
fn keys_are_llama_cpps_and_ours() {
    for (name, model, family) in [
        ("bert-tiny", "bert", "bert"),
        ("roberta-tiny", "gpt2", "bert"),
        ("xlm-r-tiny", "t5", "bert"),
        ("mpnet-tiny", "bert", "mpnet"),
    ] {
        let (config_json, tokenizer_json, _) = parts(name);
        let config = Config::from_json(name, &config_json).unwrap();
        let weights = open(&gguf(name, Dtype::Q8_0)).unwrap();
        let text = |key: &str| weights.metadata[key].as_str().unwrap();
        let number = |key: &str| weights.metadata[key].as_u32().unwrap();
        let own = |key: &str| &weights.metadata[&format!("{family}.{key}")];
        let count = |key: &str| own(key).as_u32().unwrap();
        assert_eq!(text("general.architecture"), family);
        assert_eq!(text("general.name"), "fixture");
        assert_eq!(text("tokenizer.ggml.model"), model);
        assert_eq!(number("general.file_type"), 7);
        assert_eq!(count("block_count"), 3);
        assert_eq!(count("context_length"), 128, "{name}");
        assert_eq!(count("embedding_length"), 64);
        assert_eq!(count("feed_forward_length"), 96);
        assert_eq!(count("attention.head_count"), 4);
        assert_eq!(count("pooling_type"), 1);
        assert!(!own("attention.causal").as_bool().unwrap());
        let epsilon = own("attention.layer_norm_epsilon").as_f32().unwrap();
        assert_eq!(epsilon, config.layer_norm_eps);
        let buckets = format!("{family}.attention.relative_buckets_count");
        let buckets = weights.metadata.get(&buckets).and_then(Value::as_u32);
        assert_eq!(buckets, (family == "mpnet").then_some(32));
        // [CLS] and [SEP] of BERT's fixture are 2 and 3; <s> and </s> of the others 0 and 2.
        let wrap = if name == "bert-tiny" { (2, 3) } else { (0, 2) };
        assert_eq!(number("tokenizer.ggml.bos_token_id"), wrap.0, "{name}");
        assert_eq!(
            number("tokenizer.ggml.seperator_token_id"),
            wrap.1,
            "{name}"
        );

        let tokens = weights.metadata["tokenizer.ggml.tokens"]
            .as_array()
            .unwrap();
        let kinds = weights.metadata["tokenizer.ggml.token_type"]
            .as_array()
            .unwrap();
        assert_eq!(
            (tokens.len(), kinds.len()),
            (config.vocab_size, config.vocab_size)
        );
        assert!(kinds.iter().all(|k| matches!(k, Value::I32(_))));
        let mut seen = HashMap::new();
        for (id, token) in tokens.iter().enumerate() {
            let twin = seen.insert(token.as_str().unwrap().to_owned(), id);
            assert_eq!(twin, None, "{name}: two tokens {token:?}");
        }

        assert_eq!(text(keys::CONFIG), config_json);
        assert_eq!(text(keys::ENCODER_ID), "caselens/fixture");
        assert_eq!(text(keys::ENCODER_SHA256), "5a".repeat(32));
        let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        let mut kept = json(&tokenizer_json);
        let key = match model {
            "bert" => {
                kept["model"].as_object_mut().unwrap().remove("vocab");
                keys::TOKENIZER_REST
            }
            _ => keys::TOKENIZER,
        };
        assert_eq!(json(text(key)), kept);
        let whole = tokenizer_json_of(&weights, config.vocab_size).unwrap();
        assert_eq!(serde_json::Value::Object(whole), json(&tokenizer_json));
    }
}

#[test]
fn a_file_opens_as_the_encoder_it_was_made_from() {
    for name in TINY {
        let checkpoint =
            BertCheckpoint::from_gguf(name, Bytes::Owned(gguf(name, Dtype::Q8_0))).unwrap();
        assert_eq!(checkpoint.encoder, encoder("fixture"));
        assert_eq!(checkpoint.dtype(), Dtype::Q8_0);
        let folder = common::tiny(name);
        for text in [
            "A small brown dog.",
            "",
            "猫が窓のそばで眠っている。 🐶",
            "  x  ",
        ] {
            assert_eq!(
                checkpoint.tokenizer.ids(text).unwrap(),
                folder.tokenizer.ids(text).unwrap()
            );
        }
        // Writing from weights whose unused positions are dropped already gives the same file.
        let (config_json, tokenizer_json, _) = parts(name);
        let source = Source {
            weights: &folder.weights,
            config_json: &config_json,
            tokenizer_json: &tokenizer_json,
            encoder: &encoder("fixture"),
            plain: Plain::default(),
            pooler: false,
            rounded: &std::collections::BTreeMap::new(),
        };
        let mut out = Cursor::new(Vec::new());
        write_gguf(&mut out, &source, Dtype::Q8_0).unwrap();
        assert!(out.into_inner() == gguf(name, Dtype::Q8_0), "{name}");
    }
}

/// The WordPiece fixture's tokenizer.json, changed.
fn wordpiece(change: impl FnOnce(&mut serde_json::Value)) -> String {
    let mut json = serde_json::from_str(&parts("bert-tiny").1).unwrap();
    change(&mut json);
    json.to_string()
}

#[test]
fn a_vocabulary_that_the_token_list_does_not_give_back_stays_in_tokenizer_json() {
    let (config, tokenizer, _) = parts("bert-tiny");
    let weights = || parts("bert-tiny").2;
    for (what, json) in [
        // llama.cpp's mark in front of the token's own: the two cannot be told apart.
        (
            "a token that begins with the mark",
            tokenizer.replacen("\"##e\":", "\"##\u{2581}e\":", 1),
        ),
        (
            "an added token that the vocabulary lacks",
            wordpiece(|json| {
                let vocab = json["model"]["vocab"].as_object_mut().unwrap();
                vocab.remove("[MASK]").unwrap();
            }),
        ),
    ] {
        assert_ne!(json, tokenizer, "{what}");
        let bytes = write(&config, &json, weights(), Dtype::Q4_0).unwrap();
        let metadata = open(&bytes).unwrap().metadata;
        let whole = metadata[keys::TOKENIZER].as_str().unwrap();
        let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(parse(whole), parse(&json), "{what}");
        assert!(!metadata.contains_key(keys::TOKENIZER_REST), "{what}");
        BertCheckpoint::from_gguf(what, Bytes::Owned(bytes)).unwrap();
    }
    // Rows that no token names are nobody's tokens when the vocabulary is put back.
    let gap = wordpiece(|json| {
        let vocab = json["model"]["vocab"].as_object_mut().unwrap();
        vocab.retain(|_, id| id != 499);
    });
    let bytes = write(&config, &gap, weights(), Dtype::Q4_0).unwrap();
    let weights = open(&bytes).unwrap();
    assert!(weights.metadata.contains_key(keys::TOKENIZER_REST));
    let whole = tokenizer_json_of(&weights, 500).unwrap();
    let gap: serde_json::Value = serde_json::from_str(&gap).unwrap();
    assert_eq!(whole["model"], gap["model"]);
}

#[test]
fn minilm_in_four_bits_takes_at_most_14_megabytes_with_its_whole_tokenizer() {
    let Some(folder) = minilm_folder() else {
        return;
    };
    let text = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
    let tokenizer = text("tokenizer.json");
    let weights = Bytes::Owned(std::fs::read(folder.join("model.safetensors")).unwrap());
    let bytes = write(&text("config.json"), &tokenizer, weights, Dtype::Q4_0).unwrap();
    assert!(bytes.len() <= 14_000_000, "{} bytes", bytes.len());
    let whole = tokenizer_json_of(&open(&bytes).unwrap(), 30522).unwrap();
    let mut published: serde_json::Value = serde_json::from_str(&tokenizer).unwrap();
    published["truncation"] = serde_json::Value::Null;
    published["padding"] = serde_json::Value::Null;
    assert!(serde_json::Value::Object(whole) == published);

    let published = caselens::text::Tokenizer::from_json(tokenizer.as_bytes()).unwrap();
    let opened = BertCheckpoint::from_gguf("test.gguf", Bytes::Owned(bytes)).unwrap();
    for text in [
        "She plays chess in the park.",
        "[MASK] [SEP]unaffable Ünïcode ##ing 東京 🙂",
        &"x".repeat(200),
    ] {
        let ids = opened.tokenizer.ids(text).unwrap();
        assert_eq!(ids, published.ids(text).unwrap(), "{text}");
    }
}

#[test]
fn files_with_the_whole_tokenizer_json_still_open() {
    let (_, tokenizer, _) = parts("bert-tiny");
    let mut weights = open(&gguf("bert-tiny", Dtype::Q8_0)).unwrap();
    let rest = weights.metadata.remove(keys::TOKENIZER_REST).unwrap();
    weights
        .metadata
        .insert(keys::TOKENIZER.to_owned(), Value::String(tokenizer.clone()));
    let whole = tokenizer_json_of(&weights, 500).unwrap();
    let tokenizer: serde_json::Value = serde_json::from_str(&tokenizer).unwrap();
    assert_eq!(serde_json::Value::Object(whole), tokenizer);
    // Where both are there the whole one counts.
    weights.metadata.insert(keys::TOKENIZER_REST.into(), rest);
    weights.metadata.remove("tokenizer.ggml.tokens");
    tokenizer_json_of(&weights, 500).unwrap();
}

#[test]
fn a_broken_token_list_is_an_error() {
    const TOKENS: &str = "tokenizer.ggml.tokens";
    const KINDS: &str = "tokenizer.ggml.token_type";
    let bytes = gguf("bert-tiny", Dtype::Q8_0);
    let said = |change: &dyn Fn(&mut Metadata)| {
        let mut weights = open(&bytes).unwrap();
        change(&mut weights.metadata);
        let error = tokenizer_json_of(&weights, 500).unwrap_err();
        (error.code(), error.to_string())
    };
    let list = |metadata: &mut Metadata, key: &str, change: &dyn Fn(&mut Vec<Value>)| {
        let Some(Value::Array(list)) = metadata.get_mut(key) else {
            panic!("{key} is no list");
        };
        change(list);
    };
    let string = |text: &str| Value::String(text.to_owned());
    type Change<'a> = Box<dyn Fn(&mut Metadata) + 'a>;
    let cases: [(&str, &str, Change<'_>); 10] = [
        ("model-format", TOKENS, Box::new(|m| drop(m.remove(TOKENS)))),
        ("model-format", KINDS, Box::new(|m| drop(m.remove(KINDS)))),
        (
            "model-format",
            TOKENS,
            Box::new(|m| drop(m.insert(TOKENS.into(), string("a")))),
        ),
        (
            "model-format",
            "499 tokens",
            Box::new(|m| list(m, TOKENS, &|l| drop(l.pop()))),
        ),
        (
            "model-format",
            "501 token types",
            Box::new(|m| list(m, KINDS, &|l| l.push(Value::I32(1)))),
        ),
        (
            "model-format",
            "twice",
            Box::new(|m| list(m, TOKENS, &|l| l[490] = l[491].clone())),
        ),
        (
            "model-format",
            "strings",
            Box::new(|m| list(m, TOKENS, &|l| l[7] = Value::U32(7))),
        ),
        (
            "model-format",
            "i32",
            Box::new(|m| list(m, KINDS, &|l| l[7] = string("1"))),
        ),
        (
            "model-format",
            "no model",
            Box::new(|m| drop(m.insert(keys::TOKENIZER_REST.into(), string("{}")))),
        ),
        (
            "tokenizer",
            "tokenizer.json",
            Box::new(|m| drop(m.insert(keys::TOKENIZER_REST.into(), string("{")))),
        ),
    ];
    for (code, reason, change) in cases {
        let (got, text) = said(&change);
        assert_eq!(got, code, "{text}");
        assert!(text.contains(reason), "{reason}: {text}");
    }
    let (code, text) = said(&|m| drop(m.remove(keys::TOKENIZER_REST)));
    assert_eq!(code, "model-format");
    assert!(text.contains("files from other converters lack"), "{text}");
}

#[test]
fn truncation_and_padding_are_removed_and_scores_kept_to_the_letter() {
    let (config, tokenizer, weights) = parts("xlm-r-tiny");
    let limited = tokenizer.replacen(
        "\"truncation\":null,\"padding\":null",
        r#""truncation":{"max_length":8,"strategy":"LongestFirst","stride":0,"direction":"Right"},"padding":{"strategy":{"Fixed":9},"direction":"Right","pad_to_multiple_of":null,"pad_id":1,"pad_type_id":0,"pad_token":"<pad>"}"#,
        1,
    );
    assert_ne!(limited, tokenizer);
    let bytes = write(&config, &limited, weights, Dtype::Q8_0).unwrap();
    let weights = open(&bytes).unwrap();
    let text = weights.metadata[keys::TOKENIZER].as_str().unwrap();
    assert!(text.contains("\"truncation\":null") && text.contains("\"padding\":null"));
    let model = &tokenizer[tokenizer.find("\"model\":").unwrap()..];
    assert!(text.contains(model.trim_end().trim_end_matches('}')));
}

#[test]
fn what_does_not_fit_is_refused_with_a_reason() {
    let code = |config: &str, tokenizer: &str, weights: Bytes, dtype| {
        let written = write(config, tokenizer, weights, dtype);
        written.err().map_or("written", |e| e.code())
    };
    let (config, tokenizer, weights) = parts("bert-tiny");
    let weights = || Bytes::Owned(weights.to_vec());
    assert_eq!(
        code(&config, &tokenizer, weights(), Dtype::Bf16),
        "invalid-argument"
    );
    assert_eq!(code("{", &tokenizer, weights(), Dtype::F32), "model-format");
    for broken in [
        "",
        "{}",
        "[]",
        "{\"model\":{\"type\":\"WordLevel\",\"vocab\":{}}}",
        "{\"model\":{\"vocab\":[1]}}",
    ] {
        assert_eq!(
            code(&config, broken, weights(), Dtype::F32),
            "tokenizer",
            "{broken}"
        );
    }
    let fewer = config.replace("\"vocab_size\": 500", "\"vocab_size\": 400");
    assert_eq!(code(&fewer, &tokenizer, weights(), Dtype::F32), "tokenizer");
    let more = config.replace("\"vocab_size\": 500", "\"vocab_size\": 600");
    assert_eq!(
        code(&more, &tokenizer, weights(), Dtype::F32),
        "model-format"
    );
    let deeper = config.replace("\"num_hidden_layers\": 3", "\"num_hidden_layers\": 4");
    assert_eq!(
        code(&deeper, &tokenizer, weights(), Dtype::F32),
        "model-format"
    );

    // A number that f16 cannot hold, and one that nothing can.
    let mut bytes = weights().to_vec();
    let (start, header) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
    let info = header.info("encoder.layer.1.output.dense.weight").unwrap();
    let at = 8 + start + info.data_offsets.0;
    for (number, dtype) in [
        (f32::NAN, Dtype::F32),
        (f32::INFINITY, Dtype::Q8_0),
        (70000.0, Dtype::F16),
    ] {
        bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
        assert_eq!(
            code(&config, &tokenizer, Bytes::Owned(bytes.clone()), dtype),
            "model-format"
        );
    }
}

/// Opening, and reading all that was opened, ends in `Ok` or `Err`.
fn survives(bytes: &[u8], what: &str) {
    let run = || {
        if let Ok(weights) = open(bytes) {
            for name in [
                "token_embd.weight",
                "blk.0.attn_q.weight",
                "blk.2.ffn_down.bias",
            ] {
                if let Ok(tensor) = weights.get_any(name) {
                    tensor.to_f32();
                    let _ = tensor.dims2();
                }
            }
        }
        let whole = BertCheckpoint::from_gguf("test.gguf", Bytes::Owned(bytes.to_vec()));
        if let Ok(checkpoint) = &whole {
            let _ = checkpoint
                .tokenizer
                .ids("A small brown dog, 猫 and [SEP] </s>.");
        }
        let mut arriving = ArrivingCheckpoint::new("test.gguf", None);
        let pushed = bytes
            .chunks(20_000)
            .try_for_each(|piece| arriving.push(piece));
        let arrived = pushed.and_then(|()| arriving.finish());
        assert_eq!(whole.is_ok(), arrived.is_ok());
    };
    assert!(
        catch_unwind(AssertUnwindSafe(run)).is_ok(),
        "panicked: {what}"
    );
}

/// The bytes before the tensors: what is parsed.
fn header(bytes: &[u8]) -> usize {
    let at = bytes
        .windows(22)
        .rposition(|w| w == b"blk.2.layer_output_nor")
        .unwrap();
    at + 60
}

#[test]
fn a_file_cut_short_is_an_error() {
    let whole = gguf("bert-tiny", Dtype::Q8_0);
    assert!(open(&whole).is_ok());
    let header = header(&whole);
    let cuts = (0..header)
        .step_by(97)
        .chain((header..whole.len()).step_by(4099));
    for cut in cuts.chain(0..64) {
        survives(&whole[..cut], &format!("cut at {cut}"));
        let error = Weights::open("test.gguf", Bytes::Owned(whole[..cut].to_vec())).err();
        assert!(
            error.is_some_and(|e| e.code() == "model-format"),
            "cut at {cut}"
        );
    }
    // The last tensor is whole without the padding behind it, and not one byte earlier.
    let last = whole.len() - 64 * 4;
    assert!(open(&whole[..last - 1]).is_err());
}

#[test]
fn a_file_is_the_same_in_pieces_of_any_size() {
    for (name, dtype) in [
        ("bert-tiny", Dtype::Q4_0),
        ("xlm-r-tiny", Dtype::F16),
        ("roberta-tiny", Dtype::Q8_0),
    ] {
        let (config, ..) = parts(name);
        let config = Config::from_json(name, &config).unwrap();
        let bytes = gguf(name, dtype);
        let whole = open(&bytes).unwrap();
        for piece in [1, 31, 4096, 65_537, bytes.len()] {
            for stated in [None, Some(bytes.len())] {
                let mut arrived = arrive(&bytes, piece, stated).unwrap();
                assert_eq!(arrived.size(), whole.size());
                assert_eq!(arrived.metadata.len(), whole.metadata.len());
                for (tensor, shape) in tensor_shapes(&config) {
                    let want = whole.get(&tensor, &shape).unwrap();
                    let lent = arrived.get(&tensor, &shape).unwrap();
                    assert_eq!(lent.data, want.data, "{name} {tensor}, pieces of {piece}");
                    assert!(arrived.take(&tensor, &[7]).is_err(), "another shape");
                    let taken = arrived.take(&tensor, &shape).unwrap();
                    assert_eq!((taken.dtype, taken.data), (want.dtype, want.data));
                    assert!(!arrived.contains(&tensor));
                    assert!(arrived.take(&tensor, &shape).is_err(), "it was given away");
                }
            }
        }
    }
}

#[test]
fn what_does_not_fit_the_stated_size_is_an_error_as_soon_as_it_shows() {
    let bytes = gguf("bert-tiny", Dtype::Q8_0);
    // The header names a tensor past the stated end.
    let mut file = Arriving::new("test.gguf", Some(bytes.len() - 1000));
    let failed = bytes
        .chunks(1000)
        .position(|piece| file.push(piece).is_err());
    assert!(failed.is_some_and(|at| at < 140), "{failed:?}");
    // What comes past the stated end.
    let small = Raw::new(3).tensor("a", &[8], 0, 0).bytes();
    assert!(arrive(&small, 10, Some(small.len())).is_ok());
    let error = arrive(&[&small[..], b"more"].concat(), 10, Some(small.len()));
    assert_eq!(error.err().map(|e| e.code()), Some("model-format"));
    // A file that ends early has all of its tensors, or is cut short.
    assert!(arrive(&small, 10, Some(small.len() + 1)).is_ok());
    let error = arrive(&bytes[..bytes.len() / 2], 1000, Some(bytes.len()));
    assert!(error.err().unwrap().to_string().contains("cut short"));
    // No file at all.
    for stated in [None, Some(0), Some(10)] {
        let error = arrive(&[], 10, stated).err().unwrap();
        assert!(error.to_string().contains("it is empty"), "{error}");
    }
    let mut text = Arriving::new("test.gguf", None);
    assert!(text.push(b"GG").is_ok());
    assert!(text.push(b"oo").is_err(), "at the fourth byte");
}

#[test]
fn memory_that_is_not_to_be_had_is_an_error() {
    let huge = |dims: &[u64]| Raw::new(3).tensor("a", dims, 0, 0).bytes();
    // Of what was not stated, no more is asked for than has arrived, and a little.
    let long = [huge(&[1 << 60]), vec![0; 1 << 16]].concat();
    let error = arrive(&long, 10_000, None).err().unwrap();
    assert!(error.to_string().contains("cut short"), "{error}");
    let error = arrive(&long, 10_000, Some(usize::MAX)).err().unwrap();
    assert_eq!(error.code(), "not-enough-memory");
}

#[test]
fn tensors_that_share_bytes_are_an_error() {
    let two = |second| {
        Raw::new(3)
            .tensor("a", &[8], 0, 0)
            .tensor("b", &[8], 0, second)
            .bytes()
    };
    assert!(open(&two(32)).is_ok());
    let error = open(&two(0)).err().unwrap();
    assert!(error.to_string().contains("share bytes"), "{error}");
}

/// candle's reader is another's: what ours says of a file, it says too.
#[test]
fn a_header_is_as_candle_reads_it() {
    use candle_core::quantized::gguf_file::{Content, Value as Theirs};
    let same = |ours: &Value, theirs: &Theirs| match (ours, theirs) {
        (Value::U32(a), Theirs::U32(b)) => a == b,
        (Value::F32(a), Theirs::F32(b)) => a == b,
        (Value::Bool(a), Theirs::Bool(b)) => a == b,
        (Value::I32(a), Theirs::I32(b)) => a == b,
        (Value::U8(a), Theirs::U8(b)) => a == b,
        (Value::String(a), Theirs::String(b)) => a == b,
        _ => false,
    };
    for name in TINY {
        let bytes = gguf(name, Dtype::Q8_0);
        let theirs = Content::read(&mut Cursor::new(&bytes)).unwrap();
        let ours = Header::read(&bytes).unwrap();
        assert_eq!(ours.metadata.len(), theirs.metadata.len());
        for (key, value) in &ours.metadata {
            let equal = match (value, &theirs.metadata[key]) {
                (Value::Array(a), Theirs::Array(b)) => {
                    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
                }
                (a, b) => same(a, b),
            };
            assert!(equal, "{name}: {key}");
        }
        let table = ours.table(name, Some(bytes.len()), |_| true).unwrap();
        assert_eq!(table.len(), theirs.tensor_infos.len());
        for tensor in table {
            let info = &theirs.tensor_infos[&tensor.name];
            assert_eq!(tensor.shape, info.shape.dims());
            let start = theirs.tensor_data_offset + info.offset;
            assert_eq!(tensor.range.start as u64, start, "{name}: {}", tensor.name);
        }
    }
}

#[test]
fn flipped_bits_never_panic() {
    for name in TINY {
        flip(name, &gguf(name, Dtype::Q8_0));
    }
}

fn flip(name: &str, whole: &[u8]) {
    let header = header(whole) as u64;
    let mut state = 42u64;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    let mut bytes = whole.to_vec();
    for round in 0..600 {
        let flips = 1 + random(3);
        // The counts, the first keys and the table of tensors matter most: look there every other time.
        let places: Vec<_> = (0..flips)
            .map(|_| match round % 3 {
                0 => random(700) as usize,
                1 => (header - 1 - random(3500)) as usize,
                _ => random(header) as usize,
            })
            .collect();
        for &at in &places {
            bytes[at] = match random(4) {
                0 => 0,
                1 => 0xff,
                _ => bytes[at] ^ (1 << random(8)),
            };
        }
        survives(&bytes, &format!("{name}, round {round}, bytes {places:?}"));
        for at in places {
            bytes[at] = whole[at];
        }
    }
}

/// A GGUF file made by hand: key-value pairs as raw bytes, then tensors (name, dimensions, format, offset).
struct Raw {
    version: u32,
    tensor_count: u64,
    pair_count: u64,
    body: Vec<u8>,
}

impl Raw {
    fn new(version: u32) -> Self {
        let (tensor_count, pair_count, body) = (0, 0, Vec::new());
        Self {
            version,
            tensor_count,
            pair_count,
            body,
        }
    }

    fn length(&mut self, n: usize) {
        match self.version {
            1 => self.body.extend((n as u32).to_le_bytes()),
            _ => self.body.extend((n as u64).to_le_bytes()),
        }
    }

    fn pair(mut self, key: &str, kind: u32, value: &[u8]) -> Self {
        self.pair_count += 1;
        self.length(key.len());
        self.body.extend(key.as_bytes());
        self.body.extend(kind.to_le_bytes());
        self.body.extend(value);
        self
    }

    fn tensor(mut self, name: &str, dims: &[u64], format: u32, offset: u64) -> Self {
        self.tensor_count += 1;
        self.length(name.len());
        self.body.extend(name.as_bytes());
        self.body.extend((dims.len() as u32).to_le_bytes());
        for dim in dims {
            self.body.extend(dim.to_le_bytes());
        }
        self.body.extend(format.to_le_bytes());
        self.body.extend(offset.to_le_bytes());
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let mut out = b"GGUF".to_vec();
        out.extend(self.version.to_le_bytes());
        for count in [self.tensor_count, self.pair_count] {
            match self.version {
                1 => out.extend((count as u32).to_le_bytes()),
                _ => out.extend(count.to_le_bytes()),
            }
        }
        out.extend(&self.body);
        out.extend([0; 256]);
        out
    }
}

#[test]
fn an_alignment_of_zero_is_an_error() {
    for version in 1..=3 {
        for (kind, value) in [
            (0, &[0][..]),
            (1, &[0]),
            (2, &[0, 0]),
            (3, &[0, 0]),
            (4, &[0; 4]),
            (5, &[0; 4]),
        ] {
            let bytes = Raw::new(version)
                // A decoy that mentions the key before the real one.
                .pair(
                    "general.alignment.note",
                    8,
                    &text(version, "general.alignment"),
                )
                .pair("general.alignment", kind, value)
                .pair("general.name", 4, &[7, 0, 0, 0])
                .bytes();
            survives(&bytes, &format!("version {version}, type {kind}"));
            assert!(open(&bytes).is_err(), "version {version}, type {kind}");
        }
        let good = Raw::new(version)
            .pair("general.alignment", 4, &[64, 0, 0, 0])
            .bytes();
        assert!(open(&good).is_ok(), "version {version}");
    }
}

/// A string as GGUF stores it.
fn text(version: u32, text: &str) -> Vec<u8> {
    let mut raw = Raw::new(version);
    raw.length(text.len());
    raw.body.extend(text.as_bytes());
    raw.body
}

#[test]
fn absurd_counts_and_shapes_are_errors() {
    let tensor = |dims: &[u64], format, offset| {
        Raw::new(3)
            .tensor("token_embd.weight", dims, format, offset)
            .bytes()
    };
    // f32 is 0, q8_0 is 8 in GGUF.
    let good = tensor(&[8, 4], 0, 0);
    assert_eq!(
        open(&good)
            .unwrap()
            .get("token_embd.weight", &[4, 8])
            .unwrap()
            .to_f32(),
        [0.0; 32]
    );
    let huge = u64::MAX;
    for (what, bytes) in [
        ("one dimension too large", tensor(&[huge], 0, 0)),
        (
            "a product that overflows",
            tensor(&[1 << 32, 1 << 32, 2], 0, 0),
        ),
        ("a byte count that overflows", tensor(&[1 << 62], 0, 0)),
        (
            "a product that overflows to nothing",
            tensor(&[1 << 32, 1 << 32], 0, 0),
        ),
        ("five dimensions", tensor(&[1, 1, 1, 1, 1], 0, 0)),
        ("an offset past the end", tensor(&[8], 0, 1 << 40)),
        ("an offset that overflows", tensor(&[8], 0, huge - 3)),
        ("half a block", tensor(&[16], 8, 0)),
        ("rows of half blocks", tensor(&[16, 2], 8, 0)),
        ("an unknown format", tensor(&[8], 999, 0)),
        ("a format that is not read here", tensor(&[256], 14, 0)),
    ] {
        survives(&bytes, what);
        let code = open(&bytes).err().map(|e| e.code());
        assert_eq!(code, Some("model-format"), "{what}");
    }
    for count in [huge, huge / 2, 1 << 40, 1 << 30, 1000] {
        for field in [8, 16] {
            let mut bytes = good.clone();
            bytes[field..field + 8].copy_from_slice(&count.to_le_bytes());
            survives(&bytes, &format!("a count of {count}"));
            assert!(open(&bytes).is_err(), "a count of {count}");
        }
    }
    // Strings and arrays longer than the file; arrays within arrays within arrays.
    let long = Raw::new(3).pair("k", 8, &huge.to_le_bytes()).bytes();
    let mut array = 8u32.to_le_bytes().to_vec();
    array.extend(huge.to_le_bytes());
    let array = Raw::new(3).pair("k", 9, &array).bytes();
    let nested: Vec<u8> = std::iter::repeat_n(
        [9u32.to_le_bytes().to_vec(), 1u64.to_le_bytes().to_vec()].concat(),
        10_000,
    )
    .flatten()
    .collect();
    let nested = Raw::new(3).pair("k", 9, &nested).bytes();
    for (what, bytes) in [
        ("long string", long),
        ("long array", array),
        ("nested arrays", nested),
    ] {
        survives(&bytes, what);
        assert!(open(&bytes).is_err(), "{what}");
    }
}

#[test]
fn a_damaged_normalisation_table_is_an_error() {
    let (_, tokenizer, _) = parts("xlm-r-tiny");
    let whole: serde_json::Value = serde_json::from_str(&tokenizer).unwrap();
    // Not base64; empty; a trie longer than the table; a trie of gigabytes; text that is not UTF-8.
    for charsmap in ["?", "", "AQAAAA==", "/////w==", "BAAAAAAAAAD//w=="] {
        let table = serde_json::json!({ "type": "Precompiled", "precompiled_charsmap": charsmap });
        for normalizer in [
            table.clone(),
            serde_json::json!({ "type": "Sequence", "normalizers": [table] }),
        ] {
            let mut json = whole.clone();
            json["normalizer"] = normalizer;
            let bytes = serde_json::to_vec(&json).unwrap();
            let error = caselens::text::Tokenizer::from_json(&bytes)
                .err()
                .map(|e| e.code());
            assert_eq!(error, Some("tokenizer"), "{charsmap:?}");
        }
    }
}

#[test]
fn a_template_with_an_undefined_token_is_an_error() {
    let (_, tokenizer, _) = parts("bert-tiny");
    let mut json: serde_json::Value = serde_json::from_str(&tokenizer).unwrap();
    json["post_processor"]["special_tokens"] = serde_json::json!({});
    let bytes = serde_json::to_vec(&json).unwrap();
    let error = caselens::text::Tokenizer::from_json(&bytes).err().unwrap();
    assert!(error.to_string().contains("[CLS]"), "{error}");
}

#[test]
fn another_architecture_is_named() {
    let bytes = Raw::new(3)
        .pair("general.architecture", 8, &text(3, "llama"))
        .bytes();
    let error = BertCheckpoint::from_gguf("m.gguf", Bytes::Owned(bytes))
        .err()
        .unwrap();
    assert_eq!(error.code(), "unsupported-architecture");
    assert!(error.to_string().contains("llama"), "{error}");
}

/// A file of a terabyte, all zeros behind its header: they take no room on disk, and whoever reads them is not done today.
#[cfg(target_os = "linux")]
#[test]
fn what_a_file_is_its_header_says_alone() {
    let folder = Folder::new("terabyte");
    let path = folder.file("model.gguf");
    let bytes = Raw::new(3)
        .pair("general.architecture", 8, &text(3, "gemma"))
        .bytes();
    std::fs::write(&path, bytes).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(1 << 40).unwrap();
    let error = Checkpoint::open(path.as_ref()).err().unwrap();
    assert_eq!(error.code(), "unsupported-architecture", "{error}");
}

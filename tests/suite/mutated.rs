//! Files with mistakes in them: thousands of broken fixtures, the same ones every time, are answered or refused with a
//! typed error; none of them ends in a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
#[cfg(feature = "cli")]
use std::sync::Arc;

#[cfg(feature = "cli")]
use arrow_ipc::writer::{FileWriter, StreamWriter};
use base64::Engine;
use caselens::{
    bundle::{File, Gallery, Item, Manifest, SCHEMA, gallery},
    checkpoint::{EncoderId, weights::Dtype},
    embedding::Case,
    text::Tokenizer,
};
#[cfg(feature = "cli")]
use parquet::arrow::ArrowWriter;
use serde_json::{Value, json};

use crate::common::{
    self, TINY,
    untrusted::{self, Outcome},
};

/// Numbers that look random, and are the same every time.
pub struct Random(pub u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n.max(1)
    }

    fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }
}

/// Bytes with a mistake: cut short, some of them changed, a length that lies, a part twice or left out.
pub fn broken(random: &mut Random, bytes: &[u8]) -> Vec<u8> {
    let mut broken = bytes.to_vec();
    // What is parsed stands first: look there every other time.
    let near = [64, 1000, bytes.len()];
    let place = |random: &mut Random| {
        let within = random.of(&near).min(bytes.len());
        random.below(within)
    };
    match random.below(5) {
        0 => broken.truncate(place(random)),
        1 => {
            for _ in 0..1 + random.below(3) {
                let at = place(random);
                broken[at] ^= 1 << random.below(8);
            }
        }
        2 => {
            let lengths = [
                0,
                1,
                7,
                255,
                1 << 31,
                u32::MAX.into(),
                1 << 40,
                1 << 63,
                u64::MAX,
            ];
            let length = random.of(&lengths).to_le_bytes();
            let (at, width) = (place(random), random.of(&[1, 4, 8]));
            let end = broken.len().min(at + width);
            broken[at..end].copy_from_slice(&length[..end - at]);
        }
        way => {
            let at = place(random);
            let part = at..bytes.len().min(at + 1 + random.below(40));
            match way {
                3 => drop(broken.drain(part)),
                _ => drop(broken.splice(at..at, bytes[part].iter().copied())),
            }
        }
    }
    broken
}

/// JSON with a mistake: a value of it is another, or that of another place, or left out.
fn broken_json(random: &mut Random, json: &Value) -> Value {
    fn places(value: &Value, at: String, all: &mut Vec<String>) {
        match value {
            // A vocabulary's thousands of tokens would hide all the rest.
            Value::Object(fields) => fields.iter().take(24).for_each(|(key, value)| {
                let key = key.replace('~', "~0").replace('/', "~1");
                places(value, format!("{at}/{key}"), all);
            }),
            Value::Array(values) => values.iter().take(6).enumerate().for_each(|(i, value)| {
                places(value, format!("{at}/{i}"), all);
            }),
            _ => {}
        }
        all.push(at);
    }
    let mut all = Vec::new();
    places(json, String::new(), &mut all);
    let mut broken = json.clone();
    for _ in 0..1 + random.below(2) {
        let (at, other) = (random.of(&all), random.of(&all));
        let junk = [
            json!(null),
            json!(true),
            json!(""),
            json!("é"),
            json!("A"),
            json!("B"),
            json!("xxxxxxxxxxxxxxxxxxxx"),
            json!(" "),
            json!("^"),
            json!(r"\b|x+"),
            json!(0),
            json!(1),
            json!(-1),
            json!(3.5),
            json!(u32::MAX),
            json!(u64::MAX),
            json!([]),
            json!({}),
            json!([[]]),
        ];
        let value = match random.below(3) {
            0 => json.pointer(&other).unwrap().clone(),
            _ => random.of(&junk),
        };
        match (at.rsplit_once('/'), random.below(4)) {
            (Some((parent, key)), 0) => match broken.pointer_mut(parent) {
                Some(Value::Object(fields)) => drop(fields.remove(key)),
                Some(Value::Array(values)) => drop(values.pop()),
                _ => {}
            },
            _ => {
                if let Some(place) = broken.pointer_mut(&at) {
                    *place = value;
                }
            }
        }
    }
    broken
}

/// Reads so many broken versions of a file; as they are, it reads the seeds.
fn all(seeds: &[(&str, Vec<u8>)], rounds: usize, read: impl Fn(&[u8]) -> Outcome) {
    for (name, seed) in seeds {
        assert_eq!(read(seed), Ok(()), "{name}");
        let mut random = Random(7);
        let (mut answered, mut refused) = (0, 0);
        for round in 0..rounds {
            let bytes = match serde_json::from_slice(seed) {
                Ok(json) if round % 2 == 0 => {
                    serde_json::to_vec(&broken_json(&mut random, &json)).unwrap()
                }
                _ => broken(&mut random, seed),
            };
            match catch_unwind(AssertUnwindSafe(|| read(&bytes))) {
                Ok(Ok(())) => answered += 1,
                Ok(Err(_)) => refused += 1,
                Err(_) => {
                    let file = std::env::temp_dir().join(format!("{name}-{round}"));
                    std::fs::write(&file, &bytes).unwrap();
                    panic!("{name}, round {round}: it is left in {}", file.display());
                }
            }
        }
        assert!(
            refused > rounds / 20,
            "{name}: {answered} answered, {refused} refused"
        );
    }
}

#[test]
fn gguf_files() {
    let seed = |name: &'static str| (name, common::gguf(&common::fixture(name), Dtype::Q4_0));
    all(&TINY.map(seed), 300, untrusted::gguf);
}

#[test]
fn weights_and_their_configuration() {
    all(
        &[("weights", untrusted::WEIGHTS.to_vec())],
        400,
        untrusted::safetensors,
    );
    all(
        &[("torch", untrusted::TORCH.to_vec())],
        200,
        untrusted::torch,
    );
    all(
        &[("config", untrusted::CONFIG.into())],
        600,
        untrusted::config,
    );
}

#[test]
fn tokenizers() {
    let seed = |name: &'static str| (name, common::parts(name).1.into_bytes());
    // The ids of the others go past the fixture encoder's table, which is refused when they are looked up.
    all(&TINY.map(seed), 500, untrusted::tokenizer);
    all(&TINY.map(crowded), 500, untrusted::tokenizer);
}

/// A fixture's tokenizer with a part of every kind that `tokenizers` knows.
fn crowded(name: &'static str) -> (&'static str, Vec<u8>) {
    let mut json: Value = serde_json::from_str(&common::parts(name).1).unwrap();
    let mut with = |place: &str, kind: &str, key: &str, parts: Value| {
        let own = json[place].take();
        let Value::Array(mut parts) = parts else {
            return;
        };
        parts.extend(Some(own).filter(|own| !own.is_null()));
        json[place] = json!({"type": kind, key: parts});
    };
    let normalizers = json!([
        {"type": "NFD"}, {"type": "NFKC"}, {"type": "Nmt"}, {"type": "StripAccents"}, {"type": "Lowercase"},
        {"type": "Strip", "strip_left": true, "strip_right": true},
        {"type": "Prepend", "prepend": " "},
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
        {"type": "Replace", "pattern": {"String": "'"}, "content": ""},
        {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": false},
    ]);
    with("normalizer", "Sequence", "normalizers", normalizers);
    let pre_tokenizers = json!([
        {"type": "WhitespaceSplit"}, {"type": "BertPreTokenizer"}, {"type": "UnicodeScripts"},
        {"type": "Digits", "individual_digits": true},
        {"type": "Punctuation", "behavior": "Isolated"},
        {"type": "CharDelimiterSplit", "delimiter": "_"},
        {"type": "Split", "pattern": {"Regex": "x+"}, "behavior": "MergedWithPrevious", "invert": false},
        {"type": "Split", "pattern": {"String": "dog"}, "behavior": "Contiguous", "invert": true},
        {"type": "FixedLength", "length": 40},
    ]);
    with("pre_tokenizer", "Sequence", "pretokenizers", pre_tokenizers);
    let processors = json!([{"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true}]);
    with("post_processor", "Sequence", "processors", processors);
    let tokens = json["added_tokens"].as_array_mut().unwrap();
    for (i, token) in tokens.iter_mut().enumerate() {
        let flags = ["single_word", "lstrip", "rstrip", "normalized"];
        token[flags[i % flags.len()]] = json!(true);
    }
    (name, serde_json::to_vec(&json).unwrap())
}

#[test]
fn heads() {
    let encoder = EncoderId {
        id: "e".into(),
        sha256: "5a".repeat(32),
    };
    let head = |dims: &[usize]| common::head(&encoder, dims, true).to_bytes().unwrap();
    let seeds = [
        ("linear", head(&[12, 4])),
        ("deep", head(&[12, 8, 4])),
        ("none", head(&[12])),
    ];
    all(&seeds, 600, untrusted::head);
}

#[test]
fn exported_folders() {
    let (encoder, head) = untrusted::small_head();
    let item = |sentence: &str| Item {
        sentence1: sentence.into(),
        sentence2: "two birds".into(),
        condition: "the animal".into(),
        label: Some(4.5),
    };
    let vectors = vec![vec![0.5; 12]; 4];
    let seed = |name, dtype, vectors: &[Vec<f32>]| {
        let embeddings = gallery::to_bytes(vectors, dtype).unwrap();
        let manifest = Manifest {
            schema: SCHEMA,
            encoder: encoder.clone(),
            case: Case::default(),
            dims: 4,
            licences: vec!["MIT".into()],
            head: File::of("head.safetensors", &head),
            model: None,
            gallery: Some(Gallery {
                file: File::of("gallery.safetensors", &embeddings),
                dtype,
                items: vec![item("a dog"), item("a cat")],
            }),
            training: Value::Null,
        };
        let manifest = serde_json::to_vec(&manifest).unwrap();
        (name, [&manifest[..], &[0], &embeddings].concat())
    };
    let seeds = [
        ("f16", gallery::Numbers::F16),
        ("int8", gallery::Numbers::Int8),
    ];
    let seeds = seeds.map(|(name, dtype)| seed(name, dtype, &vectors));
    all(&seeds, 600, untrusted::bundle);
    // Numbers of which the head makes none.
    let vectors = vec![vec![3e38; 12]; 4];
    let (_, bytes) = seed("large", gallery::Numbers::Int8, &vectors);
    assert_eq!(untrusted::bundle(&bytes), Err("bundle-format"));
}

#[cfg(feature = "cli")]
#[test]
fn tables() {
    let csv = common::toy_csv(6);
    let rows: Vec<Vec<&str>> = (csv.lines())
        .map(|line| line.split(',').collect())
        .collect();
    let objects: Vec<Value> = (rows[1..].iter())
        .map(|row| {
            rows[0]
                .iter()
                .zip(row)
                .map(|(name, cell)| (name.to_string(), json!(cell)))
        })
        .map(|fields| Value::Object(fields.collect()))
        .collect();
    let lines: Vec<String> = objects.iter().map(Value::to_string).collect();
    let column = |i: usize| {
        let cells: arrow_array::StringArray = rows[1..].iter().map(|row| Some(row[i])).collect();
        (rows[0][i], Arc::new(cells) as arrow_array::ArrayRef)
    };
    let batch = arrow_array::RecordBatch::try_from_iter((0..4).map(column)).unwrap();
    let of = |extension: &str| match extension {
        "csv" => csv.clone().into_bytes(),
        "tsv" => csv.replace(',', "\t").into_bytes(),
        "jsonl" => lines.join("\n").into_bytes(),
        "json" => serde_json::to_vec(&objects).unwrap(),
        "arrows" => {
            let mut out = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
            out.write(&batch).unwrap();
            out.into_inner().unwrap()
        }
        "feather" => {
            let mut out = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
            out.write(&batch).unwrap();
            out.into_inner().unwrap()
        }
        "parquet" => {
            let mut out = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
            out.write(&batch).unwrap();
            out.into_inner().unwrap()
        }
        other => panic!("{other}"),
    };
    for (kind, extension) in (0..).zip(untrusted::EXTENSIONS) {
        // The first byte is no part of the file, and no mistake is made in it.
        let read = |bytes: &[u8]| untrusted::table(&[&[kind], bytes].concat());
        all(&[(extension, of(extension))], 600, read);
    }
}

/// Tokenizers that `tokenizers` panicked on, or took hours for.
#[test]
fn tokenizers_that_broke_it_once() {
    let trie = |units: &[u32], texts: &[u8]| {
        let size = (4 * units.len() as u32).to_le_bytes();
        let units: Vec<u8> = units.iter().flat_map(|u| u.to_le_bytes()).collect();
        let table = [&size[..], &units, texts].concat();
        let table = base64::engine::general_purpose::STANDARD.encode(table);
        json!({"type": "Precompiled", "precompiled_charsmap": table})
    };
    let (a, padded) = (u32::from(b'a'), |first: &[u32]| {
        let mut units = first.to_vec();
        units.resize(512, 0);
        units
    });
    // The root leads to the second block, where `a` has a leaf: the text that begins at `text`.
    let leaf = |text: u32| {
        let mut units = padded(&[256 << 10]);
        units[256 + a as usize] = 1 << 8 | a | (a << 10);
        units[256] = 1 << 31 | text;
        trie(&units, "b\0é\0".as_bytes())
    };
    let replace = |pattern| json!({"type": "Replace", "pattern": pattern, "content": "x"});
    let a_text = json!([{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]);
    let template = json!({"type": "TemplateProcessing", "single": a_text, "pair": a_text, "special_tokens": {}});
    let added = |content, lstrip, rstrip| {
        json!({
            "id": 0, "content": content, "single_word": false, "lstrip": lstrip, "rstrip": rstrip, "normalized": false,
            "special": false,
        })
    };
    let one = json!([{"Sequence": {"id": "B", "type_id": 0}}]);
    let damaged = [
        (
            "roberta-tiny",
            "/model/continuing_subword_prefix",
            json!("é"),
            "shorter than the prefix",
        ),
        (
            "roberta-tiny",
            "/model/continuing_subword_prefix",
            json!("xxxxxxxxx"),
            "shorter than the prefix",
        ),
        (
            "roberta-tiny",
            "/normalizer",
            replace(json!({"String": ""})),
            "replaces what is empty",
        ),
        (
            "roberta-tiny",
            "/normalizer",
            replace(json!({"Regex": ""})),
            "replaces what is empty",
        ),
        (
            "roberta-tiny",
            "/normalizer",
            replace(json!({"Regex": " *"})),
            "replaces what is empty",
        ),
        (
            "roberta-tiny",
            "/normalizer",
            replace(json!({"Regex": "(?=x)"})),
            "replaces what is empty",
        ),
        (
            "roberta-tiny",
            "/normalizer",
            replace(json!({"Regex": "a(?:b|c*)|(?<=é)(?:x{0,3})+|^"})),
            "replaces what is empty",
        ),
        (
            "roberta-tiny",
            "/normalizer",
            replace(json!({"Regex": r"x+\K"})),
            "replaces what is empty",
        ),
        (
            "roberta-tiny",
            "/model/merges/0",
            json!(["Ġphotographs", "Ġphotographs"]),
            "not in its vocabulary",
        ),
        (
            "roberta-tiny",
            "/model/vocab/a",
            json!(u32::MAX),
            "at most 2147483648",
        ),
        (
            "roberta-tiny",
            "/pre_tokenizer",
            json!({"type": "FixedLength", "length": 0}),
            "pieces of no length",
        ),
        (
            "roberta-tiny",
            "/post_processor",
            json!({"type": "Sequence", "processors": [template, template]}),
            "more than one template",
        ),
        (
            "roberta-tiny",
            "/added_tokens",
            json!([added(" ", true, false), added("a", false, true)]),
            "white space",
        ),
        (
            "bert-tiny",
            "/added_tokens/0",
            json!({
                "id": 0, "content": "\u{ad}", "single_word": false, "lstrip": false, "rstrip": false, "normalized": true,
                "special": false,
            }),
            "is nothing once it is normalised",
        ),
        (
            "bert-tiny",
            "/post_processor/single",
            one.clone(),
            "second one",
        ),
        ("xlm-r-tiny", "/post_processor/single", one, "second one"),
        (
            "bert-tiny",
            "/model/max_input_chars_per_word",
            json!(1u64 << 63),
            "at most 1000",
        ),
        (
            "bert-tiny",
            "/model/max_input_chars_per_word",
            json!(1_000_000_000),
            "at most 1000",
        ),
        (
            "xlm-r-tiny",
            "/normalizer",
            trie(&[u32::MAX; 256], b"x"),
            "damaged",
        ),
        (
            "xlm-r-tiny",
            "/normalizer",
            trie(&[0x3391_8341; 16], b"abc\0"),
            "damaged",
        ),
        ("xlm-r-tiny", "/normalizer", trie(&[0], b"abc\0"), "damaged"),
        ("xlm-r-tiny", "/normalizer", leaf(3), "damaged"),
        ("xlm-r-tiny", "/normalizer", leaf(900), "damaged"),
    ];
    for (name, place, value, part) in damaged {
        let mut json: Value = serde_json::from_str(&common::parts(name).1).unwrap();
        *json.pointer_mut(place).unwrap() = value;
        let error = Tokenizer::from_json(json.to_string().as_bytes())
            .err()
            .unwrap();
        assert_eq!(error.code(), "tokenizer");
        assert!(error.to_string().contains(part), "{place}: {error}");
    }
    // Expressions that always match something are read.
    for regex in [" {2,}", r"(?<=\d)\.(?=\d)", "(?i)x|[^a-z]+?", r"\s+\b"] {
        let mut json: Value = serde_json::from_str(&common::parts("roberta-tiny").1).unwrap();
        json["normalizer"] = replace(json!({"Regex": regex}));
        let tokenizer = Tokenizer::from_json(json.to_string().as_bytes());
        tokenizer.unwrap().ids("x  3.5 é").unwrap();
    }
    // A whole table is read, and used.
    let mut json: Value = serde_json::from_str(&common::parts("xlm-r-tiny").1).unwrap();
    let ids = |json: &Value, text: &str| {
        let tokenizer = Tokenizer::from_json(json.to_string().as_bytes()).unwrap();
        tokenizer.ids(text).unwrap()
    };
    json["normalizer"] = Value::Null;
    let (b, accented) = (ids(&json, "b"), ids(&json, "é"));
    for (text, expected) in [(0, b), (2, accented)] {
        json["normalizer"] = leaf(text);
        assert_eq!(ids(&json, "a"), expected);
    }
}

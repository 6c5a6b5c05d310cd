//! Encoders as they are published: files of torch.save, and tokenizers of Python's transformers.

use std::fs;

use caselens::{
    backend::{Backend, candle::Candle},
    checkpoint::{
        BertCheckpoint, Checkpoint, tokenizer_json,
        weights::{Bytes, Dtype},
    },
    embedding::Encoder,
    text::{Batch, Order, Tokenizer},
};
use pollster::block_on;

use crate::common::{self, Folder, Tensors, fixture, relative_error};

/// Texts that the tiny fixtures' tokenizer.json have the same tokens for: their masks take no space.
const COMMON: usize = 5;

/// A folder with some of the files of a published fixture, and of another fixture.
fn folder(test: &str, kind: &str, files: &[&str], of_tiny: &[&str]) -> Folder {
    let folder = Folder::new(&format!("published-{test}-{kind}"));
    let tiny = format!("{kind}-tiny");
    let published = format!("published/{kind}");
    let all = files.iter().map(|file| (published.as_str(), file));
    for (from, file) in all.chain(of_tiny.iter().map(|file| (tiny.as_str(), file))) {
        fs::copy(fixture(from).join(file), folder.file(file)).unwrap();
    }
    folder
}

/// What Python's tokenizer is read from.
fn slow(kind: &str) -> &'static [&'static str] {
    match kind {
        "bert" => &["vocab.txt"],
        "mpnet" => &["vocab.txt", "tokenizer_config.json"],
        _ => &["vocab.json", "merges.txt", "tokenizer_config.json"],
    }
}

fn open(folder: &Folder) -> BertCheckpoint {
    Checkpoint::open(&folder.0)
        .and_then(Checkpoint::bert)
        .unwrap()
}

/// Hidden states of the fixture's texts, end to end.
fn states(checkpoint: &BertCheckpoint, kind: &str) -> Vec<f32> {
    let encoder = Encoder::load(Candle::cpu(), checkpoint).unwrap();
    let mut batch = Batch::default();
    for text in &texts(kind)[..COMMON] {
        let ids = encoder.tokenizer.ids(text).unwrap();
        batch.push(&ids, &vec![0; ids.len()]);
    }
    let x = encoder.hidden(&batch).unwrap();
    block_on(encoder.backend.read(&[&x])).unwrap().remove(0)
}

fn texts(kind: &str) -> Vec<String> {
    let ids = common::json(&format!("published/{kind}/ids.json"));
    serde_json::from_value(ids["texts"].clone()).unwrap()
}

#[test]
fn what_torch_wrote_is_what_safetensors_hold() {
    for kind in ["bert", "roberta"] {
        let with = |weights| [slow(kind), &["config.json", weights]].concat();
        let torch = folder("torch", kind, &with("pytorch_model.bin"), &[]);
        let files = ["config.json", "model.safetensors"];
        let usual = folder("usual", kind, &files, &["tokenizer.json"]);
        let found = states(&open(&torch), kind);
        assert!(found == states(&open(&usual), kind), "{kind}");
        let outputs = Tensors::open(&format!("published/{kind}/outputs.safetensors"));
        let hidden = (0..COMMON).flat_map(|n| outputs.floats(&format!("hidden.{n}")));
        let error = relative_error(&found, &hidden.collect::<Vec<_>>());
        assert!(error <= 1e-4, "{kind}: {error:e}");

        // In shards, of which there is one.
        fs::rename(torch.file("pytorch_model.bin"), torch.file("a.bin")).unwrap();
        let index = r#"{"weight_map": {"x": "a.bin"}}"#;
        torch.write("pytorch_model.bin.index.json", index);
        assert!(found == states(&open(&torch), kind), "{kind} in shards");
        // Where there is both, safetensors count.
        torch.write("pytorch_model.bin", "not read");
        fs::copy(
            usual.file("model.safetensors"),
            torch.file("model.safetensors"),
        )
        .unwrap();
        assert!(found == states(&open(&torch), kind), "{kind} with both");
    }
}

#[test]
fn ids_are_those_of_tokenizers_in_python() {
    for kind in ["bert", "roberta", "mpnet"] {
        let folder = folder("ids", kind, slow(kind), &["config.json"]);
        let json = tokenizer_json(&folder.0, &folder.read("config.json")).unwrap();
        let tokenizer = Tokenizer::from_json(&json).unwrap();
        let fixture = common::json(&format!("published/{kind}/ids.json"));
        let ids = |value: &serde_json::Value| -> Vec<u32> {
            serde_json::from_value(value.clone()).unwrap()
        };
        let expected = fixture["ids"].as_array().unwrap();
        for (text, expected) in texts(kind).iter().zip(expected) {
            assert_eq!(
                tokenizer.ids(text).unwrap(),
                ids(expected),
                "{kind}: {text}"
            );
        }
        let template = caselens::text::Template {
            tokenizer: &tokenizer,
            max_tokens: 500,
            segments: true,
            end: None,
        };
        for pair in fixture["pairs"].as_array().unwrap() {
            let text = |i: usize| {
                template
                    .sentence("text", pair[i].as_str().unwrap())
                    .unwrap()
            };
            let order = Order::SentenceCondition;
            let joined = template.pair(&text(0), &text(1), order).unwrap();
            assert_eq!(joined.ids, ids(&pair[2]), "{kind}: {pair}");
        }
    }
}

#[test]
fn a_tokenizer_of_another_kind_is_refused() {
    let folder = folder("kind", "bert", &["vocab.txt"], &["config.json"]);
    let config = folder.read("config.json");
    let error = |settings: &str, config: &str| {
        folder.write("tokenizer_config.json", settings);
        tokenizer_json(&folder.0, config).unwrap_err()
    };
    for (settings, config, part) in [
        (
            r#"{"tokenizer_class": "BertweetTokenizer"}"#,
            config.as_str(),
            "BertweetTokenizer is none",
        ),
        (
            r#"{"do_basic_tokenize": false}"#,
            &config,
            "do_basic_tokenize",
        ),
        (
            r#"{"cls_token": "[FIRST]"}"#,
            &config,
            "lacks the cls_token \"[FIRST]\"",
        ),
        ("{", &config, "tokenizer_config.json cannot be read"),
        (
            "{}",
            r#"{"model_type": "xlm-roberta"}"#,
            "the tokenizer of xlm-roberta is none",
        ),
    ] {
        let error = error(settings, config);
        assert_eq!(error.code(), "tokenizer", "{error}");
        assert!(error.to_string().contains(part), "{error}");
    }
    // RoBERTa's is read from other files than those that are here.
    let error = error("{}", r#"{"model_type": "roberta"}"#);
    assert_eq!(error.code(), "missing-file");
    assert!(error.to_string().contains("vocab.json"), "{error}");
}

/// What a file of torch with these bytes is refused with.
fn refused(bytes: Vec<u8>) -> String {
    let text = |file: &str| fs::read_to_string(fixture("published/bert").join(file)).unwrap();
    let tokenizer = fs::read(fixture("bert-tiny/tokenizer.json")).unwrap();
    let weights = Bytes::Owned(bytes);
    let opened = BertCheckpoint::from_parts("m", &text("config.json"), &tokenizer, weights);
    let error = opened.err().unwrap();
    assert_eq!(error.code(), "model-format", "{error}");
    error.to_string()
}

/// `file` with a part, which is there, in place of another of the same length.
fn with(file: &[u8], part: &[u8], other: &[u8]) -> Vec<u8> {
    let at = file.windows(part.len()).position(|window| window == part);
    let mut file = file.to_vec();
    file[at.unwrap()..][..other.len()].copy_from_slice(other);
    file
}

#[test]
fn hostile_files_of_torch_are_refused_by_what_they_want() {
    let file = fs::read(fixture("published/bert/pytorch_model.bin")).unwrap();
    let pickle = &b"\x80\x02}q\x00("[..];
    let storage = b"X\x07\x00\x00\x00storage";
    for (bytes, part) in [
        // os.system("id")
        (
            with(&file, pickle, b"cos\nsystem\nX\x02\0\0\0id\x85R."),
            "wants `os.system`",
        ),
        (
            with(&file, b"ctorch\nFloatStorage", b"cbuiltins\neval\n"),
            "wants `builtins.eval`",
        ),
        // STACK_GLOBAL of later protocols, INST of the first one
        (with(&file, pickle, b"\x80\x02}\x93"), "operation 0x93"),
        (with(&file, pickle, b"\x80\x02}i"), "operation 0x69"),
        // A text of four gigabytes; more values than there are; what was never put by
        (with(&file, storage, b"X\xff\xff\xff\xff"), "cut short"),
        (with(&file, pickle, b"\x80\x02}q\x00t"), "not there"),
        (with(&file, pickle, b"\x80\x02h\x07"), "not there"),
        (with(&file, pickle, b"\x80\x02K\x05."), "no dictionary"),
        (with(&file, pickle, b"\x80\x02}."), "names no tensor"),
        (with(&file, pickle, b"\x80\x02N}b"), "no dictionary"),
        // A storage of 255 numbers where there are 16, and a tensor of as many
        (
            with(&file, b"cpuq\x06K\x10", b"cpuq\x06K\xff"),
            "storage holds 16 numbers where 255",
        ),
        (
            with(&file, b"QK\x00K\x10\x85", b"QK\x00K\xff\x85"),
            "has the shape [255]",
        ),
        // One that begins behind its storage
        (
            with(&file, b"QK\x00K\x10\x85", b"QK\x01K\x10\x85"),
            "has the shape [16]",
        ),
        (file[..file.len() - 30].to_vec(), "cut short"),
        (file[..200].to_vec(), "cut short"),
    ] {
        let said = refused(bytes);
        assert!(said.contains(part), "{part}: {said}");
    }
    // torch before 1.6 begins with its number in a pickle.
    let old = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.".to_vec();
    let said = refused(old);
    assert!(
        said.contains("torch before 1.6") && said.contains("weights_only=True"),
        "{said}"
    );
}

#[test]
fn what_a_pickle_nests_costs_nothing() {
    // A million tuples in each other, and a memo that doubles what it holds: in Rust's hands both would end the program.
    let file = fs::read(fixture("published/bert/pytorch_model.bin")).unwrap();
    let zip = |pickle: &[u8]| stored(&[("m/data.pkl", pickle)]);
    let nested = [&b"\x80\x02)"[..], &vec![0x85; 1 << 20], b"."].concat();
    assert!(refused(zip(&nested)).contains("more values"));
    let doubled = [
        &b"\x80\x02)q\x00"[..],
        &b"h\x00h\x00\x86q\x00".repeat(1000),
        b".",
    ]
    .concat();
    assert!(refused(zip(&doubled)).contains("no dictionary"));
    let long = [&b"\x80\x02"[..], &vec![b'N'; 5 << 20], b"."].concat();
    assert!(refused(zip(&long)).contains("no list of tensors needs more"));
    // Two lists of tensors.
    let pickle = &b"\x80\x02}."[..];
    let two = stored(&[("a/data.pkl", pickle), ("b/data.pkl", pickle)]);
    assert!(refused(two).contains("several"));
    let twice = stored(&[("a/data.pkl", pickle), ("a/data.pkl", pickle)]);
    assert!(refused(twice).contains("two files named"));
    // Deflated.
    let mut packed = zip(pickle);
    let directory = packed.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    packed[directory + 10] = 8;
    assert!(refused(packed).contains("compressed"));
    assert!(refused(file[..4].to_vec()).contains("cut short"));
}

/// A zip of files as they are, without zip64.
fn stored(files: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in files {
        let size = (bytes.len() as u32).to_le_bytes();
        let length = (name.len() as u16).to_le_bytes();
        let at = (out.len() as u32).to_le_bytes();
        let sizes = [&[0; 12][..], &size, &size, &length, &[0; 2]].concat();
        out.extend(
            [
                b"PK\x03\x04\x14\0".as_slice(),
                &sizes,
                name.as_bytes(),
                bytes,
            ]
            .concat(),
        );
        let rest = [&[0; 10][..], &at].concat();
        let head = b"PK\x01\x02\x14\0\x14\0".as_slice();
        directory.extend([head, &sizes, &rest[..], name.as_bytes()].concat());
    }
    let (count, at) = (files.len() as u16, out.len() as u32);
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    out.extend([(directory.len() as u32).to_le_bytes(), at.to_le_bytes()].concat());
    out.extend([0; 2]);
    out
}

#[test]
fn a_gguf_file_of_what_torch_wrote_opens() {
    for kind in ["bert", "roberta"] {
        let files = [slow(kind), &["config.json", "pytorch_model.bin"]].concat();
        let folder = folder("gguf", kind, &files, &[]);
        let of = |checkpoint: &BertCheckpoint| states(checkpoint, kind);
        let file = common::quantized(&folder.0, Dtype::F32);
        assert!(of(&file) == of(&open(&folder)), "{kind}");
    }
}

//! Encoders as they are published: files of torch.save, and tokenizers of Python's transformers.

use std::fs;

use caselens::{
    Device, Lens,
    backend::{Backend, candle::Candle, simd::Simd},
    checkpoint::{
        ArrivingCheckpoint, BertCheckpoint, Checkpoint,
        gguf::write::{Source, write_gguf},
        plain::{Plain, PoolingMode},
        tokenizer_json,
        weights::{Bytes, Dtype},
    },
    embedding::{Case, Encoder, Joint, Pool, plan::Job},
    lens::Finish,
    similarity::cosine,
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

/// A folder's GGUF file with its pooler, opened.
fn with_pooler(folder: &Folder, plain: Plain) -> BertCheckpoint {
    let checkpoint = open(folder);
    let config = folder.read("config.json");
    let tokenizer = tokenizer_json(&folder.0, &config).unwrap();
    let mut file = std::io::Cursor::new(Vec::new());
    let source = Source {
        weights: &checkpoint.weights,
        config_json: &config,
        tokenizer_json: std::str::from_utf8(&tokenizer).unwrap(),
        encoder: &checkpoint.encoder,
        plain,
        pooler: true,
        rounded: &Default::default(),
    };
    write_gguf(&mut file, &source, Dtype::F32).unwrap();
    BertCheckpoint::from_gguf("with a pooler", Bytes::Owned(file.into_inner())).unwrap()
}

/// A case of one order, condition first, minus the condition's own embedding.
fn pooled_by(pooling: Pool) -> Case {
    Case::Joint(Joint {
        orders: vec![Order::ConditionSentence],
        pooling,
        subtract: true,
        router: None,
    })
}

/// Pooler and last token, of texts by themselves and of pairs minus the condition's own, against transformers.
fn check_pooler<B: Backend>(encoder: &Encoder<B>, kind: &str, what: &str) {
    let outputs = Tensors::open(&format!("published/{kind}/outputs.safetensors"));
    let texts = texts(kind);
    let plain: Vec<&str> = texts[..3].iter().map(String::as_str).collect();
    let found = block_on(encoder.embed(&plain, Pool::Pooler, false)).unwrap();
    for (n, found) in found.vectors.iter().enumerate() {
        let error = relative_error(found, &outputs.floats(&format!("pooler.{n}")));
        assert!(error <= 1e-4, "{kind} {what}, text {n}: {error:e}");
    }
    let ids = common::json(&format!("published/{kind}/ids.json"));
    for (n, pair) in ids["pairs"].as_array().unwrap().iter().enumerate() {
        let text = |i: usize| pair[i].as_str().unwrap();
        let input = encoder.conditional(text(1), text(0), "").unwrap();
        let (pair, alone) = (
            outputs.floats(&format!("pair.{n}")),
            outputs.floats(&format!("alone.{n}")),
        );
        let less: Vec<f32> = pair.iter().zip(&alone).map(|(x, y)| x - y).collect();
        for (pooling, expected) in [Pool::Pooler, Pool::Last].into_iter().zip(less.chunks(16)) {
            let case = pooled_by(pooling);
            let rows = block_on(encoder.run_raw(std::slice::from_ref(&input), &case)).unwrap();
            let error = relative_error(&rows.vectors[0], expected);
            assert!(
                error <= 2e-4,
                "{kind} {what}, pair {n} by {pooling:?}: {error:e}"
            );
        }
    }
}

#[test]
fn the_pooler_and_the_last_token_are_those_of_transformers() {
    let gpu = common::gpu();
    for kind in ["bert", "roberta"] {
        let files = [slow(kind), &["config.json", "pytorch_model.bin"]].concat();
        let torch = folder("pooler", kind, &files, &[]);
        let opened = open(&torch);
        check_pooler(
            &Encoder::load(Candle::cpu(), &opened).unwrap(),
            kind,
            "on candle",
        );
        check_pooler(
            &Encoder::load(Simd::new(), &opened).unwrap(),
            kind,
            "on simd",
        );
        if let Some(gpu) = &gpu {
            check_pooler(
                &Encoder::load(gpu.clone(), &opened).unwrap(),
                kind,
                "on WebGPU",
            );
        }
        let file = with_pooler(&torch, Plain::default());
        check_pooler(
            &Encoder::load(Simd::new(), &file).unwrap(),
            kind,
            "in a GGUF file",
        );
        check_pooler(
            &Encoder::consume(Simd::new(), file).unwrap(),
            kind,
            "used up",
        );
    }
}

#[test]
fn a_file_without_a_pooler_says_so() {
    let torch = folder(
        "bare",
        "bert",
        &["vocab.txt", "config.json", "pytorch_model.bin"],
        &[],
    );
    let bare = common::quantized(&torch.0, Dtype::Q8_0);
    assert!(!bare.has_pooler());
    let encoder = Encoder::load(Simd::new(), &bare).unwrap();
    let error = Lens::new(encoder, None, pooled_by(Pool::Pooler))
        .err()
        .unwrap();
    assert!(error.to_string().contains("has no pooler"), "{error}");
}

/// SimCSE's authors embed a text by its pooler, which its name says and no file.
#[test]
fn simcse_is_known_by_its_name() {
    let below = Folder::new("published-simcse");
    let path = below.0.join("sup-simcse-bert-base-uncased");
    fs::create_dir(&path).unwrap();
    for file in ["vocab.txt", "config.json", "pytorch_model.bin"] {
        fs::copy(fixture("published/bert").join(file), path.join(file)).unwrap();
    }
    let outputs = Tensors::open("published/bert/outputs.safetensors");
    let texts = texts("bert");
    let expected = cosine(&outputs.floats("pooler.0"), &outputs.floats("pooler.1"));
    let lens = Lens::open(&path, None, Device::Cpu).unwrap();
    let compared = block_on(lens.compare(&texts[0], &texts[1], &["the animal"])).unwrap();
    let found = compared[0].unconditional;
    assert!((found - expected).abs() < 1e-4, "{found} {expected}");
    // Its GGUF file keeps that, whatever its name is.
    let folder = Folder(path);
    let plain = open(&folder).plain;
    assert_eq!(plain.pooling, PoolingMode::Pooler);
    assert_eq!(with_pooler(&folder, plain).plain, plain);
}

#[test]
fn a_text_is_read_as_far_and_pooled_as_sentence_transformers_says() {
    let folder = folder(
        "length",
        "bert",
        &[],
        &["config.json", "tokenizer.json", "model.safetensors"],
    );
    folder.write(
        "sentence_bert_config.json",
        r#"{"max_seq_length": 24, "do_lower_case": false}"#,
    );
    fs::create_dir(folder.file("1_Pooling")).unwrap();
    folder.write(
        "1_Pooling/config.json",
        r#"{"pooling_mode_cls_token": true}"#,
    );
    let opened = open(&folder);
    let expected = Plain {
        pooling: PoolingMode::Cls,
        max_tokens: Some(24),
    };
    assert_eq!(opened.plain, expected);
    let encoder = Encoder::load(Candle::cpu(), &opened).unwrap();
    assert_eq!(
        (encoder.shape.max_tokens, encoder.shape.plain),
        (24, Pool::Cls)
    );
    let text = "A small brown dog runs across the frozen river. ".repeat(9);
    let input = encoder.single("a text", &text).unwrap();
    let rows = block_on(encoder.run_raw(&[input], &Case::default())).unwrap();
    assert!(matches!(rows.cuts[..], [(0, 1..)]), "{:?}", rows.cuts);
    let mut ids = encoder.tokenizer.ids(&text).unwrap();
    ids.drain(23..ids.len() - 1);
    let mut batch = Batch::default();
    batch.push(&ids, &[0; 24]);
    let hidden = encoder.hidden(&batch).unwrap();
    let hidden = block_on(encoder.backend.read(&[&hidden]))
        .unwrap()
        .remove(0);
    assert!(relative_error(&rows.vectors[0], &hidden[..64]) < 1e-6);
    // A GGUF file keeps both.
    assert_eq!(common::quantized(&folder.0, Dtype::Q8_0).plain, expected);
    // So are capitals lowered first, where the tokenizer does not do it itself, in files that editors may have marked.
    let tokenizer = fs::read(folder.file("tokenizer.json")).unwrap();
    let mut tokenizer: serde_json::Value = serde_json::from_slice(&tokenizer).unwrap();
    tokenizer["normalizer"]["lowercase"] = false.into();
    folder.write("tokenizer.json", &format!("\u{feff}{tokenizer}"));
    let config = fs::read_to_string(folder.file("config.json")).unwrap();
    folder.write("config.json", &format!("\u{feff}{config}"));
    let cased = |checkpoint: &BertCheckpoint| {
        let ids = |text| checkpoint.tokenizer.ids(text).unwrap();
        ids("A BROWN Dog") != ids("a brown dog")
    };
    assert!(cased(&open(&folder)));
    folder.write(
        "sentence_bert_config.json",
        "\u{feff}{\"max_seq_length\": 24, \"do_lower_case\": true}",
    );
    assert!(!cased(&open(&folder)));
    assert!(!cased(&common::quantized(&folder.0, Dtype::Q8_0)));
    folder.write("sentence_bert_config.json", "{");
    let error = Checkpoint::open(&folder.0).err().unwrap();
    assert!(
        error.to_string().contains("sentence_bert_config.json"),
        "{error}"
    );
    // What ships has said nothing of either, and reads as it did.
    let shipped = common::shipped().encoder.shape;
    assert_eq!((shipped.max_tokens, shipped.plain), (512, Pool::All));
}

#[test]
fn long_texts_are_embedded_as_by_sentence_transformers() {
    let Some(folder) = common::minilm_folder() else {
        return;
    };
    if !folder.join("sentence_bert_config.json").is_file() {
        eprintln!(
            "skipped: {} lacks sentence_bert_config.json",
            folder.display()
        );
        return;
    }
    let long = common::json("minilm/long.json");
    let texts: Vec<String> = serde_json::from_value(long["texts"].clone()).unwrap();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let expected = Tensors::open("minilm/long.safetensors").floats("embeddings");
    let opened = Checkpoint::open(&folder)
        .and_then(Checkpoint::bert)
        .unwrap();
    let encoder = Encoder::load(Candle::cpu(), &opened).unwrap();
    assert_eq!(
        encoder.shape.max_tokens as u64,
        long["max_seq_length"].as_u64().unwrap()
    );
    let found = block_on(encoder.embed(&texts, encoder.shape.plain, true)).unwrap();
    assert_eq!(found.cuts.len(), texts.len());
    let worst = common::worst_cosine(&found.vectors.concat(), &expected, 384);
    assert!(worst >= 0.999, "{worst}");
}

/// Its converter keeps neither config.json nor tokenizer.json: what is made of its keys is what transformers reads.
#[test]
fn files_of_llama_cpps_converter_are_read() {
    let known = common::json("converted/converted.json");
    let texts: Vec<String> = serde_json::from_value(known["texts"].clone()).unwrap();
    let numbers = |value: &serde_json::Value| -> Vec<f32> {
        serde_json::from_value(value["embedding"].clone()).unwrap()
    };
    for name in ["bert", "roberta", "xlm-r"] {
        let known = &known["encoders"][name];
        let bytes = fs::read(fixture("converted").join(format!("{name}.gguf"))).unwrap();
        let mut arriving = ArrivingCheckpoint::new(name, None);
        bytes
            .chunks(10_000)
            .for_each(|piece| arriving.push(piece).unwrap());
        let arrived = arriving.finish().unwrap();
        let checkpoint = BertCheckpoint::from_gguf(name, Bytes::Owned(bytes)).unwrap();
        assert_eq!(checkpoint.encoder.id, format!("Tiny-{name}"));
        assert_eq!(checkpoint.encoder.sha256.len(), 64);
        assert_eq!(checkpoint.encoder, arrived.encoder);

        let encoder = Encoder::load(Candle::cpu(), &checkpoint).unwrap();
        let mut inputs = Vec::new();
        let mut expected = Vec::new();
        for (text, known) in texts.iter().zip(known["single"].as_array().unwrap()) {
            let ids: Vec<u32> = serde_json::from_value(known["ids"].clone()).unwrap();
            assert_eq!(encoder.tokenizer.ids(text).unwrap(), ids, "{name}: {text}");
            inputs.push(encoder.single("text", text).unwrap());
            expected.push(numbers(known));
        }
        inputs.push(encoder.conditional(&texts[1], &texts[2], "").unwrap());
        expected.push(numbers(&known["pair"]));
        let case = Case::Joint(Joint {
            orders: vec![Order::ConditionSentence],
            pooling: Pool::All,
            subtract: false,
            router: None,
        });
        let job = Job {
            inputs: &inputs,
            case: Some(&case),
            plain: Pool::All,
            look: false,
        };
        let finish = Finish {
            head: None,
            normalize: true,
        };
        let found = block_on(encoder.run(job, finish)).unwrap().vectors;
        for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let error = relative_error(found, expected);
            assert!(error < 2e-5, "{name}, input {i}: {error}");
        }
    }
}

//! Mistral, Qwen2, Llama and NV-Embed against transformers, from one file, shards and GGUF.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use crate::common::{
    Folder, Tensors, decoder as folder, decoder_tokenizer as tokenizer, fixture, json,
    relative_error, tokenizer_of, worst_cosine,
};
use candle_core::{
    DType, Device, Tensor,
    quantized::{
        GgmlDType, QTensor,
        gguf_file::{self, Value},
    },
};
use caselens::{
    checkpoint::{BertCheckpoint, Checkpoint, gguf::write::tensor_shapes, save},
    embedding::{Case, Pool, Prompted},
    error::Error,
    model::{Precision, decoder::Decoder},
    text::{Batch, Prompt},
};

/// What f32 may differ by, norm-wise: sums in another order.
const F32_ERROR: f64 = 1e-4;
const HIDDEN: usize = 32;

fn load(path: &Path, precision: Precision) -> Decoder {
    let checkpoint = Checkpoint::open(path)
        .and_then(Checkpoint::decoder)
        .unwrap();
    Decoder::load(&checkpoint, &Device::Cpu, precision).unwrap()
}

/// The texts' tokens, packed.
fn batch(tokens: &Tensors, tokenizer: &str) -> Batch {
    let mut batch = Batch::default();
    for n in 0.. {
        let name = format!("ids.{tokenizer}.{n}");
        if tokens.shape(&name).is_none() {
            break;
        }
        let ids = tokens.integers(&name);
        batch.push(&ids, &vec![0; ids.len()]);
    }
    assert_eq!(batch.len(), 5);
    batch
}

fn expected(tokens: &Tensors, case: &str) -> Vec<f32> {
    (0..5)
        .flat_map(|n| tokens.floats(&format!("{case}.{n}")))
        .collect()
}

fn states(decoder: &Decoder, batch: &Batch) -> Vec<f32> {
    let states = decoder.forward(batch).unwrap();
    assert_eq!(states.dtype(), DType::F32);
    states.flatten_all().unwrap().to_vec1().unwrap()
}

#[test]
fn hidden_states_are_those_of_transformers() {
    let tokens = Tensors::open("decoders/hidden.safetensors");
    let listed = json("decoders/hidden.json");
    let cases = listed["cases"].as_object().unwrap();
    assert_eq!(cases.len(), 11);
    for (case, about) in cases {
        let model = about["model"].as_str().unwrap();
        let mut changes = about["config"].clone();
        if about["causal"] == false {
            changes["is_causal"] = false.into();
        }
        let folder = folder(case, model, &changes);
        let batch = batch(&tokens, tokenizer_of(model));
        let expected = expected(&tokens, case);
        let found = states(&load(&folder.0, Precision::F32), &batch);
        let error = relative_error(&found, &expected);
        assert!(error <= F32_ERROR, "{case}: {error:e}");
        for precision in [Precision::Bf16, Precision::F16] {
            let found = states(&load(&folder.0, precision), &batch);
            let cosine = worst_cosine(&found, &expected, HIDDEN);
            assert!(cosine >= 0.999, "{case} in {}: {cosine}", precision.name());
        }
    }
}

#[test]
fn the_cases_are_told_apart() {
    // What the test above compares would agree with anything if these were the same.
    let tokens = Tensors::open("decoders/hidden.safetensors");
    let cases: Vec<_> = json("decoders/hidden.json")["cases"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    for (i, a) in cases.iter().enumerate() {
        for b in &cases[i + 1..] {
            let (x, y) = (format!("{a}.2"), format!("{b}.2"));
            if tokens.shape(&x) == tokens.shape(&y) {
                let error = relative_error(&tokens.floats(&x), &tokens.floats(&y));
                assert!(error > 100.0 * F32_ERROR, "{a} and {b}: {error:e}");
            }
        }
    }
}

#[test]
fn a_sequence_does_not_depend_on_its_batch() {
    let tokens = Tensors::open("decoders/hidden.safetensors");
    for (model, changes) in [
        ("mistral", serde_json::json!({})),
        (
            "llama",
            serde_json::json!({"rope_scaling": {"type": "dynamic", "factor": 4.0}, "max_position_embeddings": 24}),
        ),
    ] {
        let folder = folder("batches", model, &changes);
        let decoder = load(&folder.0, Precision::F32);
        let all = batch(&tokens, "mistral");
        // Neighbours of one length too, which share products: each once more from its second token on.
        let mut mixed = Batch::default();
        for range in all.ranges() {
            mixed.push(&all.ids[range.clone()], &all.types[range.clone()]);
            let ids = [&all.ids[range.start + 1..range.end], &all.ids[..1]].concat();
            mixed.push(&ids, &all.types[range.clone()]);
        }
        let found = states(&decoder, &mixed);
        for (i, range) in mixed.ranges().enumerate() {
            let mut one = Batch::default();
            one.push(&mixed.ids[range.clone()], &mixed.types[range.clone()]);
            let part = &found[range.start * HIDDEN..range.end * HIDDEN];
            let error = relative_error(&states(&decoder, &one), part);
            assert!(error <= 1e-5, "{model}, input {i}: {error:e}");
        }
    }
}

#[test]
fn what_begins_alike_has_the_states_it_has_by_itself() {
    let tokens = Tensors::open("decoders/hidden.safetensors");
    for (case, about) in json("decoders/hidden.json")["cases"].as_object().unwrap() {
        let model = about["model"].as_str().unwrap();
        let mut changes = about["config"].clone();
        if about["causal"] == false {
            changes["is_causal"] = false.into();
        }
        let folder = folder("alike", model, &changes);
        let decoder = load(&folder.0, Precision::F32);
        let all = batch(&tokens, tokenizer_of(model)).ids;
        // Two beginnings in one prompt, each with ends of several lengths, alone and twice, in an order that parts them.
        let (prompt, first, second) = (&all[..9], &all[9..18], &all[10..19]);
        let ends = [
            &all[20..23],
            &all[..0],
            &all[21..24],
            &all[5..7],
            &all[20..23],
        ];
        let mut alike = Batch::default();
        for end in ends {
            for beginning in [first, second] {
                let ids = [prompt, beginning, end].concat();
                alike.push(&ids, &vec![0; ids.len()]);
            }
        }
        alike.push(&all[3..9], &[0; 6]);
        let found = states(&decoder, &alike);
        for (i, range) in alike.ranges().enumerate() {
            let mut one = Batch::default();
            one.push(&alike.ids[range.clone()], &alike.types[range.clone()]);
            let part = &found[range.start * HIDDEN..range.end * HIDDEN];
            let error = relative_error(&states(&decoder, &one), part);
            assert!(error <= 1e-5, "{case}, input {i}: {error:e}");
        }
    }
}

/// Parts a folder's weights into two files with their index, as the hub has large models.
fn shard(folder: &Folder) {
    let bytes = std::fs::read(folder.file("model.safetensors")).unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let mut names: Vec<_> = file.names().into_iter().map(str::to_owned).collect();
    names.sort();
    let mut map = serde_json::Map::new();
    for (i, part) in names.chunks(names.len().div_ceil(2)).enumerate() {
        let name = format!("model-0000{}-of-00002.safetensors", i + 1);
        let views = part.iter().map(|n| (n.as_str(), file.tensor(n).unwrap()));
        std::fs::write(
            folder.file(&name),
            safetensors::serialize(views, None).unwrap(),
        )
        .unwrap();
        map.extend(part.iter().map(|n| (n.clone(), name.clone().into())));
    }
    std::fs::remove_file(folder.file("model.safetensors")).unwrap();
    let index = serde_json::json!({"metadata": {}, "weight_map": map});
    folder.write("model.safetensors.index.json", &index.to_string());
}

#[test]
fn shards_are_the_whole() {
    let tokens = Tensors::open("decoders/hidden.safetensors");
    let batch = batch(&tokens, "mistral");
    let folder = folder("shards", "llama", &serde_json::json!({}));
    let whole = Checkpoint::open(&folder.0)
        .and_then(Checkpoint::decoder)
        .unwrap();
    let before = states(&load(&folder.0, Precision::F32), &batch);
    shard(&folder);
    let parted = Checkpoint::open(&folder.0)
        .and_then(Checkpoint::decoder)
        .unwrap();
    assert_eq!(whole.encoder.sha256, parted.encoder.sha256);
    assert_eq!(states(&load(&folder.0, Precision::F32), &batch), before);

    std::fs::remove_file(folder.file("model-00002-of-00002.safetensors")).unwrap();
    let missing = Checkpoint::open(&folder.0).err().unwrap();
    assert!(
        matches!(&missing, Error::MissingFile { file, .. } if file == "model-00002-of-00002.safetensors"),
        "{missing}"
    );
}

#[test]
fn an_encoders_shards_are_the_whole() {
    let folder = Folder::new("encoder-shards");
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        std::fs::copy(fixture("roberta-tiny").join(file), folder.file(file)).unwrap();
    }
    let open = || Checkpoint::open(&folder.0).and_then(Checkpoint::bert);
    let whole = open().unwrap();
    let config = &whole.config;
    let trained = BTreeMap::from([(
        "token_embd_norm.bias".to_owned(),
        vec![0.5; config.hidden_size],
    )]);
    let saved = |of: &BertCheckpoint| {
        save::safetensors("m", of.weights.files(), &of.config, &trained).unwrap()
    };
    let saved_whole = saved(&whole);
    shard(&folder);
    let parted = open().unwrap();
    assert_eq!(parted.weights.files().len(), 2);
    for (name, shape) in tensor_shapes(config) {
        let [a, b] = [&whole, &parted].map(|of| of.weights.get(&name, &shape).unwrap());
        assert_eq!(a.data, b.data, "{name}");
    }
    assert!(saved(&parted) == saved_whole);
    std::fs::remove_file(folder.file("model-00001-of-00002.safetensors")).unwrap();
    assert_eq!(open().err().unwrap().code(), "missing-file");
}

#[test]
fn what_is_known_of_a_published_encoder_holds_wherever_it_is_opened() {
    let named = Folder::new("presets");
    let open = |name: &str, model: &str| {
        let from = folder(&format!("preset-{model}"), model, &serde_json::json!({}));
        let to = named.0.join(name);
        std::fs::create_dir_all(&to).unwrap();
        for file in std::fs::read_dir(&from.0).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
        }
        Checkpoint::open(&to)
    };
    let settings = |checkpoint: &Checkpoint| {
        let case = Case::of(checkpoint);
        (case.pooling(), !matches!(case, Case::Joint(_)))
    };

    let unknown = open("a-decoder", "qwen2").unwrap();
    assert_eq!(settings(&unknown), (Pool::Last, true));
    assert!(unknown.decoder().unwrap().config.causal);
    let latent = open("another", "nvembed").unwrap();
    assert_eq!(settings(&latent), (Pool::Query, true));

    let known = open("gte-Qwen2-7B-instruct", "qwen2").unwrap();
    assert_eq!(settings(&known), (Pool::Last, true));
    assert!(!known.decoder().unwrap().config.causal);
    let known = open("SFR-Embedding-Mistral", "mistral").unwrap();
    assert_eq!(settings(&known), (Pool::Query, true));
    assert!(known.decoder().unwrap().config.causal);

    let known = open("Meta-Llama-3-8B-Instruct", "llama").unwrap();
    let Case::Prompted(Prompted { prompt }) = Case::of(&known) else {
        panic!("it is no encoder")
    };
    assert_eq!(Some(prompt), Prompt::named("express-word-terms"));

    let error = open("NV-Embed-v2", "mistral").err().unwrap();
    assert!(error.to_string().contains("latent attention"), "{error}");
    let bert = Checkpoint::open(&fixture("bert-tiny")).unwrap();
    assert_eq!(Case::of(&bert), Case::default());
}

/// llama.cpp's order of a head's rows: those that are rotated together lie side by side.
fn reordered(x: &Tensor, heads: usize) -> Tensor {
    let (rows, columns) = x.dims2().unwrap();
    x.reshape((heads, 2, rows / heads / 2, columns))
        .unwrap()
        .transpose(1, 2)
        .unwrap()
        .contiguous()
        .unwrap()
        .reshape((rows, columns))
        .unwrap()
}

/// A fixture as GGUF, as llama.cpp's converter writes it; `tokens` is its byte-level vocabulary.
fn write_gguf(path: &str, model: &str, dtype: GgmlDType, extra: Vec<(String, Value)>) {
    let from = fixture("decoders").join(model).join("model.safetensors");
    write_gguf_of(&from, path, model, dtype, extra);
}

/// As [`write_gguf`], of a fixture's changed weights.
pub fn write_gguf_of(
    from: &Path,
    path: &str,
    model: &str,
    dtype: GgmlDType,
    extra: Vec<(String, Value)>,
) {
    let tensors = candle_core::safetensors::load(from, &Device::Cpu).unwrap();
    let mut out: Vec<(String, QTensor)> = Vec::new();
    for (name, tensor) in tensors {
        let name = name.trim_start_matches("model.");
        let (stem, kind) = name.rsplit_once('.').unwrap();
        let stem = match stem {
            "embed_tokens" => "token_embd".to_owned(),
            "norm" => "output_norm".to_owned(),
            "lm_head" => "output".to_owned(),
            _ => {
                let (layer, part) = stem.trim_start_matches("layers.").split_once('.').unwrap();
                let part = match part {
                    "input_layernorm" => "attn_norm",
                    "post_attention_layernorm" => "ffn_norm",
                    "self_attn.q_proj" => "attn_q",
                    "self_attn.k_proj" => "attn_k",
                    "self_attn.v_proj" => "attn_v",
                    "self_attn.o_proj" => "attn_output",
                    "mlp.gate_proj" => "ffn_gate",
                    "mlp.up_proj" => "ffn_up",
                    "mlp.down_proj" => "ffn_down",
                    other => panic!("{other}"),
                };
                format!("blk.{layer}.{part}")
            }
        };
        let mut tensor = tensor.to_dtype(DType::F32).unwrap();
        if model == "llama" && kind == "weight" {
            if stem.ends_with("attn_q") {
                tensor = reordered(&tensor, 4);
            } else if stem.ends_with("attn_k") {
                tensor = reordered(&tensor, 2);
            }
        }
        let dtype = if tensor.rank() == 1 {
            GgmlDType::F32
        } else {
            dtype
        };
        out.push((
            format!("{stem}.{kind}"),
            QTensor::quantize(&tensor, dtype).unwrap(),
        ));
    }
    let count = |key: &str, n: u32| (format!("{model}.{key}"), Value::U32(n));
    let mut metadata = vec![
        ("general.architecture".into(), Value::String(model.into())),
        count("block_count", 3),
        count("context_length", 512),
        count("embedding_length", 32),
        count("feed_forward_length", 64),
        count("attention.head_count", 4),
        count("attention.head_count_kv", 2),
        (
            format!("{model}.rope.freq_base"),
            Value::F32(if model == "qwen2" { 1e6 } else { 1e4 }),
        ),
        (
            format!("{model}.attention.layer_norm_rms_epsilon"),
            Value::F32(if model == "qwen2" { 1e-6 } else { 1e-5 }),
        ),
    ];
    metadata.extend(extra);
    let metadata: Vec<_> = metadata.iter().map(|(k, v)| (k.as_str(), v)).collect();
    let out: Vec<_> = out.iter().map(|(n, t)| (n.as_str(), t)).collect();
    let mut file = std::fs::File::create(path).unwrap();
    gguf_file::write(&mut file, &metadata, &out).unwrap();
}

/// A tokenizer.json as a byte-level vocabulary in a GGUF file.
fn vocabulary(model: &str) -> Vec<(String, Value)> {
    let json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(tokenizer(model)).unwrap()).unwrap();
    let ids: HashMap<String, usize> =
        serde_json::from_value(json["model"]["vocab"].clone()).unwrap();
    let added = json["added_tokens"].as_array().unwrap();
    let mut tokens = vec![String::new(); ids.len() + added.len()];
    for (token, id) in ids {
        tokens[id] = token;
    }
    for token in added {
        tokens[token["id"].as_u64().unwrap() as usize] = token["content"].as_str().unwrap().into();
    }
    let strings = |of: Vec<String>| Value::Array(of.into_iter().map(Value::String).collect());
    let merges = json["model"]["merges"].as_array().unwrap().iter();
    let merges = merges.map(|m| format!("{} {}", m[0].as_str().unwrap(), m[1].as_str().unwrap()));
    let end = tokens.iter().position(|t| t == "<|endoftext|>").unwrap();
    vec![
        ("tokenizer.ggml.model".into(), Value::String("gpt2".into())),
        ("tokenizer.ggml.pre".into(), Value::String("qwen2".into())),
        ("tokenizer.ggml.merges".into(), strings(merges.collect())),
        ("tokenizer.ggml.tokens".into(), strings(tokens)),
        ("tokenizer.ggml.eos_token_id".into(), Value::U32(end as u32)),
    ]
}

#[test]
fn gguf_files_agree_with_transformers() {
    let tokens = Tensors::open("decoders/hidden.safetensors");
    for model in ["llama", "qwen2"] {
        let folder = Folder::new(&format!("decoders-gguf-{model}"));
        let path = folder.file("model.gguf");
        let batch = batch(&tokens, tokenizer_of(model));
        let expected = expected(&tokens, model);
        // Blocks cost a random model of width 32 more than a trained one: activations are in eight bits too.
        for (dtype, least) in [
            (GgmlDType::F32, 0.99999),
            (GgmlDType::BF16, 0.99999),
            (GgmlDType::Q8_0, 0.97),
        ] {
            let extra = match model {
                "qwen2" => vocabulary(model),
                _ => vec![("llama.vocab_size".into(), Value::U32(439))],
            };
            write_gguf(&path, model, dtype, extra);
            if model == "llama" {
                std::fs::copy(tokenizer(model), folder.file("tokenizer.json")).unwrap();
            }
            let checkpoint = Checkpoint::open(Path::new(&path))
                .and_then(Checkpoint::decoder)
                .unwrap();
            let texts = json("decoders/hidden.json");
            for (text, range) in texts["texts"]
                .as_array()
                .unwrap()
                .iter()
                .zip(batch.ranges())
            {
                let ids = checkpoint.tokenizer.ids(text.as_str().unwrap()).unwrap();
                assert_eq!(ids, batch.ids[range], "{model}: {text}");
            }
            let decoder = Decoder::load(&checkpoint, &Device::Cpu, Precision::F32).unwrap();
            let cosine = worst_cosine(&states(&decoder, &batch), &expected, HIDDEN);
            assert!(cosine >= least, "{model} in {dtype:?}: {cosine}");
        }
    }
}

/// The vocabulary of the fixture of splits, which are named `pre`; `None` leaves the name out.
fn splits(fixture: &serde_json::Value, pre: Option<&str>) -> Vec<(String, Value)> {
    let added = |key: &str| {
        let list = fixture[key].as_array().unwrap().iter();
        list.map(|text| Value::String(text.as_str().unwrap().into()))
    };
    let mut keys = vocabulary("qwen2");
    keys.retain(|(key, _)| key != "tokenizer.ggml.pre");
    let mut kinds = Vec::new();
    let mut begin = 0;
    for (key, value) in &mut keys {
        let Value::Array(list) = value else { continue };
        if key == "tokenizer.ggml.merges" {
            list.extend(added("merges"));
            continue;
        }
        list.extend(added("tokens"));
        begin = list.len() as u32 - 1;
        kinds.extend(list.iter().map(|token| {
            let special = token.to_string().unwrap().starts_with("<|");
            Value::I32(if special { 3 } else { 1 })
        }));
    }
    keys.push(("tokenizer.ggml.token_type".into(), Value::Array(kinds)));
    keys.push(("tokenizer.ggml.bos_token_id".into(), Value::U32(begin)));
    if let Some(pre) = pre {
        keys.push(("tokenizer.ggml.pre".into(), Value::String(pre.into())));
    }
    keys
}

#[test]
fn texts_are_split_as_the_file_says_or_not_at_all() {
    let fixture = json("decoders/splits.json");
    let folder = Folder::new("decoders-splits");
    let path = folder.file("model.gguf");
    let open = |keys| {
        write_gguf(&path, "qwen2", GgmlDType::F32, keys);
        Checkpoint::open(Path::new(&path)).and_then(Checkpoint::decoder)
    };
    for (pre, ids) in fixture["ids"].as_object().unwrap() {
        let tokenizer = open(splits(&fixture, Some(pre))).unwrap().tokenizer;
        let texts = fixture["texts"].as_array().unwrap().iter();
        for (text, ids) in texts.zip(ids.as_array().unwrap()) {
            let found = tokenizer.ids(text.as_str().unwrap()).unwrap();
            assert_eq!(serde_json::json!(found), *ids, "{pre}: {text}");
        }
    }
    for (pre, named) in [
        (Some("tekken"), "`tekken`"),
        (Some("default"), "`default`"),
        (None, "tokenizer.ggml.pre"),
    ] {
        let error = open(splits(&fixture, pre)).err().unwrap();
        assert_eq!(error.code(), "tokenizer", "{error}");
        let text = error.to_string();
        assert!(text.contains(named), "{text}");
        assert!(text.contains("tokenizer.json beside it"), "{text}");
    }
    // The tokenizer beside the file is asked first.
    std::fs::copy(tokenizer("qwen2"), folder.file("tokenizer.json")).unwrap();
    open(splits(&fixture, Some("tekken"))).unwrap();
}

#[test]
fn what_does_not_fit_is_an_error() {
    let open = |folder: &Folder| Checkpoint::open(&folder.0).and_then(Checkpoint::decoder);
    let gemma = folder(
        "gemma",
        "llama",
        &serde_json::json!({"model_type": "gemma"}),
    );
    let error = open(&gemma).err().unwrap();
    assert_eq!(error.code(), "unsupported-architecture");
    assert!(
        error.to_string().contains("Mistral, Qwen2, Llama"),
        "{error}"
    );

    let wide = folder(
        "wide",
        "llama",
        &serde_json::json!({"intermediate_size": 65}),
    );
    let checkpoint = open(&wide).unwrap();
    let error = Decoder::load(&checkpoint, &Device::Cpu, Precision::F32)
        .err()
        .unwrap();
    assert!(matches!(error, Error::Tensor { .. }), "{error}");

    let whole = folder("whole", "llama", &serde_json::json!({}));
    let decoder = load(&whole.0, Precision::F32);
    let mut batch = Batch::default();
    for ids in [&[1, 2][..], &[]] {
        batch.push(ids, &vec![0; ids.len()]);
    }
    for batch in [batch, Batch::default()] {
        let error = decoder.forward(&batch).unwrap_err();
        assert_eq!(error.code(), "invalid-argument", "{error}");
    }

    let cut = folder("cut", "llama", &serde_json::json!({}));
    write_table(&cut, "[439,32]", 28096, 0);
    let error = open(&cut).err().unwrap();
    assert_eq!(error.code(), "model-format", "{error}");

    let integers = folder("integers", "llama", &serde_json::json!({}));
    let view = safetensors::tensor::TensorView::new(safetensors::Dtype::I8, vec![2], &[1, 2]);
    let file = safetensors::serialize([("model.norm.weight", view.unwrap())], None).unwrap();
    std::fs::write(integers.file("model.safetensors"), file).unwrap();
    let error = open(&integers).err().unwrap();
    assert!(error.to_string().contains("I8"), "{error}");
}

/// A safetensors file of one table, of which so many bytes are there: all zeros, which take no room on disk.
fn write_table(folder: &Folder, shape: &str, bytes: u64, there: u64) {
    let header = format!(
        r#"{{"model.embed_tokens.weight":{{"dtype":"F16","shape":{shape},"data_offsets":[0,{bytes}]}}}}"#
    );
    let mut file = std::fs::File::create(folder.file("model.safetensors")).unwrap();
    let length = header.len() as u64;
    std::io::Write::write_all(&mut file, &length.to_le_bytes()).unwrap();
    std::io::Write::write_all(&mut file, header.as_bytes()).unwrap();
    file.set_len(8 + length + there).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn what_memory_does_not_hold_is_not_begun() {
    let folder = folder("huge", "llama", &serde_json::json!({}));
    let bytes = 1 << 40;
    write_table(&folder, "[8388608,65536]", bytes, bytes);
    let checkpoint = Checkpoint::open(&folder.0)
        .and_then(Checkpoint::decoder)
        .unwrap();
    let load = |precision| Decoder::load(&checkpoint, &Device::Cpu, precision);
    let error = load(Precision::Bf16).err().unwrap();
    assert_eq!(error.code(), "not-enough-memory");
    assert!(
        error.to_string().contains("1099.5 GB of memory in bf16"),
        "{error}"
    );
    let error = load(Precision::F32).err().unwrap();
    assert!(
        error.to_string().contains("2199.0 GB of memory in f32"),
        "{error}"
    );
}

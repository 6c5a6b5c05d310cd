//! T5 with tiny ones: states and answers against transformers'.

use candle_core::{Device, Tensor, safetensors};
use caselens::{
    checkpoint::{Checkpoint, T5Checkpoint},
    model::{
        Precision,
        language_model::{End, LanguageModel, Limits},
        t5::{MAX_TOKENS, T5},
    },
};

use crate::common::{Folder, fixture, json, t5};

const MODELS: [&str; 2] = ["flan", "first"];

const TOKENS: Limits<'static> = Limits {
    tokens: 24,
    stop: &[],
};

fn language_model(folder: &Folder) -> caselens::Result<LanguageModel> {
    LanguageModel::open(&folder.0, &Device::Cpu, Some(Precision::F32))
}

fn apart(ours: &Tensor, theirs: &Tensor) -> f32 {
    let apart = (ours - theirs).unwrap().abs().unwrap();
    apart.max_all().unwrap().to_scalar().unwrap()
}

#[test]
fn states_are_those_of_transformers() {
    let states = safetensors::load(fixture("t5/expected.safetensors"), &Device::Cpu).unwrap();
    let expected = json("t5/expected.json");
    for model in MODELS {
        let checkpoint = T5Checkpoint::open(&t5("states", model).0).unwrap();
        let t5 = T5::load(&checkpoint, &Device::Cpu, Precision::F32).unwrap();
        for (n, ids) in (expected[model]["ids"].as_array().unwrap().iter()).enumerate() {
            let of = |part: &str| &states[&format!("{model}.{n}.{part}")];
            let ids: Vec<u32> = serde_json::from_value(ids.clone()).unwrap();
            let read = t5.read(&ids).unwrap();
            let off = apart(&read, of("encoder"));
            assert!(off <= 2e-4, "{model}, prompt {n}: {off:e}");
            // Further than the distance from which on all share a bucket.
            let written = of("answer").to_vec1::<i32>().unwrap();
            let mut answer = t5.answer(&read).unwrap();
            let next = std::iter::once(0).chain(written.iter().map(|&id| id as u32));
            let states: Vec<Tensor> = next.map(|id| t5.next(&mut answer, id).unwrap()).collect();
            let states = Tensor::cat(&states, 0).unwrap();
            assert_eq!(answer.tokens(), 151);
            let off = apart(&states, of("decoder"));
            assert!(off <= 2e-4, "{model}, answer {n}: {off:e}");
        }
    }
}

#[test]
fn answers_are_those_of_transformers() {
    let expected = json("t5/expected.json");
    let mut ended = 0;
    for model in MODELS {
        let language_model = language_model(&t5("answers", model)).unwrap();
        let of = |part: &str| expected[model][part].as_array().unwrap();
        for ((prompt, ids), written) in of("prompts").iter().zip(of("ids")).zip(of("written")) {
            let prompt = prompt.as_str().unwrap();
            let ids: Vec<u32> = serde_json::from_value(ids.clone()).unwrap();
            let mut written: Vec<u32> = serde_json::from_value(written.clone()).unwrap();
            let read = language_model.tokenizer().prompt(prompt).unwrap();
            assert_eq!(read, ids[..ids.len() - 1], "the end is put behind it later");
            let answer = language_model.complete(prompt, &TOKENS).unwrap();
            let end = match written.pop_if(|last| *last == 1) {
                Some(_) => End::Token,
                None => End::Length,
            };
            ended += usize::from(end == End::Token);
            assert_eq!(
                (answer.ids, answer.end),
                (written, end),
                "{model}: {prompt}"
            );
        }
    }
    assert_eq!(ended, 1);
}

#[test]
fn weights_may_be_kept_in_sixteen_bits() {
    let folder = t5("bf16", "flan");
    // What the file holds.
    let model = LanguageModel::open(&folder.0, &Device::Cpu, None).unwrap();
    let prompt = "Two children in yellow raincoats wait.";
    let answer = model.complete(prompt, &TOKENS).unwrap();
    let f32 = language_model(&folder).unwrap();
    assert_eq!(answer, f32.complete(prompt, &TOKENS).unwrap());
}

#[test]
fn what_is_no_whole_t5_is_refused() {
    let folder = t5("refused", "flan");
    let code = |result: caselens::Result<LanguageModel>| result.err().unwrap().code();
    let model = language_model(&folder).unwrap();
    let none = model.go_on(&[], &TOKENS).unwrap_err();
    assert_eq!(none.code(), "invalid-argument");
    let other = model.go_on(&[100_000], &TOKENS).unwrap_err();
    assert_eq!(other.code(), "tokenizer");
    let long = model.go_on(&[3; MAX_TOKENS], &TOKENS).unwrap_err();
    assert!(long.to_string().contains("2048"), "{long}");
    // It embeds nothing.
    let encoder = Checkpoint::open(&folder.0).err().unwrap();
    assert_eq!(encoder.code(), "unsupported-architecture");
    assert!(encoder.to_string().contains("t5"), "{encoder}");

    let weights = folder.0.join("model.safetensors");
    let whole = safetensors::load(&weights, &Device::Cpu).unwrap();
    for (lost, found) in [
        (
            "decoder.block.1.layer.1.EncDecAttention.k.weight",
            "model-format",
        ),
        (
            "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
            "model-format",
        ),
    ] {
        let mut rest = whole.clone();
        rest.remove(lost).unwrap();
        safetensors::save(&rest, &weights).unwrap();
        assert_eq!(code(language_model(&folder)), found, "{lost}");
    }
}

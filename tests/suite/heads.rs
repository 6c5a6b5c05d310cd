//! Where every token looks, head by head: against transformers' attentions and against the mean that an explanation tells, on
//! each backend.

use crate::common::{TINY, Tensors, fixture, gpu, json, quantized, relative_error, tiny};
use caselens::{
    Error, Lens,
    backend::{
        Backend,
        candle::Candle,
        simd::{Cpu, Simd},
    },
    checkpoint::weights::Dtype,
    embedding::{Case, Encoder, Instruct, Instructed, Joint, JointRouter, Pool},
    lens::{explain::Switches, heads::AttentionHeads, reading::Part},
    text::Order,
};
use pollster::block_on;

const SENTENCE: &str = "a small brown dog runs across the frozen river";
const CONDITION: &str = "the kind of animal";

fn fine_tuned() -> Joint {
    Joint {
        orders: vec![Order::ConditionSentence],
        pooling: Pool::All,
        subtract: false,
        router: None,
    }
}

fn attention<B: Backend>(
    lens: &Lens<B>,
    sentence: &str,
    condition: Option<&str>,
    layer: Option<usize>,
) -> AttentionHeads {
    block_on(lens.attention(sentence, condition, layer)).unwrap()
}

/// Every head of every layer of the fixture's inputs, against transformers.
fn heads_attend_like_transformers<B: Backend>(encoder: Encoder<B>, name: &str) {
    let lens = Lens::new(encoder, None, Case::Joint(fine_tuned())).unwrap();
    let (file, described) = (Tensors::open("heads.safetensors"), json("heads.json"));
    for (n, pair) in described["pairs"].as_array().unwrap().iter().enumerate() {
        let (condition, sentence) = (pair[0].as_str(), pair[1].as_str().unwrap());
        let key = format!("{name}.{n}");
        let shape = file.shape(&key).unwrap();
        let expected = file.floats(&key);
        for (layer, expected) in expected.chunks_exact(expected.len() / shape[0]).enumerate() {
            let found = attention(&lens, sentence, condition, Some(layer));
            let sizes = [
                found.layers,
                found.heads,
                found.tokens.len(),
                found.tokens.len(),
            ];
            assert_eq!((&sizes[..], found.layer), (&shape[..], layer), "{key}");
            let texts: Vec<_> = found
                .tokens
                .iter()
                .map(|token| token.text.as_str())
                .collect();
            assert_eq!(serde_json::json!(texts), described["tokens"][&key], "{key}");
            let error = relative_error(&found.shares, expected);
            assert!(error <= 1e-4, "{key}, layer {layer}: {error:e}");
            for row in found.shares.chunks_exact(texts.len()) {
                let sum: f32 = row.iter().sum();
                assert!((sum - 1.0).abs() < 1e-5, "{key}: a row sums to {sum}");
            }
        }
    }
}

/// The mean over the heads is what an explanation tells of the condition's tokens, in every layer and any order.
fn heads_are_what_explanations_average<B: Backend>(encoder: impl Fn() -> Encoder<B>) {
    let classical = Case::default();
    let routed = Case::Joint(Joint {
        router: Some(JointRouter::PAPER),
        ..fine_tuned()
    });
    for case in [Case::Joint(fine_tuned()), classical, routed] {
        let encoder = encoder();
        if case.joint_router().is_some() && encoder.backend.routing().is_none() {
            continue;
        }
        let lens = Lens::new(encoder, None, case).unwrap();
        let sentences = [SENTENCE, "Two children wait."];
        let explained = lens.explain(sentences, Some(CONDITION), Switches::default());
        let explained = block_on(explained).unwrap();
        for (sentence, readings) in sentences.iter().zip(&explained.readings) {
            let reading = &readings[0];
            for (layer, expected) in reading.attention.iter().enumerate() {
                let found = attention(&lens, sentence, Some(CONDITION), Some(layer));
                assert_eq!(
                    (&found.tokens, found.order, found.cut),
                    (&reading.tokens, reading.order, reading.cut)
                );
                let looking = found.tokens.iter().enumerate();
                let looking = looking.filter(|(_, token)| token.part == Part::Condition);
                let means: Vec<Vec<f32>> = looking
                    .map(|(token, _)| {
                        let mut mean = vec![0.0; found.tokens.len()];
                        for head in 0..found.heads {
                            let row = mean.iter_mut().zip(found.row(head, token));
                            row.for_each(|(to, share)| *to += share / found.heads as f32);
                        }
                        mean
                    })
                    .collect();
                assert_eq!(means.len(), expected.len());
                let error = relative_error(&means.concat(), &expected.concat());
                assert!(error < 1e-5, "layer {layer}: {error:e}");
            }
            let last = attention(&lens, sentence, Some(CONDITION), None);
            assert_eq!(last.layer + 1, last.layers);
        }
    }
}

#[test]
fn every_head_attends_like_transformers() {
    let gpu = gpu();
    for name in TINY {
        let checkpoint = tiny(name);
        let on_candle = Encoder::load(Candle::cpu(), &checkpoint).unwrap();
        heads_attend_like_transformers(on_candle, name);
        for cpu in Cpu::all() {
            let on_simd = Encoder::load(Simd::with(cpu), &checkpoint).unwrap();
            heads_attend_like_transformers(on_simd, name);
        }
        if let Some(gpu) = &gpu {
            let on_gpu = Encoder::load(gpu.clone(), &checkpoint).unwrap();
            heads_attend_like_transformers(on_gpu, name);
        }
    }
}

#[test]
fn the_mean_over_the_heads_is_what_explanations_tell() {
    let gpu = gpu();
    for name in TINY {
        let checkpoint = tiny(name);
        heads_are_what_explanations_average(|| Encoder::load(Candle::cpu(), &checkpoint).unwrap());
        let in_blocks = quantized(&fixture(name), Dtype::Q8_0);
        heads_are_what_explanations_average(|| Encoder::load(Simd::new(), &in_blocks).unwrap());
        if let Some(gpu) = &gpu {
            heads_are_what_explanations_average(|| {
                Encoder::load(gpu.clone(), &checkpoint).unwrap()
            });
        }
    }
}

#[test]
fn what_is_not_there_is_refused_or_empty() {
    let checkpoint = tiny("bert-tiny");
    let encoder = || Encoder::load(Candle::cpu(), &checkpoint).unwrap();
    let lens = Lens::new(encoder(), None, Case::Joint(fine_tuned())).unwrap();
    let wrong = |sentence, condition, layer| {
        let refused = block_on(lens.attention(sentence, condition, layer));
        refused.unwrap_err()
    };
    let beyond = wrong(SENTENCE, Some(CONDITION), Some(3));
    assert!(matches!(&beyond, Error::InvalidArgument(_)), "{beyond}");
    assert!(beyond.to_string().contains("no layer 3"), "{beyond}");
    assert_eq!(wrong(" ", None, None).code(), "empty-text");
    assert_eq!(wrong(SENTENCE, Some(" "), None).code(), "empty-text");
    let long = CONDITION.repeat(60);
    assert_eq!(
        wrong(SENTENCE, Some(&long), None).code(),
        "condition-too-long"
    );

    // A long sentence is cut to what is read at once, and says so.
    let long = "the dog and the cat ".repeat(60);
    let cut = attention(&lens, &long, Some(CONDITION), None);
    assert_eq!((cut.tokens.len(), cut.cut > 100), (128, true));
    assert_eq!(cut.shares.len(), cut.heads * 128 * 128);
    assert_eq!((cut.row(0, 127).len(), cut.row(3, 0).len()), (128, 128));
    assert_eq!((cut.row(0, 128).len(), cut.row(4, 0).len()), (0, 0));

    // What meets its condition elsewhere than in one input is looked at alone.
    let instructed = Case::Instructed(Instructed {
        instruct: Instruct::default(),
        pooling: Pool::All,
        subtract: false,
    });
    let lens = Lens::new(encoder(), None, instructed).unwrap();
    let refused = block_on(lens.attention(SENTENCE, Some(CONDITION), None));
    assert!(matches!(refused, Err(Error::InvalidArgument(_))));
    let alone = attention(&lens, SENTENCE, None, None);
    assert_eq!((alone.order, alone.condition), (None, None));
}

//! A comparison taken apart: against `compare`, against transformers' attentions, on each backend.

use crate::common;
use crate::common::{
    TINY, Tensors, fixture, gpu, json, minilm_folder, quantized, relative_error, tiny,
};
use caselens::{
    Error, Lens,
    backend::{
        Backend,
        candle::Candle,
        simd::{Cpu, Simd},
    },
    checkpoint::{BertCheckpoint, Checkpoint, weights::Dtype},
    embedding::{Case, Encoder, Joint, Pool},
    head::HeadFile,
    lens::{
        Question,
        explain::{Explanation, StepName, Switches},
        reading::Part,
    },
    similarity::cosine,
    text::Order,
};
use pollster::block_on;

const SENTENCES: [&str; 2] = [
    "a small brown dog runs across the frozen river",
    "Two children wait.",
];
const CONDITION: &str = "the kind of animal";

/// What the frozen encoder of a published head does, with a small head.
fn classical(checkpoint: &BertCheckpoint) -> HeadFile {
    let inputs = 2 * checkpoint.config.hidden_size;
    common::head(&checkpoint.encoder, &[inputs, 24], false)
}

/// What an encoder that was fine-tuned end to end does.
fn fine_tuned() -> Case {
    Case::Joint(Joint {
        orders: vec![Order::ConditionSentence],
        pooling: Pool::All,
        subtract: false,
        router: None,
    })
}

fn lenses<B: Backend>(make: impl Fn() -> B, checkpoint: &BertCheckpoint) -> [Lens<B>; 2] {
    let encoder = || Encoder::load(make(), checkpoint).unwrap();
    [
        Lens::new(encoder(), Some(&classical(checkpoint)), Case::default()).unwrap(),
        Lens::new(encoder(), None, fine_tuned()).unwrap(),
    ]
}

fn explain<B: Backend>(lens: &Lens<B>, condition: Option<&str>, switches: Switches) -> Explanation {
    block_on(lens.explain(SENTENCES, condition, switches)).unwrap()
}

/// With no switch touched an explanation ends where `compare` does.
fn ends_where_compare_does<B: Backend>(lenses: &[Lens<B>], exact: bool) {
    for lens in lenses {
        let compared = block_on(lens.compare(SENTENCES[0], SENTENCES[1], &[CONDITION])).unwrap();
        let explained = explain(lens, Some(CONDITION), Switches::default());
        let found = (
            explained.similarity,
            explained.rating,
            explained.steps[0].cosine,
        );
        let expected = (
            compared[0].similarity,
            compared[0].rating,
            compared[0].unconditional,
        );
        if exact {
            assert_eq!(found, expected);
        }
        assert!((found.0 - expected.0).abs() < 1e-5 && (found.2 - expected.2).abs() < 1e-5);
        assert_eq!(explained.recipe.as_ref(), Some(&explained.usual));
        for step in &explained.steps {
            let [a, b] = &step.vectors;
            assert!((cosine(a, b) - step.cosine).abs() < 1e-5, "{:?}", step.name);
        }
    }
}

#[test]
fn the_default_is_what_compare_gives() {
    for name in TINY {
        ends_where_compare_does(&lenses(Candle::cpu, &tiny(name)), false);
        let in_blocks = quantized(&fixture(name), Dtype::Q8_0);
        for cpu in Cpu::all() {
            // To the last bit: a row does not depend on its batch.
            ends_where_compare_does(&lenses(|| Simd::with(cpu), &in_blocks), true);
        }
        if let Some(gpu) = gpu() {
            ends_where_compare_does(&lenses(|| gpu.clone(), &tiny(name)), true);
        }
    }
}

/// More conditions than a pass holds: each comparison has its own readings, those of the explanation's last layer.
#[test]
fn attention_comes_with_a_comparison_where_it_is_asked_for() {
    let in_blocks = quantized(&fixture("bert-tiny"), Dtype::Q8_0);
    let conditions: Vec<String> = (0..60).map(|i| format!("{CONDITION} {i}")).collect();
    let conditions: Vec<&str> = conditions.iter().map(String::as_str).collect();
    for lens in lenses(Simd::new, &in_blocks) {
        let question = Question {
            sentences: SENTENCES,
            conditions: &conditions,
            first: 0,
            unconditional: None,
            attention: true,
        };
        let answers = block_on(lens.answer(&question)).unwrap();
        let plain = block_on(lens.compare(SENTENCES[0], SENTENCES[1], &conditions)).unwrap();
        for ((answer, plain), condition) in answers.iter().zip(&plain).zip(&conditions) {
            assert_eq!(answer.similarity, plain.similarity);
            assert!(plain.readings.is_none());
            let mut expected = explain(&lens, Some(condition), Switches::default()).readings;
            for reading in expected.iter_mut().flatten() {
                reading.attention = reading.attention.split_off(reading.attention.len() - 1);
            }
            assert_eq!(answer.readings.as_ref(), Some(&expected), "{condition}");
        }
    }
}

/// A part of a longer call: errors count on, and what is known is not computed again.
#[test]
fn a_part_of_a_call_knows_its_first_index() {
    let [_, lens] = lenses(Simd::new, &quantized(&fixture("bert-tiny"), Dtype::Q8_0));
    let ask = |conditions: &[&str]| {
        block_on(lens.answer(&Question {
            sentences: SENTENCES,
            conditions,
            first: 8,
            unconditional: Some(0.25),
            attention: false,
        }))
    };
    assert_eq!(ask(&[CONDITION]).unwrap()[0].unconditional, 0.25);
    let error = ask(&[CONDITION, " "]).unwrap_err().to_string();
    assert!(error.contains("condition 10"), "{error}");
}

#[test]
fn the_steps_are_those_of_the_recipe() {
    for name in TINY {
        let [classical, fine_tuned] = lenses(Candle::cpu, &tiny(name));
        let names = |explained: &Explanation| -> Vec<StepName> {
            explained.steps.iter().map(|step| step.name).collect()
        };
        let all = explain(&classical, Some(CONDITION), Switches::default());
        assert_eq!(
            names(&all),
            [
                StepName::Plain,
                StepName::Joint,
                StepName::Offset,
                StepName::Projected
            ]
        );
        // What is between the steps is what the definition says.
        let [plain, joint, offset, projected] = &all.steps[..] else {
            unreachable!()
        };
        let alone = all.condition_alone.as_ref().unwrap();
        for i in [0, 1] {
            let block = alone.len();
            assert_eq!(plain.vectors[i].len(), block);
            assert_eq!(joint.vectors[i].len(), 2 * block);
            let difference: Vec<f32> = (joint.vectors[i].iter().zip(alone.iter().cycle()))
                .map(|(joint, alone)| joint - alone)
                .collect();
            assert!(relative_error(&offset.vectors[i], &difference) < 1e-5);
            assert_eq!(projected.vectors[i].len(), 24);
        }
        assert_eq!(all.readings.each_ref().map(Vec::len), [2, 2]);

        // Each switch by itself.
        let without = |switches| explain(&classical, Some(CONDITION), switches);
        let no_head = without(Switches {
            head: Some(false),
            ..Switches::default()
        });
        assert_eq!(no_head.steps, all.steps[..3]);
        let no_subtraction = without(Switches {
            subtract: Some(false),
            ..Switches::default()
        });
        assert_eq!(
            names(&no_subtraction),
            [StepName::Plain, StepName::Joint, StepName::Projected]
        );
        assert!(relative_error(&no_subtraction.steps[1].vectors[0], &joint.vectors[0]) < 1e-5);
        assert_eq!(no_subtraction.condition_alone, None);
        let of = |pooling| {
            without(Switches {
                pooling: Some(pooling),
                head: Some(false),
                subtract: Some(false),
            })
        };
        let pooled = [Pool::All, Pool::Condition, Pool::Sentence, Pool::Cls].map(of);
        assert!(relative_error(&pooled[1].steps[1].vectors[0], &joint.vectors[0]) < 1e-5);
        for (i, a) in pooled.iter().enumerate() {
            for b in &pooled[..i] {
                assert_ne!(a.similarity, b.similarity);
            }
        }

        let short = explain(&fine_tuned, Some(CONDITION), Switches::default());
        assert_eq!(names(&short), [StepName::Plain, StepName::Joint]);
        let subtracted = Switches {
            subtract: Some(true),
            ..Switches::default()
        };
        let subtracted = explain(&fine_tuned, Some(CONDITION), subtracted);
        assert_eq!(
            names(&subtracted),
            [StepName::Plain, StepName::Joint, StepName::Offset]
        );

        // Without a condition nothing is left but the sentences.
        let bare = explain(&classical, None, Switches::default());
        assert_eq!((names(&bare), &bare.recipe), (vec![StepName::Plain], &None));
        assert!((bare.similarity - all.steps[0].cosine).abs() < 1e-5);
        assert!(
            bare.readings
                .iter()
                .all(|r| r.len() == 1 && r[0].attention.is_empty())
        );

        let wrong = Switches {
            head: Some(true),
            ..Switches::default()
        };
        let refused = block_on(fine_tuned.explain(SENTENCES, Some(CONDITION), wrong));
        assert!(matches!(refused, Err(Error::InvalidArgument(_))));
    }
}

/// How the condition's tokens of the fixture's pairs attend to their inputs, against transformers.
fn attends_like_transformers<B: Backend>(encoder: Encoder<B>, name: &str, tolerance: f64) {
    let lens = Lens::new(encoder, None, fine_tuned()).unwrap();
    let (file, described) = (
        Tensors::open("attention.safetensors"),
        json("attention.json"),
    );
    for (n, pair) in described["pairs"].as_array().unwrap().iter().enumerate() {
        let [condition, sentence] = [0, 1].map(|i| pair[i].as_str().unwrap());
        if !common::is_read_as_it_is(&lens.encoder.tokenizer, sentence) {
            continue;
        }
        let texts = [sentence, "Two children wait."];
        let explained =
            block_on(lens.explain(texts, Some(condition), Switches::default())).unwrap();
        let reading = &explained.readings[0][0];
        let key = format!("{name}.{n}");
        let found = reading.attention.concat().concat();
        let shape = file.shape(&key).unwrap();
        let rows = reading.attention.iter().map(Vec::len);
        assert_eq!(rows.collect::<Vec<_>>(), vec![shape[1]; shape[0]]);
        for row in reading.attention.iter().flatten() {
            assert_eq!(row.len(), reading.tokens.len());
            let sum: f32 = row.iter().sum();
            assert!((sum - 1.0).abs() < 1e-5, "{key}: a row sums to {sum}");
        }
        let error = relative_error(&found, &file.floats(&key));
        assert!(error <= tolerance, "{key}: {error:e}");

        // Positions and words are those of Hugging Face's tokenizers.
        let chars = |text: &str, at: usize| text[..at].chars().count() as u64;
        let own = reading.tokens.iter().filter(|t| t.part != Part::Special);
        let places: Vec<[u64; 3]> = own
            .map(|token| {
                let text = match token.part {
                    Part::Condition => explained.condition.as_deref().unwrap(),
                    _ => sentence,
                };
                let (start, end) = (chars(text, token.span.start), chars(text, token.span.end));
                [start, end, u64::from(token.word.unwrap())]
            })
            .collect();
        assert_eq!(serde_json::json!(places), described["words"][&key], "{key}");
        if name == "minilm" && n == 0 {
            let words: Vec<_> = reading.tokens.iter().map(|t| t.text.as_str()).collect();
            assert_eq!(words[..5], ["[CLS]", "the", "instrument", "[SEP]", "a"]);
        }
    }
}

#[test]
fn tiny_models_attend_like_transformers() {
    let gpu = gpu();
    for name in TINY {
        let checkpoint = tiny(name);
        let on_candle = Encoder::load(Candle::cpu(), &checkpoint).unwrap();
        attends_like_transformers(on_candle, name, 1e-4);
        for cpu in Cpu::all() {
            let on_simd = Encoder::load(Simd::with(cpu), &checkpoint).unwrap();
            attends_like_transformers(on_simd, name, 1e-4);
        }
        if let Some(gpu) = &gpu {
            let on_gpu = Encoder::load(gpu.clone(), &checkpoint).unwrap();
            attends_like_transformers(on_gpu, name, 1e-4);
        }
    }
}

#[test]
fn minilm_attends_like_transformers() {
    let Some(folder) = minilm_folder() else {
        return;
    };
    let checkpoint = Checkpoint::open(&folder)
        .and_then(Checkpoint::bert)
        .unwrap();
    let on_candle = Encoder::load(Candle::cpu(), &checkpoint).unwrap();
    attends_like_transformers(on_candle, "minilm", 1e-4);
    let on_simd = Encoder::load(Simd::new(), &checkpoint).unwrap();
    attends_like_transformers(on_simd, "minilm", 1e-4);
}

#[test]
fn what_was_cut_is_said() {
    let [lens, _] = lenses(Candle::cpu, &tiny("bert-tiny"));
    let long = "the dog and the cat ".repeat(60);
    let sentences = [long.as_str(), "Two children wait."];
    let explained =
        block_on(lens.explain(sentences, Some(CONDITION), Switches::default())).unwrap();
    let [first, second] = &explained.readings;
    assert!(first.iter().all(|r| r.cut > 100 && r.tokens.len() == 128));
    assert!(second.iter().all(|r| r.cut == 0));
    let end = first[0]
        .tokens
        .iter()
        .rev()
        .find(|t| t.part == Part::Sentence);
    let end = end.unwrap().span.end;
    assert!((100..long.len()).contains(&end), "{end}");
}

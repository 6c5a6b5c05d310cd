//! CASE embeddings against their definition, computed from hidden states one input at a time.

use crate::common;
use crate::common::{TINY, relative_error, tiny};
use caselens::{
    Lens,
    backend::{Backend, candle::Candle},
    checkpoint::EncoderId,
    embedding::{Case, Encoder, Joint, Pool},
    head::{Head, HeadFile},
    text::{Batch, Order, Sequence},
};
use pollster::block_on;

const SENTENCE: &str = "a small brown dog runs across the frozen river";
const CONDITION: &str = "the animal";

/// Mean of the hidden states of one input over a span.
fn pooled(encoder: &Encoder<Candle>, input: &Sequence, pool: Pool) -> Vec<f32> {
    let mut batch = Batch::default();
    batch.push(&input.ids, &input.types);
    let hidden = encoder.hidden(&batch).unwrap();
    let numbers = block_on(encoder.backend.read(&[&hidden]))
        .unwrap()
        .remove(0);
    let span = match pool {
        Pool::Cls => 0..1,
        Pool::All => 0..input.ids.len(),
        Pool::Condition => input.condition.clone(),
        Pool::Sentence => input.sentence.clone(),
        Pool::Last | Pool::Query => unreachable!("for decoders: tests/instruct.rs"),
        Pool::Pooler => unreachable!("no mean: tests/published.rs"),
    };
    let mut mean = vec![0f32; 64];
    for row in span.clone() {
        for (m, x) in mean.iter_mut().zip(&numbers[row * 64..]) {
            *m += x / span.len() as f32;
        }
    }
    mean
}

#[test]
fn embeddings_are_what_the_definition_says() {
    for name in TINY {
        let encoder = Encoder::load(Candle::cpu(), &tiny(name)).unwrap();
        let template = encoder.template();
        let s = template.sentence("s", SENTENCE).unwrap();
        let c = template.condition("c", CONDITION).unwrap();
        let both = vec![Order::ConditionSentence, Order::SentenceCondition];
        for orders in [vec![both[0]], vec![both[1]], both] {
            for pooling in [Pool::Cls, Pool::All, Pool::Condition, Pool::Sentence] {
                for subtract in [false, true] {
                    let case = Case::Joint(Joint {
                        orders: orders.clone(),
                        pooling,
                        subtract,
                        router: None,
                    });
                    let mut expected = Vec::new();
                    for &order in &orders {
                        let joint = template.pair(&s, &c, order).unwrap();
                        let mut e = pooled(&encoder, &joint, pooling);
                        if subtract {
                            let alone = template.condition_alone(&c).unwrap();
                            for (x, y) in e.iter_mut().zip(pooled(&encoder, &alone, pooling)) {
                                *x -= y;
                            }
                        }
                        expected.extend(e);
                    }
                    // Other inputs beside it, and the condition shared among them.
                    let inputs = [
                        encoder
                            .conditional("the old fisherman waits", CONDITION, "")
                            .unwrap(),
                        encoder.conditional(SENTENCE, CONDITION, "").unwrap(),
                        encoder.single("s", SENTENCE).unwrap(),
                    ];
                    let rows = block_on(encoder.run_raw(&inputs, &case)).unwrap();
                    assert_eq!(rows.vectors.len(), 3);
                    let error = relative_error(&rows.vectors[1], &expected);
                    assert!(error < 1e-5, "{name} {case:?}: {error:e}");
                    let plain = pooled(&encoder, &template.single(&s).unwrap(), Pool::All);
                    assert!(relative_error(&rows.vectors[2], &plain) < 1e-5, "{name}");
                }
            }
        }
    }
}

fn head(encoder: &EncoderId, inputs: usize) -> HeadFile {
    common::head(encoder, &[inputs, 24, 16], true)
}

#[test]
fn a_lens_projects_normalises_and_compares() {
    let encoder = Encoder::load(Candle::cpu(), &tiny("bert-tiny")).unwrap();
    let file = head(&encoder.id, 128);
    let input = encoder.conditional(SENTENCE, CONDITION, "").unwrap();
    let raw = block_on(encoder.run_raw(&[input], &file.spec.case)).unwrap();
    let layers = Head::load(&encoder.backend, &file).unwrap();
    let e =
        candle_core::Tensor::from_vec(raw.vectors.concat(), (1, 128), &candle_core::Device::Cpu)
            .unwrap();
    let z = layers
        .forward(&encoder.backend, &e)
        .unwrap()
        .flatten_all()
        .unwrap();
    let z = z.to_vec1::<f32>().unwrap();
    let length = z.iter().map(|x| x * x).sum::<f32>().sqrt();
    let expected: Vec<f32> = z.iter().map(|x| x / length).collect();

    let lens = Lens::new(encoder, Some(&file), Case::default()).unwrap();
    assert_eq!(lens.dims(), 16);
    let rows = block_on(lens.embed(&[(SENTENCE, Some(CONDITION)), (SENTENCE, None)])).unwrap();
    assert!(relative_error(&rows.vectors[0], &expected) < 1e-5);
    assert_eq!(rows.vectors[1].len(), 64);

    let same = block_on(lens.compare(SENTENCE, SENTENCE, &[CONDITION, "the place"])).unwrap();
    for comparison in same {
        assert!(
            (comparison.similarity - 1.0).abs() < 1e-5 && (comparison.rating - 5.0).abs() < 1e-4
        );
        assert!((comparison.unconditional - 1.0).abs() < 1e-5 && !comparison.truncated);
    }
}

#[test]
fn a_head_that_does_not_fit_is_refused() {
    let load = |name: &str| Encoder::load(Candle::cpu(), &tiny(name)).unwrap();
    let bert = load("bert-tiny");
    let wrong_encoder = head(&load("roberta-tiny").id, 128);
    let wrong_width = head(&bert.id, 64);
    let code = |file: &HeadFile| {
        let lens = Lens::new(load("bert-tiny"), Some(file), Case::default());
        lens.err().map(|e| e.code())
    };
    assert_eq!(code(&wrong_encoder), Some("head-mismatch"));
    assert_eq!(code(&wrong_width), Some("head-mismatch"));
    assert_eq!(code(&head(&bert.id, 128)), None);
}

//! Tri-encoders as published, and routers in bi-encoders: against torch (make_tri.py), their gradients, and what must be alike.

use candle_core::{Device, Tensor};
use caselens::{
    Result,
    backend::{
        Backend, Gain, Route, Routing, Scores, Stretch,
        candle::{
            Candle,
            training::{
                Trainer,
                parameters::{Adapter, FineTuning, Frozen, TrainingPrecision},
            },
        },
        simd::Simd,
    },
    embedding::{
        Apart, Case, Composition, Encoder, Input, Join, Joint, JointRouter, Pool, Prefix, Router,
        RouterQuery, RouterScore,
        layers::LinearNumbers,
        plan::Pass,
        router::{Routed, TriEncoder},
    },
    text::Order,
};
use pollster::block_on;

use crate::{
    common::{self, TINY, relative_error, tiny},
    router::{CONDITIONS, Counting, SENTENCES, embed, every_pair, numbers, texts},
};

const GAINS: [(Gain, &str); 2] = [
    (Gain::OnePlusWeight, "one-plus-weight"),
    (Gain::Weight, "weight"),
];

/// What make_tri.py was given: sentences, conditions.
fn published() -> [Vec<String>; 2] {
    let texts = common::json("router.json");
    ["sentences", "conditions"].map(|key| {
        let all = texts[key].as_array().unwrap().iter();
        all.map(|t| t.as_str().unwrap().to_owned()).collect()
    })
}

/// The trained layers of a case, by the formula of make_tri.py.
fn formula(case: &Case, hidden: usize) -> Vec<LinearNumbers> {
    let layers = case.layers(hidden).into_iter().zip(0..);
    let layers = layers.map(|(shape, seed)| {
        let numbers = |n: usize, phase: f64| -> Vec<f32> {
            let root = (shape.inputs as f64).sqrt();
            (0..n)
                .map(|i| ((0.37 * i as f64 + phase).sin() / root) as f32)
                .collect()
        };
        let biases = if shape.bias { shape.outputs } else { 0 };
        LinearNumbers {
            weight: numbers(shape.inputs * shape.outputs, f64::from(seed)),
            bias: numbers(biases, f64::from(seed) + 0.5),
        }
    });
    layers.collect()
}

fn equipped<B: Backend>(backend: B, name: &str, case: &Case) -> Encoder<B> {
    let mut encoder = Encoder::load(backend, &tiny(name)).unwrap();
    encoder.equip(case, &formula(case, 64), 0.0).unwrap();
    encoder
}

fn composed(composition: Composition, pooling: Pool) -> Case {
    Case::Apart(Apart {
        pooling,
        join: Join::Composed(composition),
    })
}

fn both(router: Router, composition: Composition) -> Case {
    Case::Apart(Apart {
        pooling: Pool::All,
        join: Join::Both(router, composition),
    })
}

fn prefix(layers: usize) -> Case {
    Case::Apart(Apart {
        pooling: Pool::All,
        join: Join::Prefix(Prefix { layers }),
    })
}

fn bi(order: Order, layers: usize, gain: Gain) -> Case {
    Case::Joint(Joint {
        orders: vec![order],
        pooling: Pool::All,
        subtract: false,
        router: Some(JointRouter { layers, gain }),
    })
}

/// Embeddings of every sentence under every condition, end to end.
fn rows<B: Backend>(encoder: &Encoder<B>, case: &Case, s: &[&str], c: &[&str]) -> Vec<f32> {
    let pairs = s.iter().flat_map(|s| c.iter().map(move |c| (s, c)));
    let inputs: Vec<Input> = pairs
        .map(|(s, c)| encoder.conditional(s, c, "").unwrap())
        .collect();
    let rows = block_on(encoder.run_raw(&inputs, case)).unwrap();
    rows.vectors.concat()
}

#[test]
fn embeddings_are_those_of_torch() {
    let reference = common::Tensors::open("tri.safetensors");
    let [sentences, conditions] = published();
    let s: Vec<&str> = sentences.iter().map(String::as_str).collect();
    let c: Vec<&str> = conditions.iter().map(String::as_str).collect();
    let close = |name: &str, key: &str, case: &Case| {
        let expected = reference.floats(key);
        for (backend, got) in [
            (
                "candle",
                rows(&equipped(Candle::cpu(), name, case), case, &s, &c),
            ),
            (
                "simd",
                rows(&equipped(Simd::new(), name, case), case, &s, &c),
            ),
        ] {
            let error = relative_error(&got, &expected);
            assert!(error < 1e-5, "{key} on {backend}: {error:e}");
        }
    };
    for name in TINY {
        for layers in [0, 1, 3] {
            close(name, &format!("{name}.prefix.{layers}"), &prefix(layers));
        }
        for (layers, query) in [
            (1, RouterQuery::Same),
            (3, RouterQuery::Same),
            (3, RouterQuery::Last),
        ] {
            for (gain, gained) in GAINS {
                for score in ["width", "heads", "head-mean", "hidden", "heavy"] {
                    let router = Router {
                        layers,
                        gain,
                        score: score.parse().unwrap(),
                        query,
                    };
                    let small = ["bert-tiny", "mpnet-tiny"].contains(&name);
                    // Heads with the same layer's query are in router.safetensors.
                    let stored = router == Router::PAPER || small;
                    if !stored || (score, query) == ("heads", RouterQuery::Same) {
                        continue;
                    }
                    let from = match query {
                        RouterQuery::Last => "last",
                        RouterQuery::Same => "same",
                    };
                    let key = format!("{name}.{score}.{from}.{layers}.{gained}");
                    close(name, &key, &Case::tri(router));
                }
            }
        }
    }
    for (name, pooling, pooled) in [
        ("bert-tiny", Pool::All, "all"),
        ("mpnet-tiny", Pool::Cls, "cls"),
    ] {
        for composition in ["mlp", "hadamard", "hyper", "hyper:3"] {
            let key = format!("{name}.{composition}.{pooled}");
            let composition = composition.parse().unwrap();
            close(name, &key, &composed(composition, pooling));
        }
        for (order, called) in [
            (Order::ConditionSentence, "cs"),
            (Order::SentenceCondition, "sc"),
        ] {
            for layers in [1, 3] {
                for (gain, gained) in GAINS {
                    let key = format!("{name}.bi.{called}.{layers}.{gained}");
                    close(name, &key, &bi(order, layers, gain));
                }
            }
        }
    }
}

#[test]
fn a_gpu_gives_the_same() {
    let Some(gpu) = common::gpu() else { return };
    let router = |score: &str, gain| {
        Case::tri(Router {
            gain,
            score: score.parse().unwrap(),
            ..Router::PAPER
        })
    };
    let (one, plain) = (Gain::OnePlusWeight, Gain::Weight);
    for case in [
        router("width", one),
        router("heads", plain),
        router("head-mean", one),
        router("hidden", plain),
        router("heavy", one),
        composed(Composition::Mlp, Pool::All),
        composed(Composition::Hadamard, Pool::Cls),
        composed(Composition::Hyper, Pool::All),
        composed(Composition::HyperLowRank(3), Pool::All),
        both(Router::PAPER, Composition::Mlp),
        prefix(2),
        bi(Order::SentenceCondition, 3, one),
        bi(Order::ConditionSentence, 2, plain),
    ] {
        let name = "mpnet-tiny";
        let on_cpu = equipped(Candle::cpu(), name, &case);
        let on_gpu = equipped(gpu.clone(), name, &case);
        let expected = rows(&on_cpu, &case, &SENTENCES, &CONDITIONS);
        let error = relative_error(&rows(&on_gpu, &case, &SENTENCES, &CONDITIONS), &expected);
        assert!(error < 1e-4, "{case:?}: {error:e}");
    }
}

/// What is kept gives what each pair gives by itself, whatever joins them.
#[test]
fn a_batch_changes_nothing() {
    let (name, gain) = ("mpnet-tiny", Gain::OnePlusWeight);
    let random = Router {
        score: RouterScore::Random(3),
        ..Router::PAPER
    };
    for case in [
        Case::tri(Router::PAPER),
        Case::tri(random),
        Case::tri(Router {
            layers: 0,
            ..Router::PAPER
        }),
        composed(Composition::Mlp, Pool::Sentence),
        composed(Composition::Hadamard, Pool::All),
        composed(Composition::Hyper, Pool::All),
        composed(Composition::HyperLowRank(2), Pool::Cls),
        both(Router::PAPER, Composition::Mlp),
        both(random, Composition::Hadamard),
        both(Router::default(), Composition::HyperLowRank(2)),
        prefix(1),
        bi(Order::SentenceCondition, 2, gain),
    ] {
        let encoder = equipped(Candle::cpu(), name, &case);
        let all = rows(&encoder, &case, &SENTENCES, &CONDITIONS);
        let pairs = every_pair(SENTENCES.len(), CONDITIONS.len());
        for (i, pair) in pairs.iter().enumerate() {
            let (s, c) = (SENTENCES[pair.sentence], CONDITIONS[pair.condition]);
            let alone = rows(&encoder, &case, &[s], &[c]);
            let error = relative_error(&all[64 * i..64 * (i + 1)], &alone);
            assert!(error < 1e-5, "{case:?} {pair:?}: {error:e}");
        }
    }
}

/// The routed embedding, number by number times Linear(c) by hand: c is the condition's embedding by itself, which nothing weighs.
#[test]
fn what_is_routed_is_put_together_with_the_condition() {
    for router in [
        Router::PAPER,
        Router::default(),
        Router {
            score: RouterScore::Random(3),
            ..Router::PAPER
        },
        Router {
            layers: 0,
            ..Router::PAPER
        },
    ] {
        let case = both(router, Composition::Hadamard);
        let encoder = equipped(Candle::cpu(), "bert-tiny", &case);
        let got = rows(&encoder, &case, &SENTENCES, &CONDITIONS);
        let routed = Encoder::load(Candle::cpu(), &tiny("bert-tiny")).unwrap();
        let s = rows(&routed, &Case::tri(router), &SENTENCES, &CONDITIONS);
        let alone = CONDITIONS.map(|c| encoder.single("c", c).unwrap());
        let c = block_on(encoder.run_raw(&alone, &case)).unwrap().vectors;
        let [layer] = &formula(&case, 64)[..] else {
            panic!("one layer")
        };
        let linear = |c: &[f32], out: usize| {
            let row = &layer.weight[64 * out..64 * (out + 1)];
            row.iter().zip(c).map(|(w, x)| w * x).sum::<f32>() + layer.bias[out]
        };
        let expected: Vec<f32> = (s.iter().enumerate())
            .map(|(i, s)| s * linear(&c[i / 64 % CONDITIONS.len()], i % 64))
            .collect();
        let error = relative_error(&got, &expected);
        assert!(error < 1e-5, "{router:?}: {error:e}");
    }
}

#[test]
fn where_no_layer_is_routed_the_sentence_stands_by_itself() {
    let encoder = Encoder::load(Candle::cpu(), &tiny("bert-tiny")).unwrap();
    let case = Case::tri(Router {
        layers: 0,
        ..Router::PAPER
    });
    let under = rows(&encoder, &case, &SENTENCES, &CONDITIONS);
    let alone: Vec<Input> = (SENTENCES.iter())
        .map(|s| encoder.single("s", s).unwrap())
        .collect();
    let alone = block_on(encoder.run_raw(&alone, &case)).unwrap();
    for (i, row) in under.chunks_exact(64).enumerate() {
        assert_eq!(row, alone.vectors[i / CONDITIONS.len()]);
    }
}

#[test]
fn with_one_head_the_full_width_and_the_heads_score_alike() {
    let mut checkpoint = tiny("bert-tiny");
    checkpoint.config.num_attention_heads = 1;
    let encoder = Encoder::load(Candle::cpu(), &checkpoint).unwrap();
    let of = |score| {
        let case = Case::tri(Router {
            score,
            ..Router::PAPER
        });
        numbers(&embed(&encoder, &case, &SENTENCES, &CONDITIONS))
    };
    let width = of(RouterScore::Width);
    for score in [RouterScore::Heads, RouterScore::HeadMean] {
        assert!(relative_error(&of(score), &width) < 1e-6, "{score}");
    }
    assert!(relative_error(&of(RouterScore::Hidden), &width) > 1e-3);
}

#[test]
fn chance_repeats_by_its_seed() {
    let encoder = Encoder::load(Candle::cpu(), &tiny("bert-tiny")).unwrap();
    let of = |seed, s: &[&str]| {
        let case = Case::tri(Router {
            score: RouterScore::Random(seed),
            layers: 2,
            ..Router::default()
        });
        let tri = TriEncoder::new(&encoder, &case).unwrap();
        let [sentences, conditions] = texts(&encoder, &case, s, &CONDITIONS);
        let sentences = tri.sentences(sentences).unwrap();
        let conditions = tri.conditions(&conditions).unwrap();
        // A condition is not even read.
        assert_eq!(conditions.bytes(), 0);
        let pairs = [Routed {
            sentence: 0,
            condition: 1,
        }];
        let mut weights = Vec::new();
        let watch = |w: Tensor| weights.push(numbers(&w));
        let rows = tri.embed_watched(&sentences, &conditions, &pairs, watch);
        (numbers(&rows.unwrap()), weights)
    };
    let (rows, weights) = of(7, &SENTENCES[..1]);
    assert_eq!(of(7, &SENTENCES), (rows.clone(), weights.clone()));
    assert_eq!(weights.len(), 2);
    assert_ne!(weights[0], weights[1]);
    for layer in &weights {
        assert!((layer.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        assert!(layer.iter().all(|w| *w >= 0.0));
    }
    assert_ne!(of(8, &SENTENCES[..1]).0, rows);
}

/// The published router's weights are torch's, and those of every kind sum to 1.
#[test]
fn weights_are_told() {
    let reference = common::Tensors::open("tri.safetensors");
    let [sentences, conditions] = published();
    for name in ["bert-tiny", "mpnet-tiny"] {
        for score in ["width", "heads", "head-mean", "hidden", "heavy", "random"] {
            let case = Case::tri(Router {
                score: score.parse().unwrap(),
                ..Router::PAPER
            });
            let encoder = equipped(Candle::cpu(), name, &case);
            let tri = TriEncoder::new(&encoder, &case).unwrap();
            let [s, c] = texts(&encoder, &case, &[&sentences[0]], &[&conditions[0]]);
            let (s, c) = (tri.sentences(s).unwrap(), tri.conditions(&c).unwrap());
            let mut weights = Vec::new();
            tri.embed_watched(&s, &c, &every_pair(1, 1), |w| weights.push(w))
                .unwrap();
            assert_eq!(weights.len(), 3);
            for (layer, w) in weights.iter().enumerate() {
                let sums = numbers(&w.sum(0).unwrap());
                assert_eq!(sums.len(), if score == "heads" { 4 } else { 1 });
                assert!(sums.iter().all(|sum| (sum - 1.0).abs() < 1e-5), "{sums:?}");
                if score == "width" {
                    let expected = reference.floats(&format!("{name}.weights.{layer}"));
                    assert!(relative_error(&numbers(w), &expected) < 1e-5);
                }
            }
        }
    }
}

/// With weights of zero under 1 + w a bi-encoder is the plain one, to the last bit.
#[test]
fn a_bi_encoder_whose_weights_are_zero_is_the_plain_one() {
    let encoder = Encoder::load(Candle::cpu(), &tiny("bert-tiny")).unwrap();
    let backend = &encoder.backend;
    let attended: Vec<f32> = (0..5 * 8).map(|i| (i as f32 * 0.3).sin()).collect();
    let attended = Tensor::from_vec(attended, (5, 8), &Device::Cpu).unwrap();
    let attention = Tensor::zeros((1, 5), candle_core::DType::F32, &Device::Cpu).unwrap();
    let stretch = Stretch {
        row: 0,
        first: 1,
        start: 1,
        len: 3,
    };
    let weights = backend.shares(&attention, &[stretch]).unwrap();
    assert_eq!(numbers(&weights), [0.0; 3]);
    let scaled = backend.scale(&attended, &[1, 2, 3], &weights, Gain::OnePlusWeight);
    assert_eq!(numbers(&scaled.unwrap()), numbers(&attended)[8..32]);

    // The whole way, where attention is told as zeros.
    let (mut blind, _) = Counting::new(true);
    blind.blind = true;
    let blind = Encoder::load(blind, &tiny("bert-tiny")).unwrap();
    for order in [Order::ConditionSentence, Order::SentenceCondition] {
        let routed = bi(order, 3, Gain::OnePlusWeight);
        let Case::Joint(joint) = routed.clone() else {
            unreachable!()
        };
        let plain = Case::Joint(Joint {
            router: None,
            ..joint
        });
        let expected = rows(&encoder, &plain, &SENTENCES, &CONDITIONS);
        assert_eq!(rows(&blind, &routed, &SENTENCES, &CONDITIONS), expected);
        let seeing = rows(&encoder, &routed, &SENTENCES, &CONDITIONS);
        assert!(relative_error(&seeing, &expected) > 1e-3);
    }
}

#[test]
fn gradients_are_those_of_finite_differences() {
    let paper = |score| {
        Case::tri(Router {
            score,
            ..Router::PAPER
        })
    };
    let cases = [
        (paper(RouterScore::Width), 0),
        (paper(RouterScore::HeadMean), 0),
        (paper(RouterScore::Heavy), 2),
        (composed(Composition::Mlp, Pool::All), 4),
        (composed(Composition::Hadamard, Pool::Cls), 2),
        (composed(Composition::HyperLowRank(2), Pool::All), 6),
        (both(Router::PAPER, Composition::Hadamard), 2),
        (prefix(1), 0),
        (bi(Order::SentenceCondition, 2, Gain::OnePlusWeight), 0),
    ];
    for (case, beside) in cases {
        let how = FineTuning {
            adapter: Adapter::Full,
            frozen: Frozen::None,
            dropout: 0.0,
            precision: TrainingPrecision::F32,
            pooler: false,
        };
        let encoder = equipped(Trainer::new(Device::Cpu, 0, how), "bert-tiny", &case);
        let weights: Vec<f32> = (0..2 * 64).map(|i| (i as f32 * 0.7).sin()).collect();
        let weights = Tensor::from_vec(weights, (2, 64), &Device::Cpu).unwrap();
        let (s, c) = (&SENTENCES[..2], &CONDITIONS[..1]);
        let loss = || -> Result<Tensor> {
            let embedded = match &case {
                Case::Joint(joint) => {
                    let template = encoder.template();
                    let mut pass = Pass::default();
                    for (i, s) in s.iter().enumerate() {
                        let input = encoder.conditional(s, c[0], "")?;
                        pass.add(i, &input, &template, Some(&case), Pool::All)?;
                    }
                    let (batch, router) = (&pass.plan.batch, joint.router.unwrap());
                    let within = encoder.within(router, pass.joint(), batch.tokens())?;
                    let hidden = encoder.hidden_within(batch, &within)?;
                    encoder.backend.pool(&hidden, &pass.conditional.pooling)?
                }
                _ => embed(&encoder, &case, s, c),
            };
            Ok((embedded * &weights)?.sum_all()?)
        };
        let value = || f64::from(loss().unwrap().to_scalar::<f32>().unwrap());
        let gradients = encoder.backend.gradients(&loss().unwrap()).unwrap();
        let parameters = encoder.backend.parameters();
        // All of the encoder's, query, key and value in one.
        assert_eq!(parameters.len(), 5 + 3 * 12 + beside, "{case:?}");
        // Some of the encoder's, and all that stand beside it.
        let some = (0..41).step_by(6).chain(41..parameters.len());
        for p in some.map(|i| &parameters[i]) {
            let g = gradients.get(&p.var).unwrap();
            let length = numbers(&g.sqr().unwrap().sum_all().unwrap())[0].sqrt();
            // Along the gradient the loss changes by the gradient's length.
            let start = p.var.as_detached_tensor().copy().unwrap();
            let step = 0.003;
            let at = |step: f64| {
                let direction = (g * (step / f64::from(length))).unwrap();
                p.var.set(&(&start + direction).unwrap()).unwrap();
                value()
            };
            let slope = (at(step) - at(-step)) / (2.0 * step);
            p.var.set(&start).unwrap();
            let error = (slope - f64::from(length)).abs() / f64::from(length);
            assert!(error < 0.02, "{case:?} {:?}: {slope} {length}", p.parts);
        }
    }
}

/// A heavy router has two matrices that are trained, and others add none.
#[test]
fn a_router_adds_what_was_published() {
    for (score, more) in [
        (RouterScore::Width, 0),
        (RouterScore::Heads, 0),
        (RouterScore::Hidden, 0),
        (RouterScore::Random(1), 0),
        (RouterScore::Heavy, 2 * 64 * 64),
    ] {
        let how = |adapter| FineTuning {
            adapter,
            frozen: Frozen::None,
            dropout: 0.0,
            precision: TrainingPrecision::F32,
            pooler: false,
        };
        let case = Case::tri(Router {
            score,
            ..Router::PAPER
        });
        let numbers = |case: &Case| -> usize {
            let backend = Trainer::new(Device::Cpu, 0, how(Adapter::Full));
            let encoder = equipped(backend, "bert-tiny", case);
            let parameters = encoder.backend.parameters();
            parameters.iter().map(|p| p.var.elem_count()).sum()
        };
        assert_eq!(numbers(&case) - numbers(&Case::default()), more, "{score}");
    }
}

#[test]
fn what_was_trained_is_asked_for() {
    let load = || Encoder::load(Candle::cpu(), &tiny("bert-tiny")).unwrap();
    let heavy = Case::tri(Router {
        score: RouterScore::Heavy,
        ..Router::PAPER
    });
    let mlp = composed(Composition::Mlp, Pool::All);
    for case in [&heavy, &mlp] {
        let error = load().check(case).unwrap_err();
        assert!(error.to_string().contains("fine-tune"), "{error}");
        let mut encoder = load();
        assert!(encoder.equip(case, &[], 0.0).is_err());
        encoder.equip(case, &formula(case, 64), 0.0).unwrap();
        encoder.check(case).unwrap();
    }
    // Layers of one kind are not those of another.
    let mut encoder = load();
    encoder.equip(&mlp, &formula(&mlp, 64), 0.0).unwrap();
    assert!(encoder.check(&heavy).is_err());
}

/// By hand: two conditions' weights of a sentence of three tokens, width 2.
#[test]
fn weights_by_hand() {
    let matrix = |numbers: &[f32], rows: usize| {
        Tensor::from_vec(numbers.to_vec(), (rows, numbers.len() / rows), &Device::Cpu).unwrap()
    };
    let root = 2f32.sqrt();
    let queries = matrix(&[root, 0.0, 0.0, 0.0], 2);
    // Of the first condition scores 0, ln 2, ln 3; of the second all the same.
    let keys = matrix(&[9.0, 9.0, 0.0, 5.0, 2f32.ln(), 5.0, 3f32.ln(), 5.0], 4);
    let routes = [0, 1].map(|query| Route {
        start: 1,
        len: 3,
        query,
    });
    let backend = Candle::cpu();
    let weights = backend
        .weights(&queries, &keys, &routes, Scores::Whole)
        .unwrap();
    let expected = [
        1.0 / 6.0,
        2.0 / 6.0,
        3.0 / 6.0,
        1.0 / 3.0,
        1.0 / 3.0,
        1.0 / 3.0,
    ];
    assert!(relative_error(&numbers(&weights), &expected) < 1e-6);
    let x = matrix(&[1.0, 2.0, 3.0, 4.0], 2);
    // [1 2]·[[1 0] [0 1]] and [3 4]·[[0 1] [2 0]].
    let matrices = matrix(&[0.0, 1.0, 2.0, 0.0, 1.0, 0.0, 0.0, 1.0], 2);
    let y = backend.transform(&x, &matrices, &[1, 0]).unwrap();
    assert_eq!(numbers(&y), [1.0, 2.0, 8.0, 3.0]);
}

//! What the C-STS paper trains and reports (Deshpande et al., 2023), against torch, scipy and statsmodels.

use candle_core::{Device, Var};
use caselens::{
    Lens,
    backend::{
        Activation, Backend,
        candle::{
            Candle,
            training::{
                Trainer,
                parameters::{Adapter, FineTuning, Frozen, TrainingPrecision},
            },
        },
        simd::Simd,
    },
    checkpoint::{EncoderId, weights::Dtype},
    data::{dataset::Dataset, mixture::Mixture},
    embedding::{Case, Cross, Encoder, Inputs, Pool, Router, plan::Pass},
    evaluation::agreement::fleiss_kappa,
    head::{Head, HeadFile, HeadLayer, HeadShape},
    training::{
        early_stopping::Keep,
        encoder::{Progress, fine_tune},
        loss::{Compared, Loss},
        rated::{EncoderOptions, Task},
    },
};
use pollster::block_on;
use serde_json::Value;

use crate::common;

fn floats(value: &Value) -> Vec<f64> {
    let all = value.as_array().unwrap().iter();
    all.map(|x| x.as_f64().unwrap()).collect()
}

fn singles(value: &Value) -> Vec<f32> {
    floats(value).into_iter().map(|x| x as f32).collect()
}

#[test]
fn the_quad_loss_is_torchs_under_every_margin() {
    let fixture = &common::json("csts.json")["quad"];
    let (similarity, ratings) = (
        singles(&fixture["similarity"]),
        singles(&fixture["ratings"]),
    );
    let groups: Vec<_> = (0..4)
        .map(|pair| Compared {
            rows: 2 * pair..2 * pair + 2,
            asked: vec![[pair, 0], [pair, 1]],
            inputs: 4,
        })
        .collect();
    for expected in fixture["margins"].as_array().unwrap() {
        let margin = expected["margin"].as_f64().unwrap();
        let loss = Loss {
            margin,
            ..("quad".parse().unwrap())
        };
        let var = Var::new(similarity.as_slice(), &Device::Cpu).unwrap();
        let got = loss.of(var.as_tensor(), &ratings, &groups, 16).unwrap();
        let value = f64::from(got.to_scalar::<f32>().unwrap());
        assert!(
            (value - expected["value"].as_f64().unwrap()).abs() < 1e-6,
            "{margin}"
        );
        let slopes = got.backward().unwrap();
        let slopes: Vec<f32> = slopes.get(&var).unwrap().to_vec1().unwrap();
        for (slope, wanted) in slopes.iter().zip(singles(&expected["slopes"])) {
            assert!((slope - wanted).abs() < 1e-6, "{margin}");
        }
    }
}

#[cfg(feature = "cli")]
#[test]
fn t_tests_are_scipys() {
    use caselens::evaluation::significance::TTest;

    let fixture = common::json("csts.json");
    let near = |ours: f64, theirs: &Value| {
        let theirs = theirs.as_f64().unwrap();
        assert!(
            (ours - theirs).abs() <= 1e-10 * theirs.abs().max(1.0),
            "{ours} {theirs}"
        );
        ours / theirs
    };
    for case in fixture["t_tests"].as_array().unwrap() {
        let (a, b) = (floats(&case["a"]), floats(&case["b"]));
        for (name, test) in [
            ("welch", TTest::welch(&a, &b)),
            ("paired", TTest::paired(&a, &b)),
        ] {
            let Some(expected) = case.get(name) else {
                assert!(test.is_none(), "as many in both samples");
                continue;
            };
            let test = test.unwrap();
            near(test.t, &expected["t"]);
            near(test.df, &expected["df"]);
            // The smallest p of the fixture too, which no absolute bound would see.
            let ratio = near(test.p, &expected["p"]);
            assert!((ratio - 1.0).abs() < 1e-9, "{name} {ratio}");
        }
    }
}

fn cross(inputs: Inputs) -> Case {
    Case::Cross(Cross {
        pooling: Pool::Cls,
        inputs,
    })
}

/// The fixture's head for a cross-encoder: with its transform, or the score alone.
fn scorer(file: &common::Tensors, encoder: &EncoderId, transform: bool, case: Case) -> HeadFile {
    let layer = |name: &str| HeadLayer {
        weight: file.floats(&format!("{name}.weight")),
        bias: file.floats(&format!("{name}.bias")),
    };
    let (widths, activation) = match transform {
        true => (vec![64], Activation::Gelu),
        false => (Vec::new(), Activation::None),
    };
    let shape = HeadShape {
        widths,
        activation,
        dropout: 0.1,
    };
    HeadFile {
        layers: match transform {
            true => vec![layer("transform"), layer("score")],
            false => vec![layer("score")],
        },
        ..HeadFile::new(shape.on(encoder.clone(), 64, case))
    }
}

fn triples() -> Vec<[String; 3]> {
    let fixture = common::json("csts.json");
    serde_json::from_value(fixture["triples"].clone()).unwrap()
}

fn scores<B: Backend>(lens: &Lens<B>, triples: &[[String; 3]]) -> Vec<f32> {
    let rows = triples.iter().map(|row| row.each_ref().map(String::as_str));
    block_on(lens.compare_rows(rows)).unwrap().similarities
}

#[test]
fn a_cross_encoder_reads_the_ids_of_the_papers_program() {
    let file = common::Tensors::open("cross.safetensors");
    for name in common::TINY {
        let encoder = Encoder::load(Candle::cpu(), &common::tiny(name)).unwrap();
        let template = encoder.template();
        for (n, [s1, s2, c]) in triples().iter().enumerate() {
            let text = |text: &str| template.sentence("text", text).unwrap();
            let (s1, s2, c) = (
                text(s1),
                text(s2),
                template.condition("condition", c).unwrap(),
            );
            let sequence = template.together(&[&s1, &s2], Some(&c)).unwrap();
            assert_eq!(
                sequence.ids,
                file.integers(&format!("{name}.ids.{n}")),
                "{name} {n}"
            );
            assert!(sequence.types.iter().all(|&t| t == 0));
            assert_eq!(sequence.condition.end + 1, sequence.ids.len(), "{name}");
            assert!(sequence.sentence.end < sequence.condition.start, "{name}");
        }
        // What is too long loses its sentences' ends, the longer one's first, and never the condition's.
        let (long, short) = ("a small brown dog ".repeat(40), "two dogs wait");
        let [long, short] =
            [long.as_str(), short].map(|text| template.sentence("text", text).unwrap());
        let c = template
            .condition("condition", "the kind of animal")
            .unwrap();
        let whole = template.together(&[&short, &short], Some(&c)).unwrap();
        let cut = template.together(&[&long, &short], Some(&c)).unwrap();
        assert!(cut.cut > 0 && whole.cut == 0, "{name}");
        assert_eq!(cut.ids.len(), template.max_tokens, "{name}");
        let tail = &whole.ids[whole.condition.start - 1..];
        assert_eq!(&cut.ids[cut.ids.len() - tail.len()..], tail, "{name}");
        let long = template
            .condition("condition", &"the kind of animal ".repeat(60))
            .unwrap();
        let error = template
            .together(&[&short, &short], Some(&long))
            .err()
            .unwrap();
        assert_eq!(error.code(), "condition-too-long", "{name}");
    }
}

#[test]
fn its_scores_are_torchs_on_every_backend() {
    let file = common::Tensors::open("cross.safetensors");
    let triples = triples();
    let near = |ours: &[f32], theirs: &[f32], bound: f32, what: &str| {
        assert_eq!(ours.len(), theirs.len());
        for (x, y) in ours.iter().zip(theirs) {
            assert!(
                (x - y).abs() <= bound * y.abs().max(1.0),
                "{what}: {ours:?} {theirs:?}"
            );
        }
    };
    for name in common::TINY {
        for (kind, transform) in [("linear", false), ("transform", true)] {
            let expected = file.floats(&format!("{name}.{kind}"));
            let what = format!("{name} {kind}");
            let encoder = Encoder::load(Candle::cpu(), &common::tiny(name)).unwrap();
            let head = scorer(&file, &encoder.id, transform, cross(Inputs::All));
            let lens = Lens::new(encoder, Some(&head), Case::default()).unwrap();
            near(&scores(&lens, &triples), &expected, 1e-5, &what);
            // A comparison is the same as a row, and its rating that of the score.
            let [s1, s2, c] = &triples[0];
            let comparisons = block_on(lens.compare(s1, s2, &[c, "the place"])).unwrap();
            near(&[comparisons[0].similarity], &expected[..1], 1e-5, &what);
            assert_ne!(comparisons[0].similarity, comparisons[1].similarity);
            let plain = block_on(lens.encoder.embed(&[s1, s2], Pool::All, true)).unwrap();
            let unconditional = caselens::similarity::cosine(&plain.vectors[0], &plain.vectors[1]);
            assert!((comparisons[0].unconditional - unconditional).abs() < 1e-5);

            for gpu in common::gpus() {
                let lens =
                    Lens::load(gpu, &common::tiny(name), Some(&head), Case::default()).unwrap();
                near(
                    &scores(&lens, &triples),
                    &expected,
                    1e-3,
                    &format!("{what} on WebGPU"),
                );
            }
            // What rounding to bytes leaves of it, the same on the backend for bytes as on candle.
            let rounded = common::quantized(&common::fixture(name), Dtype::Q8_0);
            let head = scorer(&file, &rounded.encoder, transform, cross(Inputs::All));
            let candle = Lens::load(Candle::cpu(), &rounded, Some(&head), Case::default()).unwrap();
            let simd = Lens::load(Simd::new(), &rounded, Some(&head), Case::default()).unwrap();
            near(
                &scores(&simd, &triples),
                &scores(&candle, &triples),
                0.05,
                &format!("{what} in bytes"),
            );
        }
    }
}

#[test]
fn what_it_does_not_read_changes_nothing() {
    let file = common::Tensors::open("cross.safetensors");
    let rows = |rows: [[&str; 3]; 3]| rows.map(|row| row.map(str::to_owned)).to_vec();
    let sentences = rows([
        ["a dog", "a cat", "the place"],
        ["rain", "two men", "the place"],
        ["a dog", "a cat", "the age"],
    ]);
    let score = |inputs: Inputs| {
        let encoder = Encoder::load(Candle::cpu(), &common::tiny("roberta-tiny")).unwrap();
        let head = scorer(&file, &encoder.id, true, cross(inputs));
        scores(
            &Lens::new(encoder, Some(&head), Case::default()).unwrap(),
            &sentences,
        )
    };
    let [all, condition, texts] = [Inputs::All, Inputs::Condition, Inputs::Sentences].map(score);
    assert!(all[0] != all[1] && all[0] != all[2] && all[1] != all[2]);
    assert!(
        condition[0] == condition[1] && condition[0] != condition[2],
        "{condition:?}"
    );
    assert!(texts[0] == texts[2] && texts[0] != texts[1], "{texts:?}");
}

#[test]
fn it_embeds_nothing_and_says_so() {
    let file = common::Tensors::open("cross.safetensors");
    let load = || Encoder::load(Candle::cpu(), &common::tiny("bert-tiny")).unwrap();
    let refused = |error: caselens::Error, part: &str| {
        assert_eq!(error.code(), "invalid-argument");
        assert!(error.to_string().contains(part), "{error}");
    };
    let head = scorer(&file, &load().id, false, cross(Inputs::All));
    let lens = Lens::new(load(), Some(&head), Case::default()).unwrap();
    refused(
        block_on(lens.embed(&[("a dog", Some("the animal"))])).unwrap_err(),
        "embeds neither",
    );
    refused(
        Lens::new(load(), None, cross(Inputs::All)).err().unwrap(),
        "the head that was trained with it",
    );
    let inputs = load()
        .compared(&cross(Inputs::All), ["a dog", "a cat"], "the animal", "")
        .unwrap();
    assert_eq!(inputs.len(), 1);
    for case in [Case::default(), Case::tri(Router::default())] {
        refused(
            block_on(load().run_raw(&inputs, &case)).unwrap_err(),
            "are for a cross-encoder",
        );
    }
    let pooled = Case::Cross(Cross {
        pooling: Pool::Condition,
        inputs: Inputs::All,
    });
    assert!(pooled.fault().unwrap().contains("cls or all"));
}

#[test]
fn the_gradient_of_its_loss_is_that_of_finite_differences() {
    let file = common::Tensors::open("cross.safetensors");
    let triples = triples();
    for name in ["bert-tiny", "roberta-tiny"] {
        let how = FineTuning {
            adapter: Adapter::Full,
            frozen: Frozen::None,
            dropout: 0.0,
            precision: TrainingPrecision::F32,
            pooler: false,
        };
        let checkpoint = common::tiny(name);
        let encoder = Encoder::load(Trainer::new(Device::Cpu, 0, how), &checkpoint).unwrap();
        let case = cross(Inputs::All);
        let mut head = scorer(&file, &encoder.id, true, case.clone());
        head.spec.dropout = 0.0;
        let head = Head::load(&encoder.backend, &head).unwrap();
        let mut pass = Pass::default();
        for (i, [s1, s2, c]) in triples.iter().enumerate() {
            let inputs = encoder.compared(&case, [s1, s2], c, "").unwrap();
            pass.add(i, &inputs[0], &encoder.template(), Some(&case), Pool::All)
                .unwrap();
        }
        let groups = [Compared {
            rows: 0..4,
            asked: (0..4).map(|i| [0, i]).collect(),
            inputs: 4,
        }];
        let loss: Loss = "mse,quad".parse().unwrap();
        let value = || {
            let hidden = encoder.hidden(&pass.plan.batch).unwrap();
            let pooled = encoder
                .backend
                .pool(&hidden, &pass.conditional.pooling)
                .unwrap();
            let scores = head
                .finished(&encoder.backend, &pooled)
                .unwrap()
                .squeeze(1)
                .unwrap();
            loss.of(&scores, &[5.0, 2.0, 3.5, 1.0], &groups, 4).unwrap()
        };
        let number = |loss: &candle_core::Tensor| f64::from(loss.to_scalar::<f32>().unwrap());
        let gradients = encoder.backend.gradients(&value()).unwrap();
        let parameters = encoder.backend.parameters();
        let in_head = parameters
            .iter()
            .filter(|p| p.parts[0].0.starts_with("layers."))
            .count();
        assert_eq!(in_head, 4, "{name}");
        for p in parameters.iter().rev().step_by(3) {
            let g = gradients.get(&p.var).unwrap();
            let length = f64::from(
                g.sqr()
                    .unwrap()
                    .sum_all()
                    .unwrap()
                    .to_scalar::<f32>()
                    .unwrap(),
            )
            .sqrt();
            let start = p.var.as_detached_tensor().copy().unwrap();
            let step = 0.002;
            let at = |step: f64| {
                let direction = (g * (step / length)).unwrap();
                p.var.set(&(&start + direction).unwrap()).unwrap();
                number(&value())
            };
            let slope = (at(step) - at(-step)) / (2.0 * step);
            p.var.set(&start).unwrap();
            assert!(
                (slope - length).abs() / length < 0.03,
                "{name} {:?}: {slope} {length}",
                p.parts
            );
        }
    }
}

/// Every pair of four sentences, under two conditions of which each asks whether one of two words is the same.
fn pairs() -> Dataset {
    let (animals, places) = (["dog", "cat"], ["river", "street"]);
    let mut csv = String::from("sentence1,sentence2,condition,label\n");
    for i in 0..16 {
        let [a, b, p, q] = [0, 1, 2, 3].map(|bit| i >> bit & 1);
        let sentence = |a: usize, p: usize| format!("a {} near the {}", animals[a], places[p]);
        for (condition, same) in [("the animal", a == b), ("the place", p == q)] {
            let label = if same { 5 } else { 1 };
            csv += &format!(
                "{},{},{condition},{label}\n",
                sentence(a, p),
                sentence(b, q)
            );
        }
    }
    Dataset::from_columns("pairs.csv", &common::columns(&csv)).unwrap()
}

#[test]
fn it_learns_what_a_condition_asks_of_two_sentences() {
    let (checkpoint, validation) = (common::tiny("bert-tiny"), pairs());
    let train = Mixture {
        rated: pairs(),
        ..Mixture::default()
    };
    let tune = |inputs: Inputs, epochs: usize| {
        let (case, mut steps) = (cross(inputs), 0);
        let options = EncoderOptions {
            adapter: Adapter::Full,
            freeze: Frozen::Tokens,
            head: HeadShape {
                widths: vec![64],
                activation: Activation::Gelu,
                dropout: 0.0,
            },
            loss: "mse,quad:0.3".parse().unwrap(),
            learning_rate: 1e-3,
            warm_up: 0.1,
            clip: None,
            weight_decay: 0.01,
            dropout: 0.0,
            batch: 4,
            average: None,
            epochs,
            keep: Keep::Last,
            seed: 0,
            precision: TrainingPrecision::F32,
        };
        let task = Task {
            checkpoint: &checkpoint,
            general: None,
            device: Device::Cpu,
            case: &case,
            train: &train,
            validation: &validation,
            options: &options,
        };
        let tuned = fine_tune(&task, None, |progress, _| {
            if let Progress::Step { of, .. } = progress {
                steps = of;
            }
            Ok(())
        });
        let tuned = tuned.unwrap();
        // A row is one input: eight of the thirty-two a step.
        assert_eq!(steps, 4 * epochs);
        assert_eq!(tuned.layers.last().unwrap().weight.len(), 64);
        tuned.best.validation.value()
    };
    // Half of the rows are rated alike: no ranking reaches more than 0.866.
    let (learnt, blind) = (tune(Inputs::All, 20), tune(Inputs::Condition, 2));
    assert!(learnt > 0.8, "{learnt}");
    assert!(blind.is_nan() || blind.abs() < 1e-6, "{blind}");
}

#[test]
fn fleiss_kappa_is_statsmodels() {
    for case in common::json("csts.json")["kappa"].as_array().unwrap() {
        let votes: Vec<Vec<usize>> = serde_json::from_value(case["votes"].clone()).unwrap();
        let kappa = fleiss_kappa(&votes).unwrap();
        assert!(
            (kappa - case["kappa"].as_f64().unwrap()).abs() < 1e-12,
            "{kappa}"
        );
    }
}

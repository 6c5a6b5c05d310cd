//! Knowledge graph completion: ranks against scipy, the loss against torch, and an encoder that learns a graph.

use crate::common;

use candle_core::{Device, Tensor, Var};
use caselens::{
    backend::candle::{
        Candle,
        training::parameters::{Adapter, Frozen, TrainingPrecision},
    },
    data::graph::{Answers, File, Graph, Reading, Triple},
    embedding::{Case, Encoder, Joint, Pool, Router},
    evaluation::{
        links::rank_links,
        ranking::{Query, Ranking, rank, ranks},
    },
    head::HeadShape,
    text::Order,
    training::{
        early_stopping::{Keep, Validated},
        encoder::{FineTuned, Progress, fine_tune},
        info_nce::{Negatives, info_nce},
        links::{self, EncoderOptions, LinkLoss, Task},
    },
};
use serde_json::Value;

fn floats(value: &Value) -> Vec<f32> {
    let all = value.as_array().unwrap().iter();
    all.map(|x| x.as_f64().unwrap() as f32).collect()
}

fn rows(value: &Value) -> Vec<Vec<f32>> {
    value.as_array().unwrap().iter().map(floats).collect()
}

fn numbers(value: &Value) -> Vec<u32> {
    let all = value.as_array().unwrap().iter();
    all.map(|x| x.as_u64().unwrap() as u32).collect()
}

#[test]
fn ranks_are_scipys_with_ties_and_without_what_is_right_as_well() {
    let fixture = common::json("kgc.json");
    let mut tied = 0;
    for case in fixture["rankings"].as_array().unwrap() {
        let (vectors, candidates) = (rows(&case["queries"]), rows(&case["candidates"]));
        let (answers, dims) = (numbers(&case["answers"]), candidates[0].len());
        let others: Vec<_> = case["others"]
            .as_array()
            .unwrap()
            .iter()
            .map(numbers)
            .collect();
        let queries: Vec<Query<'_>> = (0..vectors.len())
            .map(|i| Query {
                vector: &vectors[i],
                answer: answers[i],
                others: &others[i],
            })
            .collect();
        let expected: Vec<f64> = case["ranks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|r| r.as_f64().unwrap())
            .collect();
        let found = ranks(&queries, &candidates.concat(), dims);
        assert_eq!(found, expected);
        for (query, expected) in queries.iter().zip(&expected) {
            let score = |c: &Vec<f32>| c.iter().zip(query.vector).map(|(x, y)| x * y).sum::<f32>();
            let scores: Vec<f32> = candidates.iter().map(score).collect();
            assert_eq!(
                rank(&scores, query.answer as usize, query.others),
                *expected
            );
        }
        tied += expected.iter().filter(|rank| rank.fract() > 0.0).count();
        let figures = Ranking::of(&found).unwrap();
        let [one, three, ten] = ["1", "3", "10"].map(|k| case["hits"][k].as_f64().unwrap());
        for (ours, theirs) in [
            (figures.mrr, case["mrr"].as_f64().unwrap()),
            (figures.mean_rank, case["mean_rank"].as_f64().unwrap()),
            (figures.hits_at_1, one),
            (figures.hits_at_3, three),
            (figures.hits_at_10, ten),
        ] {
            assert!((ours - theirs).abs() < 1e-12, "{ours} {theirs}");
        }
        assert_eq!(figures.ranked, vectors.len());
    }
    assert!(tied > 20, "{tied}");
    assert!(Ranking::of(&[]).is_none());
}

/// Of N candidates in random order the mean of 1 / rank is that of 1, 1/2, … 1/N.
#[test]
fn random_embeddings_rank_as_chance_has_it() {
    let (entities, dims, asked) = (135usize, 16, 6000);
    let mut state = 7u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((state >> 40) as f32 / (1u64 << 24) as f32) - 0.5
    };
    let mut vectors = |count: usize| (0..count * dims).map(|_| random()).collect::<Vec<f32>>();
    let (candidates, questions) = (vectors(entities), vectors(asked));
    let queries: Vec<Query<'_>> = questions
        .chunks_exact(dims)
        .zip(0u32..)
        .map(|(vector, i)| Query {
            vector,
            answer: i % entities as u32,
            others: &[],
        })
        .collect();
    let figures = Ranking::of(&ranks(&queries, &candidates, dims)).unwrap();
    let chance = (1..=entities).map(|n| 1.0 / n as f64).sum::<f64>() / entities as f64;
    assert!((chance - 0.0407).abs() < 1e-4);
    assert!(
        (figures.mrr - chance).abs() < 0.005,
        "{} {chance}",
        figures.mrr
    );
    assert!(
        (figures.mean_rank - 68.0).abs() < 2.0,
        "{}",
        figures.mean_rank
    );
}

#[test]
fn the_loss_and_its_slopes_are_torchs() {
    let fixture = common::json("kgc.json");
    for (i, case) in fixture["losses"].as_array().unwrap().iter().enumerate() {
        let var = |name: &str| {
            Var::from_tensor(&Tensor::new(rows(&case[name]), &Device::Cpu).unwrap()).unwrap()
        };
        let vars = ["questions", "tails", "heads"].map(var);
        let log_scale = case["log_scale"].as_f64().unwrap() as f32;
        let log_scale = Var::from_vec(vec![log_scale], (1, 1), &Device::Cpu).unwrap();
        let truths = |name: &str| -> Vec<bool> {
            let all = case["negatives"][name].as_array().unwrap().iter();
            all.map(|t| t.as_bool().unwrap()).collect()
        };
        let negatives = Negatives {
            tails: truths("tails"),
            heads: truths("heads"),
        };
        let [questions, tails, heads] = &vars;
        let margin = case["margin"].as_f64().unwrap();
        let loss = info_nce(questions, tails, heads, &log_scale, &negatives, margin).unwrap();
        let (ours, theirs) = (
            loss.to_scalar::<f32>().unwrap(),
            case["value"].as_f64().unwrap(),
        );
        let error = (f64::from(ours) - theirs).abs();
        assert!(error < 2e-5 * theirs.abs().max(1.0), "{i}: {ours} {theirs}");
        let gradients = loss.backward().unwrap();
        let slopes = |var: &Var| -> Vec<f32> {
            let slopes = gradients.get(var).unwrap().flatten_all().unwrap();
            slopes.to_vec1().unwrap()
        };
        let expected = &case["slopes"];
        for (var, name) in vars.iter().zip(["questions", "tails", "heads"]) {
            let error = slopes(var)
                .iter()
                .zip(rows(&expected[name]).concat())
                .map(|(a, b)| (a - b).abs() / b.abs().max(1.0))
                .fold(0f32, f32::max);
            assert!(error < 1e-4, "{i}: {name} {error:e}");
        }
        let (ours, theirs) = (
            slopes(&log_scale)[0],
            expected["log_scale"].as_f64().unwrap(),
        );
        assert!(
            (f64::from(ours) - theirs).abs() < 1e-4 * theirs.abs().max(1.0),
            "{i}: {ours} {theirs}"
        );
    }
}

fn file<'a>(name: &'a str, text: &'a str) -> File<'a> {
    File { name, text }
}

#[test]
fn what_is_true_as_well_is_no_negative() {
    let entities = "a\tone\nb\ttwo\nc\tthree\nd\tfour\n";
    // (a, r) has two tails, and a is one of its own neighbours under s.
    let training = "a\tr\tb\na\tr\tc\nd\tr\tb\na\ts\ta\nd\ts\ta\n";
    let graph = Graph::new(
        file("e", entities),
        None,
        file("t", training),
        Reading::default(),
    )
    .unwrap();
    let batch = &graph.training;
    let negatives = Negatives::of(batch, &Answers::of(batch));
    let row = |i: usize| negatives.tails[5 * i..5 * i + 5].to_vec();
    // Tails of the batch: b c b a a.
    assert_eq!(row(0), [true, false, false, true, true]);
    assert_eq!(row(1), [false, true, false, true, true]);
    assert_eq!(row(2), [false, true, true, true, true]);
    assert_eq!(row(3), [true, true, true, true, false]);
    assert_eq!(row(4), [true, true, true, false, true]);
    // Only (a, s, a) has its head as a tail.
    assert_eq!(negatives.heads, [true, true, true, false, true]);
    // Asked the other way: (b, r⁻¹) has a and d.
    let inverse: Vec<Triple> = batch.iter().map(|t| t.inverse()).collect();
    let negatives = Negatives::of(&inverse, &Answers::of(batch));
    assert_eq!(negatives.tails[..5], [true, false, false, false, false]);
}

const COLOURS: [&str; 6] = ["red", "blue", "green", "white", "black", "brown"];
const ANIMALS: [&str; 6] = ["dog", "cat", "horse", "bird", "fish", "cow"];
const PLACES: [&str; 6] = ["river", "market", "street", "park", "house", "table"];
const FOODS: [&str; 6] = ["bread", "water", "apple", "meat", "milk", "grass"];

/// Animals of several colours: where one lives its colour tells, and what it eats its kind. Every eighth triple is held out.
fn toy() -> (String, [String; 2]) {
    let mut entities: String = PLACES
        .iter()
        .chain(&FOODS)
        .map(|name| format!("{name}.n\t{name}\n"))
        .collect();
    let mut triples = [String::new(), String::new()];
    for (i, animal) in (0..36).map(|i| (i, ANIMALS[i % 6])) {
        let (colour, number) = (COLOURS[i / 6], i / 6);
        let name = format!("{colour}.{animal}");
        entities += &format!("{name}\t{colour} {animal}\n");
        for (k, link) in [("_lives_in", PLACES[number]), ("_eats", FOODS[i % 6])]
            .iter()
            .enumerate()
        {
            let held = (2 * i + k) % 8 == 3 || (2 * i + k) % 16 == 6;
            triples[usize::from(held)] += &format!("{name}\t{}\t{}.n\n", link.0, link.1);
        }
    }
    (entities, triples)
}

fn options(epochs: usize) -> EncoderOptions {
    EncoderOptions {
        adapter: Adapter::Full,
        freeze: Frozen::Tokens,
        head: HeadShape::default(),
        loss: LinkLoss::default(),
        learning_rate: 1e-3,
        warm_up: 0.06,
        clip: Some(1.0),
        weight_decay: 0.01,
        dropout: 0.0,
        batch: 32,
        average: None,
        epochs,
        keep: Keep::Last,
        seed: 3,
        precision: TrainingPrecision::F32,
    }
}

fn bi() -> Case {
    Case::Joint(Joint {
        orders: vec![Order::SentenceCondition],
        pooling: Pool::All,
        subtract: false,
        router: None,
    })
}

#[test]
fn an_encoder_learns_a_graph_either_way_and_goes_on_where_it_was_stopped() {
    let checkpoint = common::tiny("bert-tiny");
    let (entities, [training, held]) = toy();
    let reading = Reading {
        neighbours: 0,
        ..Reading::default()
    };
    let graph = Graph::new(file("e", &entities), None, file("t", &training), reading).unwrap();
    let held = graph.triples(file("v", &held)).unwrap();
    let tri = Case::tri(Router {
        layers: 2,
        ..Router::default()
    });
    let known = Answers::of(graph.training.iter().chain(&held));
    for (case, epochs) in [(bi(), 16), (tri, 2)] {
        let options = EncoderOptions {
            average: Some(0.5),
            ..options(epochs)
        };
        let task = Task {
            checkpoint: &checkpoint,
            general: None,
            device: Device::Cpu,
            case: &case,
            train: &graph,
            validation: held.as_slice(),
            options: &options,
        };
        let encoder = Encoder::load(Candle::cpu(), &checkpoint).unwrap();
        let mut read = 0;
        let before = rank_links(&encoder, &case, &graph, &held, &known, |more| read += more);
        let before = pollster::block_on(before).unwrap();
        assert!(read > 48 && before.tail.ranked == held.len());
        let mut saved = None;
        let straight: FineTuned = fine_tune(&task, None, |progress, run| {
            if let Progress::Step { step: 5, .. } = progress {
                saved = Some(run.save()?);
            }
            Ok(())
        })
        .unwrap();
        let Validated::Mrr(after) = straight.best.validation else {
            panic!("{:?}", straight.best);
        };
        let temperature = links::temperature(&straight).unwrap();
        assert!(
            temperature != 0.05 && (0.02..0.1).contains(&temperature),
            "{temperature}"
        );
        let losses = (straight.history[0].loss, straight.best.loss);
        assert!(losses.1 < losses.0, "{losses:?}");
        if epochs > 2 {
            assert!(after > before.mean.mrr + 0.2, "{} {after}", before.mean.mrr);
            continue;
        }
        let resumed = fine_tune(&task, saved.as_deref(), |_, _| Ok(())).unwrap();
        assert_eq!(straight.weights, resumed.weights);
        assert_eq!(straight.beside, resumed.beside);
        assert_eq!(straight.losses, resumed.losses);
        let other = EncoderOptions {
            loss: LinkLoss {
                margin: 0.1,
                ..options.loss
            },
            ..options.clone()
        };
        let error = fine_tune(&task.with(&other), saved.as_deref(), |_, _| Ok(()))
            .err()
            .unwrap();
        let said = error.to_string();
        assert!(
            said.contains("had 0.02 for --margin, this one has 0.1"),
            "{said}"
        );
    }
    // Two orders side by side are twice as wide as an entity by itself.
    let both = Case::default();
    let task = Task {
        checkpoint: &checkpoint,
        general: None,
        device: Device::Cpu,
        case: &both,
        train: &graph,
        validation: held.as_slice(),
        options: &options(1),
    };
    let error = fine_tune(&task, None, |_, _| Ok(())).err().unwrap();
    assert!(error.to_string().contains("one order"), "{error}");
    let head = EncoderOptions {
        head: HeadShape {
            widths: vec![8],
            ..HeadShape::default()
        },
        ..options(1)
    };
    let error = fine_tune(
        &Task {
            case: &bi(),
            ..task.with(&head)
        },
        None,
        |_, _| Ok(()),
    )
    .err()
    .unwrap();
    assert!(
        error.to_string().contains("without a head on top"),
        "{error}"
    );
}

//! Fine-tuning: gradients of the whole forward pass, learning, and what is written.

use crate::common;

use candle_core::{Device, Tensor};
use caselens::{
    backend::{
        Activation,
        candle::{
            Candle,
            training::{
                Trainer,
                parameters::{Adapter, FineTuning, Frozen, TrainingPrecision},
            },
        },
    },
    checkpoint::{BertCheckpoint, save, weights::Bytes},
    data::{
        dataset::Dataset,
        mixture::{KeptText, Mention, Mixture, Source},
    },
    embedding::{Case, Encoder, Joint, Pool, plan::Job},
    head::HeadShape,
    lens::Finish,
    text::{Batch, Order},
    training::{
        early_stopping::Keep,
        encoder::{FineTuned, Progress, fine_tune},
        loss::{self, Compared, Loss},
        peft,
        rated::{self, EncoderOptions, Task},
    },
};

fn case() -> Case {
    Case::Joint(Joint {
        orders: vec![Order::ConditionSentence],
        pooling: Pool::All,
        subtract: false,
        router: None,
    })
}

fn options(epochs: usize) -> EncoderOptions {
    EncoderOptions {
        adapter: Adapter::Full,
        freeze: Frozen::Tokens,
        head: HeadShape::default(),
        loss: "mse,rank:0.1".parse().unwrap(),
        learning_rate: 1e-3,
        warm_up: 0.06,
        clip: Some(1.0),
        weight_decay: 0.01,
        dropout: 0.1,
        batch: 16,
        average: None,
        epochs,
        keep: Keep::Best { patience: epochs },
        seed: 3,
        precision: TrainingPrecision::F32,
    }
}

fn data(rows: usize) -> Dataset {
    Dataset::from_columns("toy.csv", &common::columns(&common::toy_csv(rows))).unwrap()
}

fn mixture(rated: Dataset) -> Mixture {
    Mixture {
        rated,
        ..Mixture::default()
    }
}

fn tune(name: &str, data: &Dataset, options: &EncoderOptions) -> FineTuned {
    let held = data.held_out();
    let rest: Vec<bool> = held.iter().map(|h| !h).collect();
    let (train, validation) = (mixture(data.subset(&rest)), data.subset(&held));
    let checkpoint = common::tiny(name);
    let task = Task {
        checkpoint: &checkpoint,
        general: None,
        device: Device::Cpu,
        case: &case(),
        train: &train,
        validation: &validation,
        options,
    };
    fine_tune(&task, None, |_, _| Ok(())).unwrap()
}

#[test]
fn gradients_are_those_of_finite_differences() {
    for name in common::TINY {
        let checkpoint = common::tiny(name);
        let how = FineTuning {
            adapter: Adapter::Full,
            frozen: Frozen::None,
            dropout: 0.0,
            precision: TrainingPrecision::F32,
            pooler: false,
        };
        let backend = Trainer::new(Device::Cpu, 0, how);
        let encoder = Encoder::load(backend, &checkpoint).unwrap();
        let mut batch = Batch::default();
        for ids in [&[5u32, 17, 40, 9][..], &[3, 8], &[22, 31, 7, 5, 90]] {
            batch.push(ids, &vec![0; ids.len()]);
        }
        let tokens = batch.tokens();
        let weights: Vec<f32> = (0..tokens * 64).map(|i| (i as f32 * 0.7).sin()).collect();
        let weights = Tensor::from_vec(weights, (tokens, 64), &Device::Cpu).unwrap();
        let loss = || -> Tensor {
            let hidden = encoder.hidden(&batch).unwrap();
            (hidden * &weights).unwrap().sum_all().unwrap()
        };
        let value = || f64::from(loss().to_scalar::<f32>().unwrap());
        let gradients = encoder.backend.gradients(&loss()).unwrap();
        let parameters = encoder.backend.parameters();
        assert_eq!(parameters.len(), 5 + 3 * 12, "{name}");
        for p in parameters {
            let g = gradients.get(&p.var).unwrap();
            let length = g
                .sqr()
                .unwrap()
                .sum_all()
                .unwrap()
                .to_scalar::<f32>()
                .unwrap()
                .sqrt();
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
            assert!(error < 0.02, "{name} {:?}: {slope} {length}", p.parts);
        }
    }
}

/// A loss and its slopes by `var` are the fixture's.
fn is_torchs(
    loss: &Tensor,
    var: &candle_core::Var,
    fixture: &serde_json::Value,
    expected: &Tensor,
) {
    let value = f64::from(loss.to_scalar::<f32>().unwrap());
    assert!((value - fixture["value"].as_f64().unwrap()).abs() < 1e-5 * value.max(1.0));
    let gradients = loss.backward().unwrap();
    let error = (gradients.get(var).unwrap() - expected)
        .unwrap()
        .abs()
        .unwrap();
    let error = error.flatten_all().unwrap().max(0).unwrap();
    assert!(error.to_scalar::<f32>().unwrap() < 1e-5);
}

/// MPNet's relative bias learns from every layer: its gradient through the whole encoder is torch's.
#[test]
fn the_gradient_of_a_relative_bias_is_that_of_torch() {
    let file = common::Tensors::open("mpnet-tiny/hidden.safetensors");
    let mut batch = Batch::default();
    for i in 0..6 {
        let ids = file.integers(&format!("ids.{i}"));
        batch.push(&ids, &vec![0; ids.len()]);
    }
    for how in [Adapter::Full, Adapter::Lora(4)] {
        let how = FineTuning {
            adapter: how,
            frozen: Frozen::Matrices,
            dropout: 0.0,
            precision: TrainingPrecision::F32,
            pooler: false,
        };
        let learns = how.adapter == Adapter::Full;
        let backend = Trainer::new(Device::Cpu, 0, how);
        let encoder = Encoder::load(backend, &common::tiny("mpnet-tiny")).unwrap();
        let parameters = encoder.backend.parameters();
        let bias = (parameters.iter()).find(|p| p.parts[0].0 == "blk.0.attn_rel_b.weight");
        assert_eq!(
            bias.is_some(),
            learns,
            "a low-rank update leaves it as it is"
        );
        let Some(bias) = bias else { continue };
        let hidden = encoder.hidden(&batch).unwrap();
        let loss = (hidden.sqr().unwrap().sum_all().unwrap() / 2.0).unwrap();
        let gradients = encoder.backend.gradients(&loss).unwrap();
        let gradient = gradients.get(&bias.var).unwrap();
        assert_eq!(gradient.dims(), [32, 4]);
        let gradient: Vec<f32> = gradient.flatten_all().unwrap().to_vec1().unwrap();
        let error = common::relative_error(&gradient, &file.floats("gradient"));
        assert!(error < 1e-4, "{error:e}");
    }
}

#[test]
fn losses_and_their_gradients_are_those_of_torch() {
    let fixture = common::json("losses.json");
    let floats = |value: &serde_json::Value| -> Vec<f32> {
        let all = value.as_array().unwrap().iter();
        all.map(|x| x.as_f64().unwrap() as f32).collect()
    };
    let whole = |value: &serde_json::Value| value.as_u64().unwrap() as usize;
    let [batches @ .., others] = fixture.as_array().unwrap().as_slice() else {
        panic!("the fixture is empty");
    };
    let mut cases = 0;
    for case in batches {
        let (similarity, ratings) = (floats(&case["similarity"]), floats(&case["ratings"]));
        let asked = case["asked"].as_array().unwrap().iter();
        let asked: Vec<_> = asked.map(|a| [whole(&a[0]), whole(&a[1])]).collect();
        let groups = case["groups"].as_array().unwrap().iter().map(|g| {
            let rows = whole(&g[0])..whole(&g[1]);
            Compared {
                asked: asked[rows.clone()].to_vec(),
                rows,
                inputs: whole(&g[2]),
            }
        });
        let (groups, inputs) = (groups.collect::<Vec<_>>(), whole(&case["inputs"]));
        for (name, expected) in case["losses"].as_object().unwrap() {
            let loss: Loss = name.parse().unwrap();
            let of = |similarity: &Tensor| loss.of(similarity, &ratings, &groups, inputs).unwrap();
            let var = candle_core::Var::new(similarity.as_slice(), &Device::Cpu).unwrap();
            let got = of(var.as_tensor());
            let value = f64::from(got.to_scalar::<f32>().unwrap());
            let wanted = expected["value"].as_f64().unwrap();
            assert!(
                (value - wanted).abs() < 1e-5 * wanted.abs().max(1.0),
                "{name}"
            );
            let gradients = got.backward().unwrap();
            let slopes: Vec<f32> = gradients.get(&var).unwrap().to_vec1().unwrap();
            for (i, (slope, wanted)) in slopes.iter().zip(floats(&expected["slopes"])).enumerate() {
                assert!(
                    (slope - wanted).abs() < 1e-4 * wanted.abs().max(1.0),
                    "{name} {i}"
                );
                // The slope of the value itself, which torch has no part in.
                let at = |step: f32| {
                    let mut moved = similarity.clone();
                    moved[i] += step;
                    let moved = Tensor::new(moved, &Device::Cpu).unwrap();
                    f64::from(of(&moved).to_scalar::<f32>().unwrap())
                };
                let step = 1e-3;
                let measured = (at(step) - at(-step)) / f64::from(2.0 * step);
                let error = (measured - f64::from(*slope)).abs();
                assert!(error < 5e-3 * f64::from(slope.abs()).max(1.0), "{name} {i}");
            }
            cases += 1;
        }
    }
    assert!(cases >= 10);

    let rows = |value: &serde_json::Value| -> Tensor {
        let rows: Vec<_> = value.as_array().unwrap().iter().map(floats).collect();
        Tensor::new(rows, &Device::Cpu).unwrap()
    };
    let kept = &others["kept"];
    let now = candle_core::Var::from_tensor(&rows(&kept["now"])).unwrap();
    let got = loss::kept(now.as_tensor(), &rows(&kept["before"])).unwrap();
    is_torchs(&got, &now, kept, &rows(&kept["slopes"]));
    let mentioned = &others["mentioned"];
    let logits = Tensor::new(floats(&mentioned["logits"]), &Device::Cpu).unwrap();
    let logits = candle_core::Var::from_tensor(&logits).unwrap();
    let truths = mentioned["truths"].as_array().unwrap().iter();
    let truths: Vec<bool> = truths.map(|t| t.as_bool().unwrap()).collect();
    let got = loss::mentioned(logits.as_tensor(), &truths).unwrap();
    let slopes = Tensor::new(floats(&mentioned["slopes"]), &Device::Cpu).unwrap();
    is_torchs(&got, &logits, mentioned, &slopes);
    for wrong in ["", "mse,quads", "rank:-1", "mse:x"] {
        assert_eq!(
            wrong.parse::<Loss>().unwrap_err().code(),
            "invalid-argument"
        );
    }
}

#[test]
fn the_loss_falls_and_unseen_pairs_are_ranked_better() {
    let data = data(200);
    let tuned = tune("bert-tiny", &data, &options(16));
    let (first, last) = (tuned.history[0], tuned.history[tuned.history.len() - 1]);
    assert!(last.loss < 0.7 * first.loss, "{:?}", tuned.history);
    let best = tuned.best.validation.value();
    assert!(best > 0.65, "{:?}", tuned.history);
}

#[test]
fn a_seed_decides_everything_and_every_family_takes_a_step() {
    let data = data(24);
    for name in common::TINY {
        let run = |seed| tune(name, &data, &EncoderOptions { seed, ..options(1) }).weights;
        let first = run(1);
        assert_eq!(first, run(1), "{name}");
        assert_ne!(first, run(2), "{name}");
    }
}

#[test]
fn what_is_written_computes_what_was_trained() {
    let texts = ["a dog near the river", "two birds"];
    for name in common::TINY {
        let tuned = tune(name, &data(24), &options(1));
        let published = common::tiny(name);
        let bytes = save::safetensors(
            name,
            published.weights.files(),
            &published.config,
            &tuned.weights,
        )
        .unwrap();
        let (config, tokenizer, _) = common::parts(name);
        let written = BertCheckpoint::from_parts(
            name,
            &config,
            tokenizer.as_bytes(),
            Bytes::Owned(bytes.clone()),
        )
        .unwrap();
        for (part, numbers) in &tuned.weights {
            let read = written.weights.get_any(part).unwrap().to_f32();
            assert_eq!(numbers, &read, "{name} {part}");
        }
        // Tensors nobody trained, and their names, are as they were.
        let before = std::fs::read(common::fixture(name).join("model.safetensors")).unwrap();
        let names = |bytes: &[u8]| {
            let file = safetensors::SafeTensors::deserialize(bytes).unwrap();
            let mut all: Vec<_> = file
                .tensors()
                .into_iter()
                .map(|(n, t)| (n, t.shape().to_vec()))
                .collect();
            all.sort();
            all
        };
        assert_eq!(names(&before), names(&bytes));
        // Evaluation drops nothing: twice the same, and not what was published.
        let embed = |c: &BertCheckpoint| {
            let encoder = Encoder::load(Candle::cpu(), c).unwrap();
            pollster::block_on(encoder.embed(&texts, Pool::All, true)).unwrap()
        };
        assert_eq!(embed(&written), embed(&written));
        assert_ne!(embed(&written), embed(&published));
    }
}

#[test]
fn progress_counts_every_step() {
    let data = data(40);
    let mut steps = Vec::new();
    let mut epochs = 0;
    let checkpoint = common::tiny("bert-tiny");
    let task = Task {
        checkpoint: &checkpoint,
        general: None,
        device: Device::Cpu,
        case: &case(),
        train: &mixture(data.clone()),
        validation: &data,
        options: &options(2),
    };
    fine_tune(&task, None, |progress, _| {
        match progress {
            Progress::Step { step, of, .. } => steps.push((step, of)),
            Progress::Epoch(_) => epochs += 1,
        }
        Ok(())
    })
    .unwrap();
    let of = steps.len();
    assert_eq!(steps, (1..=of).map(|step| (step, of)).collect::<Vec<_>>());
    assert_eq!(epochs, 2);
}

/// Training on the rows that it is validated on.
fn task<'a>(
    checkpoint: &'a BertCheckpoint,
    case: &'a Case,
    data: &'a Mixture,
    options: &'a EncoderOptions,
) -> Task<'a> {
    Task {
        checkpoint,
        general: None,
        device: Device::Cpu,
        case,
        train: data,
        validation: &data.rated,
        options,
    }
}

/// Rated rows beside texts whose similarities are kept and texts that mention a condition or do not.
fn mixed(rated: Dataset) -> Mixture {
    let texts: Vec<_> = rated.rows.iter().map(|row| row.sentence1.clone()).collect();
    let kept = texts.iter().enumerate().map(|(i, text)| KeptText {
        text: text.clone(),
        condition: (i % 3 == 0).then(|| "the meaning".into()),
    });
    let mentioned = texts.iter().enumerate().map(|(i, text)| Mention {
        text: text.clone(),
        condition: rated.rows[i].condition.clone(),
        mentioned: i % 2 == 0,
    });
    Mixture {
        kept: vec![Source {
            rows: kept.collect(),
            times: 0.5,
        }],
        mentioned: vec![Source {
            rows: mentioned.collect(),
            times: 0.5,
        }],
        rated,
    }
}

/// A run of everything with a running average, one with a head on top, and one of low-rank updates.
fn variants() -> [EncoderOptions; 3] {
    let head = HeadShape {
        widths: vec![24, 16],
        activation: Activation::Relu,
        dropout: 0.1,
    };
    [
        EncoderOptions {
            average: Some(0.99),
            loss: "mse,rank:0.1,kept:1,mentioned:0.5".parse().unwrap(),
            ..options(3)
        },
        EncoderOptions { head, ..options(3) },
        EncoderOptions {
            adapter: Adapter::Lora(4),
            loss: "mse,quad:0.1".parse().unwrap(),
            ..options(3)
        },
    ]
}

#[test]
fn an_interrupted_run_is_resumed_to_the_same_result() {
    let checkpoint = common::tiny("bert-tiny");
    let case = case();
    for options in variants() {
        let data = match options.loss.kept > 0.0 {
            true => mixed(data(64)),
            false => mixture(data(64)),
        };
        let straight = fine_tune(&task(&checkpoint, &case, &data, &options), None, |_, _| {
            Ok(())
        })
        .unwrap();
        let steps = straight.losses.len();
        // In the first epoch, at an epoch's last step before its validation, in the second, at the very end.
        for stop in [1, steps / 3, steps / 2 + 1, steps] {
            let mut saved = None;
            let error = fine_tune(
                &task(&checkpoint, &case, &data, &options),
                None,
                |progress, run| match progress {
                    Progress::Step { step, .. } if step == stop => {
                        saved = Some(run.save()?);
                        Err(caselens::Error::InvalidArgument("killed".into()))
                    }
                    _ => Ok(()),
                },
            );
            assert!(error.is_err());
            let saved = saved.unwrap();
            let resumed = fine_tune(
                &task(&checkpoint, &case, &data, &options),
                Some(&saved),
                |_, _| Ok(()),
            )
            .unwrap();
            assert_eq!(straight.weights, resumed.weights, "{stop}");
            assert_eq!(straight.layers, resumed.layers, "{stop}");
            assert_eq!(straight.beside, resumed.beside, "{stop}");
            assert_eq!(straight.history, resumed.history, "{stop}");
            assert_eq!(straight.losses, resumed.losses, "{stop}");

            let slower = EncoderOptions {
                learning_rate: 1e-5,
                ..options.clone()
            };
            let error = fine_tune(
                &task(&checkpoint, &case, &data, &slower),
                Some(&saved),
                |_, _| Ok(()),
            )
            .err()
            .unwrap();
            assert_eq!(error.code(), "checkpoint-mismatch");
            let text = error.to_string();
            assert!(text.contains("0.001 for --learning-rate"), "{text}");
            for cut in [0, 8, 200, saved.len() - 1] {
                let broken = fine_tune(
                    &task(&checkpoint, &case, &data, &options),
                    Some(&saved[..cut]),
                    |_, _| Ok(()),
                );
                assert_eq!(broken.err().unwrap().code(), "checkpoint-format");
            }
        }
        // After the last epoch's validation nothing is left to do.
        let mut saved = None;
        fine_tune(
            &task(&checkpoint, &case, &data, &options),
            None,
            |progress, run| {
                if let Progress::Epoch(_) = progress {
                    saved = Some(run.save()?);
                }
                Ok(())
            },
        )
        .unwrap();
        let done = fine_tune(
            &task(&checkpoint, &case, &data, &options),
            saved.as_deref(),
            |_, _| panic!("a step was taken"),
        );
        assert_eq!(straight.weights, done.unwrap().weights);
    }
}

/// A file of safetensors with this done to its header.
fn with_header(bytes: &[u8], change: impl FnOnce(&mut serde_json::Value)) -> Vec<u8> {
    let end = 8 + u64::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
    let mut header = serde_json::from_slice(&bytes[8..end]).unwrap();
    change(&mut header);
    let mut text = serde_json::to_vec(&header).unwrap();
    text.resize(text.len().next_multiple_of(8), b' ');
    let length = (text.len() as u64).to_le_bytes();
    [&length[..], &text, &bytes[end..]].concat()
}

#[test]
fn a_damaged_state_is_taken_up_or_refused() {
    let (checkpoint, case) = (common::tiny("bert-tiny"), case());
    let (options, data) = (options(3), mixture(data(24)));
    // A step behind the first epoch.
    let (mut saved, mut epochs) = (None, 0);
    let killed = fine_tune(
        &task(&checkpoint, &case, &data, &options),
        None,
        |progress, run| {
            saved = Some(run.save()?);
            epochs += usize::from(matches!(progress, Progress::Epoch(_)));
            match (epochs, progress) {
                (1, Progress::Step { .. }) => {
                    Err(caselens::Error::InvalidArgument("killed".into()))
                }
                _ => Ok(()),
            }
        },
    );
    assert!(killed.is_err());
    let saved = saved.unwrap();
    let resumed = |bytes: &[u8]| {
        let task = task(&checkpoint, &case, &data, &options);
        fine_tune(&task, Some(bytes), |_, _| Ok(())).map_err(|error| error.code())
    };
    assert!(resumed(&saved).is_ok());

    // What it says of itself.
    let described = |key: &str, value: serde_json::Value| {
        with_header(&saved, |header| {
            let place = &mut header["__metadata__"]["caselens.training"];
            let mut described: serde_json::Value =
                serde_json::from_str(place.as_str().unwrap()).unwrap();
            described[key] = value;
            *place = described.to_string().into();
        })
    };
    for (key, values) in [
        ("epochs", &[0, 2, 3, 4, u64::MAX][..]),
        ("steps", &[0, 2, 1000, u64::MAX]),
        ("best_epoch", &[0, 2, u64::MAX]),
    ] {
        for &value in values {
            let code = resumed(&described(key, value.into())).err();
            assert_eq!(code, Some("checkpoint-format"), "{key} {value}");
        }
    }
    // Tensors that are of another length, or missing.
    for tensor in ["losses", "history", "weight.0", "first.1", "best.0"] {
        let without = with_header(&saved, |header| {
            let of = header.as_object_mut().unwrap().remove(tensor).unwrap();
            // Its bytes have to be some tensor's.
            header["other"] = of;
        });
        assert_eq!(
            resumed(&without).err(),
            Some("checkpoint-format"),
            "{tensor}"
        );
        let shorter = with_header(&saved, |header| {
            let of = &mut header[tensor];
            let [start, end] = [0, 1].map(|i| of["data_offsets"][i].as_u64().unwrap());
            let size = if of["dtype"] == "F64" { 8 } else { 4 };
            let mut rest = of.clone();
            *of = serde_json::json!({"dtype": of["dtype"], "shape": [(end - start) / size - 1], "data_offsets": [start, end - size]});
            rest["shape"] = serde_json::json!([1]);
            rest["data_offsets"] = serde_json::json!([end - size, end]);
            header["rest"] = rest;
        });
        assert_eq!(
            resumed(&shorter).err(),
            Some("checkpoint-format"),
            "{tensor}"
        );
    }
    let mut random = crate::mutated::Random(7);
    for round in 0..60 {
        let bytes = crate::mutated::broken(&mut random, &saved);
        let code = resumed(&bytes).err();
        // Numbers that are others, but numbers, are trained on from.
        let told = [
            None,
            Some("checkpoint-format"),
            Some("checkpoint-mismatch"),
            Some("invalid-argument"),
            Some("model-format"),
        ];
        assert!(told.contains(&code), "round {round}: {code:?}");
    }
}

#[test]
fn low_rank_updates_leave_the_rest_and_are_written_for_peft() {
    let [.., options] = variants();
    for name in common::TINY {
        let published = common::tiny(name);
        let tuned = tune(name, &data(64), &options);
        // Query, key, value, attention output and the two feed-forward layers of three layers.
        assert_eq!((tuned.adapters.len(), tuned.weights.len()), (18, 18));
        for lora in &tuned.adapters {
            let base = published.weights.get_any(&lora.name).unwrap();
            let (rows, columns) = (base.shape[0], base.shape[1]);
            assert_eq!(lora.a.dims(), [4, columns]);
            assert_eq!(lora.b.dims(), [rows, 4]);
            // W + 2·B·A, number by number.
            let (a, b) = (
                lora.a.to_vec2::<f32>().unwrap(),
                lora.b.to_vec2::<f32>().unwrap(),
            );
            let base = base.to_f32();
            let mut moved = false;
            for (i, got) in tuned.weights[&lora.name].iter().enumerate() {
                let (row, column) = (i / columns, i % columns);
                let update: f32 = (0..4).map(|r| b[row][r] * a[r][column]).sum();
                assert!((got - (base[i] + 2.0 * update)).abs() < 1e-5);
                moved |= *got != base[i];
            }
            assert!(moved, "{}", lora.name);
        }
        let [(_, tensors), (_, config)] =
            peft::files("base", published.config.family, &tuned.adapters).unwrap();
        let file = safetensors::SafeTensors::deserialize(&tensors).unwrap();
        assert_eq!(file.len(), 36);
        let a = "base_model.model.encoder.layer.2.intermediate.dense.lora_A.weight";
        assert_eq!(file.tensor(a).unwrap().shape(), [4, 64]);
        let query = match name {
            "mpnet-tiny" => "attn.q",
            _ => "self.query",
        };
        let b = format!("base_model.model.encoder.layer.0.attention.{query}.lora_B.weight");
        assert_eq!(file.tensor(&b).unwrap().shape(), [64, 4]);
        let config: serde_json::Value = serde_json::from_slice(&config).unwrap();
        assert_eq!(config["lora_alpha"], 8.0);
        assert_eq!(config["r"], 4);
    }
}

#[test]
fn low_rank_updates_begin_at_the_published_weights() {
    let checkpoint = common::tiny("bert-tiny");
    let how = FineTuning {
        adapter: Adapter::Lora(4),
        frozen: Frozen::None,
        dropout: 0.0,
        precision: TrainingPrecision::F32,
        pooler: false,
    };
    let tuning = Encoder::load(Trainer::new(Device::Cpu, 1, how), &checkpoint).unwrap();
    let published = Encoder::load(Candle::cpu(), &checkpoint).unwrap();
    let mut batch = Batch::default();
    batch.push(&[5, 17, 40, 9], &[0; 4]);
    let numbers = |hidden: Tensor| -> Vec<f32> {
        let hidden = hidden.flatten_all().unwrap();
        hidden.to_vec1().unwrap()
    };
    let error = common::relative_error(
        &numbers(tuning.hidden(&batch).unwrap()),
        &numbers(published.hidden(&batch).unwrap()),
    );
    assert!(error < 1e-5, "{error}");
    // 18 matrices, two factors each, and nothing else.
    assert_eq!(tuning.backend.parameters().len(), 36);
}

#[test]
fn what_is_frozen_stays_as_published() {
    let data = data(24);
    let changed = |freeze: &str| {
        let options = EncoderOptions {
            freeze: freeze.parse().unwrap(),
            ..options(1)
        };
        let weights = tune("bert-tiny", &data, &options).weights;
        weights.into_keys().collect::<Vec<_>>()
    };
    assert_eq!(changed("none").len(), 5 + 3 * 16);
    assert!(!changed("tokens").contains(&"token_embd.weight".to_string()));
    let last = changed("layers:2");
    assert_eq!(last.len(), 16);
    assert!(last.iter().all(|name| name.starts_with("blk.2.")));
    // A layer's biases and LayerNorms, and the embeddings' LayerNorm.
    let beside = changed("matrices");
    assert_eq!(beside.len(), 2 + 3 * 10);
    assert!(
        beside
            .iter()
            .all(|name| name.ends_with(".bias") || name.ends_with("_norm.weight"))
    );
    let checkpoint = common::tiny("bert-tiny");
    for (options, part) in [
        (
            EncoderOptions {
                freeze: Frozen::Layers(3),
                ..options(1)
            },
            "nothing is left to train",
        ),
        (
            EncoderOptions {
                freeze: Frozen::Layers(4),
                ..options(1)
            },
            "more layers than the encoder's 3",
        ),
        (
            EncoderOptions {
                adapter: Adapter::Lora(65),
                ..options(1)
            },
            "between 1 and 64",
        ),
    ] {
        let case = case();
        let error = fine_tune(
            &task(&checkpoint, &case, &mixture(data.clone()), &options),
            None,
            |_, _| Ok(()),
        )
        .err()
        .unwrap();
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn similarities_are_kept_and_mentions_are_learnt() {
    // Half of the texts name their condition, the others do not.
    let rated = data(200);
    let mention = |i: usize, text: &str| Mention {
        text: text.into(),
        condition: ["the river", "the dog"][i % 2].into(),
        mentioned: text.contains(["river", "dog"][i % 2]),
    };
    let texts: Vec<_> = rated
        .rows
        .iter()
        .map(|row| row.sentence1.as_str())
        .collect();
    let mentions: Vec<_> = texts
        .iter()
        .enumerate()
        .map(|(i, text)| mention(i, text))
        .collect();
    assert!(mentions.iter().any(|m| m.mentioned) && mentions.iter().any(|m| !m.mentioned));
    let kept = texts.iter().map(|text| KeptText {
        text: (*text).into(),
        condition: None,
    });
    let checkpoint = common::tiny("bert-tiny");
    let written = |tuned: &FineTuned| {
        let weights = checkpoint.weights.files();
        let bytes = save::safetensors("t", weights, &checkpoint.config, &tuned.weights).unwrap();
        let (config, tokenizer, _) = common::parts("bert-tiny");
        let bytes = Bytes::Owned(bytes);
        BertCheckpoint::from_parts("t", &config, tokenizer.as_bytes(), bytes).unwrap()
    };
    let similarities = |tuned: Option<&FineTuned>| -> Vec<f64> {
        let tuned = tuned.map(written);
        let encoder = tuned.as_ref().unwrap_or(&checkpoint);
        let encoder = Encoder::load(Candle::cpu(), encoder).unwrap();
        let rows = pollster::block_on(encoder.embed(&texts[..40], Pool::All, true)).unwrap();
        rows.vectors
            .windows(2)
            .map(|two| f64::from(caselens::similarity::cosine(&two[0], &two[1])))
            .collect()
    };
    let before = similarities(None);
    let drift = |kept: Vec<Source<KeptText>>, from: &BertCheckpoint, general: Option<&_>| {
        let mixture = Mixture {
            kept,
            mentioned: vec![Source {
                rows: mentions.clone(),
                times: 1.0,
            }],
            rated: rated.clone(),
        };
        let options = EncoderOptions {
            loss: "mse,rank:0.1,kept:10,mentioned:1".parse().unwrap(),
            ..options(12)
        };
        let case = case();
        let task = Task {
            general,
            ..task(from, &case, &mixture, &options)
        };
        let tuned = fine_tune(&task, None, |_, _| Ok(())).unwrap();
        let after = similarities(Some(&tuned));
        let drift = before
            .iter()
            .zip(&after)
            .map(|(a, b)| (a - b).powi(2))
            .sum::<f64>();
        (drift, tuned)
    };
    let kept = vec![Source {
        rows: kept.collect(),
        times: 1.0,
    }];
    let (free, forgetful) = drift(Vec::new(), &checkpoint, None);
    let (drifted, tuned) = drift(kept.clone(), &checkpoint, None);
    assert!(drifted < 0.3 * free, "{drifted} {free}");
    // What was forgotten is learnt again from the encoder that knew it.
    let forgetful = written(&forgetful);
    let (drifted, _) = drift(kept.clone(), &forgetful, Some(&checkpoint));
    assert!(drifted < 0.5 * free, "{drifted} {free}");
    let (drifted, _) = drift(kept, &forgetful, None);
    assert!(drifted > 0.5 * free, "{drifted} {free}");

    let encoder = Encoder::load(Candle::cpu(), &written(&tuned)).unwrap();
    let head = rated::mentioned(&tuned).unwrap();
    let inputs: Vec<_> = mentions
        .iter()
        .map(|m| encoder.conditional(&m.text, &m.condition, "").unwrap())
        .collect();
    let job = Job {
        inputs: &inputs,
        case: Some(&case()),
        plain: Pool::All,
        look: false,
    };
    let finish = Finish {
        head: None,
        normalize: false,
    };
    let rows = pollster::block_on(encoder.run(job, finish)).unwrap();
    let right = rows
        .vectors
        .iter()
        .zip(&mentions)
        .filter(|(row, m)| (head.probability(row) > 0.5) == m.mentioned)
        .count();
    assert!(
        right * 10 > mentions.len() * 8,
        "{right} of {}",
        mentions.len()
    );
}

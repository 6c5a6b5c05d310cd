//! Fine-tuning: gradients of the whole forward pass, learning, and what is written.

use crate::{common, program};
use std::{path::PathBuf, process::Command};

use candle_core::{Device, Tensor};
use caselens::{
    backend::candle::{
        Candle,
        training::parameters::{Adapter, FineTuning, Frozen, Precision},
    },
    checkpoint::{Checkpoint, save, weights::Bytes},
    data::dataset::Dataset,
    embedding::{Case, Encoder, Pool},
    head::Shape,
    text::{Batch, Order},
    training::{
        early_stopping::Keep,
        encoder::{FineTuned, Options, Progress, Task, fine_tune},
        loss::Loss,
        peft,
    },
};
use program::caselens;

fn case() -> Case {
    Case {
        orders: vec![Order::ConditionSentence],
        pooling: Pool::All,
        subtract: false,
        ..Case::default()
    }
}

fn options(epochs: usize) -> Options {
    Options {
        adapter: Adapter::Full,
        freeze: Frozen::Tokens,
        head: Shape::default(),
        loss: "mse,rank:0.1".parse().unwrap(),
        learning_rate: 1e-3,
        weight_decay: 0.01,
        dropout: 0.1,
        batch: 16,
        conditions: usize::MAX,
        answers: 2,
        epochs,
        keep: Keep::Best { patience: epochs },
        seed: 3,
        precision: Precision::F32,
    }
}

/// Pairs whose condition names what they share, or what they do not.
fn csv(rows: usize) -> String {
    let mut csv = String::from("sentence1,sentence2,condition,label\n");
    let (animals, places) = (
        ["dog", "cat", "horse", "bird"],
        ["river", "market", "street", "garden"],
    );
    for i in 0..rows {
        // Every combination once before any comes again, in mixed order.
        let j = i * 37 % 256;
        let (a, b) = (animals[j % 4], animals[j / 4 % 4]);
        let (p, q) = (places[j / 16 % 4], places[j / 64]);
        let (s1, s2) = (format!("a {a} near the {p}"), format!("a {b} near the {q}"));
        let label = |same: bool| if same { 5 } else { 1 };
        csv += &format!("{s1},{s2},the animal,{}\n", label(a == b));
        // A row whose partner is invalid is trained on by itself.
        match i % 8 {
            7 => csv += &format!("{s1},{s2},the place,-1\n"),
            _ => csv += &format!("{s1},{s2},the place,{}\n", label(p == q)),
        }
    }
    csv
}

fn data(rows: usize) -> Dataset {
    Dataset::from_reader("toy.csv", csv(rows).as_bytes(), None).unwrap()
}

fn tune(name: &str, data: &Dataset, options: &Options) -> FineTuned {
    let held = data.held_out();
    let rest: Vec<bool> = held.iter().map(|h| !h).collect();
    let (train, validation) = (data.subset(&rest), data.subset(&held));
    let checkpoint = common::tiny(name);
    let task = Task {
        checkpoint: &checkpoint,
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
            precision: Precision::F32,
        };
        let backend = Candle::fine_tuning(Device::Cpu, 0, how);
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

#[test]
fn losses_and_their_gradients_are_those_of_torch() {
    let fixture = common::json("losses.json");
    let floats = |value: &serde_json::Value| -> Vec<f32> {
        let all = value.as_array().unwrap().iter();
        all.map(|x| x.as_f64().unwrap() as f32).collect()
    };
    let mut cases = 0;
    for case in fixture.as_array().unwrap() {
        let (similarity, ratings) = (floats(&case["similarity"]), floats(&case["ratings"]));
        let groups: Vec<_> = case["groups"]
            .as_array()
            .unwrap()
            .iter()
            .map(|g| g[0].as_u64().unwrap() as usize..g[1].as_u64().unwrap() as usize)
            .collect();
        for (name, expected) in case["losses"].as_object().unwrap() {
            let loss: Loss = name.parse().unwrap();
            let of = |similarity: &Tensor| loss.of(similarity, &ratings, &groups).unwrap();
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
    let best = tuned.best.validation_spearman;
    assert!(best > 0.65, "{:?}", tuned.history);
}

#[test]
fn a_seed_decides_everything_and_every_family_takes_a_step() {
    let data = data(24);
    for name in common::TINY {
        let run = |seed| tune(name, &data, &Options { seed, ..options(1) }).weights;
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
            published.weights.bytes(),
            &published.config,
            &tuned.weights,
        )
        .unwrap();
        let (config, tokenizer, _) = common::parts(name);
        let written = Checkpoint::from_parts(
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
        let embed = |c: &Checkpoint| {
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
        device: Device::Cpu,
        case: &case(),
        train: &data,
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
    checkpoint: &'a Checkpoint,
    case: &'a Case,
    data: &'a Dataset,
    options: &'a Options,
) -> Task<'a> {
    Task {
        checkpoint,
        device: Device::Cpu,
        case,
        train: data,
        validation: data,
        options,
    }
}

/// A run with a head on top, and one of low-rank updates.
fn variants() -> [Options; 2] {
    let head = Shape {
        widths: vec![24, 16],
        relu: true,
        dropout: 0.1,
    };
    [
        Options { head, ..options(3) },
        Options {
            adapter: Adapter::Lora(4),
            loss: "mse,quad:0.1,cosent:0.01".parse().unwrap(),
            ..options(3)
        },
    ]
}

#[test]
fn an_interrupted_run_is_resumed_to_the_same_result() {
    let checkpoint = common::tiny("bert-tiny");
    let (data, case) = (data(64), case());
    for options in variants() {
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
            assert_eq!(straight.history, resumed.history, "{stop}");
            assert_eq!(straight.losses, resumed.losses, "{stop}");

            let slower = Options {
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

#[test]
fn low_rank_updates_leave_the_rest_and_are_written_for_peft() {
    let [_, options] = variants();
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
        let [(_, tensors), (_, config)] = peft::files("base", &tuned.adapters).unwrap();
        let file = safetensors::SafeTensors::deserialize(&tensors).unwrap();
        assert_eq!(file.len(), 36);
        let a = "base_model.model.encoder.layer.2.intermediate.dense.lora_A.weight";
        assert_eq!(file.tensor(a).unwrap().shape(), [4, 64]);
        let b = "base_model.model.encoder.layer.0.attention.self.query.lora_B.weight";
        assert_eq!(file.tensor(b).unwrap().shape(), [64, 4]);
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
        precision: Precision::F32,
    };
    let tuning = Encoder::load(Candle::fine_tuning(Device::Cpu, 1, how), &checkpoint).unwrap();
    let published = Encoder::load(Candle::cpu(), &checkpoint).unwrap();
    let mut batch = Batch::default();
    batch.push(&[5, 17, 40, 9], &[0; 4]);
    let hidden = |encoder: &Encoder<Candle>| -> Vec<f32> {
        let hidden = encoder.hidden(&batch).unwrap().flatten_all().unwrap();
        hidden.to_vec1().unwrap()
    };
    let error = common::relative_error(&hidden(&tuning), &hidden(&published));
    assert!(error < 1e-5, "{error}");
    // 18 matrices, two factors each, and nothing else.
    assert_eq!(tuning.backend.parameters().len(), 36);
}

#[test]
fn what_is_frozen_stays_as_published() {
    let data = data(24);
    let changed = |freeze: &str| {
        let options = Options {
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
            Options {
                freeze: Frozen::Layers(3),
                ..options(1)
            },
            "nothing is left to train",
        ),
        (
            Options {
                freeze: Frozen::Layers(4),
                ..options(1)
            },
            "more layers than the encoder's 3",
        ),
        (
            Options {
                adapter: Adapter::Lora(65),
                ..options(1)
            },
            "between 1 and 64",
        ),
    ] {
        let case = case();
        let error = fine_tune(&task(&checkpoint, &case, &data, &options), None, |_, _| {
            Ok(())
        })
        .err()
        .unwrap();
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn a_folder_is_written_quantised_and_evaluated() {
    let folder: PathBuf =
        std::env::temp_dir().join(format!("caselens-finetune-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).display().to_string();
    std::fs::write(path("toy.csv"), csv(24)).unwrap();
    let (toy, out, gguf) = (path("toy.csv"), path("out"), path("out.gguf"));
    let model = common::fixture("roberta-tiny").display().to_string();
    let train = [
        "train",
        "--adapter",
        "full",
        "--model",
        &model,
        "--data",
        &toy,
        "--output",
        &out,
        "--epochs",
        "1",
        "--json",
    ];
    let (code, stdout, stderr) = caselens(&train);
    assert_eq!(code, 0, "{stderr}");
    let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(
        report["training"]["case"]["orders"][0],
        "condition-sentence"
    );
    assert_eq!(report["training"]["case"]["subtract"], false);
    let beside = path("out.head.safetensors");
    let quantize = |model: &str, more: &[&str]| {
        let mut args = vec!["quantize", "--model", model, "--output", &gguf];
        args.extend(["--dtype", "f32", "--head"]);
        args.extend(more);
        caselens(&args)
    };
    let (code, _, stderr) = quantize(&out, &[&beside, "--id", "somebody/named"]);
    assert_eq!(code, 0, "{stderr}");
    let spearman = |model: &str| {
        let (code, stdout, stderr) = caselens(&[
            "evaluate",
            "--model",
            model,
            "--head",
            "none",
            "--order",
            "cs",
            "--pooling",
            "all",
            "--no-subtract",
            "--data",
            &toy,
            "--json",
        ]);
        assert_eq!(code, 0, "{stderr}");
        let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        report["spearman"].as_f64().unwrap()
    };
    assert!((spearman(&out) - spearman(&gguf)).abs() < 1e-6);
    // The head in the folder remembers how embeddings are made.
    let remembered = |args: &[&str]| {
        let mut all = vec!["evaluate", "--data", &toy, "--json"];
        all.extend(args);
        let (code, stdout, stderr) = caselens(&all);
        assert_eq!(code, 0, "{stderr}");
        serde_json::from_str::<serde_json::Value>(&stdout).unwrap()
    };
    let report = remembered(&["--model", &out]);
    assert_eq!(report["spearman"], spearman(&out));
    assert!(report["condition_only"]["spearman"].is_number());
    let head = format!("{out}/head.safetensors");
    for head in [&head, &beside] {
        let report = remembered(&["--model", &gguf, "--head", head]);
        assert!((report["spearman"].as_f64().unwrap() - spearman(&gguf)).abs() < 1e-6);
    }
    // `quantize --head` writes the same head under the name that the file's encoder got.
    let read = |path: &str| {
        let bytes = std::fs::read(path).unwrap();
        caselens::head::HeadFile::parse(path, &bytes).unwrap()
    };
    let (mut want, got) = (read(&head), read(&beside));
    want.spec.encoder.id = "somebody/named".into();
    assert!(want.condition_only.take().is_some());
    assert_eq!(got, want);
    for (model, head, part) in [
        (&model, &beside, "head.safetensors"),
        (&out, &head, "would be overwritten"),
    ] {
        let (code, _, stderr) = quantize(model, &[head]);
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains(part), "{stderr}");
    }
    let history = std::fs::read_to_string(format!("{out}/history.csv")).unwrap();
    assert_eq!(history.lines().count(), 2, "{history}");
    let svg = std::fs::read_to_string(format!("{out}/curves.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("validation Spearman"));
    assert!(!folder.join("out.checkpoint").exists());

    let refused = |more: &[&str], output: &str, part: &str| {
        let mut args = vec![
            "train",
            "--adapter",
            "full",
            "--data",
            &toy,
            "--output",
            output,
        ];
        args.extend(more);
        let (code, _, stderr) = caselens(&args);
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains(part), "{stderr}");
    };
    let new = path("new");
    refused(&["--model", &model], &out, "is there already");
    refused(&["--model", &gguf], &new, "Hugging Face folder");
    refused(
        &["--model", &model, "--hidden", "8"],
        &new,
        "--kind or --dims",
    );
    refused(&["--model", &model, "--loss", "quads"], &new, "`quads`");
    refused(
        &["--model", &model, "--keep", "last", "--patience", "3"],
        &new,
        "--keep best",
    );
    assert!(!folder.join("new").exists());
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_head_is_trained_with_its_encoder_and_low_rank_updates_are_merged() {
    let folder = std::env::temp_dir().join(format!("caselens-joint-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).display().to_string();
    std::fs::write(path("one.csv"), csv(24)).unwrap();
    std::fs::write(path("two.csv"), csv(60)).unwrap();
    let (one, two, out) = (path("one.csv"), path("two.csv"), path("out"));
    let model = common::fixture("bert-tiny").display().to_string();
    let (code, stdout, stderr) = caselens(&[
        "train",
        "--adapter",
        "lora:2",
        "--kind",
        "mlp",
        "--hidden",
        "32",
        "--dims",
        "16",
        "--head-dropout",
        "0.3",
        "--model",
        &model,
        "--data",
        &one,
        "--data",
        &two,
        "--order",
        "both",
        "--output",
        &out,
        "--epochs",
        "2",
        "--keep",
        "last",
        "--loss",
        "mse,quad:0.1",
        "--json",
    ]);
    assert_eq!(code, 0, "{stderr}");
    let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(report["spec"]["dims"], serde_json::json!([128, 32, 16]));
    assert_eq!(report["training"]["data"], "one.csv, two.csv");
    assert_eq!(report["training"]["options"]["adapter"], "lora:2");
    assert_eq!(report["training"]["options"]["keep"], "last");
    assert_eq!(report["training"]["best_epoch"]["epoch"], 2);
    let config = std::fs::read(folder.join("out/adapter/adapter_config.json")).unwrap();
    let config: serde_json::Value = serde_json::from_slice(&config).unwrap();
    assert_eq!(
        (&config["r"], &config["base_model_name_or_path"]),
        (&2.into(), &"bert-tiny".into())
    );
    let (code, stdout, stderr) =
        caselens(&["evaluate", "--model", &out, "--data", &one, "--limit", "48"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stdout.contains("non-linear head 128 → 32 → 16 for out"),
        "{stdout}"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_killed_training_is_resumed_to_the_same_files() {
    let folder = std::env::temp_dir().join(format!("caselens-killed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).display().to_string();
    std::fs::write(path("toy.csv"), csv(128)).unwrap();
    let (toy, model) = (
        path("toy.csv"),
        common::fixture("bert-tiny").display().to_string(),
    );
    let (straight, killed) = (path("straight"), path("killed"));
    let args = |output: &'static str| -> Vec<String> {
        let output = path(output);
        [
            "train",
            "--adapter",
            "full",
            "--model",
            &model,
            "--data",
            &toy,
            "--epochs",
            "4",
            "--seeds",
            "1,2",
            "--checkpoint-every",
            "3",
            "--output",
            &output,
        ]
        .map(String::from)
        .to_vec()
    };
    let run = |args: &[String]| {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        caselens(&args)
    };
    assert_eq!(run(&args("straight")).0, 0);

    let mut child = Command::new(env!("CARGO_BIN_EXE_caselens"))
        .args(args("killed"))
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let state = folder.join("killed.checkpoint/seed-2.safetensors");
    while !state.exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        state.exists() && !folder.join("killed").exists(),
        "killed too late"
    );

    let (code, _, stderr) = run(&args("killed"));
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("--resume"), "{stderr}");
    let mut resumed = args("killed");
    resumed.push("--resume".into());
    let mut other = resumed.clone();
    other.extend(["--batch".into(), "8".into()]);
    let (code, _, stderr) = run(&other);
    assert_eq!(code, 2, "{stderr}");
    assert!(
        stderr.contains("had 16 for --batch, this one has 8"),
        "{stderr}"
    );
    let (code, _, stderr) = run(&resumed);
    assert_eq!(code, 0, "{stderr}");
    for file in [
        "model.safetensors",
        "history.csv",
        "curves.svg",
        "caselens-training.json",
    ] {
        let read = |folder: &str| std::fs::read(format!("{folder}/{file}")).unwrap();
        assert_eq!(read(&straight), read(&killed), "{file}");
    }
    assert!(!folder.join("killed.checkpoint").exists());
    std::fs::remove_dir_all(&folder).unwrap();
}

//! Fine-tuning: gradients of the whole forward pass, learning, and what is written.

mod common;

use std::{path::PathBuf, process::Command};

use candle_core::{Device, Tensor};
use caselens::{
    backend::candle::{Candle, Precision},
    embedding::{
        Case, Encoder, Pool,
        train::{FineTuned, Loss, Options, Progress, fine_tune},
    },
    evaluation::dataset::Dataset,
    model::{checkpoint::Checkpoint, save, weights::Bytes},
    text::{Batch, Order},
};

fn case() -> Case {
    Case {
        orders: vec![Order::ConditionSentence],
        pooling: Pool::All,
        subtract: false,
    }
}

fn options(epochs: usize) -> Options {
    Options {
        loss: "mse,rank:0.1".parse().unwrap(),
        learning_rate: 1e-3,
        weight_decay: 0.01,
        dropout: 0.1,
        tokens: false,
        batch: 16,
        epochs,
        patience: epochs,
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
    fine_tune(
        &checkpoint,
        Device::Cpu,
        &case(),
        &train,
        &validation,
        options,
        |_| {},
    )
    .unwrap()
}

fn numbers(tuned: &FineTuned) -> Vec<Vec<f32>> {
    let of = |x: &Tensor| x.flatten_all().unwrap().to_vec1().unwrap();
    tuned
        .parameters
        .iter()
        .map(|p| of(p.var.as_tensor()))
        .collect()
}

#[test]
fn gradients_are_those_of_finite_differences() {
    for name in common::TINY {
        let checkpoint = common::tiny(name);
        let backend = Candle::fine_tuning(Device::Cpu, 0, 0.0, true);
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
        let gradients = loss().backward().unwrap();
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
fn the_loss_is_the_formula() {
    let similarity = Tensor::new(&[0.9f32, 0.2, 0.4, 0.5, 0.7], &Device::Cpu).unwrap();
    let ratings = [5.0, 1.0, 2.0, 4.0, 3.0];
    let loss: Loss = "mse,rank:0.1".parse().unwrap();
    let got = loss.of(&similarity, &ratings, &[(0, 1), (2, 3)]).unwrap();
    let mse = (0.01f64 + 0.04 + 0.0225 + 0.0625 + 0.04) / 5.0;
    let softplus = |x: f64| x.exp().ln_1p();
    let rank = (softplus(-7.0) + softplus(-1.0)) / 2.0;
    let got = f64::from(got.to_scalar::<f32>().unwrap());
    assert!((got - (mse + 0.1 * rank)).abs() < 1e-6);
    // A tie counts as 0.
    let tied = loss.of(&similarity, &[3.0; 5], &[(0, 1)]).unwrap();
    let alone = loss.of(&similarity, &[3.0; 5], &[]).unwrap();
    assert_eq!(
        tied.to_scalar::<f32>().unwrap(),
        alone.to_scalar::<f32>().unwrap()
    );
    for wrong in ["", "mse,quad", "rank:-1", "mse:x"] {
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
    assert!(best > 0.7, "{:?}", tuned.history);
}

#[test]
fn a_seed_decides_everything_and_every_family_takes_a_step() {
    let data = data(24);
    for name in common::TINY {
        let run = |seed| numbers(&tune(name, &data, &Options { seed, ..options(1) }));
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
            &tuned.parameters,
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
        for parameter in &tuned.parameters {
            let all = parameter.var.as_detached_tensor();
            let mut at = 0;
            for (part, rows) in &parameter.parts {
                let ours = all.narrow(0, at, *rows).unwrap();
                let ours: Vec<f32> = ours.flatten_all().unwrap().to_vec1().unwrap();
                assert_eq!(
                    ours,
                    written.weights.get_any(part).unwrap().to_f32(),
                    "{name} {part}"
                );
                at += rows;
            }
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
    fine_tune(
        &checkpoint,
        Device::Cpu,
        &case(),
        &data,
        &data,
        &options(2),
        |p| match p {
            Progress::Step { step, of, .. } => steps.push((step, of)),
            Progress::Epoch(_) => epochs += 1,
        },
    )
    .unwrap();
    let of = steps.len();
    assert_eq!(steps, (1..=of).map(|step| (step, of)).collect::<Vec<_>>());
    assert_eq!(epochs, 2);
}

fn caselens(args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_caselens"))
        .args(args)
        .env_remove("CASELENS_MODEL")
        .env_remove("CASELENS_HEAD")
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code().unwrap_or(-1),
        text(&output.stdout),
        text(&output.stderr),
    )
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
    let (code, _, stderr) = caselens(&[
        "quantize", "--model", &out, "--output", &gguf, "--dtype", "f32",
    ]);
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
    refused(&["--model", &model, "--dims", "8"], &new, "--dims");
    refused(&["--model", &model, "--loss", "quad"], &new, "`quad`");
    assert!(!folder.join("new").exists());
    std::fs::remove_dir_all(&folder).unwrap();
}

//! `train --adapter`: the folder it writes, what the other commands make of that, and a run that is killed and resumed.

use std::{path::PathBuf, process::Command};

use crate::{
    common::{self, Folder, toy_csv},
    program::caselens,
};

#[test]
fn a_folder_is_written_quantised_and_evaluated() {
    for family in ["roberta-tiny", "mpnet-tiny"] {
        is_written_quantised_and_evaluated(family);
    }
}

fn is_written_quantised_and_evaluated(family: &str) {
    let folder: PathBuf =
        std::env::temp_dir().join(format!("caselens-finetune-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).display().to_string();
    std::fs::write(path("toy.csv"), toy_csv(24)).unwrap();
    let (toy, out, gguf) = (path("toy.csv"), path("out"), path("out.gguf"));
    let model = common::fixture(family).display().to_string();
    let train = [
        "fine-tune",
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
        let mut args = vec!["fine-tune", "--data", &toy, "--output", output];
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
    std::fs::write(path("one.csv"), toy_csv(24)).unwrap();
    std::fs::write(path("two.csv"), toy_csv(60)).unwrap();
    let (one, two, out) = (path("one.csv"), path("two.csv"), path("out"));
    let model = common::fixture("bert-tiny").display().to_string();
    let (code, stdout, stderr) = caselens(&[
        "fine-tune",
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
    std::fs::write(path("toy.csv"), toy_csv(128)).unwrap();
    let (toy, model) = (
        path("toy.csv"),
        common::fixture("bert-tiny").display().to_string(),
    );
    let args = |output: &str| -> Vec<String> {
        let output = path(output);
        [
            "fine-tune",
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
    // But for the time it took.
    let record = |folder: &str| {
        let bytes = std::fs::read(format!("{folder}/caselens-training.json")).unwrap();
        let mut record: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        for seed in record["seeds"].as_array_mut().unwrap() {
            assert!(seed["seconds"].take().as_f64().unwrap() > 0.0);
        }
        record
    };
    assert_eq!(run(&args("straight")).0, 0);

    for signal in ["KILL", "INT", "TERM"] {
        if signal != "KILL" && !cfg!(unix) {
            continue;
        }
        let output = path(signal);
        let mut child = Command::new(env!("CARGO_BIN_EXE_caselens"))
            .args(args(signal))
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let checkpoints = PathBuf::from(path(&format!("{signal}.checkpoint")));
        let state = checkpoints.join("seed-2.safetensors");
        while !state.exists() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        match signal {
            "KILL" => child.kill().unwrap(),
            _ => {
                let id = child.id().to_string();
                let sent = Command::new("kill")
                    .args([&format!("-{signal}"), &id])
                    .status();
                assert!(sent.unwrap().success());
            }
        }
        let ended = child.wait_with_output().unwrap();
        assert!(
            state.exists() && !PathBuf::from(&output).exists(),
            "{signal}: too late"
        );
        if signal != "KILL" {
            let said = String::from_utf8(ended.stderr).unwrap();
            assert_eq!(ended.status.code(), Some(130), "{said}");
            assert!(said.contains("seed 2 stopped at step"), "{said}");
            assert!(said.contains("--resume"), "{said}");
        }

        let (code, _, stderr) = run(&args(signal));
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains("--resume"), "{stderr}");
        let mut resumed = args(signal);
        resumed.push("--resume".into());
        let mut other = resumed.clone();
        other.extend(["--batch".into(), "8".into()]);
        let (code, _, stderr) = run(&other);
        assert_eq!(code, 2, "{stderr}");
        assert!(
            stderr.contains("had 16 for --batch, this one has 8"),
            "{stderr}"
        );
        // A state that was damaged since is refused, and stays for whoever can mend it.
        let sound = std::fs::read(&state).unwrap();
        let header = 8 + u64::from_le_bytes(*sound.first_chunk().unwrap()) as usize;
        let described: serde_json::Value = serde_json::from_slice(&sound[8..header]).unwrap();
        for (tensor, number) in [
            ("weight.0", &f32::NAN.to_le_bytes()[..]),
            ("losses", &f64::NAN.to_le_bytes()),
        ] {
            let at = header + described[tensor]["data_offsets"][0].as_u64().unwrap() as usize;
            let mut damaged = sound.clone();
            damaged[at..at + number.len()].copy_from_slice(number);
            std::fs::write(&state, damaged).unwrap();
            let (code, _, stderr) = run(&resumed);
            assert_eq!(code, 2, "{stderr}");
            assert!(
                stderr.contains(tensor) && stderr.contains("not finite"),
                "{stderr}"
            );
        }
        std::fs::write(&state, sound).unwrap();
        let (code, _, stderr) = run(&resumed);
        assert_eq!(code, 0, "{stderr}");
        let straight = path("straight");
        let read = |folder: &str, file: &str| std::fs::read(format!("{folder}/{file}")).unwrap();
        for file in ["model.safetensors", "history.csv", "curves.svg"] {
            assert_eq!(read(&straight, file), read(&output, file), "{file}");
        }
        assert_eq!(record(&straight), record(&output));
        assert!(!checkpoints.exists());
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[cfg(unix)]
#[test]
fn a_training_of_heads_ends_behind_the_seed_under_way() {
    use std::io::{BufRead, BufReader};
    let folder = Folder::new("train-head-interrupted");
    let toy = folder.write("toy.csv", &toy_csv(64));
    let model = common::fixture("bert-tiny").display().to_string();
    let (output, cache) = (folder.file("my.head.safetensors"), folder.file("cache"));
    let seeds: Vec<String> = (0..500).map(|seed| seed.to_string()).collect();
    let args = [
        "train-head",
        "--model",
        &model,
        "--data",
        &toy,
        "--output",
        &output,
        "--cache",
        &cache,
        "--epochs",
        "20",
        "--seeds",
    ];
    let mut child = Command::new(env!("CARGO_BIN_EXE_caselens"))
        .args(args)
        .arg(seeds.join(","))
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut line = || lines.next().unwrap().unwrap();
    while !line().starts_with("seed 1: ") {}
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    let last = loop {
        let said = line();
        if !said.starts_with("seed ") {
            break said;
        }
    };
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(
        last.contains("of 500 seeds") && last.contains(&output),
        "{last}"
    );
    let record: serde_json::Value =
        serde_json::from_str(&folder.read("my.head.training.json")).unwrap();
    assert!((2..500).contains(&record["seeds"].as_array().unwrap().len()));
    let (code, _, said) = caselens(&[
        "evaluate", "--model", &model, "--head", &output, "--data", &toy,
    ]);
    assert_eq!(code, 0, "{said}");
}

/// Sentence pairs without conditions, as the STS benchmark has them, with labels from 0 to 5.
#[test]
fn sentences_are_compared_by_themselves_where_that_is_asked_for() {
    let folder = Folder::new("train-unconditional");
    // Nothing that an encoder would say of itself.
    let pairs = [
        ("a dog", "the dog", 0.0),
        ("the house", "a house", 0.5),
        ("a dog", "a house", 5.0),
        ("the cat", "the dog", 4.5),
    ];
    let mut table = String::from("sentence1,sentence2,label\n");
    for (i, (first, second, label)) in pairs.iter().cycle().take(24).enumerate() {
        table.push_str(&format!("{first} {i},{second} {i},{label}\n"));
    }
    let (data, output) = (folder.write("sts.csv", &table), folder.file("out"));
    let model = common::fixture("bert-tiny").display().to_string();
    let train = |more: &[&str]| {
        let mut args = vec!["fine-tune", "--model", &model, "--data", &data];
        args.extend(["--output", &output, "--loss", "mse", "--json"]);
        args.extend([
            "--epochs",
            "40",
            "--keep",
            "last",
            "--learning-rate",
            "1e-3",
        ]);
        args.extend(more);
        caselens(&args)
    };
    let unconditional = ["--unconditional", "--labels", "0-5", "--validation", &data];
    for (more, words) in [
        (&[][..], "condition"),
        (&["--kind", "linear"], "without a head on top"),
        (&["--architecture", "tri"], "in one input"),
        (&["--architecture", "cross"], "in one input"),
    ] {
        let rules = if more.is_empty() {
            &[]
        } else {
            &unconditional[..]
        };
        let (code, _, said) = train(&[more, rules].concat());
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(words), "{said}");
    }
    let (code, _, said) = train(&unconditional);
    assert_eq!(code, 0, "{said}");
    let spearman = |model: &str, head: &[&str]| {
        let mut args = vec!["evaluate", "--model", model, "--data", &data, "--json"];
        args.extend(["--unconditional", "--labels", "0-5"]);
        args.extend(head);
        let (code, printed, said) = caselens(&args);
        assert_eq!(code, 0, "{said}");
        let report: serde_json::Value = serde_json::from_str(&printed).unwrap();
        assert!(report["condition_only"].is_null(), "{printed}");
        report["spearman"].as_f64().unwrap()
    };
    let (before, after) = (
        spearman(&model, &["--head", "none"]),
        spearman(&output, &[]),
    );
    assert!(before < 0.5 && after > 0.7, "{before} {after}");
}

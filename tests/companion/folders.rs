//! Folders of trained encoders: distilled from a teacher, averaged, and made of GGUF files again.

use crate::common;
use std::path::Path;

use crate::common::Folder;
use crate::program::caselens;
use caselens::{checkpoint::Checkpoint, data::teacher::key};
use safetensors::SafeTensors;

fn done(args: &[&str]) -> serde_json::Value {
    let (code, stdout, stderr) = caselens(args);
    assert_eq!(code, 0, "{args:?}: {stderr}");
    serde_json::from_str(&stdout).unwrap_or_default()
}

fn refused(args: &[&str], part: &str) {
    let (code, _, stderr) = caselens(args);
    assert_eq!(code, 2, "{args:?}: {stderr}");
    assert!(stderr.contains(part), "{stderr}");
}

fn numbers(folder: &str) -> Vec<(String, Vec<f32>)> {
    let bytes = std::fs::read(Path::new(folder).join("model.safetensors")).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let mut all: Vec<_> = file
        .tensors()
        .into_iter()
        .map(|(name, view)| (name, bytemuck::pod_collect_to_vec(view.data())))
        .collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

/// Trains an encoder for one epoch on a file; what the program says of it.
fn train(model: &str, data: &str, output: &str, more: &[&str]) -> serde_json::Value {
    let args = [
        "fine-tune",
        "--model",
        model,
        "--data",
        data,
        "--validation",
        data,
        "--epochs",
        "1",
        "--output",
        output,
        "--json",
    ];
    done(&[&args, more].concat())
}

const DATA: &str = "sentence1,sentence2,condition,label
a dog runs,a cat runs,the animal,1
a dog runs,a cat runs,the action,5
two birds sing,two birds eat,the number,4
two birds sing,two birds eat,the action,2
a red car,a red bus,the colour,5
a red car,a red bus,the vehicle,2
";

#[test]
fn encoders_are_distilled_and_averaged() {
    let folder = Folder::new("folders");
    let (data, teacher) = (folder.file("data.csv"), folder.file("teacher.csv"));
    std::fs::write(&data, DATA).unwrap();
    let pair = key(&["a dog runs", "a cat runs"]);
    let row = key(&["a red car", "a red bus", "the colour"]);
    let answers = format!("key,condition,label\n{pair},the number,5\n{row},,1\n");
    std::fs::write(&teacher, answers).unwrap();
    let model = common::fixture("bert-tiny").display().to_string();
    let distill = |seed: &str, output: &str| {
        done(&[
            "fine-tune",
            "--model",
            &model,
            "--data",
            &data,
            "--validation",
            &data,
            "--teacher",
            &teacher,
            "--teacher-weight",
            "0.25",
            "--epochs",
            "2",
            "--conditions",
            "2",
            "--seeds",
            seed,
            "--output",
            output,
            "--json",
        ])
    };
    let outputs = [folder.file("seed-0"), folder.file("seed-1")];
    let report = distill("0", &outputs[0]);
    assert_eq!(report["training"]["rows"], 7);
    assert_eq!(report["training"]["teachers"], "teacher.csv, weight 0.25");
    distill("1", &outputs[1]);
    let evaluate = |model: &str| {
        let report = done(&["evaluate", "--model", model, "--data", &data, "--json"]);
        report["spearman"].as_f64().unwrap()
    };

    let mean = folder.file("mean");
    let average = [
        "average",
        "--model",
        &outputs[0],
        "--model",
        &outputs[1],
        "--output",
        &mean,
        "--json",
    ];
    let spec = done(&average);
    assert_eq!(spec["encoder"]["id"], "mean");
    assert_eq!(spec["training"]["mean_of"].as_array().unwrap().len(), 2);
    let (a, b) = (numbers(&outputs[0]), numbers(&outputs[1]));
    let mut moved = 0.0f32;
    for ((a, b), mean) in a.iter().zip(&b).zip(&numbers(&mean)) {
        for ((a, b), mean) in a.1.iter().zip(&b.1).zip(&mean.1) {
            moved = moved.max((a - b).abs());
            assert!((mean - (a + b) / 2.0).abs() <= 1e-6);
        }
    }
    assert!(moved > 1e-5, "two seeds gave the same weights");
    evaluate(&mean);
    refused(&average, "is there already");

    let [one, other] = &outputs;
    let nearer = folder.file("nearer");
    let spec = done(&[
        "average", "--model", one, "--model", other, "--model", one, "--output", &nearer, "--json",
    ]);
    let records = spec["training"]["mean_of"].as_array().unwrap();
    assert_eq!(records.len(), 2, "one folder was recorded twice");
    assert_eq!(
        (&records[0]["times"], records[0]["options"]["seed"].as_u64()),
        (&2.into(), Some(0))
    );
    assert_eq!(
        (
            records[1].get("times"),
            records[1]["options"]["seed"].as_u64()
        ),
        (None, Some(1))
    );
    for ((a, b), mean) in a.iter().zip(&b).zip(&numbers(&nearer)) {
        for ((a, b), mean) in a.1.iter().zip(&b.1).zip(&mean.1) {
            assert!((mean - (2.0 * a + b) / 3.0).abs() <= 1e-6);
        }
    }

    let other = common::fixture("roberta-tiny").display().to_string();
    let (again, alone) = (folder.file("again"), &outputs[0]);
    refused(
        &["average", "--model", alone, "--output", &again],
        "two folders",
    );
    let (code, ..) = caselens(&[
        "average", "--model", alone, "--model", &other, "--output", &again,
    ]);
    assert_ne!(code, 0, "a folder without a head was averaged");
}

#[test]
fn gguf_files_become_folders_again() {
    for family in ["bert-tiny", "mpnet-tiny"] {
        becomes_a_folder_again(family);
    }
}

fn becomes_a_folder_again(family: &str) {
    let folder = Folder::new("dequantize");
    let data = folder.file("data.csv");
    std::fs::write(&data, DATA).unwrap();
    let base = common::fixture(family).display().to_string();
    let trained = folder.file("trained");
    train(&base, &data, &trained, &[]);
    let (file, head) = (folder.file("trained.gguf"), folder.file("trained.head"));
    let quantize = |model: &str, output: &str| {
        done(&[
            "quantize", "--model", model, "--dtype", "q4_0", "--output", output, "--head", &head,
            "--json",
        ]);
    };
    quantize(&trained, &file);
    let dequantize = |output: &str, more: &[&str]| {
        let args = [
            "dequantize",
            "--model",
            &file,
            "--head",
            &head,
            "--base",
            &base,
            "--output",
            output,
            "--json",
        ];
        done(&[&args, more].concat())
    };
    let [middle, drawn, again, other] =
        ["middle", "drawn", "again", "other"].map(|n| folder.file(n));
    let report = dequantize(&middle, &[]);
    assert_eq!(report["encoder"]["id"], "middle");
    assert_eq!(report["spec"]["encoder"], report["encoder"]);
    dequantize(&drawn, &["--dither", "7"]);
    dequantize(&again, &["--dither", "7"]);
    dequantize(&other, &["--dither", "8"]);
    assert!(
        numbers(&drawn) == numbers(&again),
        "a seed gave two folders"
    );
    assert!(
        numbers(&drawn) != numbers(&other),
        "two seeds gave one folder"
    );

    let (mut frozen, mut rounded, mut moved, mut count) = (0, 0, 0.0, 0);
    let folders = [&base, &trained, &middle, &drawn].map(|f| numbers(f));
    for (((base, trained), middle), drawn) in folders[0]
        .iter()
        .zip(&folders[1])
        .zip(&folders[2])
        .zip(&folders[3])
    {
        assert!(
            [&base.0, &trained.0, &middle.0]
                .into_iter()
                .all(|n| *n == drawn.0)
        );
        if base.1 == trained.1 {
            // What training left alone is the base's own again, not its rounding.
            assert!(middle.1 == base.1 && drawn.1 == base.1, "{}", base.0);
            frozen += 1;
            continue;
        }
        for ((block, middle), drawn) in trained
            .1
            .chunks(32)
            .zip(middle.1.chunks(32))
            .zip(drawn.1.chunks(32))
        {
            // A block's step is an eighth of its largest number, give or take what fitting it does.
            let step = 1.2 * block.iter().fold(0f32, |a, x| a.max(x.abs())) / 8.0;
            for ((x, middle), drawn) in block.iter().zip(middle).zip(drawn) {
                // The block's end, where there is no eighth step up, is cut by up to a whole one.
                assert!((x - middle).abs() <= step, "{} {x} {middle}", base.0);
                assert!(
                    (middle - drawn).abs() <= step / 2.0 + 1e-6,
                    "{} {middle} {drawn}",
                    base.0
                );
                moved += (middle - drawn).abs() / step;
                count += 1;
            }
        }
        rounded += 1;
    }
    assert!(frozen > 0 && rounded > 0);
    // Numbers drawn evenly from half a step either way are a quarter of one from the middle; vectors stay.
    let moved = moved / count as f32;
    assert!((0.12..0.25).contains(&moved), "{moved} steps");

    // What training left alone may stay as it was rounded, and is then rounded to the same again.
    let kept = folder.file("kept");
    dequantize(&kept, &["--keep-rounding"]);
    let table = |numbers: Vec<(String, Vec<f32>)>| {
        let mut tables = numbers.into_iter();
        tables
            .find(|(name, _)| name.ends_with("word_embeddings.weight"))
            .unwrap()
            .1
    };
    assert!(table(numbers(&kept)) != table(numbers(&base)));
    let once_more = folder.file("once-more.gguf");
    quantize(&kept, &once_more);
    let tokens = |path: &str| {
        let checkpoint = Checkpoint::open(Path::new(path))
            .and_then(Checkpoint::bert)
            .unwrap();
        let table = checkpoint.weights.get_any("token_embd.weight").unwrap();
        table.to_f32()
    };
    assert!(tokens(&once_more) == tokens(&file));
    let without_head = |model: &str, output: &str, more: &[&str]| {
        let args = [
            "dequantize",
            "--model",
            model,
            "--base",
            &base,
            "--output",
            output,
        ];
        done(&[&args, more].concat());
    };
    let back = folder.file("back");
    without_head(&once_more, &back, &[]);
    assert!(table(numbers(&back)) == table(numbers(&base)));

    // Where biases (MPNet's relative one too) and LayerNorms alone are trained from there, rounding again loses nothing.
    let [beside, its_file, its_numbers] =
        ["beside", "beside.gguf", "beside-again"].map(|n| folder.file(n));
    train(&kept, &data, &beside, &["--freeze", "matrices"]);
    assert!(numbers(&beside) != numbers(&kept));
    quantize(&beside, &its_file);
    without_head(&its_file, &its_numbers, &["--keep-rounding"]);
    assert!(numbers(&its_numbers) == numbers(&beside));

    // Training goes on from it.
    train(&drawn, &data, &folder.file("on"), &[]);

    let out = folder.file("out");
    let wrong = common::fixture("roberta-tiny").display().to_string();
    let refuse = |model: &str, head: &str, base: &str, output: &str, part: &str| {
        let args = [
            "dequantize",
            "--model",
            model,
            "--head",
            head,
            "--base",
            base,
            "--output",
            output,
        ];
        refused(&args, part);
    };
    refuse(&file, &head, &base, &middle, "is there already");
    refuse(&trained, &head, &base, &out, "is a folder already");
    refuse(&file, &head, &file, &out, "is no folder");
    refuse(&file, &head, &wrong, &out, "of another shape");
    refuse(&file, &data, &base, &out, "");
    let strange = folder.file("strange.head");
    let own = Path::new(&middle).join("head.safetensors");
    std::fs::copy(own, &strange).unwrap();
    refuse(&file, &strange, &base, &out, "");
    let bytes = std::fs::read(&file).unwrap();
    for cut in [0, 100, bytes.len() - 1] {
        std::fs::write(&file, &bytes[..cut]).unwrap();
        refuse(&file, &head, &base, &out, "");
    }
    assert!(!Path::new(&out).exists());
}

#[test]
fn sentences_are_trained_on_answers() {
    let folder = Folder::new("answers");
    let data = folder.file("data.csv");
    let answers = "sentence1,sentence2,condition,label,answer1,answer2
a dog runs,a cat runs,the animal,1,a dog,a cat
a dog runs,a cat runs,the action,5,running,
two birds sing,two birds eat,the number,4,two,two
";
    std::fs::write(&data, answers).unwrap();
    let model = common::fixture("bert-tiny").display().to_string();
    let [with, without] = ["with", "without"].map(|name| folder.file(name));
    // Three rows, and for each of five answers one of its own sentence and one of the other; two of those are there twice.
    assert_eq!(train(&model, &data, &with, &[])["training"]["rows"], 11);
    assert_eq!(
        train(&model, &data, &without, &["--answers", "0"])["training"]["rows"],
        3
    );
    assert!(numbers(&with) != numbers(&without));
}

#[test]
fn a_teacher_of_other_data_is_refused() {
    let folder = Folder::new("teacher");
    let (data, teacher, out) = (
        folder.file("data.csv"),
        folder.file("teacher.csv"),
        folder.file("out"),
    );
    std::fs::write(&data, DATA).unwrap();
    std::fs::write(&teacher, "key,condition,label\n0123456789ab,the number,5\n").unwrap();
    let model = common::fixture("bert-tiny").display().to_string();
    let distill = |more: &[&str]| {
        let args = [
            "fine-tune",
            "--model",
            &model,
            "--data",
            &data,
            "--teacher",
            &teacher,
            "--output",
            &out,
        ];
        [&args, more]
            .concat()
            .iter()
            .map(|s| (*s).to_owned())
            .collect::<Vec<_>>()
    };
    let refuse = |more: &[&str], part: &str| {
        let args = distill(more);
        refused(&args.iter().map(String::as_str).collect::<Vec<_>>(), part);
    };
    refuse(&[], "give the data that the file was made for");
    refuse(&["--teacher-weight", "2"], "between 0 and 1");
    refuse(&["--adapter", "none"], "trains an encoder");
    assert!(!Path::new(&out).exists());
}

/// SimCSE's texts go through its pooler, which its name says: its GGUF file keeps the pooler, others' go without.
#[test]
fn simcse_keeps_its_pooler() {
    let home = Folder::new("simcse");
    let score = |model: &str| {
        let args = [
            "score",
            "A dog runs.",
            "A cat runs.",
            "-c",
            "the animal",
            "--json",
        ];
        let how = [
            "--head",
            "none",
            "--order",
            "cs",
            "--pooling",
            "pooler",
            "--model",
            model,
        ];
        caselens(&[&args[..], &how].concat())
    };
    for (name, keeps) in [("sup-simcse-bert-base-uncased", true), ("other", false)] {
        let (folder, file) = (home.0.join(name), home.file(&format!("{name}.gguf")));
        std::fs::create_dir(&folder).unwrap();
        for part in ["config.json", "vocab.txt", "pytorch_model.bin"] {
            std::fs::copy(
                common::fixture("published/bert").join(part),
                folder.join(part),
            )
            .unwrap();
        }
        let folder = folder.display().to_string();
        let quantize = [
            "quantize", "--model", &folder, "--dtype", "f32", "--output", &file,
        ];
        let (code, _, said) = caselens(&quantize);
        assert_eq!(code, 0, "{said}");
        let (code, published, said) = score(&folder);
        assert_eq!(code, 0, "{said}");
        let (code, quantized, said) = score(&file);
        match keeps {
            true => assert_eq!((code, quantized), (0, published), "{said}"),
            false => assert!(code == 2 && said.contains("has no pooler"), "{said}"),
        }
    }
}

/// The pooler is trained where embeddings go through it, and else stays as it was published.
#[test]
fn a_pooler_that_embeddings_go_through_is_trained() {
    let home = Folder::new("pooler");
    let data = home.write("data.csv", DATA);
    let model = common::fixture("published/bert").display().to_string();
    let pooler = |folder: &str| {
        let all = numbers(folder);
        let mut named = all
            .into_iter()
            .filter(|(name, _)| name.starts_with("pooler."));
        [named.next(), named.next()].map(|tensor| tensor.unwrap().1)
    };
    let published = pooler(&model);
    for (pooling, changes) in [("pooler", true), ("cls", false)] {
        let output = home.file(pooling);
        train(&model, &data, &output, &["--pooling", pooling]);
        let trained = pooler(&output);
        for (trained, published) in trained.iter().zip(&published) {
            assert_eq!(trained != published, changes, "{pooling}");
        }
    }
}

#[test]
fn what_a_model_lacks_is_told_with_its_name() {
    let folder = Folder::new("folders-named");
    let fixture = common::fixture("bert-tiny");
    let put = |name: &str, change: &dyn Fn(String) -> String| {
        let text = std::fs::read_to_string(fixture.join(name)).unwrap();
        folder.write(name, &change(text));
    };
    let weights = folder.0.join("model.safetensors");
    std::fs::copy(fixture.join("model.safetensors"), weights).unwrap();
    let model = folder.0.display().to_string();
    let score = [
        "score", "a", "b", "-c", "c", "--head", "none", "--model", &model,
    ];
    let name = folder.0.file_name().unwrap().to_string_lossy();
    let said = |part: &str| {
        let (code, _, said) = caselens(&score);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(&*name) && said.contains(part), "{said}");
    };
    put("tokenizer.json", &|text| text);
    put("config.json", &|text| {
        let mut config: serde_json::Value = serde_json::from_str(&text).unwrap();
        config["num_hidden_layers"] = 9.into();
        config.to_string()
    });
    said("missing");
    put("config.json", &|text| text);
    put("tokenizer.json", &|text| {
        text.replace("WordPiece", "Wordpiece")
    });
    said("tokenizer");
}

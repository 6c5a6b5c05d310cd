//! Standard error that nobody reads, or that lies on a full disk: lines are lost, results are not.

use std::process::{Command, Stdio};

use crate::common::{self, Folder, toy_csv};

/// What becomes of lines on standard error.
#[derive(Clone, Copy, Debug)]
enum Lost {
    /// Its reader has ended.
    NobodyReads,
    #[cfg(target_os = "linux")]
    DiskFull,
}

impl Lost {
    const ALL: &[Self] = &[
        Self::NobodyReads,
        #[cfg(target_os = "linux")]
        Self::DiskFull,
    ];

    fn stream(self) -> Stdio {
        match self {
            Self::NobodyReads => std::io::pipe().unwrap().1.into(),
            #[cfg(target_os = "linux")]
            Self::DiskFull => std::fs::File::create("/dev/full").unwrap().into(),
        }
    }
}

fn exit_code(args: &[&str], lost: Lost) -> Option<i32> {
    let status = Command::new(env!("CARGO_BIN_EXE_caselens"))
        .args(args)
        .stdout(Stdio::null())
        .stderr(lost.stream())
        .status();
    status.unwrap().code()
}

#[test]
fn a_training_is_written_and_an_error_keeps_its_code() {
    let folder = Folder::new("streams");
    let toy = folder.write("toy.csv", &toy_csv(24));
    let model = common::fixture("roberta-tiny").display().to_string();
    for &lost in Lost::ALL {
        let output = folder.file(&format!("{lost:?}"));
        let train = [
            "fine-tune",
            "--model",
            &model,
            "--data",
            &toy,
            "--output",
            &output,
            "--epochs",
            "1",
        ];
        assert_eq!(exit_code(&train, lost), Some(0), "{lost:?}");
        assert!(
            std::path::Path::new(&output)
                .join("model.safetensors")
                .exists()
        );
        // A warning of each text that is cut, and an error.
        let long = folder.write("long.txt", &"a word ".repeat(2_000));
        let embed = [
            "embed", "--model", &model, "--head", "none", "--input", &long,
        ];
        assert_eq!(exit_code(&embed, lost), Some(0), "{lost:?}");
        let wrong = ["embed", "--model", "/nowhere", "--input", &long];
        assert_eq!(exit_code(&wrong, lost), Some(2), "{lost:?}");
    }
}

#[test]
fn a_log_has_no_colours_and_a_full_disk_under_standard_output_is_told() {
    let folder = Folder::new("colours");
    let model = common::fixture("roberta-tiny").display().to_string();
    let long = folder.write("long.txt", &"a word ".repeat(2_000));
    let embed = |stdout: Stdio| {
        let log = std::fs::File::create(folder.file("log")).unwrap();
        let status = Command::new(env!("CARGO_BIN_EXE_caselens"))
            .args([
                "embed", "--model", &model, "--head", "none", "--input", &long,
            ])
            .stdout(stdout)
            .stderr(log)
            .status();
        (status.unwrap().code(), folder.read("log"))
    };
    let (code, said) = embed(Stdio::null());
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("too long") && !said.contains('\u{1b}'),
        "{said:?}"
    );
    #[cfg(target_os = "linux")]
    {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let (code, said) = embed(full.unwrap().into());
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("standard output"), "{said}");
    }
}

#[test]
fn a_link_stays_and_what_killed_runs_left_goes() {
    let folder = Folder::new("links");
    let model = common::fixture("roberta-tiny").display().to_string();
    let input = folder.write("texts.txt", "a word\n");
    let output = folder.0.join("link.jsonl");
    let embed = [
        "embed",
        "--model",
        &model,
        "--head",
        "none",
        "--json",
        "--input",
        &input,
        "--output",
        output.to_str().unwrap(),
    ];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("behind.jsonl", &output).unwrap();
        // Of no process, and of one that runs.
        let left = folder.write("behind.jsonl.4194999.part", "");
        let written = folder.write("behind.jsonl.1.part", "");
        crate::program::ok(&embed, b"");
        assert!(output.is_symlink() && folder.read("behind.jsonl").contains("a word"));
        if std::path::Path::new("/proc/self").exists() {
            assert!(!std::path::Path::new(&left).exists());
        }
        assert!(std::path::Path::new(&written).exists());
        std::fs::remove_file(&output).unwrap();
        std::os::unix::fs::symlink("link.jsonl", &output).unwrap();
        let said = crate::program::refused(&embed, b"");
        assert!(said.contains("leads to itself"), "{said}");
    }
}

#[test]
fn an_empty_variable_is_none_and_a_lone_file_is_named() {
    let folder = Folder::new("lone");
    let lone = folder.write("lone.gguf", "");
    let model = folder.0.display().to_string();
    let said = crate::program::refused(&["score", "a", "b", "-c", "c", "--model", &model], b"");
    assert!(said.contains(&lone), "{said}");
    let scored = Command::new(env!("CARGO_BIN_EXE_caselens"))
        .args(["score", "a", "b", "-c", "c"])
        .env("CASELENS_MODEL", "")
        .env("CASELENS_HEAD", "")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&scored.stderr);
    assert!(scored.status.success(), "{said}");
}

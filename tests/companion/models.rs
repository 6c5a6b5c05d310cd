//! What ships, for a program that was installed alone: where it is looked for, and how it is fetched.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::common::Folder;
use crate::hub::{Reply, Server};

const MODEL: &str = "caselens-csts-q4_0.gguf";
const HEAD: &str = "caselens-csts.head.safetensors";

fn shipped(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("www/public/models");
    fs::read(folder.join(name)).unwrap()
}

/// A program in a folder of its own, as `cargo install` leaves it.
struct Installed {
    folder: Folder,
}

impl Installed {
    fn new(test: &str) -> Self {
        let folder = Folder::new(&format!("installed-{test}"));
        fs::copy(env!("CARGO_BIN_EXE_caselens"), folder.file("caselens")).unwrap();
        Self { folder }
    }

    /// Where XDG_DATA_HOME has what was fetched.
    fn fetched(&self, name: &str) -> PathBuf {
        self.folder.0.join("data/caselens/models").join(name)
    }

    fn run(&self, args: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(self.folder.file("caselens"));
        for variable in [
            "CASELENS_MODEL",
            "CASELENS_HEAD",
            "CASELENS_MODELS_URL",
            "http_proxy",
            "HTTP_PROXY",
            "ALL_PROXY",
            "all_proxy",
        ] {
            command.env_remove(variable);
        }
        let output = command
            .args(args)
            .current_dir(&self.folder.0)
            .env("HOME", &self.folder.0)
            .env("XDG_DATA_HOME", self.folder.0.join("data"))
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let said = text(&output.stderr);
        assert!(!said.contains("panicked"), "{said}");
        (
            output.status.code().unwrap_or(-1),
            text(&output.stdout),
            said,
        )
    }

    fn scores(&self) {
        let (code, out, said) =
            self.run(&["score", "A dog.", "A cat.", "-c", "the animal", "--json"]);
        assert_eq!(code, 0, "{said}");
        assert!(out.contains("similarity"), "{out}");
    }
}

#[test]
fn a_program_alone_says_where_its_model_comes_from_and_fetches_it() {
    let program = Installed::new("fetch");
    let (code, _, said) = program.run(&["score", "A dog.", "A cat.", "-c", "the animal"]);
    assert_eq!(code, 2, "{said}");
    assert!(
        said.contains("caselens models fetch") && said.contains("data/caselens/models"),
        "{said}"
    );
    let (_, _, listed) = program.run(&["models"]);
    assert!(
        listed.contains("caselens-csts, which ships: not on this machine"),
        "{listed}"
    );
    let (code, _, said) = program.run(&["models", "fetch"]);
    assert!(code == 2 && said.contains("--from"), "{said}");
    // It says where both files are had, in words that can be acted on.
    for part in [
        MODEL,
        HEAD,
        "--from https://cdn.jsdelivr.net/npm/caselens-csts",
        "npm pack caselens-csts",
    ] {
        assert!(said.contains(part), "{said}");
    }

    // The first answer breaks off after a part of it: the next asks for the rest.
    let server = Server::new(|request| {
        let name = request.path.trim_start_matches("/models/");
        let mut reply = Reply::bytes(&shipped(name), request.start);
        if name == MODEL && request.start == 0 {
            reply.sent = Some(5_000_000);
        }
        reply
    });
    let from = format!("{}/models/", server.url());
    let (code, _, said) = program.run(&["models", "fetch", "--from", &from]);
    assert_eq!(code, 0, "{said}");
    for name in [MODEL, HEAD] {
        assert!(
            fs::read(program.fetched(name)).unwrap() == shipped(name),
            "{name}"
        );
    }
    let starts: Vec<_> = server
        .requests()
        .into_iter()
        .map(|r| (r.path, r.start))
        .collect();
    let model = format!("/models/{MODEL}");
    assert_eq!(starts[0], (model.clone(), 0));
    assert!(starts[1].0 == model && starts[1].1 > 0, "{starts:?}");
    assert_eq!(starts.len(), 3, "{starts:?}");
    program.scores();
    let (_, _, listed) = program.run(&["models"]);
    assert!(
        listed.contains(&program.fetched(MODEL).display().to_string()),
        "{listed}"
    );

    // What is there is not asked for again; what is damaged is.
    let (code, out, said) = program.run(&[
        "models",
        "fetch",
        "caselens-csts",
        "--from",
        &from,
        "--json",
    ]);
    assert_eq!(code, 0, "{said}");
    assert!(out.contains(HEAD), "{out}");
    assert_eq!(server.requests().len(), 3);
    fs::write(program.fetched(HEAD), b"cut").unwrap();
    assert_eq!(program.run(&["models", "fetch", "--from", &from]).0, 0);
    assert!(fs::read(program.fetched(HEAD)).unwrap() == shipped(HEAD));
}

#[test]
fn another_file_than_the_programs_own_is_refused() {
    let program = Installed::new("refused");
    let server = Server::new(|request| match request.path.ends_with(MODEL) {
        true => Reply::bytes(&vec![7; shipped(MODEL).len()], request.start),
        false => Reply::status(404, "", ""),
    });
    let (code, _, said) = program.run(&["models", "fetch", "--from", &server.url()]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("SHA-256"), "{said}");
    assert!(!program.fetched(MODEL).exists());
    drop(server);
    let server = Server::new(|_| Reply::status(404, "", ""));
    let (code, _, said) = program.run(&["models", "fetch", "--from", &server.url()]);
    assert!(code == 1 && said.contains("404"), "{said}");
}

#[test]
fn it_comes_from_a_folder_too_and_is_found_beside_the_program() {
    let program = Installed::new("folder");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("www/public/models");
    let from = format!("file://{}", folder.display());
    let (code, _, said) = program.run(&["models", "fetch", "--from", &from]);
    assert_eq!(code, 0, "{said}");
    program.scores();
    let (code, _, said) = program.run(&["models", "fetch", "--from", "file:///nowhere"]);
    assert_eq!(code, 0, "what is there needs no server: {said}");
    for name in [MODEL, HEAD] {
        fs::rename(program.fetched(name), program.folder.file(name)).unwrap();
    }
    program.scores();
    let (code, _, said) = program.run(&["models", "fetch", "--from", "file:///nowhere"]);
    assert!(code == 2 && said.contains("/nowhere"), "{said}");
}

#[test]
fn the_large_one_goes_by_its_name() {
    let program = Installed::new("large");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("www/public/models");
    let from = format!("file://{}", folder.display());
    let name = "caselens-csts-large";
    let score = [
        "score",
        "A dog.",
        "A cat.",
        "-c",
        "the animal",
        "--json",
        "--model",
        name,
    ];
    let (code, _, said) = program.run(&score);
    assert!(code == 2 && said.contains("models fetch"), "{said}");
    let (code, _, said) = program.run(&["models", "fetch", name, "--from", &from]);
    assert_eq!(code, 0, "{said}");
    // With its own head: the small one's is for another width.
    let (code, out, said) = program.run(&score);
    assert!(code == 0 && out.contains("mentioned"), "{said}");
}

//! Encoders by their names on the Hugging Face hub: the companion against a server that answers as the hub does.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use crate::common::{Folder, fixture};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

#[derive(Debug, Clone)]
pub struct Request {
    host: String,
    pub path: String,
    /// The first byte that is asked for.
    pub start: usize,
    token: Option<String>,
}

#[derive(Default)]
pub struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    /// Bytes of the body that are sent before the connection is closed.
    pub sent: Option<usize>,
}

impl Reply {
    pub fn status(status: u16, code: &str, message: &str) -> Self {
        Self {
            status,
            headers: vec![
                ("X-Error-Code", code.into()),
                ("X-Error-Message", message.into()),
            ],
            ..Self::default()
        }
    }

    fn to(status: u16, location: String) -> Self {
        Self {
            status,
            headers: vec![("Location", location)],
            ..Self::default()
        }
    }

    pub fn bytes(body: &[u8], start: usize) -> Self {
        let (first, last, whole) = (start, body.len().saturating_sub(1), body.len());
        let range = ("Content-Range", format!("bytes {first}-{last}/{whole}"));
        Self {
            status: if start > 0 { 206 } else { 200 },
            headers: Vec::from_iter((start > 0).then_some(range)),
            body: body[start..].to_vec(),
            sent: None,
        }
    }
}

/// A server on this machine; it is gone when this is dropped.
pub struct Server {
    port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
    closed: Arc<AtomicBool>,
}

impl Server {
    pub fn new(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            port: listener.local_addr().unwrap().port(),
            requests: Arc::default(),
            closed: Arc::default(),
        };
        let (requests, closed) = (server.requests.clone(), server.closed.clone());
        let answer = Arc::new(answer);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if closed.load(Ordering::Relaxed) {
                    break;
                }
                let (answer, requests) = (answer.clone(), requests.clone());
                thread::spawn(move || serve(stream.unwrap(), &*answer, &requests));
            }
        });
        server
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
        // The listener ends with the next connection.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn serve(stream: TcpStream, answer: &dyn Fn(&Request) -> Reply, requests: &Mutex<Vec<Request>>) {
    let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
    let Some(first) = lines.next() else { return };
    let mut request = Request {
        host: String::new(),
        path: first.split(' ').nth(1).unwrap().to_owned(),
        start: 0,
        token: None,
    };
    for line in lines.take_while(|line| !line.is_empty()) {
        let (name, value) = line.split_once(": ").unwrap();
        match name.to_ascii_lowercase().as_str() {
            "host" => request.host = value.to_owned(),
            "authorization" => request.token = Some(value.to_owned()),
            "range" => {
                let start = value.strip_prefix("bytes=").unwrap();
                request.start = start.strip_suffix('-').unwrap().parse().unwrap();
            }
            "accept-encoding" => assert_eq!(value, "identity"),
            _ => {}
        }
    }
    let reply = answer(&request);
    requests.lock().unwrap().push(request);
    let mut head = format!("HTTP/1.1 {} Said\r\n", reply.status);
    for (name, value) in &reply.headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += &format!(
        "Content-Length: {}\r\nConnection: close\r\n\r\n",
        reply.body.len()
    );
    let sent = reply.sent.unwrap_or(reply.body.len());
    let mut stream = &stream;
    // A client may have heard enough.
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(&reply.body[..sent]);
}

/// A repository as the hub publishes one.
#[derive(Clone)]
struct Published {
    id: &'static str,
    files: Vec<(String, Vec<u8>)>,
}

impl Published {
    fn new(id: &'static str, folder: &Path) -> Self {
        let read = |name: &str| (name.to_owned(), fs::read(folder.join(name)).unwrap());
        let mut files: Vec<_> = ["config.json", "tokenizer.json", "model.safetensors"]
            .map(read)
            .into();
        for other in [
            "README.md",
            "pytorch_model.bin",
            "onnx/model.onnx",
            "vocab.txt",
        ] {
            files.push((other.to_owned(), b"other".to_vec()));
        }
        files.push(("special_tokens_map.json".to_owned(), Vec::new()));
        Self { id, files }
    }

    fn file(&self, name: &str) -> &[u8] {
        &self.files.iter().find(|(n, _)| n == name).unwrap().1
    }

    /// The hub's answer for it. Weights come from another host, other files from another path.
    fn answer(&self, request: &Request) -> Reply {
        let path = request.path.as_str();
        let id = self.id;
        if path.starts_with(&format!("/api/models/{id}/revision/")) {
            return Reply::bytes(self.listing().to_string().as_bytes(), 0);
        }
        let resolve = format!("/{id}/resolve/{COMMIT}/");
        if let Some(name) = path.strip_prefix(&resolve) {
            let port = request.host.rsplit(':').next().unwrap();
            return match is_large(name) {
                true => Reply::to(302, format!("http://localhost:{port}/cdn/{name}")),
                false => Reply::to(307, format!("/api/resolve-cache/{name}")),
            };
        }
        let name = path
            .strip_prefix("/cdn/")
            .or_else(|| path.strip_prefix("/api/resolve-cache/"));
        match name {
            Some(name) => Reply::bytes(self.file(name), request.start),
            None => Reply::status(404, "RepoNotFound", "Repository not found"),
        }
    }

    fn listing(&self) -> Value {
        let file = |(name, bytes): &(String, Vec<u8>)| {
            let mut file = json!({
                "rfilename": name, "size": bytes.len(), "blobId": hash(bytes)[..40],
            });
            if is_large(name) {
                file["lfs"] =
                    json!({"sha256": hash(bytes), "size": bytes.len(), "pointerSize": 134});
            }
            file
        };
        json!({"sha": COMMIT, "gated": false, "siblings": self.files.iter().map(file).collect::<Vec<_>>()})
    }
}

fn is_large(name: &str) -> bool {
    name.ends_with(".safetensors") || name.ends_with(".bin") || name.ends_with(".onnx")
}

fn hash(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|b| format!("{b:02x}")).collect()
}

fn decoder() -> Published {
    Published::new("tiny/mistral", &fixture("decoders/mistral"))
}

/// Runs the companion with the hub at `endpoint`: exit code, standard output, standard error.
fn caselens(endpoint: &str, home: &Folder, args: &[&str]) -> (i32, String, String) {
    finish(command(env!("CARGO_BIN_EXE_caselens"), endpoint, home).args(args))
}

fn command(program: &str, endpoint: &str, home: &Folder) -> Command {
    let mut command = Command::new(program);
    for variable in [
        "CASELENS_MODEL",
        "CASELENS_HEAD",
        "HF_TOKEN",
        "HUGGING_FACE_HUB_TOKEN",
        "HF_TOKEN_PATH",
        "HF_HUB_CACHE",
        "HUGGINGFACE_HUB_CACHE",
        "HF_HUB_OFFLINE",
        "HTTP_PROXY",
        "http_proxy",
        "ALL_PROXY",
        "all_proxy",
    ] {
        command.env_remove(variable);
    }
    command.env("HF_ENDPOINT", endpoint).env("HF_HOME", &home.0);
    command
}

fn finish(command: &mut Command) -> (i32, String, String) {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = text(&output.stderr);
    assert!(!said.contains("panicked"), "{said}");
    (
        output.status.code().unwrap_or(-1),
        text(&output.stdout),
        said,
    )
}

const SCORE: [&str; 7] = [
    "score",
    "A dog runs.",
    "A cat runs.",
    "-c",
    "the activity",
    "--json",
    "--model",
];

/// What the companion says of a model in a folder here.
fn expected(folder: &Path) -> String {
    let home = Folder::new(&format!("hub-expected-{}", folder.display()).replace('/', "-"));
    let folder = folder.display().to_string();
    let (code, out, said) = score("http://127.0.0.1:1", &home, &folder);
    assert_eq!(code, 0, "{said}");
    out
}

fn score(endpoint: &str, home: &Folder, model: &str) -> (i32, String, String) {
    let args: Vec<_> = SCORE.into_iter().chain([model, "--head", "none"]).collect();
    caselens(endpoint, home, &args)
}

fn store(home: &Folder, name: &str) -> PathBuf {
    home.0.join("hub").join(format!("models--tiny--{name}"))
}

fn names(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry.unwrap().file_name().to_string_lossy().into_owned()
    };
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(name).collect();
    names.sort_unstable();
    names
}

#[test]
fn a_model_is_fetched_once_into_the_hubs_cache() {
    let home = Folder::new("hub-once");
    let published = decoder();
    let served = published.clone();
    let server = Server::new(move |request| served.answer(request));
    let (code, out, said) = score(&server.url(), &home, "tiny/mistral");
    assert_eq!(code, 0, "{said}");
    assert_eq!(out, expected(&fixture("decoders/mistral")));
    assert!(said.contains("fetching tiny/mistral, "), "{said}");

    let requests = server.requests();
    let asked = |part: &str| requests.iter().filter(|r| r.path.contains(part)).count();
    assert_eq!(
        asked("/api/models/tiny/mistral/revision/main?blobs=true"),
        1
    );
    assert_eq!(asked("/resolve/"), 5, "{requests:?}");
    for other in ["README", "pytorch", "onnx"] {
        assert_eq!(asked(other), 0);
    }
    let store = store(&home, "mistral");
    assert_eq!(fs::read_to_string(store.join("refs/main")).unwrap(), COMMIT);
    let weights = published.file("model.safetensors");
    let blob = store.join("blobs").join(hash(weights));
    let link = store
        .join("snapshots")
        .join(COMMIT)
        .join("model.safetensors");
    assert_eq!(
        fs::canonicalize(&link).unwrap(),
        fs::canonicalize(&blob).unwrap()
    );
    #[cfg(unix)]
    assert_eq!(
        fs::read_link(&link).unwrap(),
        Path::new("../../blobs").join(hash(weights))
    );
    assert_eq!(names(&store.join("blobs")).len(), 5);

    // All of it is there: nothing is asked any more, by any of its names.
    let known = server.requests().len();
    let commit = format!("tiny/mistral@{COMMIT}");
    for name in ["tiny/mistral", "tiny/mistral@main", &commit] {
        assert_eq!(
            score(&server.url(), &home, name),
            (0, out.clone(), String::new())
        );
    }
    assert_eq!(server.requests().len(), known);
    let gone = server.url();
    drop(server);
    assert_eq!(score(&gone, &home, "tiny/mistral").1, out);
    // What other programs fetched lacks notes of what there is not.
    fs::remove_dir_all(store.join(".no_exist")).unwrap();
    assert_eq!(score(&gone, &home, "tiny/mistral").1, out);
}

#[test]
fn shards_are_fetched_by_their_index() {
    for (id, folder) in [
        ("tiny/mistral", "decoders/mistral"),
        ("tiny/bert-tiny", "bert-tiny"),
    ] {
        let home = Folder::new(&format!("hub-shards-{}", folder.replace('/', "-")));
        let mut published = Published::new(id, &fixture(folder));
        let at = published
            .files
            .iter()
            .position(|(name, _)| name == "model.safetensors");
        published.files[at.unwrap()].0 = "model-00001-of-00001.safetensors".into();
        let index = json!({"weight_map": {"any": "model-00001-of-00001.safetensors"}});
        published.files.push((
            "model.safetensors.index.json".into(),
            index.to_string().into_bytes(),
        ));
        let served = published.clone();
        let server = Server::new(move |request| served.answer(request));
        let (code, out, said) = score(&server.url(), &home, &format!("{id}@refs/pr/1"));
        assert_eq!(code, 0, "{said}");
        assert_eq!(out, expected(&fixture(folder)));
        let name = id.rsplit('/').next().unwrap();
        assert!(store(&home, name).join("refs/refs/pr/1").is_file());
        let asked = server.requests();
        let revision = |r: &Request| r.path.contains("/revision/refs%2Fpr%2F1");
        assert!(asked.iter().any(revision), "{asked:?}");
    }
}

#[test]
fn what_torch_and_python_wrote_is_fetched_where_there_is_nothing_else() {
    let home = Folder::new("hub-torch");
    let local = Folder::new("hub-torch-local");
    let read = |name: &str| fs::read(fixture("published/roberta").join(name)).unwrap();
    let needed = [
        "config.json",
        "vocab.json",
        "merges.txt",
        "tokenizer_config.json",
        "pytorch_model.bin",
    ];
    let mut files: Vec<_> = needed.map(|name| (name.to_owned(), read(name))).into();
    for (name, bytes) in &files {
        fs::write(local.0.join(name), bytes).unwrap();
    }
    files.push(("README.md".into(), b"other".to_vec()));
    let published = Published {
        id: "tiny/roberta",
        files,
    };
    let served = published.clone();
    let server = Server::new(move |request| served.answer(request));
    let (code, out, said) = score(&server.url(), &home, "tiny/roberta");
    assert_eq!(code, 0, "{said}");
    assert_eq!(out, expected(&local.0));
    let known = server.requests().len();
    assert_eq!(score(&server.url(), &home, "tiny/roberta").1, out);
    assert_eq!(server.requests().len(), known, "it is all there");

    // What is made of it has its weights in safetensors and a tokenizer.json.
    let (file, folder) = (home.file("roberta.gguf"), home.file("roberta"));
    let run = |args: &[&str]| {
        let (code, _, said) = caselens(&server.url(), &home, args);
        assert_eq!(code, 0, "{said}");
    };
    run(&[
        "quantize",
        "--model",
        "tiny/roberta",
        "--dtype",
        "f32",
        "--output",
        &file,
    ]);
    run(&[
        "dequantize",
        "--model",
        &file,
        "--base",
        "tiny/roberta",
        "--output",
        &folder,
    ]);
    for name in ["tokenizer.json", "model.safetensors"] {
        assert!(Path::new(&folder).join(name).is_file(), "{name}");
    }
    assert_eq!(expected(Path::new(&folder)), out);

    // A repository with neither form of a tokenizer says which file it lacks.
    let mut lacking = published;
    lacking.files.retain(|(name, _)| name != "merges.txt");
    let server = Server::new(move |request| lacking.answer(request));
    let home = Folder::new("hub-torch-lacking");
    let (code, _, said) = score(&server.url(), &home, "tiny/roberta");
    assert!(
        code == 2 && said.contains("tokenizer.json"),
        "{code} {said}"
    );
}

#[test]
fn every_command_takes_a_name() {
    let home = Folder::new("hub-quantize");
    let mut published = Published::new("tiny/bert-tiny", &fixture("bert-tiny"));
    let pooling = json!({"pooling_mode_cls_token": true}).to_string();
    published
        .files
        .push(("1_Pooling/config.json".into(), pooling.clone().into_bytes()));
    let server = Server::new(move |request| published.answer(request));
    let local = Folder::new("hub-quantize-local");
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        fs::create_dir_all(local.0.join("bert-tiny/1_Pooling")).unwrap();
        fs::copy(
            fixture("bert-tiny").join(name),
            local.0.join("bert-tiny").join(name),
        )
        .unwrap();
    }
    local.write("bert-tiny/1_Pooling/config.json", &pooling);
    let quantize = |model: &str, output: &str| {
        let args = ["quantize", "--model", model, "--output", output];
        let (code, _, said) = caselens(&server.url(), &home, &args);
        assert_eq!(code, 0, "{said}");
        fs::read(output).unwrap()
    };
    let fetched = quantize("tiny/bert-tiny", &home.file("hub.gguf"));
    assert!(fetched == quantize(&local.file("bert-tiny"), &home.file("local.gguf")));
}

#[test]
fn a_gated_model_wants_a_token() {
    let home = Folder::new("hub-gated");
    let published = decoder();
    let server = Server::new(move |request| {
        let authorised = request.token.as_deref() == Some("Bearer secret");
        let elsewhere = request.host.starts_with("localhost");
        assert!(
            !(elsewhere && request.token.is_some()),
            "the token left the hub"
        );
        let (status, code) = match request.token {
            Some(_) => (403, "GatedRepo"),
            None => (401, "GatedRepo"),
        };
        match request.path.contains("/resolve/") && !authorised {
            true => Reply::status(status, code, "Access to model tiny/mistral is restricted"),
            false => published.answer(request),
        }
    });
    let (code, _, said) = score(&server.url(), &home, "tiny/mistral");
    assert_eq!(code, 2, "{said}");
    let page = format!("{}/tiny/mistral", server.url());
    for part in [
        "gated",
        "no token was sent",
        "Accept its licence",
        &page,
        "HF_TOKEN",
    ] {
        assert!(said.contains(part), "{said}");
    }
    assert!(names(&store(&home, "mistral").join("blobs")).is_empty());
    let with = |token: &str| {
        let mut command = command(env!("CARGO_BIN_EXE_caselens"), &server.url(), &home);
        let args = SCORE.into_iter().chain(["tiny/mistral", "--head", "none"]);
        finish(command.args(args).env("HF_TOKEN", token))
    };
    let (code, _, said) = with("another");
    assert_eq!(code, 2);
    assert!(said.contains("has no access"), "{said}");
    // The token of `hf auth login`.
    home.write("token", "secret\n");
    let (code, out, said) = score(&server.url(), &home, "tiny/mistral");
    assert_eq!(code, 0, "{said}");
    assert_eq!(out, expected(&fixture("decoders/mistral")));
}

#[test]
fn what_there_is_not_is_said() {
    let home = Folder::new("hub-unknown");
    let mut published = decoder();
    published
        .files
        .retain(|(name, _)| !["model.safetensors", "pytorch_model.bin"].contains(&name.as_str()));
    let server = Server::new(move |request| match request.path.as_str() {
        path if path.contains("tiny/private") => {
            Reply::status(401, "RepoNotFound", "Repository not found")
        }
        path if path.contains("/revision/v9") => {
            Reply::status(404, "RevisionNotFound", "Invalid rev id: v9")
        }
        path if path.contains("tiny/busy") => Reply::status(503, "", ""),
        path if path.contains("tiny/html") => Reply::bytes(b"<html>", 0),
        path if path.contains("tiny/evil") => {
            Reply::bytes(br#"{"sha": "../../..", "siblings": []}"#, 0)
        }
        _ => published.answer(request),
    });
    for (model, code, parts) in [
        (
            "tiny/absent",
            2,
            ["no file or folder here", "Repository not found"],
        ),
        ("tiny/private", 2, ["Check the spelling", "HF_TOKEN"]),
        ("tiny/mistral@v9", 2, ["`v9`", "Invalid rev id"]),
        (
            "tiny/mistral",
            2,
            ["has no model.safetensors", "tiny/mistral@refs/pr/1"],
        ),
        ("tiny/busy", 1, ["answers 503", "--model"]),
        ("tiny/html", 1, ["its list of files", "was not fetched"]),
        ("tiny/evil", 1, ["its list of files", "no commit"]),
    ] {
        let (found, _, said) = score(&server.url(), &home, model);
        assert_eq!(found, code, "{model}: {said}");
        for part in parts {
            assert!(said.contains(part), "{model}: {said}");
        }
    }
    // Neither a path nor a name: as ever.
    for path in ["absent", "/absent/model", "a/b/c", "tiny/absent.gguf"] {
        let (code, _, said) = score(&server.url(), &home, path);
        assert_eq!(code, 2, "{said}");
        assert!(
            said.starts_with(&format!("caselens: {path}: No such file")),
            "{said}"
        );
    }
}

#[test]
fn without_a_network_a_folder_is_asked_for() {
    let home = Folder::new("hub-offline");
    let (code, _, said) = score("http://127.0.0.1:1", &home, "tiny/mistral");
    assert_eq!(code, 1, "{said}");
    for part in ["out of reach", "name their folder with --model"] {
        assert!(said.contains(part), "{said}");
    }
    let mut command = command(env!("CARGO_BIN_EXE_caselens"), "http://127.0.0.1:1", &home);
    let args = SCORE.into_iter().chain(["tiny/mistral"]);
    let (code, _, said) = finish(command.args(args).env("HF_HUB_OFFLINE", "1"));
    assert_eq!(code, 1);
    assert!(said.contains("HF_HUB_OFFLINE is set"), "{said}");
}

#[test]
fn a_download_that_breaks_off_goes_on() {
    let home = Folder::new("hub-truncated");
    let published = decoder();
    let whole = published.file("model.safetensors").len();
    // Every answer breaks off after a third of the file.
    let served = published.clone();
    let server = Server::new(move |request| {
        let mut reply = served.answer(request);
        if request.path.starts_with("/cdn/") {
            reply.sent = Some((whole / 3).min(reply.body.len()));
        }
        reply
    });
    let (code, out, said) = score(&server.url(), &home, "tiny/mistral");
    assert_eq!(code, 0, "{said}");
    assert_eq!(out, expected(&fixture("decoders/mistral")));
    let asked = server.requests();
    let starts = asked.iter().filter(|r| r.path.starts_with("/cdn/"));
    let starts: Vec<_> = starts.map(|r| r.start).collect();
    assert_eq!(
        starts,
        [0, whole / 3, whole / 3 * 2, whole / 3 * 3][..starts.len()]
    );

    // One that gets nowhere is given up, and what came is kept.
    let home = Folder::new("hub-stuck");
    let served = published.clone();
    let server = Server::new(move |request| {
        let mut reply = served.answer(request);
        if request.path.starts_with("/cdn/") {
            reply.sent = Some(if request.start == 0 { 1000 } else { 0 });
        }
        reply
    });
    let (code, _, said) = score(&server.url(), &home, "tiny/mistral");
    assert_eq!(code, 1, "{said}");
    for part in [
        "model.safetensors of `tiny/mistral` was not fetched",
        "What has arrived is kept",
    ] {
        assert!(said.contains(part), "{said}");
    }
    let store = store(&home, "mistral");
    let part = store.join("blobs").join(format!(
        "{}.incomplete",
        hash(published.file("model.safetensors"))
    ));
    assert_eq!(fs::metadata(&part).unwrap().len(), 1000);
    assert!(!store.join("refs/main").exists());
    drop(server);
    // A server that sends all of a file, whatever part was asked for.
    let served = published.clone();
    let server = Server::new(move |request| match request.path.starts_with("/cdn/") {
        true => Reply::bytes(served.file("model.safetensors"), 0),
        false => served.answer(request),
    });
    let (code, again, said) = score(&server.url(), &home, "tiny/mistral");
    assert_eq!(code, 0, "{said}");
    assert_eq!(again, out);
    assert!(!part.exists());
    let asked = server.requests();
    assert!(
        asked.iter().any(|request| request.start == 1000),
        "{asked:?}"
    );
}

#[test]
fn a_changed_file_is_refused() {
    let home = Folder::new("hub-changed");
    let published = decoder();
    let server = Server::new(move |request| {
        let mut reply = published.answer(request);
        if request.path.starts_with("/cdn/") {
            reply.body.reverse();
        }
        reply
    });
    let (code, _, said) = score(&server.url(), &home, "tiny/mistral");
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("SHA-256"), "{said}");
    let blobs = names(&store(&home, "mistral").join("blobs"));
    assert!(blobs.iter().all(|name| name.len() == 40), "{blobs:?}");
}

#[test]
#[cfg(unix)]
fn a_full_disk_leaves_the_cache_valid() {
    let home = Folder::new("hub-full");
    let published = decoder();
    let large = published.file("model.safetensors").len();
    let served = published.clone();
    let server = Server::new(move |request| served.answer(request));
    let small = published.file("tokenizer.json").len();
    assert!(
        large > small + 4096,
        "the limit lies between {small} and {large}"
    );
    // No file may grow beyond a limit, in blocks of 512 bytes.
    let blocks = (large - 2048) / 512;
    let mut command = command("sh", &server.url(), &home);
    let line = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    command.args(["-c", &line, "sh", env!("CARGO_BIN_EXE_caselens")]);
    let (code, _, said) = finish(command.args(SCORE.into_iter().chain(["tiny/mistral"])));
    assert_eq!(code, 1, "{said}");
    for part in ["the disk is full", "HF_HUB_CACHE"] {
        assert!(said.contains(part), "{said}");
    }
    let store = store(&home, "mistral");
    assert!(!store.join("refs/main").exists());
    assert!(
        !store
            .join("snapshots")
            .join(COMMIT)
            .join("model.safetensors")
            .exists()
    );
    let (code, out, said) = score(&server.url(), &home, "tiny/mistral");
    assert_eq!(code, 0, "{said}");
    assert_eq!(out, expected(&fixture("decoders/mistral")));
}

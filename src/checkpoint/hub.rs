//! Published encoders by their names on the Hugging Face hub, such as `nvidia/NV-Embed-v2`: fetched into the cache
//! that all of the hub's clients share, and opened from there.
//!
//! Fetched is what this crate reads and nothing else: configuration, tokenizer, safetensors, and small files beside
//! them. What the cache holds whole is not asked for again: it works without a network, and stays at its commit.
//!
//! The cache has the [hub's layout](https://huggingface.co/docs/hub/local-cache): `blobs` by the hash of their
//! content, links to them in `snapshots`, and `refs` from branches to commits. A blob gets its name once it is
//! whole, a link once there is its blob, and a ref once there is all of its snapshot: a download that breaks off
//! leaves a valid cache, and the next one goes on where it stopped.

use std::{
    fs::{self, File, OpenOptions},
    io::{ErrorKind, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use serde::Deserialize;
use sha2::{Digest, Sha256};
use ureq::{
    Agent, Body,
    config::RedirectAuthHeaders,
    http::Response,
    tls::{PemItem, RootCerts, TlsConfig, parse_pem},
};

use crate::{
    error::{Error, Result},
    model::decoder::{
        checkpoint::{INDEX, ONE_FILE, shard_names},
        config::Config,
    },
};

const ENDPOINT: &str = "https://huggingface.co";
/// What every encoder has beside its weights.
const NEEDED: [&str; 2] = ["config.json", "tokenizer.json"];
/// How long a silent connection is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// Attempts in a row that bring nothing new, until a download is given up; each waits twice as long as the one
/// before it.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(250);
/// Bytes of a list of files, at most.
const LISTING: u64 = 64 << 20;

/// A repository on the hub, at a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repo {
    /// Such as `nvidia/NV-Embed-v2`.
    pub id: String,
    /// A branch, a tag, a commit, or a proposed change such as `refs/pr/1`.
    pub revision: String,
}

impl Repo {
    /// What `owner/name` or `owner/name@revision` names; `None` for other texts, and for a path that exists.
    pub fn named(path: &Path) -> Option<Self> {
        let text = path.to_str().filter(|_| !path.exists())?;
        let (id, revision) = text.split_once('@').unwrap_or((text, "main"));
        let (owner, name) = id.split_once('/')?;
        // A GGUF file that is not there is a path, and no repository.
        let file = Path::new(name)
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("gguf"));
        let sound = is_name(owner) && is_name(name) && !file && revision.split('/').all(is_name);
        sound.then(|| Self {
            id: id.to_owned(),
            revision: revision.to_owned(),
        })
    }

    /// The folder of the repository in the cache.
    fn folder(&self) -> String {
        format!("models--{}", self.id.replace('/', "--"))
    }
}

/// Whether a text is one part of a repository's name, or of a revision's.
fn is_name(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.starts_with(word)
        && text.ends_with(word)
        && text.chars().all(|c| word(c) || matches!(c, '-' | '.'))
        && !text.contains("--")
        && !text.contains("..")
}

/// Whether a text is the hash of a commit or of a blob.
fn is_hash(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.chars().all(|c| c.is_ascii_hexdigit())
}

/// The name of the repository that a folder in the cache is a snapshot of, such as `NV-Embed-v2`; `None` for
/// other folders.
pub fn repository_of(folder: &Path) -> Option<&str> {
    let snapshots = folder.parent()?;
    if snapshots.file_name()? != "snapshots" {
        return None;
    }
    let repository = snapshots.parent()?.file_name()?.to_str()?;
    repository.strip_prefix("models--")?.rsplit("--").next()
}

/// The hub, and its cache on this machine.
#[derive(Debug, Clone)]
pub struct Hub {
    endpoint: String,
    token: Option<String>,
    cache: PathBuf,
    /// Whether the cache is all there is.
    offline: bool,
}

impl Hub {
    /// As the variables say that the hub's other clients know: HF_ENDPOINT, HF_TOKEN or else the file of
    /// HF_TOKEN_PATH, HF_HUB_CACHE, HF_HOME, HF_HUB_OFFLINE.
    pub fn from_env() -> Self {
        let text = |name: &str| {
            let value = std::env::var(name).ok()?.trim().to_owned();
            Some(value).filter(|v| !v.is_empty())
        };
        let home = path("HF_HOME").unwrap_or_else(|| {
            let cache = path("XDG_CACHE_HOME");
            let cache = cache.or_else(|| Some(std::env::home_dir()?.join(".cache")));
            cache.unwrap_or_else(std::env::temp_dir).join("huggingface")
        });
        let token_file = path("HF_TOKEN_PATH").unwrap_or_else(|| home.join("token"));
        let token_in_file = || {
            let token = fs::read_to_string(token_file).ok()?.trim().to_owned();
            Some(token).filter(|t| !t.is_empty())
        };
        Self {
            endpoint: text("HF_ENDPOINT")
                .map_or_else(|| ENDPOINT.into(), |url| url.trim_end_matches('/').into()),
            token: text("HF_TOKEN")
                .or_else(|| text("HUGGING_FACE_HUB_TOKEN"))
                .or_else(token_in_file),
            cache: path("HF_HUB_CACHE")
                .or_else(|| path("HUGGINGFACE_HUB_CACHE"))
                .unwrap_or_else(|| home.join("hub")),
            offline: text("HF_HUB_OFFLINE").is_some_and(|v| {
                !matches!(v.to_lowercase().as_str(), "0" | "false" | "no" | "off")
            }),
        }
    }

    /// The folder of a repository's files, fetched where the cache lacks them. `beside` names files that are
    /// wanted where the repository has them; `watch` is told how many bytes of the weights are there, and of how
    /// many.
    ///
    /// # Errors
    /// [`Error::HubGated`], [`Error::HubUnknown`], [`Error::HubFile`], [`Error::HubOffline`],
    /// [`Error::HubDownload`]; or the cache cannot be written.
    pub fn folder(
        &self,
        repo: &Repo,
        beside: &[&str],
        watch: &mut dyn FnMut(u64, u64),
    ) -> Result<PathBuf> {
        let store = self.cache.join(repo.folder());
        let commit = match is_hash(&repo.revision) {
            true => Some(repo.revision.clone()),
            false => fs::read_to_string(store.join("refs").join(&repo.revision)).ok(),
        };
        let kept = commit.map(|commit| Snapshot {
            store: store.clone(),
            commit: commit.trim().to_owned(),
        });
        let kept = kept.filter(|kept| is_hash(&kept.commit) && kept.is_enough());
        if let Some(kept) = &kept
            && kept.knows(beside)
        {
            return Ok(kept.folder());
        }
        match self.fetch(repo, &store, kept.as_ref(), beside, watch) {
            Err(error @ Error::HubOffline { .. }) => match kept {
                // What else the repository may have, nobody can say now; what it needs is there.
                Some(kept) => Ok(kept.folder()),
                None => Err(error),
            },
            other => other,
        }
    }

    fn fetch(
        &self,
        repo: &Repo,
        store: &Path,
        kept: Option<&Snapshot>,
        beside: &[&str],
        watch: &mut dyn FnMut(u64, u64),
    ) -> Result<PathBuf> {
        let client = Client::new(self, repo)?;
        // Weights that are there are not exchanged for a later commit's because a small file is missing.
        let revision = kept.map_or(&repo.revision, |kept| &kept.commit);
        let listing = client.listing(revision)?;
        let snapshot = Snapshot {
            store: store.to_owned(),
            commit: listing.sha.clone(),
        };
        for name in NEEDED.iter().chain(beside).chain(&[INDEX]) {
            match listing.file(name) {
                Some(file) => client.fetch(&snapshot, file, &mut |_| {})?,
                None if NEEDED.contains(name) => return Err(client.lacks(name)),
                None => snapshot.note_absent(name),
            }
        }
        let weights = snapshot.weights()?;
        let files = weights
            .iter()
            .map(|name| listing.file(name).ok_or_else(|| client.lacks(name)))
            .collect::<Result<Vec<_>>>()?;
        let total = files.iter().filter_map(|file| file.size).sum();
        let mut before = 0;
        for file in files {
            client.fetch(&snapshot, file, &mut |bytes| watch(before + bytes, total))?;
            before += file.size.unwrap_or(0);
        }
        if !is_hash(&repo.revision) {
            let path = store.join("refs").join(&repo.revision);
            make_parent(&path)?;
            fs::write(&path, &snapshot.commit).map_err(Error::io(&path))?;
        }
        Ok(snapshot.folder())
    }
}

fn path(variable: &str) -> Option<PathBuf> {
    let value = std::env::var_os(variable)?;
    Some(PathBuf::from(value)).filter(|p| !p.as_os_str().is_empty())
}

/// A commit of a repository in the cache.
struct Snapshot {
    /// The repository's folder.
    store: PathBuf,
    commit: String,
}

impl Snapshot {
    fn folder(&self) -> PathBuf {
        self.store.join("snapshots").join(&self.commit)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// Where the cache notes that the repository has no such file.
    fn absence(&self, name: &str) -> PathBuf {
        self.store.join(".no_exist").join(&self.commit).join(name)
    }

    /// Best effort: without the note it is only asked for again.
    fn note_absent(&self, name: &str) {
        let path = self.absence(name);
        if make_parent(&path).is_ok() {
            let _ = File::create(path);
        }
    }

    /// The files of the weights, by a configuration and an index that are there: what
    /// [`Checkpoint`](super::checkpoint::Checkpoint) and
    /// [`DecoderCheckpoint`](super::decoder::checkpoint::DecoderCheckpoint) open.
    fn weights(&self) -> Result<Vec<String>> {
        let config = fs::read_to_string(self.file(NEEDED[0])).unwrap_or_default();
        let index = self.file(INDEX);
        match fs::read(&index) {
            Ok(bytes) if Config::is_decoder(&config) => {
                let names = shard_names(&index.display().to_string(), &bytes)?;
                Ok(names.into_iter().collect())
            }
            _ => Ok(vec![ONE_FILE.to_owned()]),
        }
    }

    /// Whether an encoder can be opened from it.
    fn is_enough(&self) -> bool {
        let there = |name: &str| self.file(name).is_file();
        let weights = || self.weights().is_ok_and(|w| w.iter().all(|n| there(n)));
        NEEDED.iter().all(|name| there(name)) && weights()
    }

    /// Whether it is known of each of these files that it is there, or that the repository has none.
    fn knows(&self, beside: &[&str]) -> bool {
        let known = |name: &str| self.file(name).is_file() || self.absence(name).exists();
        beside.iter().chain(&[INDEX]).all(|name| known(name))
    }
}

/// What the hub says of a revision: its commit and its files.
#[derive(Deserialize)]
struct Listing {
    sha: String,
    siblings: Vec<Remote>,
}

/// A file on the hub.
#[derive(Deserialize)]
struct Remote {
    #[serde(rename = "rfilename")]
    name: String,
    size: Option<u64>,
    /// Git's hash of a small file.
    #[serde(rename = "blobId")]
    blob: Option<String>,
    lfs: Option<Lfs>,
}

/// What is kept of a large file.
#[derive(Deserialize)]
struct Lfs {
    sha256: Option<String>,
}

impl Listing {
    fn file(&self, name: &str) -> Option<&Remote> {
        self.siblings.iter().find(|file| file.name == name)
    }
}

impl Remote {
    fn sha256(&self) -> Option<&str> {
        let hash = self.lfs.as_ref()?.sha256.as_deref();
        hash.filter(|hash| is_hash(hash))
    }

    /// The name of its blob in the cache; mirrors of the hub may not know it.
    fn blob(&self) -> Option<&str> {
        let small = || self.blob.as_deref().filter(|hash| is_hash(hash));
        match self.lfs {
            Some(_) => self.sha256(),
            None => small(),
        }
    }
}

/// A connection to the hub, about one repository.
struct Client<'a> {
    hub: &'a Hub,
    repo: &'a Repo,
    agent: Agent,
}

/// Why an attempt did not bring a file.
enum Stopped {
    /// Another one may.
    Again(String),
    For(Error),
}

impl<'a> Client<'a> {
    fn new(hub: &'a Hub, repo: &'a Repo) -> Result<Self> {
        let mut tls = TlsConfig::builder();
        if let Some(path) = path("SSL_CERT_FILE") {
            let pem = fs::read(&path).map_err(Error::io(&path))?;
            let certificates: Vec<_> = parse_pem(&pem)
                .filter_map(|item| match item {
                    Ok(PemItem::Certificate(certificate)) => Some(certificate),
                    _ => None,
                })
                .collect();
            tls = tls.root_certs(RootCerts::new_with_certs(&certificates));
        }
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            // The hub sends large files from elsewhere, and small ones from another path of its own.
            .redirect_auth_headers(RedirectAuthHeaders::SameHost)
            .timeout_connect(Some(PATIENCE))
            .timeout_per_read(Some(PATIENCE))
            .accept_encoding("identity")
            .user_agent(concat!("caselens/", env!("CARGO_PKG_VERSION")))
            .tls_config(tls.build())
            .build();
        Ok(Self {
            hub,
            repo,
            agent: agent.into(),
        })
    }

    fn get(&self, url: &str, start: u64) -> std::result::Result<Response<Body>, ureq::Error> {
        let mut request = self.agent.get(url);
        if let Some(token) = &self.hub.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        if start > 0 {
            request = request.header("Range", format!("bytes={start}-"));
        }
        request.call()
    }

    fn listing(&self, revision: &str) -> Result<Listing> {
        let offline = |reason: String| Error::HubOffline {
            model: self.repo.id.clone(),
            reason,
        };
        if self.hub.offline {
            return Err(offline("HF_HUB_OFFLINE is set".into()));
        }
        let url = format!(
            "{}/api/models/{}/revision/{}?blobs=true",
            self.hub.endpoint,
            self.repo.id,
            revision.replace('/', "%2F")
        );
        let mut response = self.get(&url, 0).map_err(|e| match e {
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => Error::InvalidArgument(format!(
                "the hub cannot be asked ({e}). See what HF_ENDPOINT and HF_TOKEN hold."
            )),
            other => {
                let said = other.to_string();
                let hint = match said.contains("certificate") {
                    true => "; SSL_CERT_FILE names the certificates that are trusted",
                    false => "",
                };
                offline(format!(
                    "{} gives no answer ({said}{hint})",
                    self.hub.endpoint
                ))
            }
        })?;
        match response.status().as_u16() {
            200 => {}
            status @ (429 | 500..) => {
                return Err(offline(format!("{} answers {status}", self.hub.endpoint)));
            }
            401 | 404 if header(&response, "x-error-code") != "GatedRepo" => {
                return Err(self.unknown(&response));
            }
            _ => return Err(self.refused(&response, "its list of files")),
        }
        let broken = |reason: String| self.failed("its list of files", reason);
        let bytes = response.body_mut().with_config().limit(LISTING);
        let bytes = bytes.read_to_vec().map_err(|e| broken(e.to_string()))?;
        let listing: Listing =
            serde_json::from_slice(&bytes).map_err(|e| broken(format!("it is none ({e})")))?;
        match is_hash(&listing.sha) {
            true => Ok(listing),
            false => Err(broken(format!("{:?} is no commit", listing.sha))),
        }
    }

    /// Brings a file into a snapshot, unless it is there. `progress` is told how many of its bytes are.
    fn fetch(
        &self,
        snapshot: &Snapshot,
        file: &Remote,
        progress: &mut dyn FnMut(u64),
    ) -> Result<()> {
        let link = snapshot.file(&file.name);
        if link.is_file() {
            return Ok(());
        }
        let blobs = snapshot.store.join("blobs");
        let unnamed = || format!("{}-{}", snapshot.commit, file.name.replace('/', "-"));
        let stem = file.blob().map_or_else(unnamed, str::to_owned);
        let part = blobs.join(format!("{stem}.incomplete"));
        make_parent(&part)?;
        let _lock = lock(
            &self
                .hub
                .cache
                .join(".locks")
                .join(self.repo.folder())
                .join(format!("{stem}.lock")),
        )?;
        if link.is_file() {
            return Ok(()); // another program was faster
        }
        let whole = |blob: &PathBuf| {
            let length = fs::metadata(blob).map(|m| m.len()).ok();
            length.is_some() && file.size.is_none_or(|size| length == Some(size))
        };
        let blob = match file.blob().map(|name| blobs.join(name)).filter(whole) {
            Some(blob) => blob,
            None => {
                let hash = self.download(&part, snapshot, file, progress)?;
                let blob = blobs.join(file.blob().unwrap_or(&hash));
                fs::rename(&part, &blob).map_err(Error::io(&blob))?;
                blob
            }
        };
        make_link(&blob, &link, &file.name)
    }

    /// Downloads a file to `part`, after what that holds already; its SHA-256.
    fn download(
        &self,
        part: &Path,
        snapshot: &Snapshot,
        file: &Remote,
        progress: &mut dyn FnMut(u64),
    ) -> Result<String> {
        let url = format!(
            "{}/{}/resolve/{}/{}",
            self.hub.endpoint, self.repo.id, snapshot.commit, file.name
        );
        let mut idle = 0;
        loop {
            let before = length(part);
            match self.attempt(&url, part, file, progress) {
                Ok(()) => break,
                Err(Stopped::For(error)) => return Err(error),
                Err(Stopped::Again(reason)) => {
                    idle = if length(part) > before { 0 } else { idle + 1 };
                    if idle == ATTEMPTS {
                        return Err(self.failed(&file.name, reason));
                    }
                    thread::sleep(PAUSE * (1 << idle));
                }
            }
        }
        let hash = hash(part)?;
        if file.sha256().is_some_and(|sha256| sha256 != hash) {
            fs::remove_file(part).map_err(Error::io(part))?;
            return Err(self.failed(&file.name, "its SHA-256 is not the hub's".into()));
        }
        Ok(hash)
    }

    fn attempt(
        &self,
        url: &str,
        part: &Path,
        file: &Remote,
        progress: &mut dyn FnMut(u64),
    ) -> std::result::Result<(), Stopped> {
        let again = |reason: String| Err(Stopped::Again(reason));
        let write = |e| Stopped::For(self.not_written(part, file, e));
        let mut start = length(part);
        match file.size {
            Some(size) if start == size && size > 0 => return Ok(()),
            Some(size) if start > size => start = 0,
            _ => {}
        }
        let response = match self.get(url, start) {
            Ok(response) => response,
            Err(e) => return again(e.to_string()),
        };
        match response.status().as_u16() {
            206 if header(&response, "content-range").starts_with(&format!("bytes {start}-")) => {}
            // The whole file, whatever was asked for.
            200 => start = 0,
            status @ (206 | 408 | 416 | 429 | 500..) => {
                // Not what was asked for: the next attempt asks for all of it.
                if matches!(status, 206 | 416) && start > 0 {
                    fs::remove_file(part).map_err(write)?;
                }
                return again(format!("the hub answers {status}"));
            }
            _ => return Err(Stopped::For(self.refused(&response, &file.name))),
        }
        let rest: Option<u64> = header(&response, "content-length").parse().ok();
        let size = file.size.or_else(|| Some(start + rest?));
        let mut out = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(part)
            .map_err(write)?;
        out.set_len(start).map_err(write)?;
        out.seek(SeekFrom::Start(start)).map_err(write)?;
        let mut body = response.into_body().into_reader();
        let mut buffer = vec![0; 1 << 18];
        let mut at = start;
        loop {
            progress(at);
            let read = match body.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => return again(e.to_string()),
            };
            out.write_all(&buffer[..read]).map_err(write)?;
            at += read as u64;
        }
        match size {
            Some(size) if at != size => again(format!("it ends after {at} of {size} bytes")),
            _ => out.sync_all().map_err(write),
        }
    }

    fn lacks(&self, name: &str) -> Error {
        Error::HubFile {
            model: self.repo.id.clone(),
            file: name.to_owned(),
        }
    }

    fn failed(&self, file: &str, reason: String) -> Error {
        Error::HubDownload {
            model: self.repo.id.clone(),
            file: file.to_owned(),
            reason,
        }
    }

    fn unknown(&self, response: &Response<Body>) -> Error {
        Error::HubUnknown {
            model: self.repo.id.clone(),
            revision: self.repo.revision.clone(),
            reason: said(response),
        }
    }

    /// What an answer that brings no file means.
    fn refused(&self, response: &Response<Body>, file: &str) -> Error {
        match response.status().as_u16() {
            401 | 403 => Error::HubGated {
                page: format!("{}/{}", self.hub.endpoint, self.repo.id),
                model: self.repo.id.clone(),
                sent: match self.hub.token {
                    Some(_) => "the token that was sent has no access",
                    None => "no token was sent",
                },
            },
            _ => self.failed(file, format!("the hub answers {}", said(response))),
        }
    }

    fn not_written(&self, part: &Path, file: &Remote, e: std::io::Error) -> Error {
        use ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        match e.kind() {
            StorageFull | QuotaExceeded | FileTooLarge => self.failed(
                &file.name,
                format!(
                    "the disk is full ({}: {e}). Free some of it, or name a folder on another one with HF_HUB_CACHE",
                    part.display()
                ),
            ),
            _ => Error::io(part)(e),
        }
    }
}

fn header<'a>(response: &'a Response<Body>, name: &str) -> &'a str {
    let value = response.headers().get(name);
    value.and_then(|v| v.to_str().ok()).unwrap_or_default()
}

/// A response's status, and the hub's words for it.
fn said(response: &Response<Body>) -> String {
    let (status, message) = (response.status(), header(response, "x-error-message"));
    match message.is_empty() {
        true => status.to_string(),
        false => format!("{}, {message}", status.as_u16()),
    }
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |m| m.len())
}

fn make_parent(path: &Path) -> Result<()> {
    match path.parent() {
        Some(folder) => fs::create_dir_all(folder).map_err(Error::io(folder)),
        None => Ok(()),
    }
}

/// Waits until nobody else downloads the same file; held while the file lives.
fn lock(path: &Path) -> Result<File> {
    make_parent(path)?;
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(Error::io(path))?;
    match file.lock() {
        // Some network file systems know no locks.
        Err(e) if e.kind() != ErrorKind::Unsupported => Err(Error::io(path)(e)),
        _ => Ok(file),
    }
}

/// SHA-256 of a file, in hexadecimal.
fn hash(path: &Path) -> Result<String> {
    let mut file = File::open(path).map_err(Error::io(path))?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer).map_err(Error::io(path))? {
            0 => break,
            read => hash.update(&buffer[..read]),
        }
    }
    Ok(hash.finalize().iter().map(|b| format!("{b:02x}")).collect())
}

/// Links a snapshot's file to its blob, or moves the blob there where the file system has no links.
fn make_link(blob: &Path, link: &Path, name: &str) -> Result<()> {
    make_parent(link)?;
    // A link to a blob that is gone.
    if fs::symlink_metadata(link).is_ok() {
        fs::remove_file(link).map_err(Error::io(link))?;
    }
    let up = "../".repeat(2 + name.matches('/').count());
    let blob_name = blob.file_name().unwrap_or_default().to_string_lossy();
    match symlink(Path::new(&format!("{up}blobs/{blob_name}")), link) {
        Ok(()) => Ok(()),
        Err(_) => fs::rename(blob, link).map_err(Error::io(link)),
    }
}

#[cfg(unix)]
fn symlink(to: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(to, link)
}

#[cfg(windows)]
fn symlink(to: &Path, link: &Path) -> std::io::Result<()> {
    std::os::windows::fs::symlink_file(to, link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_has_an_owner_and_a_name() {
        let named = |text: &str| Repo::named(Path::new(text)).map(|r| (r.id, r.revision));
        let pair = |id: &str, revision: &str| Some((id.to_owned(), revision.to_owned()));
        assert_eq!(
            named("nvidia/NV-Embed-v2"),
            pair("nvidia/NV-Embed-v2", "main")
        );
        assert_eq!(named("a/b@v1.0"), pair("a/b", "v1.0"));
        assert_eq!(named("a/b@refs/pr/1"), pair("a/b", "refs/pr/1"));
        for other in [
            "model",
            "a/b/c",
            "/a/b",
            "./b",
            "../b",
            "a/..",
            "a/b@",
            "a/b@../x",
            "a/b@/x",
            "a/b c",
            "a/b.gguf",
            "a--b/c",
            "a/.b",
            "src/model",
            "",
        ] {
            assert_eq!(named(other), None, "{other}");
        }
    }

    #[test]
    fn a_snapshot_is_known_by_its_repository() {
        let of = |path: &str| repository_of(Path::new(path)).map(str::to_owned);
        let snapshot = "hub/models--nvidia--NV-Embed-v2/snapshots/0123";
        assert_eq!(of(snapshot).as_deref(), Some("NV-Embed-v2"));
        assert_eq!(of("hub/datasets--a--b/snapshots/0123"), None);
        assert_eq!(of("snapshots/0123"), None);
        assert_eq!(of("models/NV-Embed-v2"), None);
    }
}

//! The cache that the hub's clients share: what of it is a commit of a repository, and who may write there.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

use super::{
    download::{lock, make_parent},
    repo::{Repo, is_hash},
};
use crate::{
    checkpoint::{
        shards,
        slow_tokenizer::{self, TOKENIZER},
    },
    error::{Error, Result},
};

/// What every encoder has beside its weights and its tokenizer.
pub(super) const CONFIG: &str = "config.json";

/// A commit of a repository in the cache.
pub(super) struct Snapshot {
    cache: PathBuf,
    /// The repository's folder in the cache.
    repository: String,
    pub commit: String,
}

impl Snapshot {
    pub fn new(cache: &Path, repo: &Repo, commit: &str) -> Self {
        Self {
            cache: cache.to_owned(),
            repository: repo.folder(),
            commit: commit.to_owned(),
        }
    }

    fn store(&self) -> PathBuf {
        self.cache.join(&self.repository)
    }

    pub fn blobs(&self) -> PathBuf {
        self.store().join("blobs")
    }

    /// The commit's folder.
    pub fn folder(&self) -> PathBuf {
        self.store().join("snapshots").join(&self.commit)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// Where the cache notes that the repository has no such file.
    fn absence(&self, name: &str) -> PathBuf {
        self.store().join(".no_exist").join(&self.commit).join(name)
    }

    /// Best effort: without the note it is only asked for again.
    pub fn note_absent(&self, name: &str) {
        let path = self.absence(name);
        if make_parent(&path).is_ok() {
            let _ = File::create(path);
        }
    }

    /// Whether an encoder can be opened from it.
    pub fn is_enough(&self) -> bool {
        let there = |name: &str| self.file(name).is_file();
        let weights = shards::names(&self.folder()).unwrap_or_default();
        there(CONFIG)
            && slow_tokenizer::files(there).is_some()
            && !weights.is_empty()
            && weights.iter().all(|name| there(name))
    }

    /// Whether it is known of each of these files that it is there, or that the repository has none; and of the tokenizer that
    /// does not have to be made.
    pub fn knows(&self, beside: &[&str]) -> bool {
        let known = |name: &str| self.file(name).is_file() || self.absence(name).exists();
        beside.iter().chain(&[TOKENIZER]).all(|name| known(name))
    }

    /// Waits until nobody else downloads the same blob, or the file that becomes it; held while the lock lives.
    pub fn lock(&self, blob: &str) -> Result<File> {
        let locks = self.cache.join(".locks").join(&self.repository);
        lock(&locks.join(format!("{blob}.lock")))
    }

    /// Notes that a branch or tag is at this commit.
    pub fn point(&self, revision: &str) -> Result<()> {
        let path = reference(&self.cache, &self.repository, revision);
        make_parent(&path)?;
        fs::write(&path, &self.commit).map_err(Error::io(&path))
    }
}

/// The commit that the cache has a revision at.
pub(super) fn commit_of(cache: &Path, repo: &Repo) -> Option<String> {
    if is_hash(&repo.revision) {
        return Some(repo.revision.clone());
    }
    let noted = fs::read_to_string(reference(cache, &repo.folder(), &repo.revision)).ok()?;
    let commit = noted.trim();
    is_hash(commit).then(|| commit.to_owned())
}

fn reference(cache: &Path, repository: &str, revision: &str) -> PathBuf {
    cache.join(repository).join("refs").join(revision)
}

/// Links a snapshot's file to its blob, or moves the blob there where the file system has no links.
pub(super) fn make_link(blob: &Path, link: &Path, name: &str) -> Result<()> {
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

//! The files of a repository, as the hub lists them.

use serde::Deserialize;

use super::repo::is_hash;

/// What the hub says of a revision: its commit and its files.
#[derive(Deserialize)]
pub(super) struct Listing {
    pub sha: String,
    siblings: Vec<Remote>,
}

/// A file on the hub.
#[derive(Deserialize)]
pub(super) struct Remote {
    #[serde(rename = "rfilename")]
    pub name: String,
    pub size: Option<u64>,
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
    pub fn file(&self, name: &str) -> Option<&Remote> {
        self.siblings.iter().find(|file| file.name == name)
    }
}

impl Remote {
    pub fn sha256(&self) -> Option<&str> {
        let hash = self.lfs.as_ref()?.sha256.as_deref();
        hash.filter(|hash| is_hash(hash))
    }

    /// The name of its blob in the cache; mirrors of the hub may not know it.
    pub fn blob(&self) -> Option<&str> {
        let small = || self.blob.as_deref().filter(|hash| is_hash(hash));
        match self.lfs {
            Some(_) => self.sha256(),
            None => small(),
        }
    }
}

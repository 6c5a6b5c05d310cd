//! Published encoders by their names on the Hugging Face hub, such as `nvidia/NV-Embed-v2`: fetched into the cache
//! that all of the hub's clients share, and opened from there.
//!
//! Fetched is what this crate reads and nothing else: configuration, tokenizer, weights in one form, and small files
//! beside them. What the cache holds whole is not asked for again: it works without a network, and stays at its commit.
//!
//! The cache has the [hub's layout](https://huggingface.co/docs/hub/local-cache): `blobs` by the hash of their
//! content, links to them in `snapshots`, and `refs` from branches to commits. A blob gets its name once it is
//! whole, a link once there is its blob, and a ref once there is all of its snapshot: a download that breaks off
//! leaves a valid cache, and the next one goes on where it stopped.

use std::{collections::BTreeSet, fs, path::PathBuf};

mod client;
pub mod download;
mod fetch;
mod listing;
mod repo;
mod snapshot;

use client::{Access, Client};
use download::named_path;
pub use repo::Repo;
use repo::is_hash;
use snapshot::{CONFIG, Snapshot, commit_of};

use super::{
    shards::{self, WEIGHTS, WeightFiles},
    slow_tokenizer::{self, TOKENIZER},
};
use crate::error::{Error, Result};

const ENDPOINT: &str = "https://huggingface.co";

/// The hub, and its cache on this machine.
#[derive(Debug, Clone)]
pub struct Hub {
    access: Access,
    cache: PathBuf,
}

impl Hub {
    /// As the variables say that the hub's other clients know: HF_ENDPOINT, HF_TOKEN or else the file of
    /// HF_TOKEN_PATH, HF_HUB_CACHE, HF_HOME, HF_HUB_OFFLINE.
    pub fn from_env() -> Self {
        let text = |name: &str| {
            let value = std::env::var(name).ok()?.trim().to_owned();
            Some(value).filter(|v| !v.is_empty())
        };
        let home = named_path("HF_HOME").unwrap_or_else(|| {
            let cache = named_path("XDG_CACHE_HOME");
            let cache = cache.or_else(|| Some(std::env::home_dir()?.join(".cache")));
            cache.unwrap_or_else(std::env::temp_dir).join("huggingface")
        });
        let token_file = named_path("HF_TOKEN_PATH").unwrap_or_else(|| home.join("token"));
        let token_in_file = || {
            let token = fs::read_to_string(token_file).ok()?.trim().to_owned();
            Some(token).filter(|t| !t.is_empty())
        };
        Self {
            access: Access {
                endpoint: text("HF_ENDPOINT")
                    .map_or_else(|| ENDPOINT.into(), |url| url.trim_end_matches('/').into()),
                token: text("HF_TOKEN")
                    .or_else(|| text("HUGGING_FACE_HUB_TOKEN"))
                    .or_else(token_in_file),
                offline: text("HF_HUB_OFFLINE").is_some_and(|v| {
                    !matches!(v.to_lowercase().as_str(), "0" | "false" | "no" | "off")
                }),
            },
            cache: named_path("HF_HUB_CACHE")
                .or_else(|| named_path("HUGGINGFACE_HUB_CACHE"))
                .unwrap_or_else(|| home.join("hub")),
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
        let kept = commit_of(&self.cache, repo);
        let kept = kept.map(|commit| Snapshot::new(&self.cache, repo, &commit));
        let kept = kept.filter(Snapshot::is_enough);
        if let Some(kept) = &kept
            && kept.knows(beside)
        {
            return Ok(kept.folder());
        }
        match self.fetch(repo, kept.as_ref(), beside, watch) {
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
        kept: Option<&Snapshot>,
        beside: &[&str],
        watch: &mut dyn FnMut(u64, u64),
    ) -> Result<PathBuf> {
        let client = Client::new(&self.access, repo)?;
        // Weights that are there are not exchanged for a later commit's because a small file is missing.
        let revision = kept.map_or(&repo.revision, |kept| &kept.commit);
        let listing = client.listing(revision)?;
        let snapshot = Snapshot::new(&self.cache, repo, &listing.sha);
        let has = |name: &str| listing.file(name).is_some();
        let tokenizer = slow_tokenizer::files(has).ok_or_else(|| client.lacks(TOKENIZER))?;
        if !has(CONFIG) {
            return Err(client.lacks(CONFIG));
        }
        // Weights that are there are not exchanged for those that the repository has in another form.
        let weights = match kept {
            Some(_) => None,
            None => Some(WeightFiles::among(has).ok_or_else(|| client.lacks(WEIGHTS[0]))?),
        };
        let index = match weights {
            Some(WeightFiles::Index(index)) => Some(index),
            _ => None,
        };
        let small = [CONFIG, TOKENIZER].iter().chain(tokenizer).chain(beside);
        for name in small.copied().chain(index) {
            match listing.file(name) {
                Some(file) => client.fetch(&snapshot, file, &mut |_| {})?,
                None => snapshot.note_absent(name),
            }
        }
        let weights = match weights {
            None => BTreeSet::new(),
            Some(WeightFiles::One(name)) => [name.to_owned()].into(),
            Some(WeightFiles::Index(_)) => shards::names(&snapshot.folder())?,
        };
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
            snapshot.point(&repo.revision)?;
        }
        Ok(snapshot.folder())
    }
}

//! How a file of the hub gets into the cache.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use super::{
    client::Client,
    download::{Stopped, hash, make_parent},
    listing::Remote,
    snapshot::{Snapshot, make_link},
};
use crate::error::{Error, Result};

impl Client<'_> {
    /// Brings a file into a snapshot, unless it is there. `progress` is told how many of its bytes are.
    ///
    /// # Errors
    /// It did not arrive, is another than the hub says, or cannot be written.
    pub fn fetch(
        &self,
        snapshot: &Snapshot,
        file: &Remote,
        progress: &mut dyn FnMut(u64),
    ) -> Result<()> {
        let link = snapshot.file(&file.name);
        if link.is_file() {
            return Ok(());
        }
        let blobs = snapshot.blobs();
        let unnamed = || format!("{}-{}", snapshot.commit, file.name.replace('/', "-"));
        let stem = file.blob().map_or_else(unnamed, str::to_owned);
        let part = blobs.join(format!("{stem}.incomplete"));
        make_parent(&part)?;
        let _lock = snapshot.lock(&stem)?;
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
            self.access.endpoint, self.repo.id, snapshot.commit, file.name
        );
        self.at(&url, file.size)
            .fetch(part, progress)
            .map_err(|stopped| match stopped {
                Stopped::Idle(reason) => self.failed(&file.name, reason),
                Stopped::Refused(response) => self.refused(&response, &file.name),
                Stopped::NotWritten(e) => self.not_written(part, file, e),
            })?;
        let hash = hash(part)?;
        if file.sha256().is_some_and(|sha256| sha256 != hash) {
            fs::remove_file(part).map_err(Error::io(part))?;
            return Err(self.failed(&file.name, "its SHA-256 is not the hub's".into()));
        }
        Ok(hash)
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

//! Files and folders by their names, and their bytes.

use std::{ops::Range, path::Path};

use sha2::{Digest, Sha256};

#[cfg(not(target_arch = "wasm32"))]
use crate::error::{Error, Result};

/// The bytes of a file: owned, or mapped into memory.
pub enum Bytes {
    Owned(Vec<u8>),
    #[cfg(not(target_arch = "wasm32"))]
    Mapped(memmap2::Mmap),
}

impl Bytes {
    /// Maps a file into memory.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn map(path: &Path) -> Result<Self> {
        let file = std::fs::File::open(path).map_err(Error::io(path))?;
        // SAFETY: the map is read-only; a file changed by somebody else meanwhile gives wrong numbers, as
        // with every mapped model file, and no reference to it outlives the map.
        let map = unsafe { memmap2::Mmap::map(&file) }.map_err(Error::io(path))?;
        Ok(Self::Mapped(map))
    }
}

impl std::ops::Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Owned(bytes) => bytes,
            #[cfg(not(target_arch = "wasm32"))]
            Self::Mapped(map) => map,
        }
    }
}

/// The bytes of a text file, without the mark of their order that some editors write before them.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn read_text(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = std::fs::read(path).map_err(Error::io(path))?;
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    Ok(bytes)
}

/// A folder's config.json.
///
/// # Errors
/// It cannot be read.
#[cfg(not(target_arch = "wasm32"))]
pub fn config_json(folder: &Path) -> Result<String> {
    let bytes = read_text(&folder.join("config.json"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Where the bytes of a tensor lie.
pub(crate) enum Place {
    /// In the file of this number.
    File(usize, Range<usize>),
    Own(Vec<u8>),
}

impl Place {
    /// The bytes, of the file of each number.
    pub fn bytes<'a>(&'a self, files: &'a [Bytes]) -> &'a [u8] {
        match self {
            Self::File(file, range) => &files[*file][range.clone()],
            Self::Own(bytes) => bytes,
        }
    }
}

/// SHA-256 of bytes, in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hexadecimal(Sha256::new_with_prefix(bytes))
}

/// What was hashed, in hexadecimal.
pub(crate) fn hexadecimal(hash: Sha256) -> String {
    hash.finalize().iter().map(|b| format!("{b:02x}")).collect()
}

/// Whether a name that a file gives of another is of one beside it: no path, and no URL.
pub(crate) fn is_file_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\\', ':'])
}

/// A folder's name: its repository's where it is a snapshot in the hub's cache, else its own.
pub(crate) fn folder_name(path: &Path) -> Option<&str> {
    repository_of(path).or_else(|| path.file_name()?.to_str())
}

/// The name of the repository that a folder in the hub's cache is a snapshot of, such as `NV-Embed-v2`; `None`
/// for other folders.
fn repository_of(folder: &Path) -> Option<&str> {
    let snapshots = folder.parent()?;
    if snapshots.file_name()? != "snapshots" {
        return None;
    }
    let repository = snapshots.parent()?.file_name()?.to_str()?;
    repository.strip_prefix("models--")?.rsplit("--").next()
}

/// A folder's encoder name: as [`folder_name`], else what its configuration says.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn folder_id(path: &Path, config: &str) -> String {
    let from_config = || {
        serde_json::from_str::<serde_json::Value>(config)
            .ok()?
            .get("_name_or_path")?
            .as_str()
            .map(str::to_owned)
    };
    std::fs::canonicalize(path)
        .ok()
        .and_then(|p| folder_name(&p).map(str::to_owned))
        .or_else(from_config)
        .unwrap_or_else(|| "encoder".into())
}

#[cfg(test)]
mod tests {
    use super::*;

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

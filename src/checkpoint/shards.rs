//! The files of a Hugging Face folder's weights: one, or several (shards) that an index names.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::files::{Bytes, hexadecimal, is_file_name};
use crate::error::{Error, Result};

/// Holds the weights of a model in one file.
pub const ONE_FILE: &str = "model.safetensors";
/// Names the shards of a model in several files.
pub const INDEX: &str = "model.safetensors.index.json";

/// The list of shards; other fields are ignored.
#[derive(Deserialize)]
struct Index {
    weight_map: std::collections::HashMap<String, String>,
}

/// A folder's weight files, mapped into memory, by path in the order of their names. Where there is [`ONE_FILE`], no
/// index is looked for, as transformers has it.
///
/// # Errors
/// A file is missing, or the index is none.
pub fn mapped(folder: &Path) -> Result<Vec<(PathBuf, Bytes)>> {
    let index = folder.join(INDEX);
    let names = match !folder.join(ONE_FILE).is_file() && index.is_file() {
        true => {
            let bytes = fs::read(&index).map_err(Error::io(&index))?;
            shard_names(&index.display().to_string(), &bytes)?
        }
        false => [ONE_FILE.to_owned()].into(),
    };
    let map = |name: String| {
        let path = folder.join(&name);
        match path.is_file() {
            true => Ok((path.clone(), Bytes::map(&path)?)),
            false => Err(Error::MissingFile {
                model: folder.display().to_string(),
                file: name,
            }),
        }
    };
    names.into_iter().map(map).collect()
}

/// The files that an index names. `what` names the index in errors.
pub fn shard_names(what: &str, index: &[u8]) -> Result<BTreeSet<String>> {
    let bad = |reason: String| Error::ModelFormat {
        what: what.into(),
        reason,
    };
    let index: Index =
        serde_json::from_slice(index).map_err(|e| bad(format!("it is no list of shards ({e})")))?;
    let names: BTreeSet<_> = index.weight_map.into_values().collect();
    match names.iter().find(|name| !is_file_name(name)) {
        Some(name) => Err(bad(format!("it names the shard {name:?}"))),
        None if names.is_empty() => Err(bad("it names no shard".into())),
        None => Ok(names),
    }
}

/// SHA-256 (hex) of files, one after the other: of a model in one file, of that file.
pub fn sha256<'a>(files: impl IntoIterator<Item = &'a Bytes>) -> String {
    let mut hash = Sha256::new();
    for bytes in files {
        hash.update(&**bytes);
    }
    hexadecimal(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_lie_in_the_folder() {
        let names = |json: &str| shard_names("index", json.as_bytes());
        let two = names(
            r#"{"weight_map": {"a": "2.safetensors", "b": "1.safetensors", "c": "2.safetensors"}}"#,
        );
        let two: Vec<_> = two.unwrap().into_iter().collect();
        assert_eq!(two, ["1.safetensors", "2.safetensors"]);
        for bad in [
            "{}",
            r#"{"weight_map": {}}"#,
            r#"{"weight_map": {"a": "../x"}}"#,
            r#"{"weight_map": {"a": "/x"}}"#,
        ] {
            assert_eq!(names(bad).unwrap_err().code(), "model-format", "{bad}");
        }
    }
}

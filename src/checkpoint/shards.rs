//! The files of a Hugging Face folder's weights: one, or several (shards) that an index names.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::files::{Bytes, hexadecimal, is_file_name, read_text};
use crate::error::{Error, Result};

/// What holds a model's weights in one file, and what names its shards where they are in several: of each kind of file
/// that is read. Where there are several of these, the first one counts, as transformers has it.
pub const WEIGHTS: [&str; 4] = [
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
];

/// The list of shards; other fields are ignored.
#[derive(Deserialize)]
struct Index {
    weight_map: std::collections::HashMap<String, String>,
}

/// A model's weights, as a folder or a repository has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WeightFiles {
    /// In the file of this name.
    One(&'static str),
    /// In those that the index of this name names.
    Index(&'static str),
}

impl WeightFiles {
    /// What there is; `has` tells whether a name of [`WEIGHTS`] is there.
    pub fn among(has: impl Fn(&str) -> bool) -> Option<Self> {
        let found = WEIGHTS.into_iter().find(|name| has(name))?;
        Some(match found.ends_with(".json") {
            true => Self::Index(found),
            false => Self::One(found),
        })
    }
}

/// The names of the files that hold the weights of a model in `folder`, whether they are there or not; none where nothing
/// of [`WEIGHTS`] is.
///
/// # Errors
/// The index is none.
pub fn names(folder: &Path) -> Result<BTreeSet<String>> {
    match WeightFiles::among(|name| folder.join(name).is_file()) {
        None => Ok(BTreeSet::new()),
        Some(WeightFiles::One(name)) => Ok([name.to_owned()].into()),
        Some(WeightFiles::Index(name)) => {
            let index = folder.join(name);
            let bytes = read_text(&index)?;
            shard_names(&index.display().to_string(), &bytes)
        }
    }
}

/// A folder's weight files, mapped into memory, by path in the order of their names.
///
/// # Errors
/// A file is missing, or the index is none.
pub fn mapped(folder: &Path) -> Result<Vec<(PathBuf, Bytes)>> {
    let missing = |file: &str| Error::MissingFile {
        model: folder.display().to_string(),
        file: file.to_owned(),
    };
    let names = names(folder)?;
    if names.is_empty() {
        return Err(missing(WEIGHTS[0]));
    }
    let map = |name: String| {
        let path = folder.join(&name);
        match path.is_file() {
            true => Ok((path.clone(), Bytes::map(&path)?)),
            false => Err(missing(&name)),
        }
    };
    names.into_iter().map(map).collect()
}

/// The files that an index names. `what` names the index in errors.
fn shard_names(what: &str, index: &[u8]) -> Result<BTreeSet<String>> {
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
    fn safetensors_come_before_what_torch_wrote() {
        let among = |there: &[&str]| WeightFiles::among(|name| there.contains(&name));
        assert_eq!(among(&[]), None);
        let [one, index, torch, torch_index] = WEIGHTS;
        assert_eq!(among(&[torch, index]), Some(WeightFiles::Index(index)));
        assert_eq!(among(&[torch, one, index]), Some(WeightFiles::One(one)));
        assert_eq!(among(&[torch_index]), Some(WeightFiles::Index(torch_index)));
    }

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

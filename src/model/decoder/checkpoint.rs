//! A published decoder, opened: configuration, tokenizer and mapped weights, from a Hugging Face folder or a
//! GGUF file.

use std::{collections::BTreeSet, fs, path::Path, rc::Rc};

use candle_core::Device;
use serde::Deserialize;

use super::{Precision, config::Config, gguf, weights::Weights};
use crate::{
    checkpoint::{EncoderId, folder_id, is_file_name},
    embedding::Pool,
    error::{Error, Result},
    text::Tokenizer,
};

/// An opened decoder, not yet on a device.
pub struct DecoderCheckpoint {
    pub encoder: EncoderId,
    pub config: Config,
    pub tokenizer: Rc<Tokenizer>,
    /// What the file's large matrices are stored in, such as `bf16` or `q4k`.
    pub stored: String,
    pub(super) weights: Weights,
}

/// The list of shards; other fields are ignored.
#[derive(Deserialize)]
struct Index {
    weight_map: std::collections::HashMap<String, String>,
}

/// Holds the weights of a model in one file.
pub const ONE_FILE: &str = "model.safetensors";
/// Names the shards of a model in several files.
pub const INDEX: &str = "model.safetensors.index.json";

impl DecoderCheckpoint {
    /// Whether this folder or GGUF file holds a decoder. What cannot be read is none.
    pub fn is_one(path: &Path) -> bool {
        match path.is_dir() {
            true => fs::read_to_string(path.join("config.json"))
                .is_ok_and(|json| Config::is_decoder(&json)),
            false => gguf::is_decoder(path),
        }
    }

    /// What CASE pools of the decoder at this path, where nothing else is known of it: the text's tokens after
    /// latent attention, else the last one. `None` where it is no decoder.
    pub fn pooling(path: &Path) -> Option<Pool> {
        let config = fs::read_to_string(path.join("config.json")).ok();
        let latent = config.and_then(|json| Config::from_json("", &json).ok()?.latent);
        match Self::is_one(path) {
            true if latent.is_some() => Some(Pool::Query),
            true => Some(Pool::Last),
            false => None,
        }
    }

    /// What its large matrices are kept in once loaded in `precision`: those of GGUF files stay in their blocks.
    pub fn kept_in(&self, precision: Precision) -> String {
        match self.weights.in_blocks() {
            true => self.stored.clone(),
            false => precision.name().into(),
        }
    }

    /// What loses nothing of the file in the least memory.
    pub fn precision(&self) -> Precision {
        match self.stored.as_str() {
            "bf16" => Precision::Bf16,
            "f16" => Precision::F16,
            _ => Precision::F32,
        }
    }

    /// Opens a folder with config.json, tokenizer.json and model.safetensors or its shards, or a GGUF file,
    /// whose tokenizer may lie beside it as tokenizer.json.
    ///
    /// # Errors
    /// A file is missing or broken, or holds another architecture.
    pub fn open(path: &Path) -> Result<Self> {
        if !path.is_dir() {
            return gguf::open(path);
        }
        let read = |name: &str| {
            let path = path.join(name);
            fs::read(&path).map_err(Error::io(path))
        };
        let config_json = String::from_utf8_lossy(&read("config.json")?).into_owned();
        let id = folder_id(path, &config_json);
        let config = Config::from_json(&id, &config_json)?;
        let tokenizer = Tokenizer::from_json(&read("tokenizer.json")?)?;
        let files: Vec<_> = shards(path)?.iter().map(|f| path.join(f)).collect();
        let weights = Weights::safetensors(&id, &files)?;
        Ok(Self {
            encoder: EncoderId {
                id,
                sha256: weights.fingerprint(),
            },
            config,
            tokenizer: Rc::new(tokenizer),
            stored: weights.stored(),
            weights,
        })
    }
}

/// The names of a folder's weight files, each of which is there.
fn shards(folder: &Path) -> Result<BTreeSet<String>> {
    let index = folder.join(INDEX);
    let names = match fs::read(&index) {
        Ok(bytes) => shard_names(&index.display().to_string(), &bytes)?,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => [ONE_FILE.to_owned()].into(),
        Err(e) => return Err(Error::io(index)(e)),
    };
    match names.iter().find(|name| !folder.join(name).is_file()) {
        Some(missing) => Err(Error::MissingFile {
            model: folder.display().to_string(),
            file: missing.clone(),
        }),
        None => Ok(names),
    }
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

/// Bytes that can still be used on a device, where that is known.
pub(super) fn free_memory(device: &Device) -> Option<u64> {
    match device {
        Device::Cpu => available(&fs::read_to_string("/proc/meminfo").ok()?),
        #[cfg(feature = "cuda")]
        Device::Cuda(_) => {
            let (free, _) =
                candle_core::cuda_backend::cudarc::driver::result::mem_get_info().ok()?;
            Some(free as u64)
        }
        _ => None,
    }
}

/// Linux's estimate of what can be used without swapping, in bytes.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find(|l| l.starts_with("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_linux_says_of_memory() {
        let text = "MemTotal:  16 kB\nMemFree:   2 kB\nMemAvailable:   12 kB\n";
        assert_eq!(available(text), Some(12 * 1024));
        assert_eq!(available("MemTotal: 16 kB"), None);
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

//! Embeddings kept on disk by the hash of everything they depend on, so that training again, or after
//! an interruption, does not embed again.

use std::path::{Path, PathBuf};

use safetensors::Dtype;
use serde::Serialize;

use super::{
    output::{progress, write_file},
    wait,
};
use crate::{
    checkpoint::{
        described::{Reader, Writer},
        sha256,
    },
    data::dataset::Dataset,
    embedding::Case,
    error::{Error, Result},
    lens::{Lens, rows::Distinct},
    training::head::Example,
};

/// Embeddings a cache file holds: what an interruption can lose.
const CHUNK: usize = 1024;
/// The same for decoders, which take a hundred times as long for one.
const DECODER_CHUNK: usize = 128;
const TENSOR: &str = "embeddings";
/// SHA-256 of its bytes.
const DIGEST: &str = "sha256";

/// Where embeddings are kept unless the user says otherwise.
pub fn default_folder() -> PathBuf {
    folder_by(|name| std::env::var_os(name).map(PathBuf::from))
}

fn folder_by(variable: impl Fn(&str) -> Option<PathBuf>) -> PathBuf {
    // A relative path, an empty one too, counts as none: the XDG specification has it so.
    let absolute = |name: &str| variable(name).filter(|folder| folder.is_absolute());
    absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .unwrap_or_else(std::env::temp_dir)
        .join("caselens")
}

/// The rows of data, by the indices of their two inputs.
pub fn examples<'a>(inputs: &mut Distinct<'a>, data: &'a Dataset) -> Vec<Example> {
    data.rows
        .iter()
        .map(|row| Example {
            first: inputs.add(&row.sentence1, &row.condition),
            second: inputs.add(&row.sentence2, &row.condition),
            rating: row.rating,
        })
        .collect()
}

/// Raw CASE embeddings `[inputs, dims]`, row by row, from the cache where it has them.
pub fn embeddings(
    lens: &Lens,
    case: &Case,
    inputs: &Distinct<'_>,
    folder: &Path,
) -> Result<Vec<f32>> {
    let dims = case.dims(lens.encoder.shape.hidden_size);
    kept(lens, case, &inputs.inputs, dims, folder, |chunk| {
        compute(lens, case, chunk)
    })
}

/// What `compute` makes of `inputs`, `dims` numbers each, from the cache where it has them. `settings` are
/// what the numbers depend on beside the encoder and the inputs.
pub fn kept<T: Serialize>(
    lens: &Lens,
    settings: &impl Serialize,
    inputs: &[T],
    dims: usize,
    folder: &Path,
    compute: impl Fn(&[T]) -> Result<Vec<f32>>,
) -> Result<Vec<f32>> {
    let mut all = Vec::with_capacity(inputs.len() * dims);
    let bar = progress("embedding", inputs.len() as u64);
    let size = match lens.encoder.is_decoder() {
        true => DECODER_CHUNK,
        false => CHUNK,
    };
    for chunk in inputs.chunks(size) {
        let path = folder.join(format!("{}.safetensors", key(lens, settings, &chunk)?));
        let numbers = match read(&path, chunk.len() * dims) {
            Some(numbers) => numbers,
            None => {
                let numbers = compute(chunk)?;
                let file = written(&numbers, dims)?;
                // A full disk costs time later, not the result now.
                if let Err(error) = write_file(&path, &file) {
                    tracing::warn!("embeddings are not kept: {error}");
                }
                numbers
            }
        };
        all.extend(numbers);
        bar.inc(chunk.len() as u64);
    }
    bar.finish_and_clear();
    Ok(all)
}

fn compute(lens: &Lens, case: &Case, chunk: &[(&str, &str)]) -> Result<Vec<f32>> {
    let tokens = chunk
        .iter()
        .map(|(s, c)| lens.encoder.conditional(s, c, &format!(" \"{c:.60}\"")))
        .collect::<Result<Vec<_>>>()?;
    let rows = wait(lens.encoder.run_raw(&tokens, case))?;
    for (input, cut) in &rows.cuts {
        tracing::warn!(
            "the sentence \"{:.40}…\" lost its last {cut} tokens",
            chunk[*input].0
        );
    }
    Ok(rows.vectors.concat())
}

fn key(lens: &Lens, settings: &impl Serialize, chunk: &impl Serialize) -> Result<String> {
    let about = serde_json::to_string(&(
        &lens.encoder.id,
        &lens.encoder.dtype,
        lens.encoder.beside(),
        lens.encoder.backend.name(),
        settings,
        env!("CARGO_PKG_VERSION"),
        chunk,
    ))
    .map_err(|e| Error::InvalidArgument(e.to_string()))?;
    // Decoders were always cut at what is known of them.
    let about = match lens.encoder.is_decoder() {
        true => about,
        false => format!("{about} {}", lens.encoder.shape.max_tokens),
    };
    // Half of it tells any two apart.
    Ok(sha256(about.as_bytes())[..32].to_owned())
}

/// The file of embeddings of `dims` numbers each.
fn written(numbers: &[f32], dims: usize) -> Result<Vec<u8>> {
    let bytes: &[u8] = bytemuck::cast_slice(numbers);
    let mut file = Writer::default();
    file.add(TENSOR, Dtype::F32, &[numbers.len() / dims, dims], bytes);
    let digest = sha256(bytes).into_bytes();
    file.add(DIGEST, Dtype::U8, &[digest.len()], digest);
    file.plain().map_err(Error::InvalidArgument)
}

/// `None` where the file is absent or not what it should be, to the bit: it is made again then.
fn read(path: &Path, numbers: usize) -> Option<Vec<f32>> {
    let bytes = std::fs::read(path).ok()?;
    let file = Reader::new(&bytes).ok()?;
    let view = file.tensor(TENSOR).ok()?;
    let sound = view.dtype() == Dtype::F32
        && view.data().len() == numbers * size_of::<f32>()
        && file.tensor(DIGEST).ok()?.data() == sha256(view.data()).as_bytes();
    let numbers = sound.then(|| bytemuck::pod_collect_to_vec::<u8, f32>(view.data()));
    numbers.filter(|numbers| numbers.iter().all(|x| x.is_finite()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_which_a_bit_was_flipped_is_none() {
        let path = std::env::temp_dir().join(format!("caselens-cache-{}", std::process::id()));
        let numbers = [0.25, -1.5, 3.0, 0.0, 7.25, 1e-3];
        let bytes = written(&numbers, 2).unwrap();
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(read(&path, 6).unwrap(), numbers);
        assert_eq!(read(&path, 4), None);
        let start = bytes.len() - 4 * numbers.len() - 64;
        for at in start..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            std::fs::write(&path, &flipped).unwrap();
            assert_eq!(read(&path, 6), None, "byte {at}");
        }
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn only_an_absolute_path_says_where_embeddings_are_kept() {
        let root = std::env::temp_dir();
        let folder = |xdg: &Path, home: &Path| {
            folder_by(|name| Some(if name == "HOME" { home } else { xdg }.to_owned()))
        };
        let none = Path::new("");
        assert_eq!(folder(&root, none), root.join("caselens"));
        assert_eq!(folder(none, &root), root.join(".cache/caselens"));
        assert_eq!(folder(Path::new("here"), none), root.join("caselens"));
    }
}

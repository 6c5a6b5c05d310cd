//! Answers of an encoder that a browser cannot run: its embeddings of chosen pairs, stored, and its head, which is
//! applied where they are shown.
//!
//! What is stored is the head's input, for CASE the difference f(s, c) − f(c), and not its output: the page runs the
//! trained projection itself. The file is safetensors: `embeddings` `[2 · items, width]` in f16, or in int8 with
//! `scales` `[2 · items]` (f32) beside it, one for each vector: x ≈ scale · q.

use half::f16;
use safetensors::Dtype;
use serde::{Deserialize, Serialize};

use super::Manifest;
use crate::{
    backend::{Backend, simd::Simd},
    checkpoint::{
        described::{Reader, Writer},
        dtype::{self, decode},
    },
    error::{Error, Result},
    head::{Head, HeadFile},
    similarity::{cosine, rating},
    vectors::storage::to_int8,
};

/// How an embedding's numbers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Numbers {
    /// 16 bits: similarities as the encoder's own to three digits.
    F16,
    /// 8 bits with one scale for each embedding: half as large, similarities to two digits.
    Int8,
}

/// What an item's embeddings say.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Answer {
    /// Cosine of the two embeddings behind the head, −1 to 1.
    pub similarity: f32,
    /// The same on the 1–5 scale of human ratings.
    pub rating: f32,
}

/// Writes embeddings, each of the same width.
///
/// # Errors
/// An embedding has numbers that are not finite, or beyond what f16 holds.
pub fn to_bytes(vectors: &[Vec<f32>], numbers: Numbers) -> Result<Vec<u8>> {
    let bad = |reason: String| Error::BundleFormat {
        file: "the gallery being written".into(),
        reason,
    };
    if !vectors.iter().flatten().all(|x| x.is_finite()) {
        return Err(bad("an embedding has numbers that are not finite".into()));
    }
    let shape = [vectors.len(), vectors.first().map_or(0, Vec::len)];
    let mut scales: Vec<f32> = Vec::new();
    let (dtype, data) = match numbers {
        Numbers::F16 => {
            let halves: Vec<f16> = vectors
                .iter()
                .flatten()
                .map(|&x| f16::from_f32(x))
                .collect();
            if !halves.iter().all(|x| x.is_finite()) {
                return Err(bad(
                    "an embedding has numbers that f16 does not hold; choose int8".into(),
                ));
            }
            let bytes: Vec<u8> = halves.iter().flat_map(|x| x.to_le_bytes()).collect();
            (Dtype::F16, bytes)
        }
        Numbers::Int8 => {
            let mut quants = Vec::new();
            scales.extend(vectors.iter().map(|vector| to_int8(vector, &mut quants)));
            (Dtype::I8, bytemuck::cast_slice(&quants).to_vec())
        }
    };
    let scales: Vec<u8> = scales.iter().flat_map(|x| x.to_le_bytes()).collect();
    let mut file = Writer::default();
    file.add("embeddings", dtype, &shape, data);
    if numbers == Numbers::Int8 {
        file.add("scales", Dtype::F32, &[vectors.len()], scales);
    }
    file.plain().map_err(bad)
}

/// Reads what [`to_bytes`] wrote: `rows` embeddings of `width` numbers, end to end. `file` names it in errors.
fn from_bytes(
    file: &str,
    bytes: &[u8],
    numbers: Numbers,
    rows: usize,
    width: usize,
) -> Result<Vec<f32>> {
    let bad = |reason: String| Error::BundleFormat {
        file: file.to_owned(),
        reason,
    };
    let read = Reader::new(bytes).map_err(bad)?;
    let tensor =
        |name: &str, dtype: Dtype, shape: &[usize]| read.data(name, dtype, shape).map_err(bad);
    let found: Vec<f32> = match numbers {
        Numbers::F16 => decode(
            dtype::Dtype::F16,
            tensor("embeddings", Dtype::F16, &[rows, width])?,
        ),
        Numbers::Int8 => {
            let quants = tensor("embeddings", Dtype::I8, &[rows, width])?;
            let scales = decode(dtype::Dtype::F32, tensor("scales", Dtype::F32, &[rows])?);
            let vectors = quants.chunks_exact(width).zip(scales);
            vectors
                .flat_map(|(vector, scale)| vector.iter().map(move |&q| scale * f32::from(q as i8)))
                .collect()
        }
    };
    match found.iter().all(|x| x.is_finite()) {
        true => Ok(found),
        false => Err(bad("it holds numbers that are not finite".into())),
    }
}

/// Applies the head to a gallery's embeddings: an answer for each item, in their order.
///
/// # Errors
/// The bytes are not those that the manifest describes, or do not fit together.
pub async fn answers(manifest: &Manifest, head: &[u8], embeddings: &[u8]) -> Result<Vec<Answer>> {
    let gallery = manifest.gallery()?;
    manifest.head.check(head)?;
    gallery.file.check(embeddings)?;
    let head = HeadFile::parse(&manifest.head.file, head)?;
    head.spec.check_encoder(&manifest.encoder)?;
    // HeadFile::parse makes sure that there is a first width, and that it is not 0.
    let (rows, width) = (2 * gallery.items.len(), head.spec.dims[0]);
    let numbers = from_bytes(&gallery.file.file, embeddings, gallery.dtype, rows, width)?;
    if rows == 0 {
        return Ok(Vec::new());
    }
    let backend = Simd::new();
    let projected =
        Head::load(&backend, &head)?.forward(&backend, &backend.rows(width, &numbers)?)?;
    let projected = backend.read(&[&projected]).await?;
    if !projected[0].iter().all(|x| x.is_finite()) {
        return Err(Error::BundleFormat {
            file: gallery.file.file.clone(),
            reason: "its embeddings behind the head are not finite".into(),
        });
    }
    let dims = projected[0].len() / rows;
    let answer = |pair: &[f32]| {
        let similarity = cosine(&pair[..dims], &pair[dims..]);
        Answer {
            similarity,
            rating: rating(similarity, head.calibration.as_ref()),
        }
    };
    Ok(projected[0].chunks_exact(2 * dims).map(answer).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let vectors: Vec<Vec<f32>> = (0..6)
            .map(|row| {
                (0..32)
                    .map(|i| ((row * 7 + i) as f32).sin() * 10f32.powi(row - 3))
                    .collect()
            })
            .chain([vec![0.0; 32]])
            .collect();
        for (numbers, tolerance) in [(Numbers::F16, 1e-3), (Numbers::Int8, 0.5 / 127.0)] {
            let bytes = to_bytes(&vectors, numbers).unwrap();
            let read = from_bytes("g", &bytes, numbers, vectors.len(), 32).unwrap();
            for (a, b) in vectors.iter().zip(read.chunks(32)) {
                let most = a.iter().fold(0f32, |m, x| m.max(x.abs()));
                for (x, y) in a.iter().zip(b) {
                    assert!(
                        (x - y).abs() <= tolerance * most * 1.001,
                        "{numbers:?}: {x} {y}"
                    );
                }
            }
            let code = |rows, width, end: usize| {
                from_bytes("g", &bytes[..end], numbers, rows, width)
                    .unwrap_err()
                    .code()
            };
            assert_eq!(code(6, 32, bytes.len()), "bundle-format");
            assert_eq!(code(7, 16, bytes.len()), "bundle-format");
            assert_eq!(code(7, 32, bytes.len() - 1), "bundle-format");
        }
        assert!(to_bytes(&[vec![1e6]], Numbers::F16).is_err());
        assert!(to_bytes(&[vec![f32::NAN, 1.0]], Numbers::F16).is_err());
        assert!(to_bytes(&[vec![f32::INFINITY]], Numbers::Int8).is_err());
    }
}

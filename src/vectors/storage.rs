//! Embeddings in a form that is small to keep: fewer dimensions, bytes, or signs alone.
//!
//! - Fewer dimensions: the first ones are kept (Matryoshka embeddings, Kusupati et al., 2022). Vectors that had unit
//!   length are given it again.
//! - `int8`: a vector is `scale · value`, value from −127 to 127, with one scale a vector: its largest magnitude / 127.
//! - `binary`: one bit a dimension, 1 where the number is above 0; eight to a byte, the first dimension in the highest
//!   bit, the last byte filled up with zeros. This is `numpy.packbits(x > 0, axis=1)`, and `"ubinary"` of
//!   sentence-transformers' `quantize_embeddings`.
//!
//! Each vector is stored by itself, so that its form does not depend on what is stored with it.

use crate::{
    error::{Error, Result},
    similarity::unit,
};

/// How the numbers of a vector are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// As they are: 4 bytes a dimension.
    Float32,
    /// 1 byte a dimension and 4 a vector.
    Int8,
    /// 1 bit a dimension.
    Binary,
}

impl Storage {
    /// # Errors
    /// There is no form of this name.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "float32" => Ok(Self::Float32),
            "int8" => Ok(Self::Int8),
            "binary" => Ok(Self::Binary),
            other => Err(Error::InvalidArgument(format!(
                "dtype is \"float32\", \"int8\" or \"binary\", not \"{other}\"."
            ))),
        }
    }
}

/// Vectors of one width, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// Dimensions of a vector.
    pub dims: usize,
    /// Its numbers.
    pub numbers: Numbers,
}

/// The numbers of stored vectors.
#[derive(Debug, Clone, PartialEq)]
pub enum Numbers {
    /// `[count, dims]`
    Float32(Vec<f32>),
    /// x ≈ scale · value
    Int8 {
        /// `[count, dims]`
        values: Vec<i8>,
        /// `[count]`
        scales: Vec<f32>,
    },
    /// `[count, ⌈dims / 8⌉]`
    Binary(Vec<u8>),
}

impl Stored {
    /// Stores vectors, their first `dims` dimensions where given. `renormalize` says that they had unit length.
    ///
    /// # Errors
    /// The vectors differ in length, or `dims` is 0 or more than they have.
    pub fn of(
        vectors: &[Vec<f32>],
        dims: Option<usize>,
        storage: Storage,
        renormalize: bool,
    ) -> Result<Self> {
        let width = vectors.first().map_or(0, Vec::len);
        if let Some(other) = vectors.iter().find(|v| v.len() != width) {
            return Err(Error::InvalidArgument(format!(
                "embeddings with a condition have {} dimensions here and those without one {}: embed them in two calls.",
                width.min(other.len()),
                width.max(other.len())
            )));
        }
        let dims = dims.unwrap_or(width);
        if !vectors.is_empty() && !(1..=width).contains(&dims) {
            return Err(Error::InvalidArgument(format!(
                "dims must be from 1 to {width}, the dimensions of this encoder's embeddings, not {dims}."
            )));
        }
        let rows = vectors.iter().map(|vector| {
            let kept = vector.get(..dims).unwrap_or(vector);
            match renormalize && dims < width {
                true => unit(kept),
                false => kept.to_vec(),
            }
        });
        let numbers = match storage {
            Storage::Float32 => Numbers::Float32(rows.flatten().collect()),
            Storage::Int8 => {
                let (mut values, mut scales) = (Vec::new(), Vec::new());
                for row in rows {
                    scales.push(to_int8(&row, &mut values));
                }
                Numbers::Int8 { values, scales }
            }
            Storage::Binary => Numbers::Binary(rows.flat_map(|row| signs(&row)).collect()),
        };
        Ok(Self { dims, numbers })
    }
}

/// Appends a vector's bytes and gives their scale; a vector of zeros has scale 0.
pub(crate) fn to_int8(vector: &[f32], values: &mut Vec<i8>) -> f32 {
    let largest = vector.iter().fold(0f32, |most, x| most.max(x.abs()));
    let scale = largest / 127.0;
    values.extend(vector.iter().map(|x| match scale > 0.0 {
        true => (x / scale).round_ties_even() as i8, // saturates
        false => 0,
    }));
    scale
}

fn signs(vector: &[f32]) -> Vec<u8> {
    let byte = |eight: &[f32]| {
        let bits = eight.iter().enumerate();
        bits.fold(0, |byte, (i, &x)| byte | (u8::from(x > 0.0) << (7 - i)))
    };
    vector.chunks(8).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_of_zeros_has_every_form() {
        let zeros = [vec![0.0; 9]];
        let of = |storage| Stored::of(&zeros, None, storage, true).unwrap().numbers;
        assert_eq!(of(Storage::Float32), Numbers::Float32(vec![0.0; 9]));
        let (values, scales) = (vec![0; 9], vec![0.0]);
        assert_eq!(of(Storage::Int8), Numbers::Int8 { values, scales });
        assert_eq!(of(Storage::Binary), Numbers::Binary(vec![0, 0]));
    }

    #[test]
    fn what_cannot_be_stored_is_an_error() {
        let of = |vectors: &[Vec<f32>], dims| Stored::of(vectors, dims, Storage::Float32, true);
        let two = [vec![3.0, 4.0], vec![0.0, 1.0]];
        assert!(of(&two, Some(0)).is_err());
        assert!(of(&two, Some(3)).is_err());
        assert!(of(&[vec![1.0], vec![1.0, 0.0]], None).is_err());
        assert_eq!(
            of(&two, Some(1)).unwrap().numbers,
            Numbers::Float32(vec![1.0, 0.0])
        );
        assert_eq!(of(&[], Some(64)).unwrap().dims, 64);
        assert_eq!(
            Storage::parse("f16").unwrap_err().code(),
            "invalid-argument"
        );
    }
}

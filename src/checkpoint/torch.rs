//! The tensors of a file that `torch.save` wrote, such as pytorch_model.bin, of which nothing is run.
//!
//! It is a zip whose files are stored as they are: `data.pkl`, a pickle that names tensors, and a file of numbers for each
//! storage. A pickle is a program for Python's machine, and may have it call anything: here a few of its operations are
//! understood, those that list tensors, and whatever else it wants is an error that names it. Sizes are compared with
//! what is there before any memory is taken, and what can stay in the file stays there.

use std::ops::Range;

use safetensors::Dtype;

mod archive;
mod pickle;

use archive::Archive;
use pickle::Rebuilt;

/// What a zip begins with.
pub(super) const ZIP: &[u8] = b"PK\x03\x04";
/// What a pickle of the protocol that torch writes begins with: so does a whole file of torch before 1.6.
pub(super) const PICKLE: &[u8] = &[0x80, 0x02];

type Result<T> = std::result::Result<T, String>;

/// A tensor of the file.
#[derive(Debug)]
pub(super) struct Saved {
    pub name: String,
    pub dtype: Dtype,
    pub shape: Vec<usize>,
    pub data: Data,
}

/// The numbers of a tensor, row by row.
#[derive(Debug)]
pub(super) enum Data {
    /// Where they lie in the file.
    At(Range<usize>),
    /// Of one that the file holds in another order.
    Own(Vec<u8>),
}

/// The tensors of a file of `torch.save`.
///
/// # Errors
/// It is a zip of another kind, or holds something beside tensors: in words.
pub(super) fn tensors(bytes: &[u8]) -> Result<Vec<Saved>> {
    let archive = Archive::read(bytes)?;
    let (folder, list) = archive.folder_of("data.pkl")?;
    if let Some(order) = archive.file(folder, "byteorder")
        && bytes.get(order).is_some_and(|order| order != b"little")
    {
        return Err("its numbers are big-endian, which is not read".into());
    }
    let listed = pickle::tensors(bytes.get(list).unwrap_or_default())?;
    // Tensors may share a storage: all that are copied together take no more than the file.
    let mut budget = bytes.len();
    let read = listed.into_iter().map(|(name, tensor)| {
        let bad = |reason: String| format!("its tensor `{name}` {reason}");
        let key = tensor.storage.key;
        let storage = archive
            .file(folder, &format!("data/{key}"))
            .ok_or_else(|| bad(format!("is in the file `data/{key}`, which it lacks")))?;
        Ok(Saved {
            data: data(bytes, storage, &tensor, &mut budget).map_err(bad)?,
            name: name.to_owned(),
            dtype: tensor.storage.dtype,
            shape: tensor.shape,
        })
    });
    read.collect()
}

/// The numbers of a tensor whose storage lies in the range `storage` of the file.
fn data(
    bytes: &[u8],
    storage: Range<usize>,
    tensor: &Rebuilt<'_>,
    budget: &mut usize,
) -> Result<Data> {
    let Rebuilt {
        offset,
        shape,
        strides,
        ..
    } = tensor;
    let width = tensor.storage.dtype.bitsize() / 8;
    let held = storage.len() / width;
    let cut = || {
        format!(
            "has the shape {shape:?}, but its storage holds {held} numbers where {} are needed",
            tensor.storage.numbers
        )
    };
    if tensor.storage.numbers > held || shape.len() != strides.len() {
        return Err(cut());
    }
    let count = shape.iter().try_fold(1, |n: usize, &d| n.checked_mul(d));
    let Some(count) = count.filter(|&count| count <= held) else {
        return Err(cut());
    };
    if count == 0 {
        return Ok(Data::At(storage.start..storage.start));
    }
    let last = shape.iter().zip(strides).try_fold(*offset, |at, (d, s)| {
        at.checked_add((d - 1).checked_mul(*s)?)
    });
    if last.is_none_or(|last| last >= held) {
        return Err(cut());
    }
    let place = |at: usize| storage.start + at * width;
    if is_row_by_row(shape, strides) {
        return Ok(Data::At(place(*offset)..place(offset + count)));
    }
    *budget = budget
        .checked_sub(count * width)
        .ok_or("shares its numbers with too many others")?;
    let mut out = Vec::with_capacity(count * width);
    let mut index = vec![0; shape.len()];
    for _ in 0..count {
        let steps = index.iter().zip(strides).map(|(i, s)| i * s);
        let at = place(offset + steps.sum::<usize>());
        out.extend_from_slice(&bytes[at..at + width]);
        for (i, &d) in index.iter_mut().zip(shape).rev() {
            *i += 1;
            if *i < d {
                break;
            }
            *i = 0;
        }
    }
    Ok(Data::Own(out))
}

/// Whether numbers lie in the file as a tensor of this shape has them row by row.
fn is_row_by_row(shape: &[usize], strides: &[usize]) -> bool {
    let mut step = 1;
    shape.iter().zip(strides).rev().all(|(&d, &stride)| {
        let fits = d == 1 || stride == step;
        step *= d;
        fits
    })
}

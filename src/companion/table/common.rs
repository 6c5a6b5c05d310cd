//! What the readers of text share.

use std::io::{BufReader, Read};

use super::Rows;
use crate::error::{Error, Result};

/// Bytes of a row's text at the most, and of a batch before its last row, however many rows it may have: a column of
/// texts holds 2 GiB.
pub(crate) const BYTES: usize = 256 << 20;

/// Bytes that a compressed part of a file may take: twice what a column of texts holds.
const MOST: u64 = 4 << 30;
/// Of that, what any part may take, and beyond how many bytes each of its own may stand for. Texts are pressed to a tenth, and what is
/// all the same to a thousandth or less, but in smaller parts.
const ALWAYS: u64 = 64 << 20;
const TIMES: u64 = 1 << 10;

/// Whether so many bytes may be what others say they unpack to: memory is taken on their word.
pub fn may_unpack_to(unpacked: u64, packed: u64) -> bool {
    unpacked <= MOST.min(ALWAYS.saturating_add(TIMES.saturating_mul(packed)))
}

pub type Batches = Box<dyn FnMut() -> Result<Option<Rows>>>;
pub type Input = BufReader<Box<dyn Read>>;

/// A row's length, where it is not absurd.
pub fn check_length(bytes: usize, what: &str, row: usize) -> Result<usize> {
    match bytes <= BYTES {
        true => Ok(bytes),
        false => Err(Error::Data {
            file: what.to_owned(),
            row,
            reason: format!("it is longer than {} MiB", BYTES >> 20),
        }),
    }
}

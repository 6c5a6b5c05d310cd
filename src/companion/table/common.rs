//! What the readers of text share.

use std::io::{BufReader, Read};

use super::Rows;
use crate::error::{Error, Result};

/// Bytes of a row's text at the most, and of a batch before its last row, however many rows it may have: a column of
/// texts holds 2 GiB.
pub(crate) const BYTES: usize = 256 << 20;

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

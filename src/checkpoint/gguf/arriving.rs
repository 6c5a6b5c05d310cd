//! A GGUF file that arrives in pieces, as a download brings it.
//!
//! Once the header is whole, each tensor gets memory of its own, which fills as its bytes arrive: the file as
//! a whole is never in memory, and a tensor's bytes are given away one by one ([`Weights::take`]).
//!
//! Sizes come from outside. Memory is asked for as far as a stated size of the file allows it, else little ahead of what
//! has arrived; what is refused is an error.
//!
//! ```no_run
//! use caselens::checkpoint::gguf::arriving::Arriving;
//!
//! # fn pieces() -> Vec<Vec<u8>> { Vec::new() }
//! let mut file = Arriving::new("the model", None);
//! for piece in pieces() {
//!     file.push(&piece)?;
//! }
//! let weights = file.finish()?;
//! # Ok::<(), caselens::Error>(())
//! ```

use super::{
    format::Format,
    header::{Header, Metadata, TableEntry, check_magic, cut_short},
    value::Fault,
};
use crate::{
    checkpoint::{
        files::Place,
        weights::{Entry, Weights},
    },
    error::{Error, Result},
};

/// Bytes after which the header is read for the first time; each time it is incomplete, twice as many.
const FIRST_READ: usize = 1 << 16;
/// Longest header in bytes: a vocabulary of 250,000 tokens has less than half of it.
const LONGEST_HEADER: usize = 1 << 26;
/// Bytes that memory may be ahead of what has arrived of a tensor, where the file's size is unknown.
const AHEAD: usize = 1 << 24;

/// A GGUF file of which the first bytes are here.
pub struct Arriving {
    what: String,
    stated: Option<usize>,
    /// Bytes so far.
    size: usize,
    part: Part,
}

enum Part {
    Header {
        bytes: Vec<u8>,
        /// How many bytes it is read from next.
        read_at: usize,
    },
    Tensors(Tensors),
}

struct Tensors {
    metadata: Option<Metadata>,
    /// In the order of their bytes, each with those that are here.
    table: Vec<(TableEntry, Vec<u8>)>,
    /// The first that is not whole.
    next: usize,
}

impl Arriving {
    /// A file of which nothing is here. `what` names it in errors; `size` is its size in bytes, where that is known.
    pub fn new(what: &str, size: Option<usize>) -> Self {
        Self {
            what: what.into(),
            stated: size,
            size: 0,
            part: Part::Header {
                bytes: Vec::new(),
                read_at: FIRST_READ,
            },
        }
    }

    /// Takes the next bytes. After an error there is no going on.
    ///
    /// # Errors
    /// It is no GGUF file, is longer than was stated, lists a tensor that lies past its stated end or is not read here,
    /// or there is no memory for it.
    pub fn push(&mut self, piece: &[u8]) -> Result<()> {
        let start = self.size;
        self.size = start.saturating_add(piece.len());
        if let Some(stated) = self.stated.filter(|&stated| self.size > stated) {
            return Err(bad(
                &self.what,
                format!("it is longer than its {stated} bytes"),
            ));
        }
        match &mut self.part {
            Part::Tensors(tensors) => tensors.fill(&self.what, self.stated, start, piece),
            Part::Header { bytes, read_at } => {
                bytes
                    .try_reserve(piece.len())
                    .map_err(|_| no_memory(&self.what, piece.len()))?;
                bytes.extend_from_slice(piece);
                if bytes.len() >= 4 {
                    check_magic(&self.what, bytes)?;
                }
                if bytes.len() < *read_at {
                    return Ok(());
                }
                *read_at = 2 * bytes.len();
                match Header::read(bytes) {
                    Ok(header) => {
                        let tensors = Tensors::new(&self.what, self.stated, header, bytes)?;
                        self.part = Part::Tensors(tensors);
                        Ok(())
                    }
                    Err(Fault::CutShort) if bytes.len() < LONGEST_HEADER => Ok(()),
                    Err(fault) => Err(bad(&self.what, fault.to_string())),
                }
            }
        }
    }

    /// The key-value pairs, once they are here; they are given away.
    pub fn take_metadata(&mut self) -> Option<Metadata> {
        match &mut self.part {
            Part::Header { .. } => None,
            Part::Tensors(tensors) => tensors.metadata.take(),
        }
    }

    /// The weights, once all bytes are here, with the key-value pairs that were not taken.
    ///
    /// # Errors
    /// As [`Weights::open`].
    pub fn finish(self) -> Result<Weights> {
        let tensors = match self.part {
            Part::Tensors(tensors) => tensors,
            Part::Header { bytes, .. } => {
                check_magic(&self.what, &bytes)?;
                let header =
                    Header::read(&bytes).map_err(|fault| bad(&self.what, fault.to_string()))?;
                Tensors::new(&self.what, Some(self.size), header, &bytes)?
            }
        };
        let entries = tensors.table.into_iter().map(|(tensor, bytes)| {
            if bytes.len() < tensor.range.len() || tensor.range.end > self.size {
                return Err(cut_short(&self.what, &tensor.name, self.size));
            }
            let entry = Entry {
                shape: tensor.shape,
                format: tensor.format,
                place: Place::Own(bytes),
            };
            Ok((tensor.name, entry))
        });
        let entries = entries.collect::<Result<_>>()?;
        let metadata = tensors.metadata.unwrap_or_default();
        Ok(Weights::of(entries, metadata, self.size))
    }
}

impl Tensors {
    /// The tensors of a file that begins with `bytes`.
    fn new(what: &str, stated: Option<usize>, header: Header, bytes: &[u8]) -> Result<Self> {
        let table = header.table(what, stated, |format: Format| format.dtype().is_some())?;
        let table = table.into_iter().map(|tensor| (tensor, Vec::new()));
        let mut tensors = Self {
            metadata: Some(header.metadata),
            table: table.collect(),
            next: 0,
        };
        tensors.fill(what, stated, 0, bytes)?;
        Ok(tensors)
    }

    /// Takes the bytes of the file from `start` on: all before are here.
    fn fill(
        &mut self,
        what: &str,
        stated: Option<usize>,
        start: usize,
        piece: &[u8],
    ) -> Result<()> {
        while let Some((TableEntry { range, .. }, bytes)) = self.table.get_mut(self.next) {
            // What of the piece is this tensor's; what lies before is padding or was taken.
            let from = (range.start + bytes.len()).saturating_sub(start);
            let to = range.end.saturating_sub(start).min(piece.len());
            let part = piece.get(from..to).unwrap_or_default();
            if bytes.capacity() - bytes.len() < part.len() {
                let left = range.len() - bytes.len();
                let ahead = match stated {
                    Some(_) => left,
                    None => left.min(bytes.len().max(AHEAD)).max(part.len()),
                };
                bytes
                    .try_reserve_exact(ahead)
                    .map_err(|_| no_memory(what, ahead))?;
            }
            bytes.extend_from_slice(part);
            if bytes.len() < range.len() {
                break;
            }
            self.next += 1;
        }
        Ok(())
    }
}

fn bad(what: &str, reason: String) -> Error {
    Error::ModelFormat {
        what: what.into(),
        reason,
    }
}

fn no_memory(what: &str, bytes: usize) -> Error {
    Error::OutOfMemory {
        what: what.into(),
        bytes,
    }
}

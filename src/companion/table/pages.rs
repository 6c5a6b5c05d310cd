//! Parquet's pages, looked at before Parquet's reader gets them: it takes as much memory as a page says it unpacks to.

use std::{
    fs::File,
    io::{BufReader, Read, Seek, SeekFrom},
};

use parquet::{errors::ParquetError, file::metadata::ParquetMetaData};

use super::common::may_unpack_to;

/// How deep the parts of a page's header lie in each other at the most: they do not lie so deep.
const DEEPEST: usize = 8;

/// Refuses a page that says it unpacks to more than its bytes can be. What is no page is left to the reader, which says so.
pub fn check(file: File, metadata: &ParquetMetaData) -> Result<(), ParquetError> {
    let mut input = BufReader::with_capacity(1 << 10, file);
    let columns = metadata
        .row_groups()
        .iter()
        .flat_map(|group| group.columns());
    for column in columns {
        let (start, length) = column.byte_range();
        let end = start.saturating_add(length);
        let mut at = start;
        while at < end {
            input.seek(SeekFrom::Start(at))?;
            let mut header = Header {
                input: &mut input,
                read: 0,
            };
            let Some([unpacked, packed]) = header.sizes() else {
                break;
            };
            if !may_unpack_to(unpacked, packed) {
                return Err(ParquetError::General(format!(
                    "a page of {packed} bytes says that it unpacks to {unpacked}: that is too large"
                )));
            }
            at += header.read + packed;
        }
    }
    Ok(())
}

/// A page's header, in Thrift's compact protocol.
struct Header<'a> {
    input: &'a mut BufReader<File>,
    /// Bytes so far.
    read: u64,
}

impl Header<'_> {
    /// Bytes of the page unpacked, and as they are; `None` where this is no header.
    fn sizes(&mut self) -> Option<[u64; 2]> {
        let (mut field, mut sizes) = (0, [None; 2]);
        while let Some((id, kind)) = self.field(field)? {
            field = id;
            match (id, kind) {
                (2 | 3, 5) => {
                    let number = self.number()?;
                    // Its last bit is the sign.
                    sizes[id as usize - 2] = Some((number >> 1, number & 1));
                }
                _ => self.skip(kind, 0)?,
            }
        }
        match sizes {
            [Some((unpacked, 0)), Some((packed, 0))] => Some([unpacked, packed]),
            _ => None,
        }
    }

    /// The next field's number and kind, behind that of number `last`; `Some(None)` at the end.
    fn field(&mut self, last: u64) -> Option<Option<(u64, u8)>> {
        let byte = self.byte()?;
        Some(match (byte >> 4, byte & 15) {
            (_, 0) => None,
            (0, kind) => Some((self.number()? >> 1, kind)),
            (more, kind) => Some((last + u64::from(more), kind)),
        })
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        match kind {
            1 | 2 => {}
            3 => self.pass(1)?,
            4..=6 => drop(self.number()?),
            7 => self.pass(8)?,
            8 => {
                let length = self.number()?;
                self.pass(length)?;
            }
            9 | 10 if depth < DEEPEST => {
                let byte = self.byte()?;
                let count = match byte >> 4 {
                    15 => self.number()?,
                    few => few.into(),
                };
                for _ in 0..count {
                    match byte & 15 {
                        // In a list a truth value is a byte.
                        1 | 2 => self.pass(1)?,
                        kind => self.skip(kind, depth + 1)?,
                    }
                }
            }
            12 if depth < DEEPEST => {
                let mut last = 0;
                while let Some((id, kind)) = self.field(last)? {
                    last = id;
                    self.skip(kind, depth + 1)?;
                }
            }
            // A page's header has no other kind.
            _ => return None,
        }
        Some(())
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(number);
            }
        }
        None
    }

    fn byte(&mut self) -> Option<u8> {
        let mut byte = [0];
        self.input.read_exact(&mut byte).ok()?;
        self.read += 1;
        Some(byte[0])
    }

    fn pass(&mut self, bytes: u64) -> Option<()> {
        self.input.seek_relative(bytes.try_into().ok()?).ok()?;
        self.read = self.read.checked_add(bytes)?;
        Some(())
    }
}

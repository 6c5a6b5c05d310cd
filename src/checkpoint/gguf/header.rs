//! What stands before the tensors of a GGUF file: key-value pairs and the table of tensors, checked before anything is
//! taken from where the table says that it lies.
//!
//! The format's versions 1 to 3 are read. A file's other bytes are not looked at: a header may be read of a file that is
//! mapped into memory, or that is not all here.

use std::{collections::HashMap, ops::Range};

use super::{
    format::Format,
    value::{Fault, Reader, Value},
};
use crate::error::{Error, Result};

/// Key-value pairs.
pub type Metadata = HashMap<String, Value>;

/// Bytes between which tensors begin, where a file does not say so.
const ALIGNMENT: u32 = 32;
/// Most dimensions of a tensor, as llama.cpp has it.
const MOST_DIMENSIONS: u32 = 4;

/// What stands before the tensors of a GGUF file.
#[derive(Debug)]
pub struct Header {
    pub metadata: Metadata,
    tensors: Vec<Listed>,
    /// Where the tensors begin, counted from the file's first byte.
    start: u64,
}

/// A tensor as the file lists it.
#[derive(Debug)]
struct Listed {
    name: String,
    /// Outermost first.
    shape: Vec<usize>,
    format: Format,
    /// Counted from where the tensors begin.
    offset: u64,
}

/// A tensor of the table: its shape (outermost first), its format, and its bytes, counted from the file's first.
#[derive(Debug)]
pub struct TableEntry {
    pub name: String,
    pub shape: Vec<usize>,
    pub format: Format,
    pub range: Range<usize>,
}

impl Header {
    /// Reads it from the first bytes of a file.
    ///
    /// # Errors
    /// It is none, or goes on past these bytes.
    pub fn read(bytes: &[u8]) -> std::result::Result<Self, Fault> {
        let broken = |reason: String| Err(Fault::Broken(reason));
        let mut reader = Reader::new(bytes);
        if reader.take(4)? != MAGIC {
            return broken("it does not begin as one".into());
        }
        match reader.u32()? {
            1 => reader.width = 4,
            2 | 3 => {}
            other => return broken(format!("it has version {other}; 1 to 3 are read")),
        }
        // Of a tensor at least its name's length, how many dimensions it has, its format and its offset; of a pair its key's
        // length, its type and a byte.
        let width = reader.width;
        let tensors = reader.count(width + 4 + 4 + 8)?;
        let pairs = reader.count(width + 4 + 1)?;
        let mut metadata = Metadata::new();
        for _ in 0..pairs {
            let key = reader.string()?;
            metadata.insert(key, reader.value()?);
        }
        let tensors = (0..tensors)
            .map(|_| listed(&mut reader))
            .collect::<std::result::Result<_, _>>()?;
        let alignment = metadata.get("general.alignment").and_then(Value::as_u32);
        let read = (bytes.len() - reader.left()) as u64;
        match read.checked_next_multiple_of(alignment.unwrap_or(ALIGNMENT).into()) {
            None => broken("its alignment is 0".into()),
            Some(start) => Ok(Self {
                metadata,
                tensors,
                start,
            }),
        }
    }

    /// What the file says of its model's architecture.
    pub fn architecture(&self) -> &str {
        let said = self.metadata.get("general.architecture");
        said.and_then(Value::as_str).unwrap_or("unknown")
    }

    /// Its tensors in the order of their bytes, each known to lie within a file of `size` bytes, where that is
    /// known, and apart from all others. `reads` tells the formats that the reader knows.
    ///
    /// # Errors
    /// One that it does not know, a shape that is none in its format, bytes outside the file or shared by two, a name
    /// that two have. `what` names the file in them.
    pub fn table(
        &self,
        what: &str,
        size: Option<usize>,
        reads: impl Fn(Format) -> bool,
    ) -> Result<Vec<TableEntry>> {
        let bad = |reason: String| Error::ModelFormat {
            what: what.into(),
            reason,
        };
        let mut table = Vec::with_capacity(self.tensors.len());
        for tensor in &self.tensors {
            let Listed {
                name,
                shape,
                format,
                offset,
            } = tensor;
            if !reads(*format) {
                return Err(bad(format!(
                    "tensor `{name}` has the format {}; f32, f16, bf16, q8_0 and q4_0 are supported",
                    format.name()
                )));
            }
            let (numbers, block_bytes) = format.block();
            let bytes = shape
                .iter()
                .try_fold(1usize, |n, &d| n.checked_mul(d))
                .filter(|n| n.is_multiple_of(numbers))
                .filter(|_| shape.last().is_none_or(|d| d.is_multiple_of(numbers)))
                .and_then(|n| (n / numbers).checked_mul(block_bytes))
                .ok_or_else(|| bad(format!("tensor `{name}` has the shape {shape:?}")))?;
            let range = usize::try_from(self.start.saturating_add(*offset))
                .ok()
                .and_then(|start| Some(start..start.checked_add(bytes)?))
                .filter(|range| size.is_none_or(|size| range.end <= size))
                .ok_or_else(|| match size {
                    Some(size) => cut_short(what, name, size),
                    None => bad(format!("tensor `{name}` lies past the end of any file")),
                })?;
            table.push(TableEntry {
                name: name.clone(),
                shape: shape.clone(),
                format: *format,
                range,
            });
        }
        table.sort_unstable_by_key(|tensor| (tensor.range.start, tensor.range.end));
        for pair in table.windows(2) {
            let [first, second] = pair else { continue };
            if first.range.end > second.range.start {
                return Err(bad(format!(
                    "tensors `{}` and `{}` share bytes",
                    first.name, second.name
                )));
            }
        }
        let mut names: Vec<&str> = table.iter().map(|tensor| tensor.name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(twice) => Err(bad(format!("it lists tensor `{}` twice", twice[0]))),
            None => Ok(table),
        }
    }
}

/// A tensor of the table, as it is written.
fn listed(reader: &mut Reader<'_>) -> std::result::Result<Listed, Fault> {
    let name = reader.string()?;
    let dimensions = reader.u32()?;
    if dimensions > MOST_DIMENSIONS {
        return Err(Fault::Broken(format!(
            "tensor `{name}` has {dimensions} dimensions"
        )));
    }
    let mut shape = (0..dimensions)
        .map(|_| {
            let rows = reader.wide()?;
            usize::try_from(rows)
                .map_err(|_| Fault::Broken(format!("tensor `{name}` has a dimension of {rows}")))
        })
        .collect::<std::result::Result<Vec<_>, _>>()?;
    // The file has the innermost first.
    shape.reverse();
    let number = reader.u32()?;
    let Some(format) = Format::of(number) else {
        return Err(Fault::Broken(format!(
            "tensor `{name}` has the format of number {number}, which is not read here"
        )));
    };
    Ok(Listed {
        name,
        shape,
        format,
        offset: reader.u64()?,
    })
}

/// A file's first bytes.
pub(super) const MAGIC: &[u8] = b"GGUF";

/// Refuses what does not begin as GGUF files do.
pub fn check_magic(what: &str, bytes: &[u8]) -> Result<()> {
    match bytes.starts_with(MAGIC) {
        true => Ok(()),
        false => Err(Error::ModelFormat {
            what: what.into(),
            reason: match bytes.len() {
                0 => "it is empty".into(),
                _ => {
                    let looks = looks_like(bytes).map(|looks| format!(": it looks like {looks}"));
                    let looks = looks.unwrap_or_default();
                    format!("it does not begin with GGUF's magic number{looks}")
                }
            },
        }),
    }
}

/// What a file is that often comes in place of a model, by its first four bytes and, where they are here, a few more.
fn looks_like(bytes: &[u8]) -> Option<&'static str> {
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let text = text.trim_ascii_start();
    match *text {
        [b'v', b'e', b'r', b's', ..] => {
            Some("a pointer of Git LFS in place of the file, which `git lfs pull` fetches")
        }
        [b'<', ..] => Some("a web page or XML, as servers answer with where there is no such file"),
        [b'{' | b'[', ..] => Some("JSON, as servers answer with where there is no such file"),
        [b'P', b'K', 3, 4, ..] | [0x1F, 0x8B, ..] => Some("an archive that has to be unpacked"),
        // The length of its header comes first, in eight bytes.
        _ if bytes.get(5..9) == Some(b"\0\0\0{") => {
            Some("a safetensors file, of which `caselens quantize` makes a GGUF file")
        }
        _ => None,
    }
}

/// The error for a tensor that a file of `size` bytes does not hold whole.
pub fn cut_short(what: &str, tensor: &str, size: usize) -> Error {
    Error::ModelFormat {
        what: what.into(),
        reason: format!("it is cut short: tensor `{tensor}` lies past the end of its {size} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header of a pair and a tensor of 8 × 4 numbers, and where each of its parts ends.
    fn small() -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let text = |bytes: &mut Vec<u8>, text: &str| {
            bytes.extend((text.len() as u64).to_le_bytes());
            bytes.extend(text.as_bytes());
        };
        bytes.extend(3u32.to_le_bytes());
        bytes.extend([1u64, 1].map(u64::to_le_bytes).concat());
        text(&mut bytes, "general.architecture");
        bytes.extend(8u32.to_le_bytes());
        text(&mut bytes, "bert");
        text(&mut bytes, "a");
        bytes.extend(2u32.to_le_bytes());
        bytes.extend([8u64, 4].map(u64::to_le_bytes).concat());
        bytes.extend(0u32.to_le_bytes());
        bytes.extend(64u64.to_le_bytes());
        bytes
    }

    #[test]
    fn what_comes_in_place_of_a_model_is_named() {
        let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 16\n";
        let cases: [(&[u8], &str); 8] = [
            (pointer, "a pointer of Git LFS"),
            (&pointer[..4], "a pointer of Git LFS"),
            (
                b"\xEF\xBB\xBF \n<?xml version=\"1.0\"?><Error/>",
                "a web page or XML",
            ),
            (b"<!DOCTYPE html>", "a web page or XML"),
            (b"{\"error\": \"Entry not found\"}", "JSON"),
            (b"PK\x03\x04\x14\x00", "an archive"),
            (
                b"\x20\x1A\0\0\0\0\0\0{\"__metadata__\":{}}",
                "a safetensors file",
            ),
            (b"GGML and more", "magic number. "),
        ];
        for (bytes, expected) in cases {
            let error = check_magic("the model", bytes).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_table_says_where_tensors_lie() {
        let bytes = small();
        let header = Header::read(&bytes).unwrap();
        assert_eq!(header.architecture(), "bert");
        let table = header.table("m", None, |_| true).unwrap();
        let [tensor] = table.as_slice() else {
            panic!("{table:?}");
        };
        let start = bytes.len().next_multiple_of(32) + 64;
        assert_eq!(
            (tensor.name.as_str(), tensor.shape.as_slice()),
            ("a", &[4, 8][..])
        );
        assert_eq!(tensor.range, start..start + 128);
        assert!(header.table("m", Some(start + 127), |_| true).is_err());
        assert!(header.table("m", None, |_| false).is_err());
    }

    #[test]
    fn a_header_that_is_not_all_here_is_told_from_a_broken_one() {
        let bytes = small();
        for end in 0..bytes.len() {
            let fault = Header::read(&bytes[..end]).unwrap_err();
            assert_eq!(fault, Fault::CutShort, "{end}");
        }
        for (at, byte) in [(0, b'F'), (4, 9), (15, 1), (60, 5)] {
            let mut broken = bytes.clone();
            broken[at] = byte;
            let fault = Header::read(&broken).unwrap_err();
            assert!(matches!(fault, Fault::Broken(_)), "{at}: {fault}");
        }
    }

    #[test]
    fn changed_bytes_never_panic() {
        let bytes = small();
        for at in 0..bytes.len() {
            for byte in 0..=255 {
                let mut changed = bytes.clone();
                changed[at] = byte;
                if let Ok(header) = Header::read(&changed) {
                    for size in [None, Some(0), Some(4096)] {
                        let _ = header.table("m", size, |_| true);
                    }
                }
            }
        }
    }
}

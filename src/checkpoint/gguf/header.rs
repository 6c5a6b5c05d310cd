//! What stands before the tensors of a GGUF file: key-value pairs and the table of tensors, read by candle and checked
//! before anything is taken from where the table says that it lies.

use std::{io::Cursor, ops::Range};

use candle_core::quantized::{GgmlDType, gguf_file};

use crate::error::{Error, Result};

/// What stands before the tensors of a GGUF file.
pub struct Header {
    pub content: gguf_file::Content,
}

/// A tensor of the table: its shape (outermost first), its format in the reader's terms, and its bytes, counted from the
/// file's first.
pub struct TableEntry<Format> {
    pub shape: Vec<usize>,
    pub dtype: Format,
    pub range: Range<usize>,
}

impl Header {
    /// Reads it from the first bytes of a file.
    ///
    /// # Errors
    /// Why it is none, in words: it is broken, or goes on past these bytes.
    pub fn read(bytes: &[u8]) -> std::result::Result<Self, String> {
        check_alignment(bytes)?;
        gguf_file::Content::read(&mut Cursor::new(bytes))
            .map(|content| Self { content })
            .map_err(|e| format!("the GGUF header is broken or cut short ({e})"))
    }

    /// Its tensors in the order of their bytes, each known to lie within a file of `size` bytes, where that is
    /// known, and apart from all others. `format` tells the formats that the reader knows.
    ///
    /// # Errors
    /// One that it does not know, a shape that is none in its format, bytes outside the file or shared by two. `what`
    /// names the file in them.
    pub fn table<Format>(
        &self,
        what: &str,
        size: Option<usize>,
        format: impl Fn(GgmlDType) -> Option<Format>,
    ) -> Result<Vec<(String, TableEntry<Format>)>> {
        let bad = |reason: String| Error::ModelFormat {
            what: what.into(),
            reason,
        };
        let mut table = Vec::with_capacity(self.content.tensor_infos.len());
        for (name, info) in &self.content.tensor_infos {
            let stored = info.ggml_dtype;
            let dtype = format(stored).ok_or_else(|| {
                bad(format!(
                    "tensor `{name}` has the format {stored:?}; f32, f16, bf16, q8_0 and q4_0 are supported"
                ))
            })?;
            let shape = info.shape.dims().to_vec();
            let (numbers, block_bytes) = (stored.block_size(), stored.type_size());
            let bytes = shape
                .iter()
                .try_fold(1usize, |n, &d| n.checked_mul(d))
                .filter(|n| n.is_multiple_of(numbers))
                .filter(|_| shape.last().is_none_or(|d| d.is_multiple_of(numbers)))
                .and_then(|n| (n / numbers).checked_mul(block_bytes))
                .ok_or_else(|| bad(format!("tensor `{name}` has the shape {shape:?}")))?;
            let start =
                usize::try_from(self.content.tensor_data_offset.saturating_add(info.offset));
            let range = start
                .ok()
                .and_then(|start| Some(start..start.checked_add(bytes)?))
                .filter(|range| size.is_none_or(|size| range.end <= size))
                .ok_or_else(|| match size {
                    Some(size) => cut_short(what, name, size),
                    None => bad(format!("tensor `{name}` lies past the end of any file")),
                })?;
            table.push((
                name.clone(),
                TableEntry {
                    shape,
                    dtype,
                    range,
                },
            ));
        }
        table.sort_unstable_by_key(|(_, tensor)| (tensor.range.start, tensor.range.end));
        for pair in table.windows(2) {
            if pair[0].1.range.end > pair[1].1.range.start {
                let [first, second] = [&pair[0].0, &pair[1].0];
                return Err(bad(format!("tensors `{first}` and `{second}` share bytes")));
            }
        }
        Ok(table)
    }
}

/// Refuses what does not begin as GGUF files do.
pub fn check_magic(what: &str, bytes: &[u8]) -> Result<()> {
    match bytes.starts_with(b"GGUF") {
        true => Ok(()),
        false => Err(Error::ModelFormat {
            what: what.into(),
            reason: match bytes.len() {
                0 => "it is empty".into(),
                _ => "it does not begin with GGUF's magic number".into(),
            },
        }),
    }
}

/// The error for a tensor that a file of `size` bytes does not hold whole.
pub fn cut_short(what: &str, tensor: &str, size: usize) -> Error {
    Error::ModelFormat {
        what: what.into(),
        reason: format!("it is cut short: tensor `{tensor}` lies past the end of its {size} bytes"),
    }
}

/// candle's reader divides by the file's alignment: refuse a zero before it gets there.
///
/// Wherever the key stands after its own length, as it does among GGUF's key-value pairs, the value
/// behind it must not be 0.
fn check_alignment(bytes: &[u8]) -> std::result::Result<(), String> {
    let key = b"general.alignment";
    let length = key.len() as u8;
    for at in memchr::memmem::find_iter(bytes, key) {
        // The length is a u64 (a u32 in version 1), little-endian.
        let before = bytes.get(at.saturating_sub(4)..at).unwrap_or_default();
        let before_wide = bytes.get(at.saturating_sub(8)..at).unwrap_or_default();
        if before != [length, 0, 0, 0] && before_wide != [length, 0, 0, 0, 0, 0, 0, 0] {
            continue;
        }
        let value = bytes.get(at + key.len()..).unwrap_or_default();
        let (Some(kind), Some(value)) = (value.first(), value.get(4..)) else {
            continue;
        };
        // u8 and i8, u16 and i16, u32 and i32; candle takes no other type for an alignment.
        let width = match kind {
            0 | 1 => 1,
            2 | 3 => 2,
            4 | 5 => 4,
            _ => continue,
        };
        if value.iter().take(width).all(|&b| b == 0) {
            return Err("its alignment is 0".into());
        }
    }
    Ok(())
}

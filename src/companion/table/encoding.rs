//! Text as people's programs leave it, read as UTF-8.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE, WINDOWS_1252};
use encoding_rs_io::DecodeReaderBytesBuilder;

use super::common::Input;
use crate::error::{Error, Result};

/// Bytes that are looked at, and read at once.
pub const LOOKED_AT: usize = 1 << 16;

/// What Windows' programs mark UTF-8 by; it belongs to no text.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// A text in UTF-8 without a mark, whatever it was in. What is neither marked, nor UTF-16 by its looks, nor UTF-8 is taken for
/// Windows-1252, which a warning says. `path` is the file that `input` reads, if it is one.
///
/// # Errors
/// It cannot be read, or is no text: a workbook or another archive.
pub fn utf8(mut input: Input, what: &str, path: Option<&Path>) -> Result<Input> {
    let begins = input.fill_buf().map_err(Error::io(what))?;
    refuse_archive(begins, what)?;
    if begins.starts_with(MARK) {
        input.consume(MARK.len());
        return Ok(input);
    }
    let encoding = match utf16(begins) {
        Some(encoding) => encoding,
        None if is_utf8(begins) && path.map_or(Ok(true), is_utf8_file)? => return Ok(input),
        None => {
            tracing::warn!(
                "{what} is no UTF-8: it is read as Windows-1252. Save it as UTF-8 where letters come out wrong."
            );
            WINDOWS_1252
        }
    };
    let decoded = DecodeReaderBytesBuilder::new()
        .encoding(Some(encoding))
        .strip_bom(true)
        .build(input);
    // A decoder's first reads are of a few letters: others look at the whole first line.
    let mut decoded = BufReader::with_capacity(LOOKED_AT, decoded);
    let mut line = Vec::new();
    let read = (&mut decoded)
        .take(LOOKED_AT as u64)
        .read_until(b'\n', &mut line);
    read.map_err(Error::io(what))?;
    let whole = io::Cursor::new(line).chain(decoded);
    let mut input: Input = BufReader::with_capacity(LOOKED_AT, Box::new(whole));
    input.fill_buf().map_err(Error::io(what))?;
    Ok(input)
}

/// Excel's workbooks are zip archives, and tables are often kept compressed.
fn refuse_archive(begins: &[u8], what: &str) -> Result<()> {
    let remedy = match begins {
        [b'P', b'K', 3, 4, ..] => {
            "is a workbook of Excel or another zip archive. Save the sheet as CSV, or unpack it"
        }
        [0xd0, 0xcf, 0x11, 0xe0, ..] => "is a workbook of an old Excel. Save the sheet as CSV",
        [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] => "is compressed. Unpack it first",
        _ => return Ok(()),
    };
    Err(Error::InvalidArgument(format!("{what} {remedy}.")))
}

/// UTF-16 by its mark, or by the zero beside each of its first letters.
fn utf16(begins: &[u8]) -> Option<&'static Encoding> {
    match begins {
        [0xff, 0xfe, ..] => Some(UTF_16LE),
        [0xfe, 0xff, ..] => Some(UTF_16BE),
        &[a, 0, b, 0, ..] if a != 0 && b != 0 => Some(UTF_16LE),
        &[0, a, 0, b, ..] if a != 0 && b != 0 => Some(UTF_16BE),
        _ => None,
    }
}

/// Whether it is UTF-8, as far as it goes: its last character may be cut.
fn is_utf8(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).map_or_else(|error| error.error_len().is_none(), |_| true)
}

/// [`is_utf8`] of a whole file; of what is none, a pipe with a name, nothing is read.
fn is_utf8_file(path: &Path) -> Result<bool> {
    let failed = || Error::io(path);
    let mut file = File::open(path).map_err(failed())?;
    if !file.metadata().map_err(failed())?.is_file() {
        return Ok(true);
    }
    let mut bytes = Vec::with_capacity(LOOKED_AT + 4);
    while read_more(&mut file, &mut bytes).map_err(failed())? > 0 {
        match std::str::from_utf8(&bytes) {
            Ok(_) => bytes.clear(),
            Err(error) if error.error_len().is_none() => {
                bytes.drain(..error.valid_up_to());
            }
            Err(_) => return Ok(false),
        }
    }
    Ok(bytes.is_empty())
}

fn read_more(file: &mut File, bytes: &mut Vec<u8>) -> io::Result<usize> {
    file.take(LOOKED_AT as u64).read_to_end(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<String> {
        let input: Input = BufReader::new(Box::new(io::Cursor::new(bytes.to_vec())));
        let mut text = String::new();
        utf8(input, "it", None)?.read_to_string(&mut text).unwrap();
        Ok(text)
    }

    #[test]
    fn a_text_is_the_same_in_every_encoding() {
        let text = "text;label\nCafé crème — 5 €;1\n";
        let utf16 = |order: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(order);
        let marked = |mark: &[u8], bytes: Vec<u8>| [mark, &bytes].concat();
        let (little, big) = (
            utf16(u16::to_le_bytes).collect::<Vec<_>>(),
            utf16(u16::to_be_bytes).collect::<Vec<_>>(),
        );
        let (windows, _, _) = WINDOWS_1252.encode(text);
        for bytes in [
            text.into(),
            marked(MARK, text.into()),
            marked(&[0xff, 0xfe], little.clone()),
            marked(&[0xfe, 0xff], big.clone()),
            little,
            big,
            windows.into_owned(),
        ] {
            assert_eq!(read(&bytes).unwrap(), text, "{bytes:?}");
        }
        assert_eq!(read(b"").unwrap(), "");
        // Cut within a character: not another encoding.
        assert!(is_utf8(&"é".as_bytes()[..1]) && !is_utf8(b"\xe9 "));
    }

    #[test]
    fn a_whole_file_decides() {
        let path = std::env::temp_dir().join(format!("caselens-encoding-{}", std::process::id()));
        let plain = "a line that is plain\n".repeat(LOOKED_AT / 8);
        for (end, is) in [
            ("é".as_bytes(), true),
            (&[0xe9, b' '], false),
            (&[0xc3], false),
        ] {
            // Characters of two bytes, shifted by one, lie across the bytes that are read at once.
            let text = [plain.as_bytes(), "é".repeat(LOOKED_AT).as_bytes(), end].concat();
            std::fs::write(&path, text).unwrap();
            assert_eq!(is_utf8_file(&path).unwrap(), is, "{end:?}");
        }
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn archives_are_no_text() {
        let error = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
        assert!(error(b"PK\x03\x04rest").contains("Save the sheet as CSV"));
        assert!(error(&[0x1f, 0x8b, 8, 0]).contains("Unpack it"));
    }
}

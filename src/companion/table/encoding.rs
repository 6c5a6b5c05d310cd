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

/// What is said of a line of a pipe: files are looked through beforehand.
pub const NOT_UTF8: &str = "it is not text in UTF-8. Save it as UTF-8, or give it as a file";

/// A text in UTF-8 without a mark, whatever it was in. What is neither marked, nor UTF-16 by its looks, nor UTF-8 is taken for
/// Windows-1252, which a warning says. `path` is the file that `input` reads, if it is one.
///
/// # Errors
/// It cannot be read, or is no text: a workbook or another archive.
pub fn utf8(mut input: Input, what: &str, path: Option<&Path>) -> Result<Input> {
    let begins = input.fill_buf().map_err(Error::io(what))?;
    refuse_archive(begins, what)?;
    if utf16(begins).is_none() {
        refuse_binary(begins, what)?;
    }
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

/// A file of at most so many bytes as one text, by [`utf8`].
///
/// # Errors
/// As there; and it is longer, or a pipe whose later bytes are no UTF-8: the row is named.
pub fn whole(path: &Path, most: usize) -> Result<String> {
    let what = path.display().to_string();
    let file = File::open(path).map_err(Error::io(path))?;
    let input: Input = BufReader::with_capacity(LOOKED_AT, Box::new(file));
    let mut bytes = Vec::new();
    utf8(input, &what, Some(path))?
        .take(most as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(Error::io(path))?;
    let bad = |row: usize, reason: String| Error::Data {
        file: what.clone(),
        row,
        reason,
    };
    if bytes.len() > most {
        return Err(bad(0, format!("it is longer than {} MiB", most >> 20)));
    }
    String::from_utf8(bytes).map_err(|error| {
        let sound = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let row = 1 + memchr::memchr_iter(b'\n', sound).count();
        bad(row, NOT_UTF8.into())
    })
}

/// Excel's workbooks are zip archives, and tables are often kept compressed.
fn refuse_archive(begins: &[u8], what: &str) -> Result<()> {
    let remedy = match begins {
        [b'P', b'K', 3, 4, ..] => {
            "is a workbook of Excel or another zip archive. Save the sheet as CSV, or unpack it"
        }
        [0xd0, 0xcf, 0x11, 0xe0, ..] => "is a workbook of an old Excel. Save the sheet as CSV",
        [0x1f, 0x8b, ..]
        | [0x28, 0xb5, 0x2f, 0xfd, ..]
        | [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, ..]
        | [0xfd, b'7', b'z', b'X', b'Z', 0, ..]
        | [b'7', b'z', 0xbc, 0xaf, ..] => "is compressed. Unpack it first",
        [b'%', b'P', b'D', b'F', b'-', ..] => "is a PDF. Save its text, or give a table",
        _ => return Ok(()),
    };
    Err(Error::InvalidArgument(format!("{what} {remedy}.")))
}

/// Any bytes are Windows-1252; but no text holds zeros, and few have control characters beside tabs and the ends of lines and
/// pages.
fn refuse_binary(begins: &[u8], what: &str) -> Result<()> {
    let control = |byte: &&u8| matches!(byte, 1..=8 | 14..=26 | 28..=31 | 127);
    let count = begins.iter().filter(control).count();
    let most = if is_utf8(begins) {
        begins.len() / 3
    } else {
        begins.len() / 200
    };
    if begins.contains(&0) || count > most {
        return Err(Error::InvalidArgument(format!(
            "{what} is no text, and none of the tables that are read: text, CSV, JSON, Arrow and Parquet. Give one of these."
        )));
    }
    Ok(())
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
        assert!(error(b"BZh91AY&SY").contains("Unpack it"));
        assert!(error(b"\xfd7zXZ\0").contains("Unpack it"));
        assert!(error(b"%PDF-1.7\n").contains("PDF"));
        assert!(error(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").contains("no text"));
        assert!(error(&[7; 100]).contains("no text"));
        // A stray control character is in many texts.
        read(format!("{}\u{7}", "a line\n".repeat(40)).as_bytes()).unwrap();
    }
}

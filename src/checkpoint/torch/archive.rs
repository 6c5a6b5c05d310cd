//! A zip whose files are stored as they are, by what its directory says (PKWARE's APPNOTE; torch writes zip64).

use std::{collections::BTreeMap, ops::Range};

type Result<T> = std::result::Result<T, String>;

/// The files of an archive: where their bytes lie.
pub struct Archive<'a> {
    files: BTreeMap<&'a str, Range<usize>>,
}

/// Bytes of the record at the end, of the one that leads to zip64's, of that, and of what stands before each file.
const END: usize = 22;
const LOCATOR: usize = 20;
const END_64: usize = 56;
const LOCAL: usize = 30;
/// Bytes of an entry of the directory, before its name.
const ENTRY: usize = 46;
/// Stands for a number that is in the entry's zip64 field.
const ELSEWHERE: usize = u32::MAX as usize;

impl<'a> Archive<'a> {
    /// Reads an archive's directory.
    ///
    /// # Errors
    /// It is cut short, or a file is compressed, encrypted or outside the archive: in words.
    pub fn read(bytes: &'a [u8]) -> Result<Self> {
        let cut =
            || String::from("it is cut short: the directory at its end is missing or damaged");
        let (start, size) = directory(bytes).ok_or_else(cut)?;
        let end = start.checked_add(size).ok_or_else(cut)?;
        let mut rest = bytes.get(start..end).ok_or_else(cut)?;
        let mut files = BTreeMap::new();
        while !rest.is_empty() {
            let (name, file, length) = entry(bytes, rest).ok_or_else(cut)??;
            if files.insert(name, file).is_some() {
                return Err(format!("it holds two files named `{name}`"));
            }
            rest = rest.get(length..).ok_or_else(cut)?;
        }
        Ok(Self { files })
    }

    /// The folder that holds a file of this name, and the file.
    ///
    /// # Errors
    /// There is none, or several.
    pub fn folder_of(&self, name: &str) -> Result<(&'a str, Range<usize>)> {
        let mut found = self.files.iter().filter_map(|(path, range)| {
            let folder = path.strip_suffix(name)?;
            folder.ends_with('/').then(|| (folder, range.clone()))
        });
        match (found.next(), found.next()) {
            (Some(file), None) => Ok(file),
            _ => Err(format!(
                "it holds no `{name}`, or several: it is a zip of another kind"
            )),
        }
    }

    /// A file of a folder.
    pub fn file(&self, folder: &str, name: &str) -> Option<Range<usize>> {
        self.files.get(format!("{folder}{name}").as_str()).cloned()
    }
}

/// A little-endian number of so many bytes.
fn number(bytes: &[u8], at: usize, size: usize) -> Option<usize> {
    let mut number = [0; 8];
    number[..size].copy_from_slice(bytes.get(at..at.checked_add(size)?)?);
    usize::try_from(u64::from_le_bytes(number)).ok()
}

/// Where the directory begins, and its size.
fn directory(bytes: &[u8]) -> Option<(usize, usize)> {
    let tail = bytes.len().saturating_sub(END + usize::from(u16::MAX));
    let end = tail + memchr::memmem::rfind(bytes.get(tail..)?, b"PK\x05\x06")?;
    let locator = end.checked_sub(LOCATOR)?;
    if !bytes.get(locator..)?.starts_with(b"PK\x06\x07") {
        return Some((number(bytes, end + 16, 4)?, number(bytes, end + 12, 4)?));
    }
    let record = number(bytes, locator + 8, 8)?;
    let record = bytes.get(record..record.checked_add(END_64)?)?;
    match record.starts_with(b"PK\x06\x06") {
        true => Some((number(record, 48, 8)?, number(record, 40, 8)?)),
        false => None,
    }
}

/// A file by its name, and how many bytes its entry takes; `None` where that is cut short.
fn entry<'a>(bytes: &'a [u8], entry: &'a [u8]) -> Option<Result<(&'a str, Range<usize>, usize)>> {
    if !entry.starts_with(b"PK\x01\x02") {
        return None;
    }
    let field = |at: usize, size: usize| number(entry, at, size);
    let (flags, method) = (field(8, 2)?, field(10, 2)?);
    let (name, extra, comment) = (field(28, 2)?, field(30, 2)?, field(32, 2)?);
    let extra_at = ENTRY + name;
    let length = extra_at + extra + comment;
    let Ok(name) = std::str::from_utf8(entry.get(ENTRY..extra_at)?) else {
        return Some(Err("a file's name in it is no UTF-8".into()));
    };
    if flags & 1 != 0 || method != 0 {
        return Some(Err(format!(
            "its file `{name}` is compressed or encrypted, which torch does not do"
        )));
    }
    let mut elsewhere = zip64(entry.get(extra_at..extra_at + extra)?).into_iter();
    let mut place = |said: usize| match said {
        ELSEWHERE => elsewhere.next(),
        said => Some(said),
    };
    // In the order in which zip64 has them.
    let (size, packed, local) = (
        place(field(24, 4)?)?,
        place(field(20, 4)?)?,
        place(field(42, 4)?)?,
    );
    let before = bytes.get(local..local.checked_add(LOCAL)?)?;
    if !before.starts_with(b"PK\x03\x04") {
        return None;
    }
    let start = local + LOCAL + number(before, 26, 2)? + number(before, 28, 2)?;
    let end = start.checked_add(size)?;
    Some(match size == packed && end <= bytes.len() {
        true => Ok((name, start..end, length)),
        false => Err(format!(
            "it ends inside its file `{name}`, which is to have {size} bytes"
        )),
    })
}

/// The numbers of an entry's zip64 field.
fn zip64(mut extra: &[u8]) -> Vec<usize> {
    while let (Some(id), Some(size)) = (number(extra, 0, 2), number(extra, 2, 2)) {
        let Some((field, rest)) = extra[4..].split_at_checked(size) else {
            break;
        };
        if id == 1 {
            let (numbers, _) = field.as_chunks();
            let numbers = numbers.iter().map(|&n| u64::from_le_bytes(n));
            return numbers
                .map(|n| usize::try_from(n).unwrap_or(usize::MAX))
                .collect();
        }
        extra = rest;
    }
    Vec::new()
}

//! What people and programs are shown: progress bars on standard error, lines on standard output.

use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::error::{Error, Result};

/// A progress bar with time left; hidden where standard error is no terminal.
pub fn progress(what: &str, total: u64) -> ProgressBar {
    let bar = ProgressBar::new(total).with_message(what.to_owned());
    if let Ok(style) =
        ProgressStyle::with_template("{msg} {wide_bar} {human_pos}/{human_len} · {eta} left")
    {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

/// A line that says what is fetched, and a bar of its bytes.
pub fn downloading(what: &str, bytes: u64) -> ProgressBar {
    eprintln!("fetching {what}, {}", indicatif::HumanBytes(bytes));
    let bar = ProgressBar::new(bytes).with_message(what.to_owned());
    if let Ok(style) = ProgressStyle::with_template(
        "{msg} {wide_bar} {bytes}/{total_bytes} · {bytes_per_sec} · {eta} left",
    ) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

/// A count of rows, where their number is not known beforehand.
pub fn rows_done(what: &str) -> ProgressBar {
    let bar = ProgressBar::new_spinner().with_message(what.to_owned());
    if let Ok(style) = ProgressStyle::with_template("{msg} {human_pos} rows · {per_sec}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

/// Prints one JSON line.
pub fn json_line(value: &impl Serialize) -> Result<()> {
    let line = serde_json::to_string(value)
        .map_err(|e| Error::InvalidArgument(format!("a result cannot be written as JSON ({e})")))?;
    text_line(&line)
}

/// A fraction × 100 with two digits behind the point; an en dash where it is undefined.
pub fn percent(fraction: f64) -> String {
    match fraction.is_finite() {
        true => format!("{:.2}", 100.0 * fraction),
        false => "–".into(),
    }
}

/// Prints one line.
pub fn text_line(line: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").map_err(Error::io("standard output"))
}

/// Writes `bytes` as [`write_whole`] does.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    write_whole(path, |out| out.write_all(bytes).map_err(Error::io(path))).map(|_| ())
}

/// Writes a file through a temporary one beside it, so that an interrupted run leaves no half file and
/// the old one whole. A link stays, and the file it leads to is replaced; a pipe or a device is written to as it is.
/// Returns the file's size in bytes, 0 for what is none.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<()>,
) -> Result<u64> {
    // A pipe's link in /dev leads to no path, but can be opened.
    let linked = fs::canonicalize(path);
    let path = linked.as_deref().unwrap_or(path);
    if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        let mut out = BufWriter::new(File::create(path).map_err(Error::io(path))?);
        write(&mut out)?;
        out.flush().map_err(Error::io(path))?;
        return Ok(0);
    }
    let part = beside(path, "file")?;
    if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(Error::io(folder))?;
    }
    let written = (|| {
        let mut out = BufWriter::new(File::create(&part).map_err(Error::io(&part))?);
        write(&mut out)?;
        let file = out
            .into_inner()
            .map_err(|e| Error::io(&part)(e.into_error()))?;
        file.sync_all().map_err(Error::io(&part))?;
        let bytes = file.metadata().map_err(Error::io(&part))?.len();
        fs::rename(&part, path).map_err(Error::io(path))?;
        Ok(bytes)
    })();
    if written.is_err() {
        // Best effort: the error that matters is the one reported.
        let _ = fs::remove_file(&part);
    }
    written
}

/// Writes a new folder through a temporary one beside it: it is there whole, or not at all.
pub fn write_folder(path: &Path, files: &[(&str, Vec<u8>)]) -> Result<()> {
    let part = beside(path, "folder")?;
    let written = (|| {
        fs::create_dir_all(&part).map_err(Error::io(&part))?;
        for (name, bytes) in files {
            write_file(&part.join(name), bytes)?;
        }
        fs::rename(&part, path).map_err(Error::io(path))
    })();
    if written.is_err() {
        // Best effort: the error that matters is the one reported.
        let _ = fs::remove_dir_all(&part);
    }
    written
}

/// Where the parts of `path` are kept until they are whole; `kind` says in the error what it should name.
fn beside(path: &Path, kind: &str) -> Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| {
        Error::InvalidArgument(format!("{} does not name a {kind}.", path.display()))
    })?;
    let mut part = name.to_owned();
    part.push(format!(".{}.part", std::process::id()));
    Ok(path.with_file_name(part))
}

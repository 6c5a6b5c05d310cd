//! What people and programs are shown: progress bars on standard error, lines on standard output.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{BufWriter, Stderr, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::error::{Error, Result};

/// Writes a line on standard error, as `eprintln!` does, but for a reader that has gone or a full disk: then the line is lost, and
/// what the program is there for goes on.
macro_rules! note {
    ($($line:tt)*) => {{
        use std::io::Write as _;
        writeln!($crate::companion::output::Notes::default(), $($line)*).ok();
    }};
}
pub(crate) use note;

/// Standard error, whose failures are nobody's.
pub struct Notes(Stderr);

impl Default for Notes {
    fn default() -> Self {
        Self(std::io::stderr())
    }
}

impl Write for Notes {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write_all(bytes).ok();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush().ok();
        Ok(())
    }
}

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
    note!("fetching {what}, {}", indicatif::HumanBytes(bytes));
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
    fixed(100.0 * fraction, 2)
}

/// A figure with so many digits behind the point; an en dash where it is undefined.
pub fn fixed(figure: f64, digits: usize) -> String {
    match figure.is_finite() {
        true => format!("{figure:.digits$}"),
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
    write_or_keep(path, |out| write(out).map(|()| None))
}

/// A file that ends early, and is whole as far as it goes.
pub struct Ended {
    /// Rows that are in it.
    pub rows: usize,
    /// Why there are no more.
    pub error: Error,
}

/// As [`write_whole`]. What ended early is kept under a name of its own beside `path`, which a note tells: `vectors.unfinished.jsonl`
/// of `vectors.jsonl`.
///
/// # Errors
/// Also the one that it ended with.
pub fn write_or_keep(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<Option<Ended>>,
) -> Result<u64> {
    let path = &match fs::canonicalize(path) {
        Ok(path) => path,
        // A pipe's link in /dev leads to no path, but can be opened.
        Err(_) if path.exists() => path.to_owned(),
        Err(_) => link_end(path)?,
    };
    if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        let mut out = BufWriter::new(File::create(path).map_err(Error::io(path))?);
        let ended = write(&mut out)?;
        out.flush().map_err(Error::io(path))?;
        return ended.map_or(Ok(0), |ended| Err(ended.error));
    }
    let part = beside(path, "file")?;
    sweep(path);
    if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(Error::io(folder))?;
    }
    let written = (|| {
        let mut out = BufWriter::new(File::create(&part).map_err(Error::io(&part))?);
        let ended = write(&mut out)?;
        let file = out
            .into_inner()
            .map_err(|e| Error::io(&part)(e.into_error()))?;
        file.sync_all().map_err(Error::io(&part))?;
        let bytes = file.metadata().map_err(Error::io(&part))?.len();
        let Some(Ended { rows, error }) = ended else {
            fs::rename(&part, path).map_err(Error::io(path))?;
            return Ok(bytes);
        };
        let kept = unfinished(path);
        fs::rename(&part, &kept).map_err(Error::io(&kept))?;
        note!("the first {rows} rows are in {}", kept.display());
        Err(error)
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
    sweep(path);
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

/// Where a link leads, or links one after the other, to what is not there yet.
fn link_end(path: &Path) -> Result<PathBuf> {
    let mut end = path.to_owned();
    // As many as Linux follows.
    for _ in 0..40 {
        match fs::read_link(&end) {
            Ok(to) => end = end.parent().unwrap_or(Path::new("")).join(to),
            Err(_) => return Ok(end),
        }
    }
    Err(Error::InvalidArgument(format!(
        "{} is a link that leads to itself. Remove it, or name another file.",
        path.display()
    )))
}

/// Removes the parts of `path` that killed runs have left: those of processes that are no more.
fn sweep(path: &Path) {
    let processes = Path::new("/proc");
    let Some(name) = path.file_name().and_then(OsStr::to_str) else {
        return;
    };
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let Ok(entries) = fs::read_dir(folder.unwrap_or(Path::new("."))) else {
        return;
    };
    if !processes.join("self").exists() {
        return;
    }
    for entry in entries.flatten() {
        let found = entry.file_name();
        let process = found.to_str().and_then(|found| {
            let process = found
                .strip_prefix(name)?
                .strip_prefix('.')?
                .strip_suffix(".part")?;
            process.parse::<u32>().ok()
        });
        if process.is_some_and(|process| !processes.join(process.to_string()).exists()) {
            // Best effort: what stays costs space alone.
            let _ = fs::remove_file(entry.path()).or_else(|_| fs::remove_dir_all(entry.path()));
        }
    }
}

/// Where what ended early is kept: the extension says the format, and stays.
fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(".unfinished");
    let mut kept = path.with_file_name(name).into_os_string();
    if let Some(extension) = path.extension() {
        kept.push(".");
        kept.push(extension);
    }
    kept.into()
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

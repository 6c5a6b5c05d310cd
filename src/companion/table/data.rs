//! Data sets and teachers' answers from tables of any format that is read.

use std::path::{Path, PathBuf};

use super::{Format, ReadOptions, Reader};
use crate::{
    data::{
        columns::Columns,
        dataset::{Dataset, Draw, Labels, Rules},
        mixture::{KeptText, Kind, Listed, Mention},
        teacher::Teacher,
    },
    error::{Error, Result},
};

/// Rows that are read at once.
const BATCH: usize = 1024;

/// How the rows of rated data are read.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct RulesArgs {
    /// Compare the sentences of rows without a condition by themselves; the column may be missing
    #[arg(long)]
    unconditional: bool,
    /// What the labels count from and to
    #[arg(long, value_name = "FROM-TO", default_value = "1-5")]
    labels: Labels,
}

impl From<RulesArgs> for Rules {
    fn from(args: RulesArgs) -> Self {
        Self {
            unconditional: args.unconditional,
            labels: args.labels,
        }
    }
}

/// A data set, of at most `limit` of a file's rows.
///
/// # Errors
/// The file cannot be opened, a column is missing, or a row is broken: the row's number is named.
pub fn dataset(path: &Path, limit: Option<usize>) -> Result<Dataset> {
    dataset_by(path, limit, Rules::default())
}

/// [`dataset`] by other rules.
///
/// # Errors
/// As there.
pub fn dataset_by(path: &Path, limit: Option<usize>, rules: Rules) -> Result<Dataset> {
    let columns = rows(path, limit)?;
    Dataset::read(&path.display().to_string(), &columns, rules)
}

/// What a data set is made of, of at most `limit` of a file's rows.
///
/// # Errors
/// As [`columns`].
pub fn rows(path: &Path, limit: Option<usize>) -> Result<Columns> {
    columns(path, &Dataset::TEXTS, &Dataset::NUMBERS, limit)
}

/// Several data sets, one after the other; pairs and groups stay within a file.
///
/// # Errors
/// As [`dataset`]; no file is named.
pub fn datasets(paths: &[PathBuf]) -> Result<Dataset> {
    let mut all = Dataset::default();
    for path in paths {
        all.append(dataset(path, None)?);
    }
    match all.rows.is_empty() {
        true => Err(Error::InvalidArgument("no data file is named.".into())),
        false => Ok(all),
    }
}

/// A teacher's answers.
///
/// # Errors
/// The file cannot be opened, columns are missing, or a row is broken: the row's number is named.
pub fn teacher(path: &Path) -> Result<Teacher> {
    let columns = columns(path, &Teacher::TEXTS, &Teacher::NUMBERS, None)?;
    Teacher::from_columns(&path.display().to_string(), &columns)
}

/// Texts whose similarities are kept.
///
/// # Errors
/// The file cannot be opened, the column `text` is missing, or a row is broken: the row's number is named.
pub fn kept_texts(path: &Path) -> Result<Vec<KeptText>> {
    let columns = columns(path, &KeptText::TEXTS, &[], None)?;
    KeptText::from_columns(&path.display().to_string(), &columns)
}

/// Texts that say something about a condition, or nothing.
///
/// # Errors
/// The file cannot be opened, columns are missing, or a row is broken: the row's number is named.
pub fn mentions(path: &Path) -> Result<Vec<Mention>> {
    let columns = columns(path, &Mention::TEXTS, &[], None)?;
    Mention::from_columns(&path.display().to_string(), &columns)
}

/// The lines of a table of sources: kinds, files and how much of them is read.
///
/// # Errors
/// As [`mentions`].
pub fn sources(path: &Path) -> Result<Vec<(Kind, PathBuf, Draw)>> {
    let columns = columns(path, &Listed::TEXTS, &[], None)?;
    let listed = Listed::from_columns(&path.display().to_string(), &columns)?;
    let lines = listed.into_iter();
    Ok(lines
        .map(|line| (line.kind, line.file.into(), line.draw))
        .collect())
}

/// Columns of texts and of numbers that a table may have, of at most `limit` of its rows. What neither its name
/// nor its first bytes give another format is CSV.
///
/// # Errors
/// The file cannot be opened, a row is broken, or a column holds something else.
pub fn columns(
    path: &Path,
    texts: &[&str],
    numbers: &[&str],
    limit: Option<usize>,
) -> Result<Columns> {
    let mut reader = Reader::open(&ReadOptions {
        path: Some(path.to_owned()),
        // Lines of text have no columns.
        format: Format::of_path(path).map(|format| match format {
            Format::Text => Format::Csv,
            other => other,
        }),
        otherwise: Format::Csv,
        rows: BATCH,
    })?;
    let mut columns = Columns::default();
    let limit = limit.unwrap_or(usize::MAX);
    while columns.rows() < limit
        && let Some(rows) = reader.next().transpose()?
    {
        let take = rows.len().min(limit - columns.rows());
        let first = columns.rows() + 1;
        let mut read = Vec::new();
        for name in texts.iter().filter(|name| rows.has(name)) {
            read.push((*name, rows.texts(name, first, &reader.what)?));
        }
        for name in numbers.iter().filter(|name| rows.has(name)) {
            read.push((*name, rows.numbers(name, first, &reader.what)?));
        }
        let read = read.into_iter().map(|(name, mut cells)| {
            cells.truncate(take);
            (name.to_owned(), cells)
        });
        columns.extend(take, read);
    }
    Ok(columns)
}

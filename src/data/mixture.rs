//! What an encoder is trained on: rated rows, texts whose similarities it is to keep, and texts that say something
//! about a condition or nothing, each from files of which an epoch reads a share.

use super::{
    columns::Columns,
    dataset::{Dataset, Draw},
};
use crate::error::{Error, Result};

/// What training reads.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mixture {
    /// Rated rows.
    pub rated: Dataset,
    /// Texts whose similarities to each other are to stay what they were.
    pub kept: Vec<Source<KeptText>>,
    /// Texts that say something about a condition, or nothing.
    pub mentioned: Vec<Source<Mention>>,
}

/// What one file holds, in no order.
#[derive(Debug, Clone, PartialEq)]
pub struct Source<T> {
    /// Its rows.
    pub rows: Vec<T>,
    /// How often an epoch reads each, on the average.
    pub times: f32,
}

/// A text whose similarity to others is to stay as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptText {
    /// The text.
    pub text: String,
    /// A condition under which its similarities are to be those that it has by itself, such as "the meaning"; `None` for the
    /// text by itself.
    pub condition: Option<String>,
}

/// Whether a text says anything about a condition.
#[derive(Debug, Clone, PartialEq)]
pub struct Mention {
    /// The text.
    pub text: String,
    /// The condition.
    pub condition: String,
    /// Whether the text answers it, outright or by implication.
    pub mentioned: bool,
}

/// The rows of a table whose columns are texts; `read` makes one of a row's cells.
fn texts<T>(
    name: &str,
    columns: &Columns,
    needed: &[&str],
    read: impl Fn(&dyn Fn(&str) -> String) -> std::result::Result<T, String>,
) -> Result<Vec<T>> {
    let bad = |row: usize, reason: String| Error::Data {
        file: name.into(),
        row,
        reason,
    };
    if let Some(column) = needed.iter().find(|column| !columns.has(column)) {
        return Err(bad(0, format!("the column `{column}` is missing")));
    }
    let mut rows = Vec::with_capacity(columns.rows());
    for i in 0..columns.rows() {
        let cell = |column: &str| {
            columns
                .cell(column, i)
                .unwrap_or_default()
                .trim()
                .to_owned()
        };
        match needed.iter().find(|column| cell(column).is_empty()) {
            Some(column) => return Err(bad(i + 1, format!("the {column} is empty"))),
            None => rows.push(read(&cell).map_err(|reason| bad(i + 1, reason))?),
        }
    }
    match rows.is_empty() {
        true => Err(bad(0, "there is no row".into())),
        false => Ok(rows),
    }
}

impl KeptText {
    /// The columns of a table of them.
    pub const TEXTS: [&str; 2] = ["text", "condition"];

    /// The rows of a table with the column `text`, and `condition` where there is one; `name` stands for it in errors.
    ///
    /// # Errors
    /// A column is missing, a text is empty, or there is none.
    pub fn from_columns(name: &str, columns: &Columns) -> Result<Vec<Self>> {
        texts(name, columns, &["text"], |cell| {
            Ok(Self {
                text: cell("text"),
                condition: Some(cell("condition")).filter(|condition| !condition.is_empty()),
            })
        })
    }
}

impl Mention {
    /// The columns of a table of them.
    pub const TEXTS: [&str; 3] = ["sentence", "condition", "mentioned"];

    /// The rows of a table with the columns `sentence`, `condition` and `mentioned` (1 or 0); `name` stands for it in
    /// errors.
    ///
    /// # Errors
    /// A column is missing, a cell is empty, or there is no row.
    pub fn from_columns(name: &str, columns: &Columns) -> Result<Vec<Self>> {
        texts(name, columns, &Self::TEXTS, |cell| {
            Ok(Self {
                text: cell("sentence"),
                condition: cell("condition"),
                mentioned: match cell("mentioned").as_str() {
                    "1" => true,
                    "0" => false,
                    other => return Err(format!("`{other}` is neither 1 (mentioned) nor 0")),
                },
            })
        })
    }
}

/// What a file of a table of sources holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Rated rows.
    Rated,
    /// A teacher's answers.
    Teacher,
    /// Texts whose similarities are kept.
    Kept,
    /// Mentions.
    Mentioned,
}

/// A line of a table of sources.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// What it holds.
    pub kind: Kind,
    /// Where it lies.
    pub file: String,
    /// How much of it an epoch reads.
    pub draw: Draw,
}

impl Listed {
    /// The columns of a table of sources.
    pub const TEXTS: [&str; 5] = ["kind", "file", "times", "conditions", "answers"];

    /// The lines of a table with the columns `kind` (rated, teacher, kept or mentioned), `file`, `times` (how often an epoch
    /// reads each row, on the average; once where it is empty), `conditions` (most of a group in an epoch; all where it is
    /// empty) and `answers` (none where it is empty). `name` stands for it in errors.
    ///
    /// # Errors
    /// A column is missing, or a cell is not what is said above.
    pub fn from_columns(name: &str, columns: &Columns) -> Result<Vec<Self>> {
        texts(name, columns, &["kind", "file"], |cell| {
            let count = |column: &str, absent: usize| match cell(column).as_str() {
                "" => Ok(absent),
                text => text
                    .parse()
                    .map_err(|_| format!("its {column}, `{text}`, is no whole number")),
            };
            let times = match cell("times").as_str() {
                "" => Some(1.0),
                text => text
                    .parse()
                    .ok()
                    .filter(|t: &f32| *t > 0.0 && t.is_finite()),
            };
            Ok(Self {
                kind: match cell("kind").as_str() {
                    "rated" => Kind::Rated,
                    "teacher" => Kind::Teacher,
                    "kept" => Kind::Kept,
                    "mentioned" => Kind::Mentioned,
                    other => {
                        return Err(format!(
                            "`{other}` is no kind of source: name rated, teacher, kept or mentioned"
                        ));
                    }
                },
                file: cell("file"),
                draw: Draw {
                    conditions: count("conditions", usize::MAX)?.max(1),
                    answers: count("answers", 0)?,
                    times: times.ok_or("its times are no positive number")?,
                },
            })
        })
    }
}

impl Mixture {
    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.rated.rows.is_empty() && self.kept.is_empty() && self.mentioned.is_empty()
    }
}

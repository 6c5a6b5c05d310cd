//! Opening a trained model that a report is about.

use std::path::{Path, PathBuf};

use super::args::Args;
use crate::{
    companion::{folder::FOLDER_HEAD, hub::located, runtime::ModelArgs},
    error::Result,
    head::HeadFile,
    lens::Lens,
};

/// A model ready to embed.
pub struct Trained {
    pub name: String,
    pub lens: Lens,
    pub head: Option<HeadFile>,
}

impl Trained {
    /// Opens `MODEL` or `MODEL=HEAD`; `MODEL=none` leaves the folder's head alone.
    ///
    /// # Errors
    /// A file cannot be read, or the head was made for another encoder.
    pub fn open(args: &Args, named: &Path) -> Result<Self> {
        let (model, head) = split(named);
        let head = match head {
            Some(head) if head.as_os_str() == "none" => None,
            Some(head) => Some(head),
            None => Some(located(&model)?.join(FOLDER_HEAD)).filter(|beside| beside.is_file()),
        };
        let head = head.map(|path| HeadFile::open(&path)).transpose()?;
        let lens = ModelArgs {
            model: Some(model.clone()),
            device: args.device,
            dtype: None,
        }
        .lens(head.as_ref(), |checkpoint| args.case.case(checkpoint))?;
        Ok(Self {
            name: name_of(&model),
            lens,
            head,
        })
    }
}

/// `MODEL=HEAD` into its two paths; a path that is there as a whole is a model.
pub fn split(named: &Path) -> (PathBuf, Option<PathBuf>) {
    let text = named.to_str().filter(|_| !named.exists());
    match text.and_then(|text| text.rsplit_once('=')) {
        Some((model, head)) => (model.into(), Some(head.into())),
        None => (named.to_owned(), None),
    }
}

/// The last part of a path.
pub fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(
        || path.display().to_string(),
        |n| n.to_string_lossy().into(),
    )
}

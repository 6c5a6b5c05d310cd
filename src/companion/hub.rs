//! Encoders by their names on the Hugging Face hub: `--model owner/name`.

use std::path::{Path, PathBuf};

use super::{
    folder::{COPIED, FOLDER_HEAD},
    output::downloading,
};
use crate::{
    checkpoint::{
        hub::{Hub, Repo},
        plain,
    },
    error::Result,
};

/// The path that is named; of a name on the hub its folder in the hub's cache, fetched where it is not there.
///
/// # Errors
/// As [`Hub::folder`].
pub fn located(named: &Path) -> Result<PathBuf> {
    let Some(repo) = Repo::named(named) else {
        return Ok(named.to_owned());
    };
    let beside = COPIED
        .into_iter()
        .chain([plain::LENGTH])
        .chain([FOLDER_HEAD]);
    let beside: Vec<_> = beside.collect();
    let mut bar = None;
    let folder = Hub::from_env().folder(&repo, &beside, &mut |done, total| {
        bar.get_or_insert_with(|| downloading(&repo.id, total))
            .set_position(done);
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    folder
}

//! Encoders by their names on the Hugging Face hub: `--model owner/name`.

use std::path::{Path, PathBuf};

use super::{
    folder::{COPIED, FOLDER_HEAD},
    output::downloading,
};
use crate::{
    checkpoint::hub::{Hub, Repo},
    error::Result,
};

/// How sentence-transformers pools, which `quantize` writes down.
pub const POOLING: &str = "1_Pooling/config.json";

/// The path that is named; of a name on the hub its folder in the hub's cache, fetched where it is not there.
///
/// # Errors
/// As [`Hub::folder`].
pub fn located(named: &Path) -> Result<PathBuf> {
    let Some(repo) = Repo::named(named) else {
        return Ok(named.to_owned());
    };
    let beside: Vec<_> = COPIED.into_iter().chain([FOLDER_HEAD, POOLING]).collect();
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

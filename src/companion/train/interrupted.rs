//! Where an encoder's training is saved as it goes, so that an interrupted one can be resumed:
//! OUTPUT.checkpoint/seed-N.safetensors.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    companion::{folder::checkpoint_of, output::write_file},
    error::{Error, Result},
};

/// The checkpoints of one output, one a seed.
pub struct Checkpoints {
    folder: PathBuf,
}

impl Checkpoints {
    /// Those of an output folder.
    ///
    /// # Errors
    /// An interrupted training left some and is not to be resumed: they are not overwritten.
    pub fn of(output: &Path, resume: bool) -> Result<Self> {
        let folder = checkpoint_of(output);
        match folder.exists() && !resume {
            true => Err(Error::InvalidArgument(format!(
                "{} is there: an interrupted training left it. Go on with --resume, or remove it.",
                folder.display()
            ))),
            false => Ok(Self { folder }),
        }
    }

    fn file(&self, seed: u64) -> PathBuf {
        self.folder.join(format!("seed-{seed}.safetensors"))
    }

    /// What a seed's training left, if it got so far.
    pub fn read(&self, seed: u64) -> Result<Option<Vec<u8>>> {
        let path = self.file(seed);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Error::io(path)(e)),
        }
    }

    /// Replaces a seed's checkpoint: the old one is whole until the new one is.
    pub fn write(&self, seed: u64, bytes: &[u8]) -> Result<()> {
        write_file(&self.file(seed), bytes)
    }

    /// Removes all of them: the output is written.
    pub fn remove(self) -> Result<()> {
        match fs::remove_dir_all(&self.folder) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::io(self.folder)(e)),
            _ => Ok(()),
        }
    }
}

//! What ships by name: its files, and where they are looked for.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use directories::ProjectDirs;

use crate::error::{Error, Result};

/// Where the repository has them, and the demo serves them.
const FOLDER: &str = "www/public/models";

/// A file that ships.
#[derive(Debug)]
pub struct File {
    pub name: &'static str,
    pub bytes: u64,
    pub sha256: &'static str,
}

/// An encoder that ships, and its head.
#[derive(Debug)]
pub struct Shipped {
    pub name: &'static str,
    pub model: File,
    pub head: File,
}

/// What ships, the one that commands take unless told otherwise first.
pub const SHIPPED: [Shipped; 2] = [
    Shipped {
        name: "caselens-csts",
        model: File {
            name: "caselens-csts-q4_0.gguf",
            bytes: 13_722_816,
            sha256: "2c38eb0afc9db1c99001c62dd24990ab478fbd3b277a913c985a03c31abcfbdc",
        },
        head: File {
            name: "caselens-csts.head.safetensors",
            bytes: 12_170,
            sha256: "a44527f987c8e2d70861361f033da4fd774fea761a6acdc517208398bad54ec6",
        },
    },
    Shipped {
        name: "caselens-csts-large",
        model: File {
            name: "caselens-csts-large-q4_0.gguf",
            bytes: 62_880_960,
            sha256: "62874dc7e0f2a0ccd66e44663d4aa0c127fd31ef6dd4bf24c1ad043eaccf4339",
        },
        head: File {
            name: "caselens-csts-large.head.safetensors",
            bytes: 3_210,
            sha256: "9f699dfa7bc82869b74d9608ac5073f1454d3ecb7a4f5c5c9e8f657041962a86",
        },
    },
];

/// What commands take unless told otherwise.
pub const DEFAULT: &Shipped = &SHIPPED[0];

impl Shipped {
    /// The one of this name.
    pub fn named(name: &OsStr) -> Option<&'static Self> {
        SHIPPED.iter().find(|shipped| name == shipped.name)
    }

    pub fn files(&self) -> [&File; 2] {
        [&self.model, &self.head]
    }
}

impl File {
    /// The first place that has it: beside the program, the folder of a repository above it or in the working
    /// directory, the platform's data folder.
    pub fn find(&self) -> Option<PathBuf> {
        let program = std::env::current_exe().ok();
        let program = program.as_deref().and_then(Path::parent);
        let above = program.into_iter().flat_map(Path::ancestors);
        let places = program
            .map(Path::to_owned)
            .into_iter()
            .chain(above.map(|place| place.join(FOLDER)))
            .chain([PathBuf::from(FOLDER)])
            .chain(data_folder());
        places
            .map(|place| place.join(self.name))
            .find(|path| path.is_file())
    }

    /// As [`find`](Self::find); `option` names another file.
    ///
    /// # Errors
    /// No place has it.
    pub fn located(&self, option: &str) -> Result<PathBuf> {
        self.find().ok_or_else(|| {
            let data = data_folder().map_or_else(String::new, |f| format!(", nor in {}", f.display()));
            Error::InvalidArgument(format!(
                "{} is neither beside the program nor in {FOLDER} here{data}. `caselens models fetch` says where it is had, and brings it there with --from; or name another file with {option}.",
                self.name
            ))
        })
    }
}

/// Where models that were fetched lie; `None` where the platform has no such place for this user.
pub fn data_folder() -> Option<PathBuf> {
    let folders = ProjectDirs::from("", "", "caselens")?;
    Some(folders.data_local_dir().join("models"))
}

//! `caselens models fetch`: what ships, for a program that was installed alone.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    checkpoint::hub::download::{Download, Stopped, agent, hash, lock, make_parent},
    companion::{
        output::{downloading, json_line, note},
        shipped::{DEFAULT, File, SHIPPED, Shipped, data_folder},
    },
    error::{Error, Result},
};

/// Fetch a model that ships into the platform's data folder
///
/// Every command finds it there. Its files are checked by their SHA-256, which the program knows; a download
/// that breaks off goes on where it stopped.
///
/// The npm package of a model's name has both files: a CDN of npm serves them, and so does the folder that `npm pack`
/// unpacks to.
///
///   caselens models fetch --from https://cdn.jsdelivr.net/npm/caselens-csts
///   caselens models fetch --from file:///home/me/package
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Its name
    #[arg(default_value = DEFAULT.name, value_parser = SHIPPED.each_ref().map(|shipped| shipped.name))]
    name: String,
    /// The folder that has its files: an https, http or file URL
    #[arg(long, value_name = "URL", env = "CASELENS_MODELS_URL")]
    from: Option<String>,
    /// Print a JSON object with the files' paths
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result<()> {
    let folder = data_folder().ok_or_else(|| {
        Error::InvalidArgument(
            "this machine has no data folder for this user (no home directory). Name the files with --model and --head.".into(),
        )
    })?;
    let shipped = Shipped::named(args.name.as_ref()).unwrap_or(DEFAULT);
    let from = args.from.as_deref().ok_or_else(|| nowhere(shipped))?;
    let base = from.trim_end_matches('/');
    let [model, head] = shipped
        .files()
        .map(|file| fetched(shipped.name, file, base, &folder));
    let (model, head) = (model?, head?);
    if args.json {
        return json_line(&serde_json::json!({"name": args.name, "model": model, "head": head}));
    }
    note!("{} is in {}", args.name, folder.display());
    Ok(())
}

/// Where both files are had.
fn nowhere(shipped: &Shipped) -> Error {
    let name = shipped.name;
    let [model, head] = shipped.files();
    Error::InvalidArgument(format!(
        "--from (or CASELENS_MODELS_URL) names the folder that has {} and {}. The npm package {name} has both: add --from https://cdn.jsdelivr.net/npm/{name}; or `npm pack {name}`, unpack that, and add --from file:// with the path of its folder `package`. In a checkout of the repository they lie in www/public/models.",
        model.name, head.name
    ))
}

/// The file in `folder`, brought there unless it is.
fn fetched(model: &str, file: &File, base: &str, folder: &Path) -> Result<PathBuf> {
    let path = folder.join(file.name);
    let part = folder.join(format!("{}.part", file.name));
    let _lock = lock(&folder.join(format!(".{}.lock", file.name)))?;
    if path.is_file() && hash(&path)? == file.sha256 {
        return Ok(path);
    }
    make_parent(&part)?;
    let failed = |reason: String| Error::HubDownload {
        model: model.into(),
        file: file.name.into(),
        reason,
    };
    match base.strip_prefix("file://") {
        Some(from) => {
            let from = Path::new(from).join(file.name);
            fs::copy(&from, &part).map_err(Error::io(&from))?;
        }
        None => {
            let url = format!("{base}/{}", file.name);
            let bar = downloading(file.name, file.bytes);
            let download = Download {
                agent: &agent()?,
                url: &url,
                token: None,
                size: Some(file.bytes),
            };
            let fetched = download.fetch(&part, &mut |bytes| bar.set_position(bytes));
            bar.finish_and_clear();
            fetched.map_err(|stopped| match stopped {
                Stopped::Idle(reason) => failed(reason),
                Stopped::Refused(response) => {
                    failed(format!("{url} is answered by {}", response.status()))
                }
                Stopped::NotWritten(e) => Error::io(&part)(e),
            })?;
        }
    }
    if hash(&part)? != file.sha256 {
        fs::remove_file(&part).map_err(Error::io(&part))?;
        return Err(failed(format!(
            "what {base} has is another file than this program was made with (its SHA-256 says so)"
        )));
    }
    fs::rename(&part, &path).map_err(Error::io(&path))?;
    Ok(path)
}

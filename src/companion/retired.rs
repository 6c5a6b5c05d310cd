//! Commands that had another name: each says which takes its place.

use std::ffi::OsString;

use crate::error::{Error, Result};

/// A command that is no longer there, with whatever options it had.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _rest: Vec<OsString>,
}

/// # Errors
/// Always: what takes the command's place.
pub fn train() -> Result<()> {
    gone(
        "`caselens train` is two commands now. `caselens train-head` trains a head on an encoder that stays as it is; `caselens fine-tune` the encoder itself, with --adapter full or lora:RANK.",
    )
}

/// # Errors
/// Always: what takes the command's place.
pub fn distill() -> Result<()> {
    gone(
        "`caselens distill` is `caselens fine-tune` now: --teacher and --teacher-weight are its options.",
    )
}

/// # Errors
/// Always: what takes the command's place.
pub fn apply() -> Result<()> {
    gone(
        "`caselens apply` is gone, and so is `export --adapter`. Pass on the folder that `caselens fine-tune` writes; with --adapter lora:RANK it holds what training changed by itself, in adapter/.",
    )
}

fn gone(instead: &str) -> Result<()> {
    Err(Error::InvalidArgument(instead.into()))
}

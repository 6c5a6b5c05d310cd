//! How an encoder wants sentence and condition, unless told otherwise.

use super::{Case, Pool, Prompted};
#[cfg(not(target_arch = "wasm32"))]
use crate::{checkpoint::Checkpoint, text::Wrapper};
use crate::{
    checkpoint::{BertCheckpoint, presets::Preset},
    text::Prompt,
};

impl Case {
    /// The settings of CASE for an encoder: what is known of a published one, else those of its family. A decoder gets
    /// instructions; what is pooled are the text's tokens where latent attention follows, else the last one.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn of(checkpoint: &Checkpoint) -> Self {
        match checkpoint {
            Checkpoint::Bert(bert) => Self::of_bert(bert),
            Checkpoint::Decoder(decoder) => Self::known(decoder.preset).unwrap_or_else(|| {
                let latent = decoder.config.latent.is_some();
                Self::instruct(
                    Wrapper::default(),
                    if latent { Pool::Query } else { Pool::Last },
                )
            }),
        }
    }

    /// [`Case::of`] of an encoder of the BERT family.
    pub fn of_bert(bert: &BertCheckpoint) -> Self {
        Self::known(bert.preset).unwrap_or_default()
    }

    /// That of a model which is known to follow instructions, or to be asked for one word.
    fn known(preset: Option<&Preset>) -> Option<Self> {
        let known = preset?;
        if let Some(prompt) = known.word.and_then(Prompt::named) {
            return Some(Self::Prompted(Prompted { prompt }));
        }
        let pool = match known.mean_behind_instruction {
            true => Pool::Query,
            false => Pool::Last,
        };
        Some(Self::instruct(known.prompt?, pool))
    }
}

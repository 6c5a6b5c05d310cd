//! How an encoder wants sentence and condition, unless told otherwise.

use super::{Case, Pool};
use crate::{checkpoint::Checkpoint, text::Wrapper};

impl Case {
    /// The settings of CASE for an encoder: what is known of a published one, else those of its family. A decoder gets
    /// instructions; what is pooled are the text's tokens where latent attention follows, else the last one.
    pub fn of(checkpoint: &Checkpoint) -> Self {
        let preset = checkpoint.preset();
        let known = preset.and_then(|known| Some((known.prompt?, known.mean_behind_instruction)));
        let (wrapper, mean) = match (known, checkpoint) {
            (Some(known), _) => known,
            (None, Checkpoint::Decoder(decoder)) => {
                (Wrapper::default(), decoder.config.latent.is_some())
            }
            (None, Checkpoint::Bert(_)) => return Self::default(),
        };
        Self::instruct(wrapper, if mean { Pool::Query } else { Pool::Last })
    }
}

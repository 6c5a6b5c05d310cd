//! Which tokens' hidden states are averaged.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::{checkpoint::plain::PoolingMode, text::Sequence};

/// Which hidden states of an input are averaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Pool {
    /// The first token alone.
    Cls,
    /// What the encoder's pooler makes of the first token, tanh(W·h + b): SimCSE's.
    Pooler,
    /// Every token, special tokens included (as sentence-transformers does).
    All,
    /// The condition's tokens.
    Condition,
    /// The sentence's tokens.
    Sentence,
    /// The last token alone: what a decoder has read the whole input for.
    Last,
    /// The embedded text's tokens, without its instruction's.
    Query,
}

impl From<PoolingMode> for Pool {
    fn from(mode: PoolingMode) -> Self {
        match mode {
            PoolingMode::Mean => Self::All,
            PoolingMode::Cls => Self::Cls,
            PoolingMode::Last => Self::Last,
            PoolingMode::Pooler => Self::Pooler,
        }
    }
}

impl Pool {
    pub(crate) fn span(self, sequence: &Sequence) -> Range<usize> {
        match self {
            Self::Cls | Self::Pooler => 0..1,
            Self::All => 0..sequence.ids.len(),
            Self::Last => sequence.ids.len().saturating_sub(1)..sequence.ids.len(),
            Self::Condition | Self::Query => sequence.condition.clone(),
            Self::Sentence => sequence.sentence.clone(),
        }
    }
}

//! Who an encoder is.

use serde::{Deserialize, Serialize};

/// Who an encoder is, whichever format its numbers are in: a head trained on the f32 weights serves each
/// quantisation of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EncoderId {
    /// Its name.
    pub id: String,
    /// SHA-256 (hex) of the f32 weights' file, or of its shards one after the other; of a decoder, which no one reads whole to
    /// open it, and of another converter's GGUF file, which does not say what it was made from, of where each tensor begins.
    pub sha256: String,
}

impl std::fmt::Display for EncoderId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} ({})",
            self.id,
            self.sha256.get(..8).unwrap_or(&self.sha256)
        )
    }
}

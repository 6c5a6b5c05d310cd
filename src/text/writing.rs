//! Tokens become text again, for what language models write.

use serde_json::{Map, Value};
use tokenizers::{
    Decoder, decoders::byte_fallback::ByteFallback, pre_tokenizers::byte_level::ByteLevel,
};

/// How a vocabulary writes the bytes of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writing {
    /// GPT-2's: a letter for each byte.
    ByteLevel,
    /// SentencePiece's: ▁ for a space, `<0x0A>` for a byte that no token has.
    SentencePiece,
}

impl Writing {
    /// As tokenizer.json has it: byte level where that is among its parts.
    pub fn of(json: &Map<String, Value>) -> Self {
        let parts = ["pre_tokenizer", "decoder"];
        match parts
            .iter()
            .filter_map(|part| json.get(*part))
            .any(is_byte_level)
        {
            true => Self::ByteLevel,
            false => Self::SentencePiece,
        }
    }

    /// The text of tokens as the vocabulary writes them, with the space that a text goes on with. Bytes that are no whole
    /// character are U+FFFD.
    pub fn text(self, tokens: Vec<String>) -> String {
        let parts = match self {
            Self::ByteLevel => ByteLevel::default().decode_chain(tokens),
            Self::SentencePiece => {
                let spaced = tokens.into_iter().map(|token| token.replace('▁', " "));
                ByteFallback::new().decode_chain(spaced.collect())
            }
        };
        // Neither of the two fails.
        parts.unwrap_or_default().concat()
    }
}

fn is_byte_level(part: &Value) -> bool {
    let kind = |kind| part.get("type").is_some_and(|own| own == kind);
    let lists = ["pretokenizers", "decoders"];
    let mut inside = lists.iter().filter_map(|list| part.get(*list)?.as_array());
    kind("ByteLevel") || inside.any(|list| list.iter().any(is_byte_level))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_the_text_that_they_were_made_of() {
        let text = |writing: Writing, tokens: &[&str]| {
            writing.text(tokens.iter().map(|&token| token.to_owned()).collect())
        };
        assert_eq!(
            text(Writing::ByteLevel, &["Ġa", "Ġcaf", "Ã©", "Ċ"]),
            " a café\n"
        );
        assert_eq!(text(Writing::ByteLevel, &["Ã"]), "\u{fffd}");
        let tokens = ["▁a", "▁caf", "<0xC3>", "<0xA9>", "<0x0A>"];
        assert_eq!(text(Writing::SentencePiece, &tokens), " a café\n");
        assert_eq!(text(Writing::SentencePiece, &["<0xC3>"]), "\u{fffd}");
    }
}

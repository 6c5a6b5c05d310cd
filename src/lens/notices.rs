//! What is worth knowing of a text beside the numbers, in words: what an encoder cannot read, it gives numbers for all the same.

use crate::text::language::Language;

/// That `what`, a text, holds tokens that the vocabulary lacks.
pub fn unknown(what: &str, tokens: usize) -> String {
    let (pieces, them) = match tokens {
        1 => ("1 piece", "it"),
        _ => (&*format!("{tokens} pieces"), "them"),
    };
    format!("{what} holds {pieces} that the encoder does not know: it reads {them} as a blank.")
}

/// That `what`, a text, is in a language that the model was not trained on; `trained` are those that it was.
pub fn foreign(what: &str, language: Language, trained: &[&str]) -> String {
    let trained = match trained {
        ["en"] => "English".to_owned(),
        others => others.join(", "),
    };
    format!(
        "{what} looks like {}; the model was trained on {trained}. Its numbers mean little.",
        language.name
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::language::other_than_english;

    #[test]
    fn notices_say_which_text_and_why() {
        let german = other_than_english("Ich habe das Paket noch immer nicht bekommen.").unwrap();
        assert_eq!(
            foreign("Text 3", german, &["en"]),
            "Text 3 looks like German; the model was trained on English. Its numbers mean little."
        );
        assert_eq!(
            unknown("Text 3", 1),
            "Text 3 holds 1 piece that the encoder does not know: it reads it as a blank."
        );
        assert!(unknown("A sentence", 2).contains("holds 2 pieces"));
    }
}

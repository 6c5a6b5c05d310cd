//! Which language a text is in, where it is certainly not English: an encoder that learnt English alone gives such a text
//! numbers too, which mean little.
//!
//! It had rather be silent than wrong about an English text. Another script is certain. In the Latin script a text needs a few
//! words that are no names and none of the words that hold English sentences together, and `whatlang`'s trigrams have to
//! place another language well before English.

use serde::Serialize;
use whatlang::{Detector, Lang, Script};

/// Words that are written small, and so no names, below which nothing is said of a text in the Latin script.
const LEAST_WORDS: usize = 3;
/// `whatlang`'s confidence, 0 to 1, in a language of the Latin script where English is the only other: it keeps false alarms at
/// 0.1 % of English texts of four words or more, and finds 92 % of other languages' texts of five or more.
const CONFIDENCE: f64 = 0.75;
/// Characters of a text that are looked at.
const LOOKED_AT: usize = 1000;

/// Languages in the Latin script that are looked for: few, since trigrams confuse those that are close to each other.
const LATIN: [Lang; 19] = [
    Lang::Eng,
    Lang::Deu,
    Lang::Fra,
    Lang::Spa,
    Lang::Ita,
    Lang::Por,
    Lang::Nld,
    Lang::Pol,
    Lang::Tur,
    Lang::Swe,
    Lang::Dan,
    Lang::Nob,
    Lang::Fin,
    Lang::Ces,
    Lang::Hun,
    Lang::Ron,
    Lang::Hrv,
    Lang::Vie,
    Lang::Ind,
];

/// Words of English that hardly any of those languages has.
const ENGLISH: [&str; 109] = [
    "about",
    "across",
    "after",
    "again",
    "all",
    "along",
    "and",
    "another",
    "any",
    "anyone",
    "anything",
    "are",
    "around",
    "because",
    "been",
    "before",
    "behind",
    "being",
    "between",
    "but",
    "by",
    "can't",
    "could",
    "didn't",
    "does",
    "doesn't",
    "don't",
    "down",
    "each",
    "every",
    "everything",
    "from",
    "get",
    "good",
    "got",
    "had",
    "here",
    "herself",
    "himself",
    "his",
    "how",
    "i'm",
    "if",
    "inside",
    "into",
    "isn't",
    "it",
    "it's",
    "its",
    "just",
    "many",
    "more",
    "much",
    "my",
    "near",
    "never",
    "no",
    "nobody",
    "not",
    "nothing",
    "now",
    "only",
    "or",
    "other",
    "our",
    "out",
    "outside",
    "same",
    "she",
    "should",
    "some",
    "someone",
    "something",
    "still",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "through",
    "to",
    "too",
    "two",
    "until",
    "up",
    "very",
    "wasn't",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "why",
    "with",
    "without",
    "won't",
    "would",
    "yes",
    "yet",
    "you",
    "your",
];

/// A language that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(into = "&'static str")]
pub struct Language {
    /// Its code, ISO 639-1.
    pub code: &'static str,
    /// Its name in English.
    pub name: &'static str,
}

/// The language of a text that is certainly none of English; `None` for English, and where it is not certain.
pub fn other_than_english(text: &str) -> Option<Language> {
    let end = text.char_indices().nth(LOOKED_AT);
    let text = text.get(..end.map_or(text.len(), |(at, _)| at))?;
    // Tags, names of accounts and addresses are of no language.
    let words = text.split_whitespace().filter(|word| {
        !word.starts_with(['#', '@']) && !word.contains("://") && !word.starts_with("www.")
    });
    let words: Vec<&str> = words.collect();
    let text = words.join(" ");
    let script = whatlang::detect_script(&text)?;
    if script != Script::Latin {
        // One sign may stand for itself: π, Ω.
        let letters = text.chars().filter(|c| c.is_alphabetic()).take(2).count();
        let found = (letters == 2).then(|| whatlang::detect_lang(&text));
        return found.flatten().and_then(Language::of);
    }
    let small = words
        .iter()
        .filter(|word| word.chars().next().is_some_and(char::is_lowercase));
    if small.count() < LEAST_WORDS || has_english(&text) {
        return None;
    }
    let found = Detector::with_allowlist(LATIN.to_vec()).detect_lang(&text)?;
    let against_english = Detector::with_allowlist(vec![Lang::Eng, found]).detect(&text)?;
    let certain = against_english.lang() == found && against_english.confidence() >= CONFIDENCE;
    match certain {
        true => Language::of(found),
        false => None,
    }
}

fn has_english(text: &str) -> bool {
    let text = text.to_lowercase().replace('’', "'");
    text.split(|c: char| !c.is_alphabetic() && c != '\'')
        .any(|word| ENGLISH.contains(&word))
}

impl From<Language> for &'static str {
    fn from(language: Language) -> Self {
        language.code
    }
}

impl Language {
    /// `None` for English, and for what is not looked for.
    fn of(lang: Lang) -> Option<Self> {
        let code = match lang {
            Lang::Amh => "am",
            Lang::Ara => "ar",
            Lang::Bel => "be",
            Lang::Ben => "bn",
            Lang::Bul => "bg",
            Lang::Ces => "cs",
            Lang::Cmn => "zh",
            Lang::Dan => "da",
            Lang::Deu => "de",
            Lang::Ell => "el",
            Lang::Fin => "fi",
            Lang::Fra => "fr",
            Lang::Guj => "gu",
            Lang::Heb => "he",
            Lang::Hin => "hi",
            Lang::Hrv => "hr",
            Lang::Hun => "hu",
            Lang::Hye => "hy",
            Lang::Ind => "id",
            Lang::Ita => "it",
            Lang::Jpn => "ja",
            Lang::Kan => "kn",
            Lang::Kat => "ka",
            Lang::Khm => "km",
            Lang::Kor => "ko",
            Lang::Mal => "ml",
            Lang::Mar => "mr",
            Lang::Mkd => "mk",
            Lang::Mya => "my",
            Lang::Nep => "ne",
            Lang::Nld => "nl",
            Lang::Nob => "nb",
            Lang::Ori => "or",
            Lang::Pan => "pa",
            Lang::Pes => "fa",
            Lang::Pol => "pl",
            Lang::Por => "pt",
            Lang::Ron => "ro",
            Lang::Rus => "ru",
            Lang::Sin => "si",
            Lang::Spa => "es",
            Lang::Srp => "sr",
            Lang::Swe => "sv",
            Lang::Tam => "ta",
            Lang::Tel => "te",
            Lang::Tha => "th",
            Lang::Tur => "tr",
            Lang::Ukr => "uk",
            Lang::Urd => "ur",
            Lang::Vie => "vi",
            Lang::Yid => "yi",
            // English, and what is not looked for in the Latin script.
            _ => return None,
        };
        let name = match lang {
            Lang::Cmn => "Chinese",
            Lang::Nob => "Norwegian",
            other => other.eng_name(),
        };
        Some(Self { code, name })
    }
}

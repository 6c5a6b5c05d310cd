//! Emoji in words: Unicode's CLDR short names, for encoders whose vocabulary lacks the signs themselves.
//!
//! BERT's and MPNet's vocabularies have none of the common ones, which to them are all the same unknown token. "I love it 😍"
//! becomes "I love it smiling face with heart-eyes", in training and in use alike. A skin tone is left out, since it says
//! nothing about what a sentence means. Emoticons of letters and marks, `:-)`, stay as they are: a vocabulary has those marks.

use std::{borrow::Cow, ops::Range};

/// Characters of the longest emoji, a kiss of two people with a skin tone each, and one to spare.
const LONGEST: usize = 11;
/// Ask for an emoji's look as a text or as a picture; it means the same.
const SELECTORS: [char; 2] = ['\u{fe0e}', '\u{fe0f}'];

/// A text whose emoji are words, and where they stood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spelled<'a> {
    /// The text as the tokenizer is given it.
    pub text: Cow<'a, str>,
    /// For each emoji, in their order: the bytes of its words, spaces included, and its own in the text that was given.
    words: Vec<[Range<usize>; 2]>,
}

impl<'a> Spelled<'a> {
    /// A text that stays as it is.
    pub fn unchanged(text: &'a str) -> Self {
        Self {
            text: Cow::Borrowed(text),
            words: Vec::new(),
        }
    }

    /// Puts emoji into words, but for those that `knows` of: the emoji without the selector of its look.
    pub fn of(text: &'a str, knows: impl Fn(&str) -> bool) -> Self {
        let mut spelled = String::new();
        let mut words = Vec::new();
        let mut copied = 0;
        let mut at = 0;
        while let Some(found) = next(text, at) {
            at = found.span.end;
            if knows(text[found.span.clone()].trim_end_matches(SELECTORS)) {
                continue;
            }
            spelled += &text[copied..found.span.start];
            let start = spelled.len();
            spelled.push(' ');
            spelled += &found.name;
            spelled.push(' ');
            words.push([start..spelled.len(), found.span]);
            copied = at;
        }
        if words.is_empty() {
            return Self::unchanged(text);
        }
        spelled += &text[copied..];
        Self {
            text: Cow::Owned(spelled),
            words,
        }
    }

    /// The bytes of the text that was given for which these stand. What lies in an emoji's words stands for the emoji.
    pub fn original(&self, span: Range<usize>) -> Range<usize> {
        self.place(span.start).start..self.place(span.end).end
    }

    /// Which emoji's words these bytes are of, if they are.
    pub fn emoji(&self, span: &Range<usize>) -> Option<usize> {
        let within = |[words, _]: &[Range<usize>; 2]| words.contains(&span.start);
        self.words.iter().position(within)
    }

    /// What a place between two bytes stands for: a place, or an emoji.
    fn place(&self, at: usize) -> Range<usize> {
        let before = self.words.partition_point(|[words, _]| words.end <= at);
        match self.words.get(before) {
            Some([words, emoji]) if words.start < at => emoji.clone(),
            _ => {
                let last = before.checked_sub(1).and_then(|last| self.words.get(last));
                let at = match last {
                    Some([words, emoji]) => emoji.end + (at - words.end),
                    None => at,
                };
                at..at
            }
        }
    }
}

/// An emoji in a text.
struct Found {
    span: Range<usize>,
    name: String,
}

/// The first emoji of a text from a byte on: the longest that begins where it does.
fn next(text: &str, from: usize) -> Option<Found> {
    let rest = text.get(from..)?;
    let begins = rest.char_indices().filter(|(_, c)| may_begin(*c));
    begins.map(|(at, _)| at).find_map(|at| {
        let ends = rest[at..]
            .char_indices()
            .map(|(i, c)| at + i + c.len_utf8());
        let ends: Vec<usize> = ends.take(LONGEST).collect();
        ends.into_iter().rev().find_map(|end| {
            // Alone they are digits and marks.
            let emoji = Some(&rest[at..end]).filter(|emoji| !emoji.is_ascii())?;
            let name = name(emoji)?;
            let look = rest[end..].chars().next();
            let look = look.filter(|c| SELECTORS.contains(c));
            Some(Found {
                span: from + at..from + end + look.map_or(0, char::len_utf8),
                name,
            })
        })
    })
}

/// Whether an emoji may begin so: the first of them outside ASCII is ©; digits, # and * are what keycaps begin with.
fn may_begin(c: char) -> bool {
    c >= '\u{a9}' || c.is_ascii_digit() || c == '#' || c == '*'
}

/// The words for an emoji: "flag: Germany" and "keycap: 5" without the colon.
fn name(emoji: &str) -> Option<String> {
    let found = emojis::get(emoji)?;
    let plain = found.skin_tones().and_then(|mut tones| tones.next());
    Some(plain.unwrap_or(found).name().replace(':', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(text: &str) -> String {
        let spelled = Spelled::of(text, |emoji| emoji == "♥");
        let words: Vec<&str> = spelled.text.split_whitespace().collect();
        words.join(" ")
    }

    // The names are those of Unicode's emoji-test.txt.
    #[test]
    fn emoji_are_their_short_names() {
        for (text, words) in [
            ("I love it😍!", "I love it smiling face with heart-eyes !"),
            ("👍🏽", "thumbs up"),
            ("👩🏿‍❤️‍💋‍👨🏼 now", "kiss woman, man now"),
            ("👨‍👩‍👧‍👦", "family man, woman, girl, boy"),
            ("🇩🇪🇫🇷", "flag Germany flag France"),
            ("🏴󠁧󠁢󠁥󠁮󠁧󠁿", "flag England"),
            ("Press 5️⃣ or #️⃣", "Press keycap 5 or keycap #"),
            ("❤️ ❤ ❤︎", "red heart red heart red heart"),
            ("☀rain", "sun rain"),
            // What is no emoji, alone or known to the vocabulary.
            ("♥️ 5 # * :-) <3 ^^ (c)", "♥️ 5 # * :-) <3 ^^ (c)"),
            ("Größe, 猫, Ёлка, 한국", "Größe, 猫, Ёлка, 한국"),
        ] {
            assert_eq!(spelled(text), words, "{text}");
        }
    }

    #[test]
    fn a_text_without_emoji_is_not_copied() {
        let text = "Nothing to see – here.";
        let spelled = Spelled::of(text, |_| false);
        assert!(matches!(spelled.text, Cow::Borrowed(_)));
        assert_eq!(spelled.original(3..7), 3..7);
    }

    #[test]
    fn words_point_at_their_emoji() {
        let text = "So 👍🏽👎 then";
        let spelled = Spelled::of(text, |_| false);
        let at = |word: &str| {
            let start = spelled.text.find(word).unwrap();
            let span = start..start + word.len();
            (spelled.emoji(&span), &text[spelled.original(span)])
        };
        assert_eq!(at("So"), (None, "So"));
        assert_eq!(at("thumbs up"), (Some(0), "👍🏽"));
        assert_eq!(at("up"), (Some(0), "👍🏽"));
        assert_eq!(at("down"), (Some(1), "👎"));
        assert_eq!(at("then"), (None, "then"));
    }

    #[test]
    fn every_emoji_has_words() {
        let mut all = 0;
        for emoji in emojis::iter().flat_map(|e| {
            let tones = e.skin_tones().into_iter().flatten();
            std::iter::once(e).chain(tones)
        }) {
            let spelled = Spelled::of(emoji.as_str(), |_| false);
            assert_eq!(spelled.words.len(), 1, "{emoji}");
            assert!(spelled.text.trim().len() > 1, "{emoji}");
            assert_eq!(spelled.original(1..2), 0..emoji.as_str().len());
            all += 1;
        }
        assert!(all > 3000, "{all}");
    }
}

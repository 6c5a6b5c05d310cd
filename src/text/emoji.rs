//! Emoji in words: Unicode's CLDR short names, for encoders whose vocabulary lacks the signs themselves.
//!
//! BERT's and MPNet's vocabularies have none of the common ones, which to them are all the same unknown token. "I love it 😍"
//! becomes "I love it smiling face with heart-eyes", in training and in use alike. A skin tone is left out, since it says
//! nothing about what a sentence means. Emoticons of letters and marks, `:-)`, stay as they are: a vocabulary has those marks.

use std::{borrow::Cow, collections::HashMap, ops::Range, sync::LazyLock};

/// An emoji, a tab, its words: a line each. The emoji are without the selectors of their look and without skin tones, the names
/// without the colon of "flag: Germany". It is written from the crate `emojis` (`tests/suite/reading.rs`), whose own tables, with
/// each skin tone by itself, are ten times as large for browsers.
const TABLE: &str = include_str!("emoji.tsv");
/// Characters of the longest of them.
const LONGEST: usize = 7;

static WORDS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    TABLE
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .collect()
});

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

    /// Puts emoji into words, but for those that `knows` of; it is asked for an emoji without selector and skin tone.
    pub fn of(text: &'a str, knows: impl Fn(&str) -> bool) -> Self {
        let mut spelled = String::new();
        let mut words = Vec::new();
        let mut copied = 0;
        let mut at = 0;
        while let Some(found) = next(text, at) {
            at = found.span.end;
            if knows(&found.emoji) {
                continue;
            }
            spelled += &text[copied..found.span.start];
            let start = spelled.len();
            spelled.push(' ');
            spelled += found.words;
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
    /// Without selectors and skin tones.
    emoji: String,
    words: &'static str,
}

/// The first emoji of a text from a byte on: the longest that begins where it does.
fn next(text: &str, from: usize) -> Option<Found> {
    let rest = text.get(from..)?;
    let begins = rest.char_indices().filter(|(_, c)| may_begin(*c));
    begins
        .map(|(at, _)| from + at)
        .find_map(|at| longest(text, at))
}

/// The longest emoji that begins at a byte.
fn longest(text: &str, at: usize) -> Option<Found> {
    let mut emoji = String::new();
    let mut found = None;
    let mut characters = 0;
    for (i, c) in text.get(at..)?.char_indices() {
        if !is_passed_over(c) {
            characters += 1;
            if characters > LONGEST {
                break;
            }
            emoji.push(c);
        }
        if let Some((&emoji, &words)) = WORDS.get_key_value(emoji.as_str()) {
            found = Some(Found {
                span: at..at + i + c.len_utf8(),
                emoji: emoji.to_owned(),
                words,
            });
        } else if characters == 1 && c.is_ascii() {
            // A digit is part of a keycap where a selector or the cap follows.
            let follows = text.get(at + 1..).and_then(|rest| rest.chars().next());
            if !follows.is_some_and(|c| is_passed_over(c) || c == '\u{20e3}') {
                break;
            }
        }
    }
    found
}

/// Selectors of an emoji's look, as a text or as a picture, and skin tones: neither is in the table.
fn is_passed_over(c: char) -> bool {
    matches!(c, '\u{fe0e}' | '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}')
}

/// Whether an emoji may begin so.
fn may_begin(c: char) -> bool {
    matches!(c, '#' | '*' | '0'..='9' | '©' | '®' | '\u{203c}'..='\u{3299}' | '\u{1f004}'..='\u{1faff}')
        && !is_passed_over(c)
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
    fn every_line_of_the_table_is_found() {
        let mut longest = 0;
        for line in TABLE.lines() {
            let (emoji, words) = line.split_once('\t').unwrap();
            let spelled = Spelled::of(emoji, |_| false);
            assert_eq!(spelled.text, format!(" {words} "), "{emoji}");
            longest = longest.max(emoji.chars().count());
        }
        assert_eq!(longest, LONGEST);
        assert!(WORDS.len() == TABLE.lines().count() && WORDS.len() > 1900);
    }
}

//! Where a long text is taken apart.
//!
//! A condition asks about one or two sentences of a long text, and the mean over all its tokens hides them. Such a text is
//! read in parts, each under the condition by itself; see [`crate::lens::long`].

use std::ops::Range;

/// A text of more tokens is read in parts.
pub const WHOLE: usize = 64;
/// Sentences are put together until a part has so many tokens.
const SHORTEST: usize = 12;
/// No part has more tokens: what goes on without a full stop is split there.
const LONGEST: usize = 64;

/// The parts of a text of these tokens, in order; a single one where it is short.
pub fn parts<T: AsRef<str>>(tokens: &[T]) -> Vec<Range<usize>> {
    let count = tokens.len();
    if count <= WHOLE {
        return std::iter::once(0..count).collect();
    }
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    let mut ended = false;
    for (i, token) in tokens.iter().enumerate() {
        let token = token.as_ref().trim_start_matches(['▁', 'Ġ']);
        // Closing quotes and brackets belong to the sentence before them.
        let over = ended && i - start >= SHORTEST && !closes(token);
        if over || i - start >= LONGEST {
            parts.push(start..i);
            start = i;
            ended = false;
        }
        ended = ends(token) || (ended && closes(token));
    }
    match parts.last_mut() {
        Some(last) if count - start < SHORTEST && count - last.start <= LONGEST => last.end = count,
        _ => parts.push(start..count),
    }
    parts
}

fn ends(token: &str) -> bool {
    token.ends_with(['.', '!', '?', '…', '。', '！', '？'])
}

fn closes(token: &str) -> bool {
    !token.is_empty()
        && token.chars().all(|c| {
            matches!(
                c,
                '"' | '\'' | '”' | '’' | ')' | ']' | '»' | '.' | '!' | '?'
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        let tokens: Vec<&str> = text.split(' ').collect();
        let parts = parts(&tokens);
        let part = |part: Range<usize>| tokens[part].join(" ");
        parts.into_iter().map(part).collect()
    }

    /// A word and spaces, so often.
    fn words(word: &str, count: usize) -> String {
        vec![word; count].join(" ")
    }

    #[test]
    fn short_texts_stay_whole() {
        let text = words("no .", WHOLE / 2);
        assert_eq!(of(&text), [text]);
        assert_eq!(of(""), [""]);
    }

    #[test]
    fn long_texts_are_split_after_sentences() {
        let quoted = format!("\" {} . \"", words("a", 11));
        let two = format!("no . {} !", words("b", 10));
        let long = format!("{} ?", words("c", 40));
        let left = "so .";
        let text = [&quoted, &two, &long, left].join(" ");
        assert_eq!(of(&text), [quoted, two, format!("{long} {left}")]);
    }

    #[test]
    fn what_never_ends_is_split_all_the_same_and_nothing_is_lost() {
        for count in [65, 128, 129, 1000] {
            let tokens = vec!["x"; count];
            let parts = parts(&tokens);
            assert_eq!((parts[0].start, parts[parts.len() - 1].end), (0, count));
            assert!(parts.windows(2).all(|two| two[0].end == two[1].start));
            assert!(parts.iter().all(|part| (1..=LONGEST).contains(&part.len())));
        }
    }
}

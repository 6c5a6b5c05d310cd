//! What an encoder cannot read is told, or put into words that it can: emoji.

use crate::common;
use caselens::{
    Device, Lens,
    checkpoint::Checkpoint,
    lens::{explain::Switches, reading::Part},
    text::Tokenizer,
};
use pollster::block_on;

/// The encoder that ships, which the repository holds.
fn shipped() -> Lens {
    let models = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("www/public/models");
    let file = |name: &str| models.join(name);
    Lens::open(
        file("caselens-csts-q4_0.gguf"),
        Some(file("caselens-csts.head.safetensors")),
        Device::Cpu,
    )
    .unwrap()
}

#[test]
fn emoji_are_read_as_their_names() {
    let lens = shipped();
    let compared = |first: &str| {
        let conditions = ["the mood", "the place"];
        block_on(lens.compare(first, "I hate the rain in Rome.", &conditions)).unwrap()
    };
    let (signs, words) = (
        compared("Rome 🇮🇹 again 😡👎🏿"),
        compared("Rome flag Italy again enraged face thumbs down"),
    );
    for (signs, words) in signs.iter().zip(&words) {
        assert_eq!(signs.similarity, words.similarity);
        assert_eq!(signs.unconditional, words.unconditional);
    }
}

#[test]
fn an_emojis_tokens_are_one_word_that_points_at_it() {
    let lens = shipped();
    let sentences = ["So good 😍👍🏽, truly", "👎"];
    let explained = block_on(lens.explain(sentences, Some("the 🎁"), Switches::default())).unwrap();
    let read = |which: usize, of: Part, text: &str| -> Vec<(u32, String)> {
        let tokens = explained.readings[which][0].tokens.iter();
        let mut words: Vec<(u32, String)> = Vec::new();
        for token in tokens.filter(|token| token.part == of) {
            let word = (token.word.unwrap(), text[token.span.clone()].to_owned());
            if words.last() != Some(&word) {
                words.push(word);
            }
        }
        words
    };
    let words = |words: &[&str]| -> Vec<(u32, String)> {
        (0..).zip(words.iter().map(|&word| word.into())).collect()
    };
    let first = words(&["So", "good", "😍", "👍🏽", ",", "truly"]);
    assert_eq!(read(0, Part::Sentence, sentences[0]), first);
    assert_eq!(read(1, Part::Sentence, sentences[1]), words(&["👎"]));
    assert_eq!(read(0, Part::Condition, "the 🎁"), words(&["the", "🎁"]));
}

#[test]
fn a_vocabulary_that_has_emoji_keeps_them() {
    // Of bytes, as RoBERTa's, which lacks nothing.
    let json = std::fs::read(common::fixture("roberta-tiny").join("tokenizer.json")).unwrap();
    let tokenizer = Tokenizer::from_json(&json).unwrap();
    assert_eq!(tokenizer.spelled("fine 👍").text, "fine 👍");
    let Checkpoint::Bert(bert) = Checkpoint::open(&common::fixture("bert-tiny")).unwrap() else {
        unreachable!()
    };
    assert_eq!(bert.tokenizer.spelled("fine 👍").text, "fine  thumbs up ");
}

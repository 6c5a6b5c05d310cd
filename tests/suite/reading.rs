//! What an encoder cannot read is told, or put into words that it can: emoji.

use crate::common::{self, shipped, shipped_with};
use caselens::{
    Lens,
    checkpoint::Checkpoint,
    evaluation::metrics::auc,
    head::{HeadFile, Mentioned},
    lens::{explain::Switches, reading::Part},
    similarity::cosine,
    text::{Tokenizer, language::other_than_english},
    training::mentioned::{fit, threshold},
};
use pollster::block_on;

/// src/text/emoji.tsv holds all emoji of Unicode that the crate `emojis` knows, and no others.
#[test]
fn the_table_of_emoji_is_unicodes() {
    let plain = |emoji: &str| -> String {
        let passed_over =
            |c: &char| matches!(c, '\u{fe0e}' | '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}');
        emoji.chars().filter(|c| !passed_over(c)).collect()
    };
    let mut table = std::collections::BTreeMap::new();
    for emoji in emojis::iter() {
        let words = emoji.name().replace(':', "");
        for toned in emoji.skin_tones().into_iter().flatten().chain([emoji]) {
            table.insert(plain(toned.as_str()), words.clone());
        }
    }
    let expected: String = table
        .iter()
        .map(|(e, words)| format!("{e}\t{words}\n"))
        .collect();
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/text/emoji.tsv");
    if std::env::var_os("CASELENS_WRITE_EMOJI").is_some_and(|v| v == "1") {
        return std::fs::write(path, expected).unwrap();
    }
    assert!(
        std::fs::read_to_string(path).unwrap() == expected,
        "src/text/emoji.tsv is not what `emojis` says: CASELENS_WRITE_EMOJI=1 cargo test --test suite reading writes it"
    );
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

#[test]
fn what_a_vocabulary_lacks_is_counted_and_marked() {
    let lens = shipped();
    // Two signs that are no emoji, and one in the condition.
    let sentences = ["a \u{1fa00} and a \u{1d800}", "nothing strange"];
    let conditions = ["the place", "the \u{1d801}"];
    let compared = block_on(lens.compare(sentences[0], sentences[1], &conditions)).unwrap();
    let counts: Vec<usize> = compared.iter().map(|c| c.unknown).collect();
    assert_eq!(counts, [2, 3]);
    let json = serde_json::to_value(&compared).unwrap();
    assert_eq!(json[0]["unknown"], 2);
    let explained = block_on(lens.explain(sentences, Some(conditions[1]), Switches::default()));
    let tokens = &explained.unwrap().readings[0][0].tokens;
    let unknown: Vec<&str> = tokens
        .iter()
        .filter(|token| token.unknown)
        .map(|token| &*token.text)
        .collect();
    assert_eq!(unknown, ["[UNK]"; 3]);
    let known = block_on(lens.compare("a", "b", &["c"])).unwrap();
    assert!(!serde_json::to_string(&known).unwrap().contains("unknown"));
    let items = [("fine", None), ("a \u{1fa00}", Some("the \u{1d801}"))];
    assert_eq!(block_on(lens.embed(&items)).unwrap().unknown, [(1, 2)]);
}

/// Sentences of ten languages, written for this.
#[test]
fn other_languages_are_told() {
    let text = std::fs::read_to_string(common::fixture("languages.csv")).unwrap();
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let (mut told, mut right, mut all) = (0, 0, 0);
    for row in rows.records().map(Result::unwrap) {
        let (language, text) = (&row[0], &row[1]);
        let found = other_than_english(text);
        if ["ru", "zh"].contains(&language) {
            // Another script is certain.
            assert!(found.is_some(), "{text}");
        } else if text.split_whitespace().count() < 5 {
            continue;
        }
        all += 1;
        told += usize::from(found.is_some());
        right += usize::from(found.is_some_and(|found| found.code == language));
    }
    eprintln!("{told} of {all} told, {right} by their names");
    assert!(all > 180 && told * 100 >= all * 90, "{told} of {all}");
    assert!(right * 100 >= all * 85, "{right} of {all}");
}

/// English as people write it: names, tags, slang, slips, and words of other languages.
#[test]
fn english_is_not_taken_for_another_language() {
    for text in [
        "",
        "ok",
        "Keanu Reeves Sandra Bullock Dennis Hopper Speed",
        "#MondayMotivation #coffee #blessed #goodvibes #amor #dolce #vita",
        "@anna_m @joao.p gr8 phone luv it soooo much",
        "lol idk bro thats crazy af ngl",
        "omg cant wait 2 c u tmrw xoxo",
        "definately recomend this restaraunt",
        "Pad Thai, Tom Yum, green curry, mango sticky rice",
        "Best pizza downtown Chicago hands down",
        "Kia Sportage vs Hyundai Tucson vs Toyota Corolla",
        "Dr. Müller visited Café Zürich yesterday",
        "Works great, fast shipping, five stars",
        "red wool sweater size medium never worn",
        "Señor García sells piñatas near Plaza Mayor",
        "ASAP plz call mom",
        "https://example.com/a/b?c=d www.beispiel.de",
        "Total waste of money!!!",
        "cold coffee rude staff dirty tables",
        "A kitten bats at a dangling shoelace.",
        "v good camera, battery so so",
        "rofl dat cat doe",
        "Que sera sera, whatever will be",
        "déjà vu all over again",
        "π",
        "λ = 5 µm",
        "Я",
    ] {
        assert_eq!(other_than_english(text), None, "{text}");
    }
}

/// False alarms among the English sentences of `data`, of four words or more; every eighth, since they are many.
#[cfg(feature = "cli")]
#[test]
fn hardly_an_english_sentence_is_told() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let columns = ["sentence1", "sentence2"];
    let mut sentences = std::collections::BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !path
            .extension()
            .is_some_and(|e| e == "csv" || e == "parquet")
        {
            continue;
        }
        let table = caselens::companion::table::data::columns(&path, &columns, &[], None).unwrap();
        for row in 0..table.rows() {
            let cells = columns.iter().filter_map(|column| table.cell(column, row));
            sentences.extend(cells.map(str::to_owned));
        }
    }
    let long = |text: &&String| text.split_whitespace().count() >= 4;
    let sentences: Vec<&String> = sentences.iter().filter(long).step_by(8).collect();
    let told = sentences
        .iter()
        .filter(|text| other_than_english(text).is_some());
    let (told, all) = (told.count(), sentences.len());
    eprintln!("{told} of {all} English sentences are taken for another language");
    assert!(all > 10_000 && told * 1000 < all * 2, "{told} of {all}");
}

#[test]
fn a_comparison_tells_the_language_of_each_sentence() {
    let sentences = [
        "The train is late again.",
        "Ich habe das Paket nicht bekommen.",
    ];
    let codes = |lens: &Lens| {
        let compared = block_on(lens.compare(sentences[0], sentences[1], &["the mood"])).unwrap();
        serde_json::to_value(&compared[0]).unwrap()["language"].clone()
    };
    assert_eq!(codes(&shipped()), serde_json::json!([null, "de"]));
    assert_eq!(shipped().languages(), Some(vec!["en"]));
    // A head says it where the vocabulary does not know better.
    let both = shipped_with(|head| head.spec.languages = Some(vec!["en".into(), "de".into()]));
    assert_eq!(codes(&both), serde_json::Value::Null);
}

/// A layer that tells by one number of the embedding.
fn mentioned(threshold: f32) -> impl FnOnce(&mut HeadFile) {
    move |head| {
        let mut weight = vec![0.0; head.spec.output()];
        weight[0] = 40.0;
        head.mentioned = Some(Mentioned {
            weight,
            bias: 0.25,
            threshold,
        });
    }
}

#[test]
fn probabilities_of_mentions_are_computed_where_embeddings_are() {
    let lens = shipped_with(mentioned(0.5));
    let sentences = [
        "She plays chess in the park",
        "He plays football in the park",
    ];
    let conditions = ["the game", "the price"];
    let compared = block_on(lens.compare(sentences[0], sentences[1], &conditions)).unwrap();
    let items: Vec<_> = conditions
        .iter()
        .flat_map(|&condition| sentences.map(|sentence| (sentence, Some(condition))))
        .collect();
    let embedded = block_on(lens.embed(&items)).unwrap();
    // By the definition, from what `embed` gives.
    let expected = |vector: &[f32]| 1.0 / (1.0 + f32::exp(-(40.0 * vector[0] + 0.25)));
    for (i, comparison) in compared.iter().enumerate() {
        let vectors = &embedded.vectors[2 * i..2 * i + 2];
        assert_eq!(comparison.similarity, cosine(&vectors[0], &vectors[1]));
        let told = comparison.mentioned.unwrap();
        for (p, vector) in told.iter().zip(vectors) {
            assert!((p - expected(vector)).abs() < 1e-5);
        }
        let of_items = [embedded.mentioned[2 * i], embedded.mentioned[2 * i + 1]];
        assert_eq!(of_items, told.map(Some));
        let condition = Some(conditions[i]);
        let explain = |switches| block_on(lens.explain(sentences, condition, switches)).unwrap();
        let explained = explain(Switches::default()).mentioned.unwrap();
        assert!(
            explained
                .iter()
                .zip(told)
                .all(|(a, b)| (a - b).abs() < 1e-5)
        );
        let otherwise = Switches {
            pooling: Some(caselens::embedding::Pool::Cls),
            ..Switches::default()
        };
        assert_eq!(explain(otherwise).mentioned, None);
        let row = [sentences[0], sentences[1], conditions[i]];
        assert_eq!(
            block_on(lens.compare_rows([row])).unwrap().mentioned,
            [told]
        );
    }
    // A text by itself mentions nothing, and without the layer nothing is told.
    let plain = block_on(lens.embed(&[(sentences[0], None)])).unwrap();
    assert_eq!(plain.mentioned, [None]);
    let without = shipped_with(|head| head.mentioned = None);
    let without = block_on(without.compare(sentences[0], sentences[1], &conditions)).unwrap();
    assert_eq!(without[0].mentioned, None);
    assert!(
        !serde_json::to_string(&without)
            .unwrap()
            .contains("mentioned")
    );
}

/// Against scikit-learn's LogisticRegression and roc_auc_score.
#[test]
fn mentions_are_fitted_as_scikit_learn_fits_them() {
    let fixture = common::json("mentioned.json");
    let rows: Vec<Vec<f32>> = serde_json::from_value(fixture["x"].clone()).unwrap();
    let truths: Vec<bool> = serde_json::from_value(fixture["y"].clone()).unwrap();
    let number = |key: &str| fixture[key].as_f64().unwrap();
    let fitted = fit(&rows, &truths, number("l2")).unwrap();
    let weight: Vec<f32> = serde_json::from_value(fixture["weight"].clone()).unwrap();
    for (got, want) in fitted.weight.iter().zip(&weight) {
        assert!((got - want).abs() < 2e-4, "{got} {want}");
    }
    assert!((f64::from(fitted.bias) - number("bias")).abs() < 2e-4);
    let probabilities: Vec<f32> = rows.iter().map(|row| fitted.probability(row)).collect();
    let scores: Vec<f64> = probabilities.iter().map(|&p| f64::from(p)).collect();
    assert!((auc(&scores, &truths) - number("auc")).abs() < 1e-9);
    let told = |threshold: f32| {
        let above = |kind: bool| {
            let of = probabilities
                .iter()
                .zip(&truths)
                .filter(|(_, t)| **t == kind);
            let of: Vec<_> = of
                .map(|(p, _)| f64::from(u8::from(*p >= threshold)))
                .collect();
            of.iter().sum::<f64>() / of.len() as f64
        };
        above(true) - above(false)
    };
    assert!((told(fitted.threshold) - number("youden")).abs() < 1e-9);
    assert_eq!(fitted.threshold, threshold(&probabilities, &truths));
    let error = fit(&rows, &vec![true; rows.len()], 1.0).unwrap_err();
    assert_eq!(error.code(), "invalid-argument");
}

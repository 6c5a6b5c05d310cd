//! What the annotators of C-STS were told of conditions (Deshpande et al., 2023, figure 7), as far as words alone show whether a
//! condition keeps to it.
//!
//! The rules look for the paper's own kinds of mistakes in English. They leave alone what they cannot tell, so that a condition
//! without a finding need not be a good one. Whether a sentence says anything about a condition (guideline 2) takes a model, and
//! is not told here.

use serde::Serialize;

/// The paper's guidelines for conditions, by its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guideline {
    /// Conditions are grammatical phrases.
    Grammatical = 1,
    /// They ask for nothing that is missing in a sentence.
    NothingMissing = 2,
    /// They name an attribute and not its value: "the colour", and not "the colour is green".
    NoValue = 3,
    /// They do not speak of "the sentence".
    NoSentence = 4,
    /// They narrow an aspect down: "the sport", and not "the activity".
    NotVague = 5,
    /// They ask for what is abstract where they can: "the mood of the people", and not their number.
    Abstract = 6,
}

impl Guideline {
    /// The paper's number.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// What a condition is that does not keep to it, in a word.
    pub fn missed(self) -> &'static str {
        match self {
            Self::Grammatical => "ungrammatical",
            Self::NothingMissing => "missing",
            Self::NoValue => "value",
            Self::NoSentence => "sentence",
            Self::NotVague => "vague",
            Self::Abstract => "literal",
        }
    }

    /// What it asks for, in a few words.
    pub fn asks(self) -> &'static str {
        match self {
            Self::Grammatical => "a grammatical phrase",
            Self::NothingMissing => "nothing that a sentence does not say",
            Self::NoValue => "an attribute and not its value",
            Self::NoSentence => "no word of \"sentences\"",
            Self::NotVague => "one aspect, named precisely",
            Self::Abstract => "something abstract, where there is a choice",
        }
    }
}

impl Serialize for Guideline {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_u8(self.number())
    }
}

/// What a condition does not keep to, and why it seems so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Which of the guidelines.
    pub guideline: Guideline,
    /// Why, for people.
    pub reason: String,
}

const COPULAS: &str = "is are was were being";
/// What may stand between a copula and a value.
const BETWEEN: &str = "a an the very quite all both not";
/// Words that a phrase does not end with.
const OPEN: &str =
    "a an the of and or to with for from his her their its this that's these is are was were by";
/// Words for the texts that are compared.
const TEXTS: &str = "sentence sentences sentence's caption captions statements";
/// What names no aspect, by itself.
const VAGUE: &str = "action actions activities activity aspect content context description detail details difference event events \
    feature features idea information item items meaning object objects people person scenario scene similarity \
    situation story subject subjects theme thing things topic what";
/// Values of attributes that people write about: colours, sizes, numbers, ages, moods, weather, directions.
const VALUES: &str = "black white red green blue yellow orange purple pink brown grey gray dark bright light big large small little \
    tiny huge tall short long wide narrow high low deep heavy thick thin zero one two three four five six seven \
    eight nine ten many several few single multiple plural singular old young new elderly male female happy sad \
    angry calm excited scared tired bored serious playful friendly fast slow quick still sunny rainy snowy cloudy \
    windy hot cold warm wet dry indoors outdoors inside outside open closed full empty same different";

/// The words of a condition, lower-cased and without marks around them.
fn words(condition: &str) -> Vec<String> {
    let word = |word: &str| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        bare.replace('’', "'").to_lowercase()
    };
    let all = condition.split_whitespace().map(word);
    all.filter(|word| !word.is_empty()).collect()
}

/// Whether a word is one of a list.
fn among(list: &str, word: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

fn is_value(word: &str) -> bool {
    among(VALUES, word) || word.parse::<f64>().is_ok()
}

/// What a condition does not keep to, at most once a guideline, in their order.
pub fn findings(condition: &str) -> Vec<Finding> {
    let words = words(condition);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    [
        (Guideline::Grammatical, grammatical(&words)),
        (Guideline::NoValue, no_value(&words)),
        (Guideline::NoSentence, no_sentence(&words)),
        (Guideline::NotVague, not_vague(&words)),
        (Guideline::Abstract, literal(&words)),
    ]
    .into_iter()
    .filter_map(|(guideline, reason)| {
        let reason = reason?;
        Some(Finding { guideline, reason })
    })
    .collect()
}

fn grammatical(words: &[&str]) -> Option<String> {
    let Some(last) = words.last() else {
        return Some("it holds no word".into());
    };
    let twice = words.windows(2).find(|two| two[0] == two[1]);
    match twice {
        Some(two) => Some(format!("\"{}\" stands there twice", two[0])),
        None if among(OPEN, last) => {
            Some(format!("it ends with \"{last}\", which wants another word"))
        }
        None => None,
    }
}

fn no_value(words: &[&str]) -> Option<String> {
    if let ["there", "is" | "are" | "was" | "were", ..] = words {
        return Some("it says what there is".into());
    }
    let (&last, before) = words.split_last()?;
    if !is_value(last) {
        return None;
    }
    let before: Vec<&str> = before
        .iter()
        .rev()
        .copied()
        .skip_while(|word| among(BETWEEN, word))
        .collect();
    match before.first() {
        None => Some(format!("\"{last}\" is a value")),
        Some(word) if among(COPULAS, word) => {
            Some(format!("it says that something {word} \"{last}\", a value"))
        }
        Some(_) => None,
    }
}

fn no_sentence(words: &[&str]) -> Option<String> {
    let found = words
        .iter()
        .find(|word| among(TEXTS, word) || matches!(**word, "s1" | "s2"));
    found.map(|word| format!("it speaks of \"{word}\""))
}

fn not_vague(words: &[&str]) -> Option<String> {
    let own: Vec<_> = words
        .iter()
        .filter(|word| !matches!(**word, "the" | "a" | "an" | "main" | "overall"))
        .collect();
    match own[..] {
        [word] if among(VAGUE, word) => Some(format!("\"{word}\" by itself narrows nothing down")),
        _ => None,
    }
}

fn literal(words: &[&str]) -> Option<String> {
    let counts = match words {
        ["the", rest @ ..] => rest,
        all => all,
    };
    match counts {
        ["number" | "count" | "amount" | "quantity", "of", ..] | ["how", "many", ..] => {
            Some("it counts, which is valid, and literal".into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(condition: &str) -> Vec<u8> {
        findings(condition)
            .iter()
            .map(|f| f.guideline.number())
            .collect()
    }

    #[test]
    fn the_papers_bad_examples_are_found() {
        for (condition, guideline) in [
            ("The color is green.", 3),
            ("The size of the object is large.", 3),
            ("The instrument in the sentence.", 4),
            ("the color in the sentence", 4),
            ("The activity.", 5),
            ("The number of people.", 6),
            ("there are two dogs", 3),
            ("The number of dogs is 2", 3),
            ("The mood of the men is very happy", 3),
            ("green", 3),
            ("The color of the", 1),
            ("the the color", 1),
            ("…", 1),
            ("Caption’s mood in the sentences", 4),
        ] {
            assert!(
                numbers(condition).contains(&guideline),
                "{condition}: {:?}",
                findings(condition)
            );
        }
    }

    #[test]
    fn its_good_examples_are_left_alone() {
        for condition in [
            "The color of the fruit",
            "The color of the object.",
            "The speed of the cyclists.",
            "The game being played.",
            "The way the object is propelled",
            "The base of the object",
            "The surface the objects are on",
            "The sentiment of the people.",
            "The people’s demeanor",
            "The arrangement of objects",
            "The occupation of the man",
            "The type of construction",
            "what the man is doing",
            "The culture involved.",
            "whether it is outside of the city",
            "the place where the people are sitting",
        ] {
            assert_eq!(numbers(condition), [0u8; 0], "{condition}");
        }
    }

    #[test]
    fn a_finding_is_its_number_in_json() {
        let json = serde_json::to_string(&findings("The activity.")).unwrap();
        assert_eq!(
            json,
            r#"[{"guideline":5,"reason":"\"activity\" by itself narrows nothing down"}]"#
        );
        assert_eq!(Guideline::NothingMissing.number(), 2);
    }
}

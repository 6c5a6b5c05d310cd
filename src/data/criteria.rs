//! Whether two sentences are a pair to ask about: the criteria by which C-STS chose among pairs of captions (Deshpande et al., 2023,
//! appendix A.2, table 6). What is very alike or very unlike leaves nothing for a condition to decide.

use std::{
    collections::{BTreeSet, HashSet},
    sync::LazyLock,
};

use serde::Serialize;

/// NLTK's English words, which carry nothing that sentences could share.
static STOP_WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let words = stop_words::lookup("en").unwrap_or_default();
    words.iter().copied().collect()
});

/// What a sentence pair is judged by.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Measures {
    /// Words that both sentences have, stop words aside, among those that either has (the paper's IOU): 0 to 1.
    pub overlap: f64,
    /// Words of the shorter sentence for each of the longer one: 0 to 1.
    pub ratio: f64,
    /// Characters of the shorter sentence.
    pub length: usize,
    /// Cosine of the sentences' embeddings by themselves (the paper's d_text).
    pub similarity: f64,
}

impl Measures {
    /// Of two sentences whose embeddings have this cosine.
    pub fn of([first, second]: [&str; 2], similarity: f64) -> Self {
        let (a, b) = (content_words(first), content_words(second));
        let either = a.union(&b).count().max(1);
        let counts = [first, second].map(|text| text.split_whitespace().count());
        let longer = counts[0].max(counts[1]).max(1);
        Self {
            overlap: a.intersection(&b).count() as f64 / either as f64,
            ratio: counts[0].min(counts[1]) as f64 / longer as f64,
            length: first.chars().count().min(second.chars().count()),
            similarity,
        }
    }
}

/// The distinct words of a sentence without stop words, in small letters.
fn content_words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words
        .map(|word| word.trim_matches('\'').to_lowercase())
        .filter(|word| !word.is_empty() && !STOP_WORDS.contains(word.as_str()))
        .collect()
}

/// By which captions a pair is judged: table 6 has two columns, which differ in overlap and length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Criteria {
    /// overlap at most 0.12, shorter sentence of 50 characters or more
    Coco,
    /// overlap at most 0.2, shorter sentence of 48 characters or more
    Flickr30k,
}

impl Criteria {
    /// Of both columns.
    const RATIO: f64 = 0.7;
    /// Of both columns. The appendix calls it a distance; Section 2.2.1 keeps sentences of moderate or high *similarity*, and
    /// only so is the bound below a bound on what is too unlike.
    const SIMILARITY: f64 = 0.4;

    fn overlap(self) -> f64 {
        match self {
            Self::Coco => 0.12,
            Self::Flickr30k => 0.2,
        }
    }

    fn length(self) -> usize {
        match self {
            Self::Coco => 50,
            Self::Flickr30k => 48,
        }
    }

    /// Why a pair would have been left out, in words: nothing where it keeps to all criteria.
    pub fn violated(self, of: &Measures) -> Vec<String> {
        let (overlap, length) = (self.overlap(), self.length());
        let reasons = [
            (of.overlap > overlap).then(|| {
                let share = of.overlap;
                format!("{share:.2} of their words are the same, more than {overlap}")
            }),
            (of.similarity < Self::SIMILARITY).then(|| {
                let (similarity, least) = (of.similarity, Self::SIMILARITY);
                format!("their similarity is {similarity:.2}, below {least}")
            }),
            (of.ratio < Self::RATIO).then(|| {
                let (ratio, least) = (of.ratio, Self::RATIO);
                format!("one has {ratio:.2} of the other's words, less than {least}")
            }),
            (of.length < length).then(|| {
                let characters = of.length;
                format!("the shorter has {characters} characters, fewer than {length}")
            }),
        ];
        reasons.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_judged_by_each_criterion() {
        let pair = [
            "A large green ball was bouncing on the wet street today.",
            "I bought a small green avocado at the market on a corner.",
        ];
        let measures = Measures::of(pair, 0.5);
        // green, of large, green, ball, bouncing, wet, street, today, bought, small, avocado, market, corner.
        assert!(
            (measures.overlap - 1.0 / 12.0).abs() < 1e-12,
            "{measures:?}"
        );
        assert!((measures.ratio - 11.0 / 12.0).abs() < 1e-12);
        assert_eq!(measures.length, 56);
        assert_eq!(Criteria::Coco.violated(&measures), [""; 0]);
        let changed = [
            (
                Measures {
                    overlap: 0.15,
                    ..measures
                },
                "more than 0.12",
            ),
            (
                Measures {
                    similarity: 0.39,
                    ..measures
                },
                "below 0.4",
            ),
            (
                Measures {
                    ratio: 0.69,
                    ..measures
                },
                "less than 0.7",
            ),
            (
                Measures {
                    length: 49,
                    ..measures
                },
                "fewer than 50",
            ),
        ];
        for (measures, words) in changed {
            let reasons = Criteria::Coco.violated(&measures);
            assert!(
                reasons.len() == 1 && reasons[0].contains(words),
                "{reasons:?}"
            );
        }
        let between = Measures {
            overlap: 0.15,
            length: 49,
            ..measures
        };
        assert_eq!(Criteria::Flickr30k.violated(&between), [""; 0]);
    }

    #[test]
    fn what_has_no_words_shares_none() {
        let measures = Measures::of(["The", "it is"], 1.0);
        assert_eq!((measures.overlap, measures.ratio), (0.0, 0.5));
        assert_eq!(Measures::of(["", ""], 1.0).ratio, 0.0);
    }
}

//! Ratings that a language model wrote, read from its words (Deshpande et al., 2023, appendix A.3).

use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde::Serialize;

use super::metrics::Scores;
use crate::data::dataset::Pair;

/// The scale of ratings.
const SCALE: std::ops::RangeInclusive<f64> = 1.0..=5.0;

/// How a number is found in what a model wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Parser {
    /// the first number, as the authors' program: 4.5/5 is 4.5
    #[default]
    First,
    /// what is left without all that is no digit or point, as the paper says: 4.5/5 is 4.55
    Stripped,
}

impl Parser {
    /// The number; `None` where there is none, and the answer is invalid.
    pub fn number(self, answer: &str) -> Option<f64> {
        let digits = match self {
            Self::First => first(answer).to_owned(),
            Self::Stripped => {
                let kept = |c: &char| c.is_ascii_digit() || *c == '.';
                answer
                    .chars()
                    .filter(kept)
                    .collect::<String>()
                    .trim_matches('.')
                    .to_owned()
            }
        };
        digits
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
    }
}

/// The first digits, with a point and more digits where those follow.
fn first(text: &str) -> &str {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let Some(start) = text.find(|c: char| c.is_ascii_digit()) else {
        return "";
    };
    let text = &text[start..];
    let whole = digits(text);
    let fraction = text[whole..].strip_prefix('.').map_or(0, digits);
    match fraction {
        0 => &text[..whole],
        fraction => &text[..whole + 1 + fraction],
    }
}

/// How well a model's answers agree with ratings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answered {
    /// Of the numbers, those of invalid answers drawn.
    #[serde(flatten)]
    pub scores: Scores,
    /// Rows.
    pub rows: usize,
    /// Answers in which there is no number.
    pub invalid: usize,
    /// Numbers that are not on the scale from 1 to 5; they count as they are.
    pub out_of_range: usize,
}

impl Answered {
    /// The figures of `answers` against `ratings`, row by row. In the place of an invalid answer stands a number drawn evenly from
    /// 1 to 5, as in the paper; `seed` decides which.
    pub fn of(
        answers: &[String],
        ratings: &[f64],
        pairs: &[Pair],
        parser: Parser,
        seed: u64,
    ) -> Self {
        let numbers: Vec<_> = answers.iter().map(|answer| parser.number(answer)).collect();
        let mut rng = StdRng::seed_from_u64(seed);
        let counted: Vec<f64> = (numbers.iter())
            .map(|number| number.unwrap_or_else(|| rng.random_range(SCALE)))
            .collect();
        let out_of_range = numbers.iter().flatten().filter(|n| !SCALE.contains(n));
        Self {
            scores: Scores::of(&counted, ratings, pairs),
            rows: answers.len(),
            invalid: numbers.iter().filter(|number| number.is_none()).count(),
            out_of_range: out_of_range.count(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_the_authors_and_the_paper_read_them() {
        for (answer, found, stripped) in [
            ("The Answer is 2.0.", Some(2.0), Some(2.0)),
            ("4", Some(4.0), Some(4.0)),
            ("4.5/5", Some(4.5), Some(4.55)),
            ("3.\nInput: 1", Some(3.0), Some(3.1)),
            ("1.2.3", Some(1.2), None),
            ("-2", Some(2.0), Some(2.0)),
            ("five", None, None),
            ("", None, None),
            ("...", None, None),
            ("10", Some(10.0), Some(10.0)),
        ] {
            assert_eq!(Parser::First.number(answer), found, "{answer}");
            assert_eq!(Parser::Stripped.number(answer), stripped, "{answer}");
        }
        assert_eq!(Parser::First.number(&"9".repeat(400)), None);
    }

    #[test]
    fn invalid_answers_are_counted_and_drawn() {
        let answers = ["4.0", "no idea", "7", "1"].map(String::from);
        let ratings = [5.0, 3.0, 4.0, 1.0];
        let of = |seed| Answered::of(&answers, &ratings, &[(0, 3)], Parser::First, seed);
        let answered = of(3);
        assert_eq!(
            (answered.rows, answered.invalid, answered.out_of_range),
            (4, 1, 1)
        );
        assert_eq!(answered.scores.accuracy, 1.0);
        assert_eq!(of(3), answered);
        assert!((1..50).any(|seed| of(seed) != answered));
    }
}

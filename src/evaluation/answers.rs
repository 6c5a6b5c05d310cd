//! Answers as training data: what a sentence says about a condition, in a few words.
//!
//! Under a condition a sentence is to be embedded as its answer to it: "two dogs run on a beach" under "the place"
//! as "by the sea". A rating says no more than how far two sentences' answers are apart; the answers say
//! what they are. (Systems that let a large language model write answers first compare those; here
//! the encoder learns to find them by itself.)

use std::collections::HashSet;

use super::dataset::{Dataset, Row};

/// The shortest word that two answers are taken to be alike by.
const WORD: usize = 4;

/// `data`, and for each sentence of a pair with answers a group more, which compares the sentence
///
/// - with its own answer under the answer's condition: 5;
/// - with the same answer under another condition of the pair, whose answer shares no word with it: 1;
/// - with the other sentence's answer under its condition: the pair's rating.
pub fn with_answers(mut data: Dataset) -> Dataset {
    let pairs = data.groups.clone();
    for pair in pairs {
        for side in 0..2 {
            let start = data.rows.len();
            let rows = asked(&data.rows[pair.clone()], side);
            data.rows.extend(rows);
            if data.rows.len() > start {
                data.groups.push(start..data.rows.len());
            }
        }
    }
    data
}

/// The rows of one sentence of a pair and the answers to the pair's conditions.
fn asked(pair: &[Row], side: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for (i, row) in pair.iter().enumerate() {
        let sentence = [&row.sentence1, &row.sentence2][side];
        let compared = |answer: &str, condition: &str, rating| Row {
            sentence1: sentence.clone(),
            sentence2: answer.to_owned(),
            condition: condition.to_owned(),
            rating,
            answers: Default::default(),
        };
        let [own, other] = [&row.answers[side], &row.answers[1 - side]];
        if !own.is_empty() {
            rows.push(compared(own, &row.condition, 5.0));
            // The next conditions first: each is then another one's about as often.
            let others = pair[i + 1..].iter().chain(&pair[..i]);
            let elsewhere = others
                .filter(|r| !r.answers[side].is_empty())
                .find(|r| !alike(&r.answers[side], own) && !alike(&r.condition, &row.condition));
            rows.extend(elsewhere.map(|r| compared(own, &r.condition, 1.0)));
        }
        if !other.is_empty() {
            rows.push(compared(other, &row.condition, row.rating));
        }
    }
    rows
}

/// Whether two texts share a word, or are the same.
fn alike(a: &str, b: &str) -> bool {
    fn words(text: &str) -> HashSet<String> {
        text.split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.chars().count() >= WORD)
            .map(str::to_lowercase)
            .collect()
    }
    a == b || !words(a).is_disjoint(&words(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_compared_with_answers() {
        let csv = "sentence1,sentence2,condition,label,answer1,answer2
a dog runs by the sea,cats sleep on a sofa,the place,1.5,on a beach,indoors
a dog runs by the sea,cats sleep on a sofa,the animal,2,one dog,
a dog runs by the sea,cats sleep on a sofa,the animal's place,1.5,at the beach,on furniture
a dog runs by the sea,cats sleep on a sofa,the mood,3,,
a bird,a fish,the animal,2,,
";
        let data = Dataset::from_reader("d.csv", csv.as_bytes(), None).unwrap();
        let more = with_answers(data.clone());
        assert_eq!(more.rows[..data.rows.len()], data.rows);
        assert_eq!((&more.pairs, &more.kept), (&data.pairs, &data.kept));
        assert_eq!(more.groups, [0..4, 4..5, 5..12, 12..17]);
        let texts = |row: &Row| {
            let [sentence, answer, condition] = row.texts().map(str::to_owned);
            (sentence, answer, condition, row.rating)
        };
        let of = |sentence: &str, rows: &[(&str, &str, f32)]| -> Vec<_> {
            rows.iter()
                .map(|&(a, c, r)| (sentence.to_owned(), a.to_owned(), c.to_owned(), r))
                .collect()
        };
        let first = of(
            "a dog runs by the sea",
            &[
                ("on a beach", "the place", 5.0),
                ("on a beach", "the animal", 1.0),
                ("indoors", "the place", 1.5),
                ("one dog", "the animal", 5.0),
                // "the animal's place" shares its word; "the place" does not.
                ("one dog", "the place", 1.0),
                ("at the beach", "the animal's place", 5.0),
                ("on furniture", "the animal's place", 1.5),
            ],
        );
        assert_eq!(
            more.rows[5..12].iter().map(texts).collect::<Vec<_>>(),
            first
        );
        let second = of(
            "cats sleep on a sofa",
            &[
                ("indoors", "the place", 5.0),
                ("on a beach", "the place", 1.5),
                ("one dog", "the animal", 2.0),
                ("on furniture", "the animal's place", 5.0),
                ("at the beach", "the animal's place", 1.5),
            ],
        );
        // Both conditions that this sentence answers are about a place.
        assert_eq!(
            more.rows[12..].iter().map(texts).collect::<Vec<_>>(),
            second
        );
        assert_eq!(
            with_answers(data.subset(&[false, false, false, true, true]))
                .rows
                .len(),
            2
        );
    }
}

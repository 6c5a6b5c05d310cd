//! Answers as training data: what a sentence says about a condition, in a few words.
//!
//! Under a condition a sentence is to be embedded as its answer to it: "two dogs run on a beach" under "the place"
//! as "by the sea". A rating says no more than how far two sentences' answers are apart; the answers say
//! what they are. (Systems that let a large language model write answers first compare those; here
//! the encoder learns to find them by itself.)

use super::dataset::{Dataset, Row};

/// `data`, and for each sentence of a pair with answers a group more, which compares the sentence
///
/// - with its own answers, each under its condition: 5;
/// - with those of the other sentence: the pair's rating under that condition.
///
/// An answer under another condition than its own would be told apart by its kind alone, without a look at the sentence:
/// rows of that sort, rated 1, were measured to do harm.
pub fn with_answers(mut data: Dataset) -> Dataset {
    for pair in &data.groups {
        for side in 0..2 {
            let start = data.rows.len();
            let rows = asked(&data.rows[pair.clone()], side);
            data.rows.extend(rows);
            if data.rows.len() > start {
                data.asked.push(start..data.rows.len());
            }
        }
    }
    data
}

/// The rows of one sentence of a pair and the answers to the pair's conditions.
fn asked(pair: &[Row], side: usize) -> Vec<Row> {
    let compared = |row: &Row, answer: &str, rating| Row {
        sentence1: [&row.sentence1, &row.sentence2][side].clone(),
        sentence2: answer.to_owned(),
        condition: row.condition.clone(),
        rating,
        answers: Default::default(),
    };
    let mut rows = Vec::new();
    for row in pair {
        let [own, other] = [&row.answers[side], &row.answers[1 - side]];
        for (answer, rating) in [(own, 5.0), (other, row.rating)] {
            if !answer.trim().is_empty() {
                rows.push(compared(row, answer, rating));
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::columns::Columns;

    #[test]
    fn sentences_are_compared_with_answers() {
        let csv = "sentence1,sentence2,condition,label,answer1,answer2
a dog runs by the sea,cats sleep on a sofa,the place,1.5,on a beach,indoors
a dog runs by the sea,cats sleep on a sofa,the animal,2,one dog,
a dog runs by the sea,cats sleep on a sofa,the mood,3,, 
a bird,a fish,the animal,2,,
";
        let data = Dataset::from_columns("d.csv", &Columns::of_csv(csv)).unwrap();
        let more = with_answers(data.clone());
        assert_eq!(more.rows[..data.rows.len()], data.rows);
        assert_eq!((&more.pairs, &more.groups), (&data.pairs, &data.groups));
        assert_eq!(more.asked, [4..7, 7..10]);
        let rows: Vec<_> = more.rows[4..]
            .iter()
            .map(|r| (r.texts(), r.rating))
            .collect();
        let (dog, cats) = ("a dog runs by the sea", "cats sleep on a sofa");
        assert_eq!(
            rows,
            [
                ([dog, "on a beach", "the place"], 5.0),
                ([dog, "indoors", "the place"], 1.5),
                ([dog, "one dog", "the animal"], 5.0),
                ([cats, "indoors", "the place"], 5.0),
                ([cats, "on a beach", "the place"], 1.5),
                ([cats, "one dog", "the animal"], 2.0),
            ]
        );
        // They stay together where rows go or come.
        let keep: Vec<bool> = (0..10).map(|row| row != 3 && row != 5).collect();
        let mut some = more.subset(&keep);
        assert_eq!(some.groups.first(), Some(&(0..3)));
        assert_eq!(some.asked, [3..5, 5..8]);
        some.append(more);
        assert_eq!(some.asked, [3..5, 5..8, 12..15, 15..18]);
    }
}

//! Answers as training data: what a sentence says about a condition, in a few words.
//!
//! Under a condition a sentence is to be embedded as its answer to it: "two dogs run on a beach" under "the place"
//! as "by the sea". A rating says no more than how far two sentences' answers are apart; the answers say
//! what they are. (Systems that let a large language model write answers first compare those; here
//! the encoder learns to find them by itself.)

use std::collections::HashSet;

use super::dataset::{Dataset, Draw, Group, Row};

/// `data`, and for each group with answers more groups, each of which compares sentences
///
/// - with their own answers, each under its condition: 5;
/// - with the other sentence's of a pair: the pair's rating under that condition.
///
/// A pair makes a group a sentence, a set one for all of its texts; of each an epoch reads as many conditions as
/// [`Draw::answers`] says.
///
/// An answer under another condition than its own would be told apart by its kind alone, without a look at the sentence:
/// rows of that sort, rated 1, were measured to do harm.
pub fn with_answers(mut data: Dataset) -> Dataset {
    for group in data.groups.clone() {
        if group.draw.answers == 0 {
            continue;
        }
        let rows = &data.rows[group.rows.clone()];
        let one_pair = rows.windows(2).all(|two| two[0].same_sentences(&two[1]));
        let asked = match one_pair {
            true => (0..2).map(|side| asked(rows, &[side])).collect(),
            false => vec![asked(rows, &[0, 1])],
        };
        for rows in asked {
            let start = data.rows.len();
            data.rows.extend(rows);
            if data.rows.len() > start {
                data.groups.push(Group {
                    rows: start..data.rows.len(),
                    draw: Draw {
                        conditions: group.draw.answers,
                        answers: 0,
                        times: group.draw.times,
                    },
                });
            }
        }
    }
    data
}

/// The rows that compare the first or second sentences, or both, with the answers under their conditions; none twice.
fn asked(rows: &[Row], sides: &[usize]) -> Vec<Row> {
    let mut out = Vec::new();
    let mut seen = HashSet::new();
    for row in rows {
        for &side in sides {
            let sentence = [&row.sentence1, &row.sentence2][side];
            let [own, other] = [&row.answers[side], &row.answers[1 - side]];
            for (answer, rating) in [(own, 5.0), (other, row.rating)] {
                if !answer.trim().is_empty() && seen.insert((sentence, answer, &row.condition)) {
                    out.push(Row {
                        sentence1: sentence.clone(),
                        sentence2: answer.clone(),
                        condition: row.condition.clone(),
                        rating,
                        answers: Default::default(),
                    });
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::columns::Columns;

    fn asking(answers: usize) -> Draw {
        Draw {
            answers,
            ..Draw::default()
        }
    }

    #[test]
    fn sentences_are_compared_with_answers() {
        let csv = "sentence1,sentence2,condition,label,answer1,answer2
a dog runs by the sea,cats sleep on a sofa,the place,1.5,on a beach,indoors
a dog runs by the sea,cats sleep on a sofa,the animal,2,one dog,
a dog runs by the sea,cats sleep on a sofa,the mood,3,, 
a bird,a fish,the animal,2,,
";
        let data = Dataset::from_columns("d.csv", &Columns::of_csv(csv)).unwrap();
        let data = data.drawn(asking(1));
        let groups = |data: &Dataset| -> Vec<_> {
            let groups = data.groups.iter();
            groups
                .map(|g| (g.rows.clone(), g.draw.conditions))
                .collect()
        };
        const ALL: usize = usize::MAX;
        let more = with_answers(data.clone());
        assert_eq!(more.rows[..data.rows.len()], data.rows);
        assert_eq!(more.pairs, data.pairs);
        assert_eq!(
            groups(&more),
            [(0..3, ALL), (3..4, ALL), (4..7, 1), (7..10, 1)]
        );
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
        let kept = [(0..3, ALL), (3..5, 1), (5..8, 1)];
        assert_eq!(groups(&some), kept);
        some.append(more);
        assert_eq!(groups(&some)[..3], kept);
        assert_eq!(groups(&some)[5..], [(12..15, 1), (15..18, 1)]);
    }

    #[test]
    fn texts_of_a_set_are_compared_with_each_of_its_answers_once() {
        let csv = "set,sentence1,sentence2,condition,label,answer1,answer2
1,won!,lost.,the mood,1,joy,grief
1,won!,hooray,the mood,5,joy,joy
1,lost.,hooray,the mood,1,grief,joy
";
        let data = Dataset::from_columns("d.csv", &Columns::of_csv(csv)).unwrap();
        let more = with_answers(data.drawn(asking(3)));
        assert_eq!(more.groups.len(), 2);
        let asked = more.groups[1].rows.clone();
        let mut rows: Vec<_> = more.rows[asked]
            .iter()
            .map(|r| (r.sentence1.as_str(), r.sentence2.as_str(), r.rating))
            .collect();
        rows.sort_by(|a, b| a.partial_cmp(b).unwrap());
        assert_eq!(
            rows,
            [
                ("hooray", "grief", 1.0),
                ("hooray", "joy", 5.0),
                ("lost.", "grief", 5.0),
                ("lost.", "joy", 1.0),
                ("won!", "grief", 1.0),
                ("won!", "joy", 5.0),
            ]
        );
    }
}

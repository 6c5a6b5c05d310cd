//! Long texts under a condition: part by part, each weighed by what it says.

use crate::common::shipped_with;
use caselens::{
    Lens,
    head::Mentioned,
    lens::{Question, explain::Switches, reading::Part},
    similarity::cosine,
};
use pollster::block_on;

/// Each is a part: more than a dozen tokens, and not a few dozen.
const SENTENCES: [&str; 4] = [
    "We stayed at the little hotel by the harbour for four nights in early June.",
    "The lady at the desk was so rude that our daughter began to cry (\"oh no!\").",
    "Our room had a balcony, two soft beds and a view over all of the boats.",
    "Nobody could tell us why the lift had been out of order since the spring.",
];
const CONDITION: &str = "the opinion of the staff";

/// What ships, with a head that tells the sentence of the staff from the others.
fn lens() -> Lens {
    let items = SENTENCES.map(|sentence| (sentence, Some(CONDITION)));
    let whole = shipped_with(|head| head.mentioned = None);
    let vectors = block_on(whole.embed(&items)).unwrap().vectors;
    let to_staff = |row: &Vec<f32>| cosine(row, &vectors[1]);
    let others = vectors[2..]
        .iter()
        .map(to_staff)
        .fold(to_staff(&vectors[0]), f32::max);
    let steep = 2.0 / (1.0 - others);
    let mentioned = Mentioned {
        weight: vectors[1].iter().map(|x| steep * x).collect(),
        bias: -steep * (1.0 + others) / 2.0,
        threshold: 0.5,
    };
    shipped_with(|head| head.mentioned = Some(mentioned))
}

#[test]
fn a_long_text_is_the_mean_of_its_parts_by_what_each_says() {
    let lens = lens();
    let long = SENTENCES.join(" ");
    let mut items = vec![(long.as_str(), Some(CONDITION)), (long.as_str(), None)];
    items.extend(SENTENCES.map(|sentence| (sentence, Some(CONDITION))));
    let embedded = block_on(lens.embed(&items)).unwrap();
    let said: Vec<f32> = embedded.mentioned[2..].iter().map(|p| p.unwrap()).collect();
    // Parts that say much and parts that say little.
    assert!(
        said.iter().any(|p| *p > 0.6) && said.iter().any(|p| *p < 0.4),
        "{said:?}"
    );
    let mut mean = vec![0.0; lens.dims()];
    for (row, p) in embedded.vectors[2..].iter().zip(&said) {
        let sum = mean.iter_mut().zip(row);
        sum.for_each(|(x, y)| *x += p.powi(8) * y);
    }
    let length = mean.iter().map(|x| x * x).sum::<f32>().sqrt();
    let worst = embedded.vectors[0]
        .iter()
        .zip(&mean)
        .map(|(x, y)| (x - y / length).abs());
    assert!(
        worst.clone().fold(0.0, f32::max) < 1e-6,
        "{:?}",
        worst.collect::<Vec<_>>()
    );
    let most = said.iter().copied().fold(0.0, f32::max);
    assert!((embedded.mentioned[0].unwrap() - most).abs() < 1e-6);
    assert_eq!(embedded.mentioned[1], None);

    // A text by itself is read whole, and so is any text where nothing tells what is mentioned.
    let whole = shipped_with(|head| head.mentioned = None);
    let whole = block_on(whole.embed(&items[..2])).unwrap();
    assert_eq!(whole.vectors[1], embedded.vectors[1]);
    assert!(cosine(&whole.vectors[0], &embedded.vectors[0]) < 0.99);
}

#[test]
fn comparisons_and_explanations_of_long_texts_agree() {
    let lens = lens();
    let long = SENTENCES.join(" ");
    let sentences = [long.as_str(), "The staff could not have been kinder."];
    let question = Question {
        sentences,
        conditions: &["the place", CONDITION],
        first: 0,
        unconditional: None,
        attention: true,
    };
    let compared = block_on(lens.answer(&question)).unwrap();
    let embedded = sentences.map(|sentence| (sentence, Some(CONDITION)));
    let embedded = block_on(lens.embed(&embedded)).unwrap();
    let [first, second] = &embedded.vectors[..] else {
        unreachable!()
    };
    assert!((compared[1].similarity - cosine(first, second)).abs() < 1e-6);
    let explained =
        block_on(lens.explain(sentences, Some(CONDITION), Switches::default())).unwrap();
    assert!((explained.similarity - compared[1].similarity).abs() < 1e-6);
    assert_eq!(explained.mentioned, compared[1].mentioned);
    assert_eq!(
        compared[1].mentioned,
        Some([0, 1].map(|i| embedded.mentioned[i].unwrap()))
    );
    let last = &explained.steps[explained.steps.len() - 1];
    assert!((cosine(&last.vectors[0], first) - 1.0).abs() < 1e-6);
    // Asked for something else, what tells mentions does not apply: the text is read whole.
    let other = Switches {
        subtract: Some(true),
        ..Switches::default()
    };
    let other = block_on(lens.explain(sentences, Some(CONDITION), other)).unwrap();
    assert_eq!(other.mentioned, None);

    let readings = compared[1].readings.as_ref().unwrap();
    for readings in [&explained.readings, readings, &other.readings] {
        let [reading] = &readings[0][..] else {
            unreachable!()
        };
        // All of the text, once and in order, and the condition once.
        let spans = |of: Part| {
            reading
                .tokens
                .iter()
                .filter(move |token| token.part == of)
                .map(|token| token.span.clone())
        };
        let text: String = spans(Part::Sentence).map(|span| &long[span]).collect();
        assert_eq!(text, long.replace(' ', ""));
        assert!(spans(Part::Sentence).is_sorted_by_key(|span| span.start));
        let condition: String = spans(Part::Condition)
            .map(|span| &CONDITION[span])
            .collect();
        assert_eq!(condition, CONDITION.replace(' ', ""));
        for row in reading.attention.iter().flatten() {
            assert_eq!(row.len(), reading.tokens.len());
            assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-4);
        }
        assert!(!reading.attention.is_empty());
    }
    // Attention goes where the text speaks of it, not only to its first part.
    let reading = &readings[0][0];
    let row = &reading.attention[0][0];
    assert!(row[row.len() - 4..].iter().all(|x| *x > 0.0));
}

#[test]
fn nothing_of_a_very_long_text_is_cut() {
    let lens = lens();
    let long = SENTENCES.join(" ").repeat(20);
    let embedded = block_on(lens.embed(&[(&long, Some(CONDITION)), (&long, None)])).unwrap();
    // By itself it is: an encoder has so many positions.
    assert_eq!(
        embedded.cuts.iter().map(|cut| cut.0).collect::<Vec<_>>(),
        [1]
    );
}

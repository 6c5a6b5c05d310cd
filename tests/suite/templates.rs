//! How sentences and conditions become inputs: against Hugging Face's pairs, and under truncation.

use crate::common;
use caselens::text::{Order, Template};

fn template<'a>(
    checkpoint: &'a caselens::checkpoint::BertCheckpoint,
    max_tokens: usize,
) -> Template<'a> {
    Template {
        tokenizer: &checkpoint.tokenizer,
        max_tokens,
        segments: checkpoint.config.type_vocab_size > 1,
        end: None,
    }
}

#[test]
fn pairs_are_hugging_faces() {
    let fixture = common::json("tokens.json");
    for (folder, key) in [
        ("bert-tiny", "bert"),
        ("roberta-tiny", "roberta"),
        ("xlm-r-tiny", "xlm_r"),
        ("mpnet-tiny", "mpnet"),
    ] {
        let checkpoint = common::tiny(folder);
        let template = template(&checkpoint, 512);
        let mut compared = 0;
        for pair in fixture["pairs"].as_array().unwrap() {
            let (a, b) = (pair["a"].as_str().unwrap(), pair["b"].as_str().unwrap());
            // Texts that our template changes (a final full stop of a condition) or refuses (empty ones)
            // have no counterpart.
            if a.trim() != a || a.ends_with('.') {
                continue;
            }
            let tokenizer = &checkpoint.tokenizer;
            if [a, b]
                .iter()
                .any(|text| !common::is_read_as_it_is(tokenizer, text))
            {
                continue;
            }
            let (Ok(a), Ok(b)) = (template.condition("a", a), template.sentence("b", b)) else {
                continue;
            };
            let made = template.pair(&b, &a, Order::ConditionSentence).unwrap();
            let list = |part: &str| -> Vec<u32> {
                pair[key][part]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|x| x.as_u64().unwrap() as u32)
                    .collect()
            };
            assert_eq!(made.ids, list("ids"), "{folder}");
            if checkpoint.config.type_vocab_size > 1 {
                assert_eq!(made.types, list("types"), "{folder}");
            }
            compared += 1;
        }
        assert!(compared >= 10, "{folder}: {compared} pairs only");
    }
}

#[test]
fn spans_name_the_texts_own_tokens() {
    for folder in common::TINY {
        let checkpoint = common::tiny(folder);
        let template = template(&checkpoint, 128);
        let s = template
            .sentence("s", "a small brown dog runs across the frozen river")
            .unwrap();
        let c = template.condition("c", "the animal.").unwrap();
        let plain = |text: &str| {
            let tokens = template.sentence("t", text).unwrap();
            let single = template.single(&tokens).unwrap();
            single.ids[single.sentence.clone()].to_vec()
        };
        for order in [Order::ConditionSentence, Order::SentenceCondition] {
            let pair = template.pair(&s, &c, order).unwrap();
            assert_eq!(
                pair.ids[pair.condition.clone()],
                plain("the animal"),
                "{folder}"
            );
            assert_eq!(
                pair.ids[pair.sentence.clone()],
                plain("a small brown dog runs across the frozen river"),
                "{folder}"
            );
            assert_eq!(pair.cut, 0);
        }
    }
}

#[test]
fn the_sentence_is_cut_and_never_the_condition() {
    for folder in common::TINY {
        let checkpoint = common::tiny(folder);
        let template = template(&checkpoint, 40);
        let s = template
            .sentence("s", &"the old fisherman waits ".repeat(50))
            .unwrap();
        let c = template.condition("c", "the number of people").unwrap();
        let whole = template.condition_alone(&c).unwrap();
        for order in [Order::ConditionSentence, Order::SentenceCondition] {
            let pair = template.pair(&s, &c, order).unwrap();
            assert_eq!(pair.ids.len(), 40, "{folder}");
            assert!(pair.cut > 0 && !pair.sentence.is_empty());
            assert_eq!(
                pair.ids[pair.condition.clone()],
                whole.ids[whole.condition.clone()],
                "{folder}"
            );
        }
        let long = template
            .condition("condition 7", &"the number of people ".repeat(50))
            .unwrap();
        for error in [
            template
                .pair(&s, &long, Order::SentenceCondition)
                .unwrap_err(),
            template.condition_alone(&long).unwrap_err(),
        ] {
            assert_eq!(error.code(), "condition-too-long");
            assert!(error.to_string().contains("condition 7"));
        }
    }
}

#[test]
fn empty_and_huge_texts_are_errors_that_name_them() {
    for folder in common::TINY {
        let checkpoint = common::tiny(folder);
        let template = template(&checkpoint, 128);
        let code = |text: &str| {
            template.sentence("sentence 2", text).err().map(|e| {
                assert!(e.to_string().contains("sentence 2"), "{e}");
                e.code()
            })
        };
        assert_eq!(code(""), Some("empty-text"));
        assert_eq!(code(" \n\t\u{a0}"), Some("empty-text"));
        assert_eq!(code(&"a".repeat(100_000)), Some("text-too-long"));
        assert_eq!(code(&"é".repeat(50_000)), None);
    }
}

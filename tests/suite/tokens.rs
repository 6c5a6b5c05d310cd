//! Token identity with Hugging Face's own Python library.

use crate::common;
use caselens::text::Tokenizer;
use sha2::{Digest, Sha256};

fn check(tokenizer: &Tokenizer, key: &str) {
    let fixture = common::json("tokens.json");
    let mut compared = 0;
    for case in fixture["cases"].as_array().unwrap() {
        let text = match case["text"].as_str() {
            Some(text) => text.to_owned(),
            None => case["repeat"]
                .as_str()
                .unwrap()
                .repeat(case["times"].as_u64().unwrap() as usize),
        };
        let ids = tokenizer.ids(&text).unwrap();
        let expected = &case[key];
        if let Some(list) = expected.as_array() {
            let list: Vec<u32> = list.iter().map(|id| id.as_u64().unwrap() as u32).collect();
            assert_eq!(ids, list, "{key}: {text:?}");
        } else {
            assert_eq!(
                ids.len() as u64,
                expected["count"].as_u64().unwrap(),
                "{key}: {text:.60?}"
            );
            let bytes: Vec<u8> = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
            let hash: String = Sha256::digest(&bytes)
                .iter()
                .map(|b| format!("{b:02x}"))
                .collect();
            assert_eq!(
                hash,
                expected["sha256"].as_str().unwrap(),
                "{key}: {text:.60?}"
            );
        }
        compared += 1;
    }
    assert!(compared >= 250, "{key}: {compared} strings only");
}

#[test]
fn tiny_tokenizers() {
    for (folder, key) in [
        ("bert-tiny", "bert"),
        ("roberta-tiny", "roberta"),
        ("xlm-r-tiny", "xlm_r"),
        ("mpnet-tiny", "mpnet"),
    ] {
        let json = std::fs::read(common::fixture(folder).join("tokenizer.json")).unwrap();
        check(&Tokenizer::from_json(&json).unwrap(), key);
    }
}

#[test]
fn minilm() {
    let Some(folder) = common::minilm_folder() else {
        return;
    };
    let json = std::fs::read(folder.join("tokenizer.json")).unwrap();
    check(&Tokenizer::from_json(&json).unwrap(), "minilm");
}

#[test]
fn a_broken_tokenizer_is_an_error() {
    for json in ["", "{}", "[]", "{\"model\": 1}"] {
        let error = Tokenizer::from_json(json.as_bytes()).err().unwrap();
        assert_eq!(error.code(), "tokenizer");
    }
}

//! tokenizer.json made of the files of a tokenizer in Python, which transformers calls slow: vocab.txt (WordPiece: BERT,
//! MPNet), or vocab.json and merges.txt (byte-level BPE: RoBERTa), with tokenizer_config.json and special_tokens_map.json
//! where they are there.
//!
//! What is made gives the ids of transformers' BertTokenizer, MPNetTokenizer and RobertaTokenizer. Which one it is, the
//! files say, else the configuration's model type: another one's files are refused, since they would give other ids
//! without any sign of it.

use std::{collections::BTreeMap, path::Path};

use serde_json::{Map, Value, json};

use super::{files::read_text, plain::lowers_capitals};
use crate::error::{Error, Result};

/// The tokenizer as `tokenizers` reads it.
pub const TOKENIZER: &str = "tokenizer.json";
/// How a tokenizer in Python is set up.
pub const SETTINGS: &str = "tokenizer_config.json";
/// Its special tokens, where the settings do not name them.
const SPECIAL: &str = "special_tokens_map.json";
const WORDS: &str = "vocab.txt";
const BYTES: &str = "vocab.json";
const MERGES: &str = "merges.txt";

/// The files that a folder's or a repository's tokenizer is read from; `None` where it has none. `has` tells whether it has
/// a file of this name.
#[cfg(feature = "cli")]
pub fn files(has: impl Fn(&str) -> bool) -> Option<&'static [&'static str]> {
    const KINDS: [&[&str]; 3] = [&[TOKENIZER], &[WORDS], &[BYTES, MERGES]];
    KINDS
        .into_iter()
        .find(|files| files.iter().all(|file| has(file)))
}

/// A folder's tokenizer.json, or what is made in its place; one that lowers capitals first where sentence-transformers does.
/// `config` is the folder's config.json.
///
/// # Errors
/// A file is missing or broken, or of a tokenizer of another kind.
pub fn tokenizer_json(folder: &Path, config: &str) -> Result<Vec<u8>> {
    let json = published_or_made(folder, config)?;
    if !lowers_capitals(folder)? {
        return Ok(json);
    }
    let mut json: Map<String, Value> =
        serde_json::from_slice(&json).map_err(|e| broken(TOKENIZER, &e.to_string()))?;
    let lowering = json!({"type": "Lowercase"});
    let normalizer = match json.remove("normalizer") {
        None | Some(Value::Null) => lowering,
        Some(own) => json!({"type": "Sequence", "normalizers": [lowering, own]}),
    };
    json.insert("normalizer".into(), normalizer);
    serde_json::to_vec(&json).map_err(|e| Error::Tokenizer(e.to_string()))
}

fn published_or_made(folder: &Path, config: &str) -> Result<Vec<u8>> {
    let path = folder.join(TOKENIZER);
    if path.is_file() {
        return read_text(&path);
    }
    let object = |name: &str| -> Result<Map<String, Value>> {
        match folder.join(name).is_file() {
            true => parsed(name, &text(folder, name)?),
            false => Ok(Map::new()),
        }
    };
    let made = Slow {
        folder,
        settings: object(SETTINGS)?,
        special: object(SPECIAL)?,
        config: serde_json::from_str(config).unwrap_or_default(),
    };
    let json = made.json()?;
    serde_json::to_vec(&json).map_err(|e| Error::Tokenizer(e.to_string()))
}

fn text(folder: &Path, name: &str) -> Result<String> {
    let path = folder.join(name);
    if !path.is_file() {
        return Err(Error::MissingFile {
            model: folder.display().to_string(),
            file: name.into(),
        });
    }
    let bytes = read_text(&path)?;
    String::from_utf8(bytes).map_err(|_| broken(name, "it is no UTF-8"))
}

fn parsed<T: serde::de::DeserializeOwned>(name: &str, text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|e| broken(name, &e.to_string()))
}

fn broken(file: &str, reason: &str) -> Error {
    Error::Tokenizer(format!("{file} cannot be read ({reason})"))
}

/// The tokenizers that are made here.
#[derive(Clone, Copy, PartialEq)]
enum Class {
    Bert,
    Mpnet,
    Roberta,
}

/// A tokenizer's files.
struct Slow<'a> {
    folder: &'a Path,
    settings: Map<String, Value>,
    special: Map<String, Value>,
    config: Map<String, Value>,
}

impl Slow<'_> {
    fn kind(&self) -> Result<Class> {
        let class = self.settings.get("tokenizer_class");
        let class = class.or_else(|| self.config.get("tokenizer_class"));
        if let Some(class) = class.and_then(Value::as_str) {
            return match class.strip_suffix("Fast").unwrap_or(class) {
                "BertTokenizer" => Ok(Class::Bert),
                "MPNetTokenizer" => Ok(Class::Mpnet),
                "RobertaTokenizer" => Ok(Class::Roberta),
                other => Err(self.unknown(other)),
            };
        }
        match self.config.get("model_type").and_then(Value::as_str) {
            Some("bert") | None => Ok(Class::Bert),
            Some("mpnet") => Ok(Class::Mpnet),
            Some("roberta") => Ok(Class::Roberta),
            Some(other) => Err(self.unknown(&format!("the tokenizer of {other}"))),
        }
    }

    fn unknown(&self, which: &str) -> Error {
        Error::Tokenizer(format!(
            "{} has no {TOKENIZER}, and {which} is none that is made here of other files (BertTokenizer, MPNetTokenizer, RobertaTokenizer). `AutoTokenizer.from_pretrained(…).save_pretrained(…)` of Python's transformers writes {TOKENIZER}.",
            self.folder.display()
        ))
    }

    fn json(&self) -> Result<Value> {
        let kind = self.kind()?;
        let vocabulary = match kind {
            Class::Bert | Class::Mpnet => words(&text(self.folder, WORDS)?),
            Class::Roberta => parsed(BYTES, &text(self.folder, BYTES)?)?,
        };
        let id = |token: &str| vocabulary.get(token).copied();
        let needed = |name: &str| -> Result<(String, u32)> {
            let token = self.token(kind, name);
            let id = id(&token).ok_or_else(|| {
                Error::Tokenizer(format!("the vocabulary lacks the {name} {token:?}"))
            })?;
            Ok((token, id))
        };
        let (cls, sep, unknown) = (
            needed("cls_token")?,
            needed("sep_token")?,
            needed("unk_token")?,
        );
        let prefix_space = self.is("add_prefix_space", false);
        let around = match kind {
            Class::Bert => json!({"type": "BertProcessing", "cls": cls, "sep": sep}),
            Class::Mpnet | Class::Roberta => json!({
                "type": "RobertaProcessing", "cls": cls, "sep": sep,
                "trim_offsets": kind == Class::Roberta, "add_prefix_space": prefix_space,
            }),
        };
        let added = self.added(kind, id);
        let (normalizer, split, model) = match kind {
            Class::Bert | Class::Mpnet => (
                self.normalizer()?,
                json!({"type": "BertPreTokenizer"}),
                json!({
                    "type": "WordPiece", "unk_token": unknown.0,
                    "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
                    "vocab": vocabulary,
                }),
            ),
            Class::Roberta => (
                Value::Null,
                json!({
                    "type": "ByteLevel", "add_prefix_space": prefix_space,
                    "trim_offsets": true, "use_regex": true,
                }),
                json!({
                    "type": "BPE", "unk_token": unknown.0, "fuse_unk": false,
                    "vocab": vocabulary, "merges": merges(&text(self.folder, MERGES)?),
                }),
            ),
        };
        Ok(json!({
            "version": "1.0", "added_tokens": added, "normalizer": normalizer, "pre_tokenizer": split,
            "post_processor": around, "model": model,
        }))
    }

    fn is(&self, setting: &str, otherwise: bool) -> bool {
        let said = self.settings.get(setting).and_then(Value::as_bool);
        said.unwrap_or(otherwise)
    }

    /// BERT's normalisation. Where accents stay, Python's composes characters first.
    fn normalizer(&self) -> Result<Value> {
        if !self.is("do_basic_tokenize", true) {
            return Err(Error::Tokenizer(format!(
                "{SETTINGS} says do_basic_tokenize = false, which is not done here"
            )));
        }
        let lowercase = self.is("do_lower_case", true);
        let strips = self.is("strip_accents", lowercase);
        let bert = json!({
            "type": "BertNormalizer", "clean_text": true,
            "handle_chinese_chars": self.is("tokenize_chinese_chars", true),
            "strip_accents": strips, "lowercase": lowercase,
        });
        Ok(match strips {
            true => bert,
            false => json!({"type": "Sequence", "normalizers": [{"type": "NFC"}, bert]}),
        })
    }

    /// What the files call a special token, as a text or with how it is found in texts.
    fn said(&self, name: &str) -> Option<&Value> {
        let said = self.settings.get(name).or_else(|| self.special.get(name));
        said.filter(|said| !said.is_null())
    }

    fn token(&self, kind: Class, name: &str) -> String {
        match self.said(name).and_then(content) {
            Some(token) => token.to_owned(),
            None => default(kind, name).to_owned(),
        }
    }

    /// The tokens that a text may name, by id. Of special ones that the vocabulary lacks no input is made.
    fn added(&self, kind: Class, id: impl Fn(&str) -> Option<u32>) -> Vec<Value> {
        let mut all: BTreeMap<u32, Value> = BTreeMap::new();
        for name in [
            "bos_token",
            "eos_token",
            "unk_token",
            "sep_token",
            "pad_token",
            "cls_token",
            "mask_token",
        ] {
            let token = self.token(kind, name);
            let said = self.said(name).filter(|said| said.is_object());
            // The mask of RoBERTa and MPNet takes the space before it.
            let takes_space = name == "mask_token" && kind != Class::Bert;
            if let Some(id) = id(&token) {
                let value = added(id, &token, said, takes_space);
                all.entry(id).or_insert(value);
            }
        }
        let decoder = self.settings.get("added_tokens_decoder");
        for (key, said) in decoder.and_then(Value::as_object).into_iter().flatten() {
            if let (Ok(id), Some(token)) = (key.parse(), content(said)) {
                all.insert(id, added(id, token, Some(said), false));
            }
        }
        all.into_values().collect()
    }
}

/// A token as tokenizer.json lists it.
fn added(id: u32, token: &str, said: Option<&Value>, takes_space: bool) -> Value {
    let is = |name: &str, otherwise: bool| {
        let said = said.and_then(|said| said.get(name)?.as_bool());
        said.unwrap_or(otherwise)
    };
    json!({
        "id": id, "content": token, "single_word": is("single_word", false),
        "lstrip": is("lstrip", takes_space), "rstrip": is("rstrip", false),
        "normalized": is("normalized", false), "special": is("special", true),
    })
}

/// A special token's text: the settings have it as a text, or as the content of an object.
fn content(said: &Value) -> Option<&str> {
    said.as_str().or_else(|| said.get("content")?.as_str())
}

/// A special token's text where the files do not say it; none is empty.
fn default(kind: Class, name: &str) -> &'static str {
    let [unknown, sep, pad, cls, mask, bos, eos] = match kind {
        Class::Bert => ["[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]", "", ""],
        Class::Mpnet => ["[UNK]", "</s>", "<pad>", "<s>", "<mask>", "<s>", "</s>"],
        Class::Roberta => ["<unk>", "</s>", "<pad>", "<s>", "<mask>", "<s>", "</s>"],
    };
    match name {
        "unk_token" => unknown,
        "sep_token" => sep,
        "pad_token" => pad,
        "cls_token" => cls,
        "mask_token" => mask,
        "bos_token" => bos,
        _ => eos,
    }
}

/// The tokens of vocab.txt: a line each, numbered from 0. Of lines that are the same the last one counts.
fn words(text: &str) -> BTreeMap<String, u32> {
    let lines = text.strip_suffix('\n').unwrap_or(text).split('\n');
    let lines = lines.map(|line| line.strip_suffix('\r').unwrap_or(line));
    lines.map(str::to_owned).zip(0..).collect()
}

/// The merges of merges.txt, whose first line says its version.
fn merges(text: &str) -> Vec<&str> {
    let lines = text.lines().enumerate();
    let merges =
        lines.filter(|(i, line)| !(line.is_empty() || *i == 0 && line.starts_with("#version")));
    merges.map(|(_, line)| line).collect()
}

//! Hugging Face `tokenizers`, with the same regex engine natively and on wasm.

use std::ops::Range;

use base64::Engine;
use fancy_regex::Expr;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokenizers::{
    Encoding, NormalizedString, Normalizer, NormalizerWrapper, models::wordpiece::WordPiece,
};

use super::{emoji::Spelled, writing::Writing};
use crate::{
    error::{Error, Result},
    guard::caught,
};

/// Longest text accepted, in characters. An encoder reads a few thousand at most; what is longer is a
/// mistake or an attack, and tokenizing it would only take time.
pub const MAX_CHARS: usize = 50_000;

/// Longest word that is looked up, in characters. WordPiece tries all its parts: BERT's tokenizers stop at 100.
const MAX_WORD: u64 = 1000;

/// Highest id of a token.
const MAX_ID: u64 = 1 << 31;

/// Emoji of which a vocabulary has one at least, if it has any.
const EMOJI: [&str; 4] = ["😀", "😂", "👍", "🎉"];
/// Words that are one token each in a vocabulary that learnt English.
const ENGLISH: [&str; 3] = ["because", "people", "would"];
/// Words of which one at least is one token in a vocabulary that learnt another of the large languages too: German, French,
/// Spanish, Italian, Portuguese, Dutch, Polish, Turkish, Swedish, Russian.
const OTHERS: [&str; 10] = [
    "nicht", "aussi", "también", "sempre", "quando", "worden", "bardzo", "için", "också", "это",
];

/// Token → id.
pub type Vocabulary = ahash::AHashMap<String, u32>;

/// Where a token comes from in its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Bytes of the text.
    pub span: Range<usize>,
    /// The word it is of, counted from 0; an emoji is one, of however many words its name is.
    pub word: Option<u32>,
}

/// A tokenizer as published (tokenizer.json), without its truncation and padding.
///
/// Texts whose tokens an encoder reads have their emoji put into words first where its vocabulary lacks them.
pub struct Tokenizer {
    inner: tokenizers::Tokenizer,
    /// The token that stands for all that the vocabulary lacks.
    unknown: Option<u32>,
    /// Whether emoji are put into words.
    spells_emoji: bool,
    /// Whether the vocabulary learnt English alone.
    is_english: bool,
    writing: Writing,
}

/// tokenizer.json's WordPiece model without its vocabulary.
#[derive(Deserialize)]
struct WordPieceJson {
    unk_token: String,
    continuing_subword_prefix: String,
    max_input_chars_per_word: usize,
}

fn failed(error: tokenizers::Error) -> Error {
    Error::Tokenizer(error.to_string())
}

/// What `tokenizers` makes of a file or a text. The checks below know of what it panics on, which in a browser is all there is;
/// whatever they do not know of is an error natively.
fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let broken = || Err(unreadable(&"it breaks down on it"));
    caught(work).unwrap_or_else(broken)
}

impl Tokenizer {
    /// Parses tokenizer.json.
    pub fn from_json(json: &[u8]) -> Result<Self> {
        Self::from_map(parse(json)?)
    }

    /// Builds it from tokenizer.json as it was parsed.
    pub(crate) fn from_map(mut json: Map<String, Value>) -> Result<Self> {
        check_model(json.get("model")).map_err(|e| unreadable(&e))?;
        check_normalizer(json.get("normalizer")).map_err(|e| unreadable(&e))?;
        check_pre_tokenizer(json.get("pre_tokenizer")).map_err(|e| unreadable(&e))?;
        check_templates(json.get("post_processor"), &mut 0).map_err(|e| unreadable(&e))?;
        guarded(|| check_added_tokens(&json))?;
        let writing = Writing::of(&json);
        // `tokenizers` panics on a decoder it cannot read; ids become text as `writing` has it.
        json.insert("decoder".into(), Value::Null);
        let unknown = json.get("model").map(Unknown::of);
        let mut inner: tokenizers::Tokenizer =
            guarded(|| serde_json::from_value(Value::Object(json)).map_err(|e| unreadable(&e)))?;
        // Some checkpoints pad everything to a fixed length; batches here are packed, and what is too
        // long is cut by the template, which knows what may be cut.
        inner.with_truncation(None).map_err(failed)?;
        inner.with_padding(None);
        let unknown = match unknown {
            Some(Unknown::Token(token)) => inner.token_to_id(&token),
            Some(Unknown::Id(id)) => Some(id),
            _ => None,
        };
        Ok(Self::knowing(inner, unknown, writing))
    }

    /// What its vocabulary lacks is found out by asking it.
    fn knowing(inner: tokenizers::Tokenizer, unknown: Option<u32>, writing: Writing) -> Self {
        let ids = |text: &str| -> Vec<u32> {
            let encoding = guarded(|| inner.encode_fast(text, false).map_err(failed));
            encoding.map_or_else(|_| Vec::new(), |encoding| encoding.get_ids().to_vec())
        };
        let is_one = |word: &&str| matches!(ids(word)[..], [id] if Some(id) != unknown);
        let lacks = |emoji: &&str| unknown.is_some_and(|unknown| ids(emoji).contains(&unknown));
        Self {
            spells_emoji: EMOJI.iter().all(lacks),
            is_english: ENGLISH.iter().all(is_one) && !OTHERS.iter().any(is_one),
            unknown,
            writing,
            inner,
        }
    }

    /// Builds it from tokenizer.json without the vocabulary of its WordPiece model, and that vocabulary.
    ///
    /// `tokenizers` copies a vocabulary several times on its way from JSON into a model: in a browser that takes
    /// longer than everything else about opening an encoder. So the JSON gets the added tokens alone, whose
    /// ids it looks up, and the model the rest.
    pub(crate) fn with_vocabulary(
        mut json: Map<String, Value>,
        vocabulary: Vocabulary,
    ) -> Result<Self> {
        let mut added = Map::new();
        for token in list(json.get("added_tokens")) {
            let content = token.get("content").and_then(Value::as_str).unwrap_or("");
            let Some(&id) = vocabulary.get(content) else {
                return Err(unreadable(&format!(
                    "its added token {content:?} is not in the vocabulary"
                )));
            };
            added.insert(content.into(), id.into());
        }
        let model = json.get_mut("model").and_then(Value::as_object_mut);
        let model = model.ok_or_else(|| unreadable(&"it has no model"))?;
        model.insert("vocab".into(), added.into());
        let parts = WordPieceJson::deserialize(&*model).map_err(|e| unreadable(&e))?;
        let mut tokenizer = Self::from_map(json)?;
        let model = WordPiece::builder()
            .vocab(vocabulary)
            .unk_token(parts.unk_token)
            .continuing_subword_prefix(parts.continuing_subword_prefix)
            .max_input_chars_per_word(parts.max_input_chars_per_word)
            .build();
        let model = model.map_err(failed)?;
        tokenizer.inner.with_model(model);
        Ok(Self::knowing(
            tokenizer.inner,
            tokenizer.unknown,
            tokenizer.writing,
        ))
    }

    /// A text as the encoder reads it: with emoji in words, where its vocabulary lacks them.
    pub fn spelled<'a>(&self, text: &'a str) -> Spelled<'a> {
        match self.spells_emoji {
            true => Spelled::of(text, |emoji| self.inner.token_to_id(emoji).is_some()),
            false => Spelled::unchanged(text),
        }
    }

    /// Whether its vocabulary learnt English alone: an encoder with it makes little of texts in another language.
    pub fn is_english(&self) -> bool {
        self.is_english
    }

    /// Whether an id stands for what the vocabulary lacks.
    pub fn is_unknown(&self, id: u32) -> bool {
        self.unknown == Some(id)
    }

    /// Ids of one text with the model's special tokens, as Hugging Face gives them: emoji stay as they are.
    pub fn ids(&self, text: &str) -> Result<Vec<u32>> {
        let encoding = guarded(|| self.inner.encode_fast(text, true).map_err(failed))?;
        Ok(encoding.get_ids().to_vec())
    }

    /// Ids of a text that a language model goes on with: behind the special token that begins one, where there is such a
    /// token, and with none behind.
    pub fn prompt(&self, text: &str) -> Result<Vec<u32>> {
        let spelled = self.spelled(text);
        let encoding = guarded(|| self.inner.encode_fast(&*spelled.text, true).map_err(failed))?;
        let special = encoding.get_special_tokens_mask();
        let own = special.iter().rposition(|&special| special == 0);
        let ids = encoding
            .get_ids()
            .iter()
            .take(own.map_or(0, |last| last + 1));
        Ok(ids.copied().collect())
    }

    /// The text of ids, as it goes on: with the space that it begins with. Bytes that are no whole character are U+FFFD.
    pub fn text(&self, ids: &[u32]) -> String {
        let tokens = ids.iter().map(|&id| self.token(id));
        self.writing.text(tokens.collect())
    }

    /// The tokens of a text without special tokens.
    ///
    /// # Errors
    /// The text is empty, too long, or nothing remains of it after the tokenizer's normalisation.
    /// `what` names it in the error.
    pub(crate) fn encode(&self, what: &str, text: &str) -> Result<Encoding> {
        let empty = || Error::EmptyText { what: what.into() };
        if text.trim().is_empty() {
            return Err(empty());
        }
        // Bytes bound characters from above: most texts need no counting.
        if text.len() > MAX_CHARS {
            let chars = text.chars().count();
            if chars > MAX_CHARS {
                return Err(Error::TextTooLong {
                    what: what.into(),
                    chars,
                    max: MAX_CHARS,
                });
            }
        }
        let spelled = self.spelled(text);
        let encoding = guarded(|| {
            self.inner
                .encode_fast(&*spelled.text, false)
                .map_err(failed)
        })?;
        match encoding.is_empty() {
            true => Err(empty()),
            false => Ok(encoding),
        }
    }

    /// Where the tokens of a text come from, in their order and without special tokens.
    pub(crate) fn pieces(&self, text: &str) -> Result<Vec<Piece>> {
        self.encode_with_pieces(text).map(|(_, pieces)| pieces)
    }

    /// The tokens of a text without special tokens, and where each comes from.
    pub(crate) fn encode_with_pieces(&self, text: &str) -> Result<(Encoding, Vec<Piece>)> {
        let spelled = self.spelled(text);
        let encoding = guarded(|| self.inner.encode(&*spelled.text, false).map_err(failed))?;
        // The words of an emoji's name are one.
        let (mut count, mut last) = (0, None);
        let words = encoding.get_word_ids().iter();
        let pieces = encoding.get_offsets().iter().zip(words);
        let pieces = pieces.map(|(&(start, end), &word)| {
            let span = start..end;
            let word = word.map(|word| {
                let own = spelled.emoji(&span).ok_or(word);
                if last != Some(own) {
                    count += u32::from(last.is_some());
                    last = Some(own);
                }
                count
            });
            Piece {
                span: spelled.original(span),
                word,
            }
        });
        let pieces = pieces.collect();
        Ok((encoding, pieces))
    }

    /// A token as the vocabulary writes it.
    pub(crate) fn token(&self, id: u32) -> String {
        self.inner.id_to_token(id).unwrap_or_default()
    }

    /// Joins one or two encodings with the model's special tokens.
    pub(crate) fn join(&self, first: Encoding, second: Option<Encoding>) -> Result<Encoding> {
        guarded(|| self.inner.post_process(first, second, true).map_err(failed))
    }

    /// The token that ends an input, and stands between two texts of one: BERT's `[SEP]`, RoBERTa's `</s>`.
    ///
    /// # Errors
    /// The tokenizer's template ends a text with none.
    pub(crate) fn separator(&self) -> Result<Encoding> {
        let alone = self.join(Encoding::default(), None)?;
        let Some((&id, token)) = alone.get_ids().last().zip(alone.get_tokens().last()) else {
            return Err(Error::Tokenizer(
                "this tokenizer's template ends no text with a separator; BERT's and RoBERTa's do"
                    .into(),
            ));
        };
        Ok(Encoding::new(
            vec![id],
            vec![0],
            vec![token.clone()],
            vec![None],
            vec![(0, 0)],
            vec![0],
            vec![1],
            Vec::new(),
            Default::default(),
        ))
    }

    /// Special tokens added to one text, or to a pair.
    pub(crate) fn added_tokens(&self, pair: bool) -> usize {
        self.inner
            .get_post_processor()
            .map_or(0, |p| tokenizers::PostProcessor::added_tokens(p, pair))
    }
}

/// The token for what a vocabulary lacks, as tokenizer.json's model names it.
enum Unknown {
    Token(String),
    Id(u32),
    None,
}

impl Unknown {
    fn of(model: &Value) -> Self {
        let text = |key: &str| Some(model.get(key)?.as_str()?.to_owned());
        let id = model.get("unk_id").and_then(Value::as_u64);
        match (text("unk_token"), id.and_then(|id| u32::try_from(id).ok())) {
            (Some(token), _) => Self::Token(token),
            (None, Some(id)) => Self::Id(id),
            (None, None) => Self::None,
        }
    }
}

/// tokenizer.json as an object.
pub(crate) fn parse(json: &[u8]) -> Result<Map<String, Value>> {
    serde_json::from_slice(json).map_err(|e| unreadable(&e))
}

fn unreadable(reason: &dyn std::fmt::Display) -> Error {
    Error::Tokenizer(format!("tokenizer.json cannot be read ({reason})"))
}

/// The elements of an array; none of anything else.
fn list(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

/// Refuses a model that `tokenizers` panics on when it is built, or that takes hours for one long word.
fn check_model(model: Option<&Value>) -> std::result::Result<(), String> {
    let Some(model) = model else {
        return Ok(());
    };
    let vocabulary = model.get("vocab").and_then(Value::as_object);
    let ids = vocabulary.into_iter().flat_map(Map::values);
    if let Some(id) = ids.filter_map(Value::as_u64).find(|&id| id > MAX_ID) {
        return Err(format!(
            "it has a token of id {id}; at most {MAX_ID} is read"
        ));
    }
    let lengths = vocabulary.into_iter().flat_map(Map::keys).map(String::len);
    let longest = lengths.max().unwrap_or(0);
    let prefix = model.get("continuing_subword_prefix");
    let prefix = prefix.and_then(Value::as_str).unwrap_or("");
    for merge in list(model.get("merges")) {
        let both = match merge {
            Value::String(both) => both.split_once(' '),
            both => both
                .get(0)
                .and_then(Value::as_str)
                .zip(both.get(1).and_then(Value::as_str)),
        };
        // What is no merge is refused in the words of its parser.
        let Some((first, second)) = both else {
            continue;
        };
        // It cuts the prefix off without a look, and has room for the longest token of the vocabulary.
        if !second.is_char_boundary(prefix.len()) {
            return Err(format!(
                "its merge {merge} is shorter than the prefix {prefix:?}"
            ));
        }
        if first.len() + second.len() - prefix.len() > longest {
            return Err(format!(
                "what its merge {merge} makes is not in its vocabulary"
            ));
        }
    }
    match model
        .get("max_input_chars_per_word")
        .and_then(Value::as_u64)
    {
        Some(chars) if chars > MAX_WORD => Err(format!(
            "it looks up words of up to {chars} characters; at most {MAX_WORD} are read"
        )),
        _ => Ok(()),
    }
}

/// Refuses a normalizer that `tokenizers` panics on when it is built or used: a SentencePiece table whose links lead
/// out of it, and a replacement of nothing.
fn check_normalizer(normalizer: Option<&Value>) -> std::result::Result<(), String> {
    let Some(normalizer) = normalizer else {
        return Ok(());
    };
    let is = |kind: &str, field: &str| {
        // What has no type is known by its fields.
        let named = normalizer.get("type").map(|t| t.as_str() == Some(kind));
        named.unwrap_or_else(|| normalizer.get(field).is_some())
    };
    if is("Precompiled", "precompiled_charsmap") {
        let text = normalizer
            .get("precompiled_charsmap")
            .and_then(|t| t.as_str());
        let text = text.ok_or("its normalizer has no precompiled_charsmap")?;
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(text)
            .map_err(|e| format!("its precompiled_charsmap is not base64: {e}"))?;
        check_charsmap(&bytes)?;
    }
    if is("Replace", "pattern") {
        let pattern = normalizer.get("pattern");
        let part = |kind: &str| pattern.and_then(|p| p.get(kind)?.as_str());
        let is_empty = match (part("String"), part("Regex")) {
            (Some(text), _) => text.is_empty(),
            (None, Some(regex)) => may_match_nothing(regex),
            (None, None) => false,
        };
        if is_empty {
            return Err("its normalizer replaces what is empty".into());
        }
    }
    list(normalizer.get("normalizers")).try_for_each(|part| check_normalizer(Some(part)))
}

/// Whether an expression can match what is empty, in any text; where that is not plain, it can. One that is no regular expression
/// is refused in the words of its parser.
fn may_match_nothing(regex: &str) -> bool {
    fn is_empty(expr: &Expr) -> bool {
        match expr {
            Expr::Any { .. } => false,
            Expr::Literal { val, .. } => val.is_empty(),
            Expr::Delegate { size, .. } => *size == 0,
            Expr::Concat(parts) => parts.iter().all(is_empty),
            Expr::Alt(ways) => ways.iter().any(is_empty),
            Expr::Group(inside) | Expr::AtomicGroup(inside) => is_empty(inside),
            Expr::Repeat { child, lo, .. } => *lo == 0 || is_empty(child),
            _ => true,
        }
    }
    // `\K` leaves out of a match what stands before it.
    regex.contains(r"\K") || Expr::parse_tree(regex).is_ok_and(|tree| is_empty(&tree.expr))
}

/// Refuses pieces of no length, which `tokenizers` panics on when it encodes.
fn check_pre_tokenizer(pre_tokenizer: Option<&Value>) -> std::result::Result<(), String> {
    let Some(pre_tokenizer) = pre_tokenizer else {
        return Ok(());
    };
    if pre_tokenizer.get("length").and_then(Value::as_u64) == Some(0) {
        return Err("its pre-tokenizer cuts texts into pieces of no length".into());
    }
    list(pre_tokenizer.get("pretokenizers")).try_for_each(|part| check_pre_tokenizer(Some(part)))
}

/// Refuses an added token of which the normalizer leaves nothing, and one of white space that takes the white space before it too:
/// where that before it took both already, `tokenizers` panics when it encodes.
fn check_added_tokens(json: &Map<String, Value>) -> Result<()> {
    let is = |token: &Value, flag: &str| token.get(flag).and_then(Value::as_bool) == Some(true);
    let tokens = || list(json.get("added_tokens"));
    let normalizer = match tokens().any(|token| is(token, "normalized")) {
        true => json.get("normalizer").filter(|n| !n.is_null()).cloned(),
        false => None,
    };
    // One that is none is refused in the words of its parser.
    let normalizer: Option<NormalizerWrapper> =
        normalizer.and_then(|normalizer| serde_json::from_value(normalizer).ok());
    for token in tokens() {
        let Some(content) = token.get("content").and_then(Value::as_str) else {
            continue;
        };
        let mut found = NormalizedString::from(content);
        if let Some(normalizer) = normalizer.as_ref().filter(|_| is(token, "normalized")) {
            normalizer.normalize(&mut found).map_err(failed)?;
        }
        let wrong = match found.get().trim().is_empty() {
            _ if content.is_empty() => continue,
            true if found.get().is_empty() => "is nothing once it is normalised",
            true if is(token, "lstrip") => "is white space, and takes what is before it",
            _ => continue,
        };
        return Err(unreadable(&format!("its added token {content:?} {wrong}")));
    }
    Ok(())
}

/// Refuses a table that is cut short, or whose links lead out of it.
///
/// It is the size of a trie in bytes, the trie, and the texts that its leaves begin at. The trie is a double array
/// (darts-clone) of u32s: a node's children lie at its own place ⊻ its offset ⊻ a byte.
fn check_charsmap(bytes: &[u8]) -> std::result::Result<(), String> {
    let (size, rest) = bytes
        .split_first_chunk()
        .ok_or("its precompiled_charsmap is empty")?;
    let size = u32::from_le_bytes(*size) as usize;
    let (trie, texts) = rest
        .split_at_checked(size / 4 * 4)
        .filter(|_| size >= 4)
        .ok_or("its precompiled_charsmap is cut short")?;
    let damaged = || String::from("its precompiled_charsmap is damaged");
    let texts = std::str::from_utf8(texts).map_err(|_| damaged())?;
    let (trie, _) = trie.as_chunks();
    let unit = |at: usize| trie.get(at).map(|&unit| u32::from_le_bytes(unit) as usize);
    for at in 0..trie.len() {
        let node = unit(at).ok_or_else(damaged)?;
        // What is marked so is a text's beginning, and no node but at the root, where nobody looks.
        if at > 0 && node >> 31 == 1 {
            continue;
        }
        let first = at ^ ((node >> 10) << ((node & 1 << 9) >> 6));
        let leads_out = first | 0xff >= trie.len();
        let has_text = node >> 8 & 1 == 1;
        let begins = unit(first).map_or(0, |unit| unit & !(1 << 31));
        if leads_out || has_text && !texts.is_char_boundary(begins) {
            return Err(damaged());
        }
    }
    Ok(())
}

/// Refuses a template that names a special token without saying its id, or the second sequence where there is one alone, and a
/// second template, which would get the pieces of the first: `tokenizers` panics on them when it encodes. `templates` counts them.
fn check_templates(
    processor: Option<&Value>,
    templates: &mut usize,
) -> std::result::Result<(), String> {
    let Some(processor) = processor else {
        return Ok(());
    };
    *templates += usize::from(processor.get("single").is_some());
    if *templates > 1 {
        return Err("it has more than one template".into());
    }
    let list = |key: &str| list(processor.get(key));
    let is_second = |piece: &Value| piece.pointer("/Sequence/id").is_some_and(|id| id == "B");
    if list("single").any(is_second) {
        return Err("its template for one text has a second one".into());
    }
    for piece in list("single").chain(list("pair")) {
        let Some(token) = piece
            .get("SpecialToken")
            .and_then(|t| t.get("id")?.as_str())
        else {
            continue;
        };
        if processor
            .get("special_tokens")
            .and_then(|t| t.get(token))
            .is_none()
        {
            return Err(format!(
                "its template uses {token:?}, which it does not define"
            ));
        }
    }
    list("processors").try_for_each(|part| check_templates(Some(part), templates))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What no check lets through, as of a fault that none knows of yet.
    #[test]
    fn a_panic_of_tokenizers_is_an_error() {
        let json = json!({
            "version": "1.0",
            "truncation": null, "padding": null, "added_tokens": [], "decoder": null,
            "normalizer": null, "pre_tokenizer": null,
            "post_processor": {
                "type": "TemplateProcessing", "special_tokens": {},
                "single": [{"Sequence": {"id": "B", "type_id": 0}}],
                "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
            },
            "model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"},
        });
        let inner = serde_json::from_value(json.clone()).unwrap();
        let writing = Writing::of(json.as_object().unwrap());
        let tokenizer = Tokenizer::knowing(inner, None, writing);
        let error = tokenizer.ids("word").unwrap_err();
        assert_eq!(error.code(), "tokenizer", "{error}");
        assert!(error.to_string().contains("breaks down"), "{error}");
    }
}

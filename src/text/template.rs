//! How a sentence and a condition become one input of an MLM encoder: CONC(c+s) and CONC(s+c) (Conneau et
//! al.'s pair input: `[CLS] a [SEP] b [SEP]` for BERT, `<s> a </s></s> b </s>` for RoBERTa and XLM-R),
//! the condition alone, the sentence alone, and two sentences with their condition as one text.

use std::{ops::Range, sync::Arc};

use tokenizers::{Encoding, TruncationDirection};

#[cfg(not(target_arch = "wasm32"))]
use super::Prompt;
use super::{Setting, Tokenizer, Wrapper, instruction, sentences};
use crate::error::{Error, Result};

/// Which of the two comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// CONC(c+s)
    ConditionSentence,
    /// CONC(s+c)
    SentenceCondition,
}

/// One encoder input: token ids, type ids, and where the texts' own tokens lie in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequence {
    /// Token ids.
    pub ids: Vec<u32>,
    /// Type ids, one for each token.
    pub types: Vec<u32>,
    /// The condition's tokens; in an input without a condition, the whole text's.
    pub condition: Range<usize>,
    /// The sentence's tokens; in an input without a sentence, the whole text's.
    pub sentence: Range<usize>,
    /// Sentence tokens that did not fit and were cut.
    pub cut: usize,
}

/// Builds inputs for one encoder.
pub struct Template<'a> {
    /// The encoder's tokenizer.
    pub tokenizer: &'a Tokenizer,
    /// Longest input in tokens, special tokens included.
    pub max_tokens: usize,
    /// Whether the model tells two segments apart (type vocabulary of at least 2).
    pub segments: bool,
    /// A token that ends every input, appended where the tokenizer's own template does not end with it.
    pub end: Option<u32>,
}

/// A text's tokens, made once and used in several inputs.
#[derive(Clone)]
pub struct Tokens {
    encoding: Arc<Encoding>,
    /// For inputs that say a text within another.
    text: Arc<str>,
    what: Arc<str>,
}

impl Tokens {
    /// How many of its tokens the vocabulary lacks, of those too that do not fit into an input.
    pub fn unknown(&self, tokenizer: &Tokenizer) -> usize {
        let ids = self.encoding.get_ids().iter();
        ids.filter(|&&id| tokenizer.is_unknown(id)).count()
    }

    /// Its parts where it is long ([`sentences`]), each with its place among these tokens; none where it is short.
    pub fn parts(&self, tokenizer: &Tokenizer) -> Vec<(Range<usize>, Self)> {
        let encoding = &self.encoding;
        if encoding.len() <= sentences::WHOLE {
            return Vec::new();
        }
        let ids = encoding.get_ids().iter();
        let tokens: Vec<String> = ids.map(|&id| tokenizer.token(id)).collect();
        let part = |part: Range<usize>| Self {
            encoding: Arc::new(slice(encoding, part)),
            ..self.clone()
        };
        let parts = sentences::parts(&tokens).into_iter();
        parts.map(|range| (range.clone(), part(range))).collect()
    }
}

/// Some of the tokens of a text.
fn slice(encoding: &Encoding, part: Range<usize>) -> Encoding {
    Encoding::new(
        encoding.get_ids()[part.clone()].to_vec(),
        encoding.get_type_ids()[part.clone()].to_vec(),
        encoding.get_tokens()[part.clone()].to_vec(),
        encoding.get_word_ids()[part.clone()].to_vec(),
        encoding.get_offsets()[part.clone()].to_vec(),
        encoding.get_special_tokens_mask()[part.clone()].to_vec(),
        encoding.get_attention_mask()[part].to_vec(),
        Vec::new(),
        Default::default(),
    )
}

impl Template<'_> {
    /// Tokenizes a sentence. `what` names it in errors.
    pub fn sentence(&self, what: &str, text: &str) -> Result<Tokens> {
        Ok(Tokens {
            encoding: self.tokenizer.encode(what, text)?.into(),
            text: text.into(),
            what: what.into(),
        })
    }

    /// Tokenizes a condition, without white space around it and its final full stop.
    pub fn condition(&self, what: &str, text: &str) -> Result<Tokens> {
        self.sentence(what, normalize_condition(text))
    }

    /// A single text: a sentence (cut where too long).
    pub fn single(&self, text: &Tokens) -> Result<Sequence> {
        self.single_within(self.max_tokens, text)
    }

    /// A sentence behind the states of a condition, which take room of their own. The sentence is cut where the two are too
    /// long, the condition never.
    ///
    /// # Errors
    /// The condition leaves no room for the sentence.
    pub fn single_behind(&self, sentence: &Tokens, condition: &Tokens) -> Result<Sequence> {
        let taken = self.condition_alone(condition)?.ids.len();
        let sequence = self.single_within(self.max_tokens.saturating_sub(taken), sentence)?;
        match sequence.sentence.is_empty() {
            true => Err(self.too_long(condition)),
            false => Ok(sequence),
        }
    }

    fn single_within(&self, most: usize, text: &Tokens) -> Result<Sequence> {
        let room = most
            .saturating_sub(self.tokenizer.added_tokens(false))
            .saturating_sub(usize::from(self.end.is_some()));
        let mut encoding = Encoding::clone(&text.encoding);
        let cut = cut(&mut encoding, room);
        let length = encoding.len();
        let joined = self.tokenizer.join(encoding, None)?;
        let [range] = spans(&joined, [length])?;
        Ok(self.sequence(&joined, range.clone(), range, cut))
    }

    /// A condition alone: the unconditional embedding that CASE subtracts. Never cut.
    pub fn condition_alone(&self, condition: &Tokens) -> Result<Sequence> {
        let sequence = self.single(condition)?;
        match sequence.cut {
            0 => Ok(sequence),
            _ => Err(self.too_long(condition)),
        }
    }

    /// A sentence and a condition as one input. The sentence is cut where the two are too long, the
    /// condition never.
    pub fn pair(&self, sentence: &Tokens, condition: &Tokens, order: Order) -> Result<Sequence> {
        let room = self
            .max_tokens
            .saturating_sub(self.tokenizer.added_tokens(true))
            .saturating_sub(usize::from(self.end.is_some()))
            .saturating_sub(condition.encoding.len());
        if room == 0 {
            return Err(self.too_long(condition));
        }
        let mut s = Encoding::clone(&sentence.encoding);
        let cut = cut(&mut s, room);
        let c = Encoding::clone(&condition.encoding);
        let (s_len, c_len) = (s.len(), c.len());
        let (joined, condition, sentence) = match order {
            Order::ConditionSentence => {
                let joined = self.tokenizer.join(c, Some(s))?;
                let [c, s] = spans(&joined, [c_len, s_len])?;
                (joined, c, s)
            }
            Order::SentenceCondition => {
                let joined = self.tokenizer.join(s, Some(c))?;
                let [s, c] = spans(&joined, [s_len, c_len])?;
                (joined, c, s)
            }
        };
        Ok(self.sequence(&joined, condition, sentence, cut))
    }

    /// Sentences and a condition, or some of them, as one text with the tokenizer's own separator between them,
    /// `s1 [SEP] s2 [SEP] c`: the ids of Hugging Face's tokenizer for that text, as C-STS's program writes it. Where they are
    /// too long, sentences are cut, the longest first, and the condition never (that program cuts the end, which is the
    /// condition's).
    ///
    /// # Errors
    /// The condition leaves no room for the sentences; or the tokenizer knows no separator.
    pub fn together(&self, sentences: &[&Tokens], condition: Option<&Tokens>) -> Result<Sequence> {
        let texts: Vec<&Tokens> = sentences.iter().copied().chain(condition).collect();
        let last = texts.len().saturating_sub(1);
        // Spaces around a separator are the texts': byte-level tokenizers have tokens for them.
        let encode = |(i, text): (usize, &&Tokens)| {
            let before = if i > 0 { " " } else { "" };
            let after = if i < last { " " } else { "" };
            let spaced = format!("{before}{}{after}", text.text);
            self.tokenizer.encode(&text.what, &spaced)
        };
        let mut parts = texts
            .iter()
            .enumerate()
            .map(encode)
            .collect::<Result<Vec<_>>>()?;
        let added = self.tokenizer.added_tokens(false) + usize::from(self.end.is_some()) + last;
        let tokens: usize = parts.iter().map(Encoding::len).sum();
        let cut = (tokens + added).saturating_sub(self.max_tokens);
        let mut lengths: Vec<usize> = parts.iter().map(Encoding::len).collect();
        for _ in 0..cut {
            match lengths[..sentences.len()].iter_mut().max() {
                Some(longest) if *longest > 1 => *longest -= 1,
                _ => return Err(self.too_long(texts[last])),
            }
        }
        for (part, length) in parts.iter_mut().zip(&lengths) {
            part.truncate(*length, 0, TruncationDirection::Right);
        }
        let separator = self.tokenizer.separator()?;
        let mut whole = Vec::with_capacity(parts.len() + last);
        for (i, part) in parts.into_iter().enumerate() {
            whole.extend((i > 0).then(|| separator.clone()));
            whole.push(part);
        }
        let joined = self.tokenizer.join(Encoding::merge(whole, false), None)?;
        let special = joined.get_special_tokens_mask();
        let start = special.iter().take_while(|&&s| s == 1).count();
        let end = start + lengths.iter().sum::<usize>() + last;
        let own = condition.map_or(0, |_| lengths[last]);
        // Between sentences and condition a separator stands.
        let (condition, sentence) = match (own, sentences.len()) {
            (0, _) | (_, 0) => (start..end, start..end),
            _ => (end - own..end, start..end - own - 1),
        };
        Ok(self.sequence(&joined, condition, sentence, cut))
    }

    /// A text behind the instruction I(∅). Never cut: as a condition by itself.
    pub fn instructed(&self, wrapper: Wrapper, text: &Tokens) -> Result<Sequence> {
        self.cut_to_fit(text, |text| {
            self.behind(&wrapper.before(instruction::NOTHING), text)
        })
    }

    /// One of sentence and condition, behind the instruction that holds the other. The sentence is cut where
    /// the two are too long, the condition never.
    pub fn instructed_pair(
        &self,
        wrapper: Wrapper,
        setting: Setting,
        sentence: &Tokens,
        condition: &Tokens,
    ) -> Result<Sequence> {
        let condition_text = &condition.text;
        self.cut_beside(sentence, condition, |sentence| match setting {
            Setting::Condition => self.behind(
                &wrapper.before(&setting.instruction(sentence)),
                condition_text,
            ),
            Setting::Sentence => self.behind(
                &wrapper.before(&setting.instruction(condition_text)),
                sentence,
            ),
        })
    }

    /// A text in a prompt, under a condition or by itself, and nothing behind: the last token is the prompt's own. The
    /// text is cut where they are too long; the prompt and the condition never are.
    ///
    /// # Errors
    /// They leave no room for the text; or the prompt has no field for a condition.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn prompted(
        &self,
        prompt: &Prompt,
        text: &Tokens,
        condition: Option<&Tokens>,
    ) -> Result<Sequence> {
        let Some(condition) = condition else {
            return self.cut_to_fit(text, |text| self.raw(&prompt.fill(text, None)?));
        };
        self.cut_beside(text, condition, |text| {
            self.raw(&prompt.fill(text, Some(&condition.text))?)
        })
    }

    /// A whole input as it is written, behind the token that begins one.
    #[cfg(not(target_arch = "wasm32"))]
    fn raw(&self, input: &str) -> Result<Sequence> {
        let ids = self.tokenizer.prompt(input)?;
        let whole = 0..ids.len();
        Ok(Sequence {
            types: vec![0; ids.len()],
            ids,
            condition: whole.clone(),
            sentence: whole,
            cut: 0,
        })
    }

    /// As [`Template::cut_to_fit`], of a text that stands beside a condition: where nothing of it fits, that is too long.
    fn cut_beside(
        &self,
        text: &Tokens,
        condition: &Tokens,
        make: impl Fn(&str) -> Result<Sequence>,
    ) -> Result<Sequence> {
        let whole = self.cut_to_fit(text, make);
        whole.map_err(|error| match error {
            Error::ConditionTooLong { .. } => self.too_long(condition),
            other => other,
        })
    }

    /// What `make` makes of the text, whose end is left out as far as it takes for that to fit.
    fn cut_to_fit(
        &self,
        text: &Tokens,
        make: impl Fn(&str) -> Result<Sequence>,
    ) -> Result<Sequence> {
        let mut sequence = make(&text.text)?;
        if sequence.ids.len() <= self.max_tokens {
            return Ok(sequence);
        }
        let pieces = self.tokenizer.pieces(&text.text)?;
        let ends: Vec<_> = pieces.iter().map(|piece| piece.span.end).collect();
        let mut kept = ends.len();
        while sequence.ids.len() > self.max_tokens {
            kept = kept.saturating_sub(sequence.ids.len() - self.max_tokens);
            let end = kept.checked_sub(1).and_then(|last| ends.get(last));
            let part = end.and_then(|&end| text.text.get(..end));
            let Some(part) = part.filter(|part| !part.trim().is_empty()) else {
                return Err(self.too_long(text));
            };
            sequence = make(part)?;
        }
        sequence.cut = ends.len() - kept;
        Ok(sequence)
    }

    /// A text behind `before`: the spans of its sequence are the text's own tokens and the one that ends it.
    ///
    /// The space between the two is the text's, as SentencePiece's tokens begin with it: so what is left out is
    /// what NV-Embed's published code leaves out.
    fn behind(&self, before: &str, text: &str) -> Result<Sequence> {
        let (encoding, pieces) = self
            .tokenizer
            .encode_with_pieces(&format!("{before}{text}"))?;
        let own = pieces
            .iter()
            .position(|piece| piece.span.end > before.trim_end().len());
        let own = own.unwrap_or(pieces.len().saturating_sub(1));
        let joined = self.tokenizer.join(encoding, None)?;
        let special = joined.get_special_tokens_mask();
        let start = own + special.iter().take_while(|&&s| s == 1).count();
        let mut sequence = self.sequence(&joined, 0..0, 0..0, 0);
        sequence.condition = start..sequence.ids.len();
        sequence.sentence = sequence.condition.clone();
        Ok(sequence)
    }

    fn sequence(
        &self,
        joined: &Encoding,
        condition: Range<usize>,
        sentence: Range<usize>,
        cut: usize,
    ) -> Sequence {
        let mut ids = joined.get_ids().to_vec();
        let mut types = match self.segments {
            true => joined.get_type_ids().to_vec(),
            false => vec![0; joined.len()],
        };
        if let Some(end) = self.end.filter(|end| ids.last() != Some(end)) {
            ids.push(end);
            types.push(types.last().copied().unwrap_or(0));
        }
        Sequence {
            ids,
            types,
            condition,
            sentence,
            cut,
        }
    }

    fn too_long(&self, condition: &Tokens) -> Error {
        Error::ConditionTooLong {
            what: condition.what.to_string(),
            tokens: condition.encoding.len(),
            max: self.max_tokens,
        }
    }
}

/// A condition as encoders are given it: "The number of people." and "The number of people" are the same.
pub fn normalize_condition(text: &str) -> &str {
    let text = text.trim();
    match text.strip_suffix('.') {
        // "etc..." and a lone "." keep theirs.
        Some(stem) if !stem.is_empty() && !stem.ends_with('.') => stem.trim_end(),
        _ => text,
    }
}

/// Cuts to `room` tokens and returns how many went.
fn cut(encoding: &mut Encoding, room: usize) -> usize {
    let over = encoding.len().saturating_sub(room);
    if over > 0 {
        encoding.truncate(room, 0, TruncationDirection::Right);
    }
    over
}

/// Where texts of `lengths` tokens lie in a joined input: the template's own tokens are marked as special,
/// a text's never are.
fn spans<const N: usize>(joined: &Encoding, lengths: [usize; N]) -> Result<[Range<usize>; N]> {
    let special = joined.get_special_tokens_mask();
    let mut at = 0;
    let mut spans = [const { 0..0 }; N];
    for (span, length) in spans.iter_mut().zip(lengths) {
        let skipped = special[at..].iter().take_while(|&&s| s == 1).count();
        *span = at + skipped..at + skipped + length;
        let whole = special
            .get(span.clone())
            .is_some_and(|s| s.iter().all(|&s| s == 0));
        if !whole {
            return Err(Error::Tokenizer(
                "this tokenizer's template does not keep both texts of a pair; BERT's and RoBERTa's do".into(),
            ));
        }
        at = span.end;
    }
    Ok(spans)
}

//! A comparison by a tri-encoder taken apart: which of a sentence's tokens the condition weighs, and what the encoder would look
//! at without it.
//!
//! ```no_run
//! # use caselens::{Lens, Result, backend::candle::Candle};
//! # async fn example(lens: &Lens<Candle>) -> Result<()> {
//! let sentences = ["She plays chess in the park", "He plays football in the park"];
//! let explained = lens.explain_apart(sentences, "the game").await?;
//! let first = &explained.sentences[0];
//! for (i, token) in first.tokens.iter().enumerate() {
//!     println!("{}: {:.2}, without the condition {:.2}", token.text, first.weights[0][i], first.cls[i]);
//! }
//! # Ok(())
//! # }
//! ```

use super::{
    Lens,
    explain::{Step, StepName, sound},
    reading::{Readings, Token},
};
use crate::{
    backend::{AttentionRow, Backend, Pooling},
    embedding::{
        Case,
        plan::{Plan, Read, begin_row},
        router::{Routed, Texts, TriEncoder},
    },
    error::{Error, Result},
    similarity::cosine,
    text::template::normalize_condition,
};

/// A comparison by a tri-encoder taken apart.
#[derive(Debug, Clone, PartialEq)]
pub struct ApartExplanation {
    /// As the encoder is given it: without white space around it and its final full stop.
    pub condition: String,
    /// What became of either sentence's tokens.
    pub sentences: [Weighed; 2],
    /// The sentences by themselves ([`StepName::Plain`]), under the condition ([`StepName::Joint`]) and, where there is one,
    /// through the head ([`StepName::Projected`]). The last gives the answer.
    pub steps: Vec<Step>,
    /// The last step's cosine, −1 to 1.
    pub similarity: f32,
    /// The same on the 1–5 scale of human ratings.
    pub rating: f32,
}

/// A sentence's tokens, and how much each of them counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Weighed {
    /// Its tokens, special ones included.
    pub tokens: Vec<Token>,
    /// How its first token (`[CLS]`) attends to each of them in the last layer, without a condition: the mean over the heads,
    /// which sums to 1 (CSR, Figure 5).
    pub cls: Vec<f32>,
    /// A router's weights in each routed layer, from the first of them on, `[layers][tokens]`: the mean over the heads where
    /// those have their own. Each layer's sum to 1 (CSR, Figures 6 and 7), or to less behind a prefix. Empty where nothing is weighed.
    pub weights: Vec<Vec<f32>>,
    /// Tokens of the sentence that did not fit.
    pub cut: usize,
}

impl<B: Backend> Lens<B> {
    /// Takes the comparison of two sentences by a tri-encoder apart.
    ///
    /// # Errors
    /// As [`Lens::compare`]; or this is no tri-encoder: [`Lens::explain`] takes the others apart.
    pub async fn explain_apart(
        &self,
        sentences: [&str; 2],
        condition: &str,
    ) -> Result<ApartExplanation> {
        if !matches!(self.case, Case::Apart(_)) {
            return Err(Error::InvalidArgument(
                "this is no tri-encoder: sentence and condition are in one input.".into(),
            ));
        }
        let (encoder, pooling) = (&self.encoder, self.case.pooling());
        let (backend, template) = (&encoder.backend, encoder.template());
        let tri = TriEncoder::new(encoder, &self.case)?;
        let (mut texts, mut conditions) = (Texts::default(), Texts::default());
        let (mut plan, mut plain) = (Plan::default(), Pooling::default());
        let (mut pairs, mut reads) = (Vec::new(), Vec::new());
        let alone = template.condition("condition", condition)?;
        let condition_index = conditions.add(&template.condition_alone(&alone)?, pooling);
        for (sentence, what) in sentences.iter().zip(["sentence 1", "sentence 2"]) {
            let input = tri.sentence(&template, &template.sentence(what, sentence)?, &alone)?;
            pairs.push(Routed {
                sentence: texts.add(&input, pooling),
                condition: condition_index,
            });
            let read = Read::single(&mut plan, input);
            let row = begin_row(&mut plain, 1);
            plain
                .terms
                .push(read.term(encoder.shape.plain, row, 0, 1.0));
            reads.push(read);
        }
        // How the first token of each text attends to all of it.
        let rows = reads
            .iter()
            .flat_map(|read| read.attention_rows_of(0..1, None));
        let rows: Vec<AttentionRow> = rows.collect();
        let last = encoder.bert()?.0.layers().len().saturating_sub(1);
        let (hidden, attention) = encoder.hidden_attending(&plan.batch, None, &rows, last..)?;

        let states = encoder.states(&hidden, &plan.batch, encoder.shape.plain)?;

        let (texts, conditions) = (tri.sentences(texts)?, tri.conditions(&conditions)?);
        let mut weights = Vec::new();
        let joined = tri.embed_watched(&texts, &conditions, &pairs, |w| weights.push(w))?;

        let mut taken = vec![
            (StepName::Plain, backend.pool(&states, &plain)?),
            (StepName::Joint, joined.clone()),
        ];
        if let Some((head, _)) = self.head.as_ref().filter(|_| self.has_layers()) {
            taken.push((StepName::Projected, head.forward(backend, &joined)?));
        }
        let tensors: Vec<&B::Tensor> = (taken.iter().map(|(_, x)| x))
            .chain(&attention)
            .chain(&weights)
            .collect();
        let mut numbers = backend.read(&tensors).await?.into_iter();
        let steps: Vec<Step> = (taken.iter().zip(numbers.by_ref()))
            .map(|((name, _), both)| {
                let (first, second) = both.split_at(both.len() / 2);
                Step {
                    name: *name,
                    cosine: cosine(first, second),
                    vectors: [first.to_vec(), second.to_vec()],
                }
            })
            .collect();
        let steps = sound(steps, encoder)?;
        let attention: Vec<f32> = numbers.by_ref().take(attention.len()).flatten().collect();
        let weights: Vec<Vec<f32>> = numbers.collect();

        let readings = Readings::new(&encoder.tokenizer, &sentences)?;
        let longest = reads.iter().map(|read| read.sequence.ids.len()).max();
        let all: usize = reads.iter().map(|read| read.sequence.ids.len()).sum();
        let mut begin = 0;
        let weighed = reads.iter().enumerate().map(|(which, read)| {
            let tokens = read.sequence.ids.len();
            let row = which * longest.unwrap_or(0);
            let own = begin..begin + tokens;
            begin += tokens;
            Weighed {
                tokens: readings.reading(which, 0, None, read, Vec::new()).tokens,
                cls: attention[row..row + tokens].to_vec(),
                weights: (weights.iter())
                    .map(|layer| {
                        let columns = (layer.len() / all.max(1)).max(1);
                        let rows = layer.chunks_exact(columns);
                        let means = rows.map(|row| row.iter().sum::<f32>() / columns as f32);
                        means.skip(own.start).take(own.len()).collect()
                    })
                    .collect(),
                cut: read.sequence.cut,
            }
        });
        let weighed: Vec<Weighed> = weighed.collect();
        let Ok(sentences) = <[Weighed; 2]>::try_from(weighed) else {
            return Err(Error::InvalidArgument("two sentences are compared.".into()));
        };
        let similarity = steps.last().map_or(0.0, |step| step.cosine);
        Ok(ApartExplanation {
            condition: normalize_condition(condition).to_owned(),
            sentences,
            steps,
            similarity,
            rating: self.rating(similarity),
        })
    }
}

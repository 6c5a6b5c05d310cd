//! The whole story in one place: an encoder, a head, and two sentences seen through conditions.

use serde::Serialize;

use crate::{
    backend::Backend,
    embedding::{Case, Encoder, Input, Pool, Rows},
    error::Result,
    head::{Head, HeadFile, HeadSpec},
    similarity::{cosine, rating},
};

pub mod any;
pub mod auto;
pub mod explain;
pub mod opened;

/// An encoder with the head that was trained for it, on one backend.
pub struct Lens<B: Backend> {
    pub encoder: Encoder<B>,
    pub case: Case,
    head: Option<(Head<B>, HeadSpec)>,
}

/// How similar two sentences are under one condition.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    pub condition: String,
    /// Cosine of the two condition-aware embeddings, −1 to 1.
    pub similarity: f32,
    /// The same on the 1–5 scale of human ratings.
    pub rating: f32,
    /// Cosine of the two plain sentence embeddings: no condition.
    pub unconditional: f32,
    /// Present where a sentence was too long for the encoder and its end was not read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

impl<B: Backend> Lens<B> {
    /// Joins an encoder and a head. Without a head, embeddings are compared as the encoder makes them,
    /// under `case`.
    ///
    /// # Errors
    /// The head was trained on another encoder, or for another width; or as [`Encoder::check`].
    pub fn new(encoder: Encoder<B>, head: Option<&HeadFile>, case: Case) -> Result<Self> {
        let Some(file) = head else {
            encoder.check(&case)?;
            return Ok(Self {
                encoder,
                case,
                head: None,
            });
        };
        file.spec.check_encoder(&encoder.id)?;
        file.spec
            .check_width(&encoder.id, encoder.shape.hidden_size)?;
        encoder.check(&file.spec.case)?;
        let loaded = Head::load(&encoder.backend, file)?;
        Ok(Self {
            encoder,
            case: file.spec.case.clone(),
            head: Some((loaded, file.spec.clone())),
        })
    }

    /// Width of a conditional embedding.
    pub fn dims(&self) -> usize {
        match &self.head {
            Some((_, spec)) => spec.output(),
            None => self.case.dims(self.encoder.shape.hidden_size),
        }
    }

    /// Compares two sentences under each condition; results are in the conditions' order.
    pub async fn compare(
        &self,
        sentence1: &str,
        sentence2: &str,
        conditions: &[&str],
    ) -> Result<Vec<Comparison>> {
        let template = self.encoder.template();
        let first = template.sentence("sentence 1", sentence1)?;
        let second = template.sentence("sentence 2", sentence2)?;
        let mut inputs = vec![Input::Single(first.clone()), Input::Single(second.clone())];
        for (i, condition) in conditions.iter().enumerate() {
            let condition = template.condition(&format!("condition {}", i + 1), condition)?;
            for sentence in [&first, &second] {
                inputs.push(Input::Conditional {
                    sentence: sentence.clone(),
                    condition: condition.clone(),
                });
            }
        }
        let rows = self.run(&inputs).await?;
        let unconditional = cosine(&rows.vectors[0], &rows.vectors[1]);
        Ok(conditions
            .iter()
            .zip(rows.vectors[2..].chunks_exact(2))
            .enumerate()
            .map(|(i, (condition, pair))| {
                let similarity = cosine(&pair[0], &pair[1]);
                let inputs = 2 + 2 * i..4 + 2 * i;
                Comparison {
                    condition: (*condition).to_owned(),
                    similarity,
                    rating: rating(similarity),
                    unconditional,
                    truncated: rows.cuts.iter().any(|(input, _)| inputs.contains(input)),
                }
            })
            .collect())
    }

    /// Unit-length embeddings of tokenized inputs: through the head for conditional ones, `[dims]`; plain
    /// mean-pooled ones for single texts, `[hidden]`.
    pub async fn run(&self, inputs: &[Input]) -> Result<Rows> {
        let backend = &self.encoder.backend;
        self.encoder
            .run(
                inputs,
                &self.case,
                Pool::All,
                |x| backend.normalize(&x),
                |x| {
                    let projected = match &self.head {
                        Some((head, _)) => head.forward(backend, &x)?,
                        None => x,
                    };
                    backend.normalize(&projected)
                },
            )
            .await
    }

    /// Embeddings of sentences, each seen through its condition where it has one.
    pub async fn embed(&self, items: &[(&str, Option<&str>)]) -> Result<Rows> {
        let inputs = items
            .iter()
            .enumerate()
            .map(|(i, (sentence, condition))| match condition {
                Some(c) => self
                    .encoder
                    .conditional(sentence, c, &format!(" {}", i + 1)),
                None => self
                    .encoder
                    .single(&format!("sentence {}", i + 1), sentence),
            })
            .collect::<Result<Vec<_>>>()?;
        self.run(&inputs).await
    }
}

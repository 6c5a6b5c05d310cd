//! The whole story in one place: an encoder, a head, and two sentences seen through conditions.

use serde::Serialize;

use crate::{
    backend::{Backend, any::AnyBackend},
    checkpoint::BertCheckpoint,
    embedding::{Case, Encoder, Input, Pool, encoder::Look, plan::Job},
    error::{Error, Result},
    head::{Head, HeadFile, HeadSpec, Mentioned},
    lens::{
        long::{Origin, Parts},
        reading::{Dealt, Joined, Reading, Readings, longest},
    },
    similarity::{Calibration, cosine, rating},
    text::language::{Language, other_than_english},
};

pub mod apart;
pub mod auto;
pub mod embeddings;
pub mod explain;
pub mod heads;
pub mod long;
pub mod notices;
#[cfg(not(target_arch = "wasm32"))]
pub mod open;
pub mod opened;
pub mod reading;
#[cfg(not(target_arch = "wasm32"))]
pub mod rows;

pub use embeddings::Embeddings;

/// An encoder with the head that was trained for it, on one backend: by default one that is chosen at run time.
pub struct Lens<B: Backend = AnyBackend> {
    /// What reads the texts.
    pub encoder: Encoder<B>,
    /// How sentence and condition meet.
    pub case: Case,
    head: Option<(Head<B>, HeadSpec)>,
    mentioned: Option<Mentioned>,
    calibration: Option<Calibration>,
}

/// How similar two sentences are under one condition.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// As it was given.
    pub condition: String,
    /// Cosine of the two condition-aware embeddings, −1 to 1; a cross-encoder's score, which is near 0 to 1.
    pub similarity: f32,
    /// The same on the 1–5 scale of human ratings ([`Lens::rating`]).
    pub rating: f32,
    /// Cosine of the two plain sentence embeddings: no condition.
    pub unconditional: f32,
    /// Present where a sentence was too long for the encoder and its end was not read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// How many tokens of the three texts the encoder's vocabulary lacks: it reads them all as the same. Left out where it is 0.
    #[serde(skip_serializing_if = "is_none")]
    pub unknown: usize,
    /// Of either sentence, a language that the model was not trained on, where it is certain; left out where there is none.
    #[serde(skip_serializing_if = "are_none")]
    pub language: [Option<Language>; 2],
    /// Of either sentence, how probable it is that it says anything about the condition, 0 to 1, where the head tells that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mentioned: Option<[f32; 2]>,
    /// What was read of either sentence, with the last layer's attention alone, where that was asked for
    /// ([`Question::attention`]).
    #[serde(skip)]
    pub readings: Option<[Vec<Reading>; 2]>,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

fn are_none(languages: &[Option<Language>; 2]) -> bool {
    languages.iter().all(Option::is_none)
}

/// Two sentences to be compared under conditions, or a part of such a call.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The two sentences.
    pub sentences: [&'a str; 2],
    /// The conditions.
    pub conditions: &'a [&'a str],
    /// Conditions of the whole call before these: errors count on from them.
    pub first: usize,
    /// The similarity without a condition, where it is known already: it is not computed again.
    pub unconditional: Option<f32>,
    /// Whether to tell where each condition looked.
    pub attention: bool,
}

/// What is done with the rows that an encoder gives, before they are read.
pub struct Finish<'a, B: Backend> {
    /// Projects embeddings under conditions.
    pub head: Option<&'a Head<B>>,
    /// Whether embeddings get unit length.
    pub normalize: bool,
}

/// Where an input's condition looked.
type Looks<B> = Vec<(Look<B>, Vec<f32>)>;

/// Where conditions looked in a pass.
struct Looked<B: Backend> {
    look: Look<B>,
    weights: Vec<f32>,
    /// Of each of the look's reads, where it is from and its share of the whole.
    of: Vec<(Origin, f32)>,
}

impl<B: Backend> Encoder<B> {
    /// The one loop: hidden states → pooled rows → head → normalised → read, pass after pass.
    ///
    /// # Errors
    /// As [`Encoder::passes`], what the device says, and [`Error::NotFinite`].
    pub async fn run(&self, job: Job<'_>, finish: Finish<'_, B>) -> Result<Embeddings> {
        Ok(self.run_looking(job, finish).await?.0)
    }

    async fn run_looking(
        &self,
        job: Job<'_>,
        finish: Finish<'_, B>,
    ) -> Result<(Embeddings, Looks<B>)> {
        let backend = &self.backend;
        let mut vectors = vec![Vec::new(); job.inputs.len()];
        let mut looks = Vec::new();
        let mut passes = self.passes(job)?;
        while let Some(embedded) = passes.next().await? {
            let (mut rows, mut inputs) = (Vec::with_capacity(3), Vec::with_capacity(2));
            for (made, head) in [(embedded.plain, None), (embedded.conditional, finish.head)] {
                let Some(made) = made else { continue };
                let mut x = made.rows;
                if let Some(head) = head {
                    x = head.forward(backend, &x)?;
                }
                if finish.normalize && !head.is_some_and(Head::scores) {
                    x = backend.normalize(&x)?;
                }
                rows.push(x);
                inputs.push(made.inputs);
            }
            rows.extend(embedded.look.as_ref().map(|look| look.weights.clone()));
            let numbers = backend.read(&rows.iter().collect::<Vec<_>>()).await?;
            let mut numbers = numbers.into_iter();
            for (inputs, numbers) in inputs.into_iter().zip(numbers.by_ref()) {
                let width = (numbers.len() / inputs.len()).max(1);
                for (input, row) in inputs.into_iter().zip(numbers.chunks_exact(width)) {
                    vectors[input] = row.to_vec();
                }
            }
            looks.extend(embedded.look.zip(numbers.next()));
        }
        let sound = |vector: &Vec<f32>| vector.iter().all(|x| x.is_finite());
        if let Some(input) = vectors.iter().position(|vector| !sound(vector)) {
            return Err(Error::not_finite(input, self.dtype.to_string()));
        }
        let unknown = job
            .inputs
            .iter()
            .map(|input| input.unknown(&self.tokenizer));
        let embeddings = Embeddings {
            vectors,
            cuts: passes.into_cuts(),
            unknown: unknown.enumerate().filter(|(_, n)| *n > 0).collect(),
            mentioned: Vec::new(),
        };
        Ok((embeddings, looks))
    }
}

impl<B: Backend> Lens<B> {
    /// Joins an encoder and a head. Without a head, embeddings are compared as the encoder makes them,
    /// under `case`.
    ///
    /// # Errors
    /// The head was trained on another encoder, or for another width, or there is none and `case` is a cross-encoder's; or as
    /// [`Encoder::check`].
    pub fn new(mut encoder: Encoder<B>, head: Option<&HeadFile>, case: Case) -> Result<Self> {
        let Some(file) = head else {
            encoder.check(&case)?;
            if case.scores() {
                return Err(Error::InvalidArgument(
                    "a cross-encoder scores with the head that was trained with it, and none is given.".into(),
                ));
            }
            return Ok(Self {
                encoder,
                case,
                head: None,
                mentioned: None,
                calibration: None,
            });
        };
        file.spec.check_encoder(&encoder.id)?;
        file.spec
            .check_width(&encoder.id, encoder.shape.hidden_size)?;
        encoder.equip(&file.spec.case, &file.join, 0.0)?;
        encoder.check(&file.spec.case)?;
        let loaded = Head::load(&encoder.backend, file)?;
        Ok(Self {
            encoder,
            case: file.spec.case.clone(),
            head: Some((loaded, file.spec.clone())),
            mentioned: file.mentioned.clone(),
            calibration: file.calibration.clone(),
        })
    }

    /// Copies an encoder to a backend and joins it with a head; see [`Lens::new`].
    ///
    /// # Errors
    /// As [`Lens::new`] and [`Encoder::load`]. A head for another encoder is found before anything is copied.
    pub fn load(
        backend: B,
        checkpoint: &BertCheckpoint,
        head: Option<&HeadFile>,
        case: Case,
    ) -> Result<Self> {
        check(checkpoint, head)?;
        Self::new(Encoder::load(backend, checkpoint)?, head, case)
    }

    /// As [`Lens::load`], and uses the checkpoint up, so that no weight is in memory twice.
    ///
    /// # Errors
    /// As [`Lens::load`].
    pub fn consume(
        backend: B,
        checkpoint: BertCheckpoint,
        head: Option<&HeadFile>,
        case: Case,
    ) -> Result<Self> {
        check(&checkpoint, head)?;
        Self::new(Encoder::consume(backend, checkpoint)?, head, case)
    }

    /// Width of a conditional embedding.
    pub fn dims(&self) -> usize {
        match &self.head {
            Some((_, spec)) => spec.output(),
            None => self.case.dims(self.encoder.shape.hidden_size),
        }
    }

    /// What tells whether a sentence says anything about a condition, where the head has that.
    pub fn mentioned(&self) -> Option<&Mentioned> {
        self.mentioned.as_ref()
    }

    /// The rating 1–5 that a similarity stands for: as the head's calibration has it, else 1 + 4 · similarity.
    pub fn rating(&self, similarity: f32) -> f32 {
        rating(similarity, self.calibration.as_ref())
    }

    /// The languages that it was trained on, as ISO 639-1 has them: the head's, else English where the encoder's vocabulary
    /// is English; `None` where that is not known, or where they are many.
    pub fn languages(&self) -> Option<Vec<&str>> {
        let said = self
            .head
            .as_ref()
            .and_then(|(_, spec)| spec.languages.as_ref());
        match said {
            Some(languages) => Some(languages.iter().map(String::as_str).collect()),
            None => self.encoder.tokenizer.is_english().then(|| vec!["en"]),
        }
    }

    /// The language of a text, where it is certainly one that this was not trained on.
    pub fn foreign(&self, text: &str) -> Option<Language> {
        let trained = self.languages()?;
        other_than_english(text).filter(|language| !trained.contains(&language.code))
    }

    /// Compares two sentences under each condition; results are in the conditions' order.
    ///
    /// # Errors
    /// A text is empty or no text, a condition leaves no room for a sentence, or what the device says.
    pub async fn compare(
        &self,
        sentence1: &str,
        sentence2: &str,
        conditions: &[&str],
    ) -> Result<Vec<Comparison>> {
        self.answer(&Question {
            sentences: [sentence1, sentence2],
            conditions,
            first: 0,
            unconditional: None,
            attention: false,
        })
        .await
    }

    /// Compares two sentences under each condition, as `question` wants it.
    ///
    /// # Errors
    /// As [`Lens::compare`].
    pub async fn answer(&self, question: &Question<'_>) -> Result<Vec<Comparison>> {
        let [sentence1, sentence2] = question.sentences;
        let template = self.encoder.template();
        let first = template.sentence("sentence 1", sentence1)?;
        let second = template.sentence("sentence 2", sentence2)?;
        let tokenizer = &self.encoder.tokenizer;
        let of_sentences = first.unknown(tokenizer) + second.unknown(tokenizer);
        let mut unknown = Vec::with_capacity(question.conditions.len());
        let mut inputs = Vec::with_capacity(2 + 2 * question.conditions.len());
        for (condition, number) in question.conditions.iter().zip(question.first + 1..) {
            let condition = template.condition(&format!("condition {number}"), condition)?;
            unknown.push(of_sentences + condition.unknown(tokenizer));
            inputs.extend(self.case.inputs(&template, [&first, &second], &condition)?);
        }
        let conditional = inputs.len();
        let each = (conditional / question.conditions.len().max(1)).max(1);
        if question.unconditional.is_none() {
            inputs.extend([Input::Single(first), Input::Single(second)]);
        }
        let (embedded, looks) = self.run_looking(&inputs, question.attention).await?;
        let (pairs, plain) = embedded.vectors.split_at(conditional);
        let unconditional = match plain {
            [first, second] => cosine(first, second),
            _ => question.unconditional.unwrap_or_default(),
        };
        let language = question.sentences.map(|sentence| self.foreign(sentence));
        let mut readings = self.looked(question, &looks)?.into_iter();
        let pairs = question.conditions.iter().zip(pairs.chunks_exact(each));
        Ok(pairs
            .enumerate()
            .map(|(i, (condition, pair))| {
                let similarity = self.case.similarity([&pair[0], &pair[each - 1]]);
                let inputs = each * i..each * (i + 1);
                Comparison {
                    condition: (*condition).to_owned(),
                    similarity,
                    rating: self.rating(similarity),
                    unconditional,
                    truncated: embedded
                        .cuts
                        .iter()
                        .any(|(input, _)| inputs.contains(input)),
                    unknown: unknown[i],
                    language,
                    mentioned: both_mentioned(embedded.mentioned.get(inputs)),
                    readings: readings.next(),
                }
            })
            .collect())
    }

    /// What was read under each condition; none where nobody looked.
    fn looked(
        &self,
        question: &Question<'_>,
        looks: &[Looked<B>],
    ) -> Result<Vec<[Vec<Reading>; 2]>> {
        if looks.is_empty() {
            return Ok(Vec::new());
        }
        let readings = Readings::new(&self.encoder.tokenizer, &question.sentences)?;
        let conditions = question.conditions.iter();
        let conditions = conditions.map(|condition| readings.condition(condition));
        let conditions = conditions.collect::<Result<Vec<_>>>()?;
        let mut all: Vec<_> = (0..2 * conditions.len())
            .map(|_| Joined::default())
            .collect();
        for looked in looks {
            let reads = looked.look.reads.iter().map(|(_, reads)| reads);
            let mut dealt = Dealt::new(&looked.weights, longest(reads.clone().flatten()));
            for (reads, (origin, share)) in reads.zip(&looked.of) {
                let (condition, which) = (conditions.get(origin.input / 2), origin.input % 2);
                let reading = |read| {
                    let attention = vec![dealt.deal(read)];
                    readings.reading(which, origin.begin, condition, read, attention)
                };
                all[origin.input].add(reads.iter().map(reading), *share);
            }
        }
        let mut all = all.into_iter().map(Joined::readings);
        let mut next = || all.next().unwrap_or_default();
        Ok(conditions.iter().map(|_| [next(), next()]).collect())
    }

    /// Unit-length embeddings of tokenized inputs: through the head for conditional ones, `[dims]`; for single texts plain
    /// ones, pooled as the encoder's authors have it, `[hidden]`.
    ///
    /// # Errors
    /// As [`Encoder::run`].
    pub async fn run(&self, inputs: &[Input]) -> Result<Embeddings> {
        let (embedded, _) = self.run_looking(inputs, false).await?;
        Ok(embedded)
    }

    /// As [`Lens::run`], and where the conditions looked, if that is asked for.
    async fn run_looking(
        &self,
        inputs: &[Input],
        look: bool,
    ) -> Result<(Embeddings, Vec<Looked<B>>)> {
        let parts = self.parts(inputs);
        let job = Job {
            look,
            ..self.job(&parts.inputs)
        };
        let embedded = self.encoder.run_looking(job, self.finish()).await;
        let (embedded, looks) = embedded.map_err(|error| parts.of_inputs(error))?;
        let (embedded, shares) = parts.gather(embedded, self.mentioned.as_ref());
        let looked = |(look, weights): (Look<B>, Vec<f32>)| Looked {
            of: (look.reads.iter())
                .map(|(part, _)| (parts.origins[*part], shares[*part]))
                .collect(),
            look,
            weights,
        };
        Ok((embedded, looks.into_iter().map(looked).collect()))
    }

    /// Inputs as the encoder reads them: long ones in parts, where a head tells how much each says about the condition.
    fn parts<'a>(&self, inputs: &'a [Input]) -> Parts<'a> {
        match (&self.mentioned, &self.case) {
            (Some(_), Case::Joint(_)) => Parts::of(inputs, &self.encoder.tokenizer),
            _ => Parts::whole(inputs),
        }
    }

    /// Embeddings of sentences, each seen through its condition where it has one.
    ///
    /// # Errors
    /// As [`Lens::compare`].
    pub async fn embed(&self, items: &[(&str, Option<&str>)]) -> Result<Embeddings> {
        self.embed_from(items, 0).await
    }

    /// As [`Lens::embed`], for a part of a call: `first` items come before these, and errors count on from them.
    ///
    /// # Errors
    /// As [`Lens::compare`].
    pub async fn embed_from(
        &self,
        items: &[(&str, Option<&str>)],
        first: usize,
    ) -> Result<Embeddings> {
        let input =
            |((sentence, condition), number): (&(&str, Option<&str>), usize)| match condition {
                Some(condition) => {
                    let what = format!(" {number}");
                    self.encoder.conditional(sentence, condition, &what)
                }
                None => self.encoder.single(&format!("sentence {number}"), sentence),
            };
        let inputs = items.iter().zip(first + 1..).map(input);
        self.run(&inputs.collect::<Result<Vec<_>>>()?).await
    }

    fn job<'a>(&'a self, inputs: &'a [Input]) -> Job<'a> {
        Job {
            inputs,
            case: Some(&self.case),
            plain: self.encoder.shape.plain,
            look: false,
        }
    }

    fn finish(&self) -> Finish<'_, B> {
        Finish {
            head: self.head.as_ref().map(|(head, _)| head),
            normalize: true,
        }
    }
}

/// What is known of both sentences of a comparison.
fn both_mentioned(inputs: Option<&[Option<f32>]>) -> Option<[f32; 2]> {
    match inputs {
        Some(&[Some(first), Some(second)]) => Some([first, second]),
        _ => None,
    }
}

impl<B: Backend> Encoder<B> {
    /// CASE embeddings before any head or normalisation.
    ///
    /// # Errors
    /// As [`Encoder::run`].
    pub async fn run_raw(&self, inputs: &[Input], case: &Case) -> Result<Embeddings> {
        let job = Job {
            inputs,
            case: Some(case),
            plain: self.shape.plain,
            look: false,
        };
        let finish = Finish {
            head: None,
            normalize: false,
        };
        self.run(job, finish).await
    }

    /// Plain embeddings of texts, each `[hidden]`; unit length where `normalize` says so.
    ///
    /// With mean pooling this is what sentence-transformers computes.
    ///
    /// # Errors
    /// As [`Lens::compare`].
    pub async fn embed(&self, texts: &[&str], pool: Pool, normalize: bool) -> Result<Embeddings> {
        self.embed_from(texts, pool, normalize, 0).await
    }

    /// As [`Encoder::embed`], for a part of a call: `first` texts come before these, and errors count on from them.
    ///
    /// # Errors
    /// As [`Lens::compare`].
    pub async fn embed_from(
        &self,
        texts: &[&str],
        pool: Pool,
        normalize: bool,
        first: usize,
    ) -> Result<Embeddings> {
        let inputs = texts.iter().zip(first + 1..);
        let inputs = inputs
            .map(|(text, number)| self.single(&format!("text {number}"), text))
            .collect::<Result<Vec<_>>>()?;
        let job = Job {
            inputs: &inputs,
            case: None,
            plain: pool,
            look: false,
        };
        let finish = Finish {
            head: None,
            normalize,
        };
        self.run(job, finish).await
    }
}

/// A head for another encoder is found before anything is copied to a device.
fn check(checkpoint: &BertCheckpoint, head: Option<&HeadFile>) -> Result<()> {
    match head {
        Some(head) => head.spec.check_encoder(&checkpoint.encoder),
        None => Ok(()),
    }
}

// Threads share a lens natively. In a browser wgpu's objects stay in their thread.
#[cfg(not(target_arch = "wasm32"))]
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Lens>();
};

//! Fine-tuning an encoder end to end on rated sentence pairs: a siamese bi-encoder (Reimers & Gurevych,
//! 2019) whose two sides are CASE embeddings.
//!
//! With sᵢ = cos(CASE(s₁, c), CASE(s₂, c)) and a rating rᵢ, the loss of a batch is a weighted sum of
//!
//! - `mse`: the mean of (sᵢ − (rᵢ − 1)/4)²;
//! - `rank`: the mean, over sentence pairs rated under two conditions a and b, of
//!   softplus(−sign(r_a − r_b)·(s_a − s_b)/0.1); 0 for ties.
//!
//! Both rows of a sentence pair are always in one batch. Gradients go through the same forward pass as
//! everywhere else.

use candle_core::{D, Device, Tensor};
use rand::{SeedableRng, rngs::StdRng, seq::SliceRandom};

use super::{Case, Encoder, Input, Pool, case::Plan};
use crate::{
    backend::{
        Backend,
        candle::{Candle, Parameter, Precision, adamw::AdamW},
    },
    error::{Error, Result},
    evaluation::{
        dataset::Dataset,
        early_stopping::{EarlyStopping, Epoch},
        metrics::{self, Pair},
    },
    model::checkpoint::Checkpoint,
    similarity::cosine,
};

/// The difference of two similarities that counts as one unit in the ranking loss.
const RANK_SCALE: f64 = 0.1;
/// The share of all steps over which the learning rate rises to its peak; it then falls linearly to 0.
const WARM_UP: f64 = 0.06;
/// Gradients longer than this are shortened to it.
const CLIP: f64 = 1.0;

/// How much each part of the loss counts.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Loss {
    pub mse: f64,
    pub rank: f64,
}

impl std::str::FromStr for Loss {
    type Err = Error;

    /// Parses names with optional weights, such as `mse,rank:0.1`.
    fn from_str(text: &str) -> Result<Self> {
        let wrong = |reason: String| Error::InvalidArgument(reason);
        let mut loss = Self {
            mse: 0.0,
            rank: 0.0,
        };
        for part in text.split(',') {
            let (name, weight) = match part.trim().split_once(':') {
                None => (part.trim(), 1.0),
                Some((name, weight)) => (
                    name,
                    weight
                        .parse()
                        .ok()
                        .filter(|w: &f64| *w > 0.0 && w.is_finite())
                        .ok_or_else(|| {
                            wrong(format!(
                                "the weight of `{part}` in the loss is not a positive number."
                            ))
                        })?,
                ),
            };
            match name {
                "mse" => loss.mse = weight,
                "rank" => loss.rank = weight,
                _ => {
                    return Err(wrong(format!(
                        "`{name}` is not a loss. Name mse, rank or both, with weights if not 1: mse,rank:0.1."
                    )));
                }
            }
        }
        Ok(loss)
    }
}

/// How to fine-tune.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Options {
    pub loss: Loss,
    /// AdamW's peak learning rate.
    pub learning_rate: f64,
    /// AdamW's weight decay.
    pub weight_decay: f64,
    /// Probability of dropout after the embeddings and in each sub-layer.
    pub dropout: f32,
    /// Whether the token embeddings are trained too.
    pub tokens: bool,
    /// Sentence pairs a step, each with all of its conditions.
    pub batch: usize,
    /// Most epochs; the learning rate reaches 0 at their end.
    pub epochs: usize,
    /// Epochs without a better validation Spearman after which training stops.
    pub patience: usize,
    pub seed: u64,
    /// What linear layers multiply.
    pub precision: Precision,
}

/// How far training is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Progress {
    /// A step is done; `loss` is its own.
    Step { step: usize, of: usize, loss: f64 },
    /// An epoch is done and validated.
    Epoch(Epoch),
}

/// A fine-tuned encoder's weights.
pub struct FineTuned {
    /// The weights of the best epoch.
    pub parameters: Vec<Parameter>,
    /// The epoch whose weights these are.
    pub best: Epoch,
    pub history: Vec<Epoch>,
}

/// One rated row: both sentences under their condition.
struct Example {
    sides: [Input; 2],
    rating: f32,
}

/// Fine-tunes an encoder on `device`; `report` is called after each step and each epoch. The same seed
/// gives the same weights on the same machine.
///
/// # Errors
/// A text that cannot be encoded, or a loss that is no longer a number.
pub fn fine_tune(
    checkpoint: &Checkpoint,
    device: Device,
    case: &Case,
    train: &Dataset,
    validation: &Dataset,
    options: &Options,
    mut report: impl FnMut(Progress),
) -> Result<FineTuned> {
    let training = Candle::fine_tuning(
        device.clone(),
        options.seed,
        options.dropout,
        options.tokens,
    )
    .with_precision(options.precision)?;
    let mut encoder = Encoder::load(training, checkpoint)?;
    let parameters = encoder.backend.parameters();
    let (examples, validation_examples) =
        (prepare(&encoder, train)?, prepare(&encoder, validation)?);
    let ratings = validation.ratings();

    let mut groups = groups(train);
    let steps = groups.len().div_ceil(options.batch);
    let of = steps * options.epochs;
    let mut optimizer = AdamW::new(&parameters, options.weight_decay)?;
    let mut rng = StdRng::seed_from_u64(options.seed);
    let mut stopping = EarlyStopping::new(options.patience);
    let mut step = 0;
    for epoch in 1..=options.epochs {
        groups.shuffle(&mut rng);
        let mut total = 0.0;
        for batch in groups.chunks(options.batch) {
            let loss = batch_loss(&encoder, case, &examples, batch, &options.loss)?;
            let value = f64::from(loss.to_scalar::<f32>()?);
            if !value.is_finite() {
                return Err(Error::InvalidArgument(format!(
                    "the loss is no number after {step} steps. Try a smaller --learning-rate."
                )));
            }
            let mut gradients = loss.backward()?;
            let rate = options.learning_rate * schedule(step, of);
            optimizer.step(&mut gradients, rate, CLIP)?;
            total += value;
            step += 1;
            report(Progress::Step {
                step,
                of,
                loss: value,
            });
        }
        let predicted = predict(&mut encoder, case, &validation_examples)?;
        let reached = Epoch {
            epoch,
            loss: total / steps as f64,
            validation_spearman: metrics::spearman(&predicted, &ratings),
        };
        report(Progress::Epoch(reached));
        let copies = || -> Result<Vec<Tensor>> {
            parameters
                .iter()
                .map(|p| Ok(p.var.as_detached_tensor().copy()?))
                .collect()
        };
        if !stopping.go_on(reached, copies)? {
            break;
        }
    }
    let stopped = stopping.finish()?;
    for (parameter, copy) in parameters.iter().zip(&stopped.weights) {
        parameter.var.set(copy)?;
    }
    Ok(FineTuned {
        parameters,
        best: stopped.best,
        history: stopped.history,
    })
}

/// The share of the peak learning rate at a step (from 0).
fn schedule(step: usize, of: usize) -> f64 {
    let warm_up = (WARM_UP * of as f64).max(1.0);
    let at = step as f64 + 1.0;
    match at < warm_up {
        true => at / warm_up,
        false => (of as f64 - step as f64) / (of as f64 - warm_up + 1.0),
    }
}

fn prepare(encoder: &Encoder<Candle>, data: &Dataset) -> Result<Vec<Example>> {
    data.rows
        .iter()
        .map(|row| {
            let what = format!(" \"{:.60}\"", row.condition);
            let side = |sentence: &str| encoder.conditional(sentence, &row.condition, &what);
            Ok(Example {
                sides: [side(&row.sentence1)?, side(&row.sentence2)?],
                rating: row.rating,
            })
        })
        .collect()
}

/// The rows of each sentence pair: two where it is rated under two conditions, else one.
fn groups(data: &Dataset) -> Vec<Vec<usize>> {
    let mut second: Vec<Option<usize>> = vec![None; data.rows.len()];
    let mut alone = vec![true; data.rows.len()];
    for &(a, b) in &data.pairs {
        second[a] = Some(b);
        alone[b] = false;
    }
    (0..data.rows.len())
        .filter(|&row| alone[row])
        .map(|row| std::iter::once(row).chain(second[row]).collect())
        .collect()
}

/// The loss of a batch, dropout on: one number.
fn batch_loss(
    encoder: &Encoder<Candle>,
    case: &Case,
    examples: &[Example],
    batch: &[Vec<usize>],
    loss: &Loss,
) -> Result<Tensor> {
    let rows: Vec<&Example> = batch.iter().flatten().map(|&row| &examples[row]).collect();
    let mut pairs: Vec<Pair> = Vec::new();
    let mut at = 0;
    for group in batch {
        if group.len() == 2 {
            pairs.push((at, at + 1));
        }
        at += group.len();
    }
    let template = encoder.template();
    let mut plan = Plan::default();
    for side in 0..2 {
        for row in &rows {
            plan.push(case, Pool::All, &template, &row.sides[side])?;
        }
    }
    let hidden = encoder.hidden(&plan.batch)?;
    let z = encoder
        .backend
        .normalize(&encoder.backend.pool(&hidden, &plan.conditionals)?)?;
    let n = rows.len();
    let similarity = (z.narrow(0, 0, n)? * z.narrow(0, n, n)?)?.sum(D::Minus1)?;
    let ratings: Vec<f32> = rows.iter().map(|row| row.rating).collect();
    loss.of(&similarity, &ratings, &pairs)
}

impl Loss {
    /// The loss of similarities `[rows]` with these ratings; `pairs` are rows of one sentence pair.
    pub fn of(&self, similarity: &Tensor, ratings: &[f32], pairs: &[Pair]) -> Result<Tensor> {
        let device = similarity.device();
        let target: Vec<f32> = ratings.iter().map(|r| (r - 1.0) / 4.0).collect();
        let target = Tensor::new(target, device)?;
        let mut total = ((similarity - target)?.sqr()?.mean_all()? * self.mse)?;
        let untied: Vec<_> = pairs
            .iter()
            .filter(|&&(a, b)| ratings[a] != ratings[b])
            .collect();
        if self.rank > 0.0 && !untied.is_empty() {
            // Each pair's higher-rated row first.
            let (high, low): (Vec<u32>, Vec<u32>) = untied
                .iter()
                .map(|&&(a, b)| match ratings[a] > ratings[b] {
                    true => (a as u32, b as u32),
                    false => (b as u32, a as u32),
                })
                .unzip();
            let of = |rows: Vec<u32>| similarity.index_select(&Tensor::new(rows, device)?, 0);
            let x = ((of(low)? - of(high)?)? / RANK_SCALE)?;
            // softplus(x) = max(x, 0) + ln(1 + e^−|x|), which cannot overflow.
            let size = (x.relu()? + x.neg()?.relu()?)?;
            let softplus = (x.relu()? + (size.neg()?.exp()? + 1.0)?.log()?)?;
            total = (total + (softplus.sum_all()? * (self.rank / pairs.len() as f64))?)?;
        }
        Ok(total)
    }
}

/// Similarities of the examples, dropout off.
fn predict(encoder: &mut Encoder<Candle>, case: &Case, examples: &[Example]) -> Result<Vec<f64>> {
    let inputs: Vec<Input> = examples.iter().flat_map(|e| e.sides.clone()).collect();
    let inference = Candle::new(encoder.backend.device().clone());
    let training = std::mem::replace(&mut encoder.backend, inference);
    let rows = pollster::block_on(encoder.run(&inputs, case, Pool::All, Ok, Ok));
    encoder.backend = training;
    Ok(rows?
        .vectors
        .chunks_exact(2)
        .map(|two| f64::from(cosine(&two[0], &two[1])))
        .collect())
}

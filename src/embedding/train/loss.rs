//! What a training step makes small.
//!
//! With similarities sᵢ and ratings rᵢ of the rows of a batch, the loss is a weighted sum of
//!
//! - `mse`: the weighted mean of (sᵢ − (rᵢ − 1)/4)²;
//! - `rank`: the weighted mean of softplus(−(s_high − s_low)/0.1) over the couples of rows that share their sentence
//!   pair, a couple rated alike counting as 0;
//! - `quad`: the weighted mean of max(0, 1 + s_low − s_high) over those couples that are not rated alike (C-STS;
//!   Deshpande et al., 2023);
//! - `cosent`: log(1 + Σ exp(20·(s_low − s_high))) over all couples of rows in the batch that are not rated
//!   alike (CoSENT; Su, 2022).
//!
//! A row's weight is given, a couple's is the mean of its rows'. The weights of [`Rows::weights`] let a text that many
//! rows compare count as much as one that a single row does.

use std::{collections::HashMap, ops::Range};

use candle_core::Tensor;

use crate::error::{Error, Result};

/// The difference of two similarities that counts as one unit in the ranking loss.
const RANK_SCALE: f64 = 0.1;
/// By how much the higher-rated row is to be the more similar one (C-STS's λ).
const QUAD_MARGIN: f64 = 1.0;
/// CoSENT's scale of differences.
const COSENT_SCALE: f64 = 20.0;

/// How much each part of the loss counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Loss {
    pub mse: f64,
    pub rank: f64,
    pub quad: f64,
    pub cosent: f64,
}

impl std::str::FromStr for Loss {
    type Err = Error;

    /// Parses names with optional weights, such as `mse,rank:0.1`.
    fn from_str(text: &str) -> Result<Self> {
        let wrong = |reason: String| Error::InvalidArgument(reason);
        let mut loss = Self::default();
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
            *match name {
                "mse" => &mut loss.mse,
                "rank" => &mut loss.rank,
                "quad" => &mut loss.quad,
                "cosent" => &mut loss.cosent,
                _ => {
                    return Err(wrong(format!(
                        "`{name}` is not a loss. Name some of mse, rank, quad and cosent, with weights if not 1: mse,rank:0.1."
                    )));
                }
            } = weight;
        }
        Ok(loss)
    }
}

/// The rows of a batch.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// 1 to 5.
    pub ratings: &'a [f32],
    /// How much each row counts.
    pub weights: &'a [f32],
    /// The rows of one sentence pair each.
    pub groups: &'a [Range<usize>],
}

impl Rows<'_> {
    /// Weights for rows that compare these texts: the mean of 1/(rows that hold it) over a row's two, so that a text counts as
    /// much in many rows as in one.
    pub fn weights(texts: &[[usize; 2]]) -> Vec<f32> {
        let mut rows: HashMap<usize, f32> = HashMap::new();
        for text in texts.as_flattened() {
            *rows.entry(*text).or_default() += 1.0;
        }
        let share = |text: &usize| 0.5 / rows[text];
        let weight = |texts: &[usize; 2]| texts.iter().map(share).sum();
        texts.iter().map(weight).collect()
    }

    fn couple(&self, a: usize, b: usize) -> f32 {
        f32::midpoint(self.weights[a], self.weights[b])
    }
}

/// Two rows that are not rated alike.
#[derive(Clone, Copy)]
struct Couple {
    high: u32,
    low: u32,
    weight: f32,
}

impl Loss {
    /// The loss of the rows' similarities `[rows]`, one number.
    pub fn of(&self, similarity: &Tensor, rows: Rows<'_>) -> Result<Tensor> {
        let Rows {
            ratings, weights, ..
        } = rows;
        let device = similarity.device();
        let target: Vec<f32> = ratings.iter().map(|r| (r - 1.0) / 4.0).collect();
        let errors = (similarity - Tensor::new(target, device)?)?.sqr()?;
        let all = f64::from(weights.iter().sum::<f32>());
        let errors = (errors * Tensor::new(weights, device)?)?.sum_all()?;
        let mut total = (errors * (self.mse / all))?;
        let groups = || rows.groups.iter();
        let untied: Vec<Couple> = groups().flat_map(|g| couples(&rows, g)).collect();
        if !untied.is_empty() {
            let weights: Vec<f32> = untied.iter().map(|couple| couple.weight).collect();
            let unlike = f64::from(weights.iter().sum::<f32>());
            let weights = Tensor::new(weights, device)?;
            let gaps = gaps(similarity, &untied)?;
            if self.rank > 0.0 {
                let every = groups().flat_map(all_couples);
                let all = every.map(|(a, b)| f64::from(rows.couple(a, b)));
                let softplus = (softplus(&(&gaps / RANK_SCALE)?)? * &weights)?;
                total = (total + (softplus.sum_all()? * (self.rank / all.sum::<f64>()))?)?;
            }
            if self.quad > 0.0 {
                let short = ((&gaps + QUAD_MARGIN)?.relu()? * &weights)?;
                total = (total + (short.sum_all()? * (self.quad / unlike))?)?;
            }
        }
        if self.cosent > 0.0 {
            let untied: Vec<Couple> = couples(&rows, &(0..ratings.len())).collect();
            if !untied.is_empty() {
                let gaps = (gaps(similarity, &untied)? * COSENT_SCALE)?;
                total = (total + (log_one_plus_sum(&gaps)? * self.cosent)?)?;
            }
        }
        Ok(total)
    }
}

/// All couples of rows in a range.
fn all_couples(rows: &Range<usize>) -> impl Iterator<Item = (usize, usize)> {
    let end = rows.end;
    rows.clone()
        .flat_map(move |a| (a + 1..end).map(move |b| (a, b)))
}

/// The couples of rows in a range that are not rated alike.
fn couples(rows: &Rows<'_>, range: &Range<usize>) -> impl Iterator<Item = Couple> {
    all_couples(range).filter_map(|(a, b)| {
        let (high, low) = match rows.ratings[a].total_cmp(&rows.ratings[b]) {
            std::cmp::Ordering::Greater => (a, b),
            std::cmp::Ordering::Less => (b, a),
            std::cmp::Ordering::Equal => return None,
        };
        Some(Couple {
            high: high as u32,
            low: low as u32,
            weight: rows.couple(a, b),
        })
    })
}

/// s_low − s_high of each couple: positive where their order is wrong.
fn gaps(similarity: &Tensor, couples: &[Couple]) -> Result<Tensor> {
    let of = |row: fn(&Couple) -> u32| -> Result<Tensor> {
        let rows: Vec<u32> = couples.iter().map(row).collect();
        Ok(similarity.index_select(&Tensor::new(rows, similarity.device())?, 0)?)
    };
    Ok((of(|c| c.low)? - of(|c| c.high)?)?)
}

/// ln(1 + eˣ) = max(x, 0) + ln(1 + e^−|x|), which cannot overflow.
fn softplus(x: &Tensor) -> Result<Tensor> {
    let size = (x.relu()? + x.neg()?.relu()?)?;
    Ok((x.relu()? + (size.neg()?.exp()? + 1.0)?.log()?)?)
}

/// ln(1 + Σ eˣ), with the largest power taken out so that it cannot overflow.
fn log_one_plus_sum(x: &Tensor) -> Result<Tensor> {
    let largest = f64::from(x.detach().max_all()?.to_scalar::<f32>()?).max(0.0);
    let sum = ((x - largest)?.exp()?.sum_all()? + (-largest).exp())?;
    Ok((sum.log()? + largest)?)
}

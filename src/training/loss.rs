//! What a training step makes small.
//!
//! With similarities sᵢ and ratings rᵢ of the rows of a batch, the loss is a weighted sum of
//!
//! - `mse`: the mean of (sᵢ − (rᵢ − 1)/4)²;
//! - `rank`: the mean of softplus(−(s_high − s_low)/0.1) over the couples of rows that share their sentence
//!   pair, a couple rated alike counting as 0;
//! - `quad`: the mean of max(0, 1 + s_low − s_high) over those couples that are not rated alike (C-STS;
//!   Deshpande et al., 2023).

use std::ops::Range;

use candle_core::Tensor;

use crate::error::{Error, Result};

/// The difference of two similarities that counts as one unit in the ranking loss.
const RANK_SCALE: f64 = 0.1;
/// By how much the higher-rated row is to be the more similar one (C-STS's λ).
const QUAD_MARGIN: f64 = 1.0;

/// How much each part of the loss counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Loss {
    pub mse: f64,
    pub rank: f64,
    pub quad: f64,
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
                _ => {
                    return Err(wrong(format!(
                        "`{name}` is not a loss. Name some of mse, rank and quad, with weights if not 1: mse,rank:0.1."
                    )));
                }
            } = weight;
        }
        Ok(loss)
    }
}

/// Two rows that are not rated alike.
#[derive(Clone, Copy)]
struct Couple {
    high: u32,
    low: u32,
}

impl Loss {
    /// The loss of similarities `[rows]` with these ratings, one number. `groups` are the rows of one sentence
    /// pair each.
    pub fn of(
        &self,
        similarity: &Tensor,
        ratings: &[f32],
        groups: &[Range<usize>],
    ) -> Result<Tensor> {
        let target: Vec<f32> = ratings.iter().map(|r| (r - 1.0) / 4.0).collect();
        let target = Tensor::new(target, similarity.device())?;
        let mut total = ((similarity - target)?.sqr()?.mean_all()? * self.mse)?;
        let untied: Vec<Couple> = groups.iter().flat_map(|g| couples(ratings, g)).collect();
        if !untied.is_empty() && self.rank > 0.0 {
            let all: usize = groups.iter().map(|g| g.len() * (g.len() - 1) / 2).sum();
            let softplus = softplus(&(gaps(similarity, &untied)? / RANK_SCALE)?)?;
            total = (total + (softplus.sum_all()? * (self.rank / all as f64))?)?;
        }
        if !untied.is_empty() && self.quad > 0.0 {
            let short = (gaps(similarity, &untied)? + QUAD_MARGIN)?.relu()?;
            total = (total + (short.mean_all()? * self.quad)?)?;
        }
        Ok(total)
    }
}

/// The couples of rows in a range that are not rated alike.
fn couples(ratings: &[f32], rows: &Range<usize>) -> impl Iterator<Item = Couple> {
    let end = rows.end;
    rows.clone()
        .flat_map(move |a| (a + 1..end).map(move |b| (a, b)))
        .filter_map(|(a, b)| {
            let (high, low) = match ratings[a].total_cmp(&ratings[b]) {
                std::cmp::Ordering::Greater => (a, b),
                std::cmp::Ordering::Less => (b, a),
                std::cmp::Ordering::Equal => return None,
            };
            Some(Couple {
                high: high as u32,
                low: low as u32,
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

//! What a training step makes small.
//!
//! With similarities sᵢ and ratings rᵢ of the rows of a batch, the loss is a weighted sum of
//!
//! - `mse`: the mean of (sᵢ − (rᵢ − 1)/4)²;
//! - `rank`: the mean of softplus(−(s_high − s_low)/0.1) over the couples of rows that share their sentence
//!   pair or, in a set, their condition, a couple rated alike counting as 0;
//! - `quad`: the mean of max(0, λ + s_low − s_high) over those couples that are not rated alike (C-STS;
//!   Deshpande et al., 2023, section 4.1), λ being a margin. Its authors' program also keeps couples that are rated
//!   alike, the one that comes first as the higher: nothing says that of re-annotated rows, and they are left out here;
//! - `kept`: the mean of (s − s₀)² over all pairs of texts whose similarities are to stay what they were, s₀ (knowledge
//!   distillation from the encoder that training begins with);
//! - `mentioned`: the cross entropy of what a linear layer on embeddings says of whether the text mentions the condition.
//!
//! `mse` and `rank` are means within each group of rows; a group counts by the number of inputs that it has the encoder
//! read, so that a set, which compares each input with many others, does not outweigh pairs. `kept` and `mentioned` count by
//! their inputs too, beside the groups'.

use std::ops::Range;

use candle_core::Tensor;

use crate::error::{Error, Result};

/// The difference of two similarities that counts as one unit in the ranking loss.
const RANK_SCALE: f64 = 0.1;

/// How much each part of the loss counts.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Loss {
    pub mse: f64,
    pub rank: f64,
    pub quad: f64,
    pub kept: f64,
    pub mentioned: f64,
    /// By how much `quad` wants the higher-rated row to be the more similar one (C-STS's λ).
    pub margin: f64,
}

impl Default for Loss {
    /// Nothing counts, and C-STS's λ.
    fn default() -> Self {
        Self {
            mse: 0.0,
            rank: 0.0,
            quad: 0.0,
            kept: 0.0,
            mentioned: 0.0,
            margin: 1.0,
        }
    }
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
                "kept" => &mut loss.kept,
                "mentioned" => &mut loss.mentioned,
                _ => {
                    return Err(wrong(format!(
                        "`{name}` is not a loss. Name some of mse, rank, quad, kept and mentioned, with weights if not 1: mse,rank:0.1."
                    )));
                }
            } = weight;
        }
        Ok(loss)
    }
}

/// Rated rows of a batch that are compared with each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// Which of the batch's rows.
    pub rows: Range<usize>,
    /// For each of them which sentence pair and which condition it has; only whether two are the same matters.
    pub asked: Vec<[usize; 2]>,
    /// How much it counts: the inputs that it has the encoder read.
    pub inputs: usize,
}

/// Two rows that are not rated alike.
#[derive(Clone, Copy)]
struct Couple {
    high: u32,
    low: u32,
}

impl Loss {
    /// The loss of similarities `[rows]` with these ratings, one number: a sum over `groups`, each of which counts by its
    /// inputs, over `inputs`.
    pub fn of(
        &self,
        similarity: &Tensor,
        ratings: &[f32],
        groups: &[Compared],
        inputs: usize,
    ) -> Result<Tensor> {
        let device = similarity.device();
        let target: Vec<f32> = ratings.iter().map(|r| (r - 1.0) / 4.0).collect();
        let target = Tensor::new(target, device)?;
        let mut weights = vec![0f32; ratings.len()];
        let (mut untied, mut couple_weights) = (Vec::new(), Vec::new());
        for group in groups {
            let share = group.inputs as f32 / inputs as f32;
            let each = share / group.rows.len() as f32;
            weights[group.rows.clone()].fill(each);
            let (couples, of) = couples(ratings, group);
            let each = share / of.max(1) as f32;
            couple_weights.extend(couples.iter().map(|_| each));
            untied.extend(couples);
        }
        let squares = (similarity - target)?.sqr()?;
        let mse = (squares * Tensor::new(weights, device)?)?.sum_all()?;
        let mut total = (mse * self.mse)?;
        if !untied.is_empty() && self.rank > 0.0 {
            let softplus = softplus(&(gaps(similarity, &untied)? / RANK_SCALE)?)?;
            let weighted = (softplus * Tensor::new(couple_weights, device)?)?;
            total = (total + (weighted.sum_all()? * self.rank)?)?;
        }
        if !untied.is_empty() && self.quad > 0.0 {
            let short = (gaps(similarity, &untied)? + self.margin)?.relu()?;
            total = (total + (short.mean_all()? * self.quad)?)?;
        }
        Ok(total)
    }
}

/// The mean of (s − s₀)² over all pairs of the rows of `embeddings`, `[rows, dims]`, each of length 1, and of the rows of
/// `before`, `[rows, other dims]`.
pub fn kept(embeddings: &Tensor, before: &Tensor) -> Result<Tensor> {
    let similarities = |z: &Tensor| z.matmul(&z.t()?);
    let rows = embeddings.dim(0)?;
    let squares = (similarities(embeddings)? - similarities(before)?)?.sqr()?;
    // Each pair is there twice, and the diagonal is 0.
    Ok((squares.sum_all()? / (rows * (rows - 1)).max(1) as f64)?)
}

/// The cross entropy of logits `[rows]` with what is true of each.
pub fn mentioned(logits: &Tensor, truths: &[bool]) -> Result<Tensor> {
    let signs: Vec<f32> = truths.iter().map(|&t| if t { -1.0 } else { 1.0 }).collect();
    let signs = Tensor::new(signs, logits.device())?;
    Ok(softplus(&(logits * signs)?)?.mean_all()?)
}

/// The couples of a group's rows that are not rated alike, and how many couples there are in all: rows that share their
/// sentence pair or their condition.
fn couples(ratings: &[f32], group: &Compared) -> (Vec<Couple>, usize) {
    let mut untied = Vec::new();
    let mut all = 0;
    for (i, one) in group.asked.iter().enumerate() {
        for (j, other) in group.asked.iter().enumerate().skip(i + 1) {
            if one[0] != other[0] && one[1] != other[1] {
                continue;
            }
            all += 1;
            let (a, b) = (group.rows.start + i, group.rows.start + j);
            let (high, low) = match ratings[a].total_cmp(&ratings[b]) {
                std::cmp::Ordering::Greater => (a, b),
                std::cmp::Ordering::Less => (b, a),
                std::cmp::Ordering::Equal => continue,
            };
            untied.push(Couple {
                high: high as u32,
                low: low as u32,
            });
        }
    }
    (untied, all)
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

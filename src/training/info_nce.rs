//! The loss of questions and answers (InfoNCE; van den Oord et al., 2018), as SimKGC trains with it.
//!
//! Of a batch's questions q, `(head, relation)`, tails t and heads h, all of length 1, a question's logits are
//! (qᵢ·tⱼ − γ[i = j])/τ for all tails of the batch, and qᵢ·hᵢ/τ: the head itself is no answer (a self-negative). Tails and heads that are
//! known to be true as well are no negatives. The loss is the cross entropy of each question with its own tail, and of each
//! tail with its own question among the batch's questions. What is learnt is ln(1/τ).

use candle_core::{D, DType, Tensor};
use candle_nn::loss::cross_entropy;

use crate::{
    data::graph::{Answers, Triple},
    error::Result,
};

/// A logit of what is no negative: its share is 0.
const NONE: f32 = -1e4;

/// Which of a batch's tails, and whether its head, are wrong answers to each question, or the one that it asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Negatives {
    /// `[questions · tails]`
    pub tails: Vec<bool>,
    /// `[questions]`
    pub heads: Vec<bool>,
}

impl Negatives {
    /// Those of a batch: all but what is known to be true beside a question's own tail, and that tail where it is there again.
    pub fn of(batch: &[Triple], known: &Answers) -> Self {
        let tails = |(i, triple): (usize, &Triple)| {
            let (triple, known) = (*triple, known);
            let others = batch.iter().enumerate();
            others
                .map(move |(j, other)| {
                    i == j || (other.tail != triple.tail && !known.hold(&triple, other.tail))
                })
                .collect::<Vec<_>>()
        };
        Self {
            tails: batch.iter().enumerate().flat_map(tails).collect(),
            heads: batch
                .iter()
                .map(|triple| triple.head != triple.tail && !known.hold(triple, triple.head))
                .collect(),
        }
    }
}

/// The loss of a batch, one number: of `questions`, their `tails` and their `heads`, `[batch, dims]` each and of length 1, and of
/// `log_scale` = ln(1/τ), `[1, 1]`; `margin` is γ.
pub fn info_nce(
    questions: &Tensor,
    tails: &Tensor,
    heads: &Tensor,
    log_scale: &Tensor,
    negatives: &Negatives,
    margin: f64,
) -> Result<Tensor> {
    let (count, device) = (questions.dim(0)?, questions.device());
    let margins = (Tensor::eye(count, DType::F32, device)? * margin)?;
    let scale = log_scale.exp()?;
    let masked = |logits: Tensor, kept: &[bool]| -> Result<Tensor> {
        let kept: Vec<u8> = kept.iter().map(|&kept| kept.into()).collect();
        let kept = Tensor::from_vec(kept, logits.shape(), device)?;
        let none = Tensor::full(NONE, logits.shape(), device)?;
        Ok(kept.where_cond(&logits.broadcast_mul(&scale)?, &none)?)
    };
    let logits = (questions.matmul(&tails.t()?)? - margins)?;
    let logits = masked(logits, &negatives.tails)?;
    let own = (questions * heads)?.sum_keepdim(D::Minus1)?;
    let own = masked(own, &negatives.heads)?;
    let target = Tensor::arange(0, count as u32, device)?;
    let tails = cross_entropy(&Tensor::cat(&[&logits, &own], 1)?, &target)?;
    Ok((tails + cross_entropy(&logits.t()?.contiguous()?, &target)?)?)
}

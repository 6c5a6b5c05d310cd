//! Where right answers rank among candidates: what retrieval and knowledge graph completion are judged by.
//!
//! A rank is counted from 1. Candidates with the same score share the mean of their ranks, so that an encoder that finds everything
//! alike ranks nothing well, whatever the order of its answers. Ranks are *filtered* where other right answers are not counted
//! (Bordes et al., 2013).

use rayon::prelude::*;
use serde::Serialize;

use crate::vectors::dot;

/// Queries whose scores are held at once, by each thread.
const BLOCK: usize = 16;

/// The rank of the candidate `answer` by `scores`, `[candidates]`, of which none is NaN: 1, and 1 for each candidate with a higher score,
/// and a half for each with the same. `others` are right answers too, each named once, and are not counted.
pub fn rank(scores: &[f32], answer: usize, others: &[u32]) -> f64 {
    let own = scores[answer];
    let tell = |score: f32| (usize::from(score > own), usize::from(score == own));
    let add = |(a, b): (usize, usize), (c, d): (usize, usize)| (a + c, b + d);
    let (higher, same) = scores.iter().map(|&s| tell(s)).fold((0, 0), add);
    let others = others.iter().map(|&other| other as usize);
    let others = others.filter(|&other| other != answer);
    // The answer is one of its equals.
    let (less, fewer) = others.map(|other| tell(scores[other])).fold((0, 1), add);
    1.0 + (higher - less) as f64 + (same - fewer) as f64 / 2.0
}

/// A question, and its answers among some candidates.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// `[dims]`
    pub vector: &'a [f32],
    /// The candidate that is asked for.
    pub answer: u32,
    /// Others that are right as well, each named once.
    pub others: &'a [u32],
}

/// The rank of each query's answer among `candidates`, `[candidates, dims]`, by their scalar products. Scores of a few queries alone are
/// held at a time.
pub fn ranks(queries: &[Query<'_>], candidates: &[f32], dims: usize) -> Vec<f64> {
    let count = candidates.len() / dims.max(1);
    let block = |block: &[Query<'_>]| {
        let mut scores = vec![0f32; block.len() * count];
        // Each candidate is read once a block. Equal ones get equal scores, which products of whole matrices do not promise.
        for (i, candidate) in candidates.chunks_exact(dims).enumerate() {
            for (scores, query) in scores.chunks_exact_mut(count).zip(block) {
                scores[i] = dot(query.vector, candidate);
            }
        }
        let ranks = scores.chunks_exact(count).zip(block);
        let ranks = ranks.map(|(scores, query)| rank(scores, query.answer as usize, query.others));
        ranks.collect::<Vec<_>>()
    };
    queries.par_chunks(BLOCK).flat_map_iter(block).collect()
}

/// The figures of some ranks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ranking {
    /// How many were ranked.
    pub ranked: usize,
    /// The mean of 1 / rank.
    pub mrr: f64,
    /// The share of ranks of at most 1.
    #[serde(rename = "hits@1")]
    pub hits_at_1: f64,
    /// Of at most 3.
    #[serde(rename = "hits@3")]
    pub hits_at_3: f64,
    /// Of at most 10.
    #[serde(rename = "hits@10")]
    pub hits_at_10: f64,
    /// The mean rank.
    pub mean_rank: f64,
}

impl Ranking {
    /// Of ranks from 1; `None` where there are none.
    pub fn of(ranks: &[f64]) -> Option<Self> {
        let mean = |of: &dyn Fn(f64) -> f64| {
            ranks.iter().map(|&rank| of(rank)).sum::<f64>() / ranks.len() as f64
        };
        let hits = |most: f64| mean(&|rank| f64::from(u8::from(rank <= most)));
        (!ranks.is_empty()).then(|| Self {
            ranked: ranks.len(),
            mrr: mean(&|rank| 1.0 / rank),
            hits_at_1: hits(1.0),
            hits_at_3: hits(3.0),
            hits_at_10: hits(10.0),
            mean_rank: mean(&|rank| rank),
        })
    }
}

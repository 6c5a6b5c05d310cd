//! In which order a decoder reads the inputs of a call, and what of them it reads in one pass.
//!
//! Neighbours of one length are computed together. Where inputs begin alike, a sentence in its prompt under one condition
//! after the other, and the decoder reads such a beginning once, those are neighbours instead.

use std::ops::Range;

use super::plan::TOKEN_BUDGET;
use crate::text::common;

/// Share of all tokens that has to be saved by it, beyond what all inputs begin with: neighbours of one length are worth
/// something too.
const LEAST: f64 = 0.2;
/// Tokens of a pass, those that were read already included: each has a state in memory.
const MOST_STATES: usize = 4 * TOKEN_BUDGET;

/// The order of the inputs.
pub struct Reading {
    /// Places of inputs.
    pub order: Vec<usize>,
    /// Parts of the order, each for a pass.
    pub passes: Vec<Range<usize>>,
}

impl Reading {
    /// Of inputs with these tokens; `shares`: what they begin with alike is read once in a pass.
    pub fn of(inputs: &[&[u32]], shares: bool) -> Self {
        let mut order: Vec<usize> = (0..inputs.len()).collect();
        let mut saved = vec![0; inputs.len()];
        if shares {
            order.sort_by_key(|&i| inputs[i]);
            let alike = |pair: &[usize]| common(inputs[pair[0]], inputs[pair[1]]);
            let alike: Vec<usize> = order.windows(2).map(alike).collect();
            let all = alike.iter().min().copied().unwrap_or_default();
            let beyond: usize = alike.iter().map(|n| n - all).sum();
            let tokens: usize = inputs.iter().map(|ids| ids.len()).sum();
            if beyond as f64 >= LEAST * tokens as f64 {
                saved.splice(1.min(inputs.len()).., alike);
            }
        }
        if saved.iter().all(|&n| n == 0) {
            order = (0..inputs.len()).collect();
            order.sort_by_key(|&i| inputs[i].len());
        }
        let mut passes = Vec::new();
        let (mut first, mut new, mut states) = (0, 0, 0);
        for (at, &i) in order.iter().enumerate() {
            let length = inputs[i].len();
            let full = new + length - saved[at] > TOKEN_BUDGET || states + length > MOST_STATES;
            if at > first && full {
                passes.push(first..at);
                (first, new, states) = (at, 0, 0);
            }
            new += match at == first {
                true => length,
                false => length - saved[at],
            };
            states += length;
        }
        if first < order.len() {
            passes.push(first..order.len());
        }
        Self { order, passes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_that_begin_alike_are_neighbours_and_fill_a_pass_by_what_is_new() {
        // 300 sentences of 60 tokens under 10 conditions of 4, in an order that parts them.
        let inputs: Vec<Vec<u32>> = (0..3000)
            .map(|i| {
                let (sentence, condition) = (i % 300, i / 300);
                let sentence = (0..60).map(|t| 1000 + sentence * 60 + t);
                sentence.chain((0..4).map(|t| condition * 4 + t)).collect()
            })
            .collect();
        let ids: Vec<&[u32]> = inputs.iter().map(|ids| &ids[..]).collect();
        let reading = Reading::of(&ids, true);
        let mut seen = reading.order.clone();
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..3000));
        for pair in reading.order.chunks_exact(10) {
            assert!(pair.iter().all(|i| i % 300 == pair[0] % 300));
        }
        // 100 tokens a sentence in place of 640: few more passes than their sum needs.
        let states = 3000 * 64_usize;
        assert!(reading.passes.len() <= states.div_ceil(MOST_STATES) + 2);
        assert_eq!(reading.passes.iter().map(Range::len).sum::<usize>(), 3000);

        let apart = Reading::of(&ids, false);
        assert!(apart.order.into_iter().eq(0..3000), "all of one length");
        assert_eq!(apart.passes.len(), states.div_ceil(TOKEN_BUDGET));
    }

    #[test]
    fn what_all_begin_with_is_no_reason_to_give_up_neighbours_of_one_length() {
        let inputs: Vec<Vec<u32>> = (0..40)
            .map(|i| {
                (0..30)
                    .chain((0..(i * 7) % 40).map(|t| 100 + i * 40 + t))
                    .collect()
            })
            .collect();
        let ids: Vec<&[u32]> = inputs.iter().map(|ids| &ids[..]).collect();
        let order = Reading::of(&ids, true).order;
        assert!(order.is_sorted_by_key(|&i| inputs[i].len()));
        assert!(Reading::of(&[], true).passes.is_empty());
    }
}

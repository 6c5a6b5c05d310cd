//! Word dropout: words of training inputs give way to the mask token, so that no single one decides.

use std::collections::HashSet;

use rand::{RngExt, rngs::StdRng};

use crate::{
    error::{Error, Result},
    text::Tokenizer,
};

/// Replaces tokens with a probability.
pub struct WordDropout {
    probability: f32,
    mask: u32,
    /// Tokens that are no words.
    special: HashSet<u32>,
}

impl WordDropout {
    /// # Errors
    /// The tokenizer has no mask token, and one is needed.
    pub fn new(tokenizer: &Tokenizer, probability: f32) -> Result<Option<Self>> {
        if probability == 0.0 {
            return Ok(None);
        }
        let special = tokenizer.special_tokens();
        let mask = special
            .iter()
            .find(|(text, _)| ["[MASK]", "<mask>"].contains(&text.as_str()));
        let Some(&(_, mask)) = mask else {
            return Err(Error::InvalidArgument(
                "this encoder's tokenizer has no mask token. Leave --word-dropout out.".into(),
            ));
        };
        Ok(Some(Self {
            probability,
            mask,
            special: special.iter().map(|&(_, id)| id).collect(),
        }))
    }

    /// Masks tokens of inputs; which ones follows from `rng`.
    pub fn apply(&self, ids: &mut [u32], rng: &mut StdRng) {
        for id in ids {
            if !self.special.contains(id) && rng.random::<f32>() < self.probability {
                *id = self.mask;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn words_are_masked_and_nothing_else() {
        let dropout = WordDropout {
            probability: 0.25,
            mask: 4,
            special: [0, 1, 2, 3, 4].into(),
        };
        let ids: Vec<u32> = (0..4000).map(|i| i % 8).collect();
        let masked = |seed| {
            let mut masked = ids.clone();
            dropout.apply(&mut masked, &mut StdRng::seed_from_u64(seed));
            masked
        };
        let once = masked(1);
        assert_eq!(once, masked(1));
        assert_ne!(once, masked(2));
        let changed: Vec<_> = ids.iter().zip(&once).filter(|(a, b)| a != b).collect();
        assert!(changed.iter().all(|&(&a, &b)| a >= 5 && b == 4));
        // 1,500 words: 375 expected, with a standard deviation of 17.
        assert!((300..450).contains(&changed.len()), "{}", changed.len());
    }
}

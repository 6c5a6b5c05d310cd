//! Dropout whose mask follows from a seed and the numbers' places.

use rayon::prelude::*;

use super::math::{SPAN, mix};

/// What drops numbers with a probability, and makes up for it with those that stay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dropout {
    /// The probability.
    pub p: f32,
    /// Where masks come from.
    pub seed: u64,
}

impl Dropout {
    /// None.
    pub const OFF: Self = Self { p: 0.0, seed: 0 };

    /// Whether it leaves everything as it is.
    pub fn is_off(self) -> bool {
        self.p <= 0.0
    }

    /// x *= mask, of numbers the first of which is number `first` of all, a multiple of four.
    pub fn apply(self, first: usize, x: &mut [f32]) {
        if self.is_off() {
            return;
        }
        debug_assert!(first.is_multiple_of(4));
        let limit = (self.p * 65_536.0) as u64;
        let keep = 1.0 / (1.0 - self.p);
        // Four decisions of 16 bits come from each number of a splitmix64 stream.
        for (i, four) in x.chunks_mut(4).enumerate() {
            let bits = mix(self.seed, (first / 4 + i) as u64);
            for (x, at) in four.iter_mut().zip([0, 16, 32, 48]) {
                *x *= match bits >> at & 0xffff < limit {
                    true => 0.0,
                    false => keep,
                };
            }
        }
    }

    /// x *= mask
    pub fn apply_all(self, x: &mut [f32]) {
        if !self.is_off() {
            x.par_chunks_mut(SPAN)
                .enumerate()
                .for_each(|(i, x)| self.apply(i * SPAN, x));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_follow_from_seed_and_place() {
        let dropout = Dropout { p: 0.25, seed: 5 };
        let mask = |seed| {
            let mut mask = vec![1f32; 100_003];
            Dropout { seed, ..dropout }.apply_all(&mut mask);
            mask
        };
        let first = mask(5);
        assert_eq!(first, mask(5));
        assert_ne!(first, mask(6));
        let dropped = first.iter().filter(|x| **x == 0.0).count() as f32;
        assert!((dropped / first.len() as f32 - 0.25).abs() < 0.01);
        assert!(first.iter().all(|&x| x == 0.0 || x == 4.0 / 3.0));
        // A part has the same mask as it has in the whole.
        let mut part = vec![1f32; 100];
        dropout.apply(64, &mut part);
        assert_eq!(part, first[64..164]);
        let mut all = vec![2f32; 9];
        Dropout::OFF.apply_all(&mut all);
        assert_eq!(all, [2.0; 9]);
    }
}

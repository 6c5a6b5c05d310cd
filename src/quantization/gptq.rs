//! Rounding a matrix so that what it computes changes least, rather than its numbers (GPTQ; Frantar et al., 2023).
//!
//! A row's numbers are rounded one after the other, and each one's error is made up for by those that are not rounded yet,
//! as far as inputs like the ones seen let it be. What rounding the layers before did to the inputs is made up for
//! first, with all numbers.

use faer::{Mat, Side, linalg::solvers::Solve};
use rayon::prelude::*;

use crate::{
    checkpoint::{
        gguf::q4_0::{nearest, pack, rounded},
        weights::BLOCK,
    },
    error::{Error, Result},
};

/// How much of the inputs' mean square is added to each, so that inputs seldom or never seen are left alone.
const DAMPING: f64 = 0.01;

/// Sums over what a matrix was given: x by the encoder as it is, y by the encoder with rounded layers before.
pub struct Moments {
    width: usize,
    /// Σ y·yᵀ, `[in, in]`, row by row: a library's columns, added to across, would take longer than the products.
    squares: Vec<f64>,
    /// Σ (x − y)·yᵀ, `[in, in]`.
    drift: Vec<f64>,
}

impl Moments {
    /// Of nothing yet, for a matrix `[out, width]`.
    pub fn new(width: usize) -> Self {
        Self {
            width,
            squares: vec![0.0; width * width],
            drift: vec![0.0; width * width],
        }
    }

    /// Adds Σ y·yᵀ and Σ (x − y)·yᵀ of a batch, each `[in, in]`, row by row.
    pub fn add(&mut self, squares: &[f32], drift: &[f32]) {
        for (sums, batch) in [(&mut self.squares, squares), (&mut self.drift, drift)] {
            sums.par_iter_mut()
                .zip(batch)
                .for_each(|(sum, &x)| *sum += f64::from(x));
        }
    }

    /// What rounding with these inputs needs.
    ///
    /// # Errors
    /// The inputs are no finite numbers.
    pub fn rounding(self) -> Result<Rounding> {
        let wild = |_| {
            Error::InvalidArgument(
                "the encoder's numbers on the calibration data are not finite: quantize it without.".into(),
            )
        };
        let width = self.width;
        let matrix = |sums: &[f64]| Mat::from_fn(width, width, |i, j| sums[i * width + j]);
        let (mut squares, drift) = (matrix(&self.squares), matrix(&self.drift));
        let mean = (0..width).map(|i| squares[(i, i)]).sum::<f64>() / width as f64;
        for i in 0..width {
            squares[(i, i)] += (DAMPING * mean).max(f64::MIN_POSITIVE);
        }
        let squares = squares.llt(Side::Lower).map_err(wild)?;
        let correction = squares.solve(drift.transpose());
        let inverse = squares.solve(Mat::<f64>::identity(width, width));
        let factor = inverse.llt(Side::Lower).map_err(wild)?.L().to_owned();
        let columns = (0..width).map(|i| (i..width).map(|j| factor[(j, i)]).collect());
        Ok(Rounding {
            correction: correction.transpose().to_owned(),
            errors: columns.collect(),
        })
    }
}

/// How a matrix is rounded, for given inputs.
pub struct Rounding {
    /// Σ (x − y)·yᵀ · (Σ y·yᵀ)⁻¹: a matrix times this is what to add to it, to take y for x.
    correction: Mat<f64>,
    /// For the number at i, how far each of `i..` moves by an error at i; the first one is the error's own scale.
    errors: Vec<Vec<f64>>,
}

impl Rounding {
    /// `[out, in]` numbers, row by row, as blocks in q4_0. `in` is a multiple of 32.
    pub fn q4_0(&self, weight: &[f32]) -> Vec<u8> {
        let width = self.errors.len();
        let weight = Mat::from_fn(weight.len() / width, width, |row, i| {
            f64::from(weight[row * width + i])
        });
        let weight = &weight + &weight * &self.correction;
        let rows = (0..weight.nrows()).into_par_iter();
        rows.flat_map_iter(|row| self.row(weight.row(row).iter().copied().collect()))
            .collect()
    }

    fn row(&self, mut numbers: Vec<f64>) -> Vec<u8> {
        let mut bytes = Vec::new();
        for start in (0..numbers.len()).step_by(BLOCK) {
            let block = std::array::from_fn(|i| numbers[start + i] as f32);
            let (scale, mut quants) = rounded(&block);
            for (i, quant) in quants.iter_mut().enumerate() {
                let at = start + i;
                *quant = nearest(numbers[at] as f32, scale);
                let value = f64::from(scale.to_f32()) * f64::from(*quant);
                let moves = &self.errors[at];
                let error = (numbers[at] - value) / moves[0];
                for (x, by) in numbers[at..].iter_mut().zip(moves) {
                    *x -= error * by;
                }
            }
            bytes.extend(pack(scale, &quants));
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng, rngs::StdRng};

    use super::*;
    use crate::checkpoint::{
        gguf::q4_0,
        weights::{Dtype, decode},
    };

    const WIDTH: usize = 64;

    /// `rows` rows of numbers about zero whose columns depend on each other.
    fn inputs(rows: usize, rng: &mut StdRng) -> Vec<f32> {
        let mixed: Vec<f32> = (0..WIDTH * 8).map(|_| rng.random::<f32>() - 0.5).collect();
        let row = |rng: &mut StdRng| -> Vec<f32> {
            let causes: Vec<f32> = (0..8).map(|_| rng.random::<f32>() - 0.5).collect();
            let column = |j: usize| causes.iter().zip(&mixed[j * 8..]).map(|(a, b)| a * b);
            let noise = |rng: &mut StdRng| 0.1 * (rng.random::<f32>() - 0.5);
            (0..WIDTH)
                .map(|j| column(j).sum::<f32>() + noise(rng))
                .collect()
        };
        (0..rows).flat_map(|_| row(rng)).collect()
    }

    fn moments(x: &[f32], y: &[f32]) -> Moments {
        let product = |a: &[f32], b: &[f32]| -> Vec<f32> {
            let (mut out, a, b) = (vec![0.0; WIDTH * WIDTH], a.chunks(WIDTH), b.chunks(WIDTH));
            for (a, b) in a.zip(b) {
                for i in 0..WIDTH * WIDTH {
                    out[i] += a[i / WIDTH] * b[i % WIDTH];
                }
            }
            out
        };
        let drift: Vec<f32> = x.iter().zip(y).map(|(x, y)| x - y).collect();
        let mut moments = Moments::new(WIDTH);
        moments.add(&product(y, y), &product(&drift, y));
        moments
    }

    /// Σ (w·x − ŵ·y)².
    fn lost(weight: &[f32], x: &[f32], blocks: &[u8], y: &[f32]) -> f32 {
        let rounded: Vec<f32> = decode(Dtype::Q4_0, blocks);
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        let mut all = 0.0;
        for (w, r) in weight.chunks(WIDTH).zip(rounded.chunks(WIDTH)) {
            for (x, y) in x.chunks(WIDTH).zip(y.chunks(WIDTH)) {
                all += (dot(w, x) - dot(r, y)).powi(2);
            }
        }
        all
    }

    #[test]
    fn computes_what_the_matrix_did() {
        let mut rng = StdRng::seed_from_u64(1);
        let weight: Vec<f32> = (0..WIDTH * 40).map(|_| rng.random::<f32>() - 0.5).collect();
        let seen = inputs(2000, &mut rng);
        let (seen, new) = seen.split_at(1600 * WIDTH);
        let plain = q4_0::quantize(&weight);
        let fitted = moments(seen, seen).rounding().unwrap().q4_0(&weight);
        assert_eq!(fitted.len(), plain.len());
        let (before, after) = (
            lost(&weight, new, &plain, new),
            lost(&weight, new, &fitted, new),
        );
        assert!(after < 0.5 * before, "{after} against {before}");
    }

    #[test]
    fn makes_up_for_what_happened_before() {
        let mut rng = StdRng::seed_from_u64(2);
        let weight: Vec<f32> = (0..WIDTH * 40).map(|_| rng.random::<f32>() - 0.5).collect();
        let x = inputs(2000, &mut rng);
        let y: Vec<f32> = x.iter().map(|x| 1.3 * x).collect();
        let blind = moments(&y, &y).rounding().unwrap().q4_0(&weight);
        let seeing = moments(&x, &y).rounding().unwrap().q4_0(&weight);
        let (before, after) = (
            lost(&weight, &x, &blind, &y),
            lost(&weight, &x, &seeing, &y),
        );
        assert!(after < 0.2 * before, "{after} against {before}");
    }

    #[test]
    fn inputs_that_say_nothing_change_nothing() {
        let mut rng = StdRng::seed_from_u64(3);
        let weight: Vec<f32> = (0..WIDTH * 4).map(|_| rng.random::<f32>() - 0.5).collect();
        let nothing = Moments::new(WIDTH).rounding().unwrap().q4_0(&weight);
        let identity: Vec<f32> = (0..WIDTH * WIDTH)
            .map(|i| f32::from(i % (WIDTH + 1) == 0))
            .collect();
        let mut independent = Moments::new(WIDTH);
        independent.add(&identity, &[0.0; WIDTH * WIDTH]);
        let plain = decode(Dtype::Q4_0, &q4_0::quantize(&weight));
        for blocks in [nothing, independent.rounding().unwrap().q4_0(&weight)] {
            // A scale is fitted to what it rounds: steps, at most, differ by a rounding of their own.
            let found = decode(Dtype::Q4_0, &blocks);
            let squared = |x: &[f32]| {
                weight
                    .iter()
                    .zip(x)
                    .map(|(a, b)| (a - b).powi(2))
                    .sum::<f32>()
            };
            assert!(squared(&found) <= squared(&plain) * 1.01);
        }
        let mut wild = Moments::new(WIDTH);
        wild.add(&[f32::NAN; WIDTH * WIDTH], &[0.0; WIDTH * WIDTH]);
        assert!(wild.rounding().is_err());
    }
}

//! What tells whether a sentence says anything about a condition, fitted to embeddings as they are in use: after rounding.
//!
//! Logistic regression with L2 on embeddings x of length 1, whose minimum is Newton's method's:
//! Σ log(1 + exp(−y (w·x + b))) + λ/2 ‖w‖², y = ±1. The bias is free.

use candle_core::{Device, Tensor};

use crate::{
    error::{Error, Result},
    head::Mentioned,
};

/// Steps after which it is enough: a few suffice.
const STEPS: usize = 50;
/// The largest change of a number at which it is done.
const DONE: f64 = 1e-6;
/// Embeddings that are multiplied at once.
const ROWS: usize = 8192;

/// Fits weight and bias to embeddings of one width, each with whether its sentence says anything about its condition; `l2` is λ.
/// The threshold is as [`threshold`] has it for the same embeddings.
///
/// # Errors
/// One kind is missing, or the embeddings' numbers are not finite.
pub fn fit(embeddings: &[Vec<f32>], truths: &[bool], l2: f64) -> Result<Mentioned> {
    let wrong = |reason: &str| Err(Error::InvalidArgument(reason.into()));
    if !truths.contains(&true) || !truths.contains(&false) {
        return wrong("the data needs rows of both kinds: mentioned 1 and mentioned 0.");
    }
    let dims = embeddings.first().map_or(0, Vec::len);
    let rows: Vec<Vec<f32>> = embeddings.iter().map(|row| with_one(row)).collect();
    let mut parameters = vec![0.0; dims + 1];
    let mut reached = Sums::of(&rows, truths, &parameters, l2, true)?;
    for _ in 0..STEPS {
        let Some(step) = solved(reached.hessian, &reached.gradient) else {
            return wrong(
                "the embeddings are all alike or not finite: nothing can be fitted to them.",
            );
        };
        // A whole step may lead too far where nearly all is told apart.
        let mut share = 1.0;
        let next = loop {
            let moved = parameters.iter().zip(&step).map(|(p, s)| p - share * s);
            let moved: Vec<f64> = moved.collect();
            let at = Sums::of(&rows, truths, &moved, l2, false)?;
            if at.loss <= reached.loss || share < DONE {
                break moved;
            }
            share /= 2.0;
        };
        parameters = next;
        let change = step.iter().fold(0.0, |most: f64, s| most.max(s.abs()));
        if share * change < DONE {
            break;
        }
        reached = Sums::of(&rows, truths, &parameters, l2, true)?;
    }
    let bias = parameters.pop().unwrap_or_default() as f32;
    let mut fitted = Mentioned {
        weight: parameters.into_iter().map(|w| w as f32).collect(),
        bias,
        threshold: Mentioned::THRESHOLD,
    };
    let probabilities = embeddings.iter().map(|row| fitted.probability(row));
    fitted.threshold = threshold(&probabilities.collect::<Vec<_>>(), truths);
    Ok(fitted)
}

/// The probability that tells the two kinds apart best: with the largest share of those that mention at or above it, less the share
/// of the others there (Youden's J). Between two probabilities it lies in their middle.
pub fn threshold(probabilities: &[f32], truths: &[bool]) -> f32 {
    let mut rows: Vec<(f32, bool)> = probabilities
        .iter()
        .copied()
        .zip(truths.iter().copied())
        .collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let total = |kind: bool| rows.iter().filter(|row| row.1 == kind).count().max(1) as f64;
    let (all, others) = (total(true), total(false));
    let (mut above, mut best) = ([0.0, 0.0], (f64::MIN, Mentioned::THRESHOLD));
    for (i, &(probability, truth)) in rows.iter().enumerate() {
        above[usize::from(!truth)] += 1.0;
        let below = rows.get(i + 1).map_or(probability, |next| next.0);
        let told = above[0] / all - above[1] / others;
        if below < probability && told > best.0 {
            best = (told, f32::midpoint(probability, below));
        }
    }
    best.1
}

/// An embedding of length 1, and the 1 that the bias is multiplied with.
fn with_one(row: &[f32]) -> Vec<f32> {
    let length = row.iter().map(|x| x * x).sum::<f32>().sqrt();
    let length = length.max(f32::MIN_POSITIVE);
    row.iter().map(|x| x / length).chain([1.0]).collect()
}

/// The loss and its derivatives at some parameters.
struct Sums {
    loss: f64,
    gradient: Vec<f64>,
    /// `[parameters, parameters]`, row by row; empty where it was not asked for.
    hessian: Vec<f64>,
}

impl Sums {
    fn of(
        rows: &[Vec<f32>],
        truths: &[bool],
        parameters: &[f64],
        l2: f64,
        with_hessian: bool,
    ) -> Result<Self> {
        let n = parameters.len();
        let mut sums = Self {
            loss: 0.0,
            gradient: vec![0.0; n],
            hessian: vec![0.0; if with_hessian { n * n } else { 0 }],
        };
        for (rows, truths) in rows.chunks(ROWS).zip(truths.chunks(ROWS)) {
            let mut scaled = Vec::new();
            for (row, &truth) in rows.iter().zip(truths) {
                let products = row.iter().zip(parameters);
                let logit: f64 = products.map(|(x, p)| f64::from(*x) * p).sum();
                let p = 1.0 / (1.0 + (-logit).exp());
                let against = if truth { -logit } else { logit };
                sums.loss += against.max(0.0) + (-against.abs()).exp().ln_1p();
                let error = p - f64::from(u8::from(truth));
                for (sum, x) in sums.gradient.iter_mut().zip(row) {
                    *sum += error * f64::from(*x);
                }
                if with_hessian {
                    let root = (p * (1.0 - p)).sqrt() as f32;
                    scaled.extend(row.iter().map(|x| x * root));
                }
            }
            if with_hessian {
                let scaled = Tensor::from_vec(scaled, (rows.len(), n), &Device::Cpu)?;
                let product = scaled.t()?.matmul(&scaled)?.flatten_all()?;
                for (sum, x) in sums.hessian.iter_mut().zip(product.to_vec1::<f32>()?) {
                    *sum += f64::from(x);
                }
            }
        }
        for (i, p) in parameters.iter().enumerate().take(n - 1) {
            sums.loss += l2 / 2.0 * p * p;
            sums.gradient[i] += l2 * p;
            if with_hessian {
                sums.hessian[i * n + i] += l2;
            }
        }
        Ok(sums)
    }
}

/// H⁻¹ g by Cholesky's H = L Lᵀ; `None` where H is not positive definite.
fn solved(mut h: Vec<f64>, g: &[f64]) -> Option<Vec<f64>> {
    let n = g.len();
    for j in 0..n {
        for i in j..n {
            let dot: f64 = (0..j).map(|k| h[i * n + k] * h[j * n + k]).sum();
            let rest = h[i * n + j] - dot;
            h[i * n + j] = match i == j {
                true if rest > 0.0 && rest.is_finite() => rest.sqrt(),
                true => return None,
                false => rest / h[j * n + j],
            };
        }
    }
    let mut x = g.to_vec();
    for i in 0..n {
        let dot: f64 = (0..i).map(|k| h[i * n + k] * x[k]).sum();
        x[i] = (x[i] - dot) / h[i * n + i];
    }
    for i in (0..n).rev() {
        let dot: f64 = (i + 1..n).map(|k| h[k * n + i] * x[k]).sum();
        x[i] = (x[i] - dot) / h[i * n + i];
    }
    Some(x)
}

//! Whether two sets of runs differ by more than their seeds make them: Welch's t-test (Welch, 1947), and the paired one where
//! both have the same seeds.

use serde::Serialize;

/// Most terms of the continued fraction; a few dozen are enough for any p that is read.
const TERMS: usize = 500;

/// A two-sided t-test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TTest {
    /// The difference of the means by its standard error.
    pub t: f64,
    /// Degrees of freedom; Welch's need not be whole.
    pub df: f64,
    /// How probable a difference as large as this is where there is none.
    pub p: f64,
}

impl TTest {
    /// Of two samples with variances of their own (Welch, with Satterthwaite's degrees of freedom): scipy's
    /// `ttest_ind(equal_var=False)`. `None` where a sample has fewer than two values, or where neither varies.
    pub fn welch(a: &[f64], b: &[f64]) -> Option<Self> {
        let ((mean_a, error_a), (mean_b, error_b)) = (moments(a)?, moments(b)?);
        let error = error_a + error_b;
        let within = |error: f64, n: usize| error * error / (n as f64 - 1.0);
        let df = error * error / (within(error_a, a.len()) + within(error_b, b.len()));
        Self::of(mean_a - mean_b, error, df)
    }

    /// Of values that belong together, one of each sample: scipy's `ttest_rel`. `None` where they are not as many, fewer than
    /// two, or where their differences do not vary.
    pub fn paired(a: &[f64], b: &[f64]) -> Option<Self> {
        let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        let (mean, error) = moments(&differences)?;
        let same = a.len() == b.len();
        same.then(|| Self::of(mean, error, differences.len() as f64 - 1.0))?
    }

    /// Of a difference whose standard error has the square `error`.
    fn of(difference: f64, error: f64, df: f64) -> Option<Self> {
        let t = difference / error.sqrt();
        (t.is_finite() && df.is_finite()).then(|| Self {
            t,
            df,
            p: two_sided(t, df),
        })
    }
}

/// A sample's mean, and the square of that mean's standard error.
fn moments(values: &[f64]) -> Option<(f64, f64)> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (values.len() > 1).then(|| (mean, squares / (n - 1.0) / n))
}

/// The chance that Student's t with `df` degrees of freedom is as far from 0 as `t`: the regularised incomplete beta
/// function Iₓ(df/2, 1/2) at x = df / (df + t²).
fn two_sided(t: f64, df: f64) -> f64 {
    let square = t * t;
    incomplete_beta(0.5 * df, 0.5, df / (df + square), square / (df + square))
}

/// Iₓ(a, b) with `y` = 1 − x, which is given for its digits where x is nearly 1 (DLMF 8.17.22).
fn incomplete_beta(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if x <= 0.0 || y <= 0.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    let scale = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b);
    let front = (scale + a * x.ln() + b * y.ln()).exp();
    // The fraction converges fast on this side of the mean; the other is its mirror image.
    match x < (a + 1.0) / (a + b + 2.0) {
        true => front * fraction(a, b, x) / a,
        false => 1.0 - front * fraction(b, a, y) / b,
    }
}

/// The continued fraction of Iₓ(a, b), by Lentz's method as Thompson and Barnett have it.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let sound = |v: f64| {
        if v.abs() < f64::MIN_POSITIVE {
            f64::MIN_POSITIVE
        } else {
            v
        }
    };
    let (mut c, mut d) = (1.0, 1.0 / sound(1.0 - (a + b) * x / (a + 1.0)));
    let mut value = d;
    for m in 1..=TERMS {
        let m = m as f64;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / sound(1.0 + term * d);
            c = sound(1.0 + term / c);
            change = c * d;
            value *= change;
        }
        if (change - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_vary_has_no_test() {
        assert!(TTest::welch(&[1.0], &[1.0, 2.0]).is_none());
        assert!(TTest::welch(&[1.0, 1.0], &[2.0, 2.0]).is_none());
        assert!(TTest::paired(&[1.0, 2.0], &[2.0, 3.0]).is_none());
        assert!(TTest::paired(&[1.0, 2.0], &[2.0, 3.0, 5.0]).is_none());
        assert!(TTest::welch(&[], &[]).is_none());
    }

    #[test]
    fn equal_means_are_as_probable_as_can_be() {
        let test = TTest::welch(&[1.0, 2.0, 3.0], &[0.0, 2.0, 4.0]).unwrap();
        assert_eq!((test.t, test.p), (0.0, 1.0));
        // With one degree of freedom t is Cauchy's: P(|t| > 1) = 1/2.
        assert!((two_sided(1.0, 1.0) - 0.5).abs() < 1e-14);
    }
}

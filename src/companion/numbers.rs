//! Numbers on the command line, each with what it must be.

use std::str::FromStr;

/// A count, of which there is at least one.
pub fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("it must be at least 1".into()),
        other => other.map_err(|e: std::num::ParseIntError| e.to_string()),
    }
}

/// What draws the sentence pairs of CASE's protocol: a seed, or `case` for 0.
pub fn split(text: &str) -> Result<u64, String> {
    match text {
        "case" => Ok(0),
        seed => seed
            .parse()
            .map_err(|e: std::num::ParseIntError| format!("{e}; a seed, or case")),
    }
}

/// Such as a learning rate.
pub fn positive(text: &str) -> Result<f64, String> {
    let sound = |x: &f64| *x > 0.0 && x.is_finite();
    number(text, sound, "positive")
}

/// Such as a weight decay.
pub fn not_negative(text: &str) -> Result<f64, String> {
    let sound = |x: &f64| *x >= 0.0 && x.is_finite();
    number(text, sound, "not negative")
}

/// The longest that gradients may be, or that they are taken as they are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clip(pub Option<f64>);

/// Such as `1` or `none`.
pub fn clip(text: &str) -> Result<Clip, String> {
    match text {
        "none" => Ok(Clip(None)),
        text => positive(text)
            .map(|length| Clip(Some(length)))
            .map_err(|e| format!("{e}, or none")),
    }
}

/// A share or a probability.
pub fn share(text: &str) -> Result<f32, String> {
    number(text, |x| (0.0..=1.0).contains(x), "between 0 and 1")
}

/// A probability of dropout, or what a running average keeps.
pub fn below_one<T: FromStr + PartialOrd + From<u8>>(text: &str) -> Result<T, String> {
    let sound = |x: &T| (T::from(0)..T::from(1)).contains(x);
    number(text, sound, "at least 0 and less than 1")
}

fn number<T: FromStr>(text: &str, sound: impl Fn(&T) -> bool, must: &str) -> Result<T, String> {
    let number = text.parse().ok().filter(sound);
    number.ok_or_else(|| format!("it must be a number, {must}"))
}

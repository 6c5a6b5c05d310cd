//! Rotary position embeddings (Su et al., 2021) and the ways in which published models stretch them, with the
//! formulas of transformers' `modeling_rope_utils`.
//!
//! Pair i of a head's numbers is turned by position · ω_i, ω_i = θ^(−2i/d). `linear` divides all ω by a factor;
//! `dynamic` raises θ for inputs longer than the model was trained on; `llama3` divides the slow ω alone;
//! `yarn` (Peng et al., 2023) likewise, and scales what is turned.

use std::f64::consts::TAU;

use candle_core::{Device, Tensor};

use crate::{
    checkpoint::config::rope::{Rope, Scaling},
    error::Result,
};

/// Cosines and sines for positions `0..length`, each `[length, dim / 2]` in f32.
pub fn tables(rope: &Rope, dim: usize, length: usize, device: &Device) -> Result<(Tensor, Tensor)> {
    let (frequencies, scale) = frequencies(rope, dim, length);
    let mut cos = Vec::with_capacity(length * frequencies.len());
    let mut sin = Vec::with_capacity(length * frequencies.len());
    for position in 0..length {
        for w in &frequencies {
            let (s, c) = (position as f64 * w).sin_cos();
            cos.push((scale * c) as f32);
            sin.push((scale * s) as f32);
        }
    }
    let shape = (length, frequencies.len());
    Ok((
        Tensor::from_vec(cos, shape, device)?,
        Tensor::from_vec(sin, shape, device)?,
    ))
}

/// ω of each pair, for an input of `length` tokens, and what sines and cosines are multiplied by.
fn frequencies(rope: &Rope, dim: usize, length: usize) -> (Vec<f64>, f64) {
    let d = dim as f64;
    let of = |theta: f64| move |i: usize| theta.powf(-2.0 * i as f64 / d);
    let pairs = 0..dim / 2;
    let plain = of(rope.theta);
    match &rope.scaling {
        Scaling::None => (pairs.map(plain).collect(), 1.0),
        Scaling::Linear { factor } => (pairs.map(|i| plain(i) / factor).collect(), 1.0),
        Scaling::Dynamic { factor, trained } => {
            let stretch = factor * length.max(*trained) as f64 / *trained as f64 - (factor - 1.0);
            let theta = match dim > 2 {
                true => rope.theta * stretch.powf(d / (d - 2.0)),
                false => rope.theta,
            };
            (pairs.map(of(theta)).collect(), 1.0)
        }
        Scaling::Llama3 {
            factor,
            low,
            high,
            trained,
        } => {
            let scaled = |i: usize| {
                let w = plain(i);
                // How often the wave fits into the training's longest input.
                let turns = *trained as f64 * w / TAU;
                let keep = ((turns - low) / (high - low)).clamp(0.0, 1.0);
                (1.0 - keep) * w / factor + keep * w
            };
            (pairs.map(scaled).collect(), 1.0)
        }
        Scaling::Yarn {
            factor,
            attention,
            fast,
            slow,
            truncate,
            trained,
        } => {
            let at =
                |turns: f64| d * (*trained as f64 / (turns * TAU)).ln() / (2.0 * rope.theta.ln());
            let (mut low, mut high) = (at(*fast), at(*slow));
            if *truncate {
                (low, high) = (low.floor(), high.ceil());
            }
            let (low, high) = (low.max(0.0), high.min(d - 1.0));
            let width = if low == high { 0.001 } else { high - low };
            let scaled = |i: usize| {
                let keep = 1.0 - ((i as f64 - low) / width).clamp(0.0, 1.0);
                plain(i) / factor * (1.0 - keep) + plain(i) * keep
            };
            (pairs.map(scaled).collect(), *attention)
        }
        Scaling::Divided(by) => {
            let by = |i: usize| by.get(i).copied().unwrap_or(1.0);
            (pairs.map(|i| plain(i) / by(i)).collect(), 1.0)
        }
    }
}

//! The router of tri-encoders, composed of candle's differentiable operations.

use candle_core::Tensor;

use crate::{
    backend::{Gain, Route},
    error::Result,
};

/// As [`Routing::select`](crate::backend::Routing::select).
pub fn select(x: &Tensor, rows: &[u32]) -> Result<Tensor> {
    Ok(x.index_select(&Tensor::new(rows, x.device())?, 0)?)
}

/// As [`Routing::route`](crate::backend::Routing::route).
pub fn route(
    attended: &Tensor,
    qkv: &Tensor,
    queries: &Tensor,
    routes: &[Route],
    heads: usize,
    gain: Gain,
) -> Result<Tensor> {
    let (_, hidden) = attended.dims2()?;
    let head = hidden / heads;
    let rows: Vec<u32> = routes
        .iter()
        .flat_map(|r| r.start..r.start + r.len)
        .collect();
    let conditions: Vec<u32> = routes
        .iter()
        .flat_map(|r| std::iter::repeat_n(r.query, r.len as usize))
        .collect();
    let query = queries.narrow(1, 0, hidden)?.contiguous()?;
    let key = qkv.narrow(1, hidden, hidden)?.contiguous()?;
    let products = (select(&query, &conditions)? * select(&key, &rows)?)?;
    let scores = products.reshape((rows.len(), heads, head))?.sum(2)?;
    let weights = softmax(&(scores / (head as f64).sqrt())?, routes)?;
    let scale = match gain {
        Gain::OnePlusWeight => (weights + 1.0)?,
        Gain::Weight => weights,
    };
    Ok(select(attended, &rows)?
        .reshape((rows.len(), heads, head))?
        .broadcast_mul(&scale.unsqueeze(2)?)?
        .reshape((rows.len(), hidden))?)
}

/// Softmax over the rows of each route, `[Σ len, heads]`: routes lie side by side up to the longest, with
/// scores of −∞ where a shorter one has ended.
fn softmax(scores: &Tensor, routes: &[Route]) -> Result<Tensor> {
    let (_, heads) = scores.dims2()?;
    let longest = routes.iter().map(|r| r.len).max().unwrap_or(0);
    let slots = routes.len() * longest as usize;
    let (mut taken, mut mask) = (Vec::with_capacity(slots), Vec::with_capacity(slots));
    let mut places = Vec::with_capacity(slots);
    let mut at = 0;
    for route in routes {
        for token in 0..longest {
            let inside = token < route.len;
            if inside {
                places.push(taken.len() as u32);
            }
            taken.push(if inside { at + token } else { at });
            mask.push(if inside { 0.0 } else { f32::NEG_INFINITY });
        }
        at += route.len;
    }
    let mask = Tensor::from_vec(mask, (routes.len(), longest as usize, 1), scores.device())?;
    let scores = select(scores, &taken)?
        .reshape((routes.len(), longest as usize, heads))?
        .broadcast_add(&mask)?;
    let weights = candle_nn::ops::softmax(&scores, 1)?.reshape((slots, heads))?;
    select(&weights, &places)
}

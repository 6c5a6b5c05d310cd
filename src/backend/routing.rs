//! What must hold of the arguments of [`Routing`](super::Routing), whichever backend computes it. Shapes are `(rows, columns)`.

use std::ops::Range;

use super::{Route, Scores, Stretch, check_shape};
use crate::error::{Error, Result};

type Shape = (usize, usize);

fn check_inside(what: &str, inside: bool) -> Result<()> {
    match inside {
        true => Ok(()),
        false => Err(Error::InvalidArgument(format!(
            "{what} lies outside the batch"
        ))),
    }
}

/// Indices of rows, of which there are so many.
pub(super) fn check_rows(what: &str, rows: &[u32], there: usize) -> Result<()> {
    check_inside(what, rows.iter().all(|&row| (row as usize) < there))
}

/// Some of so many columns.
pub(super) fn check_columns(columns: &Range<usize>, there: usize) -> Result<()> {
    check_inside(
        "a column",
        columns.start <= columns.end && columns.end <= there,
    )
}

/// How wide the part of a query is that has scores of its own.
pub(super) fn check_weights(
    queries: Shape,
    keys: Shape,
    routes: &[Route],
    scores: Scores,
) -> Result<usize> {
    check_shape("the queries' width", queries.1, keys.1)?;
    let parts = scores.parts();
    let part = keys.1.checked_div(parts).unwrap_or(0);
    check_shape("heads · head size", parts * part, keys.1)?;
    let there = |route: &Route| {
        route.len > 0
            && u64::from(route.start) + u64::from(route.len) <= keys.0 as u64
            && (route.query as usize) < queries.0
    };
    check_inside("a route", routes.iter().all(there))?;
    Ok(part)
}

/// Stretches of rows of attention weights.
pub(super) fn check_shares(attention: Shape, stretches: &[Stretch]) -> Result<()> {
    let there = |stretch: &Stretch| {
        (stretch.row as usize) < attention.0
            && u64::from(stretch.first) + u64::from(stretch.len) <= attention.1 as u64
    };
    check_inside("a stretch", stretches.iter().all(there))
}

/// How many columns a weight is for.
pub(super) fn check_scale(attended: Shape, rows: &[u32], weights: Shape) -> Result<usize> {
    check_shape("the weights' height", weights.0, rows.len())?;
    let part = attended.1.checked_div(weights.1).unwrap_or(0);
    check_shape("parts · their width", weights.1 * part, attended.1)?;
    check_rows("a row", rows, attended.0)?;
    Ok(part)
}

/// How many numbers a row comes to.
pub(super) fn check_transform(x: Shape, matrices: Shape, of: &[u32]) -> Result<usize> {
    check_shape("the number of matrices named", of.len(), x.0)?;
    let outputs = matrices.1.checked_div(x.1).unwrap_or(0);
    check_shape("inputs · outputs", x.1 * outputs, matrices.1)?;
    check_rows("a matrix", of, matrices.0)?;
    Ok(outputs)
}

//! Texts in groups.

use crate::evaluation::confidence::Spread;

/// Texts under a condition, in groups.
pub struct Grouped<'a> {
    pub condition: Option<&'a str>,
    /// Of unit length, row by row.
    pub numbers: Vec<f32>,
    pub dims: usize,
    /// Each text's group by the first seed.
    pub groups: Vec<usize>,
    pub v_measure: Option<Spread>,
}

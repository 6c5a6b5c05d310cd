//! A batch on candle's device, its sequences grouped by length: attention runs once a length.

use std::{collections::BTreeMap, ops::Range};

use candle_core::{Device, Tensor};

use crate::{error::Result, text::Batch};

/// A batch on the device.
pub struct DeviceBatch {
    pub(super) ids: Vec<u32>,
    pub(super) types: Tensor,
    pub(super) positions: Tensor,
    /// Each sequence's rows.
    pub(super) ranges: Vec<Range<usize>>,
    /// The first rows of the sequences of each length.
    pub(super) groups: BTreeMap<usize, Vec<usize>>,
    /// Row `i` of the grouped order is token `order[i]`; `inverse` undoes it. `None` where one group
    /// holds all, in order.
    pub(super) order: Option<(Tensor, Tensor)>,
}

impl DeviceBatch {
    /// Copies a batch to `device`.
    pub(super) fn new(batch: &Batch, device: &Device) -> Result<Self> {
        let vector = |v: &[u32]| Tensor::new(v, device);
        let ranges: Vec<_> = batch.ranges().filter(|r| !r.is_empty()).collect();
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for range in &ranges {
            groups.entry(range.len()).or_default().push(range.start);
        }
        let order: Vec<u32> = groups
            .iter()
            .flat_map(|(&len, starts)| starts.iter().flat_map(move |&s| s..s + len))
            .map(|i| i as u32)
            .collect();
        let order = if order.iter().enumerate().all(|(i, &o)| i == o as usize) {
            None
        } else {
            let mut inverse = vec![0u32; order.len()];
            for (i, &o) in order.iter().enumerate() {
                inverse[o as usize] = i as u32;
            }
            Some((vector(&order)?, vector(&inverse)?))
        };
        Ok(Self {
            ids: batch.ids.clone(),
            types: vector(&batch.types)?,
            positions: vector(&batch.positions)?,
            ranges,
            groups,
            order,
        })
    }

    /// Tokens of the longest sequence.
    pub(super) fn longest(&self) -> usize {
        self.groups.keys().next_back().copied().unwrap_or(0)
    }
}

//! What an encoder computed in a training step on the CPU, to go back over it.
//!
//! candle's own backward pass adds each gradient to zeros and asks for a graph of small operations: for the dozen kinds of large
//! ones that an encoder is made of, that is most of a step. They leave a record here instead, and their results are variables to
//! candle: it goes back from the loss to them, and the tape from there to the weights.

use std::{collections::HashMap, ops::Deref, sync::Mutex};

use candle_core::{
    CpuStorage, Layout, Result, Storage, StorageRef, Tensor, TensorId, Var, backprop::GradStore,
    bail,
};
use rayon::prelude::*;

use super::math::SPAN;
use crate::backend::lock;

/// What was computed, with all that its gradients follow from.
pub trait Operation: Send {
    /// Adds up gradients of what it was computed from, given that of the result.
    fn backward(&self, gradient: Vec<f32>, sums: &mut Gradients) -> Result<()>;
}

struct Record {
    output: Tensor,
    operation: Box<dyn Operation>,
}

/// The operations of a step, in their order.
#[derive(Default)]
pub struct Tape {
    records: Mutex<Vec<Record>>,
    /// Whether nothing is recorded: there are no gradients then.
    off: bool,
}

impl Tape {
    /// One that records nothing.
    pub fn off() -> Self {
        Self {
            off: true,
            ..Self::default()
        }
    }

    /// A result, row by row, and how it came about, where any of `from` is trained or computed from what is.
    pub fn record<O: Operation + 'static>(
        &self,
        (rows, columns): (usize, usize),
        numbers: Vec<f32>,
        from: &[&Tensor],
        operation: impl FnOnce() -> O,
    ) -> Result<Tensor> {
        let device = &candle_core::Device::Cpu;
        if self.off || !from.iter().any(|x| x.track_op()) {
            return Tensor::from_vec(numbers, (rows, columns), device);
        }
        let output = Var::from_vec(numbers, (rows, columns), device)?;
        let output = output.as_tensor().clone();
        lock(&self.records).push(Record {
            output: output.clone(),
            operation: Box::new(operation()),
        });
        Ok(output)
    }

    /// Forgets what was recorded.
    pub fn clear(&self) {
        lock(&self.records).clear();
    }

    /// The gradients of `loss`, a single number, for all variables; the tape is empty then.
    pub fn backward(&self, loss: &Tensor) -> Result<GradStore> {
        let records = std::mem::take(&mut *lock(&self.records));
        let mut sums = Gradients {
            by_candle: loss.backward()?,
            own: HashMap::new(),
        };
        for Record { output, operation } in records.into_iter().rev() {
            if let Some(gradient) = sums.take(&output)? {
                operation.backward(gradient, &mut sums)?;
            }
        }
        sums.finish()
    }
}

/// Gradients on the way back.
pub struct Gradients {
    by_candle: GradStore,
    own: HashMap<TensorId, (Tensor, Vec<f32>)>,
}

impl Gradients {
    /// Adds to the gradient of `x`, which is as long as that; of what is not trained nothing is kept.
    pub fn add(&mut self, x: &Tensor, gradient: Vec<f32>) -> Result<()> {
        if x.is_variable() {
            match self.own.get_mut(&x.id()) {
                Some((_, sum)) => add(sum, &gradient),
                None => {
                    self.own.insert(x.id(), (x.clone(), gradient));
                }
            }
        } else if x.track_op() {
            // Made by candle's operations, which go on from here.
            let gradient = Tensor::from_vec(gradient, x.shape(), x.device())?;
            self.by_candle
                .extend((x * gradient)?.sum_all()?.backward()?)?;
        }
        Ok(())
    }

    /// The gradient of a result, from both sides.
    fn take(&mut self, x: &Tensor) -> Result<Option<Vec<f32>>> {
        let own = self.own.remove(&x.id()).map(|(_, sum)| sum);
        let candles = match self.by_candle.remove(x) {
            Some(gradient) => Some(Numbers::of(&gradient.contiguous()?)?.to_vec()),
            None => None,
        };
        Ok(match (own, candles) {
            (Some(mut sum), Some(more)) => {
                add(&mut sum, &more);
                Some(sum)
            }
            (own, candles) => own.or(candles),
        })
    }

    fn finish(self) -> Result<GradStore> {
        let mut store = self.by_candle;
        for (x, sum) in self.own.into_values() {
            let sum = Tensor::from_vec(sum, x.shape(), x.device())?;
            let sum = match store.remove(&x) {
                Some(other) => (other + sum)?,
                None => sum,
            };
            store.insert(&x, sum);
        }
        Ok(store)
    }
}

/// sum += more
fn add(sum: &mut [f32], more: &[f32]) {
    sum.par_chunks_mut(SPAN)
        .zip(more.par_chunks(SPAN))
        .for_each(|(sum, more)| sum.iter_mut().zip(more).for_each(|(s, m)| *s += m));
}

/// The numbers of a contiguous f32 tensor on the CPU, lent.
pub struct Numbers<'a> {
    storage: StorageRef<'a>,
    layout: &'a Layout,
}

impl<'a> Numbers<'a> {
    /// # Errors
    /// The tensor is no such tensor.
    pub fn of(x: &'a Tensor) -> Result<Self> {
        let (storage, layout) = x.storage_and_layout();
        let fits = match (&*storage, layout.contiguous_offsets()) {
            (Storage::Cpu(CpuStorage::F32(numbers)), Some((_, end))) => end <= numbers.len(),
            _ => false,
        };
        match fits {
            true => Ok(Self { storage, layout }),
            false => bail!("a fused operation needs contiguous f32 numbers on the CPU"),
        }
    }

    /// What a product takes.
    pub fn factor(&self) -> Result<(&CpuStorage, &Layout)> {
        match &*self.storage {
            Storage::Cpu(storage) => Ok((storage, self.layout)),
            _ => bail!("a fused operation needs numbers on the CPU"),
        }
    }
}

impl Deref for Numbers<'_> {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        match (&*self.storage, self.layout.contiguous_offsets()) {
            (Storage::Cpu(CpuStorage::F32(numbers)), Some((start, end))) => &numbers[start..end],
            // No `Numbers` is made of anything else.
            _ => &[],
        }
    }
}

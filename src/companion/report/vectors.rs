//! Embeddings of a study's inputs, and what is read off them.

use candle_core::{Device, Tensor};

use crate::{
    backend::candle::Candle,
    error::Result,
    head::{Head, HeadFile},
    similarity::cosine,
    training::head::Example,
};

/// One vector an input, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct Vectors {
    pub dims: usize,
    pub numbers: Vec<f32>,
}

impl Vectors {
    pub fn row(&self, i: usize) -> &[f32] {
        &self.numbers[i * self.dims..(i + 1) * self.dims]
    }

    /// Some rows, in the order named.
    pub fn rows(&self, chosen: &[u32]) -> Self {
        Self {
            dims: self.dims,
            numbers: chosen
                .iter()
                .flat_map(|&i| self.row(i as usize))
                .copied()
                .collect(),
        }
    }

    /// The first `n` rows.
    pub fn first(&self, n: usize) -> Self {
        Self {
            dims: self.dims,
            numbers: self.numbers.iter().take(n * self.dims).copied().collect(),
        }
    }

    /// At most `n` rows, evenly spread.
    pub fn spread(&self, n: usize) -> Self {
        let all = self.numbers.len() / self.dims;
        let n = n.min(all);
        let chosen: Vec<u32> = (0..n).map(|i| (i * all / n) as u32).collect();
        self.rows(&chosen)
    }

    /// The cosine of two rows.
    pub fn cosine(&self, a: u32, b: u32) -> f64 {
        f64::from(cosine(self.row(a as usize), self.row(b as usize)))
    }

    /// The cosine of each example's two vectors, their first `k` numbers alone: at `dims`, all of them.
    pub fn cosines(&self, examples: &[Example], k: usize) -> Vec<f64> {
        let start = |i: u32| &self.row(i as usize)[..k.min(self.dims)];
        examples
            .iter()
            .map(|e| f64::from(cosine(start(e.first), start(e.second))))
            .collect()
    }

    /// Through a head.
    pub fn project(&self, head: &HeadFile) -> Result<Self> {
        let backend = Candle::cpu();
        let loaded = Head::load(&backend, head)?;
        let projected = loaded.forward(&backend, &self.tensor()?)?;
        Ok(Self {
            dims: head.spec.output(),
            numbers: projected.flatten_all()?.to_vec1()?,
        })
    }

    /// `[inputs, dims]` on the CPU.
    pub fn tensor(&self) -> Result<Tensor> {
        let rows = self.numbers.len() / self.dims;
        Ok(Tensor::from_slice(
            &self.numbers,
            (rows, self.dims),
            &Device::Cpu,
        )?)
    }
}

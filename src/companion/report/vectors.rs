//! Embeddings of a study's inputs, and what is read off them.

use std::path::Path;

use candle_core::{Device, Tensor};

use crate::{
    backend::candle::Candle,
    companion::{cache, wait},
    embedding::{Joint, Pool},
    error::Result,
    head::{Head, HeadFile},
    lens::{Lens, rows::Distinct},
    similarity::cosine,
    text::{Order, Sequence},
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

/// The parts that CASE embeddings are made of: for each input its hidden states in each order under each
/// pooling, and the same for its condition alone. Every setting of CASE is a choice among them.
pub struct Blocks {
    hidden: usize,
    pools: Vec<Pool>,
    /// `[inputs, pools · hidden]` each.
    orders: Vec<(Order, Vec<f32>)>,
    /// `[conditions, pools · hidden]`
    alone: Vec<f32>,
    /// Of each input its condition.
    condition: Vec<usize>,
}

impl Blocks {
    /// Runs the encoder, or finds its results in the cache.
    pub fn compute(
        lens: &Lens,
        inputs: &Distinct<'_>,
        orders: &[Order],
        pools: &[Pool],
        folder: &Path,
    ) -> Result<Self> {
        let mut conditions = Distinct::default();
        let condition = inputs
            .inputs
            .iter()
            .map(|(_, c)| conditions.add(c, c) as usize)
            .collect();
        let template = lens.encoder.template();
        let dims = pools.len() * lens.encoder.shape.hidden_size;
        let run = |order: Option<Order>, of: &Distinct<'_>| {
            cache::kept(lens, &(order, pools), &of.inputs, dims, folder, |chunk| {
                let sequences = chunk
                    .iter()
                    .map(|(sentence, condition)| -> Result<Sequence> {
                        let what = format!(" \"{condition:.60}\"");
                        let c = template.condition(&format!("condition{what}"), condition)?;
                        match order {
                            None => template.condition_alone(&c),
                            Some(order) => {
                                let s = template.sentence(&format!("sentence{what}"), sentence)?;
                                template.pair(&s, &c, order)
                            }
                        }
                    })
                    .collect::<Result<Vec<_>>>()?;
                Ok(wait(lens.encoder.pooled(&sequences, pools))?.concat())
            })
        };
        Ok(Self {
            hidden: lens.encoder.shape.hidden_size,
            pools: pools.to_vec(),
            orders: orders
                .iter()
                .map(|&order| Ok((order, run(Some(order), inputs)?)))
                .collect::<Result<_>>()?,
            alone: run(None, &conditions)?,
            condition,
        })
    }

    /// The embeddings of one setting, which must be among those computed; other orders are left out.
    pub fn case(&self, case: &Joint) -> Vectors {
        let stride = self.pools.len() * self.hidden;
        let pool = self.pools.iter().position(|&p| p == case.pooling);
        let pool = pool.unwrap_or(0) * self.hidden;
        let chosen: Vec<&[f32]> = case
            .orders
            .iter()
            .filter_map(|order| self.orders.iter().find(|(o, _)| o == order))
            .map(|(_, numbers)| numbers.as_slice())
            .collect();
        let mut numbers = Vec::with_capacity(self.condition.len() * chosen.len() * self.hidden);
        for (i, condition) in self.condition.iter().enumerate() {
            let alone = &self.alone[condition * stride + pool..][..self.hidden];
            for block in &chosen {
                let joint = &block[i * stride + pool..][..self.hidden];
                match case.subtract {
                    true => numbers.extend(joint.iter().zip(alone).map(|(j, a)| j - a)),
                    false => numbers.extend(joint),
                }
            }
        }
        Vectors {
            dims: chosen.len() * self.hidden,
            numbers,
        }
    }
}

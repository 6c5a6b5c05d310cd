//! The reference backend: candle on the CPU and CUDA; differentiable.
//!
//! Linear weights are f32 whatever the file holds, decoded as they are loaded: candle's product of blocks
//! (`QMatMul`) rounds activations to eight bits too, which costs a cosine of 0.0017 on all-MiniLM-L6-v2's
//! worst text where decoding q8_0 costs 0.0004, and takes 2.4 times as long on a CPU with AVX2.
//! The token table, of which a batch touches few rows, stays in its blocks.
//!
//! Weights that come from a `Var` carry gradients on a backend made for training, and are plain numbers on
//! every other: one model serves both.

#[cfg(not(target_arch = "wasm32"))]
use std::ops::Range;
use std::{cell::RefCell, collections::BTreeMap, rc::Rc, sync::Arc};

#[cfg(not(target_arch = "wasm32"))]
use candle_core::backprop::GradStore;
use candle_core::{D, DType, Device, Tensor};

use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::{Activation, AttentionRow, Backend, NormWeights, Pooling, check_attention_rows};
use crate::{
    checkpoint::weights::{Dtype, WeightTensor, decode},
    error::{Error, Result},
    text::Batch,
};

#[cfg(not(target_arch = "wasm32"))]
pub mod gpu;
#[cfg(not(target_arch = "wasm32"))]
mod routing;
#[cfg(not(target_arch = "wasm32"))]
pub mod swiglu;
pub mod training;

#[cfg(not(target_arch = "wasm32"))]
use training::autograd;
use training::parameters::{FineTuning, Lora, Parameter, Precision, Tuned};

/// candle on one device.
#[derive(Clone)]
pub struct Candle {
    device: Device,
    /// Where dropout's masks come from while training.
    dropout: Option<Rc<RefCell<StdRng>>>,
    /// What was loaded to be trained, and how.
    fine_tuning: Option<Rc<Tuned>>,
}

impl Candle {
    /// candle on `device`.
    pub fn new(device: Device) -> Self {
        Self {
            device,
            dropout: None,
            fine_tuning: None,
        }
    }

    /// candle on `device` with dropout on: masks follow from `seed`.
    pub fn training(device: Device, seed: u64) -> Self {
        Self {
            dropout: Some(Rc::new(RefCell::new(StdRng::seed_from_u64(seed)))),
            ..Self::new(device)
        }
    }

    /// candle on `device`, to fine-tune what is loaded to it: what `how` says becomes [`Parameter`]s, and
    /// after the embeddings and each sub-layer's linear layer numbers are dropped, as in transformers.
    pub fn fine_tuning(device: Device, seed: u64, how: FineTuning) -> Self {
        Self {
            fine_tuning: Some(Rc::new(Tuned::new(how))),
            ..Self::training(device, seed)
        }
    }

    /// What linear layers multiply.
    fn precision(&self) -> Precision {
        self.tuning().map_or(Precision::F32, |t| t.how.precision)
    }

    /// Lets dropout's masks follow from another seed from here on.
    pub fn reseed(&self, seed: u64) {
        if let Some(rng) = &self.dropout {
            *rng.borrow_mut() = StdRng::seed_from_u64(seed);
        }
    }

    /// candle on the CPU.
    pub fn cpu() -> Self {
        Self::new(Device::Cpu)
    }

    /// Where it computes.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Present on a backend made for fine-tuning, which no browser is.
    fn tuning(&self) -> Option<&Tuned> {
        match cfg!(target_arch = "wasm32") {
            true => None,
            false => self.fine_tuning.as_deref(),
        }
    }

    /// What was loaded to be trained, in the order it was loaded. Cloning shares.
    pub fn parameters(&self) -> Vec<Parameter> {
        match self.tuning() {
            Some(tuning) => tuning.parameters.borrow().clone(),
            None => Vec::new(),
        }
    }

    /// The low-rank updates that were loaded to be trained. Cloning shares.
    pub fn adapters(&self) -> Vec<Lora> {
        match self.tuning() {
            Some(tuning) => tuning.adapters.borrow().clone(),
            None => Vec::new(),
        }
    }

    /// Gradients of `loss`, a single number, for all parameters that are trained.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn gradients(&self, loss: &Tensor) -> Result<GradStore> {
        let mut gradients = loss.backward()?;
        if let Some(tuning) = self.tuning() {
            tuning.gradients.drain_to(&mut gradients)?;
        }
        Ok(gradients)
    }

    /// Tensors stacked along their first dimension, to be trained where that is what this backend is for.
    fn load(&self, parts: &[&WeightTensor<'_>]) -> Result<Tensor> {
        let tensors = parts
            .iter()
            .map(|w| self.dense(w))
            .collect::<Result<Vec<_>>>()?;
        let stacked = Tensor::cat(&tensors, 0)?;
        match self.tuning() {
            Some(tuning) => tuning.parameter(parts, stacked),
            None => Ok(stacked),
        }
    }

    /// Low-rank updates of the matrices stacked in `weight`, where they are what is trained.
    fn low_rank(&self, parts: &[&WeightTensor<'_>], weight: &Tensor) -> Result<Vec<Lora>> {
        match (self.tuning(), &self.dropout) {
            (Some(tuning), Some(rng)) => tuning.low_rank(parts, weight, &mut rng.borrow_mut()),
            _ => Ok(Vec::new()),
        }
    }

    fn dense(&self, w: &WeightTensor<'_>) -> Result<Tensor> {
        Ok(Tensor::from_vec(
            w.to_f32(),
            w.shape.as_slice(),
            &self.device,
        )?)
    }

    /// A weight as this backend uses it: only training follows it back to its `Var`.
    fn weight(&self, weight: &Tensor) -> Tensor {
        match self.dropout {
            Some(_) => weight.clone(),
            None => weight.detach(),
        }
    }

    /// A linear layer's weight with its low-rank updates, and its bias.
    fn layer(&self, layer: &Linear) -> Result<(Tensor, Tensor)> {
        let mut weight = layer.weight.clone();
        if cfg!(not(target_arch = "wasm32")) && !layer.low_rank.is_empty() {
            let updates = layer.low_rank.iter().map(Lora::update);
            let updates = Tensor::cat(&updates.collect::<Result<Vec<_>>>()?, 0)?;
            weight = (weight + updates)?;
        }
        Ok((self.weight(&weight), self.weight(&layer.bias)))
    }

    /// Whether operations with a backward pass of their own are to be used.
    #[cfg(not(target_arch = "wasm32"))]
    fn fused(&self) -> bool {
        self.tuning().is_some() && self.device.is_cpu()
    }

    fn norm(&self, x: &Tensor, norm: &Norm) -> Result<Tensor> {
        let (weight, bias) = (self.weight(&norm.weight), self.weight(&norm.bias));
        #[cfg(not(target_arch = "wasm32"))]
        if self.fused() {
            return Ok(autograd::layer_norm(x, &weight, &bias, norm.eps)?);
        }
        // candle's fused kernel has no gradient; autograd takes the composed form.
        Ok(if x.track_op() || weight.track_op() {
            candle_nn::ops::layer_norm_slow(x, &weight, &bias, norm.eps)?
        } else {
            candle_nn::ops::layer_norm(x, &weight, &bias, norm.eps)?
        })
    }

    /// Dropout within an encoder that is being fine-tuned, plus `residual` where there is one.
    fn drop_add(&self, x: Tensor, residual: Option<&Tensor>) -> Result<Tensor> {
        let p = self.tuning().map_or(0.0, |t| t.how.dropout);
        #[cfg(not(target_arch = "wasm32"))]
        if let (Some(rng), true) = (&self.dropout, p > 0.0 && self.fused()) {
            let seed = rng.borrow_mut().random();
            return Ok(autograd::dropout(&x, residual, p, seed)?);
        }
        let x = match p > 0.0 {
            true => self.dropout(&x, p)?,
            false => x,
        };
        Ok(match residual {
            Some(residual) => (x + residual)?,
            None => x,
        })
    }
}

/// A linear layer: weight `[out, in]` and bias `[out]`.
pub struct Linear {
    weight: Tensor,
    bias: Tensor,
    /// Updates of the weight's rows, from the first on; none outside training.
    low_rank: Vec<Lora>,
}

impl Linear {
    /// A layer from tensors: `weight` `[out, in]`, `bias` `[out]`. Gradients flow to both.
    pub fn new(weight: Tensor, bias: Tensor) -> Self {
        Self {
            weight,
            bias,
            low_rank: Vec::new(),
        }
    }
}

/// LayerNorm's parameters.
pub struct Norm {
    weight: Tensor,
    bias: Tensor,
    eps: f32,
}

/// Embedding tables; the token table stays in its blocks, since a batch touches few of its rows.
pub struct Embeddings {
    token: Table,
    position: Tensor,
    types: Tensor,
    norm: Norm,
}

enum Table {
    Dense(Tensor),
    Rows {
        dtype: Dtype,
        columns: usize,
        data: Arc<[u8]>,
    },
}

/// A batch on the device.
pub struct DeviceBatch {
    ids: Vec<u32>,
    types: Tensor,
    positions: Tensor,
    /// Each sequence's rows.
    #[cfg(not(target_arch = "wasm32"))]
    ranges: Vec<Range<usize>>,
    /// Sequences of equal length together: attention runs once a length.
    groups: BTreeMap<usize, Vec<usize>>,
    /// Row `i` of the grouped order is token `order[i]`; `inverse` undoes it. `None` where one group
    /// holds all, in order.
    order: Option<(Tensor, Tensor)>,
}

#[cfg(not(target_arch = "wasm32"))]
impl super::Upload for Candle {
    type Tensor = Tensor;

    fn upload(&self, rows: usize, numbers: Vec<f32>) -> Result<Tensor> {
        let columns = numbers.len() / rows.max(1);
        Ok(Tensor::from_vec(numbers, (rows, columns), &self.device)?)
    }
}

impl Backend for Candle {
    type Tensor = Tensor;
    type Linear = Linear;
    type Norm = Norm;
    type Embeddings = Embeddings;
    type Batch = DeviceBatch;

    fn load_embeddings(
        &self,
        token: WeightTensor<'_>,
        position: WeightTensor<'_>,
        types: WeightTensor<'_>,
        norm: NormWeights<'_>,
    ) -> Result<Embeddings> {
        let (_, columns) = token.dims2()?;
        let trained = self.tuning().is_some_and(|t| t.trains(&token.name));
        let token = match token.dtype {
            _ if trained => Table::Dense(self.load(&[&token])?),
            Dtype::F32 => Table::Dense(self.dense(&token)?),
            dtype => Table::Rows {
                dtype,
                columns,
                data: token.data.as_ref().into(),
            },
        };
        Ok(Embeddings {
            token,
            position: self.load(&[&position])?,
            types: self.load(&[&types])?,
            norm: self.load_norm(norm)?,
        })
    }

    fn load_linear(&self, parts: Vec<(WeightTensor<'_>, WeightTensor<'_>)>) -> Result<Linear> {
        let (weights, biases): (Vec<_>, Vec<_>) = parts.iter().map(|(w, b)| (w, b)).unzip();
        let weight = self.load(&weights)?;
        Ok(Linear {
            low_rank: self.low_rank(&weights, &weight)?,
            weight,
            bias: self.load(&biases)?,
        })
    }

    fn load_norm(&self, norm: NormWeights<'_>) -> Result<Norm> {
        Ok(Norm {
            weight: self.load(&[&norm.weight])?,
            bias: self.load(&[&norm.bias])?,
            eps: norm.eps,
        })
    }

    fn upload(&self, batch: &Batch) -> Result<DeviceBatch> {
        let vector = |v: &[u32]| Tensor::new(v, &self.device);
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for range in batch.ranges().filter(|r| !r.is_empty()) {
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
        Ok(DeviceBatch {
            ids: batch.ids.clone(),
            types: vector(&batch.types)?,
            positions: vector(&batch.positions)?,
            #[cfg(not(target_arch = "wasm32"))]
            ranges: batch.ranges().filter(|r| !r.is_empty()).collect(),
            groups,
            order,
        })
    }

    fn embed(&self, tables: &Embeddings, batch: &DeviceBatch) -> Result<Tensor> {
        let token = match &tables.token {
            Table::Dense(table) => self
                .weight(table)
                .index_select(&Tensor::new(batch.ids.as_slice(), &self.device)?, 0)?,
            Table::Rows {
                dtype,
                columns,
                data,
            } => {
                let (numbers, bytes) = dtype.block();
                let row_bytes = columns / numbers * bytes;
                let mut rows = Vec::with_capacity(batch.ids.len() * columns);
                for &id in &batch.ids {
                    let row = data
                        .get(id as usize * row_bytes..(id as usize + 1) * row_bytes)
                        .ok_or_else(|| {
                            Error::Tokenizer(format!("token {id} is not in the model's vocabulary"))
                        })?;
                    rows.extend(decode(*dtype, row));
                }
                Tensor::from_vec(rows, (batch.ids.len(), *columns), &self.device)?
            }
        };
        let position = self.weight(&tables.position);
        let types = self.weight(&tables.types);
        let sum = ((token + position.index_select(&batch.positions, 0)?)?
            + types.index_select(&batch.types, 0)?)?;
        self.drop_add(self.norm(&sum, &tables.norm)?, None)
    }

    fn linear(&self, x: &Tensor, layer: &Linear, activation: Activation) -> Result<Tensor> {
        let (weight, bias) = self.layer(layer)?;
        #[cfg(not(target_arch = "wasm32"))]
        if let (Some(tuned), true) = (self.tuning(), self.fused()) {
            let y = autograd::linear(x, &weight, &bias, self.precision(), &tuned.gradients)?;
            return Ok(match activation {
                Activation::None => y,
                Activation::Gelu => autograd::gelu(&y)?,
                Activation::Relu => y.relu()?,
            });
        }
        let y = match self.precision() {
            Precision::F32 => x.matmul(&weight.t()?)?,
            Precision::Bf16 => x
                .to_dtype(DType::BF16)?
                .matmul(&weight.to_dtype(DType::BF16)?.t()?)?
                .to_dtype(DType::F32)?,
        };
        let y = y.broadcast_add(&bias)?;
        Ok(match activation {
            Activation::None => y,
            Activation::Gelu => y.gelu_erf()?,
            Activation::Relu => y.relu()?,
        })
    }

    fn linear_add_norm(
        &self,
        x: &Tensor,
        layer: &Linear,
        residual: &Tensor,
        norm: &Norm,
    ) -> Result<Tensor> {
        let y = self.linear(x, layer, Activation::None)?;
        self.norm(&self.drop_add(y, Some(residual))?, norm)
    }

    fn attention(&self, qkv: &Tensor, batch: &DeviceBatch, heads: usize) -> Result<Tensor> {
        #[cfg(not(target_arch = "wasm32"))]
        if self.fused() {
            return Ok(autograd::attention(qkv, batch.ranges.clone(), heads)?);
        }
        let (_, width) = qkv.dims2()?;
        let hidden = width / 3;
        let head = hidden / heads;
        let scale = 1.0 / (head as f64).sqrt();
        let grouped = match &batch.order {
            Some((order, _)) => qkv.index_select(order, 0)?,
            None => qkv.clone(),
        };
        let mut outputs = Vec::with_capacity(batch.groups.len());
        let mut at = 0;
        for (&len, starts) in &batch.groups {
            let rows = starts.len() * len;
            // [sequences, len, 3, heads, head] → 3 × [sequences, heads, len, head]
            let block =
                grouped
                    .narrow(0, at, rows)?
                    .reshape((starts.len(), len, 3, heads, head))?;
            let part = |i: usize| -> candle_core::Result<Tensor> {
                block
                    .narrow(2, i, 1)?
                    .squeeze(2)?
                    .transpose(1, 2)?
                    .contiguous()
            };
            let scores = (part(0)?.matmul(&part(1)?.t()?)? * scale)?;
            let weights = if scores.track_op() {
                candle_nn::ops::softmax(&scores, D::Minus1)?
            } else {
                candle_nn::ops::softmax_last_dim(&scores)?
            };
            outputs.push(
                weights
                    .matmul(&part(2)?)?
                    .transpose(1, 2)?
                    .reshape((rows, hidden))?,
            );
            at += rows;
        }
        let output = Tensor::cat(&outputs, 0)?;
        Ok(match &batch.order {
            Some((_, inverse)) => output.index_select(inverse, 0)?,
            None => output,
        })
    }

    fn attention_weights(
        &self,
        qkv: &Tensor,
        rows: &[AttentionRow],
        heads: usize,
    ) -> Result<Tensor> {
        let (tokens, width) = qkv.dims2()?;
        let longest = check_attention_rows(rows, tokens)?;
        let head = width / 3 / heads;
        let scale = 1.0 / (head as f64).sqrt();
        // [tokens, 3, heads, head] → 2 × [heads, tokens, head]
        let split = qkv.reshape((tokens, 3, heads, head))?;
        let part = |i: usize| split.narrow(1, i, 1)?.squeeze(1)?.transpose(0, 1);
        let (queries, keys) = (part(0)?, part(1)?);
        let mut weights = Vec::with_capacity(rows.len());
        for row in rows {
            let (start, len) = (row.start as usize, row.len as usize);
            let query = queries.narrow(1, row.query as usize, 1)?.contiguous()?;
            let keys = keys.narrow(1, start, len)?.contiguous()?;
            let scores = (query.matmul(&keys.t()?)? * scale)?;
            let mean = candle_nn::ops::softmax(&scores, D::Minus1)?.mean(0)?;
            weights.push(mean.pad_with_zeros(1, 0, longest - len)?);
        }
        match weights.is_empty() {
            true => Ok(Tensor::zeros((0, longest), DType::F32, &self.device)?),
            false => Ok(Tensor::cat(&weights, 0)?),
        }
    }

    fn pool(&self, hidden: &Tensor, pooling: &Pooling) -> Result<Tensor> {
        let (tokens, _) = hidden.dims2()?;
        let mut blocks = Vec::with_capacity(pooling.blocks);
        for block in 0..pooling.blocks as u32 {
            let mut weights = vec![0f32; pooling.rows * tokens];
            for term in pooling.terms.iter().filter(|t| t.block == block) {
                let start = term.row as usize * tokens + term.start as usize;
                for w in &mut weights[start..start + term.len as usize] {
                    *w += term.weight / term.len as f32;
                }
            }
            let weights = Tensor::from_vec(weights, (pooling.rows, tokens), &self.device)?;
            blocks.push(weights.matmul(hidden)?);
        }
        Ok(Tensor::cat(&blocks, 1)?)
    }

    fn normalize(&self, x: &Tensor) -> Result<Tensor> {
        // Far below any length that counts, and a row of zeros keeps a gradient of zero.
        let length = (x.sqr()?.sum_keepdim(D::Minus1)? + 1e-24)?.sqrt()?;
        Ok(x.broadcast_div(&length)?)
    }

    fn dropout(&self, x: &Tensor, p: f32) -> Result<Tensor> {
        let Some(rng) = self.dropout.as_ref().filter(|_| p > 0.0) else {
            return Ok(x.clone());
        };
        let mut rng = rng.borrow_mut();
        let keep = 1.0 / (1.0 - p);
        let mask: Vec<f32> = (0..x.elem_count())
            .map(|_| if rng.random::<f32>() < p { 0.0 } else { keep })
            .collect();
        Ok((x * Tensor::from_vec(mask, x.shape(), &self.device)?)?)
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn routing(&self) -> Option<&dyn super::Routing<Tensor = Tensor>> {
        Some(self)
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn rows(&self) -> Option<&dyn super::Upload<Tensor = Tensor>> {
        Some(self)
    }

    async fn read(&self, tensors: &[&Tensor]) -> Result<Vec<Vec<f32>>> {
        tensors
            .iter()
            .map(|x| Ok(x.flatten_all()?.to_vec1()?))
            .collect()
    }
}

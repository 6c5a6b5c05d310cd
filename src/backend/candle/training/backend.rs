//! The backend that trains: what is loaded to it becomes parameters, autograd follows what it computes, and
//! dropout is on.

use std::{ops::Range, sync::Mutex};

use candle_core::{DType, Device, Tensor, Var, backprop::GradStore};
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::{
    attention,
    dropout::Dropout,
    linear, norm,
    parameters::{Adapter, FineTuning, Frozen, Lora, Parameter, TrainingPrecision},
    tape::Tape,
};
use crate::{
    backend::{
        Activation, AttentionRow, Backend, Gain, NormWeights, Pooling, RelativeBiasWeights, Route,
        Routing, Scores, Stretch,
        candle::{
            batch::DeviceBatch,
            operations::{self, Norm, layer_norm, stacked},
            routing,
            tables::{Embeddings, Table},
        },
        lock,
    },
    checkpoint::weights::{Role, WeightTensor},
    error::Result,
    text::Batch,
};

/// candle on one device, to train what is loaded to it.
pub struct Trainer {
    device: Device,
    how: FineTuning,
    /// Records of operations with a backward pass of their own, where those are used.
    tape: Option<Tape>,
    /// Where dropout's masks and the first numbers of low-rank updates come from.
    random: Mutex<StdRng>,
    parameters: Mutex<Vec<Parameter>>,
    adapters: Mutex<Vec<Lora>>,
}

impl Trainer {
    /// candle on `device`, to fine-tune an encoder: what `how` says becomes [`Parameter`]s, and after the
    /// embeddings and each sub-layer's linear layer numbers are dropped, as in transformers. Masks follow from
    /// `seed`.
    pub fn new(device: Device, seed: u64, how: FineTuning) -> Self {
        Self {
            tape: device.is_cpu().then(Tape::default),
            device,
            how,
            random: Mutex::new(StdRng::seed_from_u64(seed)),
            parameters: Mutex::default(),
            adapters: Mutex::default(),
        }
    }

    /// candle on `device`, to train a head alone, which is too small to gain by fused operations.
    pub fn of_head(device: Device, seed: u64) -> Self {
        let how = FineTuning {
            adapter: Adapter::Full,
            frozen: Frozen::None,
            dropout: 0.0,
            precision: TrainingPrecision::F32,
            pooler: false,
        };
        Self {
            tape: None,
            ..Self::new(device, seed, how)
        }
    }

    /// candle on `device`, to compute as in training but for dropout and gradients.
    pub fn without_gradients(device: Device, precision: TrainingPrecision) -> Self {
        let how = FineTuning {
            adapter: Adapter::Full,
            frozen: Frozen::None,
            dropout: 0.0,
            precision,
            pooler: false,
        };
        Self {
            tape: device.is_cpu().then(Tape::off),
            ..Self::new(device, 0, how)
        }
    }

    /// Begins a step: dropout's masks follow from another seed from here on.
    pub fn reseed(&self, seed: u64) {
        *lock(&self.random) = StdRng::seed_from_u64(seed);
        if let Some(tape) = &self.tape {
            tape.clear();
        }
    }

    /// What was loaded to be trained, in the order it was loaded. Cloning shares.
    pub fn parameters(&self) -> Vec<Parameter> {
        lock(&self.parameters).clone()
    }

    /// The low-rank updates that were loaded to be trained. Cloning shares.
    pub fn adapters(&self) -> Vec<Lora> {
        lock(&self.adapters).clone()
    }

    /// Gradients of `loss`, a single number, for all parameters that are trained.
    pub fn gradients(&self, loss: &Tensor) -> Result<GradStore> {
        Ok(match &self.tape {
            Some(tape) => tape.backward(loss)?,
            None => loss.backward()?,
        })
    }

    /// Tensors stacked along their first dimension: a parameter, where all of them are trained.
    fn load(&self, parts: &[&WeightTensor<'_>]) -> Result<Tensor> {
        let stacked = stacked(parts, &self.device)?;
        if !parts.iter().all(|w| self.how.trains(w.role)) {
            return Ok(stacked);
        }
        let var = Var::from_tensor(&stacked)?;
        let tensor = var.as_tensor().clone();
        let rows = |w: &WeightTensor<'_>| w.shape.first().copied().unwrap_or(0);
        lock(&self.parameters).push(Parameter {
            parts: parts.iter().map(|w| (w.name.clone(), rows(w))).collect(),
            var,
        });
        Ok(tensor)
    }

    /// A low-rank update for each of the encoder's matrices that lie stacked in `stacked`, where they are what is
    /// trained.
    fn low_rank(&self, parts: &[&WeightTensor<'_>], stacked: &Tensor) -> Result<Vec<Lora>> {
        let Adapter::Lora(rank) = self.how.adapter else {
            return Ok(Vec::new());
        };
        let mut row = 0;
        let mut all = Vec::new();
        for part in parts {
            if !matches!(part.role, Some(Role::Matrix { .. })) {
                continue;
            }
            let (rows, _) = part.dims2()?;
            let matrix = stacked.narrow(0, row, rows)?;
            let lora = Lora::new(&part.name, matrix, rank, &mut lock(&self.random))?;
            row += rows;
            lock(&self.parameters).extend(lora.parameters()?);
            all.push(lora);
        }
        lock(&self.adapters).extend(all.iter().cloned());
        Ok(all)
    }

    /// Dropout of the next operation within an encoder.
    fn drawn(&self) -> Dropout {
        match self.how.dropout > 0.0 {
            true => Dropout {
                p: self.how.dropout,
                seed: lock(&self.random).random(),
            },
            false => Dropout::OFF,
        }
    }
}

/// A linear layer: weight `[out, in]` and bias `[out]`.
pub struct Linear {
    weight: Tensor,
    bias: Tensor,
    /// Updates of the weight's rows, from the first on.
    low_rank: Vec<Lora>,
}

impl Linear {
    /// The weight with its low-rank updates.
    fn weight(&self) -> Result<Tensor> {
        if self.low_rank.is_empty() {
            return Ok(self.weight.clone());
        }
        let updates = self.low_rank.iter().map(Lora::update);
        let updates = Tensor::cat(&updates.collect::<Result<Vec<_>>>()?, 0)?;
        Ok((&self.weight + updates)?)
    }
}

/// A relative bias: what is trained is the table.
#[derive(Clone)]
pub struct RelativeBias {
    /// `[buckets, heads]`
    table: Tensor,
    /// The table's row for each of 2n − 1 offsets.
    buckets: Tensor,
}

impl RelativeBias {
    /// `[heads, 2n − 1]`, by the table as it is now.
    fn by_offset(&self) -> Result<Tensor> {
        let table = self.table.t()?.contiguous()?;
        Ok(table.index_select(&self.buckets, 1)?)
    }
}

impl Backend for Trainer {
    type Tensor = Tensor;
    type Linear = Linear;
    type Norm = Norm;
    type Embeddings = Embeddings;
    type RelativeBias = RelativeBias;
    type Batch = DeviceBatch;

    fn load_embeddings(
        &self,
        token: WeightTensor<'_>,
        position: WeightTensor<'_>,
        types: WeightTensor<'_>,
        norm: NormWeights<'_>,
    ) -> Result<Embeddings> {
        Ok(Embeddings {
            token: match self.how.trains(token.role) {
                true => Table::Dense(self.load(&[&token])?),
                false => Table::new(&token, &self.device)?,
            },
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

    fn load_relative_bias(&self, bias: RelativeBiasWeights<'_>) -> Result<RelativeBias> {
        bias.dims()?;
        Ok(RelativeBias {
            table: self.load(&[&bias.table])?,
            buckets: Tensor::new(bias.buckets, &self.device)?,
        })
    }

    fn upload(&self, batch: &Batch) -> Result<DeviceBatch> {
        DeviceBatch::new(batch, &self.device)
    }

    fn rows(&self, columns: usize, numbers: &[f32]) -> Result<Tensor> {
        operations::rows(columns, numbers, &self.device)
    }

    fn embed(&self, tables: &Embeddings, batch: &DeviceBatch) -> Result<Tensor> {
        let x = tables.sum(batch)?;
        match &self.tape {
            Some(tape) => Ok(norm::norm_drop(tape, &x, &tables.norm, self.drawn())?),
            None => self.dropout(&layer_norm(&x, &tables.norm)?, self.how.dropout),
        }
    }

    fn linear(&self, x: &Tensor, layer: &Linear, activation: Activation) -> Result<Tensor> {
        let (weight, bias, precision) = (layer.weight()?, &layer.bias, self.how.precision);
        if let Some(tape) = &self.tape {
            let gelu = activation == Activation::Gelu;
            let y = linear::linear(tape, x, (&weight, bias), gelu, precision)?;
            return match activation {
                Activation::Gelu => Ok(y),
                other => operations::activate(y, other),
            };
        }
        let y = match precision {
            TrainingPrecision::F32 => x.matmul(&weight.t()?)?,
            TrainingPrecision::Bf16 => x
                .to_dtype(DType::BF16)?
                .matmul(&weight.to_dtype(DType::BF16)?.t()?)?
                .to_dtype(DType::F32)?,
        };
        operations::activate(y.broadcast_add(bias)?, activation)
    }

    fn linear_add_norm(
        &self,
        x: &Tensor,
        layer: &Linear,
        residual: &Tensor,
        norm: &Norm,
    ) -> Result<Tensor> {
        if let Some(tape) = &self.tape {
            let (weight, precision) = (layer.weight()?, self.how.precision);
            let affine = (&weight, &layer.bias);
            let dropout = self.drawn();
            return Ok(linear::linear_add_norm(
                tape, x, affine, residual, norm, dropout, precision,
            )?);
        }
        let y = self.linear(x, layer, Activation::None)?;
        let y = self.dropout(&y, self.how.dropout)?;
        layer_norm(&(y + residual)?, norm)
    }

    fn attention(
        &self,
        qkv: &Tensor,
        batch: &DeviceBatch,
        heads: usize,
        bias: Option<&RelativeBias>,
    ) -> Result<Tensor> {
        let bias = bias.map(RelativeBias::by_offset).transpose()?;
        let Some(tape) = &self.tape else {
            return operations::attention(qkv, batch, heads, bias.as_ref());
        };
        if let Some(bias) = &bias {
            operations::longest_of(bias, heads, batch.longest())?;
        }
        let sequences = batch.ranges.clone();
        Ok(attention::attention(
            tape,
            qkv,
            bias.as_ref(),
            sequences,
            heads,
        )?)
    }

    fn attention_weights(
        &self,
        qkv: &Tensor,
        rows: &[AttentionRow],
        heads: usize,
        bias: Option<&RelativeBias>,
    ) -> Result<Tensor> {
        let bias = bias.map(RelativeBias::by_offset).transpose()?;
        operations::attention_weights(qkv, rows, heads, bias.as_ref())
    }

    fn pool(&self, hidden: &Tensor, pooling: &Pooling) -> Result<Tensor> {
        operations::pool(hidden, pooling)
    }

    fn normalize(&self, x: &Tensor) -> Result<Tensor> {
        operations::normalize(x)
    }

    fn dropout(&self, x: &Tensor, p: f32) -> Result<Tensor> {
        if p <= 0.0 {
            return Ok(x.clone());
        }
        let mut random = lock(&self.random);
        let keep = 1.0 / (1.0 - p);
        let mask: Vec<f32> = (0..x.elem_count())
            .map(|_| {
                if random.random::<f32>() < p {
                    0.0
                } else {
                    keep
                }
            })
            .collect();
        Ok((x * Tensor::from_vec(mask, x.shape(), &self.device)?)?)
    }

    fn routing(&self) -> Option<&dyn Routing<Tensor = Tensor>> {
        Some(self)
    }

    async fn read(&self, tensors: &[&Tensor]) -> Result<Vec<Vec<f32>>> {
        operations::read(tensors)
    }
}

impl Routing for Trainer {
    type Tensor = Tensor;

    fn select(&self, x: &Tensor, rows: &[u32]) -> Result<Tensor> {
        routing::select(x, rows)
    }

    fn columns(&self, x: &Tensor, columns: Range<usize>) -> Result<Tensor> {
        routing::columns(x, columns)
    }

    fn stack(&self, x: &Tensor, y: &Tensor) -> Result<Tensor> {
        Ok(Tensor::cat(&[x, y], 0)?)
    }

    fn weights(
        &self,
        queries: &Tensor,
        keys: &Tensor,
        routes: &[Route],
        scores: Scores,
    ) -> Result<Tensor> {
        routing::weights(queries, keys, routes, scores)
    }

    fn shares(&self, attention: &Tensor, stretches: &[Stretch]) -> Result<Tensor> {
        routing::shares(attention, stretches)
    }

    fn scale(
        &self,
        attended: &Tensor,
        rows: &[u32],
        weights: &Tensor,
        gain: Gain,
    ) -> Result<Tensor> {
        routing::scale(attended, rows, weights, gain)
    }

    fn transform(&self, x: &Tensor, matrices: &Tensor, of: &[u32]) -> Result<Tensor> {
        routing::transform(x, matrices, of)
    }
}

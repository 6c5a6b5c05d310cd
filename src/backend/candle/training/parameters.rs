//! What fine-tuning changes in an encoder: its weights but those that are frozen, or low-rank updates
//! beside them (LoRA; Hu et al., 2021).

use std::{cell::RefCell, fmt, str::FromStr};

use candle_core::{Device, Tensor, Var};
use rand::{RngExt, rngs::StdRng};

use crate::{
    checkpoint::weights::WeightTensor,
    error::{Error, Result},
};

/// What of an encoder is trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(into = "String")]
pub enum Adapter {
    /// Its own weights.
    Full,
    /// Low-rank updates of the linear layers, of this rank; its own weights stay as they are.
    Lora(usize),
}

/// Weights that stay as they are where the others are trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(into = "String")]
pub enum Frozen {
    None,
    /// The token table.
    Tokens,
    /// All embedding tables with their LayerNorm, and the first layers.
    Layers(usize),
    /// All matrices: biases and LayerNorms are what is trained (BitFit; Ben Zaken et al., 2022). A quantized
    /// file keeps those in f32, so that an encoder whose matrices were rounded is not rounded again.
    Matrices,
}

/// What linear layers multiply while they are trained; sums are f32, and so is everything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(not(target_arch = "wasm32"), derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// Numbers as they are.
    F32,
    /// Numbers rounded to bf16.
    Bf16,
}

impl Precision {
    /// The faster one on this device: bf16 on a GPU, and where the CPU has instructions for it (AMX, AVX-512 BF16).
    pub fn fastest(device: &Device) -> Self {
        match device.is_cpu() && !bf16_on_cpu() {
            true => Self::F32,
            false => Self::Bf16,
        }
    }

    /// # Errors
    /// bf16 on a CPU without instructions for it.
    pub fn check(self, device: &Device) -> Result<()> {
        match self == Self::Bf16 && device.is_cpu() && !bf16_on_cpu() {
            true => Err(Error::InvalidArgument(
                "this CPU has no instructions for products in bf16 (AMX or AVX-512 BF16). Leave --precision out."
                    .into(),
            )),
            false => Ok(()),
        }
    }
}

fn bf16_on_cpu() -> bool {
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    return super::bf16::is_available();
    #[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
    false
}

impl fmt::Display for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("full"),
            Self::Lora(rank) => write!(f, "lora:{rank}"),
        }
    }
}

impl fmt::Display for Frozen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Tokens => f.write_str("tokens"),
            Self::Layers(n) => write!(f, "layers:{n}"),
            Self::Matrices => f.write_str("matrices"),
        }
    }
}

impl From<Adapter> for String {
    fn from(adapter: Adapter) -> Self {
        adapter.to_string()
    }
}

impl From<Frozen> for String {
    fn from(frozen: Frozen) -> Self {
        frozen.to_string()
    }
}

impl FromStr for Frozen {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match (text, text.strip_prefix("layers:").map(str::parse)) {
            ("none", _) => Ok(Self::None),
            ("tokens", _) => Ok(Self::Tokens),
            ("matrices", _) => Ok(Self::Matrices),
            (_, Some(Ok(n))) => Ok(Self::Layers(n)),
            _ => Err(Error::InvalidArgument(format!(
                "`{text}` cannot be frozen. Name none, tokens, layers:N (the first N layers) or matrices."
            ))),
        }
    }
}

impl Frozen {
    /// Whether the tensor of that GGUF name stays as it is.
    fn holds(self, name: &str) -> bool {
        let layer = || name.strip_prefix("blk.")?.split('.').next()?.parse().ok();
        match self {
            Self::None => false,
            Self::Tokens => name == "token_embd.weight",
            // What belongs to no layer is an embedding table or its LayerNorm.
            Self::Layers(n) => layer().is_none_or(|layer: usize| layer < n),
            Self::Matrices => name.ends_with(".weight") && !name.ends_with("_norm.weight"),
        }
    }
}

/// Weights that training changes.
#[derive(Clone)]
pub struct Parameter {
    /// The tensors in it, by GGUF name, and how many rows each has: query, key and value are stacked.
    pub parts: Vec<(String, usize)>,
    pub var: Var,
}

/// A low-rank update of one weight matrix W `[out, in]`: W + (α/r)·B·A, with α = 2r, so that one learning
/// rate serves every rank.
#[derive(Clone)]
pub struct Lora {
    /// The matrix's GGUF name.
    pub name: String,
    /// `[r, in]`, Kaiming-uniform at the start.
    pub a: Var,
    /// `[out, r]`, zero at the start: training begins at the published weights.
    pub b: Var,
    /// The matrix as published.
    base: Tensor,
}

/// α/r.
pub const LORA_SCALE: f64 = 2.0;

impl Lora {
    /// Updates nothing yet.
    fn new(name: &str, base: Tensor, rank: usize, rng: &mut StdRng) -> Result<Self> {
        let (rows, columns) = base.dims2()?;
        // Kaiming-uniform with a = √5, as the paper's code starts: ±1/√in.
        let bound = 1.0 / (columns as f32).sqrt();
        let numbers: Vec<f32> = (0..rank * columns)
            .map(|_| rng.random_range(-bound..bound))
            .collect();
        let a = Tensor::from_vec(numbers, (rank, columns), base.device())?;
        Ok(Self {
            name: name.into(),
            a: Var::from_tensor(&a)?,
            b: Var::zeros((rows, rank), base.dtype(), base.device())?,
            base,
        })
    }

    /// (α/r)·B·A, `[out, in]`.
    pub fn update(&self) -> Result<Tensor> {
        Ok((self.b.as_tensor().matmul(self.a.as_tensor())? * LORA_SCALE)?)
    }

    /// The matrix with its update.
    pub fn merged(&self) -> Result<Tensor> {
        Ok((&self.base + self.update()?.detach())?)
    }
}

/// How what a backend loads is trained.
pub struct FineTuning {
    pub adapter: Adapter,
    pub frozen: Frozen,
    /// Probability of dropout after the embeddings and each sub-layer's linear layer.
    pub dropout: f32,
    pub precision: Precision,
}

/// What was loaded to be trained.
pub(crate) struct Tuned {
    pub how: FineTuning,
    pub parameters: RefCell<Vec<Parameter>>,
    pub adapters: RefCell<Vec<Lora>>,
    /// Gradients that fused operations keep beside autograd's store.
    #[cfg(not(target_arch = "wasm32"))]
    pub gradients: super::autograd::WeightGradients,
}

impl Tuned {
    pub fn new(how: FineTuning) -> Self {
        Self {
            how,
            parameters: RefCell::default(),
            adapters: RefCell::default(),
            #[cfg(not(target_arch = "wasm32"))]
            gradients: Default::default(),
        }
    }

    /// Whether the tensor of that name is trained itself. A head on top always is.
    pub fn trains(&self, name: &str) -> bool {
        let in_head = name.starts_with("layers.");
        in_head || self.how.adapter == Adapter::Full && !self.how.frozen.holds(name)
    }

    /// Tensors stacked along their first dimension as a parameter, where they are trained.
    pub fn parameter(&self, parts: &[&WeightTensor<'_>], stacked: Tensor) -> Result<Tensor> {
        if !parts.iter().all(|w| self.trains(&w.name)) {
            return Ok(stacked);
        }
        let var = Var::from_tensor(&stacked)?;
        let tensor = var.as_tensor().clone();
        self.parameters.borrow_mut().push(Parameter {
            parts: parts
                .iter()
                .map(|w| (w.name.clone(), w.shape.first().copied().unwrap_or(0)))
                .collect(),
            var,
        });
        Ok(tensor)
    }

    /// A low-rank update for each of the encoder's matrices that lie stacked in `stacked`.
    pub fn low_rank(
        &self,
        parts: &[&WeightTensor<'_>],
        stacked: &Tensor,
        rng: &mut StdRng,
    ) -> Result<Vec<Lora>> {
        let Adapter::Lora(rank) = self.how.adapter else {
            return Ok(Vec::new());
        };
        let mut row = 0;
        let mut all = Vec::new();
        for part in parts.iter().filter(|part| part.name.starts_with("blk.")) {
            let (rows, _) = part.dims2()?;
            let lora = Lora::new(&part.name, stacked.narrow(0, row, rows)?, rank, rng)?;
            row += rows;
            for (side, var) in [("lora_a", &lora.a), ("lora_b", &lora.b)] {
                self.parameters.borrow_mut().push(Parameter {
                    parts: vec![(format!("{}.{side}", part.name), var.dim(0)?)],
                    var: var.clone(),
                });
            }
            all.push(lora);
        }
        self.adapters.borrow_mut().extend(all.iter().cloned());
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_frozen_follows_from_the_name() {
        let held = |frozen: &str| -> Vec<&str> {
            let frozen: Frozen = frozen.parse().unwrap();
            let names = [
                "token_embd.weight",
                "position_embd.weight",
                "token_embd_norm.bias",
                "blk.0.attn_q.weight",
                "blk.1.ffn_up.bias",
                "blk.10.attn_q.weight",
                "blk.10.attn_output_norm.weight",
            ];
            names.into_iter().filter(|n| frozen.holds(n)).collect()
        };
        assert!(held("none").is_empty());
        assert_eq!(held("tokens"), ["token_embd.weight"]);
        assert_eq!(held("layers:0").len(), 3);
        assert_eq!(held("layers:2").len(), 5);
        assert_eq!(
            held("matrices"),
            [
                "token_embd.weight",
                "position_embd.weight",
                "blk.0.attn_q.weight",
                "blk.10.attn_q.weight"
            ]
        );
        for wrong in ["", "layers", "layers:", "layers:-1", "token"] {
            let error = wrong.parse::<Frozen>().unwrap_err();
            assert_eq!(error.code(), "invalid-argument", "{wrong}");
        }
        for named in ["layers:2", "matrices"] {
            assert_eq!(named.parse::<Frozen>().unwrap().to_string(), named);
        }
    }
}

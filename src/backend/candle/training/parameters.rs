//! What fine-tuning changes in an encoder: its weights but those that are frozen, or low-rank updates
//! beside them (LoRA; Hu et al., 2021).

use std::{fmt, str::FromStr};

use candle_core::{Device, Tensor, Var};
use rand::{RngExt, rngs::StdRng};

use crate::{
    checkpoint::weights::Role,
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
    /// All embedding tables with their LayerNorm, a relative bias, which every layer shares, and the first layers.
    Layers(usize),
    /// All matrices: biases, a relative one too, and LayerNorms are what is trained (BitFit; Ben Zaken et al., 2022). A quantized
    /// file keeps those in f32, so that an encoder whose matrices were rounded is not rounded again.
    Matrices,
}

/// What linear layers multiply while they are trained; sums are f32, and so is everything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum TrainingPrecision {
    /// Numbers as they are.
    F32,
    /// Numbers rounded to bf16.
    Bf16,
}

impl TrainingPrecision {
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
                "this CPU has no instructions for products in bf16 (AMX or AVX-512 BF16). Multiply in f32."
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
    /// Whether an encoder's tensor of that role stays as it is.
    fn holds(self, role: Role) -> bool {
        match self {
            Self::None => false,
            Self::Tokens => role == Role::TokenTable,
            // What belongs to no layer is shared by all of them.
            Self::Layers(n) => role.layer().is_none_or(|layer| layer < n),
            Self::Matrices => matches!(
                role,
                Role::TokenTable | Role::OtherTable | Role::Matrix { .. }
            ),
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
    pub(super) fn new(name: &str, base: Tensor, rank: usize, rng: &mut StdRng) -> Result<Self> {
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

    /// Its two factors.
    pub(super) fn parameters(&self) -> Result<[Parameter; 2]> {
        let parameter = |side: &str, var: &Var| -> Result<_> {
            Ok(Parameter {
                parts: vec![(format!("{}.{side}", self.name), var.dim(0)?)],
                var: var.clone(),
            })
        };
        Ok([parameter("lora_a", &self.a)?, parameter("lora_b", &self.b)?])
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
    pub precision: TrainingPrecision,
    /// Whether embeddings go through the encoder's pooler: then it is trained with the matrices.
    pub pooler: bool,
}

impl FineTuning {
    /// Whether a tensor of that role is trained itself. A head on top always is; what nobody stated the role of
    /// never is.
    pub(super) fn trains(&self, role: Option<Role>) -> bool {
        match role {
            None => false,
            Some(Role::Head) => true,
            Some(Role::Pooler) => {
                self.pooler && self.adapter == Adapter::Full && self.frozen != Frozen::Matrices
            }
            Some(role) => self.adapter == Adapter::Full && !self.frozen.holds(role),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_frozen_follows_from_the_role() {
        let held = |frozen: &str| -> Vec<Role> {
            let frozen: Frozen = frozen.parse().unwrap();
            let roles = [
                Role::TokenTable,
                Role::OtherTable,
                Role::TableNorm,
                Role::RelativeBias,
                Role::Matrix { layer: 0 },
                Role::Bias { layer: 1 },
                Role::Matrix { layer: 10 },
                Role::Norm { layer: 10 },
            ];
            roles.into_iter().filter(|r| frozen.holds(*r)).collect()
        };
        assert!(held("none").is_empty());
        assert_eq!(held("tokens"), [Role::TokenTable]);
        assert_eq!(held("layers:0").len(), 4);
        assert_eq!(held("layers:2").len(), 6);
        assert_eq!(
            held("matrices"),
            [
                Role::TokenTable,
                Role::OtherTable,
                Role::Matrix { layer: 0 },
                Role::Matrix { layer: 10 }
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

    #[test]
    fn a_head_is_trained_whatever_is_frozen() {
        for adapter in [Adapter::Full, Adapter::Lora(4)] {
            let how = FineTuning {
                adapter,
                frozen: Frozen::Matrices,
                dropout: 0.0,
                precision: TrainingPrecision::F32,
                pooler: false,
            };
            assert!(how.trains(Some(Role::Head)));
            assert!(!how.trains(Some(Role::TokenTable)) && !how.trains(None));
            assert!(!how.trains(Some(Role::Pooler)));
            let bias = how.trains(Some(Role::Bias { layer: 0 }));
            assert_eq!(bias, adapter == Adapter::Full);
        }
    }
}

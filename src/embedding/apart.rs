//! Sentence and condition encoded apart: how the two are joined, and how a condition weighs a sentence's tokens.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{layers::LayerShape, pool::Pool};
use crate::{
    backend::{Gain, Scores},
    error::{Error, Result},
};

/// See [`Case::Apart`](super::Case::Apart).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Apart {
    /// Which tokens are averaged: of the sentence, and of the condition where its embedding is joined with the sentence's.
    pub pooling: Pool,
    /// How the two are joined.
    pub join: Join,
}

/// How a sentence and a condition that were encoded apart become one embedding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Join {
    /// The condition weighs the sentence's tokens in the encoder's last layers (CSR).
    Router(Router),
    /// Their embeddings s and c are put together by layers that are trained.
    Composed(Composition),
    /// Both: of the sentence whose tokens the condition has weighed, s is put together with c.
    Both(Router, Composition),
    /// The sentence is read behind the condition, whose states its tokens attend to in every layer ([`super::prefixed`]).
    Prefix(Prefix),
}

/// The settings of [`Join::Prefix`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Prefix {
    /// In so many of the encoder's last layers the attention output of the sentence's tokens is scaled by how its first token
    /// attends to them.
    pub layers: usize,
}

impl Default for Prefix {
    /// As published: in the last layer.
    fn default() -> Self {
        Self { layers: 1 }
    }
}

/// How the embeddings s of a sentence and c of a condition are put together. All of them take c' = Linear(c), `[hidden] →
/// [hidden]`, in place of c; every linear layer has dropout before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Composition {
    /// GELU(Linear(\[s; c'\])), `[2 · hidden] → [hidden]` (C-STS, Section 4.1, the MLP; "concat" in its authors' program).
    Mlp,
    /// s ∘ c' (C-STS, Section 4.1).
    Hadamard,
    /// s·W with W = Linear(c'), `[hidden] → [hidden, hidden]` (Hyper-CL; Yoo et al., 2024): hidden³ weights.
    Hyper,
    /// s·A·B with A = Linear(c'), `[hidden, rank]`, and B = Linear(c'), `[rank, hidden]` (Hyper-CL in low rank).
    HyperLowRank(usize),
}

/// The settings of CSR's router.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Router {
    /// It works in so many of the encoder's last layers; with 0 of them the condition changes nothing.
    pub layers: usize,
    /// How a token's weight scales its attention output.
    pub gain: Gain,
    /// What the weights are made of.
    #[serde(default, skip_serializing_if = "RouterScore::is_default")]
    pub score: RouterScore,
    /// In which layer the condition's query is taken.
    #[serde(default, skip_serializing_if = "RouterQuery::is_default")]
    pub query: RouterQuery,
}

/// What a router's weights are made of: of the condition's first token and each token of the sentence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RouterScore {
    /// As published (Section 2): one score a token, of query and key over the full width, q·k/√hidden.
    Width,
    /// A score a token and head, of that head's query and key: each head weighs tokens for itself.
    #[default]
    Heads,
    /// The mean over the heads of their weights.
    HeadMean,
    /// The hidden router (Section 3.3): of the hidden states that the layer is given.
    Hidden,
    /// The heavy router (Section 3.3): of W_q·h_c and W_k·h_s, two matrices `[hidden, hidden]` that are trained and that all
    /// routed layers share.
    Heavy,
    /// Random weights (Section 3.3, Table 3), evenly distributed over all that sum to 1: the same for the same seed, texts
    /// and layer.
    Random(u64),
}

/// In which layer a router takes the condition's query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum RouterQuery {
    /// as published: in the encoder's last layer, for every routed layer
    Last,
    /// in each routed layer for itself
    #[default]
    Same,
}

impl Default for Router {
    /// What trains best on small encoders.
    fn default() -> Self {
        Self {
            layers: 1,
            gain: Gain::Weight,
            score: RouterScore::Heads,
            query: RouterQuery::Same,
        }
    }
}

impl Router {
    /// As published (Lin et al., 2024, Section 2), in the last three layers (Section 3.3: the best).
    pub const PAPER: Self = Self {
        layers: 3,
        gain: Gain::OnePlusWeight,
        score: RouterScore::Width,
        query: RouterQuery::Last,
    };

    /// The layers that are trained beside an encoder of this hidden size: a heavy router's matrices.
    pub(super) fn layers_beside(&self, hidden: usize) -> Vec<LayerShape> {
        match self.score {
            RouterScore::Heavy => ["router.query", "router.key"]
                .map(|name| LayerShape {
                    bias: false,
                    ..linear(name, hidden, hidden)
                })
                .into(),
            _ => Vec::new(),
        }
    }

    /// Whether the condition is read at all.
    pub(super) fn reads_condition(&self) -> bool {
        self.layers > 0 && !matches!(self.score, RouterScore::Random(_))
    }
}

impl RouterScore {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// How scores become weights in a layer of so many heads.
    pub(super) fn scores(self, heads: usize) -> Scores {
        match self {
            Self::Heads => Scores::Heads(heads),
            Self::HeadMean => Scores::HeadMean(heads),
            Self::Width | Self::Hidden | Self::Heavy | Self::Random(_) => Scores::Whole,
        }
    }
}

impl RouterQuery {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Join {
    /// The router, where there is one.
    pub fn router(&self) -> Option<Router> {
        match *self {
            Self::Router(router) | Self::Both(router, _) => Some(router),
            Self::Composed(_) | Self::Prefix(_) => None,
        }
    }

    /// How embeddings are put together, where they are.
    pub fn composition(&self) -> Option<Composition> {
        match *self {
            Self::Composed(composition) | Self::Both(_, composition) => Some(composition),
            Self::Router(_) | Self::Prefix(_) => None,
        }
    }

    /// The prefix, where there is one.
    pub fn prefix(&self) -> Option<Prefix> {
        match *self {
            Self::Prefix(prefix) => Some(prefix),
            Self::Router(_) | Self::Composed(_) | Self::Both(..) => None,
        }
    }

    /// In how many of the encoder's last layers tokens are weighed.
    pub(super) fn weighed(&self) -> usize {
        let prefix = self.prefix().map(|prefix| prefix.layers);
        prefix
            .or(self.router().map(|router| router.layers))
            .unwrap_or(0)
    }

    /// The layers that are trained beside an encoder of this hidden size: a heavy router's, then what puts embeddings together.
    pub fn layers(&self, hidden: usize) -> Vec<LayerShape> {
        let mut layers = self
            .router()
            .map_or_else(Vec::new, |router| router.layers_beside(hidden));
        layers.extend(
            self.composition()
                .map_or_else(Vec::new, |composition| composition.layers(hidden)),
        );
        layers
    }

    /// What is wrong with it, whatever the encoder.
    pub(super) fn fault(&self) -> Option<&'static str> {
        match self.composition() {
            Some(Composition::HyperLowRank(0)) => Some("a hypernetwork's rank must be at least 1"),
            _ => None,
        }
    }
}

const fn linear(name: &'static str, inputs: usize, outputs: usize) -> LayerShape {
    LayerShape {
        name,
        inputs,
        outputs,
        bias: true,
    }
}

impl Composition {
    fn layers(self, hidden: usize) -> Vec<LayerShape> {
        let condition = linear("join.condition", hidden, hidden);
        match self {
            Self::Hadamard => vec![condition],
            Self::Mlp => vec![
                condition,
                linear("join.mlp", hidden.saturating_mul(2), hidden),
            ],
            Self::Hyper => vec![
                condition,
                linear("join.matrix", hidden, hidden.saturating_mul(hidden)),
            ],
            Self::HyperLowRank(rank) => vec![
                condition,
                linear("join.down", hidden, hidden.saturating_mul(rank)),
                linear("join.up", hidden, hidden.saturating_mul(rank)),
            ],
        }
    }
}

impl FromStr for RouterScore {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            Error::InvalidArgument(format!(
                "a router's score is width, heads, head-mean, hidden, heavy, random or random:SEED, not {text:?}."
            ))
        };
        Ok(match text {
            "width" => Self::Width,
            "heads" => Self::Heads,
            "head-mean" => Self::HeadMean,
            "hidden" => Self::Hidden,
            "heavy" => Self::Heavy,
            "random" => Self::Random(0),
            _ => {
                let seed = text.strip_prefix("random:").map(str::parse);
                Self::Random(seed.and_then(|seed| seed.ok()).ok_or_else(wrong)?)
            }
        })
    }
}

impl FromStr for Composition {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            Error::InvalidArgument(format!(
                "sentence and condition are joined by a router, or by mlp, hadamard, hyper or hyper:RANK, not {text:?}."
            ))
        };
        Ok(match text {
            "mlp" => Self::Mlp,
            "hadamard" => Self::Hadamard,
            "hyper" => Self::Hyper,
            _ => {
                let rank = text.strip_prefix("hyper:").map(str::parse);
                Self::HyperLowRank(rank.and_then(|rank| rank.ok()).ok_or_else(wrong)?)
            }
        })
    }
}

impl fmt::Display for RouterScore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Width => f.write_str("width"),
            Self::Heads => f.write_str("heads"),
            Self::HeadMean => f.write_str("head-mean"),
            Self::Hidden => f.write_str("hidden"),
            Self::Heavy => f.write_str("heavy"),
            Self::Random(seed) => write!(f, "random:{seed}"),
        }
    }
}

impl fmt::Display for Composition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mlp => f.write_str("mlp"),
            Self::Hadamard => f.write_str("hadamard"),
            Self::Hyper => f.write_str("hyper"),
            Self::HyperLowRank(rank) => write!(f, "hyper:{rank}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for name in ["width", "heads", "head-mean", "hidden", "heavy", "random:7"] {
            assert_eq!(name.parse::<RouterScore>().unwrap().to_string(), name);
        }
        assert_eq!(
            "random".parse::<RouterScore>().unwrap(),
            RouterScore::Random(0)
        );
        for name in ["mlp", "hadamard", "hyper", "hyper:64"] {
            assert_eq!(name.parse::<Composition>().unwrap().to_string(), name);
        }
        for wrong in ["", "Width", "random:", "random:-1", "heads:2"] {
            let error = wrong.parse::<RouterScore>().unwrap_err();
            assert!(error.to_string().contains("random:SEED"), "{error}");
        }
        for wrong in ["", "hyper:", "hyper:x", "router"] {
            let error = wrong.parse::<Composition>().unwrap_err();
            assert!(error.to_string().contains("hyper:RANK"), "{error}");
        }
    }

    /// As the papers count them: the router adds none, the heavy one 2 · d² (2M for d = 1024), Hyper-CL 1,076M for d = 1024.
    #[test]
    fn parameters_are_as_many_as_published() {
        let parameters = |join: Join, hidden| -> usize {
            let layers = join.layers(hidden);
            layers.iter().map(LayerShape::parameters).sum()
        };
        let router = |score| {
            Join::Router(Router {
                score,
                ..Router::PAPER
            })
        };
        for score in ["width", "heads", "head-mean", "hidden", "random"] {
            assert_eq!(parameters(router(score.parse().unwrap()), 1024), 0);
        }
        assert_eq!(parameters(router(RouterScore::Heavy), 384), 2 * 384 * 384);
        let hyper = parameters(Join::Composed(Composition::Hyper), 1024);
        assert_eq!((hyper as f64 / 1e6).round(), 1076.0);
        let (d, rank) = (384, 6);
        let condition = d * d + d;
        for (composition, more) in [
            (Composition::Hadamard, 0),
            (Composition::Mlp, 2 * d * d + d),
            (
                Composition::HyperLowRank(rank),
                2 * (d * d * rank + d * rank),
            ),
        ] {
            let found = parameters(Join::Composed(composition), d);
            assert_eq!(found, condition + more, "{composition}");
            let heavy = Router {
                score: RouterScore::Heavy,
                ..Router::PAPER
            };
            let found = parameters(Join::Both(heavy, composition), d);
            assert_eq!(found, 2 * d * d + condition + more, "{composition}");
        }
    }
}

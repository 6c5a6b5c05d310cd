//! What a configuration says of rotary position embeddings (Su et al., 2021), and of the ways in which published models
//! stretch them.

use serde_json::Value;

/// How positions turn queries and keys.
#[derive(Debug, Clone, PartialEq)]
pub struct Rope {
    pub theta: f64,
    pub scaling: Scaling,
}

/// How ω differs from θ^(−2i/d).
#[derive(Debug, Clone, PartialEq)]
pub enum Scaling {
    None,
    Linear {
        factor: f64,
    },
    /// `trained`: tokens of the longest input in training.
    Dynamic {
        factor: f64,
        trained: usize,
    },
    Llama3 {
        factor: f64,
        low: f64,
        high: f64,
        trained: usize,
    },
    Yarn {
        factor: f64,
        attention: f64,
        fast: f64,
        slow: f64,
        truncate: bool,
        trained: usize,
    },
    /// Each ω_i divided by a number of its own, as GGUF files state llama3's scaling.
    Divided(Vec<f64>),
}

impl Rope {
    /// Whether all positions of an input of so many tokens are turned otherwise than those of a shorter one.
    pub fn turns_by_length(&self, length: usize) -> bool {
        matches!(self.scaling, Scaling::Dynamic { trained, .. } if length > trained)
    }

    /// From config.json: `rope_theta` with `rope_scaling`, or the newer `rope_parameters`. The error says
    /// what is not computed here.
    pub fn from_config(config: &Value, positions: usize) -> Result<Self, String> {
        let object = |name: &str| config.get(name).filter(|v| v.is_object());
        let scaling = object("rope_parameters").or_else(|| object("rope_scaling"));
        let number = |name: &str| scaling?.get(name)?.as_f64();
        let theta = number("rope_theta")
            .or_else(|| config.get("rope_theta")?.as_f64())
            .unwrap_or(10_000.0);
        let kind = scaling
            .and_then(|s| s.get("rope_type").or_else(|| s.get("type"))?.as_str())
            .unwrap_or("default");
        let needed = |name: &str| {
            number(name).ok_or_else(|| format!("with rope scaling {kind} without its {name}"))
        };
        let trained = number("original_max_position_embeddings").map_or(positions, |n| n as usize);
        let scaling = match kind {
            "default" => Scaling::None,
            "linear" => Scaling::Linear {
                factor: needed("factor")?,
            },
            "dynamic" => Scaling::Dynamic {
                factor: needed("factor")?,
                trained: positions,
            },
            "llama3" => Scaling::Llama3 {
                factor: needed("factor")?,
                low: needed("low_freq_factor")?,
                high: needed("high_freq_factor")?,
                trained,
            },
            "yarn" => {
                let factor = needed("factor")?;
                let scale = |by: f64| match factor > 1.0 {
                    true => 0.1 * by * factor.ln() + 1.0,
                    false => 1.0,
                };
                let attention = match (number("mscale"), number("mscale_all_dim")) {
                    (Some(of), Some(all)) if of != 0.0 && all != 0.0 => scale(of) / scale(all),
                    _ => scale(1.0),
                };
                Scaling::Yarn {
                    factor,
                    attention: number("attention_factor").unwrap_or(attention),
                    fast: number("beta_fast").unwrap_or(32.0),
                    slow: number("beta_slow").unwrap_or(1.0),
                    truncate: scaling
                        .and_then(|s| s.get("truncate")?.as_bool())
                        .unwrap_or(true),
                    trained,
                }
            }
            other => {
                return Err(format!(
                    "with rope scaling {other} (linear, dynamic, llama3 and yarn are run)"
                ));
            }
        };
        let rope = Self { theta, scaling };
        match rope.is_sound() {
            true => Ok(rope),
            false => Err(format!("with rope scaling {kind} of numbers out of range")),
        }
    }

    /// Whether every number is in a range that can be computed with.
    pub(crate) fn is_sound(&self) -> bool {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let factors = match &self.scaling {
            Scaling::None => true,
            Scaling::Linear { factor } => positive(*factor),
            Scaling::Dynamic { factor, trained } => *factor >= 1.0 && *trained > 0,
            Scaling::Llama3 {
                factor,
                low,
                high,
                trained,
            } => positive(*factor) && positive(*low) && high > low && *trained > 0,
            Scaling::Yarn {
                factor,
                attention,
                fast,
                slow,
                trained,
                ..
            } => {
                positive(*factor)
                    && positive(*attention)
                    && positive(*fast)
                    && positive(*slow)
                    && *trained > 0
            }
            Scaling::Divided(by) => by.iter().all(|&x| positive(x)),
        };
        self.theta > 1.0 && self.theta.is_finite() && factors
    }

    /// Tokens that an input may have, where config.json says `positions`.
    pub fn reach(&self, positions: usize) -> usize {
        match self.scaling {
            Scaling::Dynamic { factor, .. } => (positions as f64 * factor) as usize,
            _ => positions,
        }
    }
}

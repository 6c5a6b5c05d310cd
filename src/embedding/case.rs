//! Condition-aware embeddings: the ways to make one, and the settings of each.
//!
//! CASE(s, c) = f(s, c) − f(c) for masked-language-model encoders, where f(s, c) pools the hidden states of one joint
//! input over a span of its tokens. Small encoders need the condition's own tokens pooled (zero-shot Spearman on C-STS
//! 19.1 against 3.0 for all tokens with all-MiniLM-L6-v2); with a trained head, both orders of the two texts side by
//! side are better than one. CSR encodes the two apart; encoders that follow instructions read one within the other's. C-STS's
//! cross-encoder reads both sentences at once, and gives a score in place of embeddings. Language models are asked for one word
//! that says what a text is under a condition (PonTE).

use serde::{Deserialize, Serialize};

use super::{
    apart::{Apart, Composition, Join, Prefix, Router},
    layers::LayerShape,
    pool::Pool,
};
use crate::{
    backend::Gain,
    error::{Error, Result},
    similarity::cosine,
    text::{Order, Prompt, Sequence, Setting, Template, Tokenizer, Wrapper, template::Tokens},
};

/// How sentence and condition meet, and how an embedding is made of what the encoder gives.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub enum Case {
    /// In one input of the encoder: a pass for each pair of the two (CASE).
    Joint(Joint),
    /// Encoded apart, a pass for each sentence and one for each condition, and joined after that (CSR, [`super::router`]; the
    /// tri-encoders of C-STS and Hyper-CL, [`super::composed`]).
    Apart(Apart),
    /// In one input of an encoder that follows instructions: one is embedded, the other is in its instruction (CASE for
    /// LLM encoders; `instruct.rs`).
    Instructed(Instructed),
    /// In one input with the other sentence: a pass for each comparison, of which a head makes a score and nobody an
    /// embedding (the cross-encoder of C-STS, section 4.1). The order of the sentences counts: the score is that of the
    /// one order that is asked for.
    Cross(Cross),
    /// In one raw prompt of a language model, whose last token's state is the embedding (PonTE; `prompted.rs`).
    Prompted(Prompted),
}

/// See [`Case::Joint`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Joint {
    /// One block of the embedding an order, side by side.
    pub orders: Vec<Order>,
    /// Which tokens are averaged.
    pub pooling: Pool,
    /// Whether the condition's own embedding is subtracted.
    pub subtract: bool,
    /// Whether and how the condition also weighs the sentence's tokens.
    pub router: Option<JointRouter>,
}

/// A router where sentence and condition are one input (CSR, Section 3.1; `within.rs`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct JointRouter {
    /// It works in so many of the encoder's last layers.
    pub layers: usize,
    /// How a token's weight scales its attention output.
    pub gain: Gain,
}

impl JointRouter {
    /// As published, in the last three layers.
    pub const PAPER: Self = Self {
        layers: 3,
        gain: Gain::OnePlusWeight,
    };
}

/// See [`Case::Instructed`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Instructed {
    /// The prompts.
    pub instruct: Instruct,
    /// Which tokens are averaged.
    pub pooling: Pool,
    /// Whether f(c; I(∅)) is subtracted.
    pub subtract: bool,
}

/// See [`Case::Cross`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cross {
    /// Which tokens are averaged: the first one alone, as the paper has it, or all.
    pub pooling: Pool,
    /// Which of the three texts are read.
    pub inputs: Inputs,
}

/// Which texts a cross-encoder reads: what a score is worth shows beside one that saw less (C-STS, table 10).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Inputs {
    /// Both sentences and the condition.
    #[default]
    All,
    /// The condition alone: all sentence pairs get one score.
    Condition,
    /// The sentences alone: all conditions get one score.
    Sentences,
}

/// See [`Case::Prompted`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Prompted {
    /// What text and condition stand in.
    pub prompt: Prompt,
}

/// The prompts of an encoder that follows instructions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Instruct {
    /// Which of the two is embedded.
    pub setting: Setting,
    /// How the instruction stands before it.
    pub wrapper: Wrapper,
}

impl Default for Joint {
    /// What works best for a frozen small encoder with a head.
    fn default() -> Self {
        Self {
            orders: vec![Order::ConditionSentence, Order::SentenceCondition],
            pooling: Pool::Condition,
            subtract: true,
            router: None,
        }
    }
}

impl Default for Case {
    fn default() -> Self {
        Self::Joint(Joint::default())
    }
}

impl Case {
    /// CASE of an encoder that follows instructions: f(c; I(s)) − f(c; I(∅)).
    pub fn instruct(wrapper: Wrapper, pooling: Pool) -> Self {
        Self::Instructed(Instructed {
            instruct: Instruct {
                setting: Setting::Condition,
                wrapper,
            },
            pooling,
            subtract: true,
        })
    }

    /// A tri-encoder with a router: all tokens of the sentence averaged.
    pub fn tri(router: Router) -> Self {
        Self::Apart(Apart {
            pooling: Pool::All,
            join: Join::Router(router),
        })
    }

    /// The layers that are trained beside an encoder of this hidden size, a head apart.
    pub fn layers(&self, hidden: usize) -> Vec<LayerShape> {
        match self {
            Self::Apart(apart) => apart.join.layers(hidden),
            Self::Joint(_) | Self::Instructed(_) | Self::Cross(_) | Self::Prompted(_) => Vec::new(),
        }
    }

    /// Width of the embedding for an encoder of this hidden size.
    pub fn dims(&self, hidden: usize) -> usize {
        match self {
            Self::Joint(joint) => joint.orders.len() * hidden,
            Self::Apart(_) | Self::Instructed(_) | Self::Cross(_) | Self::Prompted(_) => hidden,
        }
    }

    /// Which hidden states are averaged.
    pub fn pooling(&self) -> Pool {
        match self {
            Self::Joint(joint) => joint.pooling,
            Self::Apart(apart) => apart.pooling,
            Self::Instructed(instructed) => instructed.pooling,
            Self::Cross(cross) => cross.pooling,
            Self::Prompted(_) => Pool::Last,
        }
    }

    /// Whether the condition's own embedding is subtracted.
    pub fn subtracts(&self) -> bool {
        match self {
            Self::Joint(joint) => joint.subtract,
            Self::Apart(_) | Self::Cross(_) | Self::Prompted(_) => false,
            Self::Instructed(instructed) => instructed.subtract,
        }
    }

    /// Whether a comparison is a score of one input, and not the cosine of two embeddings.
    pub fn scores(&self) -> bool {
        matches!(self, Self::Cross(_))
    }

    /// What an encoder reads to compare two sentences under a condition: each of them under it, or everything at once.
    ///
    /// # Errors
    /// As [`Template::together`].
    pub fn inputs(
        &self,
        template: &Template<'_>,
        sentences: [&Tokens; 2],
        condition: &Tokens,
    ) -> Result<Vec<Input>> {
        let Self::Cross(cross) = self else {
            let input = |sentence: &Tokens| Input::Conditional {
                sentence: sentence.clone(),
                condition: condition.clone(),
            };
            return Ok(sentences.map(input).to_vec());
        };
        let sequence = match cross.inputs {
            Inputs::All => template.together(&sentences, Some(condition)),
            Inputs::Condition => template.together(&[], Some(condition)),
            Inputs::Sentences => template.together(&sentences, None),
        };
        Ok(vec![Input::Together(sequence?)])
    }

    /// The similarity of two sentences by the rows that [`Case::inputs`] gave, of which there may be one that is both: the
    /// cosine of two embeddings, or the score.
    pub fn similarity(&self, [first, second]: [&[f32]; 2]) -> f32 {
        match self.scores() {
            true => first.first().copied().unwrap_or_default(),
            false => cosine(first, second),
        }
    }

    /// The router of a bi-encoder, where it has one.
    pub fn joint_router(&self) -> Option<JointRouter> {
        match self {
            Self::Joint(joint) => joint.router,
            Self::Apart(_) | Self::Instructed(_) | Self::Cross(_) | Self::Prompted(_) => None,
        }
    }

    /// What is wrong with these settings, whatever the encoder.
    pub fn fault(&self) -> Option<&'static str> {
        match self {
            Self::Joint(joint) if joint.orders.is_empty() => {
                Some("a bi-encoder needs an order of condition and sentence")
            }
            Self::Joint(joint) if joint.router.is_some_and(|router| router.layers == 0) => {
                Some("a bi-encoder's router needs a layer to work in")
            }
            Self::Joint(_) | Self::Apart(_) if self.pooling() == Pool::Query => {
                Some("the pooling query is for encoders that follow instructions")
            }
            Self::Apart(apart) if apart.pooling == Pool::Condition => {
                Some("a tri-encoder pools the sentence's input, which holds no condition")
            }
            Self::Apart(apart) if apart.pooling == Pool::Pooler => {
                Some("the pooler is for bi-encoders, whose inputs hold both sentence and condition")
            }
            Self::Apart(apart) => apart.join.fault(),
            Self::Cross(cross) if !matches!(cross.pooling, Pool::Cls | Pool::All) => {
                Some("a cross-encoder pools its first token or all of them: cls or all")
            }
            Self::Instructed(Instructed {
                pooling: Pool::Condition | Pool::Sentence | Pool::Pooler,
                ..
            }) => Some("behind an instruction the pooling is query, last, all or cls"),
            Self::Joint(_) | Self::Instructed(_) | Self::Cross(_) | Self::Prompted(_) => None,
        }
    }
}

/// A [`Case`] as head files, manifests and caches hold it: settings side by side, of which not all go together.
#[derive(Serialize, Deserialize)]
struct Stored {
    orders: Vec<Order>,
    pooling: Pool,
    subtract: bool,
    #[serde(default, skip_serializing_if = "Architecture::is_bi")]
    architecture: Architecture,
    /// Of a bi-encoder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    router: Option<JointRouter>,
}

#[derive(Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Architecture {
    #[default]
    Bi,
    /// With a router.
    Tri(Router),
    /// Another tri-encoder.
    Composed(Composition),
    /// With both.
    Both {
        router: Router,
        join: Composition,
    },
    /// Behind the condition's states.
    Prefix(Prefix),
    Instruct(Instruct),
    Cross {
        inputs: Inputs,
    },
    Prompt(Prompt),
}

impl Architecture {
    fn is_bi(&self) -> bool {
        *self == Self::Bi
    }
}

impl From<Case> for Stored {
    fn from(case: Case) -> Self {
        let (pooling, subtract) = (case.pooling(), case.subtracts());
        let router = case.joint_router();
        let (orders, architecture) = match case {
            Case::Joint(joint) => (joint.orders, Architecture::Bi),
            Case::Apart(apart) => {
                let architecture = match apart.join {
                    Join::Router(router) => Architecture::Tri(router),
                    Join::Composed(composition) => Architecture::Composed(composition),
                    Join::Both(router, join) => Architecture::Both { router, join },
                    Join::Prefix(prefix) => Architecture::Prefix(prefix),
                };
                (Vec::new(), architecture)
            }
            Case::Instructed(instructed) => {
                (Vec::new(), Architecture::Instruct(instructed.instruct))
            }
            Case::Cross(cross) => {
                let inputs = cross.inputs;
                (Vec::new(), Architecture::Cross { inputs })
            }
            Case::Prompted(prompted) => (Vec::new(), Architecture::Prompt(prompted.prompt)),
        };
        Self {
            orders,
            pooling,
            subtract,
            architecture,
            router,
        }
    }
}

impl TryFrom<Stored> for Case {
    type Error = &'static str;

    fn try_from(stored: Stored) -> std::result::Result<Self, &'static str> {
        let Stored {
            orders,
            pooling,
            subtract,
            architecture,
            router,
        } = stored;
        let case = match architecture {
            Architecture::Bi => Self::Joint(Joint {
                orders,
                pooling,
                subtract,
                router,
            }),
            _ if router.is_some() => {
                return Err("a router beside the architecture is a bi-encoder's");
            }
            Architecture::Tri(_)
            | Architecture::Composed(_)
            | Architecture::Both { .. }
            | Architecture::Prefix(_)
                if !orders.is_empty() || subtract =>
            {
                return Err(
                    "a tri-encoder has no order of condition and sentence, and subtracts nothing",
                );
            }
            Architecture::Tri(router) => Self::Apart(Apart {
                pooling,
                join: Join::Router(router),
            }),
            Architecture::Composed(composition) => Self::Apart(Apart {
                pooling,
                join: Join::Composed(composition),
            }),
            Architecture::Both { router, join } => Self::Apart(Apart {
                pooling,
                join: Join::Both(router, join),
            }),
            Architecture::Prefix(prefix) => Self::Apart(Apart {
                pooling,
                join: Join::Prefix(prefix),
            }),
            Architecture::Cross { .. } if !orders.is_empty() || subtract => {
                return Err(
                    "a cross-encoder has no order of condition and sentence, and subtracts nothing",
                );
            }
            Architecture::Cross { inputs } => Self::Cross(Cross { pooling, inputs }),
            Architecture::Instruct(_) if !orders.is_empty() => {
                return Err("behind an instruction there is no order of condition and sentence");
            }
            Architecture::Instruct(instruct) => Self::Instructed(Instructed {
                instruct,
                pooling,
                subtract,
            }),
            Architecture::Prompt(_) if !orders.is_empty() || subtract || pooling != Pool::Last => {
                return Err("of a prompt the last token is pooled, and nothing is subtracted");
            }
            Architecture::Prompt(prompt) => Self::Prompted(Prompted { prompt }),
        };
        match case.fault() {
            None => Ok(case),
            Some(fault) => Err(fault),
        }
    }
}

/// One thing to embed.
#[derive(Clone)]
pub enum Input {
    /// A text by itself.
    Single(Tokens),
    /// A sentence under a condition.
    Conditional {
        /// The sentence.
        sentence: Tokens,
        /// The condition.
        condition: Tokens,
    },
    /// Two sentences and a condition, or some of them, in one input, of which a score is made.
    Together(Sequence),
}

impl Input {
    /// Why an input of two sentences is not embedded.
    pub(super) fn of_no_cross_encoder() -> Error {
        Error::InvalidArgument("two sentences in one input are for a cross-encoder.".into())
    }

    /// How many tokens of its texts the vocabulary lacks.
    pub fn unknown(&self, tokenizer: &Tokenizer) -> usize {
        match self {
            Self::Single(text) => text.unknown(tokenizer),
            Self::Conditional {
                sentence,
                condition,
            } => sentence.unknown(tokenizer) + condition.unknown(tokenizer),
            Self::Together(sequence) => {
                let ids = sequence.ids.iter();
                ids.filter(|&&id| tokenizer.is_unknown(id)).count()
            }
        }
    }
}

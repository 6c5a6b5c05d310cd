//! Which encoder, which head, which device: the options every subcommand shares.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};

use super::{
    folder::FOLDER_HEAD,
    hub::located,
    shipped::{DEFAULT, Shipped},
};
use crate::{
    backend::{Activation, Gain, any::Device, candle::Candle},
    checkpoint::Checkpoint,
    embedding::{
        Apart, Case, Composition, Cross, Inputs, Instruct, Instructed, Join, Joint, JointRouter,
        Pool, Prefix, Prompted, Router, RouterQuery, RouterScore,
    },
    error::{Error, Result},
    head::{HeadFile, HeadShape, HeadSpec},
    lens::Lens,
    model::{Precision, language_model::LanguageModel},
    text::{Order, Prompt, Setting, prompt::NAMED},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DeviceName {
    /// the processor: products of bytes where the encoder is a GGUF file in q8_0 or q4_0, else candle's f32
    Cpu,
    /// candle on an NVIDIA GPU (builds with the feature `cuda`)
    Cuda,
    /// the kernels of the browser, through Vulkan, Metal or DirectX 12
    Webgpu,
}

/// Options for choosing an encoder.
#[derive(Debug, Clone, Args)]
pub struct ModelArgs {
    /// Encoder: a GGUF file from `caselens quantize` or llama.cpp's converter, a Hugging Face folder (config.json, tokenizer.json,
    /// model.safetensors or its shards, or what stands for the latter two: vocab.txt, or vocab.json and merges.txt, and
    /// pytorch_model.bin), or a name on the Hugging Face hub, which is fetched once into the
    /// hub's cache; LLM encoders too (see `caselens models`), and what ships by its name
    #[arg(
        long,
        value_name = "FILE|DIR|NAME|OWNER/NAME[@REVISION]",
        env = "CASELENS_MODEL"
    )]
    pub model: Option<PathBuf>,
    /// Where to compute
    #[arg(long, value_enum, default_value = "cpu")]
    pub device: DeviceName,
    /// What the weights of an LLM encoder are kept in [default: as they are stored]
    #[arg(long, value_enum)]
    pub dtype: Option<Precision>,
}

/// Options for choosing a head.
#[derive(Debug, Clone, Args)]
pub struct HeadArgs {
    /// Projection head from `caselens train-head` [default: head.safetensors in the folder of --model, else the
    /// one that ships]; "none" compares the encoder's own embeddings
    #[arg(long, value_name = "FILE|none", env = "CASELENS_HEAD")]
    pub head: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OrderName {
    /// condition first: CONC(c+s)
    Cs,
    /// sentence first: CONC(s+c)
    Sc,
    /// both, side by side
    Both,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SettingName {
    /// the condition, given the sentence: f(c; I(s))
    Cond,
    /// the sentence, given the condition: f(s; I(c))
    Sent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ArchitectureName {
    /// sentence and condition in one input: a pass of the encoder for each pair of them
    Bi,
    /// encoded apart, the condition weighing the sentence's tokens: a pass for each of them (CSR)
    Tri,
    /// one of them in an instruction, the other embedded: for encoders that follow instructions
    Instruct,
    /// both sentences and the condition in one input: a pass for each comparison, which gives a score and no embedding
    /// (C-STS)
    Cross,
    /// both in a prompt that asks for one word, the state of its last token: for language models (PonTE)
    Prompt,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RouterName {
    /// heads, same, weight, 1 layer: what trains best on small encoders
    Ours,
    /// CSR's as published (Lin et al., 2024): width, last, one-plus-weight, 3 layers
    Paper,
}

/// How what was encoded apart is joined, as a user says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinName {
    Router,
    Prefix,
    Composed(Composition),
}

fn join(text: &str) -> Result<JoinName> {
    match text {
        "router" => Ok(JoinName::Router),
        "prefix" => Ok(JoinName::Prefix),
        _ => text.parse().map(JoinName::Composed),
    }
}

impl From<DeviceName> for Device {
    fn from(name: DeviceName) -> Self {
        match name {
            DeviceName::Cpu => Self::Cpu,
            DeviceName::Cuda => Self::Cuda,
            DeviceName::Webgpu => Self::WebGpu,
        }
    }
}

impl ArchitectureName {
    fn of(case: &Case) -> Self {
        match case {
            Case::Joint(_) => Self::Bi,
            Case::Apart(_) => Self::Tri,
            Case::Instructed(_) => Self::Instruct,
            Case::Cross(_) => Self::Cross,
            Case::Prompted(_) => Self::Prompt,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Bi => "bi",
            Self::Tri => "tri",
            Self::Instruct => "instruct",
            Self::Cross => "cross",
            Self::Prompt => "prompt",
        }
    }
}

/// Options for how a condition-aware embedding is made; a head brings its own.
#[derive(Debug, Clone, Args)]
pub struct CaseArgs {
    /// How sentence and condition meet [default: what the encoder is for: instruct where it follows instructions,
    /// else bi; prompt with --prompt]
    #[arg(long, value_enum)]
    pub architecture: Option<ArchitectureName>,
    /// How sentence and condition are joined after they were encoded apart, for --architecture tri: by a router, or by
    /// trained layers on their embeddings s and c: mlp (of [s; c]), hadamard (s ∘ c), hyper (s times a matrix made of c,
    /// Hyper-CL) or hyper:RANK (that matrix in low rank), with an option of the router both; or prefix: the sentence is read
    /// behind the condition's states, which its tokens attend to in every layer (CSR's published program), and weighed by its
    /// first token's attention in the last of --router-layers N [default: router]
    #[arg(long, value_name = "router|mlp|hadamard|hyper[:RANK]|prefix", value_parser = join)]
    pub join: Option<JoinName>,
    /// The router that the options below change, for --architecture tri [default: ours]; or paper, a router for
    /// --architecture bi too: there the attention of the condition's first token to the sentence weighs the sentence's
    /// tokens in the last 3 layers
    #[arg(long, value_enum)]
    pub router: Option<RouterName>,
    /// In how many of the encoder's last layers the condition weighs the sentence's tokens; 0 leaves the condition out,
    /// for --architecture tri
    #[arg(long, value_name = "N")]
    pub router_layers: Option<usize>,
    /// How the weight w of a token scales its attention output h', for --architecture tri
    #[arg(long, value_enum)]
    pub router_gain: Option<Gain>,
    /// What the weights are made of, for --architecture tri: the condition's query and the sentence's keys over the full
    /// width, or by heads, or the mean over the heads of their weights, the hidden states, two matrices that are trained
    /// (heavy), or chance
    #[arg(long, value_name = "width|heads|head-mean|hidden|heavy|random[:SEED]")]
    pub router_score: Option<RouterScore>,
    /// In which layer the condition's query is taken, for --architecture tri
    #[arg(long, value_enum)]
    pub router_query: Option<RouterQuery>,
    /// Which of the two is embedded, for --architecture instruct [default: cond]
    #[arg(long, value_enum)]
    pub setting: Option<SettingName>,
    /// Which of the three texts are read, for --architecture cross: what the others add shows beside it [default: all]
    #[arg(long, value_enum)]
    pub inputs: Option<Inputs>,
    /// What text and condition stand in, with --architecture prompt, which this says too: a published prompt's name (text- or
    /// express-, then terms, respect, word-terms, word-respect, terms-word or respect-word; prompt-eol; concatenation),
    /// or a template with {text} and {condition}, or a file that holds one. What stands in [brackets] around {condition}
    /// is left out for a text by itself [default: express-word-terms]
    #[arg(long, value_name = "NAME|TEMPLATE|FILE", value_parser = prompt)]
    pub prompt: Option<Prompt>,
    /// Order of condition (c) and sentence (s) in the encoder's input [default: both]
    #[arg(long, value_enum)]
    pub order: Option<OrderName>,
    /// Tokens whose hidden states are averaged [default: what suits the architecture: condition for bi, all for
    /// tri, cls for cross, and for instruct what `caselens models` knows of the encoder, else last]
    #[arg(long, value_enum)]
    pub pooling: Option<Pool>,
    /// Do not subtract the condition's own embedding [default: false]
    #[arg(
        long,
        action = ArgAction::Set,
        value_name = "true|false",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    pub no_subtract: Option<bool>,
}

impl CaseArgs {
    /// What was asked for, and the rest as the encoder wants it.
    ///
    /// # Errors
    /// As [`CaseArgs::case_or`].
    pub fn case(&self, checkpoint: &Checkpoint) -> Result<Case> {
        self.case_or(Case::of(checkpoint))
    }

    /// What was asked for, and the rest as `otherwise` has it for its own architecture.
    ///
    /// # Errors
    /// Options that belong to another architecture.
    pub fn case_or(&self, otherwise: Case) -> Result<Case> {
        use ArchitectureName::{Bi, Cross, Instruct, Prompt, Tri};
        let own = match self.prompt {
            Some(_) => Prompt,
            None => ArchitectureName::of(&otherwise),
        };
        let asked = self.architecture.unwrap_or(own);
        // A bi-encoder has a router where one is named.
        let routed: &[_] = match self.router {
            Some(_) => &[Tri, Bi],
            None => &[Tri],
        };
        let options: [(_, _, &[_]); 12] = [
            ("--inputs", self.inputs.is_some(), &[Cross]),
            ("--join", self.join.is_some(), &[Tri]),
            ("--router", self.router.is_some(), &[Tri, Bi]),
            ("--router-layers", self.router_layers.is_some(), routed),
            ("--router-gain", self.router_gain.is_some(), routed),
            ("--router-score", self.router_score.is_some(), &[Tri]),
            ("--router-query", self.router_query.is_some(), &[Tri]),
            ("--setting", self.setting.is_some(), &[Instruct]),
            ("--prompt", self.prompt.is_some(), &[Prompt]),
            (
                "--pooling",
                self.pooling.is_some(),
                &[Bi, Tri, Instruct, Cross],
            ),
            ("--order", self.order.is_some(), &[Bi]),
            ("--no-subtract", self.no_subtract.is_some(), &[Bi, Instruct]),
        ];
        let stray = options
            .iter()
            .find(|(_, given, of)| *given && !of.contains(&asked));
        if let Some((name, _, of)) = stray {
            let of: Vec<_> = of.iter().map(|architecture| architecture.name()).collect();
            return Err(Error::InvalidArgument(format!(
                "{name} is for --architecture {}. Leave it out.",
                of.join(" or ")
            )));
        }
        let case = match (asked, otherwise) {
            (Tri, Case::Apart(apart)) => self.tri(apart)?,
            (Tri, _) => self.tri(Apart {
                pooling: Pool::All,
                join: Join::Router(Router::default()),
            })?,
            (Cross, _) => self.cross(),
            (Bi, Case::Joint(joint)) => self.bi(joint)?,
            (Bi, _) => self.bi(Joint::default())?,
            (Instruct, Case::Instructed(instructed)) => self.instruct(instructed),
            (Instruct, _) => self.instruct(Instructed {
                instruct: Default::default(),
                pooling: Pool::Query,
                subtract: true,
            }),
            (Prompt, otherwise) => Case::Prompted(match (&self.prompt, otherwise) {
                (Some(prompt), _) => Prompted {
                    prompt: prompt.clone(),
                },
                (None, Case::Prompted(prompted)) => prompted,
                (None, _) => Prompted::default(),
            }),
        };
        match case.fault() {
            None => Ok(case),
            Some(fault) => Err(Error::InvalidArgument(format!("{fault}."))),
        }
    }

    /// # Errors
    /// Options of a router that a prefix has not.
    fn tri(&self, otherwise: Apart) -> Result<Case> {
        Ok(Case::Apart(Apart {
            pooling: self.pooling.unwrap_or(otherwise.pooling),
            join: self.join(otherwise.join)?,
        }))
    }

    fn join(&self, own: Join) -> Result<Join> {
        let router = self.router(own.router().unwrap_or_default());
        Ok(match (self.join, own) {
            (Some(JoinName::Prefix), _) | (None, Join::Prefix(_)) => {
                self.prefix(own.prefix().unwrap_or_default())?
            }
            (Some(JoinName::Router), _) => {
                Join::Router(router.or(own.router()).unwrap_or_default())
            }
            (Some(JoinName::Composed(join)), _) => {
                router.map_or(Join::Composed(join), |router| Join::Both(router, join))
            }
            (None, _) => match (router, own.composition()) {
                (None, _) => own,
                (Some(router), Some(join)) => Join::Both(router, join),
                (Some(router), None) => Join::Router(router),
            },
        })
    }

    fn prefix(&self, otherwise: Prefix) -> Result<Join> {
        for (name, given) in [
            ("--router", self.router.is_some()),
            ("--router-gain", self.router_gain.is_some()),
            ("--router-score", self.router_score.is_some()),
            ("--router-query", self.router_query.is_some()),
        ] {
            if given {
                return Err(Error::InvalidArgument(format!(
                    "{name} is for a router, which --join prefix is not. Leave it out, or name another --join."
                )));
            }
        }
        Ok(Join::Prefix(Prefix {
            layers: self.router_layers.unwrap_or(otherwise.layers),
        }))
    }

    /// The router that was asked for, if one was; what is not said is as `otherwise` has it.
    fn router(&self, otherwise: Router) -> Option<Router> {
        let named = match self.router {
            Some(RouterName::Paper) => Router::PAPER,
            Some(RouterName::Ours) => Router::default(),
            None => otherwise,
        };
        let router = Router {
            layers: self.router_layers.unwrap_or(named.layers),
            gain: self.router_gain.unwrap_or(named.gain),
            score: self.router_score.unwrap_or(named.score),
            query: self.router_query.unwrap_or(named.query),
        };
        let asked = self.router.is_some()
            || self.router_layers.is_some()
            || self.router_gain.is_some()
            || self.router_score.is_some()
            || self.router_query.is_some();
        asked.then_some(router)
    }

    fn cross(&self) -> Case {
        Case::Cross(Cross {
            pooling: self.pooling.unwrap_or(Pool::Cls),
            inputs: self.inputs.unwrap_or_default(),
        })
    }

    fn instruct(&self, otherwise: Instructed) -> Case {
        Case::Instructed(Instructed {
            instruct: Instruct {
                setting: match self.setting {
                    Some(SettingName::Cond) => Setting::Condition,
                    Some(SettingName::Sent) => Setting::Sentence,
                    None => otherwise.instruct.setting,
                },
                ..otherwise.instruct
            },
            pooling: self.pooling.unwrap_or(otherwise.pooling),
            subtract: self.no_subtract.map_or(otherwise.subtract, |no| !no),
        })
    }

    fn bi(&self, otherwise: Joint) -> Result<Case> {
        Ok(Case::Joint(Joint {
            orders: match self.order {
                Some(OrderName::Cs) => vec![Order::ConditionSentence],
                Some(OrderName::Sc) => vec![Order::SentenceCondition],
                Some(OrderName::Both) => vec![Order::ConditionSentence, Order::SentenceCondition],
                None => otherwise.orders,
            },
            pooling: self.pooling.unwrap_or(otherwise.pooling),
            subtract: self.no_subtract.map_or(otherwise.subtract, |no| !no),
            router: match self.router {
                None => otherwise.router,
                Some(RouterName::Ours) => {
                    return Err(Error::InvalidArgument(
                        "a bi-encoder's router is --router paper: ours is a tri-encoder's.".into(),
                    ));
                }
                Some(RouterName::Paper) => Some(JointRouter {
                    layers: self.router_layers.unwrap_or(JointRouter::PAPER.layers),
                    gain: self.router_gain.unwrap_or(JointRouter::PAPER.gain),
                }),
            },
        }))
    }
}

/// A prompt by its name, as it is written, or from a file, whose last end of line is no part of it.
pub fn prompt(said: &str) -> std::result::Result<Prompt, String> {
    if let Some(prompt) = Prompt::named(said) {
        return Ok(prompt);
    }
    let template = match std::fs::read_to_string(said) {
        Ok(template) => template,
        Err(_) if said.contains('{') => said.to_owned(),
        Err(error) => {
            let names: Vec<_> = NAMED.iter().map(|(name, _)| *name).collect();
            return Err(format!(
                "it is no template with {{text}}, no file that can be read ({error}), and none of the names {}",
                names.join(", ")
            ));
        }
    };
    let line = template.strip_suffix('\n').unwrap_or(&template);
    Prompt::parse(line.strip_suffix('\r').unwrap_or(line)).map_err(|e| e.to_string())
}

/// Everything a similarity depends on.
#[derive(Debug, Clone, Args)]
pub struct LensArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub head: HeadArgs,
    #[command(flatten)]
    pub case: CaseArgs,
}

impl LensArgs {
    /// Opens the encoder with `head`; without one, the embeddings are those of the options.
    pub fn with_head(&self, head: Option<&HeadFile>) -> Result<Lens> {
        self.model
            .lens(head, |checkpoint| self.case.case(checkpoint))
    }

    /// Opens the encoder and the head that were named, or those that ship.
    pub fn open(&self) -> Result<Lens> {
        self.with_head(self.head.open(&self.model)?.as_ref())
    }
}

impl ModelArgs {
    /// Opens the encoder and puts the head on it; without a head, embeddings are compared as `case` says for the encoder.
    pub fn lens(
        &self,
        head: Option<&HeadFile>,
        case: impl FnOnce(&Checkpoint) -> Result<Case>,
    ) -> Result<Lens> {
        let checkpoint = Checkpoint::open(&self.path()?)?;
        let case = case(&checkpoint)?;
        Lens::of(&checkpoint, head, case, self.device.into(), self.dtype)
    }

    /// Opens the decoder or T5 that is named as a language model.
    pub fn language_model(&self) -> Result<LanguageModel> {
        let device = match self.device {
            DeviceName::Cpu => candle_core::Device::Cpu,
            DeviceName::Cuda => Candle::cuda()?.device().clone(),
            DeviceName::Webgpu => {
                return Err(Error::InvalidArgument(
                    "language models do not run on WebGPU. Use CUDA or the CPU.".into(),
                ));
            }
        };
        LanguageModel::open(&self.path()?, &device, self.dtype)
    }

    /// The language model that the decoder of an opened lens is, with which it shares its weights.
    ///
    /// # Errors
    /// The lens' encoder is no decoder, or has no output layer.
    pub fn language_model_of(&self, lens: &Lens) -> Result<LanguageModel> {
        let checkpoint = Checkpoint::open(&self.path()?)?.decoder()?;
        let stored = || Precision::of(&checkpoint.weights);
        let precision = self.dtype.unwrap_or_else(stored);
        lens.encoder.language_model(&checkpoint, precision)
    }

    /// Where to fine-tune.
    pub fn training_device(&self) -> Result<candle_core::Device> {
        match self.device {
            DeviceName::Cpu => Ok(candle_core::Device::Cpu),
            DeviceName::Cuda => Ok(Candle::cuda()?.device().clone()),
            DeviceName::Webgpu => Err(Error::InvalidArgument(
                "an encoder is not trained on --device webgpu. Use cpu or cuda.".into(),
            )),
        }
    }

    /// The encoder named, else the one that ships.
    pub fn path(&self) -> Result<PathBuf> {
        match self.named()? {
            Some(path) => Ok(path),
            None => DEFAULT.model.located("--model"),
        }
    }

    /// The file or folder of the encoder that is named, if one is.
    pub fn named(&self) -> Result<Option<PathBuf>> {
        match self.shipped() {
            Some(shipped) => shipped.model.located("--model").map(Some),
            None => self.model.as_deref().map(located).transpose(),
        }
    }

    /// What ships, where it is named as such. A file or folder of that name comes first.
    fn shipped(&self) -> Option<&'static Shipped> {
        let model = self.model.as_deref().filter(|model| !model.exists())?;
        Shipped::named(model.as_os_str())
    }
}

impl HeadArgs {
    /// The head named, else the one in the encoder's folder, else the one that ships; `None` for "none".
    pub fn open(&self, model: &ModelArgs) -> Result<Option<HeadFile>> {
        let path = match &self.head {
            Some(path) if path.as_os_str() == "none" => return Ok(None),
            Some(path) => path.clone(),
            None => {
                let beside = model.named()?.map(|folder| folder.join(FOLDER_HEAD));
                match beside.filter(|path| path.is_file()) {
                    Some(path) => path,
                    None => (model.shipped().unwrap_or(DEFAULT).head).located("--head")?,
                }
            }
        };
        HeadFile::open(&path).map(Some)
    }
}

/// One line about a head, for people.
pub fn describe(spec: &HeadSpec) -> String {
    let widths: Vec<_> = spec.dims.iter().map(usize::to_string).collect();
    let encoder = match &spec.case {
        Case::Joint(_) => spec.encoder.to_string(),
        Case::Apart(_) => format!("{} as a tri-encoder", spec.encoder),
        Case::Instructed(_) => format!("{} behind instructions", spec.encoder),
        Case::Cross(_) => format!("{} as a cross-encoder", spec.encoder),
        Case::Prompted(_) => format!("{} in a prompt", spec.encoder),
    };
    let kind = match (spec.dims.len(), spec.activation) {
        (1, _) => return format!("{encoder} without layers on top"),
        (_, Activation::None) => "linear",
        (_, Activation::Relu) => "non-linear",
        (_, Activation::Gelu | Activation::Tanh) => "transforming",
    };
    format!("{kind} head {} for {encoder}", widths.join(" → "))
}

/// The file of a head without layers, which says how a lens makes embeddings.
pub fn without_layers(lens: &Lens) -> HeadFile {
    let (encoder, hidden) = (lens.encoder.id.clone(), lens.encoder.shape.hidden_size);
    HeadFile::new(HeadShape::default().on(encoder, hidden, lens.case.clone()))
}

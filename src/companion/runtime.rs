//! Which encoder, which head, which device: the options every subcommand shares.

use std::path::{Path, PathBuf};

use clap::{ArgAction, Args, ValueEnum};

use super::hub::located;
use crate::{
    backend::{Gain, candle::Candle},
    checkpoint::Checkpoint,
    embedding::{Architecture, Case, Instruct, Pool, Router, presets::Preset},
    error::{Error, Result},
    head::{HeadFile, HeadSpec},
    lens::any::{AnyLens, Parts},
    model::decoder::{Precision, checkpoint::DecoderCheckpoint},
    text::{Order, Setting, Wrapper},
};

/// The encoder and head that ship, as the demo serves them.
const SHIPPED_FOLDER: &str = "www/public/models";
const SHIPPED_MODEL: &str = "caselens-csts-q4_0.gguf";
const SHIPPED_HEAD: &str = "caselens-csts.head.safetensors";
/// The head in the folder of an encoder that `caselens train` wrote.
pub const FOLDER_HEAD: &str = "head.safetensors";

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
    /// Encoder: a GGUF file from `caselens quantize`, a Hugging Face folder (config.json, tokenizer.json,
    /// model.safetensors or its shards), or a name on the Hugging Face hub, which is fetched once into the
    /// hub's cache; LLM encoders too (see `caselens models`)
    #[arg(
        long,
        value_name = "FILE|DIR|OWNER/NAME[@REVISION]",
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
    /// Projection head from `caselens train` [default: head.safetensors in the folder of --model, else the
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
}

impl ArchitectureName {
    fn of(case: &Case) -> Self {
        match case.architecture {
            Architecture::Bi => Self::Bi,
            Architecture::Tri(_) => Self::Tri,
            Architecture::Instruct(_) => Self::Instruct,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Bi => "bi",
            Self::Tri => "tri",
            Self::Instruct => "instruct",
        }
    }
}

/// Options for how a condition-aware embedding is made; a head brings its own.
#[derive(Debug, Clone, Args)]
pub struct CaseArgs {
    /// How sentence and condition meet [default: bi; instruct for encoders that follow instructions]
    #[arg(long, value_enum)]
    pub architecture: Option<ArchitectureName>,
    /// In how many of the encoder's last layers the condition weighs the sentence's tokens, for
    /// --architecture tri [default: 1]
    #[arg(long, value_name = "N")]
    pub router_layers: Option<usize>,
    /// How the weight w of a token scales its attention output h', for --architecture tri
    /// [default: weight]
    #[arg(long, value_enum)]
    pub router_gain: Option<Gain>,
    /// Which of the two is embedded, for --architecture instruct [default: cond]
    #[arg(long, value_enum)]
    pub setting: Option<SettingName>,
    /// Order of condition (c) and sentence (s) in the encoder's input [default: both]
    #[arg(long, value_enum)]
    pub order: Option<OrderName>,
    /// Tokens whose hidden states are averaged [default: condition; all for --architecture tri; for instruct
    /// what `caselens models` knows of the encoder, else last]
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
    /// What was asked for, and the rest as the encoder that `model` names wants it.
    pub fn case(&self, model: &ModelArgs) -> Result<Case> {
        self.case_or(model.default_case()?)
    }

    /// What was asked for, and the rest as `otherwise` has it for its own architecture.
    ///
    /// # Errors
    /// Options that belong to another architecture.
    pub fn case_or(&self, otherwise: Case) -> Result<Case> {
        use ArchitectureName::{Bi, Instruct, Tri};
        let own = ArchitectureName::of(&otherwise);
        let asked = self.architecture.unwrap_or(own);
        let options: [(_, _, &[_]); 5] = [
            ("--router-layers", self.router_layers.is_some(), &[Tri]),
            ("--router-gain", self.router_gain.is_some(), &[Tri]),
            ("--setting", self.setting.is_some(), &[Instruct]),
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
        let case = match asked {
            Tri => self.tri(),
            Bi if own == Bi => self.bi(otherwise),
            Bi => self.bi(Case::default()),
            Instruct if own == Instruct => self.instruct(otherwise),
            Instruct => self.instruct(Case::instruct(Wrapper::default(), Pool::Query)),
        };
        match case.fault() {
            None => Ok(case),
            Some(fault) => Err(Error::InvalidArgument(format!("{fault}."))),
        }
    }

    fn tri(&self) -> Case {
        let case = Case::tri(Router {
            layers: self.router_layers.unwrap_or(1),
            gain: self.router_gain.unwrap_or_default(),
        });
        Case {
            pooling: self.pooling.unwrap_or(case.pooling),
            ..case
        }
    }

    fn instruct(&self, otherwise: Case) -> Case {
        let architecture = match otherwise.architecture {
            Architecture::Instruct(instruct) => Architecture::Instruct(Instruct {
                setting: match self.setting {
                    Some(SettingName::Cond) => Setting::Condition,
                    Some(SettingName::Sent) => Setting::Sentence,
                    None => instruct.setting,
                },
                ..instruct
            }),
            other => other,
        };
        Case {
            pooling: self.pooling.unwrap_or(otherwise.pooling),
            subtract: self.no_subtract.map_or(otherwise.subtract, |no| !no),
            architecture,
            ..otherwise
        }
    }

    fn bi(&self, otherwise: Case) -> Case {
        Case {
            orders: match self.order {
                Some(OrderName::Cs) => vec![Order::ConditionSentence],
                Some(OrderName::Sc) => vec![Order::SentenceCondition],
                Some(OrderName::Both) => vec![Order::ConditionSentence, Order::SentenceCondition],
                None => otherwise.orders,
            },
            pooling: self.pooling.unwrap_or(otherwise.pooling),
            subtract: self.no_subtract.map_or(otherwise.subtract, |no| !no),
            architecture: Architecture::Bi,
        }
    }
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
    pub fn with_head(&self, head: Option<&HeadFile>) -> Result<AnyLens> {
        self.model.lens(head, self.case.case(&self.model)?)
    }

    /// Opens the encoder and the head that were named, or those that ship.
    pub fn open(&self) -> Result<AnyLens> {
        self.with_head(self.head.open(&self.model)?.as_ref())
    }
}

impl ModelArgs {
    /// Opens the encoder and the head; `None` for the head compares plain CASE embeddings.
    pub fn lens(&self, head: Option<&HeadFile>, case: Case) -> Result<AnyLens> {
        let path = self.path()?;
        if DecoderCheckpoint::is_one(&path) {
            return self.decoder(&path, head, case);
        }
        if self.dtype.is_some() {
            return Err(Error::InvalidArgument(
                "--dtype is for LLM encoders: others keep what their file holds. Leave it out, or make a GGUF file with `caselens quantize --dtype`.".into(),
            ));
        }
        let parts = Parts {
            checkpoint: &Checkpoint::open(&path)?,
            head,
            case,
        };
        match self.device {
            DeviceName::Cpu => AnyLens::cpu(&parts),
            DeviceName::Cuda => AnyLens::candle(&parts, Candle::new(cuda()?)),
            DeviceName::Webgpu => super::wait(AnyLens::webgpu(&parts)),
        }
    }

    fn decoder(&self, path: &Path, head: Option<&HeadFile>, case: Case) -> Result<AnyLens> {
        let backend = match self.device {
            DeviceName::Cpu => Candle::cpu(),
            DeviceName::Cuda => Candle::new(cuda()?),
            DeviceName::Webgpu => {
                return Err(Error::InvalidArgument(
                    "LLM encoders do not run on --device webgpu. Use cuda or cpu.".into(),
                ));
            }
        };
        let mut checkpoint = DecoderCheckpoint::open(path)?;
        if let Some(preset) = Preset::find(path) {
            let config = &mut checkpoint.config;
            if preset.pooling == "latent" && config.latent.is_none() {
                return Err(Error::ModelFormat {
                    what: path.display().to_string(),
                    reason: format!("it has no latent attention, which {} ends with", preset.id),
                });
            }
            config.causal = !preset.bidirectional;
            config.max_positions = config.max_positions.min(preset.max_tokens);
        }
        let precision = self.dtype.unwrap_or(checkpoint.precision());
        AnyLens::decoder(&checkpoint, precision, head, case, backend)
    }

    /// How the encoder wants sentence and condition, unless told otherwise.
    pub fn default_case(&self) -> Result<Case> {
        let path = self.path()?;
        if let Some(case) = Preset::find(&path).and_then(Preset::case) {
            return Ok(case);
        }
        Ok(match DecoderCheckpoint::pooling(&path) {
            Some(pooling) => Case::instruct(Wrapper::default(), pooling),
            None => Case::default(),
        })
    }

    /// Where to fine-tune.
    pub fn training_device(&self) -> Result<candle_core::Device> {
        match self.device {
            DeviceName::Cpu => Ok(candle_core::Device::Cpu),
            DeviceName::Cuda => cuda(),
            DeviceName::Webgpu => Err(Error::InvalidArgument(
                "an encoder is not trained on --device webgpu. Use cpu or cuda.".into(),
            )),
        }
    }

    /// The encoder named, else the one that ships.
    pub fn path(&self) -> Result<PathBuf> {
        match self.named()? {
            Some(path) => Ok(path),
            None => shipped(SHIPPED_MODEL, "--model"),
        }
    }

    /// The file or folder of the encoder that is named, if one is.
    pub fn named(&self) -> Result<Option<PathBuf>> {
        self.model.as_deref().map(located).transpose()
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
                    None => shipped(SHIPPED_HEAD, "--head")?,
                }
            }
        };
        HeadFile::open(&path).map(Some)
    }
}

fn cuda() -> Result<candle_core::Device> {
    if !cfg!(feature = "cuda") {
        return Err(Error::NoCuda(
            "this program was built without it. Build one that has it with `./build.sh cuda`"
                .into(),
        ));
    }
    candle_core::Device::new_cuda(0).map_err(|e| {
        let said = e.to_string();
        Error::NoCuda(match said.contains("CUDA_ERROR_STUB_LIBRARY") {
            true => "NVIDIA's driver (libcuda.so.1) is not on this machine, or is too old. Install the driver that belongs to the GPU".into(),
            false => format!("no GPU answers ({said}). See that `nvidia-smi` lists one, and that its driver serves the toolkit this was built with"),
        })
    })
}

/// A shipped file: in the working directory or above the program's own place.
fn shipped(name: &str, option: &str) -> Result<PathBuf> {
    let program = std::env::current_exe().ok();
    let places =
        std::iter::once(Path::new(".")).chain(program.iter().flat_map(|p| p.ancestors().skip(1)));
    places
        .map(|place| place.join(SHIPPED_FOLDER).join(name))
        .find(|path| path.is_file())
        .ok_or_else(|| {
            Error::InvalidArgument(format!(
                "{SHIPPED_FOLDER}/{name} is not there. `git checkout {SHIPPED_FOLDER}` in the repository brings it back; or name another file with {option}."
            ))
        })
}

/// One line about a head, for people.
pub fn describe(spec: &HeadSpec) -> String {
    let widths: Vec<_> = spec.dims.iter().map(usize::to_string).collect();
    let encoder = match spec.case.architecture {
        Architecture::Bi => spec.encoder.to_string(),
        Architecture::Tri(_) => format!("{} as a tri-encoder", spec.encoder),
        Architecture::Instruct(_) => format!("{} behind instructions", spec.encoder),
    };
    let kind = match (spec.dims.len(), spec.relu) {
        (1, _) => return format!("{encoder} without layers on top"),
        (_, true) => "non-linear",
        (_, false) => "linear",
    };
    format!("{kind} head {} for {encoder}", widths.join(" → "))
}

//! Heads g: linear, z = We, non-linear, z = ReLU(W₂ ReLU(W₁ e)) (CASE, supervised projection), a transform, z = GELU(We)
//! (C-STS, table 7's "w/ MLP"), or none, z = e, with their file format. A cross-encoder's ends in a layer of one output,
//! its score.
//!
//! A head's file is safetensors: `layers.N.weight` `[out, in]` and `layers.N.bias` `[out]`; what the
//! numbers mean is JSON in its metadata. `mentioned.weight` `[dims]` and `mentioned.bias` `[1]` tell whether a sentence says
//! anything about a condition; the description says from which probability on (`mentioned.threshold`), and what ratings
//! similarities stand for (`calibration`, points of (cosine, agreement)). `router.*` and `join.*` are layers that make the
//! embeddings themselves, where the case has such ([`Case::layers`]). It also carries the condition-only baseline of its training
//! data, so that an evaluation can print both. A head without layers says how a fine-tuned encoder's
//! embeddings are made, which the encoder's own files do not.

use std::borrow::Cow;

use half::f16;
use serde::{Deserialize, Serialize};

use crate::{
    backend::{Activation, Backend},
    checkpoint::{
        EncoderId,
        described::{Reader, Writer},
        weights::{Dtype, Role, WeightTensor},
    },
    data::baseline::ConditionOnly,
    embedding::{Case, layers::LinearNumbers},
    error::{Error, Result},
    similarity::Calibration,
};

/// Numbers of one layer.
pub use crate::embedding::layers::LinearNumbers as HeadLayer;

/// The key of the file's description, a [`Described`].
const KEY: &str = "caselens.head";
const VERSION: u32 = 1;
/// The tensors of [`Mentioned`].
pub(crate) const MENTIONED: [&str; 2] = ["mentioned.weight", "mentioned.bias"];

#[derive(Serialize, Deserialize)]
struct Described {
    version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mentioned: Option<DescribedMentioned>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    calibration: Option<Calibration>,
    #[serde(flatten)]
    spec: serde_json::Value,
}

/// What of [`Mentioned`] is no tensor.
#[derive(Serialize, Deserialize)]
struct DescribedMentioned {
    threshold: f32,
}

/// What a head's numbers mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeadSpec {
    /// The encoder whose embeddings it projects.
    pub encoder: EncoderId,
    /// How those embeddings are made.
    pub case: Case,
    /// Widths from the input to the output: `[768, 256]` is linear, `[768, 1024, 256]` has one hidden
    /// layer, `[768]` has no layers at all. A cross-encoder's last width is 1.
    pub dims: Vec<usize>,
    /// What follows every layer: nothing (the linear head), ReLU (the non-linear one) or GELU (the transform); in files
    /// `relu` is false, true or "gelu". Nothing follows the layer that gives a score.
    #[serde(rename = "relu", with = "activation")]
    pub activation: Activation,
    /// Dropout while training: after every layer as in CASE; before every layer, as in C-STS, of a transform and of a
    /// cross-encoder's head.
    pub dropout: f32,
    /// The languages that it was trained on, as ISO 639-1 has them, where not the encoder's vocabulary says it: texts in
    /// others are reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub languages: Option<Vec<String>>,
    /// How it was trained and what it scored: for people and model cards.
    #[serde(default)]
    pub training: serde_json::Value,
}

impl HeadSpec {
    /// Width of what it projects to.
    pub fn output(&self) -> usize {
        self.dims.last().copied().unwrap_or(0)
    }

    /// Whether it ends in a score, and not in an embedding.
    pub fn scores(&self) -> bool {
        self.case.scores()
    }

    /// What is wrong with it, whatever the encoder.
    fn fault(&self) -> Option<String> {
        if self.dims.is_empty() || self.dims.contains(&0) {
            return Some(format!("it describes layers of widths {:?}", self.dims));
        }
        if self.scores() && (self.dims.len() < 2 || self.output() != 1) {
            return Some(format!(
                "a cross-encoder's head ends in one number, and this one has the widths {:?}",
                self.dims
            ));
        }
        self.case.fault().map(str::to_owned)
    }

    /// # Errors
    /// The encoder of this hidden size makes embeddings of another width than the head takes.
    pub fn check_width(&self, encoder: &EncoderId, hidden: usize) -> Result<()> {
        let (takes, makes) = (
            self.dims.first().copied().unwrap_or(0),
            self.case.dims(hidden),
        );
        match takes == makes {
            true => Ok(()),
            false => Err(Error::HeadWidth {
                takes,
                makes,
                encoder: encoder.to_string(),
            }),
        }
    }

    /// # Errors
    /// The encoder is another than the one it was trained on; both are named.
    pub fn check_encoder(&self, encoder: &EncoderId) -> Result<()> {
        match self.encoder.sha256 == encoder.sha256 {
            true => Ok(()),
            false => Err(Error::HeadMismatch {
                head_encoder: self.encoder.to_string(),
                encoder: encoder.to_string(),
            }),
        }
    }
}

/// A head before it is known what it is put on.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct HeadShape {
    /// Widths after the input: none where there are no layers. A cross-encoder's layer that gives the score is not among
    /// them: it is always there.
    pub widths: Vec<usize>,
    /// See [`HeadSpec::activation`].
    #[serde(rename = "relu", with = "activation")]
    pub activation: Activation,
    /// See [`HeadSpec::dropout`].
    pub dropout: f32,
}

impl HeadShape {
    /// The head's description on an encoder of this hidden size.
    pub fn on(&self, encoder: EncoderId, hidden: usize, case: Case) -> HeadSpec {
        let (input, score) = (case.dims(hidden), case.scores().then_some(1));
        HeadSpec {
            encoder,
            case,
            dims: std::iter::once(input)
                .chain(self.widths.iter().copied())
                .chain(score)
                .collect(),
            activation: self.activation,
            dropout: self.dropout,
            languages: None,
            training: serde_json::Value::Null,
        }
    }
}

/// An [`Activation`] as head files hold it: older ones say of ReLU alone whether it is there.
mod activation {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    use super::Activation;

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Stored {
        Relu(bool),
        Named(String),
    }

    pub fn serialize<S: Serializer>(activation: &Activation, s: S) -> Result<S::Ok, S::Error> {
        let stored = match activation {
            Activation::None => Stored::Relu(false),
            Activation::Relu => Stored::Relu(true),
            Activation::Gelu => Stored::Named("gelu".into()),
            Activation::Tanh => Stored::Named("tanh".into()),
        };
        stored.serialize(s)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Activation, D::Error> {
        match Stored::deserialize(d)? {
            Stored::Relu(false) => Ok(Activation::None),
            Stored::Relu(true) => Ok(Activation::Relu),
            Stored::Named(name) if name == "gelu" => Ok(Activation::Gelu),
            Stored::Named(name) if name == "tanh" => Ok(Activation::Tanh),
            Stored::Named(name) => Err(D::Error::custom(format!(
                "`{name}` is no activation of a head"
            ))),
        }
    }
}

/// Tells from an embedding of length 1 whether the sentence says anything about the condition: logistic regression on its
/// numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Mentioned {
    /// `[dims]`, as many as the head's output has.
    pub weight: Vec<f32>,
    /// Added to the product.
    pub bias: f32,
    /// The probability from which on a sentence counts as saying something.
    pub threshold: f32,
}

impl Mentioned {
    /// The threshold of a file that names none: as likely as not.
    pub const THRESHOLD: f32 = 0.5;

    /// The probability that the sentence says something about the condition, by its embedding `[dims]`, which need not have
    /// length 1.
    pub fn probability(&self, embedding: &[f32]) -> f32 {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        let length = dot(embedding, embedding).sqrt().max(f32::MIN_POSITIVE);
        let logit = dot(&self.weight, embedding) / length + self.bias;
        1.0 / (1.0 + (-logit).exp())
    }

    /// Which of two sentences says nothing about the condition, by their probabilities, in words; `None` where both say
    /// something.
    pub fn unsaid(&self, probabilities: [f32; 2]) -> Option<&'static str> {
        match probabilities.map(|p| p >= self.threshold) {
            [true, true] => None,
            [true, false] => Some("only the first says"),
            [false, true] => Some("only the second says"),
            [false, false] => Some("neither sentence says"),
        }
    }
}

/// A head as a file holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct HeadFile {
    pub spec: HeadSpec,
    pub layers: Vec<HeadLayer>,
    /// The layers of [`Case::layers`], which make the embeddings that the head projects; none for most cases.
    pub join: Vec<LinearNumbers>,
    /// What tells whether a sentence mentions a condition, where that was trained.
    pub mentioned: Option<Mentioned>,
    /// What ratings similarities stand for, where that was measured.
    pub calibration: Option<Calibration>,
    pub condition_only: Option<ConditionOnly>,
}

impl HeadFile {
    /// A head of this description without numbers.
    pub fn new(spec: HeadSpec) -> Self {
        Self {
            spec,
            layers: Vec::new(),
            join: Vec::new(),
            mentioned: None,
            calibration: None,
            condition_only: None,
        }
    }

    /// Reads a head file.
    ///
    /// # Errors
    /// It cannot be read, or as [`HeadFile::parse`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn open(path: &std::path::Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(Error::io(path))?;
        Self::parse(&path.display().to_string(), &bytes)
    }

    /// Parses a head file. `what` names it in errors.
    pub fn parse(what: &str, bytes: &[u8]) -> Result<Self> {
        let bad = |reason: String| Error::HeadFormat {
            what: what.into(),
            reason,
        };
        let file = Reader::new(bytes).map_err(bad)?;
        let described: Described = file.description(KEY).map_err(bad)?;
        if described.version != VERSION {
            return Err(bad(format!(
                "it has version {}, this program reads version {VERSION}",
                described.version
            )));
        }
        let spec: HeadSpec = serde_json::from_value(described.spec)
            .map_err(|e| bad(format!("its description is broken ({e})")))?;
        if let Some(fault) = spec.fault() {
            return Err(bad(fault));
        }
        let floats = |name: &str, shape: &[usize]| -> Result<Vec<f32>> {
            let view = file.tensor(name).map_err(bad)?;
            if view.shape() != shape {
                return Err(bad(format!(
                    "`{name}` has shape {:?}, not {shape:?}",
                    view.shape()
                )));
            }
            let dtype = match view.dtype() {
                safetensors::Dtype::F32 => Dtype::F32,
                safetensors::Dtype::F16 => Dtype::F16,
                other => return Err(bad(format!("`{name}` is {other:?}; f32 and f16 are read"))),
            };
            let numbers = crate::checkpoint::weights::decode(dtype, view.data());
            match numbers.iter().all(|x| x.is_finite()) {
                true => Ok(numbers),
                false => Err(bad(format!("`{name}` holds numbers that are not finite"))),
            }
        };
        let layers = spec
            .dims
            .windows(2)
            .enumerate()
            .map(|(i, d)| {
                Ok(HeadLayer {
                    weight: floats(&format!("layers.{i}.weight"), &[d[1], d[0]])?,
                    bias: floats(&format!("layers.{i}.bias"), &[d[1]])?,
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let hidden = spec.dims.first().copied().unwrap_or(0);
        let join = spec.case.layers(hidden).into_iter().map(|shape| {
            Ok(LinearNumbers {
                weight: floats(&shape.weight(), &[shape.outputs, shape.inputs])?,
                bias: match shape.bias() {
                    Some(name) => floats(&name, &[shape.outputs])?,
                    None => Vec::new(),
                },
            })
        });
        let join = join.collect::<Result<Vec<_>>>()?;
        if let Some(fault) = described.calibration.as_ref().and_then(Calibration::fault) {
            return Err(bad(fault.into()));
        }
        let condition_only = ConditionOnly::read(&file);
        let threshold = described
            .mentioned
            .map_or(Mentioned::THRESHOLD, |mentioned| mentioned.threshold);
        if !(0.0..=1.0).contains(&threshold) {
            return Err(bad(format!(
                "its mentioned.threshold is {threshold}, which is no probability"
            )));
        }
        let mentioned = match file.tensor(MENTIONED[0]) {
            Err(_) => None,
            Ok(_) => Some(Mentioned {
                threshold,
                weight: floats(MENTIONED[0], &[spec.output()])?,
                bias: floats(MENTIONED[1], &[1])?
                    .first()
                    .copied()
                    .unwrap_or_default(),
            }),
        };
        Ok(Self {
            spec,
            layers,
            join,
            mentioned,
            calibration: described.calibration,
            condition_only,
        })
    }

    /// Writes the file's bytes, weights in f16.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut file = Writer::default();
        let half = |numbers: &[f32]| -> Vec<u8> {
            let halves = numbers.iter().map(|&x| f16::from_f32(x));
            halves.flat_map(f16::to_le_bytes).collect()
        };
        let dims = self.spec.dims.windows(2);
        for (i, (layer, dims)) in self.layers.iter().zip(dims).enumerate() {
            for (part, shape, numbers) in [
                ("weight", &[dims[1], dims[0]][..], &layer.weight),
                ("bias", &[dims[1]], &layer.bias),
            ] {
                let name = format!("layers.{i}.{part}");
                file.add(name, safetensors::Dtype::F16, shape, half(numbers));
            }
        }
        let hidden = self.spec.dims.first().copied().unwrap_or(0);
        for (shape, numbers) in self.spec.case.layers(hidden).iter().zip(&self.join) {
            for (name, shape, numbers) in shape.tensors(numbers) {
                file.add(name, safetensors::Dtype::F16, &shape, half(numbers));
            }
        }
        if let Some(mentioned) = &self.mentioned {
            let [weight, bias] = MENTIONED.map(String::from);
            let dims = mentioned.weight.len();
            file.add(
                weight,
                safetensors::Dtype::F16,
                &[dims],
                half(&mentioned.weight),
            );
            file.add(bias, safetensors::Dtype::F16, &[1], half(&[mentioned.bias]));
        }
        if let Some(baseline) = &self.condition_only {
            baseline.write(&mut file);
        }
        let broken = |reason: String| Error::HeadFormat {
            what: "the head being written".into(),
            reason,
        };
        let described = Described {
            version: VERSION,
            mentioned: self.mentioned.as_ref().map(|mentioned| DescribedMentioned {
                threshold: mentioned.threshold,
            }),
            calibration: self.calibration.clone(),
            spec: serde_json::to_value(&self.spec).map_err(|e| broken(e.to_string()))?,
        };
        file.described(KEY, &described).map_err(broken)
    }
}

/// A head on a backend.
pub struct Head<B: Backend> {
    layers: Vec<(B::Linear, Activation)>,
    dropout: f32,
    /// Whether dropout falls on what a layer takes, and not on what it gives.
    drops_before: bool,
    scores: bool,
}

impl<B: Backend> Head<B> {
    /// Whether it leaves embeddings as they are.
    pub fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// Whether it ends in a score, which has no unit length.
    pub fn scores(&self) -> bool {
        self.scores
    }

    /// Copies a parsed head to a backend.
    pub fn load(backend: &B, file: &HeadFile) -> Result<Self> {
        let layers = file
            .layers
            .iter()
            .zip(file.spec.dims.windows(2))
            .enumerate()
            .map(|(i, (layer, dims))| {
                let tensor = |part: &str, shape: Vec<usize>, numbers: &[f32]| WeightTensor {
                    name: format!("layers.{i}.{part}"),
                    role: Some(Role::Head),
                    shape,
                    dtype: Dtype::F32,
                    data: Cow::Owned(bytemuck::cast_slice(numbers).to_vec()),
                };
                let linear = backend.load_linear(vec![(
                    tensor("weight", vec![dims[1], dims[0]], &layer.weight),
                    tensor("bias", vec![dims[1]], &layer.bias),
                )])?;
                let last = i + 1 == file.layers.len();
                let activation = match file.spec.scores() && last {
                    true => Activation::None,
                    false => file.spec.activation,
                };
                Ok((linear, activation))
            })
            .collect::<Result<_>>()?;
        Ok(Self {
            layers,
            dropout: file.spec.dropout,
            drops_before: file.spec.scores() || file.spec.activation == Activation::Gelu,
            scores: file.spec.scores(),
        })
    }

    /// z = g(e): `[rows, in] → [rows, out]`; without layers z = e.
    pub fn forward(&self, backend: &B, e: &B::Tensor) -> Result<B::Tensor> {
        let mut x = e.clone();
        for (layer, activation) in &self.layers {
            if self.drops_before {
                x = backend.dropout(&x, self.dropout)?;
            }
            x = backend.linear(&x, layer, *activation)?;
            if !self.drops_before {
                x = backend.dropout(&x, self.dropout)?;
            }
        }
        Ok(x)
    }

    /// As [`Head::forward`], what is compared: embeddings of length 1, or scores as they are.
    pub fn finished(&self, backend: &B, e: &B::Tensor) -> Result<B::Tensor> {
        let z = self.forward(backend, e)?;
        match self.scores {
            true => Ok(z),
            false => backend.normalize(&z),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        backend::{Gain, candle::Candle},
        embedding::{
            Apart, Composition, Cross, Inputs, Join, Joint, Pool, Prefix, Router, RouterQuery,
            RouterScore,
        },
    };

    fn head() -> HeadFile {
        HeadFile {
            spec: HeadSpec {
                encoder: EncoderId {
                    id: "tiny".into(),
                    sha256: "00".into(),
                },
                case: Case::default(),
                dims: vec![2, 3, 1],
                activation: Activation::Relu,
                dropout: 0.15,
                languages: None,
                training: serde_json::json!({"seed": 1}),
            },
            layers: vec![
                HeadLayer {
                    weight: vec![1.0, 0.0, 0.0, 1.0, -1.0, -1.0],
                    bias: vec![0.0, 0.5, 0.0],
                },
                HeadLayer {
                    weight: vec![1.0, 2.0, 4.0],
                    bias: vec![-1.0],
                },
            ],
            join: Vec::new(),
            mentioned: None,
            calibration: None,
            condition_only: None,
        }
    }

    #[test]
    fn a_file_comes_back_as_it_went() {
        let bytes = head().to_bytes().unwrap();
        assert_eq!(HeadFile::parse("h", &bytes).unwrap(), head());
    }

    #[test]
    fn what_tells_mentions_comes_back_and_is_left_out_where_there_is_none() {
        let mut file = head();
        let text =
            |file: &HeadFile| String::from_utf8_lossy(&file.to_bytes().unwrap()).into_owned();
        assert!(!text(&file).contains("mentioned") && !text(&file).contains("languages"));
        file.mentioned = Some(Mentioned {
            weight: vec![2.0],
            bias: -0.5,
            threshold: 0.25,
        });
        file.calibration = Some(Calibration::new(vec![[0.0, 0.25], [1.0, 1.0]]).unwrap());
        file.spec.languages = Some(vec!["en".into(), "de".into()]);
        let bytes = file.to_bytes().unwrap();
        assert_eq!(HeadFile::parse("h", &bytes).unwrap(), file);
        // Of length 1 it is ±1: sigmoid(1.5), sigmoid(−2.5), by hand.
        let mentioned = file.mentioned.as_mut().unwrap();
        for (embedding, probability) in [(3.0, 0.817_574_5), (-0.1, 0.075_858_18)] {
            assert!((mentioned.probability(&[embedding]) - probability).abs() < 1e-6);
        }
        mentioned.threshold = 1.5;
        let error = HeadFile::parse("h", &file.to_bytes().unwrap()).unwrap_err();
        assert!(error.to_string().contains("no probability"), "{error}");
        let falls = b"[[0.0,0.25],[1.0,0.0]]";
        let rises = b"[[0.0,0.25],[1.0,1.0]]";
        let at = bytes
            .windows(rises.len())
            .position(|window| window == rises);
        let mut bytes = bytes;
        bytes[at.unwrap()..][..falls.len()].copy_from_slice(falls);
        let error = HeadFile::parse("h", &bytes).unwrap_err();
        assert!(error.to_string().contains("does not rise"), "{error}");
    }

    #[test]
    fn forward_is_relu_after_each_layer() {
        let backend = Candle::cpu();
        let head = Head::load(&backend, &head()).unwrap();
        let e = candle_core::Tensor::new(&[[1f32, 2.0], [-3.0, -1.0]], &candle_core::Device::Cpu)
            .unwrap();
        let z = head
            .forward(&backend, &e)
            .unwrap()
            .to_vec2::<f32>()
            .unwrap();
        // Row 1: relu(1, 2.5, 0) → 1 + 5 − 1; row 2: relu(−3, −0.5, 4) → 16 − 1.
        assert_eq!(z, vec![vec![5.0], vec![15.0]]);
    }

    #[test]
    fn without_layers_it_gives_back_what_it_gets() {
        let mut file = head();
        file.spec.dims = vec![2];
        file.spec.activation = Activation::None;
        file.layers.clear();
        let read = HeadFile::parse("h", &file.to_bytes().unwrap()).unwrap();
        assert_eq!(read, file);
        assert_eq!(read.spec.output(), 2);
        let backend = Candle::cpu();
        let head = Head::load(&backend, &read).unwrap();
        let e = candle_core::Tensor::new(&[[1f32, -2.0]], &candle_core::Device::Cpu).unwrap();
        let z = head.forward(&backend, &e).unwrap();
        assert_eq!(z.to_vec2::<f32>().unwrap(), vec![vec![1.0, -2.0]]);
        file.spec.dims.clear();
        let error = HeadFile::parse("h", &file.to_bytes().unwrap()).unwrap_err();
        assert_eq!(error.code(), "head-format");
    }

    #[test]
    fn the_architecture_comes_back_and_is_left_out_where_it_is_the_usual_one() {
        let text = |file: &HeadFile| serde_json::to_string(&file.spec).unwrap();
        assert!(!text(&head()).contains("architecture"));
        let router = Router {
            layers: 3,
            gain: Gain::Weight,
            ..Router::default()
        };
        let mut file = head();
        file.spec.case = Case::tri(router);
        let tri = r#""architecture":{"tri":{"layers":3,"gain":"weight"}}"#;
        assert!(text(&file).contains(tri), "{}", text(&file));
        let bytes = file.to_bytes().unwrap();
        assert_eq!(HeadFile::parse("h", &bytes).unwrap(), file);
        assert_eq!(file.spec.case.dims(384), 384);
        for case in [
            Case::Apart(Apart {
                pooling: Pool::Condition,
                join: Join::Router(router),
            }),
            Case::Apart(Apart {
                pooling: Pool::All,
                join: Join::Composed(Composition::HyperLowRank(0)),
            }),
            Case::Joint(Joint {
                orders: Vec::new(),
                ..Joint::default()
            }),
        ] {
            file.spec.case = case;
            let error = HeadFile::parse("h", &file.to_bytes().unwrap()).unwrap_err();
            assert_eq!(error.code(), "head-format", "{:?}", file.spec.case);
        }
        // What only a file can say.
        let stored = serde_json::json!(Case::tri(router));
        for (key, value) in [
            ("subtract", serde_json::json!(true)),
            ("orders", serde_json::json!(["condition-sentence"])),
        ] {
            let mut wrong = stored.clone();
            wrong[key] = value;
            assert!(serde_json::from_value::<Case>(wrong).is_err(), "{key}");
        }
    }

    #[test]
    fn layers_that_join_come_back_and_are_asked_for() {
        let text = |case: &Case| serde_json::to_string(case).unwrap();
        let paper = Case::tri(Router::PAPER);
        let written =
            r#"{"tri":{"layers":3,"gain":"one-plus-weight","score":"width","query":"last"}}"#;
        assert!(text(&paper).contains(written), "{}", text(&paper));
        let behind = Case::Apart(Apart {
            pooling: Pool::Cls,
            join: Join::Prefix(Prefix::default()),
        });
        assert!(text(&behind).contains(r#"{"prefix":{"layers":1}}"#));
        assert_eq!(
            serde_json::from_str::<Case>(&text(&behind)).unwrap(),
            behind
        );
        let composed = |composition| {
            Case::Apart(Apart {
                pooling: Pool::Cls,
                join: Join::Composed(composition),
            })
        };
        let heavy = Case::tri(Router {
            score: RouterScore::Heavy,
            query: RouterQuery::Last,
            ..Router::default()
        });
        for (case, names) in [
            (heavy, &["router.query.weight", "router.key.weight"][..]),
            (
                composed(Composition::Mlp),
                &["join.condition.bias", "join.mlp.weight"],
            ),
            (composed(Composition::Hadamard), &["join.condition.weight"]),
            (composed(Composition::Hyper), &["join.matrix.bias"]),
            (
                composed(Composition::HyperLowRank(1)),
                &["join.down.weight", "join.up.bias"],
            ),
            (
                Case::Apart(Apart {
                    pooling: Pool::All,
                    join: Join::Both(Router::PAPER, Composition::Hadamard),
                }),
                &["join.condition.weight"],
            ),
        ] {
            let mut file = HeadFile::new(HeadSpec {
                dims: vec![2],
                activation: Activation::None,
                case,
                ..head().spec
            });
            let numbers = |n: usize| (0..n).map(|i| i as f32 / 4.0 - 1.0).collect();
            let shapes = file.spec.case.layers(2);
            file.join = (shapes.iter())
                .map(|shape| LinearNumbers {
                    weight: numbers(shape.inputs * shape.outputs),
                    bias: numbers(if shape.bias { shape.outputs } else { 0 }),
                })
                .collect();
            let bytes = file.to_bytes().unwrap();
            assert_eq!(HeadFile::parse("h", &bytes).unwrap(), file);
            for name in names {
                assert!(String::from_utf8_lossy(&bytes).contains(name), "{name}");
            }
            file.join.pop();
            let error = HeadFile::parse("h", &file.to_bytes().unwrap()).unwrap_err();
            assert_eq!(error.code(), "head-format");
        }
    }

    #[test]
    fn a_transform_and_a_score_come_back_and_older_files_read_as_they_did() {
        let mut file = head();
        let text = |file: &HeadFile| serde_json::to_string(&file.spec).unwrap();
        assert!(text(&file).contains(r#""relu":true"#), "{}", text(&file));
        file.spec.activation = Activation::Gelu;
        file.spec.case = Case::Cross(Cross {
            pooling: Pool::Cls,
            inputs: Inputs::Condition,
        });
        let cross = r#""architecture":{"cross":{"inputs":"condition"}}"#;
        assert!(text(&file).contains(cross), "{}", text(&file));
        let bytes = file.to_bytes().unwrap();
        assert_eq!(HeadFile::parse("h", &bytes).unwrap(), file);
        let backend = Candle::cpu();
        let loaded = Head::load(&backend, &file).unwrap();
        let e = candle_core::Tensor::new(&[[1f32, 2.0]], &candle_core::Device::Cpu).unwrap();
        let score = |head: &Head<Candle>| {
            let score = head.finished(&backend, &e).unwrap();
            score.to_vec2::<f32>().unwrap()[0][0]
        };
        // GELU(1, 2.5, −3) = 0.8413447, 2.4844756, −0.0040496; the score is as it comes.
        let by_hand = 0.841_344_7 + 2.0 * 2.484_475_6 - 4.0 * 0.004_049_6 - 1.0;
        assert!(
            (score(&loaded) - by_hand).abs() < 1e-5,
            "{}",
            score(&loaded)
        );
        file.spec.dims = vec![2, 3];
        file.layers.truncate(1);
        let error = HeadFile::parse("h", &file.to_bytes().unwrap()).unwrap_err();
        assert!(error.to_string().contains("ends in one number"), "{error}");
        let mut stored = serde_json::to_value(head().spec).unwrap();
        stored["relu"] = "swish".into();
        assert!(serde_json::from_value::<HeadSpec>(stored).is_err());
    }

    #[test]
    fn an_encoder_of_another_width_is_told_both_widths() {
        let mut spec = head().spec;
        spec.dims = vec![768];
        let encoder = spec.encoder.clone();
        // Two orders side by side.
        spec.check_width(&encoder, 384).unwrap();
        let error = spec.check_width(&encoder, 1024).unwrap_err();
        assert_eq!(error.code(), "head-mismatch");
        let text = error.to_string();
        assert!(text.contains("768") && text.contains("2048"), "{text}");
    }

    #[test]
    fn broken_files_are_errors_of_the_head() {
        let bytes = head().to_bytes().unwrap();
        for cut in [0, 7, 8, 100, bytes.len() / 2, bytes.len() - 1] {
            let error = HeadFile::parse("h", &bytes[..cut]).unwrap_err();
            assert_eq!(error.code(), "head-format", "{cut}");
        }
        let other = Writer::default().plain().unwrap();
        assert_eq!(
            HeadFile::parse("h", &other).unwrap_err().code(),
            "head-format"
        );
        // Numbers that are none are neither written nor read.
        let mut nan = head();
        nan.layers[0].bias[0] = f32::NAN;
        let error = nan.to_bytes().unwrap_err();
        assert!(error.to_string().contains("not finite"), "{error}");
        let rare = 12_344.0;
        nan.layers[0].bias[0] = rare;
        let mut bytes = nan.to_bytes().unwrap();
        let rare = f16::from_f32(rare).to_le_bytes();
        let at = bytes.windows(2).rposition(|two| two == rare).unwrap();
        bytes[at..at + 2].copy_from_slice(&f16::NAN.to_le_bytes());
        let error = HeadFile::parse("h", &bytes).unwrap_err();
        assert!(error.to_string().contains("not finite"), "{error}");
    }

    #[test]
    fn a_head_for_another_encoder_names_both() {
        let other = EncoderId {
            id: "big".into(),
            sha256: "11".into(),
        };
        let error = head().spec.check_encoder(&other).unwrap_err();
        assert_eq!(error.code(), "head-mismatch");
        assert!(error.to_string().contains("tiny") && error.to_string().contains("big"));
    }
}

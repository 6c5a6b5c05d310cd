//! The tri-encoder with a router: against torch, cached against uncached, its passes counted, its gradients.

use std::{cell::Cell, rc::Rc};

use crate::common::{self, TINY, relative_error, tiny};
use candle_core::{Device, Tensor};
use caselens::{
    Lens, Result,
    backend::{
        Activation, AttentionRow, Backend, Gain, NormWeights, Pooling, RelativeBiasWeights,
        Routing,
        candle::{
            Candle, DeviceBatch, Embeddings, Linear, Norm,
            training::{
                Trainer,
                parameters::{Adapter, FineTuning, Frozen, TrainingPrecision},
            },
        },
    },
    checkpoint::weights::WeightTensor,
    embedding::{
        Apart, Case, Encoder, Input, Join, Pool, Router,
        router::{Routed, Texts, TriEncoder},
    },
    text::Batch,
};
use pollster::block_on;

pub const SENTENCES: [&str; 4] = [
    "a small brown dog runs across the frozen river",
    "two children wait",
    "the city orchestra plays in the rain",
    "dog",
];
pub const CONDITIONS: [&str; 3] = ["the animal", "the weather in the evening", "the place"];

fn tri(layers: usize, gain: Gain) -> Case {
    Case::tri(Router {
        layers,
        gain,
        ..Router::default()
    })
}

fn encoder(name: &str) -> Encoder<Candle> {
    Encoder::load(Candle::cpu(), &tiny(name)).unwrap()
}

pub fn numbers(x: &Tensor) -> Vec<f32> {
    x.flatten_all().unwrap().to_vec1().unwrap()
}

/// The texts of a batch of sentences and one of conditions.
pub fn texts<B: Backend>(encoder: &Encoder<B>, case: &Case, s: &[&str], c: &[&str]) -> [Texts; 2] {
    let template = encoder.template();
    let [mut sentences, mut conditions] = [(); 2].map(|()| Texts::default());
    for text in s {
        let tokens = template.sentence("s", text).unwrap();
        sentences.add(&template.single(&tokens).unwrap(), case.pooling());
    }
    for text in c {
        let tokens = template.condition("c", text).unwrap();
        conditions.add(&template.condition_alone(&tokens).unwrap(), case.pooling());
    }
    [sentences, conditions]
}

pub fn every_pair(sentences: usize, conditions: usize) -> Vec<Routed> {
    (0..sentences)
        .flat_map(|sentence| {
            (0..conditions).map(move |condition| Routed {
                sentence,
                condition,
            })
        })
        .collect()
}

/// Embeddings `[s · c, 64]`, everything encoded in one go.
pub fn embed<B: Backend<Tensor = Tensor>>(
    encoder: &Encoder<B>,
    case: &Case,
    s: &[&str],
    c: &[&str],
) -> Tensor {
    let [sentences, conditions] = texts(encoder, case, s, c);
    let tri = TriEncoder::new(encoder, case).unwrap();
    let sentences = tri.sentences(sentences).unwrap();
    let conditions = tri.conditions(&conditions).unwrap();
    tri.embed(&sentences, &conditions, &every_pair(s.len(), c.len()))
        .unwrap()
}

/// Every sentence under every condition.
fn inputs<B: Backend>(encoder: &Encoder<B>) -> Vec<Input> {
    let pairs = SENTENCES
        .iter()
        .flat_map(|s| CONDITIONS.iter().map(move |c| (s, c)));
    pairs
        .map(|(s, c)| encoder.conditional(s, c, "").unwrap())
        .collect()
}

#[test]
fn embeddings_are_those_of_torch() {
    let fixture = common::json("router.json");
    let reference = common::Tensors::open("router.safetensors");
    let strings = |key: &str| -> Vec<String> {
        let all = fixture[key].as_array().unwrap().iter();
        all.map(|t| t.as_str().unwrap().to_owned()).collect()
    };
    let (sentences, conditions) = (strings("sentences"), strings("conditions"));
    let s: Vec<&str> = sentences.iter().map(String::as_str).collect();
    let c: Vec<&str> = conditions.iter().map(String::as_str).collect();
    for name in TINY {
        let encoder = encoder(name);
        for layers in [1, 3] {
            for (gain, called) in [
                (Gain::OnePlusWeight, "one-plus-weight"),
                (Gain::Weight, "weight"),
            ] {
                let key = format!("{name}.{layers}.{called}");
                let expected = reference.floats(&key);
                let got = numbers(&embed(&encoder, &tri(layers, gain), &s, &c));
                let error = relative_error(&got, &expected);
                assert!(error < 1e-5, "{key}: {error:e}");
            }
        }
    }
}

#[test]
fn what_is_kept_gives_what_each_pair_gives_by_itself() {
    for name in TINY {
        let encoder = encoder(name);
        for layers in 1..=3 {
            for pooling in [Pool::All, Pool::Cls, Pool::Sentence] {
                let gain = Gain::OnePlusWeight;
                let case = Case::Apart(Apart {
                    pooling,
                    join: Join::Router(Router {
                        layers,
                        gain,
                        ..Router::default()
                    }),
                });
                let kept = numbers(&embed(&encoder, &case, &SENTENCES, &CONDITIONS));
                let rows = block_on(encoder.run_raw(&inputs(&encoder), &case)).unwrap();
                let pairs = every_pair(SENTENCES.len(), CONDITIONS.len());
                for (i, pair) in pairs.iter().enumerate() {
                    let (s, c) = (SENTENCES[pair.sentence], CONDITIONS[pair.condition]);
                    let alone = numbers(&embed(&encoder, &case, &[s], &[c]));
                    for got in [&kept[64 * i..64 * (i + 1)], &rows.vectors[i]] {
                        let error = relative_error(got, &alone);
                        assert!(error < 1e-6, "{name} {case:?} {pair:?}: {error:e}");
                    }
                }
                // Conditions differ: the router is no ornament.
                let difference = relative_error(&kept[..64], &kept[64..128]);
                assert!(difference > 1e-4, "{name} {case:?}: {difference:e}");
            }
        }
    }
}

/// candle, counting the sequences that begin a pass of the encoder.
pub struct Counting {
    candle: Candle,
    passes: Rc<Cell<usize>>,
    routes: bool,
    /// Whether attention's weights are told as zeros.
    pub blind: bool,
}

impl Counting {
    pub fn new(routes: bool) -> (Self, Rc<Cell<usize>>) {
        let passes = Rc::new(Cell::new(0));
        let counting = Self {
            candle: Candle::cpu(),
            passes: Rc::clone(&passes),
            routes,
            blind: false,
        };
        (counting, passes)
    }
}

impl Backend for Counting {
    type Tensor = Tensor;
    type Linear = Linear;
    type Norm = Norm;
    type Embeddings = Embeddings;
    type RelativeBias = Tensor;
    type Batch = (usize, DeviceBatch);

    fn load_embeddings(
        &self,
        token: WeightTensor<'_>,
        position: WeightTensor<'_>,
        types: WeightTensor<'_>,
        norm: NormWeights<'_>,
    ) -> Result<Embeddings> {
        self.candle.load_embeddings(token, position, types, norm)
    }

    fn load_linear(&self, parts: Vec<(WeightTensor<'_>, WeightTensor<'_>)>) -> Result<Linear> {
        self.candle.load_linear(parts)
    }

    fn load_norm(&self, norm: NormWeights<'_>) -> Result<Norm> {
        self.candle.load_norm(norm)
    }

    fn load_relative_bias(&self, bias: RelativeBiasWeights<'_>) -> Result<Tensor> {
        self.candle.load_relative_bias(bias)
    }

    fn upload(&self, batch: &Batch) -> Result<Self::Batch> {
        Ok((batch.len(), self.candle.upload(batch)?))
    }

    fn rows(&self, columns: usize, numbers: &[f32]) -> Result<Tensor> {
        self.candle.rows(columns, numbers)
    }

    fn embed(&self, tables: &Embeddings, (sequences, batch): &Self::Batch) -> Result<Tensor> {
        self.passes.set(self.passes.get() + sequences);
        self.candle.embed(tables, batch)
    }

    fn linear(&self, x: &Tensor, layer: &Linear, activation: Activation) -> Result<Tensor> {
        self.candle.linear(x, layer, activation)
    }

    fn linear_add_norm(&self, x: &Tensor, l: &Linear, r: &Tensor, n: &Norm) -> Result<Tensor> {
        self.candle.linear_add_norm(x, l, r, n)
    }

    fn attention(
        &self,
        qkv: &Tensor,
        (_, batch): &Self::Batch,
        heads: usize,
        bias: Option<&Tensor>,
    ) -> Result<Tensor> {
        self.candle.attention(qkv, batch, heads, bias)
    }

    fn attention_weights(
        &self,
        x: &Tensor,
        rows: &[AttentionRow],
        heads: usize,
        bias: Option<&Tensor>,
    ) -> Result<Tensor> {
        let weights = self.candle.attention_weights(x, rows, heads, bias)?;
        match self.blind {
            true => Ok(weights.zeros_like()?),
            false => Ok(weights),
        }
    }

    fn pool(&self, hidden: &Tensor, pooling: &Pooling) -> Result<Tensor> {
        self.candle.pool(hidden, pooling)
    }

    fn normalize(&self, x: &Tensor) -> Result<Tensor> {
        self.candle.normalize(x)
    }

    fn routing(&self) -> Option<&dyn Routing<Tensor = Tensor>> {
        self.candle.routing().filter(|_| self.routes)
    }

    async fn read(&self, tensors: &[&Tensor]) -> Result<Vec<Vec<f32>>> {
        self.candle.read(tensors).await
    }
}

#[test]
fn each_text_takes_one_pass() {
    for layers in [1, 3] {
        let (backend, passes) = Counting::new(true);
        let encoder = Encoder::load(backend, &tiny("bert-tiny")).unwrap();
        let case = tri(layers, Gain::OnePlusWeight);
        let rows = block_on(encoder.run_raw(&inputs(&encoder), &case)).unwrap();
        assert_eq!(rows.vectors.len(), SENTENCES.len() * CONDITIONS.len());
        assert_eq!(passes.get(), SENTENCES.len() + CONDITIONS.len());

        // More texts than a batch holds, and one that is too long: still one pass each, in the right places.
        let long = "the dog and the cat ".repeat(60);
        // Three words, no two texts the same ones.
        let words = ["small", "brown", "dog", "river", "frozen", "runs"];
        let three = |i: usize| [i % 6, i / 6 % 6, i / 36].map(|w| words[w]).join(" ");
        let mut s: Vec<String> = (0..99)
            .map(|i| format!("{} {}", three(i), SENTENCES[0]))
            .collect();
        s.push(long);
        let mut c: Vec<String> = (0..150).map(three).collect();
        c.push("the place".into());
        // Each condition under some sentence, each sentence under several conditions, in mixed order.
        let pairs: Vec<(usize, usize)> =
            (0..400).map(|i| (i * 37 % s.len(), i % c.len())).collect();
        let conditional = |&(i, j): &(usize, usize)| encoder.conditional(&s[i], &c[j], "").unwrap();
        let mut inputs: Vec<Input> = pairs.iter().map(conditional).collect();
        inputs.insert(7, encoder.single("s", SENTENCES[2]).unwrap());
        passes.set(0);
        let rows = block_on(encoder.run_raw(&inputs, &case)).unwrap();
        assert_eq!(passes.get(), s.len() + c.len() + 1);
        let cut: Vec<usize> = rows.cuts.iter().map(|&(input, _)| input).collect();
        let long: Vec<usize> = (0..pairs.len())
            .filter(|&i| pairs[i].0 == 99)
            .map(|i| i + usize::from(i >= 7))
            .collect();
        assert_eq!(cut, long);
        for i in [0, 7, 8, 151, 400] {
            let alone = block_on(encoder.run_raw(&inputs[i..=i], &case)).unwrap();
            let error = relative_error(&rows.vectors[i], &alone.vectors[0]);
            assert!(error < 1e-6, "{i}: {error:e}");
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let load = |routes| Encoder::load(Counting::new(routes).0, &tiny("bert-tiny")).unwrap();
    let case = tri(1, Gain::OnePlusWeight);
    assert!(Lens::new(load(true), None, case.clone()).is_ok());
    let text = |encoder: Encoder<Counting>, case: Case| {
        let error = Lens::new(encoder, None, case).err().unwrap();
        assert_eq!(error.code(), "invalid-argument");
        error.to_string()
    };
    assert!(text(load(false), case.clone()).contains("Use a bi-encoder"));
    let error = text(load(true), tri(4, Gain::Weight));
    assert!(error.contains("between 0 and 3"), "{error}");
    let encoder = load(true);
    assert!(TriEncoder::new(&encoder, &Case::default()).is_err());
    let tri = TriEncoder::new(&encoder, &case).unwrap();
    let [sentences, conditions] = texts(&encoder, &case, &SENTENCES, &CONDITIONS);
    let sentences = tri.sentences(sentences).unwrap();
    let conditions = tri.conditions(&conditions).unwrap();
    for (sentence, condition) in [(4, 0), (0, 3)] {
        let pair = Routed {
            sentence,
            condition,
        };
        assert!(tri.embed(&sentences, &conditions, &[pair]).is_err());
    }
    assert!(tri.embed(&sentences, &conditions, &[]).is_err());
    assert!(tri.sentences(Texts::default()).is_err());
}

#[test]
fn gradients_are_those_of_finite_differences() {
    for name in TINY {
        for (layers, gain) in [(1, Gain::OnePlusWeight), (3, Gain::Weight)] {
            let how = FineTuning {
                adapter: Adapter::Full,
                frozen: Frozen::None,
                dropout: 0.0,
                precision: TrainingPrecision::F32,
                pooler: false,
            };
            let backend = Trainer::new(Device::Cpu, 0, how);
            let encoder = Encoder::load(backend, &tiny(name)).unwrap();
            let case = tri(layers, gain);
            let (s, c) = (&SENTENCES[..2], &CONDITIONS[..2]);
            let weights: Vec<f32> = (0..4 * 64).map(|i| (i as f32 * 0.7).sin()).collect();
            let weights = Tensor::from_vec(weights, (4, 64), &Device::Cpu).unwrap();
            let loss = || -> Tensor {
                let embedded = embed(&encoder, &case, s, c);
                (embedded * &weights).unwrap().sum_all().unwrap()
            };
            let value = || f64::from(loss().to_scalar::<f32>().unwrap());
            let gradients = encoder.backend.gradients(&loss()).unwrap();
            let parameters = encoder.backend.parameters();
            assert_eq!(parameters.len(), 5 + 3 * 12, "{name}");
            for p in parameters {
                let g = gradients.get(&p.var).unwrap();
                let length = numbers(&g.sqr().unwrap().sum_all().unwrap())[0].sqrt();
                // Along the gradient the loss changes by the gradient's length.
                let start = p.var.as_detached_tensor().copy().unwrap();
                let step = 0.003;
                let at = |step: f64| {
                    let direction = (g * (step / f64::from(length))).unwrap();
                    p.var.set(&(&start + direction).unwrap()).unwrap();
                    value()
                };
                let slope = (at(step) - at(-step)) / (2.0 * step);
                p.var.set(&start).unwrap();
                let error = (slope - f64::from(length)).abs() / f64::from(length);
                assert!(
                    error < 0.02,
                    "{name} {layers} {:?}: {slope} {length}",
                    p.parts
                );
            }
        }
    }
}

//! Fine-tuning an encoder end to end on rated sentence pairs: a siamese encoder (Reimers & Gurevych, 2019)
//! whose two sides are CASE embeddings or those of a tri-encoder with a router (CSR), with a projection head
//! on top or without.
//!
//! All rows of a sentence pair that follow each other in the data, two conditions or more, are in one
//! batch; the [`Loss`] compares them. Gradients go through the same forward pass as everywhere else.

use std::{borrow::Cow, collections::BTreeMap, ops::Range};

use candle_core::{D, Device, Tensor};
use rand::{SeedableRng, rngs::StdRng};

use crate::{
    backend::{
        Backend,
        candle::{
            Candle,
            training::{
                Trainer,
                adamw::AdamW,
                parameters::{Adapter, FineTuning, Frozen, Lora, Parameter, TrainingPrecision},
            },
        },
    },
    checkpoint::{
        BertCheckpoint,
        weights::{Dtype, WeightTensor},
    },
    data::dataset::Dataset,
    embedding::{
        Case, Encoder, Input, Joint, Pool,
        plan::{Job, Pass},
        router::{Routed, Texts, TriEncoder},
    },
    error::{Error, Result},
    evaluation::metrics,
    head::{Head, HeadFile, HeadLayer, HeadShape, HeadSpec},
    lens::Finish,
    similarity::cosine,
    training::{
        batches,
        early_stopping::{EarlyStopping, Epoch, Keep},
        head::start,
        loss::Loss,
    },
};

/// The share of all steps over which the learning rate rises to its peak; it then falls linearly to 0.
const WARM_UP: f64 = 0.06;
/// Gradients longer than this are shortened to it.
const CLIP: f64 = 1.0;

/// How to fine-tune.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EncoderOptions {
    pub adapter: Adapter,
    /// What of the encoder stays as it is where [`Adapter::Full`] trains the rest.
    pub freeze: Frozen,
    /// The head that is trained on top.
    pub head: HeadShape,
    pub loss: Loss,
    /// AdamW's peak learning rate.
    pub learning_rate: f64,
    /// AdamW's weight decay.
    pub weight_decay: f64,
    /// Probability of dropout after the embeddings and in each sub-layer of the encoder.
    pub dropout: f32,
    /// Sentence pairs of two rows a step: a batch is full once it holds twice as many rows.
    pub batch: usize,
    /// Most conditions of a sentence pair in an epoch, drawn anew each time.
    pub conditions: usize,
    /// Most rows of a sentence and its pair's answers in an epoch ([`Dataset::asked`]), drawn anew each time.
    pub answers: usize,
    /// Most epochs; the learning rate reaches 0 at their end.
    pub epochs: usize,
    pub keep: Keep,
    pub seed: u64,
    /// What linear layers multiply.
    pub precision: TrainingPrecision,
}

/// What is trained on what.
pub struct Task<'a> {
    pub checkpoint: &'a BertCheckpoint,
    pub device: Device,
    pub case: &'a Case,
    pub train: &'a Dataset,
    pub validation: &'a Dataset,
    pub options: &'a EncoderOptions,
}

/// How far training is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Progress {
    /// A step is done; `loss` is its own.
    Step { step: usize, of: usize, loss: f64 },
    /// An epoch is done and validated.
    Epoch(Epoch),
}

/// What training made.
pub struct FineTuned {
    /// The encoder's weights that changed, by GGUF name, with low-rank updates added.
    pub weights: BTreeMap<String, Vec<f32>>,
    /// The low-rank updates by themselves.
    pub adapters: Vec<Lora>,
    /// The head's layers.
    pub layers: Vec<HeadLayer>,
    /// The epoch that all of these are of.
    pub best: Epoch,
    pub history: Vec<Epoch>,
    /// The loss of each step.
    pub losses: Vec<f64>,
}

/// One rated row: both sentences under their condition.
struct Example {
    sides: [Input; 2],
    rating: f32,
}

/// What training has changed so far.
struct Changed {
    /// By GGUF name, with low-rank updates added.
    encoder: BTreeMap<String, Vec<f32>>,
    /// Of the head.
    layers: Vec<HeadLayer>,
}

impl Changed {
    fn of(parameters: &[Parameter], adapters: &[Lora]) -> Result<Self> {
        let mut weights = BTreeMap::new();
        for parameter in parameters {
            let mut at = 0;
            for (name, rows) in &parameter.parts {
                let part = parameter.var.as_detached_tensor().narrow(0, at, *rows)?;
                weights.insert(name.clone(), part.flatten_all()?.to_vec1()?);
                at += rows;
            }
        }
        let mut layers = Vec::new();
        while let (Some(weight), Some(bias)) = (
            weights.remove(&format!("layers.{}.weight", layers.len())),
            weights.remove(&format!("layers.{}.bias", layers.len())),
        ) {
            layers.push(HeadLayer { weight, bias });
        }
        for lora in adapters {
            for side in ["lora_a", "lora_b"] {
                weights.remove(&format!("{}.{side}", lora.name));
            }
            let merged = lora.merged()?.flatten_all()?.to_vec1()?;
            weights.insert(lora.name.clone(), merged);
        }
        Ok(Self {
            encoder: weights,
            layers,
        })
    }
}

/// A run between two steps: all that its next steps follow from.
pub struct Training<'a> {
    pub(super) task: &'a Task<'a>,
    pub(super) encoder: Encoder<Trainer>,
    pub(super) head: Head<Trainer>,
    spec: HeadSpec,
    pub(super) parameters: Vec<Parameter>,
    pub(super) optimizer: AdamW,
    pub(super) stopping: EarlyStopping<Vec<Tensor>>,
    /// Epochs that are done.
    pub(super) epochs: usize,
    /// Steps of the next epoch that are done, and the sum of their losses.
    pub(super) steps: usize,
    pub(super) total: f64,
    pub(super) losses: Vec<f64>,
}

/// Fine-tunes an encoder. `report` is called after each step and each epoch; an error of its ends the run,
/// and what [`Training::save`] gives it resumes the run as `from`. The same seed gives the same weights
/// on the same machine, interrupted or not.
///
/// # Errors
/// A text that cannot be encoded, nothing to train, a loss that is no longer a number, or a checkpoint of
/// another run.
pub fn fine_tune(
    task: &Task<'_>,
    from: Option<&[u8]>,
    mut report: impl FnMut(Progress, &Training<'_>) -> Result<()>,
) -> Result<FineTuned> {
    let Task { train, options, .. } = *task;
    let mut run = Training::new(task)?;
    if let Some(bytes) = from {
        run.restore(bytes)?;
    }
    let (examples, validation) = (
        prepare(&run.encoder, train)?,
        prepare(&run.encoder, task.validation)?,
    );
    let ratings = task.validation.ratings();
    let drawn_from = |groups: &[Range<usize>], most| -> Vec<_> {
        groups.iter().map(|group| (group.clone(), most)).collect()
    };
    let groups = [
        drawn_from(&train.groups, options.conditions),
        drawn_from(&train.asked, options.answers),
    ]
    .concat();
    let batches = |epoch| {
        let EncoderOptions { batch, seed, .. } = *options;
        batches::batches(&groups, batch, seed, epoch)
    };
    let of = (1..=options.epochs).map(|epoch| batches(epoch).len()).sum();
    while run.epochs < options.epochs && run.stopping.goes_on() {
        let epoch = run.epochs + 1;
        let batches = batches(epoch);
        for batch in &batches[run.steps.min(batches.len())..] {
            let loss = run.step(&examples, batch, of)?;
            let step = run.losses.len();
            report(Progress::Step { step, of, loss }, &run)?;
        }
        let predicted = run.predict(&validation)?;
        let reached = Epoch {
            epoch,
            loss: run.total / batches.len() as f64,
            validation_spearman: metrics::spearman(&predicted, &ratings),
        };
        let copies = || copies(&run.parameters);
        run.stopping.go_on(reached, copies)?;
        (run.epochs, run.steps, run.total) = (epoch, 0, 0.0);
        report(Progress::Epoch(reached), &run)?;
    }
    run.finish()
}

impl<'a> Training<'a> {
    fn new(task: &'a Task<'a>) -> Result<Self> {
        let options = task.options;
        let config = &task.checkpoint.config;
        let wrong = |reason: String| Err(Error::InvalidArgument(reason));
        match (options.adapter, options.freeze) {
            (Adapter::Lora(rank), _) if rank == 0 || rank > config.hidden_size => {
                return wrong(format!(
                    "the rank of low-rank updates must be between 1 and {}, the width of the encoder.",
                    config.hidden_size
                ));
            }
            (Adapter::Full, Frozen::Layers(n)) if n > config.num_hidden_layers => {
                return wrong(format!(
                    "`layers:{n}` names more layers than the encoder's {}.",
                    config.num_hidden_layers
                ));
            }
            _ => {}
        }
        if let Case::Instructed(_) = task.case {
            return wrong(
                "an encoder is not trained behind instructions. Use a bi- or a tri-encoder, or train a head on it.".into(),
            );
        }
        options.precision.check(&task.device)?;
        let backend = Trainer::new(
            task.device.clone(),
            options.seed,
            FineTuning {
                adapter: options.adapter,
                frozen: options.freeze,
                dropout: options.dropout,
                precision: options.precision,
            },
        );
        let encoder = Encoder::load(backend, task.checkpoint)?;
        encoder.check(task.case)?;
        let spec = options.head.on(
            task.checkpoint.encoder.clone(),
            config.hidden_size,
            task.case.clone(),
        );
        let head = HeadFile {
            layers: start(&spec.dims, &mut StdRng::seed_from_u64(options.seed)),
            spec: spec.clone(),
            condition_only: None,
        };
        let head = Head::load(&encoder.backend, &head)?;
        let parameters = encoder.backend.parameters();
        if parameters.is_empty() {
            return wrong("nothing is left to train: freeze fewer layers, or add a head.".into());
        }
        Ok(Self {
            task,
            optimizer: AdamW::new(&parameters, options.weight_decay)?,
            encoder,
            head,
            spec,
            parameters,
            stopping: EarlyStopping::new(options.keep),
            epochs: 0,
            steps: 0,
            total: 0.0,
            losses: Vec::new(),
        })
    }

    /// One step on a batch of groups; its loss.
    fn step(&mut self, examples: &[Example], batch: &[Vec<usize>], of: usize) -> Result<f64> {
        let options = self.task.options;
        let step = self.losses.len();
        let seed = batches::dropout_seed(options.seed, step);
        self.encoder.backend.reseed(seed);
        let loss = self.loss(examples, batch)?;
        let value = f64::from(loss.to_scalar::<f32>()?);
        if !value.is_finite() {
            return Err(Error::InvalidArgument(format!(
                "the loss is no number after {step} steps. Try a smaller learning rate."
            )));
        }
        let rate = options.learning_rate * schedule(step, of);
        let gradients = self.encoder.backend.gradients(&loss)?;
        self.optimizer.step(&gradients, rate, CLIP)?;
        self.losses.push(value);
        self.steps += 1;
        self.total += value;
        Ok(value)
    }

    /// The loss of a batch, dropout on: one number.
    fn loss(&self, examples: &[Example], batch: &[Vec<usize>]) -> Result<Tensor> {
        let Task { case, options, .. } = *self.task;
        let backend = &self.encoder.backend;
        let mut rows: Vec<&Example> = Vec::new();
        let mut groups = Vec::with_capacity(batch.len());
        for group in batch {
            let start = rows.len();
            rows.extend(group.iter().map(|&row| &examples[row]));
            groups.push(start..rows.len());
        }
        let inputs = (0..2).flat_map(|side| rows.iter().map(move |row| &row.sides[side]));
        let pooled = match case {
            Case::Joint(joint) => self.joint(joint, inputs)?,
            Case::Apart(apart) => self.apart(apart.pooling, inputs)?,
            // No run starts behind instructions.
            Case::Instructed(instructed) => self.apart(instructed.pooling, inputs)?,
        };
        let z = backend.normalize(&self.head.forward(backend, &pooled)?)?;
        let n = rows.len();
        let similarity = (z.narrow(0, 0, n)? * z.narrow(0, n, n)?)?.sum(D::Minus1)?;
        let ratings: Vec<f32> = rows.iter().map(|row| row.rating).collect();
        options.loss.of(&similarity, &ratings, &groups)
    }

    /// Embeddings of sentences with their conditions in one input each, `[inputs, orders · hidden]`.
    fn joint<'e>(&self, joint: &Joint, inputs: impl Iterator<Item = &'e Input>) -> Result<Tensor> {
        let template = self.encoder.template();
        let mut pass = Pass::default();
        for (input, i) in inputs.zip(0..) {
            pass.add(i, input, &template, Some(joint), Pool::All)?;
        }
        let hidden = self.encoder.hidden(&pass.plan.batch)?;
        let backend = &self.encoder.backend;
        backend.pool(&hidden, &pass.conditional.pooling)
    }

    /// Embeddings of sentences with their conditions apart, each encoded once, `[inputs, hidden]`.
    fn apart<'e>(&self, pool: Pool, inputs: impl Iterator<Item = &'e Input>) -> Result<Tensor> {
        let template = self.encoder.template();
        let (mut sentences, mut conditions) = (Texts::default(), Texts::default());
        let mut pairs = Vec::new();
        for input in inputs {
            if let Input::Conditional {
                sentence,
                condition,
            } = input
            {
                pairs.push(Routed {
                    sentence: sentences.add(&template.single(sentence)?, pool),
                    condition: conditions.add(&template.condition_alone(condition)?, pool),
                });
            }
        }
        let tri = TriEncoder::new(&self.encoder, self.task.case)?;
        tri.embed(
            &tri.sentences(sentences)?,
            &tri.conditions(&conditions)?,
            &pairs,
        )
    }

    /// Similarities of the examples by the weights as they are now, on the backend that infers.
    fn predict(&self, examples: &[Example]) -> Result<Vec<f64>> {
        let inputs: Vec<Input> = examples.iter().flat_map(|e| e.sides.clone()).collect();
        let adapters = self.encoder.backend.adapters();
        let changed = Changed::of(&self.parameters, &adapters)?;
        let published = &self.task.checkpoint.weights;
        let candle = Candle::new(self.task.device.clone());
        let head = HeadFile {
            spec: self.spec.clone(),
            layers: changed.layers,
            condition_only: None,
        };
        let head = Head::load(&candle, &head)?;
        let tensor = |name: &str, shape: &[usize]| match changed.encoder.get(name) {
            None => published.get(name, shape),
            Some(numbers) => Ok(WeightTensor {
                name: name.into(),
                role: None,
                shape: shape.to_vec(),
                dtype: Dtype::F32,
                data: Cow::Borrowed(bytemuck::cast_slice(numbers)),
            }),
        };
        let encoder = Encoder::load_with(candle, self.task.checkpoint, tensor)?;
        let job = Job {
            inputs: &inputs,
            case: Some(self.task.case),
            plain: Pool::All,
            look: false,
        };
        let finish = Finish {
            head: Some(&head),
            normalize: false,
        };
        let rows = pollster::block_on(encoder.run(job, finish))?;
        Ok(rows
            .vectors
            .chunks_exact(2)
            .map(|two| f64::from(cosine(&two[0], &two[1])))
            .collect())
    }

    /// What the epoch that is kept left.
    fn finish(self) -> Result<FineTuned> {
        let stopped = self.stopping.finish()?;
        for (parameter, copy) in self.parameters.iter().zip(&stopped.weights) {
            parameter.var.set(copy)?;
        }
        let adapters = self.encoder.backend.adapters();
        let Changed { encoder, layers } = Changed::of(&self.parameters, &adapters)?;
        Ok(FineTuned {
            weights: encoder,
            adapters,
            layers,
            best: stopped.best,
            history: stopped.history,
            losses: self.losses,
        })
    }
}

fn copies(parameters: &[Parameter]) -> Result<Vec<Tensor>> {
    parameters
        .iter()
        .map(|p| Ok(p.var.as_detached_tensor().copy()?))
        .collect()
}

/// The share of the peak learning rate at a step (from 0).
fn schedule(step: usize, of: usize) -> f64 {
    let warm_up = (WARM_UP * of as f64).max(1.0);
    let at = step as f64 + 1.0;
    match at < warm_up {
        true => at / warm_up,
        false => (of as f64 - step as f64) / (of as f64 - warm_up + 1.0),
    }
}

fn prepare(encoder: &Encoder<Trainer>, data: &Dataset) -> Result<Vec<Example>> {
    data.rows
        .iter()
        .map(|row| {
            let what = format!(" \"{:.60}\"", row.condition);
            let side = |sentence: &str| encoder.conditional(sentence, &row.condition, &what);
            Ok(Example {
                sides: [side(&row.sentence1)?, side(&row.sentence2)?],
                rating: row.rating,
            })
        })
        .collect()
}

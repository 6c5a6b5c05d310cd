//! Fine-tuning an encoder end to end: the one loop, whatever is learnt. What that is, an [`Objective`] says:
//! [`super::rated`] sentence pairs, or the [`super::links`] of a knowledge graph.
//!
//! Embeddings are those of CASE or of a tri-encoder with a router (CSR), with a projection head on top or without. Gradients go
//! through the same forward pass as everywhere else.

use std::{borrow::Cow, collections::BTreeMap, time::Instant};

use candle_core::{Device, Tensor};
use rand::{SeedableRng, rngs::StdRng};

use crate::{
    backend::candle::{
        Candle,
        training::{
            Trainer,
            adamw::AdamW,
            parameters::{Adapter, FineTuning, Frozen, Lora, Parameter, TrainingPrecision},
        },
    },
    checkpoint::{
        BertCheckpoint,
        weights::{Dtype, WeightTensor},
    },
    embedding::{
        Case, Encoder, Input, Pool, Shape,
        encoder::Made,
        layers::LayerShape,
        plan::Pass,
        router::{Routed, Texts, TriEncoder},
    },
    error::{Error, Result},
    head::{Head, HeadFile, HeadLayer, HeadShape, HeadSpec},
    training::{
        batches,
        early_stopping::{EarlyStopping, Epoch, Keep, Validated},
        head::{start, start_beside},
    },
};

/// Steps from one look of the running average at the weights to the next.
const AVERAGED_EVERY: usize = 8;

/// What an encoder learns: what its steps read and make small, and what its epochs are judged by. It holds the texts of one run.
pub trait Objective: Sized {
    /// What is learnt from.
    type Train;
    /// What epochs are judged on.
    type Validation: ?Sized;
    /// The settings of the loss.
    type Loss: Clone + serde::Serialize;
    /// What one step reads.
    type Batch;
    /// What [`Objective::validate`] measures.
    const VALIDATED: fn(f64) -> Validated;

    /// What is trained beside the encoder and its head.
    ///
    /// # Errors
    /// The task cannot be learnt so.
    fn parameters(task: &Task<'_, Self>, spec: &HeadSpec) -> Result<Vec<Parameter>>;

    /// What the encoder is to read its inputs as.
    fn shape(_task: &Task<'_, Self>, shape: Shape) -> Shape {
        shape
    }

    /// What decides a run's result beside what all runs have, by the option of the companion that says it.
    fn describe(task: &Task<'_, Self>) -> BTreeMap<String, String>;

    /// Reads what a run learns from.
    ///
    /// # Errors
    /// A text that cannot be encoded.
    fn read(run: &Training<'_, Self>) -> Result<Self>;

    /// What the steps of an epoch, counted from 1, read.
    fn batches(&self, run: &Training<'_, Self>, epoch: usize) -> Vec<Self::Batch>;

    /// The loss of a batch, dropout on: one number.
    fn loss(&self, run: &Training<'_, Self>, batch: &Self::Batch) -> Result<Tensor>;

    /// How good the weights are as they are now: more is better.
    fn validate(&self, run: &Training<'_, Self>) -> Result<f64>;
}

/// How to fine-tune, towards a loss with settings `L`.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EncoderOptions<L> {
    pub adapter: Adapter,
    /// What of the encoder stays as it is where [`Adapter::Full`] trains the rest.
    pub freeze: Frozen,
    /// The head that is trained on top.
    pub head: HeadShape,
    pub loss: L,
    /// AdamW's peak learning rate.
    pub learning_rate: f64,
    /// The share of all steps over which the learning rate rises to its peak; it then falls linearly to 0.
    pub warm_up: f64,
    /// Gradients longer than this, all together, are shortened to it; `None`: they are taken as they are.
    pub clip: Option<f64>,
    /// AdamW's weight decay.
    pub weight_decay: f64,
    /// Probability of dropout after the embeddings and in each sub-layer of the encoder.
    pub dropout: f32,
    /// What a step reads: of rated pairs so many of two rows (a batch is full once the encoder reads four times as many
    /// inputs for it), of links so many.
    pub batch: usize,
    /// How much of the running average of the weights a step leaves (an exponential moving average; at most 1 − 1/steps, so
    /// that the beginning is forgotten); what is validated and kept is the average. `None`: the weights as they are.
    pub average: Option<f64>,
    /// Most epochs; the learning rate reaches 0 at their end.
    pub epochs: usize,
    pub keep: Keep,
    pub seed: u64,
    /// What linear layers multiply.
    pub precision: TrainingPrecision,
}

/// What is trained on what.
pub struct Task<'a, O: Objective> {
    pub checkpoint: &'a BertCheckpoint,
    /// Whose similarities kept texts are to have; `None`: those of `checkpoint`.
    pub general: Option<&'a BertCheckpoint>,
    pub device: Device,
    pub case: &'a Case,
    pub train: &'a O::Train,
    pub validation: &'a O::Validation,
    pub options: &'a EncoderOptions<O::Loss>,
}

impl<'a, O: Objective> Task<'a, O> {
    /// The same, with other options.
    pub fn with<'b>(&self, options: &'b EncoderOptions<O::Loss>) -> Task<'b, O>
    where
        'a: 'b,
    {
        Task {
            checkpoint: self.checkpoint,
            general: self.general,
            device: self.device.clone(),
            case: self.case,
            train: self.train,
            validation: self.validation,
            options,
        }
    }
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
    /// The layers of [`Case::layers`].
    pub join: Vec<HeadLayer>,
    /// What the objective trained beside, by its names ([`Objective::parameters`]).
    pub beside: BTreeMap<String, Vec<f32>>,
    /// The epoch that all of these are of.
    pub best: Epoch,
    pub history: Vec<Epoch>,
    /// The loss of each step.
    pub losses: Vec<f64>,
    /// How long it took, its validations included; of an interrupted run, all its parts.
    pub seconds: f64,
}

/// What training has changed so far.
struct Changed {
    /// By GGUF name, with low-rank updates added.
    encoder: BTreeMap<String, Vec<f32>>,
    /// Of the head.
    layers: Vec<HeadLayer>,
    /// Of the case.
    join: Vec<HeadLayer>,
    /// Of the objective.
    beside: BTreeMap<String, Vec<f32>>,
}

impl Changed {
    fn of(
        parameters: &[Parameter],
        adapters: &[Lora],
        join: &[LayerShape],
        beside: &[Parameter],
    ) -> Result<Self> {
        let mut weights = BTreeMap::new();
        for parameter in parameters {
            let mut at = 0;
            let numbers = parameter.var.as_detached_tensor();
            for (name, rows) in &parameter.parts {
                let part = numbers.narrow(0, at, *rows)?;
                weights.insert(name.clone(), part.flatten_all()?.to_vec1()?);
                at += rows;
            }
        }
        let join = join.iter().map(|shape| HeadLayer {
            weight: weights.remove(&shape.weight()).unwrap_or_default(),
            bias: (shape.bias().and_then(|name| weights.remove(&name))).unwrap_or_default(),
        });
        let join = join.collect();
        let mut layers = Vec::new();
        while let (Some(weight), Some(bias)) = (
            weights.remove(&format!("layers.{}.weight", layers.len())),
            weights.remove(&format!("layers.{}.bias", layers.len())),
        ) {
            layers.push(HeadLayer { weight, bias });
        }
        let names = beside.iter().flat_map(|parameter| &parameter.parts);
        let beside = names
            .filter_map(|(name, _)| weights.remove_entry(name))
            .collect();
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
            join,
            beside,
        })
    }
}

/// A run between two steps: all that its next steps follow from.
pub struct Training<'a, O: Objective> {
    pub(super) task: &'a Task<'a, O>,
    pub(super) encoder: Encoder<Trainer>,
    pub(super) head: Head<Trainer>,
    spec: HeadSpec,
    pub(super) parameters: Vec<Parameter>,
    /// Those of them that are the objective's own.
    pub(super) beside: Vec<Parameter>,
    /// The running average of each parameter, where there is one.
    pub(super) average: Option<Vec<Tensor>>,
    pub(super) optimizer: AdamW,
    pub(super) stopping: EarlyStopping<Vec<Tensor>>,
    /// Epochs that are done.
    pub(super) epochs: usize,
    /// Steps of the next epoch that are done, and the sum of their losses.
    pub(super) steps: usize,
    pub(super) total: f64,
    pub(super) losses: Vec<f64>,
    /// When this part of the run began, and the seconds that those before it took.
    began: Instant,
    pub(super) before: f64,
}

/// Fine-tunes an encoder. `report` is called after each step and each epoch; an error of its ends the run,
/// and what [`Training::save`] gives it resumes the run as `from`. The same seed gives the same weights
/// on the same machine, interrupted or not.
///
/// # Errors
/// A text that cannot be encoded, nothing to train, a loss that is no longer a number, or a checkpoint of
/// another run.
pub fn fine_tune<O: Objective>(
    task: &Task<'_, O>,
    from: Option<&[u8]>,
    mut report: impl FnMut(Progress, &Training<'_, O>) -> Result<()>,
) -> Result<FineTuned> {
    let options = task.options;
    let mut run = Training::new(task)?;
    if let Some(bytes) = from {
        run.restore(bytes)?;
    }
    let objective = O::read(&run)?;
    let steps = (1..=options.epochs).map(|epoch| objective.batches(&run, epoch).len());
    let steps: Vec<usize> = steps.collect();
    run.check(&steps)?;
    let of = steps.iter().sum();
    while run.epochs < options.epochs && run.stopping.goes_on() {
        let epoch = run.epochs + 1;
        let batches = objective.batches(&run, epoch);
        for batch in &batches[run.steps.min(batches.len())..] {
            let loss = run.step(&objective, batch, of)?;
            let step = run.losses.len();
            report(Progress::Step { step, of, loss }, &run)?;
        }
        let reached = Epoch {
            epoch,
            loss: run.total / batches.len() as f64,
            validation: O::VALIDATED(run.with_average(|run| objective.validate(run))?),
        };
        let copies = || match &run.average {
            None => copies(&run.parameters),
            Some(average) => average.iter().map(|x| Ok(x.copy()?)).collect(),
        };
        run.stopping.go_on(reached, copies)?;
        (run.epochs, run.steps, run.total) = (epoch, 0, 0.0);
        report(Progress::Epoch(reached), &run)?;
    }
    run.finish()
}

impl<'a, O: Objective> Training<'a, O> {
    fn new(task: &'a Task<'a, O>) -> Result<Self> {
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
        if let Case::Instructed(_) | Case::Prompted(_) = task.case {
            return wrong(
                "an encoder is not trained behind instructions, nor in prompts. Use a bi- or a tri-encoder, or train a head on it.".into(),
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
                pooler: task.case.pooling() == Pool::Pooler,
            },
        );
        let mut encoder = Encoder::load(backend, task.checkpoint)?;
        encoder.shape = O::shape(task, encoder.shape);
        let mut rng = StdRng::seed_from_u64(options.seed);
        let spec = options.head.on(
            task.checkpoint.encoder.clone(),
            config.hidden_size,
            task.case.clone(),
        );
        let head = HeadFile {
            layers: start(&spec.dims, &mut rng),
            ..HeadFile::new(spec.clone())
        };
        let join = start_beside(&task.case.layers(config.hidden_size), &mut rng);
        encoder.equip(task.case, &join, options.dropout)?;
        encoder.check(task.case)?;
        let head = Head::load(&encoder.backend, &head)?;
        let mut parameters = encoder.backend.parameters();
        let beside = O::parameters(task, &spec)?;
        parameters.extend(beside.iter().cloned());
        if parameters.is_empty() {
            return wrong("nothing is left to train: freeze fewer layers, or add a head.".into());
        }
        Ok(Self {
            task,
            optimizer: AdamW::new(&parameters, options.weight_decay)?,
            encoder,
            head,
            spec,
            average: match options.average {
                None => None,
                Some(_) => Some(copies(&parameters)?),
            },
            beside,
            parameters,
            stopping: EarlyStopping::new(options.keep),
            epochs: 0,
            steps: 0,
            total: 0.0,
            losses: Vec::new(),
            began: Instant::now(),
            before: 0.0,
        })
    }

    /// One step on a batch; its loss.
    fn step(&mut self, objective: &O, batch: &O::Batch, of: usize) -> Result<f64> {
        let options = self.task.options;
        let step = self.losses.len();
        let seed = batches::dropout_seed(options.seed, step);
        self.encoder.backend.reseed(seed);
        let loss = objective.loss(self, batch)?;
        let value = f64::from(loss.to_scalar::<f32>()?);
        if !value.is_finite() {
            return Err(Error::InvalidArgument(format!(
                "the loss is no number after {step} steps. Try a smaller learning rate."
            )));
        }
        let rate = options.learning_rate * schedule(step, of, options.warm_up);
        let gradients = self.encoder.backend.gradients(&loss)?;
        self.optimizer.step(&gradients, rate, options.clip)?;
        self.losses.push(value);
        self.steps += 1;
        self.total += value;
        self.follow()?;
        Ok(value)
    }

    /// How long the run has taken so far.
    pub(super) fn seconds(&self) -> f64 {
        self.before + self.began.elapsed().as_secs_f64()
    }

    /// Lets the running average follow the weights.
    fn follow(&mut self) -> Result<()> {
        let steps = self.losses.len();
        if let (Some(average), Some(keep)) = (&mut self.average, self.task.options.average)
            && steps.is_multiple_of(AVERAGED_EVERY)
        {
            let looks = (steps / AVERAGED_EVERY) as f64;
            let keep = keep.powi(AVERAGED_EVERY as i32).min(1.0 - 1.0 / looks);
            for (average, parameter) in average.iter_mut().zip(&self.parameters) {
                let now = parameter.var.as_detached_tensor();
                *average = (average.affine(keep, 0.0)? + now.affine(1.0 - keep, 0.0)?)?;
            }
        }
        Ok(())
    }

    /// Runs `work` with the running average in the place of the weights, where there is one.
    fn with_average<T>(&self, work: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        let Some(average) = &self.average else {
            return work(self);
        };
        let weights = copies(&self.parameters)?;
        let set = |to: &[Tensor]| -> Result<()> {
            for (parameter, numbers) in self.parameters.iter().zip(to) {
                parameter.var.set(numbers)?;
            }
            Ok(())
        };
        set(average)?;
        let done = work(self);
        set(&weights)?;
        done
    }

    /// Embeddings of inputs, each of length 1, `[inputs, dims]`, of sentences under conditions and of texts by themselves; or
    /// the scores of a cross-encoder, `[inputs, 1]`.
    pub(super) fn embed<'e>(&self, inputs: impl Iterator<Item = &'e Input>) -> Result<Tensor> {
        let backend = &self.encoder.backend;
        let pooled = match self.task.case {
            Case::Joint(_) | Case::Cross(_) => self.joint(inputs)?,
            Case::Apart(apart) => self.apart(apart.pooling, inputs)?,
            // No run starts behind instructions or in prompts.
            Case::Instructed(_) | Case::Prompted(_) => {
                self.apart(self.task.case.pooling(), inputs)?
            }
        };
        self.head.finished(backend, &pooled)
    }

    /// Pooled rows of sentences with their conditions in one input each, or of everything at once, and of texts by
    /// themselves, `[inputs, Case::dims]`.
    fn joint<'e>(&self, inputs: impl Iterator<Item = &'e Input>) -> Result<Tensor> {
        let template = self.encoder.template();
        let mut pass = Pass::default();
        for (input, i) in inputs.zip(0..) {
            pass.add(
                i,
                input,
                &template,
                Some(self.task.case),
                self.encoder.shape.plain,
            )?;
        }
        let router = self.task.case.joint_router();
        let embedded = self.encoder.embed_pass(pass, router, false)?;
        in_order([embedded.conditional, embedded.plain].into_iter().flatten())
    }

    /// Embeddings of sentences with their conditions apart, each encoded once, and of texts by themselves, `[inputs, hidden]`.
    fn apart<'e>(&self, pool: Pool, inputs: impl Iterator<Item = &'e Input>) -> Result<Tensor> {
        let template = self.encoder.template();
        let tri = TriEncoder::new(&self.encoder, self.task.case)?;
        let (mut sentences, mut conditions) = (Texts::default(), Texts::default());
        let (mut pairs, mut paired) = (Vec::new(), Vec::new());
        let (mut singles, mut single) = (Vec::new(), Vec::new());
        for (i, input) in inputs.enumerate() {
            match input {
                Input::Conditional {
                    sentence,
                    condition,
                } => {
                    let text = tri.sentence(&template, sentence, condition)?;
                    pairs.push(Routed {
                        sentence: sentences.add(&text, pool),
                        condition: conditions.add(&template.condition_alone(condition)?, pool),
                    });
                    paired.push(i);
                }
                // Both sentences at once are no tri-encoder's, and read as they are.
                Input::Single(_) | Input::Together(_) => {
                    singles.push(input);
                    single.push(i);
                }
            }
        }
        let mut parts = Vec::with_capacity(2);
        if !pairs.is_empty() {
            let (sentences, conditions) = (tri.sentences(sentences)?, tri.conditions(&conditions)?);
            parts.push(Made {
                inputs: paired,
                rows: tri.embed(&sentences, &conditions, &pairs)?,
            });
        }
        if !singles.is_empty() {
            parts.push(Made {
                inputs: single,
                rows: self.joint(singles.into_iter())?,
            });
        }
        in_order(parts.into_iter())
    }

    /// The encoder and its head by the weights as they are now, on the backend that infers.
    pub(super) fn inferring(&self) -> Result<(Encoder<Candle>, Head<Candle>)> {
        let adapters = self.encoder.backend.adapters();
        let join = self.task.case.layers(self.encoder.shape.hidden_size);
        let changed = Changed::of(&self.parameters, &adapters, &join, &self.beside)?;
        let published = &self.task.checkpoint.weights;
        let candle = Candle::new(self.task.device.clone());
        let head = HeadFile {
            layers: changed.layers,
            ..HeadFile::new(self.spec.clone())
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
        let mut encoder = Encoder::load_with(candle, self.task.checkpoint, tensor)?;
        encoder.shape = O::shape(self.task, encoder.shape);
        encoder.equip(self.task.case, &changed.join, 0.0)?;
        Ok((encoder, head))
    }

    /// What the epoch that is kept left.
    fn finish(self) -> Result<FineTuned> {
        let seconds = self.seconds();
        let stopped = self.stopping.finish()?;
        for (parameter, copy) in self.parameters.iter().zip(&stopped.weights) {
            parameter.var.set(copy)?;
        }
        let adapters = self.encoder.backend.adapters();
        let join = self.task.case.layers(self.encoder.shape.hidden_size);
        let changed = Changed::of(&self.parameters, &adapters, &join, &self.beside)?;
        Ok(FineTuned {
            weights: changed.encoder,
            adapters,
            layers: changed.layers,
            join: changed.join,
            beside: changed.beside,
            best: stopped.best,
            history: stopped.history,
            losses: self.losses,
            seconds,
        })
    }
}

/// Rows in the order of their inputs, each of which has one.
fn in_order(made: impl Iterator<Item = Made<Trainer>>) -> Result<Tensor> {
    let (inputs, rows): (Vec<_>, Vec<_>) = made.map(|made| (made.inputs, made.rows)).unzip();
    let order = inputs.concat();
    let mut place = vec![0u32; order.len()];
    for (row, &input) in (0..).zip(&order) {
        place[input] = row;
    }
    let rows = Tensor::cat(&rows, 0)?;
    Ok(rows.index_select(&Tensor::new(place, rows.device())?, 0)?)
}

fn copies(parameters: &[Parameter]) -> Result<Vec<Tensor>> {
    parameters
        .iter()
        .map(|p| Ok(p.var.as_detached_tensor().copy()?))
        .collect()
}

/// The share of the peak learning rate at a step (from 0).
fn schedule(step: usize, of: usize, warm_up: f64) -> f64 {
    let warm_up = (warm_up * of as f64).max(1.0);
    let at = step as f64 + 1.0;
    match at < warm_up {
        true => at / warm_up,
        false => (of as f64 - step as f64) / (of as f64 - warm_up + 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_learning_rate_rises_as_long_as_it_is_told_to_and_then_falls() {
        let rate = |step, warm_up| schedule(step, 100, warm_up);
        assert_eq!([0, 4, 9].map(|step| rate(step, 0.1)), [0.1, 0.5, 1.0]);
        assert_eq!((rate(0, 0.0), rate(0, 0.01)), (1.0, 1.0));
        for warm_up in [0.0, 0.1, 0.5] {
            let (before, last) = (rate(98, warm_up), rate(99, warm_up));
            assert!(0.0 < last && last < before && last < 0.05, "{warm_up}");
        }
    }
}

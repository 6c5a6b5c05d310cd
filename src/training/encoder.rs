//! Fine-tuning an encoder end to end on rated sentence pairs: a siamese encoder (Reimers & Gurevych, 2019)
//! whose two sides are CASE embeddings or those of a tri-encoder with a router (CSR), with a projection head
//! on top or without; or a cross-encoder, which reads both sentences at once and gives a score (C-STS).
//!
//! All rows of a sentence pair that follow each other in the data, two conditions or more, or of a set, are in one
//! batch; the [`Loss`] compares them. Texts whose similarities are to stay as they were, and texts that mention a condition or
//! do not, may be mixed in ([`Mixture`]). Gradients go through the same forward pass as everywhere else.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap, hash_map::Entry},
    time::Instant,
};

use candle_core::{D, DType, Device, Tensor, Var};
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
    data::{
        dataset::{Dataset, Row},
        mixture::{Mixture, Source},
    },
    embedding::{
        Case, Encoder, Input, Pool,
        layers::LayerShape,
        plan::{Job, Pass},
        router::{Routed, Texts, TriEncoder},
    },
    error::{Error, Result},
    evaluation::metrics,
    head::{Head, HeadFile, HeadLayer, HeadShape, HeadSpec, MENTIONED, Mentioned},
    lens::Finish,
    text::template::Tokens,
    training::{
        batches::{self, Batch, Loose, Material, Rows},
        early_stopping::{EarlyStopping, Epoch, Keep},
        head::{start, start_beside},
        loss::{self, Compared, Loss},
    },
};

/// Steps from one look of the running average at the weights to the next.
const AVERAGED_EVERY: usize = 8;

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
    /// The share of all steps over which the learning rate rises to its peak; it then falls linearly to 0.
    pub warm_up: f64,
    /// Gradients longer than this, all together, are shortened to it; `None`: they are taken as they are.
    pub clip: Option<f64>,
    /// AdamW's weight decay.
    pub weight_decay: f64,
    /// Probability of dropout after the embeddings and in each sub-layer of the encoder.
    pub dropout: f32,
    /// Sentence pairs of two rows a step: a batch is full once the encoder reads four times as many inputs for it.
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
pub struct Task<'a> {
    pub checkpoint: &'a BertCheckpoint,
    pub device: Device,
    pub case: &'a Case,
    pub train: &'a Mixture,
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
    /// The layers of [`Case::layers`].
    pub join: Vec<HeadLayer>,
    /// What tells whether a text mentions a condition, where that was trained.
    pub mentioned: Option<Mentioned>,
    /// The epoch that all of these are of.
    pub best: Epoch,
    pub history: Vec<Epoch>,
    /// The loss of each step.
    pub losses: Vec<f64>,
    /// How long it took, its validations included; of an interrupted run, all its parts.
    pub seconds: f64,
}

/// What training reads, as the encoder's inputs; none is there twice.
#[derive(Default)]
struct Examples {
    inputs: Vec<Input>,
    /// Rated rows.
    rated: Vec<Example>,
    /// Inputs of texts whose similarities are kept, and what they are compared by: their embeddings before training.
    kept: Vec<usize>,
    before: Option<Tensor>,
    /// Inputs of texts that say something about their condition, or nothing.
    mentioned: Vec<(usize, bool)>,
}

/// One rated row: the inputs of both sentences under their condition; of a cross-encoder, the one that is both.
struct Example {
    sides: [usize; 2],
    rating: f32,
    /// Which sentence pair it has, and which condition.
    asked: [usize; 2],
}

/// What training has changed so far.
struct Changed {
    /// By GGUF name, with low-rank updates added.
    encoder: BTreeMap<String, Vec<f32>>,
    /// Of the head.
    layers: Vec<HeadLayer>,
    /// Of the case.
    join: Vec<HeadLayer>,
    mentioned: Option<Mentioned>,
}

impl Changed {
    fn of(parameters: &[Parameter], adapters: &[Lora], join: &[LayerShape]) -> Result<Self> {
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
        let mentioned = match (weights.remove(MENTIONED[0]), weights.remove(MENTIONED[1])) {
            (Some(weight), Some(bias)) => Some(Mentioned {
                weight: weight.iter().map(|w| w * MENTIONED_SCALE as f32).collect(),
                bias: bias.first().copied().unwrap_or_default(),
                threshold: Mentioned::THRESHOLD,
            }),
            _ => None,
        };
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
            mentioned,
        })
    }
}

/// What the weights of the layer that tells mentions are multiplied with: embeddings have length 1, and the numbers that the optimiser moves are to be
/// as small as the encoder's.
const MENTIONED_SCALE: f64 = 20.0;

/// A run between two steps: all that its next steps follow from.
pub struct Training<'a> {
    pub(super) task: &'a Task<'a>,
    pub(super) encoder: Encoder<Trainer>,
    pub(super) head: Head<Trainer>,
    spec: HeadSpec,
    pub(super) parameters: Vec<Parameter>,
    /// The layer that tells whether a text mentions a condition, where that is trained.
    mentioned: Option<[Var; 2]>,
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
    let examples = run.examples(train)?;
    let validation = run.rated(&task.validation.rows)?;
    let material = examples.material(train);
    let ratings = task.validation.ratings();
    let sequences = 2 * options.batch * if task.case.scores() { 1 } else { 2 };
    let batches = |epoch| material.batches(sequences, options.seed, epoch);
    let of = (1..=options.epochs).map(|epoch| batches(epoch).len()).sum();
    while run.epochs < options.epochs && run.stopping.goes_on() {
        let epoch = run.epochs + 1;
        let batches = batches(epoch);
        for batch in &batches[run.steps.min(batches.len())..] {
            let loss = run.step(&examples, batch, of)?;
            let step = run.losses.len();
            report(Progress::Step { step, of, loss }, &run)?;
        }
        let reached = Epoch {
            epoch,
            loss: run.total / batches.len() as f64,
            validation_spearman: run.with_average(|run| {
                let predicted = run.predict(&validation)?;
                Ok(metrics::spearman(&predicted, &ratings))
            })?,
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
            },
        );
        let mut encoder = Encoder::load(backend, task.checkpoint)?;
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
        let mentioned = match task.train.mentioned.is_empty() {
            true => None,
            false => {
                let vars = [(1, spec.output()), (1, 1)]
                    .map(|shape| Var::zeros(shape, DType::F32, &task.device));
                let [weight, bias] = vars;
                let vars = [weight?, bias?];
                parameters.extend(MENTIONED.iter().zip(&vars).map(|(name, var)| Parameter {
                    parts: vec![((*name).into(), 1)],
                    var: var.clone(),
                }));
                Some(vars)
            }
        };
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
            mentioned,
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
    fn step(&mut self, examples: &Examples, batch: &Batch, of: usize) -> Result<f64> {
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

    /// The loss of a batch, dropout on: one number.
    fn loss(&self, examples: &Examples, batch: &Batch) -> Result<Tensor> {
        let Task { options, .. } = *self.task;
        let mut read = Inputs::default();
        let mut rated = Vec::new();
        let mut groups = Vec::with_capacity(batch.rated.len());
        let mut sides = [Vec::new(), Vec::new()];
        for group in &batch.rated {
            let start = rated.len();
            rated.extend(group.iter().map(|&row| &examples.rated[row]));
            let rows = &rated[start..];
            let mut inputs: Vec<usize> = rows.iter().flat_map(|row| row.sides).collect();
            inputs.sort_unstable();
            inputs.dedup();
            for row in rows {
                for (side, &input) in sides.iter_mut().zip(&row.sides) {
                    side.push(read.row(input));
                }
            }
            groups.push(Compared {
                rows: start..rated.len(),
                asked: rows.iter().map(|row| row.asked).collect(),
                inputs: inputs.len(),
            });
        }
        let kept: Vec<Vec<u32>> = batch
            .kept
            .iter()
            .map(|texts| {
                texts
                    .iter()
                    .map(|&text| read.row(examples.kept[text]))
                    .collect()
            })
            .collect();
        let (mentioning, truths): (Vec<u32>, Vec<bool>) = batch
            .mentioned
            .iter()
            .map(|&item| examples.mentioned[item])
            .map(|(input, truth)| (read.row(input), truth))
            .unzip();
        let inputs = groups.iter().map(|group| group.inputs).sum::<usize>()
            + kept.iter().map(Vec::len).sum::<usize>()
            + truths.len();
        let z = self.embed(read.order.iter().map(|&input| &examples.inputs[input]))?;
        let device = z.device();
        let select = |rows: &[u32]| -> Result<Tensor> {
            Ok(z.index_select(&Tensor::new(rows, device)?, 0)?)
        };
        let mut total = Tensor::zeros((), DType::F32, device)?;
        let mut add = |part: Tensor, weight: f64| -> Result<()> {
            total = (&total + (part * weight)?)?;
            Ok(())
        };
        if !rated.is_empty() {
            let similarity = match self.head.scores() {
                true => select(&sides[0])?.squeeze(1)?,
                false => (select(&sides[0])? * select(&sides[1])?)?.sum(D::Minus1)?,
            };
            let ratings: Vec<f32> = rated.iter().map(|row| row.rating).collect();
            add(
                options.loss.of(&similarity, &ratings, &groups, inputs)?,
                1.0,
            )?;
        }
        if let Some(before) = &examples.before {
            for (rows, texts) in kept.iter().zip(&batch.kept) {
                let texts: Vec<u32> = texts.iter().map(|&text| text as u32).collect();
                let before = before.index_select(&Tensor::new(texts, device)?, 0)?;
                let share = rows.len() as f64 / inputs as f64;
                add(
                    loss::kept(&select(rows)?, &before)?,
                    options.loss.kept * share,
                )?;
            }
        }
        if let (Some([weight, bias]), false) = (&self.mentioned, truths.is_empty()) {
            let logits =
                (select(&mentioning)? * MENTIONED_SCALE)?.matmul(&weight.as_tensor().t()?)?;
            let logits = logits.broadcast_add(bias.as_tensor())?.squeeze(1)?;
            let share = truths.len() as f64 / inputs as f64;
            add(
                loss::mentioned(&logits, &truths)?,
                options.loss.mentioned * share,
            )?;
        }
        Ok(total)
    }

    /// Embeddings of inputs, each of length 1, `[inputs, dims]`, or their scores, `[inputs, 1]`.
    fn embed<'e>(&self, inputs: impl Iterator<Item = &'e Input>) -> Result<Tensor> {
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

    /// What training reads, and where texts whose similarities are to be kept lie before it.
    fn examples(&self, train: &Mixture) -> Result<Examples> {
        let mut reader = Reader::new(&self.encoder, self.task.case);
        let rated = reader.rated(&train.rated.rows)?;
        let (mut kept, mut texts) = (Vec::new(), Vec::new());
        for text in train.kept.iter().flat_map(|source| &source.rows) {
            kept.push(reader.input(&text.text, text.condition.as_deref())?);
            texts.push(self.encoder.single("text", &text.text)?);
        }
        let mentions = train.mentioned.iter().flat_map(|source| &source.rows);
        let mentioned = mentions.map(|mention| {
            let input = reader.input(&mention.text, Some(&mention.condition))?;
            Ok((input, mention.mentioned))
        });
        Ok(Examples {
            mentioned: mentioned.collect::<Result<_>>()?,
            before: match texts.is_empty() {
                true => None,
                false => Some(self.before(&texts)?),
            },
            inputs: reader.inputs,
            rated,
            kept,
        })
    }

    /// Embeddings of texts by themselves by the encoder that training begins with, each of length 1, `[texts, hidden]`.
    fn before(&self, texts: &[Input]) -> Result<Tensor> {
        let options = self.task.options;
        let wrong = |reason: &str| Err(Error::InvalidArgument(reason.into()));
        if !matches!(self.task.case, Case::Joint(joint) if joint.orders.len() == 1) {
            return wrong(
                "similarities are kept where sentence and condition meet in one input, in one order.",
            );
        }
        if !self.head.is_empty() {
            return wrong(
                "similarities are kept without a head on top: leave out --kind and --dims.",
            );
        }
        // As it is trained, but for dropout: products in bf16 take a fraction of the time.
        let device = self.task.device.clone();
        let backend = Trainer::without_gradients(device, options.precision);
        let encoder = Encoder::load(backend, self.task.checkpoint)?;
        let job = Job {
            inputs: texts,
            case: None,
            plain: Pool::All,
            look: false,
        };
        let finish = Finish {
            head: None,
            normalize: true,
        };
        let rows = pollster::block_on(encoder.run(job, finish))?.vectors;
        Ok(Tensor::new(rows, &self.task.device)?)
    }

    /// Rated rows as the encoder's inputs.
    fn rated(&self, rows: &[Row]) -> Result<Examples> {
        let mut reader = Reader::new(&self.encoder, self.task.case);
        Ok(Examples {
            rated: reader.rated(rows)?,
            inputs: reader.inputs,
            ..Examples::default()
        })
    }

    /// Pooled rows of sentences with their conditions in one input each, or of everything at once, and of texts by
    /// themselves, `[inputs, Case::dims]`.
    fn joint<'e>(&self, inputs: impl Iterator<Item = &'e Input>) -> Result<Tensor> {
        let template = self.encoder.template();
        let mut pass = Pass::default();
        for (input, i) in inputs.zip(0..) {
            pass.add(i, input, &template, Some(self.task.case), Pool::All)?;
        }
        let batch = &pass.plan.batch;
        let hidden = match self.task.case.joint_router() {
            Some(router) => {
                let within = self.encoder.within(router, pass.joint(), batch.tokens())?;
                self.encoder.hidden_within(batch, &within)?
            }
            None => self.encoder.hidden(batch)?,
        };
        let backend = &self.encoder.backend;
        let mut order: Vec<usize> = Vec::new();
        let mut parts = Vec::new();
        for part in [&pass.conditional, &pass.plain] {
            if !part.inputs.is_empty() {
                order.extend(&part.inputs);
                parts.push(backend.pool(&hidden, &part.pooling)?);
            }
        }
        let mut place = vec![0u32; order.len()];
        for (row, &input) in (0..).zip(&order) {
            place[input] = row;
        }
        let pooled = Tensor::cat(&parts, 0)?;
        Ok(pooled.index_select(&Tensor::new(place, pooled.device())?, 0)?)
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
    fn predict(&self, examples: &Examples) -> Result<Vec<f64>> {
        let adapters = self.encoder.backend.adapters();
        let shapes = self.task.case.layers(self.encoder.shape.hidden_size);
        let changed = Changed::of(&self.parameters, &adapters, &shapes)?;
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
        encoder.equip(self.task.case, &changed.join, 0.0)?;
        let job = Job {
            inputs: &examples.inputs,
            case: Some(self.task.case),
            plain: Pool::All,
            look: false,
        };
        let finish = Finish {
            head: Some(&head),
            normalize: false,
        };
        let rows = pollster::block_on(encoder.run(job, finish))?;
        let similarity = |row: &Example| {
            let of = |input: usize| rows.vectors[input].as_slice();
            f64::from(self.task.case.similarity(row.sides.map(of)))
        };
        Ok(examples.rated.iter().map(similarity).collect())
    }

    /// What the epoch that is kept left.
    fn finish(self) -> Result<FineTuned> {
        let seconds = self.seconds();
        let stopped = self.stopping.finish()?;
        for (parameter, copy) in self.parameters.iter().zip(&stopped.weights) {
            parameter.var.set(copy)?;
        }
        let adapters = self.encoder.backend.adapters();
        let shapes = self.task.case.layers(self.encoder.shape.hidden_size);
        let changed = Changed::of(&self.parameters, &adapters, &shapes)?;
        Ok(FineTuned {
            weights: changed.encoder,
            adapters,
            layers: changed.layers,
            join: changed.join,
            mentioned: changed.mentioned,
            best: stopped.best,
            history: stopped.history,
            losses: self.losses,
            seconds,
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
fn schedule(step: usize, of: usize, warm_up: f64) -> f64 {
    let warm_up = (warm_up * of as f64).max(1.0);
    let at = step as f64 + 1.0;
    match at < warm_up {
        true => at / warm_up,
        false => (of as f64 - step as f64) / (of as f64 - warm_up + 1.0),
    }
}

/// Makes inputs of texts, each text tokenized once and no input made twice.
struct Reader<'a, 'r> {
    encoder: &'a Encoder<Trainer>,
    case: &'a Case,
    inputs: Vec<Input>,
    sentences: HashMap<&'r str, Tokens>,
    conditions: HashMap<&'r str, Tokens>,
    known: HashMap<(&'r str, Option<&'r str>), usize>,
}

impl<'a, 'r> Reader<'a, 'r> {
    fn new(encoder: &'a Encoder<Trainer>, case: &'a Case) -> Self {
        Self {
            encoder,
            case,
            inputs: Vec::new(),
            sentences: HashMap::new(),
            conditions: HashMap::new(),
            known: HashMap::new(),
        }
    }

    /// Rated rows.
    ///
    /// # Errors
    /// As [`Self::input`].
    fn rated(&mut self, rows: &'r [Row]) -> Result<Vec<Example>> {
        let (mut pairs, mut conditions) = (HashMap::new(), HashMap::new());
        let example = |row: &'r Row| {
            let [s1, s2, condition] = row.texts();
            let next = pairs.len();
            let pair = *pairs.entry((s1, s2)).or_insert(next);
            let next = conditions.len();
            let asked = *conditions.entry(condition).or_insert(next);
            Ok(Example {
                sides: match self.case.scores() {
                    true => [self.together([s1, s2], condition)?; 2],
                    false => [
                        self.input(s1, Some(condition))?,
                        self.input(s2, Some(condition))?,
                    ],
                },
                rating: row.rating,
                asked: [pair, asked],
            })
        };
        rows.iter().map(example).collect()
    }

    /// The input of a text under a condition, or by itself.
    ///
    /// # Errors
    /// What the tokenizer says.
    fn input(&mut self, text: &'r str, condition: Option<&'r str>) -> Result<usize> {
        if let Some(&known) = self.known.get(&(text, condition)) {
            return Ok(known);
        }
        let sentence = self.sentence(text)?;
        let input = match condition {
            None => Input::Single(sentence),
            Some(condition) => Input::Conditional {
                sentence,
                condition: self.condition(condition)?,
            },
        };
        self.inputs.push(input);
        self.known.insert((text, condition), self.inputs.len() - 1);
        Ok(self.inputs.len() - 1)
    }

    /// The input of two sentences and their condition at once.
    ///
    /// # Errors
    /// What the tokenizer says; the condition leaves no room for the sentences.
    fn together(&mut self, sentences: [&'r str; 2], condition: &'r str) -> Result<usize> {
        let [first, second] = [self.sentence(sentences[0])?, self.sentence(sentences[1])?];
        let condition = self.condition(condition)?;
        let template = self.encoder.template();
        let inputs = self.case.inputs(&template, [&first, &second], &condition)?;
        self.inputs.extend(inputs);
        Ok(self.inputs.len() - 1)
    }

    fn sentence(&mut self, text: &'r str) -> Result<Tokens> {
        let template = self.encoder.template();
        Ok(match self.sentences.entry(text) {
            Entry::Occupied(tokens) => tokens.get().clone(),
            Entry::Vacant(place) => place
                .insert(template.sentence(&format!("text \"{text:.60}\""), text)?)
                .clone(),
        })
    }

    fn condition(&mut self, text: &'r str) -> Result<Tokens> {
        let template = self.encoder.template();
        Ok(match self.conditions.entry(text) {
            Entry::Occupied(tokens) => tokens.get().clone(),
            Entry::Vacant(place) => place
                .insert(template.condition(&format!("condition \"{text:.60}\""), text)?)
                .clone(),
        })
    }
}

/// The inputs of a batch, each once.
#[derive(Default)]
struct Inputs {
    order: Vec<usize>,
    rows: HashMap<usize, u32>,
}

impl Inputs {
    /// The row of an input's embedding.
    fn row(&mut self, input: usize) -> u32 {
        let next = self.order.len() as u32;
        *self.rows.entry(input).or_insert_with(|| {
            self.order.push(input);
            next
        })
    }
}

impl Examples {
    /// What epochs draw from.
    fn material(&self, train: &Mixture) -> Material {
        let rated = train.rated.groups.iter().map(|group| {
            let mut conditions: Vec<Vec<(usize, [usize; 2])>> = Vec::new();
            let mut places = HashMap::new();
            for row in group.rows.clone() {
                let example = &self.rated[row];
                let place = *places.entry(example.asked[1]).or_insert(conditions.len());
                if place == conditions.len() {
                    conditions.push(Vec::new());
                }
                conditions[place].push((row, example.sides));
            }
            Rows {
                conditions,
                most: group.draw.conditions,
                times: group.draw.times,
            }
        });
        Material {
            rated: rated.collect(),
            kept: loose(&train.kept),
            mentioned: loose(&train.mentioned),
        }
    }
}

/// The items of sources, which lie one after the other.
fn loose<T>(sources: &[Source<T>]) -> Vec<Loose> {
    let mut start = 0;
    let loose = sources.iter().map(|source| {
        let items = start..start + source.rows.len();
        start = items.end;
        Loose {
            items,
            times: source.times,
        }
    });
    loose.collect()
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

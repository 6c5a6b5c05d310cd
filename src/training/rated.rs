//! What an encoder learns of rated sentence pairs: a siamese encoder (Reimers & Gurevych, 2019), whose two sides are a pair's
//! sentences under its condition, or a cross-encoder, which reads both at once and gives a score (C-STS).
//!
//! All rows of a sentence pair that follow each other in the data, two conditions or more, or of a set, are in one
//! batch; the [`Loss`] compares them. Texts whose similarities are to stay as they were, and texts that mention a condition or
//! do not, may be mixed in ([`Mixture`]).

use std::collections::{BTreeMap, HashMap};

use candle_core::{D, DType, Tensor, Var};

use super::encoder::{self, FineTuned, Objective, Training};
use crate::{
    backend::candle::training::{Trainer, parameters::Parameter},
    checkpoint::sha256,
    data::{
        dataset::{Dataset, Row},
        mixture::{Mixture, Source},
    },
    embedding::{Case, Encoder, Input, plan::Job},
    error::{Error, Result},
    evaluation::metrics,
    head::{HeadSpec, MENTIONED, Mentioned},
    lens::Finish,
    training::{
        batches::{Batch, Loose, Material, Rows},
        early_stopping::Validated,
        inputs::{Inputs, Reader},
        loss::{self, Compared, Loss},
    },
};

/// How to fine-tune on rated pairs.
pub type EncoderOptions = encoder::EncoderOptions<Loss>;
/// Rated pairs that an encoder is trained on.
pub type Task<'a> = encoder::Task<'a, Rated>;

/// What the weights of the layer that tells mentions are multiplied with: embeddings have length 1, and the numbers that the
/// optimiser moves are to be as small as the encoder's.
const MENTIONED_SCALE: f64 = 20.0;

/// Rated pairs, and what is mixed in, as the encoder reads them.
pub struct Rated {
    train: Examples,
    material: Material,
    validation: Examples,
    ratings: Vec<f64>,
}

/// What training reads, as the encoder's inputs; none is there twice.
#[derive(Default)]
struct Examples {
    inputs: Vec<Input>,
    /// Rated rows.
    rated: Vec<Example>,
    /// Inputs of texts whose similarities are kept, and their embeddings by the encoder whose similarities those are.
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

impl Objective for Rated {
    type Train = Mixture;
    type Validation = Dataset;
    type Loss = Loss;
    type Batch = Batch;
    const VALIDATED: fn(f64) -> Validated = Validated::Spearman;

    /// The layer that tells whether a text mentions a condition, where that is trained.
    fn parameters(task: &Task<'_>, spec: &HeadSpec) -> Result<Vec<Parameter>> {
        if task.train.mentioned.is_empty() {
            return Ok(Vec::new());
        }
        let shapes = [(1, spec.output()), (1, 1)];
        let parameter = |(name, shape): (&&str, (usize, usize))| {
            Ok(Parameter {
                parts: vec![((*name).into(), 1)],
                var: Var::zeros(shape, DType::F32, &task.device)?,
            })
        };
        MENTIONED.iter().zip(shapes).map(parameter).collect()
    }

    fn describe(task: &Task<'_>) -> BTreeMap<String, String> {
        let data = |data: &Dataset, others: String| {
            let text = format!("{:?}{:?}{others}", data.rows, data.groups);
            format!("{} rows ({:.8})", data.rows.len(), sha256(text.as_bytes()))
        };
        let general = task.general.map(|general| &general.encoder);
        let others = format!(
            "{:?}{:?}{}",
            task.train.kept,
            task.train.mentioned,
            general.map_or(String::new(), |general| format!("{general:?}"))
        );
        BTreeMap::from([
            ("--data".into(), data(&task.train.rated, others)),
            ("--validation".into(), data(task.validation, String::new())),
            (
                "--loss".into(),
                serde_json::json!(task.options.loss).to_string(),
            ),
        ])
    }

    fn read(run: &Training<'_, Self>) -> Result<Self> {
        let (train, validation) = (&run.task.train.rated, run.task.validation);
        let mut rows = train.rows.iter().chain(&validation.rows);
        if rows.any(|row| row.condition.is_empty()) {
            by_themselves(run, "sentences without a condition are compared")?;
        }
        let train = Examples::mixed(run)?;
        Ok(Self {
            material: train.material(run.task.train),
            train,
            validation: Examples::rated(run, &run.task.validation.rows)?,
            ratings: run.task.validation.ratings(),
        })
    }

    fn batches(&self, run: &Training<'_, Self>, epoch: usize) -> Vec<Batch> {
        let options = run.task.options;
        // A cross-encoder reads one input a row, others two.
        let sequences = 2 * options.batch * if run.task.case.scores() { 1 } else { 2 };
        self.material.batches(sequences, options.seed, epoch)
    }

    fn loss(&self, run: &Training<'_, Self>, batch: &Batch) -> Result<Tensor> {
        let (options, examples) = (run.task.options, &self.train);
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
        let z = run.embed(read.order.iter().map(|&input| &examples.inputs[input]))?;
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
            let similarity = match run.head.scores() {
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
        if let ([weight, bias], false) = (run.beside.as_slice(), truths.is_empty()) {
            let logits =
                (select(&mentioning)? * MENTIONED_SCALE)?.matmul(&weight.var.as_tensor().t()?)?;
            let logits = logits.broadcast_add(bias.var.as_tensor())?.squeeze(1)?;
            let share = truths.len() as f64 / inputs as f64;
            add(
                loss::mentioned(&logits, &truths)?,
                options.loss.mentioned * share,
            )?;
        }
        Ok(total)
    }

    /// Spearman's ρ of similarities and ratings.
    fn validate(&self, run: &Training<'_, Self>) -> Result<f64> {
        let (encoder, head) = run.inferring()?;
        let job = Job {
            inputs: &self.validation.inputs,
            case: Some(run.task.case),
            plain: encoder.shape.plain,
            look: false,
        };
        let finish = Finish {
            head: Some(&head),
            normalize: false,
        };
        let rows = pollster::block_on(encoder.run(job, finish))?;
        let similarity = |row: &Example| {
            let of = |input: usize| rows.vectors[input].as_slice();
            f64::from(run.task.case.similarity(row.sides.map(of)))
        };
        let predicted: Vec<f64> = self.validation.rated.iter().map(similarity).collect();
        Ok(metrics::spearman(&predicted, &self.ratings))
    }
}

/// What a run trained to tell whether a text mentions a condition, if it did.
pub fn mentioned(tuned: &FineTuned) -> Option<Mentioned> {
    let [weight, bias] = MENTIONED.map(|name| tuned.beside.get(name));
    Some(Mentioned {
        weight: weight?.iter().map(|w| w * MENTIONED_SCALE as f32).collect(),
        bias: bias?.first().copied().unwrap_or_default(),
        threshold: Mentioned::THRESHOLD,
    })
}

impl Examples {
    /// What training reads, and where texts whose similarities are to be kept lie.
    fn mixed(run: &Training<'_, Rated>) -> Result<Self> {
        let train = run.task.train;
        let mut reader = Reader::new(&run.encoder, run.task.case);
        let rated = rated(&mut reader, &train.rated.rows, run.task.case)?;
        let (mut kept, mut texts) = (Vec::new(), Vec::new());
        for text in train.kept.iter().flat_map(|source| &source.rows) {
            kept.push(reader.input(&text.text, text.condition.as_deref())?);
            texts.push(text.text.as_str());
        }
        let mentions = train.mentioned.iter().flat_map(|source| &source.rows);
        let mentioned = mentions.map(|mention| {
            let input = reader.input(&mention.text, Some(&mention.condition))?;
            Ok((input, mention.mentioned))
        });
        Ok(Self {
            mentioned: mentioned.collect::<Result<_>>()?,
            before: match texts.is_empty() {
                true => None,
                false => Some(before(run, &texts)?),
            },
            inputs: reader.inputs,
            rated,
            kept,
        })
    }

    /// Rated rows as the encoder's inputs.
    fn rated(run: &Training<'_, Rated>, rows: &[Row]) -> Result<Self> {
        let mut reader = Reader::new(&run.encoder, run.task.case);
        Ok(Self {
            rated: rated(&mut reader, rows, run.task.case)?,
            inputs: reader.inputs,
            ..Self::default()
        })
    }

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

/// Embeddings of texts by themselves by the encoder whose similarities are kept, each of length 1, `[texts, its hidden]`.
fn before(run: &Training<'_, Rated>, texts: &[&str]) -> Result<Tensor> {
    let task = run.task;
    by_themselves(run, "similarities are kept")?;
    // As it is trained, but for dropout: products in bf16 take a fraction of the time.
    let device = task.device.clone();
    let backend = Trainer::without_gradients(device, task.options.precision);
    let encoder = Encoder::load(backend, task.general.unwrap_or(task.checkpoint))?;
    let inputs = texts.iter().map(|text| encoder.single("text", text));
    let job = Job {
        inputs: &inputs.collect::<Result<Vec<_>>>()?,
        case: None,
        plain: encoder.shape.plain,
        look: false,
    };
    let finish = Finish {
        head: None,
        normalize: true,
    };
    let rows = pollster::block_on(encoder.run(job, finish))?.vectors;
    Ok(Tensor::new(rows, &task.device)?)
}

/// Checks that texts by themselves have embeddings as wide as those of sentences under conditions; `what` takes that.
fn by_themselves(run: &Training<'_, Rated>, what: &str) -> Result<()> {
    let wrong = |reason: &str| Err(Error::InvalidArgument(format!("{what} {reason}")));
    if !matches!(run.task.case, Case::Joint(joint) if joint.orders.len() == 1) {
        return wrong("where sentence and condition meet in one input, in one order.");
    }
    match run.head.is_empty() {
        true => Ok(()),
        false => wrong("without a head on top: leave out --kind and --dims."),
    }
}

/// Rated rows.
///
/// # Errors
/// As [`Reader::input`] and [`Reader::together`].
fn rated<'r>(reader: &mut Reader<'_, 'r>, rows: &'r [Row], case: &Case) -> Result<Vec<Example>> {
    let (mut pairs, mut conditions) = (HashMap::new(), HashMap::new());
    let example = |row: &'r Row| {
        let [s1, s2, condition] = row.texts();
        let next = pairs.len();
        let pair = *pairs.entry((s1, s2)).or_insert(next);
        let next = conditions.len();
        let asked = *conditions.entry(condition).or_insert(next);
        Ok(Example {
            sides: match case.scores() {
                true => [reader.together([s1, s2], condition)?; 2],
                false => {
                    let condition = Some(condition).filter(|condition| !condition.is_empty());
                    [reader.input(s1, condition)?, reader.input(s2, condition)?]
                }
            },
            rating: row.rating,
            asked: [pair, asked],
        })
    };
    rows.iter().map(example).collect()
}

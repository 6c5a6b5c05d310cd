//! A training run as bytes, to be resumed to the same result after an interruption.
//!
//! One safetensors file: for parameter N `weight.N`, `first.N` and `second.N` (AdamW's moments) and
//! `average.N` (its running average, where there is one),
//! `best.N` (its weight in the best epoch so far), `losses` `[steps]`, `history` `[epochs, 2]` (loss and
//! what validation gave), `total` and `seconds` `[1]`; in its metadata where the run stands and under which options.
//! Random numbers need no state: see [`super::batches`].

use std::collections::BTreeMap;

use candle_core::Tensor;
use safetensors::Dtype;
use serde::{Deserialize, Serialize};

use super::encoder::{Objective, Task, Training};
use crate::{
    checkpoint::described::{Reader, Writer},
    error::{Error, Result},
    training::early_stopping::Epoch,
};

/// The key of the file's description, a [`Described`].
const KEY: &str = "caselens.training";

#[derive(Serialize, Deserialize)]
struct Described {
    /// What decides the run's result: the option that says it, and its value.
    run: BTreeMap<String, String>,
    /// Epochs that are done, and steps of the next one.
    epochs: usize,
    steps: usize,
    /// From 1; absent before the first.
    best_epoch: Option<usize>,
}

fn bad(reason: impl std::fmt::Display) -> Error {
    Error::CheckpointFormat {
        reason: reason.to_string(),
    }
}

impl<O: Objective> Training<'_, O> {
    /// Everything the rest of the run follows from.
    pub fn save(&self) -> Result<Vec<u8>> {
        let mut file = Writer::default();
        let mut floats = |name: String, numbers: &[f32]| {
            let bytes: &[u8] = bytemuck::cast_slice(numbers);
            file.add(name, Dtype::F32, &[numbers.len()], bytes.to_vec());
        };
        let numbers = |x: &Tensor| -> Result<Vec<f32>> { Ok(x.flatten_all()?.to_vec1()?) };
        let moments = self.optimizer.moments()?;
        for (n, (parameter, [first, second])) in self.parameters.iter().zip(&moments).enumerate() {
            let weight = numbers(&parameter.var.as_detached_tensor())?;
            floats(format!("weight.{n}"), &weight);
            floats(format!("first.{n}"), first);
            floats(format!("second.{n}"), second);
        }
        for (n, average) in self.average.iter().flatten().enumerate() {
            floats(format!("average.{n}"), &numbers(average)?);
        }
        let best = self.stopping.best();
        for (n, copy) in best.iter().flat_map(|(_, all)| all.iter().enumerate()) {
            floats(format!("best.{n}"), &numbers(copy)?);
        }
        let history: Vec<f64> = self
            .stopping
            .history()
            .iter()
            .flat_map(|epoch| [epoch.loss, epoch.validation.value()])
            .collect();
        for (name, numbers) in [
            ("losses", self.losses.as_slice()),
            ("history", &history),
            ("total", &[self.total]),
            ("seconds", &[self.seconds()]),
        ] {
            let bytes: &[u8] = bytemuck::cast_slice(numbers);
            file.add(name, Dtype::F64, &[numbers.len()], bytes.to_vec());
        }
        let described = Described {
            run: describe(self.task)?,
            epochs: self.epochs,
            steps: self.steps,
            best_epoch: best.map(|(epoch, _)| epoch.epoch),
        };
        file.described(KEY, &described).map_err(bad)
    }

    /// Takes up a run where [`Training::save`] left it.
    ///
    /// # Errors
    /// The bytes are no checkpoint, or the run was another: the option that differs is named.
    pub(super) fn restore(&mut self, bytes: &[u8]) -> Result<()> {
        let file = Reader::new(bytes).map_err(bad)?;
        let described: Described = file.description(KEY).map_err(bad)?;
        same_run(&described.run, &describe(self.task)?)?;
        let raw = |name: &str, dtype: Dtype| {
            let view = file.tensor(name).map_err(bad)?;
            match view.dtype() == dtype {
                true => Ok(view.data().to_vec()),
                false => Err(bad(format!("`{name}` is no {dtype:?}"))),
            }
        };
        let floats = |name: String, length: usize| -> Result<Vec<f32>> {
            let numbers: Vec<f32> = bytemuck::pod_collect_to_vec(&raw(&name, Dtype::F32)?);
            if numbers.len() != length {
                return Err(bad(format!("`{name}` has not {length} numbers")));
            }
            match numbers.iter().all(|x| x.is_finite()) {
                true => Ok(numbers),
                false => Err(bad(format!("`{name}` holds numbers that are not finite"))),
            }
        };
        let doubles = |name: &str| -> Result<Vec<f64>> {
            Ok(bytemuck::pod_collect_to_vec(&raw(name, Dtype::F64)?))
        };
        // What an epoch was validated at may be undefined; all else is a number.
        let sound = |name: &str, numbers: &[f64], every: usize| {
            let mut numbers = numbers.iter().step_by(every);
            match numbers.all(|x| x.is_finite()) {
                true => Ok(()),
                false => Err(bad(format!("`{name}` holds numbers that are not finite"))),
            }
        };
        let mut moments = Vec::new();
        let mut best = Vec::new();
        for (n, parameter) in self.parameters.iter().enumerate() {
            let var = &parameter.var;
            let length = var.elem_count();
            let tensor = |name: &str| -> Result<Tensor> {
                let numbers = floats(format!("{name}.{n}"), length)?;
                Ok(Tensor::from_vec(numbers, var.shape(), var.device())?)
            };
            var.set(&tensor("weight")?)?;
            let moment = |name: &str| floats(format!("{name}.{n}"), length);
            moments.push([moment("first")?, moment("second")?]);
            if let Some(average) = &mut self.average {
                average[n] = tensor("average")?;
            }
            if described.best_epoch.is_some() {
                best.push(tensor("best")?);
            }
        }
        let history = doubles("history")?;
        if !history.len().is_multiple_of(2) {
            return Err(bad("`history` has half an epoch"));
        }
        sound("history", &history, 2)?;
        let history: Vec<Epoch> = history
            .chunks_exact(2)
            .enumerate()
            .map(|(i, two)| Epoch {
                epoch: i + 1,
                loss: two[0],
                validation: O::VALIDATED(two[1]),
            })
            .collect();
        let best = match described.best_epoch {
            None => None,
            Some(epoch) => {
                let reached = epoch.checked_sub(1).and_then(|i| history.get(i));
                let reached =
                    reached.ok_or_else(|| bad("its best epoch is not among its epochs"))?;
                Some((*reached, best))
            }
        };
        let figures = |name: &str| -> Result<Vec<f64>> {
            let numbers = doubles(name)?;
            sound(name, &numbers, 1)?;
            Ok(numbers)
        };
        self.losses = figures("losses")?;
        self.total = figures("total")?.first().copied().unwrap_or(0.0);
        self.before = figures("seconds")?.first().copied().unwrap_or(0.0);
        self.epochs = described.epochs;
        self.steps = described.steps;
        self.optimizer.restore(self.losses.len(), moments)?;
        self.stopping.restore(history, best);
        Ok(())
    }

    /// Whether the run stands where it says: `steps` are those of each epoch.
    ///
    /// # Errors
    /// What a checkpoint says of its epochs, its steps and their losses does not fit together.
    pub(super) fn check(&self, steps: &[usize]) -> Result<()> {
        let fits = || {
            let done: usize = steps.get(..self.epochs)?.iter().sum();
            let next = steps.get(self.epochs).copied().unwrap_or(0);
            let sound = self.stopping.history().len() == self.epochs
                && self.steps <= next
                && self.losses.len() == done + self.steps;
            sound.then_some(())
        };
        fits().ok_or_else(|| bad("its epochs, its steps and their losses do not fit together"))
    }
}

/// What decides a run's result, by the option of the companion that says it.
fn describe<O: Objective>(task: &Task<'_, O>) -> Result<BTreeMap<String, String>> {
    let options = serde_json::to_value(task.options).map_err(bad)?;
    let mut run: BTreeMap<String, String> = options
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| *name != "loss")
        .map(|(name, value)| {
            let option = match name.as_str() {
                "head" => "--kind, --hidden, --dims or --head-dropout".into(),
                "seed" => "--seeds".into(),
                name => format!("--{}", name.replace('_', "-")),
            };
            let value = match value.as_str() {
                Some(text) => text.to_owned(),
                None => value.to_string(),
            };
            (option, value)
        })
        .collect();
    let case = serde_json::json!(task.case);
    // Bi-encoders' files leave it out.
    let architecture = case.get("architecture").cloned();
    let architecture = architecture.unwrap_or_else(|| "bi".into());
    run.extend([
        ("--architecture".into(), architecture.to_string()),
        ("--model".into(), task.checkpoint.encoder.sha256.clone()),
        ("--order".into(), case["orders"].to_string()),
        ("--pooling".into(), case["pooling"].to_string()),
        ("--no-subtract".into(), (!task.case.subtracts()).to_string()),
    ]);
    run.extend(O::describe(task));
    Ok(run)
}

fn same_run(was: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Result<()> {
    let of = |run: &BTreeMap<String, String>, option: &str| {
        run.get(option).cloned().unwrap_or_else(|| "nothing".into())
    };
    match was
        .keys()
        .chain(now.keys())
        .find(|option| was.get(*option) != now.get(*option))
    {
        None => Ok(()),
        Some(option) => Err(Error::CheckpointMismatch {
            option: option.clone(),
            was: of(was, option),
            now: of(now, option),
        }),
    }
}

//! AdamW (Loshchilov & Hutter, 2019) with clipping by the gradients' common length.
//!
//! On the CPU a step is one parallel pass over each parameter; candle's own optimiser, which serves other
//! devices, makes ten, and takes a fifth of a training step.

use std::cell::RefCell;

use candle_core::{CpuStorage, InplaceOp1, Layout, Tensor, Var, backprop::GradStore, bail};
use candle_nn::{Optimizer, ParamsAdamW};
use rayon::prelude::*;

use super::{Parameter, fused::numbers};
use crate::error::Result;

/// Numbers that one task updates.
const SPAN: usize = 1 << 14;

/// The optimiser of one training run.
pub struct AdamW {
    vars: Vec<Var>,
    parameters: ParamsAdamW,
    steps: i32,
    kind: Kind,
}

enum Kind {
    /// The moments of each parameter.
    OnePass(Vec<Moments>),
    Composed(candle_nn::AdamW),
}

#[derive(Default)]
struct Moments {
    first: RefCell<Vec<f32>>,
    second: RefCell<Vec<f32>>,
}

impl AdamW {
    /// For these parameters, with β = (0.9, 0.999) and ε = 10⁻⁸.
    pub fn new(parameters: &[Parameter], weight_decay: f64) -> Result<Self> {
        let vars: Vec<Var> = parameters.iter().map(|p| p.var.clone()).collect();
        let parameters = ParamsAdamW {
            weight_decay,
            ..Default::default()
        };
        let kind = match vars.iter().all(|var| var.device().is_cpu()) {
            true => Kind::OnePass(vars.iter().map(|_| Moments::default()).collect()),
            false => Kind::Composed(candle_nn::AdamW::new(vars.clone(), parameters.clone())?),
        };
        Ok(Self {
            vars,
            parameters,
            steps: 0,
            kind,
        })
    }

    /// One step at a learning rate; gradients longer than `clip`, all together, are shortened to it.
    pub fn step(&mut self, gradients: &mut GradStore, rate: f64, clip: f64) -> Result<()> {
        let mut squares = 0.0;
        for var in &self.vars {
            if let Some(g) = gradients.get(var) {
                squares += f64::from(g.sqr()?.sum_all()?.to_scalar::<f32>()?);
            }
        }
        let scale = clip / squares.sqrt().max(clip);
        self.steps += 1;
        match &mut self.kind {
            Kind::OnePass(moments) => {
                for (var, moments) in self.vars.iter().zip(moments) {
                    if let Some(gradient) = gradients.get(var) {
                        var.inplace_op1(&Step {
                            gradient: &gradient.contiguous()?,
                            moments,
                            parameters: &self.parameters,
                            steps: self.steps,
                            rate,
                            scale: scale as f32,
                        })?;
                    }
                }
            }
            Kind::Composed(optimizer) => {
                for var in &self.vars {
                    if let Some(g) = gradients.remove(var) {
                        gradients.insert(var, (g * scale)?);
                    }
                }
                optimizer.set_learning_rate(rate);
                optimizer.step(gradients)?;
            }
        }
        Ok(())
    }
}

struct Step<'a> {
    gradient: &'a Tensor,
    moments: &'a Moments,
    parameters: &'a ParamsAdamW,
    steps: i32,
    rate: f64,
    /// What gradients are multiplied with.
    scale: f32,
}

impl InplaceOp1 for Step<'_> {
    fn name(&self) -> &'static str {
        "adamw"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> candle_core::Result<()> {
        let (gradient, gradient_layout) = self.gradient.storage_and_layout();
        let candle_core::Storage::Cpu(gradient) = &*gradient else {
            bail!("a parameter and its gradient lie on different devices");
        };
        let gradient = numbers(gradient, gradient_layout)?;
        let CpuStorage::F32(weights) = storage else {
            bail!("adamw needs f32");
        };
        let weights = match layout.contiguous_offsets() {
            Some((start, end)) => &mut weights[start..end],
            None => bail!("adamw needs contiguous numbers"),
        };
        let (mut first, mut second) = (
            self.moments.first.borrow_mut(),
            self.moments.second.borrow_mut(),
        );
        first.resize(weights.len(), 0.0);
        second.resize(weights.len(), 0.0);
        let ParamsAdamW {
            beta1,
            beta2,
            eps,
            weight_decay,
            ..
        } = *self.parameters;
        let rate = (self.rate / (1.0 - beta1.powi(self.steps))) as f32;
        let unbias = (1.0 / (1.0 - beta2.powi(self.steps))) as f32;
        let keep = (1.0 - self.rate * weight_decay) as f32;
        let (b1, b2, eps, scale) = (beta1 as f32, beta2 as f32, eps as f32, self.scale);
        weights
            .par_chunks_mut(SPAN)
            .zip(gradient.par_chunks(SPAN))
            .zip(first.par_chunks_mut(SPAN).zip(second.par_chunks_mut(SPAN)))
            .for_each(|((weights, gradient), (first, second))| {
                for ((w, g), (m, v)) in weights
                    .iter_mut()
                    .zip(gradient)
                    .zip(first.iter_mut().zip(second))
                {
                    let g = g * scale;
                    *m = b1 * *m + (1.0 - b1) * g;
                    *v = b2 * *v + (1.0 - b2) * g * g;
                    *w = keep * *w - rate * *m / ((*v * unbias).sqrt() + eps);
                }
            });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    #[test]
    fn equals_candles_own() {
        let start: Vec<f32> = (0..12).map(|i| (i as f32).sin()).collect();
        let parameter = || Parameter {
            parts: vec![("w".into(), 3)],
            var: Var::from_vec(start.clone(), (3, 4), &Device::Cpu).unwrap(),
        };
        let loss = |p: &Parameter| p.var.sqr().unwrap().sum_all().unwrap();
        let (ours, theirs) = (parameter(), parameter());
        let mut optimizer = AdamW::new(std::slice::from_ref(&ours), 0.1).unwrap();
        let parameters = ParamsAdamW {
            lr: 0.01,
            weight_decay: 0.1,
            ..Default::default()
        };
        let mut reference = candle_nn::AdamW::new(vec![theirs.var.clone()], parameters).unwrap();
        for _ in 0..5 {
            let mut gradients = loss(&ours).backward().unwrap();
            optimizer.step(&mut gradients, 0.01, 1e9).unwrap();
            reference.backward_step(&loss(&theirs)).unwrap();
        }
        let numbers = |p: &Parameter| p.var.flatten_all().unwrap().to_vec1::<f32>().unwrap();
        for (a, b) in numbers(&ours).iter().zip(numbers(&theirs)) {
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
    }

    #[test]
    fn long_gradients_are_shortened() {
        // A first step's direction does not depend on the gradient's length, but its moments do.
        let p = Parameter {
            parts: vec![("w".into(), 1)],
            var: Var::from_vec(vec![3f32, 4.0], (1, 2), &Device::Cpu).unwrap(),
        };
        let mut optimizer = AdamW::new(std::slice::from_ref(&p), 0.0).unwrap();
        let mut gradients = (p.var.sqr().unwrap().sum_all().unwrap() * 10.0)
            .unwrap()
            .backward()
            .unwrap();
        optimizer.step(&mut gradients, 0.01, 1.0).unwrap();
        let Kind::OnePass(moments) = &optimizer.kind else {
            panic!("the CPU takes one pass");
        };
        let first = moments[0].first.borrow();
        assert!((first[0] - 0.06).abs() < 1e-6 && (first[1] - 0.08).abs() < 1e-6);
    }
}

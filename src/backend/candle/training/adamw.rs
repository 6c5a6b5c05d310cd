//! AdamW (Loshchilov & Hutter, 2019) with clipping by the gradients' common length.
//!
//! On the CPU a step is one parallel pass over each parameter; made of candle's operations, as on other
//! devices, it makes ten, and takes a fifth of a training step.

use std::cell::RefCell;

use candle_core::{
    CpuStorage, CustomOp1, InplaceOp1, Layout, Shape, Tensor, Var, backprop::GradStore, bail,
};
use rayon::prelude::*;

use super::{
    math::{numbers, sum},
    parameters::Parameter,
};
use crate::error::Result;

/// Numbers that one task updates.
const SPAN: usize = 1 << 14;

/// β₁, β₂ and ε.
const BETA: (f64, f64) = (0.9, 0.999);
const EPSILON: f64 = 1e-8;

/// The optimiser of one training run.
pub struct AdamW {
    vars: Vec<Var>,
    decay: f64,
    steps: i32,
    kind: Kind,
}

enum Kind {
    /// One pass over each parameter, on the CPU.
    OnePass(Vec<Moments>),
    /// candle's operations, on any device.
    Composed(Vec<[Tensor; 2]>),
}

#[derive(Default)]
struct Moments {
    first: RefCell<Vec<f32>>,
    second: RefCell<Vec<f32>>,
}

impl AdamW {
    /// For these parameters, with β = (0.9, 0.999) and ε = 10⁻⁸; weights decay towards zero.
    pub fn new(parameters: &[Parameter], weight_decay: f64) -> Result<Self> {
        let vars: Vec<Var> = parameters.iter().map(|p| p.var.clone()).collect();
        let kind = match vars.iter().all(|var| var.device().is_cpu()) {
            true => Kind::OnePass(vars.iter().map(Moments::zero).collect()),
            false => Kind::composed(&vars)?,
        };
        Ok(Self {
            vars,
            decay: weight_decay,
            steps: 0,
            kind,
        })
    }

    /// The first and the second moment of each parameter, in the parameters' order.
    pub fn moments(&self) -> Result<Vec<[Vec<f32>; 2]>> {
        match &self.kind {
            Kind::OnePass(all) => Ok(all
                .iter()
                .map(|m| [m.first.borrow().clone(), m.second.borrow().clone()])
                .collect()),
            Kind::Composed(all) => all
                .iter()
                .map(|[first, second]| {
                    let numbers = |x: &Tensor| x.flatten_all()?.to_vec1();
                    Ok([numbers(first)?, numbers(second)?])
                })
                .collect(),
        }
    }

    /// Goes on after `steps` steps that left these moments, each as long as its parameter.
    pub fn restore(&mut self, steps: usize, moments: Vec<[Vec<f32>; 2]>) -> Result<()> {
        self.steps = i32::try_from(steps).unwrap_or(i32::MAX);
        match &mut self.kind {
            Kind::OnePass(all) => {
                for (kept, [first, second]) in all.iter_mut().zip(moments) {
                    *kept.first.get_mut() = first;
                    *kept.second.get_mut() = second;
                }
            }
            Kind::Composed(all) => {
                for ((kept, var), numbers) in all.iter_mut().zip(&self.vars).zip(moments) {
                    for (kept, numbers) in kept.iter_mut().zip(numbers) {
                        *kept = Tensor::from_vec(numbers, var.shape(), var.device())?;
                    }
                }
            }
        }
        Ok(())
    }

    /// One step at a learning rate; gradients longer than `clip`, all together, are shortened to it.
    pub fn step(&mut self, gradients: &GradStore, rate: f64, clip: Option<f64>) -> Result<()> {
        let scale = match clip {
            Some(clip) => clip / self.length(gradients)?.max(clip),
            None => 1.0,
        };
        self.steps += 1;
        let step = Step {
            rate: rate / (1.0 - BETA.0.powi(self.steps)),
            unbias: 1.0 / (1.0 - BETA.1.powi(self.steps)),
            keep: 1.0 - rate * self.decay,
            scale,
        };
        match &mut self.kind {
            Kind::OnePass(moments) => {
                for (var, moments) in self.vars.iter().zip(moments) {
                    if let Some(gradient) = gradients.get(var) {
                        var.inplace_op1(&OnePass {
                            gradient: &gradient.contiguous()?,
                            moments,
                            step: &step,
                        })?;
                    }
                }
            }
            Kind::Composed(moments) => {
                for (var, moments) in self.vars.iter().zip(moments) {
                    if let Some(gradient) = gradients.get(var) {
                        step.composed(var, gradient, moments)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The length of all gradients together.
    fn length(&self, gradients: &GradStore) -> Result<f64> {
        let mut squares = 0.0;
        for var in &self.vars {
            if let Some(g) = gradients.get(var) {
                let g = g.detach();
                let sum = match g.device().is_cpu() {
                    true => g.contiguous()?.apply_op1_no_bwd(&Squares)?,
                    false => g.sqr()?.sum_all()?,
                };
                squares += f64::from(sum.to_scalar::<f32>()?);
            }
        }
        Ok(squares.sqrt())
    }
}

impl Moments {
    fn zero(var: &Var) -> Self {
        let zeros = || RefCell::new(vec![0.0; var.elem_count()]);
        Self {
            first: zeros(),
            second: zeros(),
        }
    }
}

impl Kind {
    fn composed(vars: &[Var]) -> Result<Self> {
        let zeros = |var: &Var| Ok([var.zeros_like()?, var.zeros_like()?]);
        Ok(Self::Composed(
            vars.iter().map(zeros).collect::<Result<_>>()?,
        ))
    }
}

/// The numbers of one step: m ← β₁m + (1 − β₁)g, v ← β₂v + (1 − β₂)g², w ← keep·w − rate·m/(√(unbias·v) + ε).
struct Step {
    /// The learning rate over 1 − β₁ᵗ.
    rate: f64,
    /// 1/(1 − β₂ᵗ).
    unbias: f64,
    /// What is left of a weight after its decay.
    keep: f64,
    /// What gradients are multiplied with.
    scale: f64,
}

impl Step {
    fn composed(&self, var: &Var, gradient: &Tensor, moments: &mut [Tensor; 2]) -> Result<()> {
        let g = (gradient.detach() * self.scale)?;
        let [first, second] = moments;
        *first = ((&*first * BETA.0)? + (&g * (1.0 - BETA.0))?)?;
        *second = ((&*second * BETA.1)? + (g.sqr()? * (1.0 - BETA.1))?)?;
        let length = ((&*second * self.unbias)?.sqrt()? + EPSILON)?;
        let change = ((&*first * self.rate)? / length)?;
        var.set(&((var.as_detached_tensor() * self.keep)? - change)?)?;
        Ok(())
    }
}

/// The sum of squares, in sums of [`SPAN`] numbers.
struct Squares;

impl CustomOp1 for Squares {
    fn name(&self) -> &'static str {
        "sum-of-squares"
    }

    fn cpu_fwd(
        &self,
        storage: &CpuStorage,
        layout: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        let sums: Vec<f32> = numbers(storage, layout)?
            .par_chunks(SPAN)
            .map(|span| sum(span, span, |a, b| a * b))
            .collect();
        let sum = sums.into_iter().map(f64::from).sum::<f64>() as f32;
        Ok((CpuStorage::F32(vec![sum]), ().into()))
    }
}

struct OnePass<'a> {
    gradient: &'a Tensor,
    moments: &'a Moments,
    step: &'a Step,
}

impl InplaceOp1 for OnePass<'_> {
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
        let (b1, b2, eps) = (BETA.0 as f32, BETA.1 as f32, EPSILON as f32);
        let (rate, unbias) = (self.step.rate as f32, self.step.unbias as f32);
        let (keep, scale) = (self.step.keep as f32, self.step.scale as f32);
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
    use candle_nn::{Optimizer, ParamsAdamW};

    use super::*;

    #[test]
    fn equals_candles_own() {
        let start: Vec<f32> = (0..12).map(|i| (i as f32).sin()).collect();
        let parameter = || Parameter {
            parts: vec![("w".into(), 3)],
            var: Var::from_vec(start.clone(), (3, 4), &Device::Cpu).unwrap(),
        };
        let loss = |p: &Parameter| p.var.sqr().unwrap().sum_all().unwrap();
        let (one_pass, composed, theirs) = (parameter(), parameter(), parameter());
        let optimizer = |p: &Parameter| AdamW::new(std::slice::from_ref(p), 0.1).unwrap();
        let (mut first, mut second) = (optimizer(&one_pass), optimizer(&composed));
        second.kind = Kind::composed(&second.vars).unwrap();
        let parameters = ParamsAdamW {
            lr: 0.01,
            weight_decay: 0.1,
            ..Default::default()
        };
        let mut reference = candle_nn::AdamW::new(vec![theirs.var.clone()], parameters).unwrap();
        for step in 0..5 {
            for (p, ours) in [(&one_pass, &mut first), (&composed, &mut second)] {
                let gradients = loss(p).backward().unwrap();
                // Interrupted in between, and taken up by another.
                if step == 3 {
                    let moments = ours.moments().unwrap();
                    let mut other = optimizer(p);
                    if matches!(ours.kind, Kind::Composed(_)) {
                        other.kind = Kind::composed(&other.vars).unwrap();
                    }
                    other.restore(3, moments).unwrap();
                    *ours = other;
                }
                ours.step(&gradients, 0.01, None).unwrap();
            }
            reference.backward_step(&loss(&theirs)).unwrap();
        }
        let numbers = |p: &Parameter| p.var.flatten_all().unwrap().to_vec1::<f32>().unwrap();
        for ours in [&one_pass, &composed] {
            for (a, b) in numbers(ours).iter().zip(numbers(&theirs)) {
                assert!((a - b).abs() < 1e-6, "{a} {b}");
            }
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
        let gradients = (p.var.sqr().unwrap().sum_all().unwrap() * 10.0)
            .unwrap()
            .backward()
            .unwrap();
        optimizer.step(&gradients, 0.01, Some(1.0)).unwrap();
        let Kind::OnePass(moments) = &optimizer.kind else {
            panic!("the CPU takes one pass");
        };
        let first = moments[0].first.borrow();
        assert!((first[0] - 0.06).abs() < 1e-6 && (first[1] - 0.08).abs() < 1e-6);
    }
}

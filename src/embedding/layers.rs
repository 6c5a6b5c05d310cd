//! Layers that are trained beside an encoder, because its [`Case`](super::Case) needs them: a heavy router's matrices, and what
//! joins sentence and condition that were encoded apart. A head's file holds their numbers.

use std::borrow::Cow;

use super::digest::fnv;
use crate::{
    backend::Backend,
    checkpoint::weights::{Dtype, Role, WeightTensor},
    error::{Error, Result},
};

/// A linear layer before it has numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerShape {
    /// What its tensors' names begin with: `NAME.weight`, `NAME.bias`.
    pub name: &'static str,
    /// Width of what it takes.
    pub inputs: usize,
    /// Width of what it gives.
    pub outputs: usize,
    /// Whether it adds a bias.
    pub bias: bool,
}

impl LayerShape {
    /// The name of its weight, `[outputs, inputs]`.
    pub fn weight(&self) -> String {
        format!("{}.weight", self.name)
    }

    /// The name of its bias, `[outputs]`, where it has one.
    pub fn bias(&self) -> Option<String> {
        self.bias.then(|| format!("{}.bias", self.name))
    }

    /// How many numbers it has.
    pub fn parameters(&self) -> usize {
        self.outputs * (self.inputs + usize::from(self.bias))
    }

    /// A name, a shape and numbers for each of its tensors, the weight's first.
    pub(crate) fn tensors<'n>(
        &self,
        numbers: &'n LinearNumbers,
    ) -> impl Iterator<Item = (String, Vec<usize>, &'n [f32])> {
        let weight = (
            self.weight(),
            vec![self.outputs, self.inputs],
            &*numbers.weight,
        );
        let bias = self
            .bias()
            .map(|name| (name, vec![self.outputs], &*numbers.bias));
        std::iter::once(weight).chain(bias)
    }
}

/// Numbers of a linear layer: weight `[out, in]` row by row, bias `[out]`; no bias where the layer has none.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearNumbers {
    /// `[out, in]`
    pub weight: Vec<f32>,
    /// `[out]`
    pub bias: Vec<f32>,
}

/// The layers of a case on a backend.
pub struct Layers<B: Backend> {
    shapes: Vec<LayerShape>,
    layers: Vec<B::Linear>,
    /// What tells their numbers apart from others; 0 where there are none.
    digest: u64,
    /// Dropout before each of them while training.
    pub dropout: f32,
}

impl<B: Backend> Layers<B> {
    /// None at all.
    pub fn none() -> Self {
        Self {
            shapes: Vec::new(),
            layers: Vec::new(),
            digest: 0,
            dropout: 0.0,
        }
    }

    /// Copies layers to a backend.
    ///
    /// # Errors
    /// The numbers are not as many as the shapes ask for, or what the device says.
    pub fn load(
        backend: &B,
        shapes: Vec<LayerShape>,
        numbers: &[LinearNumbers],
        dropout: f32,
    ) -> Result<Self> {
        let fit = |(shape, numbers): (&LayerShape, &LinearNumbers)| {
            numbers.weight.len() == shape.inputs * shape.outputs
                && numbers.bias.len() == if shape.bias { shape.outputs } else { 0 }
        };
        if numbers.len() != shapes.len() || !shapes.iter().zip(numbers).all(fit) {
            return Err(Error::InvalidArgument(
                "the layers that join sentence and condition are not those of these settings."
                    .into(),
            ));
        }
        let layers = shapes.iter().zip(numbers).map(|(shape, numbers)| {
            let tensor = |name, shape, role, numbers| WeightTensor {
                name,
                role,
                shape,
                dtype: Dtype::F32,
                data: Cow::Borrowed(bytemuck::cast_slice(numbers)),
            };
            let none = vec![0.0; shape.outputs];
            let bias = match shape.bias() {
                Some(name) => tensor(name, vec![shape.outputs], Some(Role::Head), &*numbers.bias),
                // What has no role is never trained.
                None => tensor(String::new(), vec![shape.outputs], None, &*none),
            };
            let weight = tensor(
                shape.weight(),
                vec![shape.outputs, shape.inputs],
                Some(Role::Head),
                &*numbers.weight,
            );
            backend.load_linear(vec![(weight, bias)])
        });
        let all = numbers.iter().flat_map(|n| n.weight.iter().chain(&n.bias));
        Ok(Self {
            layers: layers.collect::<Result<_>>()?,
            digest: match shapes.is_empty() {
                true => 0,
                false => fnv(all.flat_map(|x| x.to_le_bytes())),
            },
            shapes,
            dropout,
        })
    }

    /// What tells their numbers apart from others; 0 where there are none.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// The layers, where they are those of `shapes`.
    pub fn of(&self, shapes: &[LayerShape]) -> Option<&[B::Linear]> {
        (self.shapes == shapes).then_some(&self.layers)
    }
}

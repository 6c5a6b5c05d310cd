//! Training a head on cached embeddings (CASE, supervised projection).
//!
//! The loss is the squared error between cos(g(e₁), g(e₂)) and (rating − 1) / 4. Both embeddings go
//! through one head (siamese); Adam; the head of the best validation epoch is kept.

use std::time::{Duration, Instant};

use candle_core::{D, DType, Tensor};
use candle_nn::{AdamW, Optimizer, ParamsAdamW};
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::SliceRandom};

use crate::{
    backend::{
        Backend,
        candle::{Candle, training::Trainer},
    },
    embedding::layers::LayerShape,
    error::Result,
    evaluation::metrics,
    head::{Head, HeadFile, HeadLayer, HeadSpec},
    training::early_stopping::{EarlyStopping, Epoch, Keep, Validated},
};

/// Two embeddings (rows of the matrix trained on) and the rating 1–5 of their similarity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Example {
    pub first: u32,
    pub second: u32,
    pub rating: f32,
}

/// How to train.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct HeadOptions {
    /// Adam's learning rate.
    pub learning_rate: f64,
    /// Weight decay (AdamW); 0 is plain Adam.
    pub weight_decay: f64,
    /// Examples a step.
    pub batch: usize,
    /// Most epochs.
    pub epochs: usize,
    pub keep: Keep,
    pub seed: u64,
}

/// A trained head.
pub struct Trained {
    pub layers: Vec<HeadLayer>,
    /// The epoch whose head this is.
    pub best: Epoch,
    pub history: Vec<Epoch>,
    /// The loss of each step.
    pub losses: Vec<f64>,
    /// How long it took, its validations included.
    pub seconds: f64,
}

/// Trains a head of `spec`'s shape. `embeddings` is `[n, spec.dims[0]]`; `report` is called after each
/// epoch. The same seed gives the same head.
pub fn train(
    embeddings: &Tensor,
    spec: &HeadSpec,
    train: &[Example],
    validation: &[Example],
    options: &HeadOptions,
    mut report: impl FnMut(&Epoch),
) -> Result<Trained> {
    let report = |epoch: &Epoch, _: &HeadFile| {
        report(epoch);
        Ok(())
    };
    watched(embeddings, spec, train, validation, options, report)
}

/// As [`train`]; `watch` sees the head of each epoch too, without dropout. What it does takes no time of
/// [`Trained::seconds`].
///
/// # Errors
/// What `watch` says.
pub fn watched(
    embeddings: &Tensor,
    spec: &HeadSpec,
    train: &[Example],
    validation: &[Example],
    options: &HeadOptions,
    mut watch: impl FnMut(&Epoch, &HeadFile) -> Result<()>,
) -> Result<Trained> {
    let (began, mut watching) = (Instant::now(), Duration::ZERO);
    let device = embeddings.device();
    let mut rng = StdRng::seed_from_u64(options.seed);
    let mut file = HeadFile {
        join: Vec::new(),
        mentioned: None,
        layers: start(&spec.dims, &mut rng),
        spec: spec.clone(),
        calibration: None,
        condition_only: None,
    };
    let trainer = Trainer::of_head(device.clone(), rng.random());
    let head = Head::load(&trainer, &file)?;
    // A weight and a bias of each layer.
    let vars: Vec<_> = trainer.parameters().into_iter().map(|p| p.var).collect();
    let mut optimizer = AdamW::new(
        vars.clone(),
        ParamsAdamW {
            lr: options.learning_rate,
            weight_decay: options.weight_decay,
            ..Default::default()
        },
    )?;
    let mut order: Vec<&Example> = train.iter().collect();
    let mut stopping = EarlyStopping::new(options.keep);
    let mut losses = Vec::new();
    for epoch in 1..=options.epochs {
        order.shuffle(&mut rng);
        let before = losses.len();
        for step in order.chunks(options.batch) {
            let cosine = similarities(&trainer, &head, embeddings, step)?;
            let target: Vec<f32> = step.iter().map(|e| (e.rating - 1.0) / 4.0).collect();
            let target = Tensor::from_vec(target, step.len(), device)?;
            let loss = candle_nn::loss::mse(&cosine, &target)?;
            optimizer.backward_step(&loss)?;
            losses.push(f64::from(loss.to_scalar::<f32>()?));
        }
        for (layer, vars) in file.layers.iter_mut().zip(vars.chunks_exact(2)) {
            layer.weight = vars[0].flatten_all()?.to_vec1()?;
            layer.bias = vars[1].to_vec1()?;
        }
        let predicted = predict(embeddings, &file, validation)?;
        let ratings: Vec<f64> = validation.iter().map(|e| f64::from(e.rating)).collect();
        let reached = Epoch {
            epoch,
            loss: losses[before..].iter().sum::<f64>() / (losses.len() - before).max(1) as f64,
            validation: Validated::Spearman(metrics::spearman(&predicted, &ratings)),
        };
        let pause = Instant::now();
        watch(&reached, &file)?;
        watching += pause.elapsed();
        if !stopping.go_on(reached, || Ok(file.layers.clone()))? {
            break;
        }
    }
    let stopped = stopping.finish()?;
    Ok(Trained {
        layers: stopped.weights,
        best: stopped.best,
        history: stopped.history,
        losses,
        seconds: (began.elapsed() - watching).as_secs_f64(),
    })
}

/// Similarities of `pairs` (rows of `embeddings`) under a head.
pub fn predict(embeddings: &Tensor, file: &HeadFile, pairs: &[Example]) -> Result<Vec<f64>> {
    let backend = Candle::new(embeddings.device().clone());
    let head = Head::load(&backend, file)?;
    let mut predicted = Vec::with_capacity(pairs.len());
    for part in pairs.iter().collect::<Vec<_>>().chunks(2048) {
        let cosine = similarities(&backend, &head, embeddings, part)?;
        predicted.extend(cosine.to_dtype(DType::F64)?.to_vec1::<f64>()?);
    }
    Ok(predicted)
}

/// cos(g(e₁), g(e₂)) of each example.
fn similarities<B: Backend<Tensor = Tensor>>(
    backend: &B,
    head: &Head<B>,
    embeddings: &Tensor,
    examples: &[&Example],
) -> Result<Tensor> {
    let device = embeddings.device();
    let rows: Vec<u32> = examples
        .iter()
        .map(|e| e.first)
        .chain(examples.iter().map(|e| e.second))
        .collect();
    let e = embeddings.index_select(&Tensor::new(rows, device)?, 0)?;
    let z = backend.normalize(&head.forward(backend, &e)?)?;
    let n = examples.len();
    Ok((z.narrow(0, 0, n)? * z.narrow(0, n, n)?)?.sum(D::Minus1)?)
}

/// Layers between these widths, uniform in ±1/√in as PyTorch's `nn.Linear` starts.
pub(crate) fn start(dims: &[usize], rng: &mut StdRng) -> Vec<HeadLayer> {
    dims.windows(2)
        .map(|d| start_layer(d[0], d[1], d[1], rng))
        .collect()
}

/// The layers of a case, which begin as a head's do.
pub(crate) fn start_beside(shapes: &[LayerShape], rng: &mut StdRng) -> Vec<HeadLayer> {
    let layer = |shape: &LayerShape| {
        let biases = if shape.bias { shape.outputs } else { 0 };
        start_layer(shape.inputs, shape.outputs, biases, rng)
    };
    shapes.iter().map(layer).collect()
}

fn start_layer(inputs: usize, outputs: usize, biases: usize, rng: &mut StdRng) -> HeadLayer {
    let bound = 1.0 / (inputs as f32).sqrt();
    let mut uniform = |n: usize| (0..n).map(|_| rng.random_range(-bound..bound)).collect();
    HeadLayer {
        weight: uniform(inputs * outputs),
        bias: uniform(biases),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{backend::Activation, checkpoint::EncoderId, embedding::Case};

    /// Vectors whose first half says how alike they are and whose second half is noise.
    fn toy() -> (Tensor, Vec<Example>) {
        let mut rng = StdRng::seed_from_u64(3);
        let (n, dims) = (600, 16);
        let mut rows = Vec::new();
        let mut examples = Vec::new();
        for i in 0..n / 2 {
            let rating = (i % 5 + 1) as f32;
            let angle = (1.0 - (rating - 1.0) / 4.0) * std::f32::consts::FRAC_PI_2;
            for a in [0.0, angle] {
                rows.extend([a.cos(), a.sin()]);
                rows.extend((2..dims).map(|_| rng.random_range(-1.0..1.0f32)));
            }
            examples.push(Example {
                first: 2 * i,
                second: 2 * i + 1,
                rating,
            });
        }
        (
            Tensor::from_vec(rows, (n as usize, dims), &candle_core::Device::Cpu).unwrap(),
            examples,
        )
    }

    fn spec(dims: Vec<usize>, activation: Activation) -> HeadSpec {
        HeadSpec {
            encoder: EncoderId {
                id: "toy".into(),
                sha256: String::new(),
            },
            case: Case::default(),
            dims,
            activation,
            dropout: 0.1,
            languages: None,
            training: serde_json::Value::Null,
        }
    }

    fn options(seed: u64) -> HeadOptions {
        HeadOptions {
            learning_rate: 1e-2,
            weight_decay: 0.0,
            batch: 64,
            epochs: 30,
            keep: Keep::Best { patience: 30 },
            seed,
        }
    }

    #[test]
    fn a_head_learns_which_directions_count() {
        let (embeddings, examples) = toy();
        let (train_set, validation) = examples.split_at(200);
        for spec in [
            spec(vec![16, 8], Activation::None),
            spec(vec![16, 32, 8], Activation::Relu),
            spec(vec![16, 16], Activation::Gelu),
        ] {
            let trained = train(
                &embeddings,
                &spec,
                train_set,
                validation,
                &options(1),
                |_| {},
            )
            .unwrap();
            assert!(trained.best.validation.value() > 0.8, "{:?}", trained.best);
            let file = HeadFile {
                join: Vec::new(),
                mentioned: None,
                spec,
                layers: trained.layers,
                calibration: None,
                condition_only: None,
            };
            let again = predict(&embeddings, &file, validation).unwrap();
            let ratings: Vec<f64> = validation.iter().map(|e| f64::from(e.rating)).collect();
            let spearman = metrics::spearman(&again, &ratings);
            assert!((spearman - trained.best.validation.value()).abs() < 1e-6);
        }
    }

    #[test]
    fn a_seed_decides_everything() {
        let (embeddings, examples) = toy();
        let run = |seed| {
            let options = HeadOptions {
                epochs: 2,
                ..options(seed)
            };
            train(
                &embeddings,
                &spec(vec![16, 8], Activation::Relu),
                &examples,
                &examples,
                &options,
                |_| {},
            )
            .unwrap()
            .layers
        };
        assert_eq!(run(5), run(5));
        assert_ne!(run(5), run(6));
    }
}

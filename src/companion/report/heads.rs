//! The two heads of the paper, trained here on the frozen base.

use super::{study::Study, vectors::Vectors};
use crate::{
    backend::Activation,
    companion::output::progress,
    embedding::{Case, Joint},
    error::Result,
    head::{HeadFile, HeadSpec},
    training::{
        early_stopping::Keep,
        head::{Example, HeadOptions, train},
    },
};

const DIMS: usize = 256;
const HIDDEN: usize = 1024;
const EPOCHS: usize = 60;

/// Trains the linear and the non-linear head on the training data (a tenth of its sentence pairs finds
/// the best epoch) and adds both as judges. The settings are the defaults of `caselens train-head`.
pub fn train_both(study: &mut Study<'_>) -> Result<()> {
    let (embedded, examples) = &study.training;
    let held = study.train.held_out();
    let part = |kept: bool| -> Vec<Example> {
        let chosen = examples.iter().zip(&held).filter(|&(_, &h)| h == kept);
        chosen.map(|(&example, _)| example).collect()
    };
    let (train_set, validation) = (part(false), part(true));
    let embeddings = embedded.tensor()?;
    let width = embedded.dims;
    let joint = Joint::default();
    let input = study.base.case(&joint);
    let case = Case::Joint(joint);
    let shapes = [
        ("linear", vec![width, DIMS], Activation::None, 0.20),
        (
            "non-linear",
            vec![width, HIDDEN, DIMS],
            Activation::Relu,
            0.15,
        ),
    ];
    let mut heads: Vec<(String, Vectors)> = Vec::new();
    for (name, dims, activation, dropout) in shapes {
        let spec = HeadSpec {
            encoder: study.base_id.clone(),
            case: case.clone(),
            dims,
            activation,
            dropout,
            languages: None,
            training: serde_json::Value::Null,
        };
        let options = HeadOptions {
            learning_rate: 1e-3,
            weight_decay: 0.0,
            batch: 512,
            epochs: EPOCHS,
            keep: Keep::Best { patience: 10 },
            seed: 0,
        };
        let bar = progress(&format!("{name} head"), EPOCHS as u64);
        let trained = train(
            &embeddings,
            &spec,
            &train_set,
            &validation,
            &options,
            |_| bar.inc(1),
        )?;
        bar.finish_and_clear();
        let file = HeadFile {
            join: Vec::new(),
            mentioned: None,
            calibration: None,
            spec,
            layers: trained.layers,
            condition_only: None,
        };
        heads.push((
            format!("{}, {name} head", study.base_name),
            input.project(&file)?,
        ));
    }
    for (name, vectors) in heads {
        study.judge(name, vectors, None, false);
    }
    Ok(())
}

//! Rounding an encoder to four bits so that its embeddings change least.
//!
//! Texts go through two copies of the encoder side by side, layer after layer: as it is, and with all that comes before
//! rounded already. What each matrix is given in both says how it is best rounded: see [`crate::quantization::gptq`].

use std::{borrow::Cow, collections::BTreeMap};

use candle_core::Tensor;

use crate::{
    backend::candle::{Candle, DeviceBatch},
    checkpoint::{
        BertCheckpoint,
        gguf::write::{quantize, tensor_shapes},
        weights::{BLOCK, Dtype, WeightTensor},
    },
    data::dataset::Row,
    embedding::{Case, Encoder, Input, Pool, plan::Pass},
    error::{Error, Result},
    model::bert::{Bert, Layer, Seen},
    quantization::gptq::Moments,
    text::Batch,
};

/// What is given to which matrices of a layer, in the order of the forward pass.
const MATRICES: [(Seen, &[&str]); 4] = [
    (Seen::Input, &["attn_q", "attn_k", "attn_v"]),
    (Seen::Attended, &["attn_output"]),
    (Seen::Middle, &["ffn_up"]),
    (Seen::Wide, &["ffn_down"]),
];

/// A batch of texts, and the hidden states that it has reached.
struct Reached {
    batch: DeviceBatch,
    hidden: Tensor,
}

/// An encoder's tables and matrices in q4_0, by GGUF name, rounded for rows like these: `most` of them, evenly spaced, one
/// sentence of each. `report` is told of each matrix that is done, and how many there are.
///
/// # Errors
/// There are no rows, a text is none, the encoder's numbers on them are not finite, or it follows instructions.
pub fn calibrated(
    checkpoint: &BertCheckpoint,
    case: &Case,
    rows: &[Row],
    most: usize,
    mut report: impl FnMut(usize, usize),
) -> Result<BTreeMap<String, Vec<u8>>> {
    let encoder = Encoder::load(Candle::cpu(), checkpoint)?;
    let (backend, (exact, config)) = (&encoder.backend, encoder.bert()?);
    let batches = batches(&encoder, case, rows, most)?;
    let shapes: BTreeMap<_, _> = tensor_shapes(config).into_iter().collect();
    let matrix = |layer: usize, name: &str| format!("blk.{layer}.{name}.weight");
    let q4_0 = Dtype::Q4_0;

    let mut blocks = BTreeMap::new();
    let table = "token_embd.weight";
    let written = quantize(&checkpoint.weights, config, table, &shapes[table], q4_0)?;
    if written.dtype == q4_0 {
        blocks.insert(table.to_owned(), written.data.into_owned());
    }
    let start = |model: &Bert<Candle>| -> Result<Vec<Reached>> {
        let reached = batches.iter().map(|batch| {
            let (batch, hidden) = model.embed(backend, batch)?;
            Ok(Reached { batch, hidden })
        });
        reached.collect()
    };
    let mut rounded = load(backend, checkpoint, &blocks)?;
    let (mut as_it_is, mut after_rounding) = (start(exact)?, start(&rounded)?);
    let (mut done, of) = (
        0,
        exact.layers().len() * MATRICES.iter().map(|m| m.1.len()).sum::<usize>(),
    );
    for (layer, whole) in exact.layers().iter().enumerate() {
        for (seen, names) in MATRICES {
            let width = shapes[&matrix(layer, names[0])][1];
            if !width.is_multiple_of(BLOCK) {
                continue; // written as f16
            }
            let mut moments = Moments::new(width);
            for (x, y) in as_it_is.iter().zip(&after_rounding) {
                let x = look(backend, whole, x, seen)?;
                let y = look(backend, &rounded.layers()[layer], y, seen)?;
                let sums = |a: &Tensor| -> Result<Vec<f32>> {
                    Ok(a.t()?.matmul(&y)?.flatten_all()?.to_vec1()?)
                };
                moments.add(&sums(&y)?, &sums(&(x - &y)?)?);
            }
            let rounding = moments.rounding()?;
            for name in names {
                let name = matrix(layer, name);
                let numbers = checkpoint.weights.get(&name, &shapes[&name])?.to_f32();
                blocks.insert(name, rounding.q4_0(&numbers));
                done += 1;
                report(done, of);
            }
            rounded = load(backend, checkpoint, &blocks)?;
        }
        go_on(backend, whole, &mut as_it_is)?;
        go_on(backend, &rounded.layers()[layer], &mut after_rounding)?;
    }
    Ok(blocks)
}

/// The encoder with these matrices in place of its own.
fn load(
    backend: &Candle,
    checkpoint: &BertCheckpoint,
    blocks: &BTreeMap<String, Vec<u8>>,
) -> Result<Bert<Candle>> {
    Bert::load(backend, &checkpoint.config, |name, shape| {
        match blocks.get(name) {
            None => checkpoint.weights.get(name, shape),
            Some(blocks) => Ok(WeightTensor {
                name: name.into(),
                role: None,
                shape: shape.to_vec(),
                dtype: Dtype::Q4_0,
                data: Cow::Borrowed(blocks),
            }),
        }
    })
}

/// What a layer computes at one place.
fn look(backend: &Candle, layer: &Layer<Candle>, at: &Reached, place: Seen) -> Result<Tensor> {
    let mut found = at.hidden.clone();
    if place == Seen::Input {
        return Ok(found);
    }
    layer.forward_watched(backend, &at.hidden, &at.batch, |seen, x| {
        if seen == place {
            found = x.clone();
        }
        Ok(())
    })?;
    Ok(found)
}

fn go_on(backend: &Candle, layer: &Layer<Candle>, all: &mut [Reached]) -> Result<()> {
    for at in all {
        at.hidden = layer.forward(backend, &at.hidden, &at.batch)?;
    }
    Ok(())
}

/// The encoder's inputs for these rows.
fn batches(
    encoder: &Encoder<Candle>,
    case: &Case,
    rows: &[Row],
    most: usize,
) -> Result<Vec<Batch>> {
    let wrong = |reason: &str| Err(Error::InvalidArgument(reason.into()));
    let template = encoder.template();
    let mut passes: Vec<Pass> = Vec::new();
    let count = most.min(rows.len());
    for text in 0..count {
        let row = &rows[text * rows.len() / count];
        let sentence = match text % 2 {
            0 => &row.sentence1,
            _ => &row.sentence2,
        };
        let inputs = match case {
            Case::Joint(_) => vec![encoder.conditional(sentence, &row.condition, "")?],
            Case::Apart(_) => vec![
                Input::Single(template.sentence("sentence", sentence)?),
                Input::Single(template.condition("condition", &row.condition)?),
            ],
            Case::Cross(_) => {
                let sentences = [row.sentence1.as_str(), &row.sentence2];
                encoder.compared(case, sentences, &row.condition, "")?
            }
            Case::Instructed(_) | Case::Prompted(_) => {
                return wrong("encoders that follow instructions are not quantized here.");
            }
        };
        if passes.last().is_none_or(|pass| pass.plan.is_full()) {
            passes.push(Pass::default());
        }
        if let Some(pass) = passes.last_mut() {
            for input in &inputs {
                pass.add(0, input, &template, Some(case), Pool::All)?;
            }
        }
    }
    match passes.is_empty() {
        true => wrong("there is nothing to calibrate with: give rows, and more than 0 of them."),
        false => Ok(passes.into_iter().map(|pass| pass.plan.batch).collect()),
    }
}

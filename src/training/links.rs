//! What an encoder learns of a knowledge graph (SimKGC; CSR, section 3.2): the head's text under the relation's words is to lie
//! nearest to the tail's text by itself.
//!
//! One encoder reads both (SimKGC trains a copy for each). An epoch reads each triple in both directions, in random order.

use std::collections::BTreeMap;

use candle_core::{Tensor, Var};
use rand::seq::SliceRandom;

use super::encoder::{self, FineTuned, Objective, Training};
use crate::{
    backend::candle::training::parameters::Parameter,
    checkpoint::sha256,
    data::graph::{Answers, Graph, Triple},
    embedding::Shape,
    error::{Error, Result},
    evaluation::links::{check_width, rank_links},
    head::HeadSpec,
    training::{
        batches::epoch_rng,
        early_stopping::Validated,
        info_nce::{Negatives, info_nce},
        inputs::Reader,
    },
};

/// The name of what is trained beside the encoder: ln(1/τ).
const LOG_SCALE: &str = "log_inverse_temperature";

/// How links are told from others.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct LinkLoss {
    /// By how much the tail that is asked for is to be more similar than others (γ).
    pub margin: f64,
    /// What similarities are divided by at first (τ); it is learnt.
    pub temperature: f64,
}

impl Default for LinkLoss {
    /// SimKGC's.
    fn default() -> Self {
        Self {
            margin: 0.02,
            temperature: 0.05,
        }
    }
}

/// How to fine-tune on links: a batch is so many triples.
pub type EncoderOptions = encoder::EncoderOptions<LinkLoss>;
/// A graph that an encoder is trained on; epochs are judged by the filtered MRR of triples of it.
pub type Task<'a> = encoder::Task<'a, Links>;

/// The links of a graph, as training asks for them.
pub struct Links {
    /// Both ways.
    asked: Vec<Triple>,
    /// What is true in training: no negatives.
    taught: Answers,
    /// And in validation: not counted in ranks.
    known: Answers,
}

impl Objective for Links {
    type Train = Graph;
    type Validation = [Triple];
    type Loss = LinkLoss;
    type Batch = Vec<Triple>;
    const VALIDATED: fn(f64) -> Validated = Validated::Mrr;

    /// ln(1/τ).
    ///
    /// # Errors
    /// There is a head on top, which texts by themselves do not go through, or as [`check_width`].
    fn parameters(task: &Task<'_>, spec: &HeadSpec) -> Result<Vec<Parameter>> {
        check_width(task.case, task.checkpoint.config.hidden_size)?;
        if spec.dims.len() > 1 {
            return Err(Error::InvalidArgument(
                "a knowledge graph is learnt without a head on top.".into(),
            ));
        }
        let log_scale = (1.0 / task.options.loss.temperature).ln() as f32;
        Ok(vec![Parameter {
            parts: vec![(LOG_SCALE.into(), 1)],
            var: Var::from_vec(vec![log_scale], (1, 1), &task.device)?,
        }])
    }

    fn shape(task: &Task<'_>, shape: Shape) -> Shape {
        Shape {
            max_tokens: shape.max_tokens.min(task.train.reading.tokens),
            ..shape
        }
    }

    fn describe(task: &Task<'_>) -> BTreeMap<String, String> {
        let (graph, loss) = (task.train, task.options.loss);
        let texts = (0..graph.entities()).map(|entity| graph.text(entity, None));
        let texts: Vec<String> = texts.collect();
        let words: Vec<&str> = (graph.training.iter())
            .map(|triple| graph.words(triple.relation))
            .collect();
        let text = format!(
            "{texts:?}{words:?}{:?}{:?}",
            graph.training, task.validation
        );
        let digest = sha256(text.as_bytes());
        let data = format!("{} triples ({digest:.8})", graph.training.len());
        BTreeMap::from([
            ("--data".into(), data),
            ("--neighbours".into(), graph.reading.neighbours.to_string()),
            ("--tokens".into(), graph.reading.tokens.to_string()),
            ("--margin".into(), loss.margin.to_string()),
            ("--temperature".into(), loss.temperature.to_string()),
        ])
    }

    fn read(run: &Training<'_, Self>) -> Result<Self> {
        let (graph, validation) = (run.task.train, run.task.validation);
        Ok(Self {
            asked: Triple::both_ways(&graph.training),
            taught: Answers::of(&graph.training),
            known: Answers::of(graph.training.iter().chain(validation)),
        })
    }

    /// As many as there have to be, of nearly the same size: few negatives make a poor step.
    fn batches(&self, run: &Training<'_, Self>, epoch: usize) -> Vec<Vec<Triple>> {
        let options = run.task.options;
        let mut order = self.asked.clone();
        order.shuffle(&mut epoch_rng(options.seed, epoch));
        let count = order.len().div_ceil(options.batch.max(1));
        let end = |batch: usize| batch * order.len() / count;
        (0..count)
            .map(|batch| order[end(batch)..end(batch + 1)].to_vec())
            .collect()
    }

    fn loss(&self, run: &Training<'_, Self>, batch: &Vec<Triple>) -> Result<Tensor> {
        let graph = run.task.train;
        let text = |triple: &Triple| {
            let Triple { head, tail, .. } = *triple;
            [graph.text(head, Some(tail)), graph.text(tail, Some(head))]
        };
        let texts: Vec<[String; 2]> = batch.iter().map(text).collect();
        let mut reader = Reader::new(&run.encoder, run.task.case);
        let mut rows = [Vec::new(), Vec::new(), Vec::new()];
        for (triple, [head, tail]) in batch.iter().zip(&texts) {
            let words = graph.words(triple.relation);
            let asked = [(head, Some(words)), (tail, None), (head, None)];
            for (rows, (text, condition)) in rows.iter_mut().zip(asked) {
                rows.push(reader.input(text, condition)? as u32);
            }
        }
        let z = run.embed(reader.inputs.iter())?;
        let select = |rows: &Vec<u32>| -> Result<Tensor> {
            Ok(z.index_select(&Tensor::new(rows.as_slice(), z.device())?, 0)?)
        };
        let [questions, tails, heads] = &rows;
        let negatives = Negatives::of(batch, &self.taught);
        let log_scale = run.beside.first().map(|p| p.var.as_tensor());
        let Some(log_scale) = log_scale else {
            return Err(Error::InvalidArgument("there is no temperature.".into()));
        };
        info_nce(
            &select(questions)?,
            &select(tails)?,
            &select(heads)?,
            log_scale,
            &negatives,
            run.task.options.loss.margin,
        )
    }

    /// The filtered MRR of both directions.
    fn validate(&self, run: &Training<'_, Self>) -> Result<f64> {
        let (encoder, _) = run.inferring()?;
        let (graph, validation) = (run.task.train, run.task.validation);
        let ranked = rank_links(
            &encoder,
            run.task.case,
            graph,
            validation,
            &self.known,
            |_| {},
        );
        Ok(pollster::block_on(ranked)?.mean.mrr)
    }
}

/// The temperature that a run learnt.
pub fn temperature(tuned: &FineTuned) -> Option<f32> {
    let log_scale = tuned.beside.get(LOG_SCALE)?.first()?;
    Some((-log_scale).exp())
}

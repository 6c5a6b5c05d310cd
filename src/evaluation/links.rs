//! Knowledge graph completion (SimKGC; CSR, section 3.2): an encoder ranks all entities as the tail of a head under a relation.
//!
//! The head's text under the relation's words is compared with each entity's text by itself, by cosine.

use std::collections::{HashMap, hash_map::Entry};

use serde::Serialize;

use super::ranking::{Query, Ranking, ranks};
use crate::{
    backend::Backend,
    data::graph::{Answers, Graph, Relation, Triple},
    embedding::{Case, Encoder, Pool, plan::Job},
    error::{Error, Result},
    lens::Finish,
};

/// Texts that are tokenized at once.
const CHUNK: usize = 512;

/// How well the links of a graph are found, as fractions. What else is known to be true is not counted; ties share the mean
/// of their ranks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LinkScores {
    /// Tails of heads under relations.
    pub tail: Ranking,
    /// Heads of tails under inverse relations.
    pub head: Ranking,
    /// The mean of the two.
    pub mean: Ranking,
}

/// How many texts [`rank_links`] reads at most.
pub fn texts(graph: &Graph, triples: &[Triple]) -> usize {
    graph.entities() as usize + 2 * triples.len()
}

/// Ranks all entities of a graph as the tail and as the head of each triple; `known` is what else is true. `done` is told
/// how many more of the [`texts`] were read.
///
/// # Errors
/// There is no triple, a text cannot be encoded, an embedding is not finite, or embeddings under a condition are not as wide as those
/// of texts by themselves ([`check_width`]).
pub async fn rank_links<B: Backend>(
    encoder: &Encoder<B>,
    case: &Case,
    graph: &Graph,
    triples: &[Triple],
    known: &Answers,
    mut done: impl FnMut(usize),
) -> Result<LinkScores> {
    let dims = encoder.shape.hidden_size;
    check_width(case, dims)?;
    let mut entities = Distinct::default();
    let candidates =
        (0..graph.entities()).map(|entity| entities.add(graph.text(entity, None), None));
    let candidates: Vec<usize> = candidates.collect();
    let asked = Triple::both_ways(triples);
    let mut questions = Distinct::default();
    let question = |triple: &Triple| {
        let text = graph.text(triple.head, Some(triple.tail));
        questions.add(text, Some(triple.relation))
    };
    let rows: Vec<usize> = asked.iter().map(question).collect();

    let vectors = embed(encoder, case, graph, &entities.all, &mut done).await?;
    let candidates: Vec<&[f32]> = candidates
        .iter()
        .map(|at| row(&vectors, *at, dims))
        .collect();
    let candidates = candidates.concat();
    let vectors = embed(encoder, case, graph, &questions.all, &mut done).await?;
    let queries: Vec<Query<'_>> = rows
        .iter()
        .zip(&asked)
        .map(|(&at, triple)| Query {
            vector: row(&vectors, at, dims),
            answer: triple.tail,
            others: known.tails(triple),
        })
        .collect();
    let ranks = ranks(&queries, &candidates, dims);
    let every_other =
        |first: usize| -> Vec<f64> { ranks.iter().skip(first).step_by(2).copied().collect() };
    // There are as many of one as of the other: their mean is that of all.
    match [every_other(0), every_other(1), ranks.clone()].map(|ranks| Ranking::of(&ranks)) {
        [Some(tail), Some(head), Some(mean)] => Ok(LinkScores { tail, head, mean }),
        _ => Err(Error::InvalidArgument(
            "there is no triple to rank entities for.".into(),
        )),
    }
}

/// # Errors
/// Embeddings under a condition are not as wide as those of texts by themselves, with which they are compared, or there are none.
pub fn check_width(case: &Case, hidden: usize) -> Result<()> {
    match case.dims(hidden) {
        _ if case.scores() => Err(Error::InvalidArgument(
            "a cross-encoder gives two texts a score, and embeds neither. Use a bi- or a tri-encoder.".into(),
        )),
        dims if dims == hidden => Ok(()),
        dims => Err(Error::InvalidArgument(format!(
            "an entity under a relation has {dims} numbers here and one by itself {hidden}: they do not compare. Let sentence and condition meet in one order."
        ))),
    }
}

/// One of some vectors, `[vectors, dims]`.
fn row(vectors: &[f32], at: usize, dims: usize) -> &[f32] {
    &vectors[at * dims..(at + 1) * dims]
}

/// A text, and what it is read under where it is not read by itself.
type Asked = (String, Option<Relation>);

/// Texts, each once: what reads the same is the same.
#[derive(Default)]
struct Distinct {
    all: Vec<Asked>,
    places: HashMap<Asked, usize>,
}

impl Distinct {
    /// The place of a text, new or known.
    fn add(&mut self, text: String, relation: Option<Relation>) -> usize {
        match self.places.entry((text, relation)) {
            Entry::Occupied(place) => *place.get(),
            Entry::Vacant(place) => {
                self.all.push(place.key().clone());
                *place.insert(self.all.len() - 1)
            }
        }
    }
}

/// Embeddings of length 1 of some texts, `[texts, hidden]`.
async fn embed<B: Backend>(
    encoder: &Encoder<B>,
    case: &Case,
    graph: &Graph,
    texts: &[Asked],
    done: &mut impl FnMut(usize),
) -> Result<Vec<f32>> {
    let input = |(text, relation): &Asked| match relation {
        None => encoder.single("the text of an entity", text),
        Some(relation) => encoder.conditional(text, graph.words(*relation), " of a triple"),
    };
    let mut all = Vec::with_capacity(texts.len() * encoder.shape.hidden_size);
    for chunk in texts.chunks(CHUNK) {
        let inputs = chunk.iter().map(input).collect::<Result<Vec<_>>>()?;
        let job = Job {
            inputs: &inputs,
            case: Some(case),
            plain: Pool::All,
            look: false,
        };
        let finish = Finish {
            head: None,
            normalize: true,
        };
        all.extend(encoder.run(job, finish).await?.vectors.concat());
        done(chunk.len());
    }
    Ok(all)
}

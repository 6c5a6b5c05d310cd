//! The parts that CASE embeddings are made of, each computed once: every setting is a choice among them.

use std::path::Path;

use serde::Serialize;

use super::vectors::Vectors;
use crate::{
    companion::{cache, wait},
    embedding::{Case, Instruct, Pool},
    error::Result,
    lens::{Lens, rows::Distinct},
    similarity::unit,
    text::{Order, Sequence, Template, Wrapper},
};

/// How sentence and condition meet in one input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Layout {
    /// Side by side: CONC(c+s) or CONC(s+c).
    Order(Order),
    /// One behind the instruction that holds the other: f(c; I(s)) or f(s; I(c)).
    Behind(Instruct),
}

/// Settings of CASE: embeddings whose parts are pooled hidden states of whole inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// One block of the embedding each, side by side.
    pub layouts: Vec<Layout>,
    pub pooling: Pool,
    /// Whether the condition's own embedding is subtracted.
    pub subtract: bool,
}

impl Setting {
    /// `None` for embeddings that are made in another way: by a router, apart, of a raw prompt, or not at all.
    pub fn of(case: &Case) -> Option<Self> {
        let layouts = match case {
            Case::Joint(joint) if joint.router.is_none() => {
                joint.orders.iter().map(|&o| Layout::Order(o)).collect()
            }
            Case::Instructed(instructed) => vec![Layout::Behind(instructed.instruct)],
            Case::Joint(_) | Case::Apart(_) | Case::Cross(_) | Case::Prompted(_) => return None,
        };
        Some(Self {
            layouts,
            pooling: case.pooling(),
            subtract: case.subtracts(),
        })
    }

    /// With the condition's own embedding subtracted, or not.
    pub fn subtracting(&self, subtract: bool) -> Self {
        Self {
            subtract,
            ..self.clone()
        }
    }
}

/// For each input its pooled hidden states in each layout under each pooling, and the same for its condition alone.
pub struct Blocks {
    hidden: usize,
    pools: Vec<Pool>,
    /// `[inputs, pools · hidden]` each.
    layouts: Vec<(Layout, Vec<f32>)>,
    /// `[conditions, pools · hidden]`
    alone: Vec<f32>,
    /// Of each input its condition.
    condition: Vec<usize>,
}

impl Blocks {
    /// Runs the encoder, or finds its results in the cache. All layouts are of one kind: conditions alone stand behind an
    /// instruction where the first does.
    pub fn compute(
        lens: &Lens,
        inputs: &Distinct<'_>,
        layouts: &[Layout],
        pools: &[Pool],
        folder: &Path,
    ) -> Result<Self> {
        let mut conditions = Distinct::default();
        let condition = inputs
            .inputs
            .iter()
            .map(|(_, c)| conditions.add(c, c) as usize)
            .collect();
        let wrapper = layouts.iter().find_map(Layout::wrapper);
        let joint = |layout: Layout| {
            pooled(lens, &layout, inputs, pools, folder, |template, s, c| {
                let what = format!(" \"{c:.60}\"");
                let condition = template.condition(&format!("condition{what}"), c)?;
                let sentence = template.sentence(&format!("sentence{what}"), s)?;
                match layout {
                    Layout::Order(order) => template.pair(&sentence, &condition, order),
                    Layout::Behind(Instruct { setting, wrapper }) => {
                        template.instructed_pair(wrapper, setting, &sentence, &condition)
                    }
                }
            })
        };
        Ok(Self {
            hidden: lens.encoder.shape.hidden_size,
            pools: pools.to_vec(),
            layouts: layouts
                .iter()
                .map(|&layout| Ok((layout, joint(layout)?)))
                .collect::<Result<_>>()?,
            alone: pooled(
                lens,
                &("alone", wrapper),
                &conditions,
                pools,
                folder,
                |template, _, c| {
                    let condition = template.condition(&format!("condition \"{c:.60}\""), c)?;
                    match wrapper {
                        Some(wrapper) => template.instructed(wrapper, &condition),
                        None => template.condition_alone(&condition),
                    }
                },
            )?,
            condition,
        })
    }

    /// The embeddings of one setting, whose parts must be among those computed; other layouts are left out.
    pub fn embeddings(&self, setting: &Setting) -> Vectors {
        let stride = self.pools.len() * self.hidden;
        let pool = self.pools.iter().position(|&p| p == setting.pooling);
        let pool = pool.unwrap_or(0) * self.hidden;
        let chosen: Vec<&[f32]> = setting
            .layouts
            .iter()
            .filter_map(|layout| self.layouts.iter().find(|(l, _)| l == layout))
            .map(|(_, numbers)| numbers.as_slice())
            .collect();
        let mut numbers = Vec::with_capacity(self.condition.len() * chosen.len() * self.hidden);
        for (i, condition) in self.condition.iter().enumerate() {
            let alone = &self.alone[condition * stride + pool..][..self.hidden];
            for block in &chosen {
                let joint = &block[i * stride + pool..][..self.hidden];
                match setting.subtract {
                    true => numbers.extend(joint.iter().zip(alone).map(|(j, a)| j - a)),
                    false => numbers.extend(joint),
                }
            }
        }
        Vectors {
            dims: chosen.len() * self.hidden,
            numbers,
        }
    }
}

impl Layout {
    /// How an instruction stands before a text, where there is one.
    fn wrapper(&self) -> Option<Wrapper> {
        match self {
            Self::Order(_) => None,
            Self::Behind(instruct) => Some(instruct.wrapper),
        }
    }
}

/// Sentences by themselves, as a head's input: f(s) once for each block that a conditional embedding has, since without a
/// condition every order of the two is the sentence alone. Behind an instruction it is f(s; I(∅)).
pub fn unconditional(
    lens: &Lens,
    own: &Setting,
    sentences: &Distinct<'_>,
    folder: &Path,
) -> Result<Vectors> {
    let hidden = lens.encoder.shape.hidden_size;
    let blocks = own.layouts.len();
    let wrapper = own.layouts.iter().find_map(Layout::wrapper);
    // A sentence alone has no tokens of a condition to pool.
    let pool = match wrapper {
        Some(_) => own.pooling,
        None => Pool::All,
    };
    let plain = pooled(
        lens,
        &("unconditional", wrapper),
        sentences,
        &[pool],
        folder,
        |template, s, _| {
            let sentence = template.sentence(&format!("sentence \"{s:.60}\""), s)?;
            match wrapper {
                Some(wrapper) => template.instructed(wrapper, &sentence),
                None => template.single(&sentence),
            }
        },
    )?;
    let rows = plain.chunks_exact(hidden);
    Ok(Vectors {
        dims: blocks * hidden,
        numbers: rows.flat_map(|row| row.repeat(blocks)).collect(),
    })
}

/// Pooled hidden states `[inputs, pools · hidden]` of what `sequence` makes of each sentence and condition, from the cache
/// where it has them. `about` tells inputs of one text apart by how they are laid out.
fn pooled(
    lens: &Lens,
    about: &impl Serialize,
    inputs: &Distinct<'_>,
    pools: &[Pool],
    folder: &Path,
    sequence: impl Fn(&Template<'_>, &str, &str) -> Result<Sequence>,
) -> Result<Vec<f32>> {
    let (encoder, template) = (&lens.encoder, lens.encoder.template());
    let hidden = encoder.shape.hidden_size;
    let dims = pools.len() * hidden;
    cache::kept(
        lens,
        &(about, pools),
        &inputs.inputs,
        dims,
        folder,
        |chunk| {
            let made = chunk.iter().map(|(s, c)| sequence(&template, s, c));
            let mut sequences: Vec<_> = made
                .collect::<Result<Vec<_>>>()?
                .into_iter()
                .zip(0..)
                .collect();
            // A decoder computes neighbours of one length together.
            sequences.sort_by_key(|(sequence, _)| sequence.ids.len());
            let (sequences, places): (Vec<Sequence>, Vec<usize>) = sequences.into_iter().unzip();
            let mut numbers = vec![0.0; chunk.len() * dims];
            for (row, place) in wait(encoder.pooled(&sequences, pools))?.iter().zip(places) {
                let blocks = row.chunks_exact(hidden).flat_map(|block| {
                    // As `Case::Instructed` has it: such an encoder's embeddings have length 1 before anything is done with them.
                    match encoder.shape.unit_length {
                        true => unit(block),
                        false => block.to_vec(),
                    }
                });
                let to = &mut numbers[place * dims..(place + 1) * dims];
                to.iter_mut().zip(blocks).for_each(|(to, x)| *to = x);
            }
            Ok(numbers)
        },
    )
}

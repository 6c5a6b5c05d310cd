//! The frozen encoder that a report is about, under every setting of CASE that its kind has.

use std::path::Path;

use super::{
    args::Args,
    blocks::{Blocks, Layout, Setting, unconditional},
    model::name_of,
    vectors::Vectors,
};
use crate::{
    checkpoint::{Checkpoint, EncoderId},
    companion::{cache, runtime::ModelArgs},
    embedding::{Case, Instruct, Pool},
    error::{Error, Result},
    lens::{Lens, rows::Distinct},
    text::{Order, Setting as Embedded, Wrapper},
};

pub const ORDERS: [Order; 2] = [Order::ConditionSentence, Order::SentenceCondition];
pub const POOLS: [Pool; 4] = [Pool::All, Pool::Condition, Pool::Sentence, Pool::Cls];
/// Behind an instruction. What latent attention gives is averaged over the text's tokens alone.
const INSTRUCTED_POOLS: [Pool; 3] = [Pool::Query, Pool::Last, Pool::All];

/// A frozen encoder and its embeddings of a report's inputs.
pub struct Base {
    pub name: String,
    pub id: EncoderId,
    /// What the encoder wants unless told otherwise: heads are trained on that.
    pub case: Case,
    /// The same in parts.
    pub own: Setting,
    /// Every way in which sentence and condition meet, in words.
    pub layouts: Vec<(&'static str, Vec<Layout>)>,
    pub pools: Vec<Pool>,
    /// Its embeddings of what heads are trained and tuned on, in its own setting.
    pub training: Vectors,
    /// Its embeddings of sentences without a condition, as wide as a head's input.
    pub unconditional: Vectors,
    /// Whether latent attention follows the last layer.
    latent: bool,
    blocks: Blocks,
}

impl Base {
    /// Embeds `inputs` under every setting, `training` in the encoder's own, and `sentences` without a condition.
    pub fn open(
        args: &Args,
        inputs: &Distinct<'_>,
        training: &Distinct<'_>,
        sentences: &Distinct<'_>,
        folder: &Path,
    ) -> Result<Self> {
        let model = ModelArgs {
            model: Some(args.base.clone()),
            device: args.device,
            dtype: None,
        };
        let mut latent = false;
        let lens = model.lens(None, |checkpoint| {
            latent = matches!(checkpoint, Checkpoint::Decoder(d) if d.config.latent.is_some());
            Ok(match Case::of(checkpoint) {
                // CASE is about instructions, of whoever follows them.
                Case::Prompted(_) => Case::instruct(Wrapper::default(), Pool::Last),
                case => case,
            })
        })?;
        let case = lens.case.clone();
        let Some(own) = Setting::of(&case) else {
            return Err(Error::InvalidArgument(format!(
                "{} is no encoder that CASE is for. Name it with --model.",
                args.base.display()
            )));
        };
        let (layouts, pools) = match own.layouts.first() {
            Some(Layout::Behind(instruct)) => (behind(*instruct), instructed_pools(&own, latent)),
            _ => (side_by_side(), POOLS.to_vec()),
        };
        let mut all: Vec<Layout> = Vec::new();
        for layout in layouts.iter().flat_map(|(_, layouts)| layouts) {
            if !all.contains(layout) {
                all.push(*layout);
            }
        }
        Ok(Self {
            name: name_of(&args.base),
            id: lens.encoder.id.clone(),
            blocks: Blocks::compute(&lens, inputs, &all, &pools, folder)?,
            training: embedded(&lens, training, folder)?,
            unconditional: unconditional(&lens, &own, sentences, folder)?,
            case,
            own,
            layouts,
            pools,
            latent,
        })
    }

    /// Its embeddings of the inputs under a setting of its layouts and pools.
    pub fn embeddings(&self, setting: &Setting) -> Vectors {
        self.blocks.embeddings(setting)
    }

    /// Its own setting, in words.
    pub fn described(&self) -> String {
        let layout = self.layouts.iter().find(|(_, l)| *l == self.own.layouts);
        let minus = match self.own.subtract {
            true => ", minus the condition's own embedding",
            false => "",
        };
        format!(
            "{}, {}{minus}",
            layout.map_or("", |(words, _)| words),
            self.pooled(self.own.pooling)
        )
    }

    /// Which tokens are averaged, in words.
    pub fn pooled(&self, pool: Pool) -> &'static str {
        match pool {
            Pool::Query if self.latent => "latent attention",
            Pool::Last => "last token",
            Pool::Query => "the text's tokens",
            Pool::All => "all tokens",
            Pool::Condition => "the condition's tokens",
            Pool::Sentence => "the sentence's tokens",
            Pool::Cls => "[CLS]",
            Pool::Pooler => "[CLS] behind the pooler",
        }
    }
}

/// The orders of a pair input.
fn side_by_side() -> Vec<(&'static str, Vec<Layout>)> {
    let [cs, sc] = ORDERS.map(Layout::Order);
    vec![
        ("[c][sep][s]", vec![cs]),
        ("[s][sep][c]", vec![sc]),
        ("both, side by side", vec![cs, sc]),
    ]
}

/// What may stand behind an instruction: the paper's cond and sent.
fn behind(instruct: Instruct) -> Vec<(&'static str, Vec<Layout>)> {
    let layout = |setting| {
        vec![Layout::Behind(Instruct {
            setting,
            ..instruct
        })]
    };
    vec![
        ("cond, f(c; I(s))", layout(Embedded::Condition)),
        ("sent, f(s; I(c))", layout(Embedded::Sentence)),
    ]
}

/// The encoder's own first.
fn instructed_pools(own: &Setting, latent: bool) -> Vec<Pool> {
    let others = INSTRUCTED_POOLS.into_iter();
    let others = others.filter(|&pool| !latent && pool != own.pooling);
    std::iter::once(own.pooling).chain(others).collect()
}

/// Embeddings as the lens's case has it.
pub fn embedded(lens: &Lens, inputs: &Distinct<'_>, folder: &Path) -> Result<Vectors> {
    Ok(Vectors {
        dims: lens.case.dims(lens.encoder.shape.hidden_size),
        numbers: cache::embeddings(lens, &lens.case, inputs, folder)?,
    })
}

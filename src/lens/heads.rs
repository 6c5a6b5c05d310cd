//! Where every token of an input looks, in one layer and by each of its attention heads: what the mean over the heads that an
//! [`Explanation`](super::explain::Explanation) tells is made of.
//!
//! ```no_run
//! # use caselens::{Lens, Result, backend::simd::Simd};
//! # async fn example(lens: &Lens<Simd>) -> Result<()> {
//! let seen = lens.attention("She plays chess in the park", Some("the game"), None).await?;
//! for (token, share) in seen.tokens.iter().zip(seen.row(3, 2)) {
//!     println!("{} {:.0} %", token.text, 100.0 * share); // where the third token looks by the fourth head
//! }
//! # Ok(())
//! # }
//! ```

use super::{
    Lens,
    explain::Switches,
    reading::{Readings, Token},
};
use crate::{
    backend::{AttentionRow, Backend},
    embedding::plan::{Plan, Read},
    error::{Error, Result},
    text::{Order, template::normalize_condition},
};

/// How every token of an input attends to every token, head by head.
#[derive(Debug, Clone, PartialEq)]
pub struct AttentionHeads {
    /// As the encoder is given it: without white space around it and its final full stop.
    pub condition: Option<String>,
    /// Which text comes first; `None` for the sentence alone.
    pub order: Option<Order>,
    /// Its tokens, special ones included, in the order in which they are read.
    pub tokens: Vec<Token>,
    /// Tokens of the sentence that did not fit.
    pub cut: usize,
    /// The layer whose attention it is, counted from 0.
    pub layer: usize,
    /// How many layers the encoder has.
    pub layers: usize,
    /// How many attention heads the layer has.
    pub heads: usize,
    /// `[heads, tokens, tokens]`: softmax(q·kᵀ/√d + bias) of a head, one row a token that looks. A row sums to 1.
    pub shares: Vec<f32>,
}

impl AttentionHeads {
    /// How a token attends to all tokens by a head, `[tokens]`; empty where there is no such token or head.
    pub fn row(&self, head: usize, token: usize) -> &[f32] {
        let count = self.tokens.len();
        let start = (head * count + token) * count;
        match token < count {
            true => self.shares.get(start..start + count).unwrap_or_default(),
            false => &[],
        }
    }
}

impl<B: Backend> Lens<B> {
    /// How the tokens of a sentence, read with a condition or by itself, attend to one another in a layer, counted from 0 (the
    /// last where `layer` is `None`), by each of its attention heads.
    ///
    /// The sentence is read in one piece, up to what the encoder reads at once, also where [`Lens::compare`] takes a long one
    /// apart; where sentence and condition are read in both orders, in the first of them.
    ///
    /// # Errors
    /// There is no such layer; or as [`Lens::explain`].
    pub async fn attention(
        &self,
        sentence: &str,
        condition: Option<&str>,
        layer: Option<usize>,
    ) -> Result<AttentionHeads> {
        let encoder = &self.encoder;
        let layers = encoder.bert()?.0.layers();
        let count = layers.len();
        let number = layer.unwrap_or(count.saturating_sub(1));
        let Some(layer) = layers.get(number) else {
            return Err(Error::InvalidArgument(format!(
                "there is no layer {number}: the encoder has {count}, which are counted from 0."
            )));
        };
        let mut plan = Plan::default();
        let read = self.read_once(&mut plan, sentence, condition)?;
        let rows = (0..layer.heads() as u32)
            .flat_map(|head| read.attention_rows_of(0..read.sequence.ids.len(), Some(head)));
        let rows: Vec<AttentionRow> = rows.collect();
        let router = condition.and_then(|_| self.case.joint_router());
        let within = match router {
            Some(router) => {
                let reads = std::iter::once(&read);
                Some(encoder.within(router, reads, plan.batch.tokens())?)
            }
            None => None,
        };
        let (_, weights) =
            encoder.hidden_attending(&plan.batch, within.as_ref(), &rows, number..=number)?;
        let weights: Vec<&B::Tensor> = weights.iter().collect();
        let shares = encoder.backend.read(&weights).await?.concat();
        if shares.iter().any(|share| !share.is_finite()) {
            return Err(Error::NotFinite {
                what: "the sentence".into(),
                input: 0,
                dtype: encoder.dtype.to_string(),
            });
        }

        let readings = Readings::new(&encoder.tokenizer, &[sentence])?;
        let pieces = condition
            .map(|condition| readings.condition(condition))
            .transpose()?;
        let reading = readings.reading(0, 0, pieces.as_ref(), &read, Vec::new());
        Ok(AttentionHeads {
            condition: condition.map(|c| normalize_condition(c).to_owned()),
            order: reading.order,
            tokens: reading.tokens,
            cut: reading.cut,
            layer: number,
            layers: count,
            heads: layer.heads(),
            shares,
        })
    }

    /// Plans a sentence with a condition, in the first of the orders in which the two are read, or by itself.
    fn read_once(&self, plan: &mut Plan, sentence: &str, condition: Option<&str>) -> Result<Read> {
        let template = self.encoder.template();
        let Some(condition) = condition else {
            let sentence = template.sentence("sentence", sentence)?;
            return Ok(Read::single(plan, template.single(&sentence)?));
        };
        let recipe = self.recipe(&self.usual(), Switches::default())?;
        let order = recipe.orders.first().copied();
        let sentence = template.sentence("sentence", sentence)?;
        let condition = template.condition("condition", condition)?;
        // There is an order wherever sentence and condition meet in one input.
        let sequence = template.pair(
            &sentence,
            &condition,
            order.unwrap_or(Order::ConditionSentence),
        )?;
        Ok(Read::of(plan, sequence, order))
    }
}

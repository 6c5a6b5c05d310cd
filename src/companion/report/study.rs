//! What a report is about: data, embedded inputs, and everything that judges them.

use std::path::Path;

use super::{
    args::Args,
    model::{Trained, name_of},
    vectors::{Blocks, Vectors},
};
use crate::{
    checkpoint::EncoderId,
    companion::{
        cache::{self, examples},
        runtime::ModelArgs,
        table::data::dataset,
    },
    data::{baseline::ConditionOnly, dataset::Dataset},
    embedding::{Case, Joint, Pool},
    error::Result,
    lens::rows::Distinct,
    text::Order,
    training::head::Example,
};

pub const ORDERS: [Order; 2] = [Order::ConditionSentence, Order::SentenceCondition];
pub const POOLS: [Pool; 4] = [Pool::All, Pool::Condition, Pool::Sentence, Pool::Cls];

/// The files a report reads.
pub struct Sources {
    train: Dataset,
    /// The data evaluated on, then each file of another domain; by name.
    sets: Vec<(String, Dataset)>,
}

impl Sources {
    pub fn read(args: &Args) -> Result<Self> {
        let read = |path: &std::path::PathBuf| Ok((name_of(path), dataset(path, None)?));
        Ok(Self {
            train: dataset(&args.train, None)?,
            sets: std::iter::once(&args.data)
                .chain(&args.out_of_domain)
                .map(read)
                .collect::<Result<_>>()?,
        })
    }
}

/// A data set that judges are scored on.
pub struct Set<'a> {
    pub name: &'a str,
    pub data: &'a Dataset,
    pub ratings: Vec<f64>,
    /// Its rows as pairs of inputs.
    pub examples: Vec<Example>,
}

/// Something that gives each row a similarity.
pub struct Judge {
    pub name: String,
    /// Its embeddings of the study's inputs; none for a baseline.
    pub vectors: Option<Vectors>,
    /// Its embeddings before a head, without and with the condition's own subtracted, where they are not a
    /// repetition of another judge's.
    pub raw: Option<[Vectors; 2]>,
    /// What it predicts for each row of each set.
    pub predicted: Vec<Vec<f64>>,
    /// Whether it comes from --model.
    pub given: bool,
}

/// Data, embeddings and judges. The first set is the one evaluated on.
pub struct Study<'a> {
    pub train: &'a Dataset,
    pub sets: Vec<Set<'a>>,
    pub inputs: Distinct<'a>,
    pub baseline: ConditionOnly,
    pub base: Blocks,
    pub base_name: String,
    pub base_id: EncoderId,
    /// The base's embeddings of the training inputs under [`Case::default`], and the training rows.
    pub training: (Vectors, Vec<Example>),
    pub judges: Vec<Judge>,
    /// Rows of the file in its first part.
    pub part_rows: usize,
    pub no_examples: bool,
}

impl<'a> Study<'a> {
    pub fn new(args: &Args, sources: &'a Sources, folder: &Path) -> Result<Self> {
        let mut inputs = Distinct::default();
        let sets: Vec<Set<'a>> = sources
            .sets
            .iter()
            .map(|(name, data)| Set {
                name,
                data,
                ratings: data.ratings(),
                examples: examples(&mut inputs, data),
            })
            .collect();
        let mut train_inputs = Distinct::default();
        let train_examples = examples(&mut train_inputs, &sources.train);

        let base = ModelArgs {
            model: Some(args.base.clone()),
            device: args.device,
            dtype: None,
        };
        let case = Case::default();
        let lens = base.lens(None, |_| Ok(case.clone()))?;
        let blocks = Blocks::compute(&lens, &inputs, &ORDERS, &POOLS, folder)?;
        let training = Vectors {
            dims: case.dims(lens.encoder.shape.hidden_size),
            numbers: cache::embeddings(&lens, &case, &train_inputs, folder)?,
        };
        let rows = sets.first().map_or(0, |set| set.data.kept.len());
        let mut study = Self {
            train: &sources.train,
            sets,
            inputs,
            baseline: ConditionOnly::fit(
                sources
                    .train
                    .rows
                    .iter()
                    .map(|r| (r.condition.as_str(), r.rating)),
            ),
            base: blocks,
            base_name: name_of(&args.base),
            base_id: lens.encoder.id.clone(),
            training: (training, train_examples),
            judges: Vec::new(),
            // An even number: rows 2i and 2i + 1 of the file are one pair.
            part_rows: args.part_rows.unwrap_or(rows * 2 / 3 / 2 * 2),
            no_examples: args.no_examples,
        };
        let settings = [false, true].map(|subtract| Joint {
            subtract,
            ..Joint::default()
        });
        let raw = settings.map(|case| study.base.case(&case));
        study.judge(
            format!("{}, frozen", study.base_name),
            raw[1].clone(),
            Some(raw),
            false,
        );
        Ok(study)
    }

    /// The set evaluated on.
    pub fn set(&self) -> &Set<'a> {
        &self.sets[0]
    }

    /// Adds a judge by its embeddings.
    pub fn judge(
        &mut self,
        name: String,
        vectors: Vectors,
        raw: Option<[Vectors; 2]>,
        given: bool,
    ) {
        let predicted = self
            .sets
            .iter()
            .map(|set| vectors.cosines(&set.examples, vectors.dims))
            .collect();
        self.judges.push(Judge {
            name,
            vectors: Some(vectors),
            raw,
            predicted,
            given,
        });
    }

    /// Adds a trained model.
    pub fn add_model(&mut self, args: &Args, path: &Path, folder: &Path) -> Result<()> {
        let model = Trained::open(args, path)?;
        let case = &model.case;
        let (embedded, raw) = match case {
            Case::Joint(joint) if joint.router.is_none() => {
                let pools = [joint.pooling];
                let blocks =
                    Blocks::compute(&model.lens, &self.inputs, &joint.orders, &pools, folder)?;
                let raw = [false, true].map(|subtract| {
                    blocks.case(&Joint {
                        subtract,
                        ..joint.clone()
                    })
                });
                (raw[usize::from(joint.subtract)].clone(), Some(raw))
            }
            // One embedding, as the case has it.
            Case::Joint(_)
            | Case::Apart(_)
            | Case::Instructed(_)
            | Case::Cross(_)
            | Case::Prompted(_) => {
                let vectors = Vectors {
                    dims: case.dims(model.lens.encoder.shape.hidden_size),
                    numbers: cache::embeddings(&model.lens, case, &self.inputs, folder)?,
                };
                (vectors, None)
            }
        };
        let vectors = match &model.head {
            Some(head) => embedded.project(head)?,
            None => embedded,
        };
        self.judge(model.name, vectors, raw, true);
        Ok(())
    }

    /// Adds the baseline that reads the condition alone; always the last.
    pub fn add_condition_only(&mut self) {
        let guess = |set: &Set<'_>| {
            let rows = set.data.rows.iter();
            rows.map(|r| f64::from(self.baseline.rating(&r.condition)))
                .collect()
        };
        let predicted = self.sets.iter().map(guess).collect();
        self.judges.push(Judge {
            name: "condition only".into(),
            vectors: None,
            raw: None,
            predicted,
            given: false,
        });
    }

    /// The judges that come from --model; without any, the best that was trained here.
    pub fn trained(&self) -> Vec<&Judge> {
        let given: Vec<&Judge> = self.judges.iter().filter(|j| j.given).collect();
        match given.is_empty() {
            false => given,
            true => self
                .judges
                .iter()
                .rfind(|j| j.vectors.is_some())
                .into_iter()
                .collect(),
        }
    }
}

//! What a report is about: data, embedded inputs, and everything that judges them.

use std::path::{Path, PathBuf};

use super::{
    args::Args,
    base::{Base, embedded},
    blocks::{Blocks, Setting},
    fitted::Fitted,
    model::{Trained, name_of},
    vectors::Vectors,
};
use crate::{
    checkpoint::EncoderId,
    companion::{cache::examples, table::data::dataset},
    data::{
        baseline::ConditionOnly,
        dataset::{Dataset, Row},
    },
    error::Result,
    evaluation::metrics::Scores,
    lens::rows::Distinct,
    training::head::Example,
};

/// The files a report reads.
pub struct Sources {
    train: Dataset,
    /// What heads are tuned by, where that is a part of the data.
    tune: Option<Dataset>,
    /// The data evaluated on, then each file of another domain; by name.
    sets: Vec<(String, Dataset)>,
    swapped: Option<(String, Dataset)>,
}

impl Sources {
    pub fn read(args: &Args) -> Result<Self> {
        let read = |path: &PathBuf| dataset(path, None);
        let (mut data, mut tune) = (read(&args.data)?, None);
        if let Some(seed) = args.split {
            let [tuning, test] = data.case_split(seed)?;
            (data, tune) = (test, Some(tuning));
        }
        let named = |path: &PathBuf| Ok((name_of(path), read(path)?));
        let others = args.out_of_domain.iter().map(named);
        Ok(Self {
            train: read(&args.train)?,
            tune,
            sets: std::iter::once(Ok((name_of(&args.data), data)))
                .chain(others)
                .collect::<Result<_>>()?,
            swapped: args.swapped.as_ref().map(named).transpose()?,
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
    /// Its rows as pairs of the study's sentences.
    pub sentences: Vec<(u32, u32)>,
    /// Of each row the answers of its sentences as inputs under its condition, where there are any.
    pub answers: Vec<[Option<u32>; 2]>,
}

impl<'a> Set<'a> {
    fn new(
        name: &'a str,
        data: &'a Dataset,
        inputs: &mut Distinct<'a>,
        sentences: &mut Distinct<'a>,
    ) -> Self {
        let mut sentence = |text: &'a str| sentences.add(text, "");
        let alone = |row: &'a Row| (sentence(&row.sentence1), sentence(&row.sentence2));
        let alone = data.rows.iter().map(alone).collect();
        Self {
            name,
            data,
            ratings: data.ratings(),
            examples: examples(inputs, data),
            sentences: alone,
            answers: data
                .rows
                .iter()
                .map(|row| {
                    row.answers.each_ref().map(|answer| {
                        let there = !answer.trim().is_empty();
                        there.then(|| inputs.add(answer, &row.condition))
                    })
                })
                .collect(),
        }
    }

    /// The figures of embeddings on it.
    pub fn scores(&self, vectors: &Vectors) -> Scores {
        let cosines = vectors.cosines(&self.examples, vectors.dims);
        Scores::of(&cosines, &self.ratings, &self.data.pairs)
    }

    /// For each row its place in the file, from 1.
    pub fn places(&self) -> Vec<usize> {
        let kept = self.data.kept.iter().enumerate();
        kept.filter_map(|(i, kept)| kept.map(|_| i + 1)).collect()
    }

    /// The inputs of its rows, each once.
    pub fn inputs(&self) -> Vec<u32> {
        let examples = self.examples.iter();
        let mut used: Vec<u32> = examples.flat_map(|e| [e.first, e.second]).collect();
        used.sort_unstable();
        used.dedup();
        used
    }
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
    /// The encoder of what comes from --model.
    pub given: Option<EncoderId>,
}

/// Data, embeddings and judges. The first set is the one evaluated on.
pub struct Study<'a> {
    pub train: &'a Dataset,
    /// The training rows, as pairs of the base's training embeddings.
    pub training: Vec<Example>,
    /// Rows of the same kind that heads are tuned by, where those are no training rows.
    pub tuning: Option<Vec<Example>>,
    /// Inputs of the training rows, which come first among those embeddings.
    pub trained: usize,
    pub sets: Vec<Set<'a>>,
    /// Sentences about one person beside the same about another, who differs in gender.
    pub swapped: Option<Set<'a>>,
    pub inputs: Distinct<'a>,
    pub baseline: ConditionOnly,
    pub base: Base,
    /// What was fitted to the base's embeddings of the training data.
    pub fitted: Fitted,
    pub judges: Vec<Judge>,
    /// Rows of the file in its first part.
    pub part_rows: usize,
    pub no_examples: bool,
}

impl<'a> Study<'a> {
    pub fn new(args: &Args, sources: &'a Sources, folder: &Path) -> Result<Self> {
        let (mut inputs, mut sentences) = (Distinct::default(), Distinct::default());
        let sets: Vec<Set<'a>> = sources
            .sets
            .iter()
            .map(|(name, data)| Set::new(name, data, &mut inputs, &mut sentences))
            .collect();
        let swapped = sources.swapped.as_ref();
        let swapped = swapped.map(|(name, data)| Set::new(name, data, &mut inputs, &mut sentences));
        let mut train_inputs = Distinct::default();
        let training = examples(&mut train_inputs, &sources.train);
        let trained = train_inputs.inputs.len();
        let tune = sources.tune.as_ref();
        let tuning = tune.map(|tune| examples(&mut train_inputs, tune));
        let base = Base::open(args, &inputs, &train_inputs, &sentences, folder)?;
        let part_rows = |data: &Dataset| {
            let rows = args.part_rows.unwrap_or(data.kept.len() * 2 / 3);
            data.whole_pairs(rows)
        };
        let part_rows = sets.first().map_or(0, |set| part_rows(set.data));
        let mut study = Self {
            train: &sources.train,
            training,
            tuning,
            trained,
            sets,
            swapped,
            inputs,
            baseline: ConditionOnly::fit(
                sources
                    .train
                    .rows
                    .iter()
                    .map(|r| (r.condition.as_str(), r.rating)),
            ),
            base,
            fitted: Fitted::default(),
            judges: Vec::new(),
            part_rows,
            no_examples: args.no_examples,
        };
        let own = &study.base.own;
        let raw = [false, true].map(|on| study.base.embeddings(&own.subtracting(on)));
        study.judge(
            format!("{}, frozen", study.base.name),
            raw[usize::from(own.subtract)].clone(),
            Some(raw),
            None,
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
        given: Option<EncoderId>,
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
        let (vectors, raw) = match Setting::of(&model.lens.case) {
            Some(own) => {
                let (layouts, pools) = (&own.layouts, [own.pooling]);
                let blocks = Blocks::compute(&model.lens, &self.inputs, layouts, &pools, folder)?;
                let raw = [false, true].map(|on| blocks.embeddings(&own.subtracting(on)));
                (raw[usize::from(own.subtract)].clone(), Some(raw))
            }
            None => (embedded(&model.lens, &self.inputs, folder)?, None),
        };
        let vectors = match &model.head {
            Some(head) => vectors.project(head)?,
            None => vectors,
        };
        let id = model.lens.encoder.id.clone();
        self.judge(model.name, vectors, raw, Some(id));
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
            given: None,
        });
    }

    /// The judges that come from --model; without any, the best that was trained here.
    pub fn trained(&self) -> Vec<&Judge> {
        let given: Vec<&Judge> = self.judges.iter().filter(|j| j.given.is_some()).collect();
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

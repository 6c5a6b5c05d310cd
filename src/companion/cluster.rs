//! `caselens cluster`: texts in groups by a condition, against the groups that they are known to be of.

use std::{collections::HashSet, path::PathBuf};

use serde::Serialize;

use super::{
    embedded::embedded,
    output::{json_line, progress, text_line, write_file},
    runtime::LensArgs,
    table::data::columns,
};
use crate::{
    embedding::{Case, Prompted},
    error::{Error, Result},
    evaluation::{
        cluster::{K_MEANS, v_measure},
        confidence::Spread,
    },
    lens::Lens,
    vectors::groups::KMeans,
};

use grouped::Grouped;

mod grouped;
mod map;

/// Tokens of a word at most.
const WORD: usize = 10;

/// Group texts by a condition, and compare with known labels
///
/// Reads a table of texts, embeds them under the condition, gathers them by k-means and prints how well the groups agree
/// with a column of labels: V-measure × 100, mean and standard deviation over seeds. Without --condition texts are
/// embedded by themselves. Of several conditions each gets its line, and what is written is of the best: wordings are
/// chosen so, on data that is not what they are tested on.
///
///   caselens cluster --data tweets.csv --label emotion --condition "the emotion expressed"
///   caselens cluster --data tweets-dev.csv --label emotion -c "the emotion" -c "the feeling" -c "the sentiment"
///   caselens cluster --data notes.csv --groups 5 --condition "the topic" --output grouped.csv
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A table of texts (CSV, JSON lines, Arrow IPC or Parquet)
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// What the texts are grouped by; may be given several times, with --label [default: nothing, texts by themselves]
    #[arg(short, long, value_name = "TEXT")]
    condition: Vec<String>,
    /// Column of texts
    #[arg(long, value_name = "NAME", default_value = "text")]
    text: String,
    /// Column of the labels that groups are compared with
    #[arg(long, value_name = "NAME", required_unless_present = "groups")]
    label: Option<String>,
    /// How many groups [default: as many as there are labels]
    #[arg(long, value_name = "K")]
    groups: Option<usize>,
    /// Seeds, separated by commas: k-means begins anew with each
    #[arg(long, default_value = "0,1,2,3,4", value_delimiter = ',')]
    seeds: Vec<u64>,
    /// Write the texts with their group by the first seed as CSV
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Draw the texts' embeddings on a map (t-SNE), a colour a label, or a group where there are no labels; SVG
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// Draw the texts under every --condition on one map, a colour a condition, and a line from each text under one to itself
    /// under the next
    #[arg(long, requires = "map")]
    together: bool,
    /// Say in one word what each text is, in --output and beside its point in --map, with --architecture prompt
    #[arg(long)]
    words: bool,
    /// Print JSON, figures as fractions
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    lens: LensArgs,
}

#[derive(Serialize)]
struct Report<'a> {
    texts: usize,
    groups: usize,
    /// Over the seeds; of several conditions, of the best. Absent without labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    v_measure: Option<Spread>,
    /// Each of several, as they were given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conditions: Vec<OfCondition<'a>>,
}

#[derive(Serialize)]
struct OfCondition<'a> {
    condition: &'a str,
    v_measure: Option<Spread>,
}

pub fn run(args: Args) -> Result<()> {
    if args.condition.len() > 1 && args.label.is_none() {
        return Err(Error::InvalidArgument(
            "of several conditions the best is told by labels. Name their column with --label, or one condition.".into(),
        ));
    }
    if args.together && args.condition.len() < 2 {
        return Err(Error::InvalidArgument(
            "--together shows texts under several conditions: name two with -c.".into(),
        ));
    }
    if args.words && args.output.is_none() && args.map.is_none() {
        return Err(Error::InvalidArgument(
            "--words are written to --output and --map: name one. `caselens words` prints them."
                .into(),
        ));
    }
    let mut names = vec![args.text.as_str()];
    names.extend(args.label.as_deref());
    let table = columns(&args.data, &names, &[], None)?;
    let column = |name: &str| -> Result<Vec<String>> {
        let cell = |row: usize| match table.cell(name, row) {
            Some(text) => Ok(text.to_owned()),
            None => Err(Error::Data {
                file: args.data.display().to_string(),
                row: row + 1,
                reason: format!("the column `{name}` is empty or missing"),
            }),
        };
        (0..table.rows()).map(cell).collect()
    };
    let texts = column(&args.text)?;
    let labels = args.label.as_deref().map(column).transpose()?;
    let known: HashSet<_> = labels.iter().flatten().collect();
    let k = args.groups.unwrap_or(known.len());
    let lens = match args.condition.is_empty() {
        false => args.lens.open()?,
        true => args.lens.with_head(None)?,
    };
    if args.words && !matches!(lens.case, Case::Prompted(_)) {
        return Err(Error::InvalidArgument(
            "--words are said in a prompt. Name a language model with --model, and --architecture prompt.".into(),
        ));
    }
    let conditions: Vec<_> = match args.condition.is_empty() {
        true => vec![None],
        false => args
            .condition
            .iter()
            .map(|condition| Some(condition.as_str()))
            .collect(),
    };
    let mut all = Vec::with_capacity(conditions.len());
    for condition in conditions {
        let grouped = args.grouped(&lens, &texts, condition, labels.as_deref(), k)?;
        if let (Some(condition), Some(v), false) = (condition, &grouped.v_measure, args.json)
            && args.condition.len() > 1
        {
            text_line(&format!("{}   {condition}", spread(v)))?;
        }
        all.push(grouped);
    }
    let score = |grouped: &Grouped<'_>| grouped.v_measure.as_ref().map_or(0.0, |v| v.mean);
    // The first of equals.
    let best = (0..all.len()).reduce(|best, next| match score(&all[next]) > score(&all[best]) {
        true => next,
        false => best,
    });
    let best = best.ok_or_else(|| Error::InvalidArgument("there is no condition.".into()))?;
    args.write(&lens, &texts, labels.as_deref(), &all, best)?;
    let best = &all[best];
    if args.json {
        let conditions = all.iter().filter(|_| all.len() > 1).filter_map(|grouped| {
            Some(OfCondition {
                condition: grouped.condition?,
                v_measure: grouped.v_measure,
            })
        });
        return json_line(&Report {
            texts: texts.len(),
            groups: k,
            v_measure: best.v_measure,
            conditions: conditions.collect(),
        });
    }
    match &best.v_measure {
        None => text_line(&format!("{} texts in {k} groups", texts.len())),
        Some(v) => {
            let best = best.condition.filter(|_| all.len() > 1);
            let best = best.map_or_else(String::new, |condition| format!(" by {condition}"));
            text_line(&format!(
                "{}{best}: {} texts, k = {k}, {} seeds",
                spread(v),
                texts.len(),
                args.seeds.len()
            ))
        }
    }
}

/// For people; of one seed there is no deviation.
fn spread(v: &Spread) -> String {
    let mean = format!("V-measure {:.1}", 100.0 * v.mean);
    match v.std.is_finite() {
        true => format!("{mean} ± {:.1}", 100.0 * v.std),
        false => mean,
    }
}

impl Args {
    fn grouped<'a>(
        &self,
        lens: &Lens,
        texts: &[String],
        condition: Option<&'a str>,
        labels: Option<&[String]>,
        k: usize,
    ) -> Result<Grouped<'a>> {
        let items: Vec<_> = texts
            .iter()
            .map(|text| (text.as_str(), condition))
            .collect();
        let vectors = embedded(lens, &items)?.vectors;
        let dims = vectors.first().map_or(0, Vec::len);
        let numbers = vectors.concat();
        let (mut groups, mut scores) = (None, Vec::new());
        for &seed in &self.seeds {
            let found = KMeans { seed, ..K_MEANS }.fit(&numbers, dims, k)?.labels;
            scores.extend(labels.map(|labels| v_measure(labels, &found)));
            groups.get_or_insert(found);
        }
        Ok(Grouped {
            condition,
            numbers,
            dims,
            groups: groups.unwrap_or_default(),
            v_measure: (!scores.is_empty()).then(|| Spread::of(&scores)),
        })
    }

    /// What was asked for in files, of the condition with this number or of all.
    fn write(
        &self,
        lens: &Lens,
        texts: &[String],
        labels: Option<&[String]>,
        all: &[Grouped<'_>],
        best: usize,
    ) -> Result<()> {
        let words = |(number, grouped): (usize, &Grouped<'_>)| match &lens.case {
            Case::Prompted(case) if self.words && (self.together || number == best) => {
                self.words(lens, case, texts, grouped.condition).map(Some)
            }
            _ => Ok(None),
        };
        let words = all.iter().enumerate().map(words);
        let words = words.collect::<Result<Vec<_>>>()?;
        let (grouped, own) = (&all[best], words[best].as_deref());
        if let Some(path) = &self.output {
            write_file(path, &csv(&self.text, texts, &grouped.groups, own)?)?;
        }
        if let Some(path) = &self.map {
            let drawn = match self.together {
                true => map::of_conditions(all, &words)?,
                false => map::of_groups(grouped, labels, own)?,
            };
            write_file(path, drawn.as_bytes())?;
        }
        Ok(())
    }

    fn words(
        &self,
        lens: &Lens,
        case: &Prompted,
        texts: &[String],
        condition: Option<&str>,
    ) -> Result<Vec<String>> {
        let model = self.lens.model.language_model_of(lens)?;
        let bar = progress("words", texts.len() as u64);
        let word = |(text, number): (&String, usize)| -> Result<String> {
            let what = format!(" {number}");
            let said = model.word(&case.prompt, text, condition, WORD, &what)?;
            bar.inc(1);
            Ok(said.word)
        };
        let words = texts.iter().zip(1..).map(word).collect();
        bar.finish_and_clear();
        words
    }
}

fn csv(
    column: &str,
    texts: &[String],
    groups: &[usize],
    words: Option<&[String]>,
) -> Result<Vec<u8>> {
    let mut out = csv::Writer::from_writer(Vec::new());
    let broken = |e: String| Error::InvalidArgument(format!("the groups cannot be written ({e})."));
    let mut write = |cells: [&str; 2], word: Option<&str>| {
        out.write_record(cells.into_iter().chain(word))
            .map_err(|e| broken(e.to_string()))
    };
    write([column, "group"], words.map(|_| "word"))?;
    for (i, (text, group)) in texts.iter().zip(groups).enumerate() {
        let word = words.map(|words| words[i].as_str());
        write([text, &(group + 1).to_string()], word)?;
    }
    out.into_inner().map_err(|e| broken(e.to_string()))
}

//! `caselens cluster`: texts in groups by a condition, against the groups that they are known to be of.

use std::path::PathBuf;

use serde::Serialize;

use super::{
    embedded::embedded,
    output::{json_line, text_line, write_file},
    runtime::LensArgs,
    table::data::columns,
};
use crate::{
    error::{Error, Result},
    evaluation::{
        cluster::{K_MEANS, v_measure},
        confidence::Spread,
    },
    vectors::groups::KMeans,
};

/// Group texts by a condition, and compare with known labels
///
/// Reads a table of texts, embeds them under the condition, gathers them by k-means and prints how well the groups agree
/// with a column of labels: V-measure × 100, mean and standard deviation over seeds. Without --condition texts are
/// embedded by themselves.
///
///   caselens cluster --data tweets.csv --label emotion --condition "the emotion expressed"
///   caselens cluster --data notes.csv --groups 5 --condition "the topic" --output grouped.csv
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A table of texts (CSV, JSON lines, Arrow IPC or Parquet)
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// What the texts are grouped by [default: nothing, texts by themselves]
    #[arg(short, long, value_name = "TEXT")]
    condition: Option<String>,
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
    /// Print JSON, figures as fractions
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    lens: LensArgs,
}

#[derive(Serialize)]
struct Report {
    texts: usize,
    groups: usize,
    /// Over the seeds; absent without labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    v_measure: Option<Spread>,
}

pub fn run(args: Args) -> Result<()> {
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
    let known = labels
        .iter()
        .flatten()
        .collect::<std::collections::HashSet<_>>();
    let k = args.groups.unwrap_or(known.len());
    let (numbers, dims) = embed(&args, &texts)?;
    let mut groups = Vec::new();
    let mut scores = Vec::new();
    for &seed in &args.seeds {
        let found = KMeans { seed, ..K_MEANS }.fit(&numbers, dims, k)?.labels;
        scores.extend(labels.iter().map(|labels| v_measure(labels, &found)));
        groups.push(found);
    }
    if let (Some(path), Some(groups)) = (&args.output, groups.first()) {
        write_file(path, &csv(&args.text, &texts, groups)?)?;
    }
    let report = Report {
        texts: texts.len(),
        groups: k,
        v_measure: (!scores.is_empty()).then(|| Spread::of(&scores)),
    };
    if args.json {
        return json_line(&report);
    }
    match &report.v_measure {
        None => text_line(&format!("{} texts in {k} groups", texts.len())),
        Some(v) => text_line(&format!(
            "V-measure {:.1} ± {:.1}: {} texts, k = {k}, {} seeds",
            100.0 * v.mean,
            100.0 * v.std,
            texts.len(),
            scores.len()
        )),
    }
}

/// Embeddings of unit length, row by row, and their width.
fn embed(args: &Args, texts: &[String]) -> Result<(Vec<f32>, usize)> {
    let lens = match args.condition {
        Some(_) => args.lens.open()?,
        None => args.lens.with_head(None)?,
    };
    let items: Vec<_> = (texts.iter())
        .map(|text| (text.as_str(), args.condition.as_deref()))
        .collect();
    let vectors = embedded(&lens, &items)?.vectors;
    let dims = vectors.first().map_or(0, Vec::len);
    Ok((vectors.concat(), dims))
}

fn csv(column: &str, texts: &[String], groups: &[usize]) -> Result<Vec<u8>> {
    let mut out = csv::Writer::from_writer(Vec::new());
    let broken = |e: String| Error::InvalidArgument(format!("the groups cannot be written ({e})."));
    out.write_record([column, "group"])
        .map_err(|e| broken(e.to_string()))?;
    for (text, group) in texts.iter().zip(groups) {
        out.write_record([text.as_str(), &(group + 1).to_string()])
            .map_err(|e| broken(e.to_string()))?;
    }
    out.into_inner().map_err(|e| broken(e.to_string()))
}

//! `caselens fit-ratings`: what ratings similarities stand for, fitted to an encoder as it is in use.

use std::path::PathBuf;

use serde_json::json;

use super::{
    evaluate::similarities,
    output::{fixed, json_line, note, text_line, write_file},
    runtime::{LensArgs, without_layers},
    table::data::dataset,
};
use crate::{
    data::dataset::Row,
    error::Result,
    evaluation::calibration::Reliability,
    similarity::rating,
    training::calibration::{Rated, fit},
};

/// Fit what ratings similarities stand for
///
/// Takes an encoder, rounded or not, and its head; compares the sentences of tables with sentence1, sentence2,
/// condition and label (1 to 5), and writes the head again with a line through how far pairs of a similarity agree on
/// the average (isotonic regression). Ratings are then read from that line: a pair that is rated 4.6 agrees nine times
/// in ten. Each table counts as much as the others. Prints how far similarities and readings are off before and after
/// (expected calibration error).
///
///   caselens fit-ratings --model my-q4_0.gguf --head my.head.safetensors --data rated.csv --output my.head.safetensors
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A table with sentence1, sentence2, condition and label; may be given several times
    #[arg(long, value_name = "FILE", required = true)]
    data: Vec<PathBuf>,
    /// The head to write; one that is there is replaced
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Print JSON, figures as fractions
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    lens: LensArgs,
}

pub fn run(args: Args) -> Result<()> {
    let head = args.lens.head.open(&args.lens.model)?;
    let lens = args.lens.with_head(head.as_ref())?;
    let mut rows = Vec::new();
    for path in &args.data {
        let data = dataset(path, None)?;
        let weight = 1.0 / data.rows.len().max(1) as f64;
        let texts: Vec<_> = data.rows.iter().map(Row::texts).collect();
        let similarities = similarities(&lens, &texts)?;
        rows.extend(
            similarities
                .into_iter()
                .zip(data.ratings())
                .map(|(similarity, rating)| Rated {
                    similarity,
                    rating,
                    weight,
                }),
        );
    }
    let calibration = fit(&rows)?;
    let ratings: Vec<f64> = rows.iter().map(|row| row.rating).collect();
    let off = |read: &dyn Fn(f64) -> f64| {
        let read: Vec<f64> = rows.iter().map(|row| read(row.similarity)).collect();
        Reliability::of(&read, &ratings).map(|reliability| reliability.error)
    };
    let before = off(&|similarity| similarity);
    let after =
        off(&|similarity| f64::from(rating(similarity as f32, Some(&calibration)) - 1.0) / 4.0);
    let mut file = head.unwrap_or_else(|| without_layers(&lens));
    file.calibration = Some(calibration);
    write_file(&args.output, &file.to_bytes()?)?;
    if args.json {
        return json_line(&json!({
            "output": args.output,
            "rows": rows.len(),
            "error": {"similarities": before, "readings": after},
            "calibration": file.calibration,
        }));
    }
    let shown = |error: Option<f64>| fixed(100.0 * error.unwrap_or(f64::NAN), 1);
    text_line(&format!(
        "{} rows\ncalibration error {} of similarities, {} of readings",
        rows.len(),
        shown(before),
        shown(after),
    ))?;
    note!("wrote {}", args.output.display());
    Ok(())
}

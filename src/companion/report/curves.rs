//! Training curves of the models that kept theirs.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::{
    model::{name_of, split},
    page::{Page, decimals, percent},
};
use crate::{
    companion::plot::Series,
    error::{Error, Result},
};

/// What `caselens fine-tune` writes beside a trained encoder: a row an epoch.
const HISTORY: &str = "history.csv";

#[derive(Debug, Deserialize)]
struct Row {
    epoch: f64,
    loss: f64,
    validation_spearman: f64,
}

pub fn section(page: &mut Page, models: &[PathBuf]) -> Result<()> {
    page.heading("Training curves");
    let (mut losses, mut scores, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for model in models {
        let (folder, _) = split(model);
        let name = name_of(&folder);
        let Some(history) = read(&folder.join(HISTORY))? else {
            page.paragraph(&format!("{name} keeps no `{HISTORY}`."));
            continue;
        };
        for row in &history {
            rows.push(vec![
                name.clone(),
                row.epoch.to_string(),
                decimals(row.loss, 4),
                percent(row.validation_spearman),
            ]);
        }
        let line = |of: fn(&Row) -> f64| history.iter().map(|r| (r.epoch, of(r))).collect();
        losses.push(Series::new(&name, line(|r| r.loss)));
        scores.push(Series::new(&name, line(|r| 100.0 * r.validation_spearman)));
    }
    if rows.is_empty() {
        page.paragraph("There is no model with training curves to draw.");
        return Ok(());
    }
    page.table(&["model", "epoch", "loss", "validation Spearman"], &rows);
    let charts = [
        ("loss.svg", "Training loss", "loss", &losses),
        (
            "validation.svg",
            "Spearman on held-out training pairs",
            "Spearman × 100",
            &scores,
        ),
    ];
    for (file, title, y, series) in charts {
        page.lines(file, title, "epoch", y, series)?;
    }
    Ok(())
}

/// `None` where there is no such file.
fn read(path: &Path) -> Result<Option<Vec<Row>>> {
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        // A model in one file has no folder that could hold it.
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(e) => return Err(Error::io(path)(e)),
    };
    let mut rows = Vec::new();
    for (i, row) in csv::Reader::from_reader(file)
        .into_deserialize()
        .enumerate()
    {
        rows.push(row.map_err(|e| Error::Data {
            file: path.display().to_string(),
            row: i + 1,
            reason: format!("it is not epoch, loss, validation_spearman ({e})"),
        })?);
    }
    Ok(Some(rows).filter(|rows| !rows.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_in_one_file_has_no_curves() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        assert!(read(&file.join(HISTORY)).unwrap().is_none());
        assert!(read(&file.with_file_name(HISTORY)).unwrap().is_none());
    }
}

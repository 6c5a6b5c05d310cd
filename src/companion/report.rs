//! `caselens report`: the tables and figures of the CASE paper from real runs, as Markdown and SVG.
//!
//! One section a file below `report/`. Every section works on the same study: the data, the inputs embedded
//! once, and the judges (everything that gives a pair of sentences a similarity under a condition).

use std::time::Instant;

use super::{
    cache,
    output::{note, text_line},
};
use crate::error::{Error, Result};

mod answers;
mod args;
mod base;
mod before_after;
mod blocks;
mod breakdown;
mod curves;
mod dimensions;
mod fitted;
mod head_curves;
mod heads;
mod isotropy;
mod map;
mod mistakes;
mod model;
mod overview;
mod page;
mod projection;
mod reliability;
mod study;
mod swapped;
mod unsupervised;
mod vectors;
mod zero_shot;

pub use args::Args;
use page::Page;
use study::{Sources, Study};

pub fn run(args: Args) -> Result<()> {
    let start = Instant::now();
    if args.output.is_file() {
        return Err(Error::InvalidArgument(format!(
            "{} is a file. Name a folder with --output.",
            args.output.display()
        )));
    }
    let step = |what: &str| note!("{:>5.0} s  {what}", start.elapsed().as_secs_f64());
    let sources = Sources::read(&args)?;
    let folder = args.cache.clone().unwrap_or_else(cache::default_folder);

    let mut widths = args.dims.clone();
    widths.sort_unstable();
    widths.dedup();

    step("embedding with the base");
    let mut study = Study::new(&args, &sources, &folder)?;
    step("training heads on the base");
    heads::train_all(&mut study, &widths)?;
    step("PCA and ICA");
    unsupervised::fit(&mut study, &widths)?;
    for model in &args.model {
        step(&format!("embedding with {}", model.display()));
        study.add_model(&args, model, &folder)?;
    }
    study.add_condition_only();

    let mut page = Page::default();
    page.heading("Conditional sentence similarity: a report");
    step("scores and confidence intervals");
    overview::section(&mut page, &study);
    zero_shot::section(&mut page, &study);
    projection::section(&mut page, &study);
    head_curves::section(&mut page, &study)?;
    before_after::section(&mut page, &study)?;
    answers::section(&mut page, &study)?;
    dimensions::fitted(&mut page, &study)?;
    dimensions::cut(&mut page, &study, &widths)?;
    curves::section(&mut page, &args.model)?;
    step("isotropy");
    isotropy::section(&mut page, &study)?;
    swapped::section(&mut page, &study);
    breakdown::section(&mut page, &study);
    reliability::section(&mut page, &study)?;
    step("maps and clusters");
    map::section(&mut page, &study)?;
    mistakes::section(&mut page, &study);
    page.write(&args.output)?;
    step("done");
    text_line(&args.output.join("report.md").display().to_string())
}

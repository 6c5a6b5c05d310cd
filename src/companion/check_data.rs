//! `caselens check-data`: what a table holds, how far its annotators agree, and which conditions do not keep to the guidelines.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::Serialize;

use super::{
    output::{json_line, text_line},
    runtime::LensArgs,
    table::data::columns,
    wait,
};
use crate::{
    data::{
        columns::Columns,
        criteria::Criteria,
        dataset::Dataset,
        guidelines::{Finding, Guideline, findings},
        summary::{Shared, Summary},
    },
    error::{Error, Result},
    evaluation::agreement::fleiss_kappa,
    lens::Lens,
};

use pairs::{CHUNK, JudgedPairs};

mod pairs;

/// Look through data: counts and lengths, agreement of annotators, conditions against the guidelines
///
/// Prints what a table of sentence pairs under conditions holds (rows, pairs, labels, mean lengths in words, sentences in
/// several pairs), and which conditions do not keep to the guidelines that C-STS gave its annotators, row by row with the
/// reason:
///
///   1 a grammatical phrase                          4 no word of "sentences"
///   2 nothing that a sentence does not say          5 one aspect, named precisely: not "the activity"
///   3 an attribute, not "the color is green"        6 something abstract, where there is a choice
///
/// Words alone show 1 and 3 to 6, as far as they can be seen in English. Guideline 2 takes a model that tells what a sentence
/// mentions: --mentioned asks it.
///
///   caselens check-data --data mine.csv --against csts_train.csv
///   caselens check-data --data votes.csv --annotators first,second,third
///
/// With --pairs, which sentence pairs C-STS would have asked about: those neither so alike in words nor so unlike in what they
/// say that a condition has nothing to decide (appendix A.2). --json gives every pair's figures.
///
///   caselens check-data --data candidates.csv --pairs flickr30k --model princeton-nlp/sup-simcse-bert-base-uncased --head none
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A table with sentence1, sentence2, condition and label, of which it need not have all
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// Count what the data shares with this table
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Columns of labels, one an annotator, two or more: Fleiss' kappa of how far they agree. Rows that lack one of them are
    /// left out
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    annotators: Vec<String>,
    /// Guidelines whose findings are told
    #[arg(
        long,
        value_name = "N,…",
        value_delimiter = ',',
        default_value = "1,2,3,4,5,6",
        value_parser = clap::value_parser!(u8).range(1..=6)
    )]
    guidelines: Vec<u8>,
    /// Ask the head of --model which rows have a sentence that says nothing about the condition (guideline 2)
    #[arg(long)]
    mentioned: bool,
    /// Judge sentence pairs, too, by the bounds that C-STS has for captions of this origin, with a similarity of 0.4 at least by
    /// --model's embeddings of the sentences by themselves, and seven words for ten at least
    #[arg(long, value_enum)]
    pairs: Option<Criteria>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    lens: LensArgs,
}

/// A row whose condition does not keep to a guideline.
#[derive(Debug, Serialize)]
struct Found {
    /// From 1.
    row: usize,
    condition: String,
    #[serde(flatten)]
    finding: Finding,
}

/// How far annotators agree.
#[derive(Debug, Serialize)]
struct Agreement {
    annotators: usize,
    rows: usize,
    /// null where all votes are the same, or where there is no row.
    fleiss_kappa: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    summary: Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    shared: Option<Shared>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agreement: Option<Agreement>,
    #[serde(skip_serializing_if = "Option::is_none")]
    judged: Option<JudgedPairs>,
    findings: Vec<Found>,
}

pub fn run(args: Args) -> Result<()> {
    let read = |path: &Path| {
        let mut numbers = Dataset::NUMBERS.to_vec();
        numbers.extend(args.annotators.iter().map(String::as_str));
        columns(path, &Dataset::TEXTS, &numbers, None)
    };
    let table = read(&args.data)?;
    let asked = args.mentioned || args.pairs.is_some();
    let lens = asked.then(|| args.lens.open()).transpose()?;
    let mut all = by_words(&table);
    let mut judged = None;
    if let Some(lens) = &lens {
        if args.mentioned {
            all.extend(by_a_model(lens, &args.data, &table)?);
        }
        if let Some(criteria) = args.pairs {
            judged = Some(JudgedPairs::of(criteria, lens, &args.data, &table)?);
        }
    }
    all.retain(|found| args.guidelines.contains(&found.finding.guideline.number()));
    all.sort_by_key(|found| (found.row, found.finding.guideline));
    let report = Report {
        summary: Summary::of(&table),
        shared: match &args.against {
            Some(other) => Some(Shared::of(&table, &read(other)?)),
            None => None,
        },
        agreement: agreement(&args, &table)?,
        judged,
        findings: all,
    };
    match args.json {
        true => json_line(&report),
        false => print(&args, &report),
    }
}

/// What the words of the conditions show. A table without conditions has no findings.
fn by_words(table: &Columns) -> Vec<Found> {
    let mut all = Vec::new();
    for row in (0..table.rows()).filter(|_| table.has("condition")) {
        let condition = table.cell("condition", row).unwrap_or_default();
        all.extend(findings(condition).into_iter().map(|finding| Found {
            row: row + 1,
            condition: condition.to_owned(),
            finding,
        }));
    }
    all
}

/// Rows with a sentence that says nothing about the condition, by a head that tells.
fn by_a_model(lens: &Lens, file: &Path, table: &Columns) -> Result<Vec<Found>> {
    let Some(mentioned) = lens.mentioned() else {
        return Err(Error::InvalidArgument(
            "this head does not tell what a sentence mentions: fit that with `caselens fit-mentioned`, or leave --mentioned out."
                .into(),
        ));
    };
    let rows = Dataset::texts(&file.display().to_string(), table)?;
    let mut all = Vec::new();
    for (chunk, first) in rows.chunks(CHUNK).zip((1..).step_by(CHUNK)) {
        let texts = chunk.iter().map(|row| row.each_ref().map(String::as_str));
        let compared = wait(lens.compare_rows(texts))?;
        for ((probabilities, row), [_, _, condition]) in
            compared.mentioned.into_iter().zip(first..).zip(chunk)
        {
            all.extend(mentioned.unsaid(probabilities).map(|said| Found {
                row,
                condition: condition.clone(),
                finding: Finding {
                    guideline: Guideline::NothingMissing,
                    reason: format!("{said} anything about it"),
                },
            }));
        }
    }
    Ok(all)
}

/// # Errors
/// A column is missing, or there is one alone.
fn agreement(args: &Args, table: &Columns) -> Result<Option<Agreement>> {
    let names = &args.annotators;
    if names.is_empty() {
        return Ok(None);
    }
    if names.len() < 2 {
        return Err(Error::InvalidArgument(
            "agreement takes two annotators at least: name their columns, separated by commas."
                .into(),
        ));
    }
    if let Some(name) = names.iter().find(|name| !table.has(name)) {
        return Err(Error::Data {
            file: args.data.display().to_string(),
            row: 0,
            reason: format!("the column `{name}` is missing"),
        });
    }
    let mut places = BTreeMap::new();
    let mut votes: Vec<Vec<usize>> = Vec::new();
    for row in 0..table.rows() {
        let cells = names.iter().map(|name| {
            let label = table.cell(name, row)?.trim();
            // 4 and 4.0 are one vote.
            let label = label
                .parse::<f64>()
                .map_or(label.to_owned(), |l| l.to_string());
            (!label.is_empty()).then_some(label)
        });
        let Some(labels) = cells.collect::<Option<Vec<_>>>() else {
            continue;
        };
        let mut own = Vec::new();
        for label in labels {
            let next = places.len();
            let place = *places.entry(label).or_insert(next);
            own.resize(own.len().max(place + 1), 0);
            own[place] += 1;
        }
        votes.push(own);
    }
    Ok(Some(Agreement {
        annotators: names.len(),
        rows: votes.len(),
        fleiss_kappa: fleiss_kappa(&votes),
    }))
}

fn print(args: &Args, report: &Report) -> Result<()> {
    let Summary {
        rows,
        pairs,
        sentences,
        shared_sentences,
        conditions,
        ..
    } = report.summary;
    text_line(&format!(
        "{}: {rows} rows, {pairs} sentence pairs, {sentences} sentences ({shared_sentences} in several pairs), {conditions} conditions",
        args.data.display()
    ))?;
    let summary = &report.summary;
    if let (Some(sentence), Some(condition)) = (summary.sentence_words, summary.condition_words) {
        text_line(&format!(
            "mean words: {sentence:.1} a sentence, {condition:.1} a condition"
        ))?;
    }
    let labels = summary
        .labels
        .iter()
        .map(|(label, n)| format!("{label}: {n}"));
    let without = (summary.unlabelled > 0).then(|| format!("none: {}", summary.unlabelled));
    let labels: Vec<String> = labels.chain(without).collect();
    text_line(&format!("labels: {}", labels.join(", ")))?;
    if let (Some(shared), Some(other)) = (&report.shared, &args.against) {
        text_line(&format!(
            "also in {}: {} sentences, {} sentence pairs, {} conditions",
            other.display(),
            shared.sentences,
            shared.pairs,
            shared.conditions
        ))?;
    }
    if let Some(agreement) = &report.agreement {
        let kappa = match agreement.fleiss_kappa {
            Some(kappa) => format!("{kappa:.3}"),
            None => "none, as all votes are the same, or there is none".into(),
        };
        text_line(&format!(
            "Fleiss' kappa of {} annotators on {} rows: {kappa}",
            agreement.annotators, agreement.rows
        ))?;
    }
    if let Some(judged) = &report.judged {
        judged.print()?;
    }
    let mut counts = BTreeMap::new();
    for found in &report.findings {
        *counts.entry(found.finding.guideline).or_insert(0usize) += 1;
    }
    for (guideline, count) in counts {
        text_line(&format!(
            "guideline {}, {}: {count} rows",
            guideline.number(),
            guideline.asks()
        ))?;
    }
    for found in &report.findings {
        text_line(&format!(
            "row {}: \"{}\" (guideline {}): {}",
            found.row,
            found.condition,
            found.finding.guideline.number(),
            found.finding.reason
        ))?;
    }
    Ok(())
}

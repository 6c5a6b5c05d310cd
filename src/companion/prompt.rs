//! `caselens prompt`: a language model is asked for ratings, in words.

use std::{
    collections::HashMap,
    fs::OpenOptions,
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    time::Instant,
};

use serde::{Deserialize, Serialize};

use super::{
    output::{json_line, note, percent, progress, text_line, write_file},
    runtime::ModelArgs,
    table,
};
use crate::{
    data::{
        dataset::Dataset,
        prompting::{Instruction, Prompting, Spacing, asking},
    },
    embedding::Case,
    error::{Error, Result},
    evaluation::{
        answered::{Answered, Parser},
        metrics::Scores,
    },
    model::language_model::Limits,
    similarity::cosine,
};

/// Ask a language model for ratings, and evaluate what it answers
///
/// Each row becomes a prompt as in the C-STS paper: an instruction, --shots rated examples in pairs of one sentence pair under two
/// conditions, then the row itself. A local language model goes on with it (Mistral, Qwen2 or Llama) or answers it (T5), the likeliest
/// token each time:
///
///   caselens prompt --data csts_validation.csv --train csts_train.csv --shots 2 --model SmolLM2.gguf --output asked.jsonl
///   caselens prompt --data csts_validation.csv --train csts_train.csv --shots 4 --spacing t5 --model google/flan-t5-xl
///
/// Any other model is asked elsewhere: --write gives the prompts, and --answers takes what came back:
///
///   caselens prompt --data csts_validation.csv --instruction long --write prompts.jsonl
///   caselens prompt --data csts_validation.csv --instruction long --answers answers.jsonl
///
/// With --encoder it is asked what each sentence says about the condition, and the two answers are compared by that encoder's embeddings
/// (Tu et al., 2024):
///
///   caselens prompt --data csts_validation.csv --model SmolLM2.gguf --encoder all-MiniLM-L6-v2 --output answered.jsonl
///
/// The first number in an answer is its rating. Where there is none the answer is invalid and a number is drawn, evenly from 1 to 5; how many
/// those are is printed beside the figures.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Rows to ask about: a table with sentence1, sentence2, condition and label (CSV, JSON lines, Arrow IPC or Parquet)
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// Rated rows that examples are drawn from; a row's own sentence pair is never among its examples
    #[arg(long, value_name = "FILE")]
    train: Option<PathBuf>,
    /// How many examples
    #[arg(long, value_name = "K", default_value = "0", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(0..=64))]
    shots: usize,
    /// Ask what each sentence says about the condition, in place of a rating, and compare the answers by the embeddings of this encoder.
    /// `index` then counts sentences from 0, two a row
    #[arg(long, value_name = "FILE|DIR|NAME", conflicts_with_all = ["train", "shots"])]
    encoder: Option<PathBuf>,
    /// What stands before the examples
    #[arg(long, value_enum, default_value = "short")]
    instruction: Instruction,
    /// How labels and texts of a prompt are spaced
    #[arg(long, value_enum, default_value = "paper")]
    spacing: Spacing,
    /// How a number is found in an answer
    #[arg(long, value_enum, default_value = "first")]
    parse: Parser,
    /// Decides which examples stand before a row, and what is drawn for invalid answers
    #[arg(long, default_value = "0")]
    seed: u64,
    /// Ask about the first N rows alone
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Tokens of an answer at the most
    #[arg(long, value_name = "N", default_value = "20")]
    tokens: usize,
    /// Write the prompts, a JSON object {"index", "prompt"} a line, and stop; `index` counts the data's rows from 0
    #[arg(long, value_name = "FILE.jsonl", conflicts_with_all = ["answers", "output"])]
    write: Option<PathBuf>,
    /// Take the answers from a table with the column `answer`, and `index` where they are in another order than the rows
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,
    /// Write each prompt with its answer and the number in it, a JSON object a line. An interrupted run goes on with what stands there
    #[arg(short, long, value_name = "FILE.jsonl")]
    output: Option<PathBuf>,
    /// Print JSON, figures as fractions
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArgs,
}

/// A prompt, and what was answered.
#[derive(Serialize, Deserialize)]
struct Line {
    /// The row's place in the data, from 0.
    index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    prompt: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
}

#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    answered: &'a Answered,
    #[serde(flatten)]
    prompting: Prompting,
    parse: Parser,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
}

/// What comparing answers gave.
#[derive(Serialize)]
struct Compared {
    #[serde(flatten)]
    scores: Scores,
    rows: usize,
    /// Sentences of which nothing was said.
    empty: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
}

pub fn run(args: Args) -> Result<()> {
    let data = table::data::dataset(&args.data, args.limit)?;
    if let Some(encoder) = &args.encoder {
        return compare_answers(&args, &data, encoder);
    }
    let train = match &args.train {
        Some(path) => table::data::dataset(path, None)?,
        None if args.shots == 0 => Dataset::default(),
        None => {
            return Err(Error::InvalidArgument(
                "examples are drawn from rated rows, and none are named. Name them with --train, or ask without examples (--shots 0).".into(),
            ));
        }
    };
    let prompting = Prompting {
        instruction: args.instruction,
        shots: args.shots,
        spacing: args.spacing,
        seed: args.seed,
    };
    let lines = places(&data).zip(prompting.prompts(&data, &train)?);
    let Some(Given {
        answers,
        by,
        seconds,
    }) = answers(&args, lines, &[])?
    else {
        return Ok(());
    };
    let answered = Answered::of(
        &answers,
        &data.ratings(),
        &data.pairs,
        args.parse,
        args.seed,
    );
    match args.json {
        true => json_line(&Report {
            answered: &answered,
            prompting,
            parse: args.parse,
            seconds,
        }),
        false => print(&answered, &by),
    }
}

/// Asks what sentences say about conditions, and compares what was answered.
fn compare_answers(args: &Args, data: &Dataset, encoder: &Path) -> Result<()> {
    let prompts = places(data).zip(&data.rows).flat_map(|(place, row)| {
        let [first, second, condition] = row.texts();
        let asked = [first, second].map(|sentence| asking(sentence, condition));
        (2 * place..).zip(asked)
    });
    let Some(Given {
        answers,
        by,
        seconds,
    }) = answers(args, prompts, &["\n"])?
    else {
        return Ok(());
    };
    let answers: Vec<&str> = answers.iter().map(|answer| answer.trim()).collect();
    let empty = answers.iter().filter(|answer| answer.is_empty()).count();
    let model = ModelArgs {
        model: Some(encoder.to_owned()),
        dtype: None,
        ..args.model.clone()
    };
    let lens = model.lens(None, |_| Ok(Case::default()))?;
    // An answer that says nothing is one too.
    let texts = answers.iter().map(|&answer| match answer {
        "" => ("nothing", None),
        answer => (answer, None),
    });
    let embedded = pollster::block_on(lens.embed(&texts.collect::<Vec<_>>()))?.vectors;
    let similarity = |pair: &[Vec<f32>]| f64::from(cosine(&pair[0], &pair[1]));
    let predicted: Vec<f64> = embedded.chunks_exact(2).map(similarity).collect();
    let compared = Compared {
        scores: Scores::of(&predicted, &data.ratings(), &data.pairs),
        rows: predicted.len(),
        empty,
        seconds,
    };
    if args.json {
        return json_line(&compared);
    }
    print_scores(
        &compared.scores,
        compared.rows,
        &format!("{by}, answers compared by {}", lens.encoder.id),
    )?;
    text_line(&format!(
        "sentences of which nothing was said: {:.1} %",
        100.0 * empty as f64 / (2 * compared.rows).max(1) as f64
    ))
}

/// The places of the rows that are asked about in the file that they are from.
fn places(data: &Dataset) -> impl Iterator<Item = usize> + '_ {
    let kept = data.kept.iter().enumerate();
    kept.filter_map(|(place, row)| row.map(|_| place))
}

/// What was answered.
struct Given {
    /// In the order of the prompts.
    answers: Vec<String>,
    /// The model, or the file that the answers are from.
    by: String,
    /// How long it took, where it was asked now.
    seconds: Option<f64>,
}

/// What is answered to prompts, each with its number. `None` where prompts were to be written alone.
fn answers(
    args: &Args,
    prompts: impl Iterator<Item = (usize, String)>,
    stop: &[&str],
) -> Result<Option<Given>> {
    let line = |(index, prompt)| Line {
        index,
        model: None,
        prompt,
        answer: None,
    };
    let mut lines: Vec<Line> = prompts.map(line).collect();
    if let Some(path) = &args.write {
        write_file(path, &jsonl(&lines)?)?;
        note!("wrote {}: {} prompts", path.display(), lines.len());
        return Ok(None);
    }
    let begun = Instant::now();
    let by = match &args.answers {
        Some(path) => {
            read_answers(path, &mut lines)?;
            if let Some(output) = &args.output {
                write_file(output, &jsonl(&lines)?)?;
            }
            path.display().to_string()
        }
        None => ask(args, &mut lines, stop)?,
    };
    let seconds = args
        .answers
        .is_none()
        .then(|| begun.elapsed().as_secs_f64());
    let answers = lines.into_iter();
    let answers = answers.map(|line| line.answer.unwrap_or_default());
    Ok(Some(Given {
        answers: answers.collect(),
        by,
        seconds,
    }))
}

/// Has the model that is named answer each prompt, to the first of `stop`; its name.
fn ask(args: &Args, lines: &mut [Line], stop: &[&str]) -> Result<String> {
    if args.model.named()?.is_none() {
        return Err(Error::InvalidArgument(
            "nobody is asked: name a language model with --model, what another one answered with --answers, or a file for the prompts with --write.".into(),
        ));
    }
    let model = args.model.language_model()?;
    let name = match args.model.dtype {
        Some(precision) => format!("{} ({})", model.name(), precision.name()),
        None => model.name().to_owned(),
    };
    let mut out = args
        .output
        .as_deref()
        .map(|path| Answers::open(path, &name, lines))
        .transpose()?;
    let limits = Limits {
        tokens: args.tokens,
        stop,
    };
    let bar = progress("asking", lines.len() as u64);
    for line in lines.iter_mut() {
        if line.answer.is_none() {
            let written = model.complete(&line.prompt, &limits);
            // Of a row's two sentences each has a number.
            let row = line.index / if args.encoder.is_some() { 2 } else { 1 } + 1;
            let written = written.map_err(|e| e.in_row(&args.data.display().to_string(), row))?;
            line.model = Some(name.clone());
            line.answer = Some(written.text);
            if let Some(out) = &mut out {
                out.add(line)?;
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(name)
}

/// Answers as they come.
struct Answers<'a> {
    path: &'a Path,
    file: std::fs::File,
}

impl<'a> Answers<'a> {
    /// Opens a file for answers of this model, and takes those that stand there already. A line that was cut short is written anew.
    fn open(path: &'a Path, model: &str, lines: &mut [Line]) -> Result<Self> {
        let mut options = OpenOptions::new();
        let options = options.create(true).truncate(false).read(true).write(true);
        let mut file = options.open(path).map_err(Error::io(path))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(Error::io(path))?;
        bytes.truncate(memchr::memrchr(b'\n', &bytes).map_or(0, |end| end + 1));
        let places = numbered(lines);
        for (row, text) in (1..).zip(bytes.split_inclusive(|&b| b == b'\n')) {
            let bad = |reason: String| Error::Data {
                file: path.display().to_string(),
                row,
                reason: format!("{reason}. Name another file with --output"),
            };
            let known: Line = serde_json::from_slice(text)
                .map_err(|e| bad(format!("it is not an answer that this command wrote ({e})")))?;
            let Some(&place) = places.get(&known.index) else {
                continue;
            };
            if known.model.as_deref() != Some(model) || known.prompt != lines[place].prompt {
                return Err(bad(
                    "it is an answer of another model, or to another prompt".into(),
                ));
            }
            lines[place] = known;
        }
        let end = bytes.len() as u64;
        file.set_len(end).map_err(Error::io(path))?;
        file.seek(SeekFrom::Start(end)).map_err(Error::io(path))?;
        Ok(Self { path, file })
    }

    fn add(&mut self, line: &Line) -> Result<()> {
        let bytes = jsonl(std::slice::from_ref(line))?;
        self.file.write_all(&bytes).map_err(Error::io(self.path))
    }
}

/// Where the prompt of each number is.
fn numbered(lines: &[Line]) -> HashMap<usize, usize> {
    lines
        .iter()
        .enumerate()
        .map(|(i, line)| (line.index, i))
        .collect()
}

fn jsonl(lines: &[Line]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut bytes, line)
            .map_err(|e| Error::InvalidArgument(e.to_string()))?;
        bytes.push(b'\n');
    }
    Ok(bytes)
}

/// Puts the answers of a table beside their prompts.
fn read_answers(path: &Path, lines: &mut [Line]) -> Result<()> {
    let bad = |row: usize, reason: String| Error::Data {
        file: path.display().to_string(),
        row,
        reason,
    };
    // A model's answer may be a number in JSON.
    let columns = table::data::columns(path, &[], &["answer", "index"], None)?;
    if !columns.has("answer") {
        return Err(bad(0, "the column `answer` is missing".into()));
    }
    let places = numbered(lines);
    for row in 0..columns.rows() {
        let line = match columns.has("index") {
            true => {
                let index = columns.cell("index", row).unwrap_or_default();
                let place = index
                    .trim()
                    .parse()
                    .ok()
                    .and_then(|index: usize| places.get(&index));
                place.copied().ok_or_else(|| {
                    bad(
                        row + 1,
                        format!("the index `{index}` is of no row that is asked about"),
                    )
                })?
            }
            false => row,
        };
        let Some(line) = lines.get_mut(line) else {
            return Err(bad(
                row + 1,
                format!("there are only {} prompts", lines.len()),
            ));
        };
        let answer = columns.cell("answer", row).unwrap_or_default();
        if line.answer.replace(answer.to_owned()).is_some() {
            return Err(bad(
                row + 1,
                format!("row {} has an answer already", line.index),
            ));
        }
    }
    match lines.iter().find(|line| line.answer.is_none()) {
        None => Ok(()),
        Some(line) => Err(bad(
            columns.rows(),
            format!(
                "it ends here, without an answer to row {} of the data (from 0)",
                line.index
            ),
        )),
    }
}

fn print(answered: &Answered, asked: &str) -> Result<()> {
    let share = |count: usize| 100.0 * count as f64 / answered.rows.max(1) as f64;
    print_scores(&answered.scores, answered.rows, asked)?;
    text_line(&format!(
        "invalid answers, a number drawn for each: {:.1} %; numbers that are not between 1 and 5: {:.1} %",
        share(answered.invalid),
        share(answered.out_of_range)
    ))
}

fn print_scores(scores: &Scores, rows: usize, asked: &str) -> Result<()> {
    text_line(&format!("{asked}\n{rows} rows\n"))?;
    text_line("Spearman  Pearson  accuracy  accuracy without ties")?;
    text_line(&format!(
        "{:>8} {:>8} {:>9} {:>22}\n",
        percent(scores.spearman),
        percent(scores.pearson),
        percent(scores.accuracy),
        percent(scores.accuracy_untied)
    ))
}

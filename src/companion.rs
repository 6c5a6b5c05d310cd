//! The companion program: the same story on the command line, and what the browser cannot do: training,
//! evaluation, quantisation and export. One file a subcommand.
//!
//! Results go to standard output, everything else to standard error. Exit codes: 0 for success, 1 where
//! the machine failed us (files, devices), 2 where the input was wrong.

#![deny(
    clippy::print_stderr,
    reason = "it panics where nobody reads: `note!` does not"
)]

use std::{io::IsTerminal, process::ExitCode};

use clap::{Parser, Subcommand};

use self::output::note;
use crate::error::{Error, Result};

mod advice;
mod average;
mod bench;
mod bench_tri;
mod cache;
mod check_data;
mod cluster;
mod compare_runs;
mod dequantize;
mod embed;
mod embedded;
mod evaluate;
mod explain;
mod export;
mod fit_mentioned;
mod fit_ratings;
mod folder;
mod hub;
mod input;
mod kgc;
mod models;
mod notes;
mod numbers;
mod output;
pub mod plot;
mod prompt;
mod quantize;
mod report;
mod retired;
mod runtime;
mod score;
mod score_table;
mod shipped;
pub mod table;
mod train;
mod words;

/// Conditional sentence similarity: how alike are two sentences, seen through a condition?
///
/// Without --model and --head the commands use what ships with caselens, found beside the program, in the
/// working directory (www/public/models), or where `models fetch` puts it; the environment variables CASELENS_MODEL and
/// CASELENS_HEAD name others. The folder of an encoder that `fine-tune` wrote brings its own head.
#[derive(Parser)]
#[command(
    name = "caselens",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Score(score::Args),
    ScoreTable(score_table::Args),
    Embed(embed::Args),
    TrainHead(Box<train::head::Args>),
    FineTune(Box<train::encoder::Args>),
    Average(average::Args),
    Evaluate(evaluate::Args),
    CheckData(check_data::Args),
    CompareRuns(compare_runs::Args),
    Explain(explain::Args),
    Cluster(cluster::Args),
    Words(words::Args),
    Kgc(kgc::Args),
    FitMentioned(fit_mentioned::Args),
    FitRatings(fit_ratings::Args),
    Prompt(prompt::Args),
    Report(report::Args),
    Quantize(quantize::Args),
    Dequantize(dequantize::Args),
    Export(export::Args),
    Bench(bench::Args),
    BenchTri(bench_tri::Args),
    Models(models::Args),
    #[command(hide = true)]
    Train(retired::Args),
    #[command(hide = true)]
    Distill(retired::Args),
    #[command(hide = true)]
    Apply(retired::Args),
}

/// Parses the command line and runs it.
pub fn main() -> ExitCode {
    // An empty variable is none, as for other programs: to `clap` it would be a value, and an empty one is refused.
    for name in ["CASELENS_MODEL", "CASELENS_HEAD", "CASELENS_MODELS_URL"] {
        if std::env::var_os(name).is_some_and(|value| value.is_empty()) {
            // SAFETY: there is no other thread yet.
            unsafe { std::env::remove_var(name) };
        }
    }
    // Vulkan's loaders say at "warn" what concerns nobody who asked for a similarity.
    let filter = tracing_subscriber::EnvFilter::try_from_env("CASELENS_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("caselens=warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(output::Notes::default)
        .with_ansi(std::io::stderr().is_terminal())
        .without_time()
        .with_target(false)
        .init();
    // This thread works with the pool's others: handing each of a training step's thousands of small jobs to
    // another thread, and waiting, costs more than some of the jobs.
    if let Err(e) = rayon::ThreadPoolBuilder::new()
        .use_current_thread()
        .build_global()
    {
        tracing::warn!("the thread pool stays as it was: {e}");
    }
    let result = match Cli::parse().command {
        Command::Score(args) => score::run(args),
        Command::ScoreTable(args) => score_table::run(args),
        Command::Embed(args) => embed::run(args),
        Command::TrainHead(args) => train::head::run(*args),
        Command::FineTune(args) => train::encoder::run(*args),
        Command::Average(args) => average::run(args),
        Command::Evaluate(args) => evaluate::run(args),
        Command::CheckData(args) => check_data::run(args),
        Command::CompareRuns(args) => compare_runs::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Cluster(args) => cluster::run(args),
        Command::Words(args) => words::run(args),
        Command::Kgc(args) => kgc::run(args),
        Command::FitMentioned(args) => fit_mentioned::run(args),
        Command::FitRatings(args) => fit_ratings::run(args),
        Command::Prompt(args) => prompt::run(args),
        Command::Report(args) => report::run(args),
        Command::Quantize(args) => quantize::run(args),
        Command::Dequantize(args) => dequantize::run(args),
        Command::Export(args) => export::run(args),
        Command::Bench(args) => bench::run(args),
        Command::BenchTri(args) => bench_tri::run(args),
        Command::Models(args) => models::run(args),
        Command::Train(_) => retired::train(),
        Command::Distill(_) => retired::distill(),
        Command::Apply(_) => retired::apply(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // A reader that has seen enough (`| head`) is no failure.
        Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            note!("caselens: {error}");
            if let Some(advice) = advice::advice(error.code()) {
                note!("{advice}");
            }
            ExitCode::from(exit_code(&error))
        }
    }
}

fn exit_code(error: &Error) -> u8 {
    match error {
        Error::Io { source, .. } if source.kind() != std::io::ErrorKind::NotFound => 1,
        Error::NotEnoughMemory { .. } | Error::BatchTooLarge(_) => 1,
        Error::HubOffline { .. } | Error::HubDownload { .. } => 1,
        Error::NoGpu(_) | Error::NoCuda(_) | Error::GpuLost(_) | Error::Candle(_) => 1,
        _ => 2,
    }
}

/// Runs a future to its end; natively nothing in this crate waits on anything but the device.
fn wait<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    pollster::block_on(future)
}

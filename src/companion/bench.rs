//! `caselens bench`: how fast this machine runs an encoder, and how near that is to what it could.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::{
    output::{json_line, text_line},
    runtime::{DeviceName, ModelArgs},
    wait,
};
use crate::{
    backend::{
        simd::Simd,
        webgpu::{KernelTime, Options, WebGpu},
    },
    device::{AnyLens, Parts},
    embedding::{Case, Pool},
    error::{Error, Result},
    model::{checkpoint::Checkpoint, config::Config},
    text::Sequence,
};

/// Time an encoder on this machine
///
/// Runs four shapes of work, each for a few seconds: one comparison (a), a batch of short sentences (b), one
/// of long sentences (c), and one of mixed lengths (d). Prints the median time, operations per second, and
/// their share of what this machine's cores reach in a loop of the same instruction.
///
///   caselens bench --model all-MiniLM-L6-v2-q8_0.gguf
///   RAYON_NUM_THREADS=1 caselens bench     # one thread
///   caselens bench --device webgpu --kernels
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    model: ModelArgs,
    /// Seconds for each shape
    #[arg(long, value_name = "S", default_value_t = 2.0)]
    seconds: f64,
    /// With --device webgpu: also time each kernel, by timestamps on the GPU
    #[arg(long)]
    kernels: bool,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

/// A shape's name and its sentences' lengths in tokens.
type Shape = (&'static str, Vec<usize>);

fn shapes() -> [Shape; 4] {
    let mixed = [
        14, 30, 12, 25, 10, 128, 8, 22, 20, 20, 14, 8, 100, 10, 50, 64, 18, 12, 10, 16, 16, 16, 80,
        40, 18, 18, 14, 22, 8, 20, 12, 22,
    ];
    [
        ("a: 2 × 25 tokens", vec![25; 2]),
        ("b: 32 × 25 tokens", vec![25; 32]),
        ("c: 32 × 128 tokens", vec![128; 32]),
        ("d: 32 × 8–128 tokens", mixed.to_vec()),
    ]
}

#[derive(Serialize)]
struct Line {
    shape: &'static str,
    tokens: usize,
    /// Median of the runs.
    milliseconds: f64,
    runs: usize,
    /// 10⁹ operations per second; a product and a sum are two.
    gops: f64,
    /// Of the measured peak of all threads, 0–1; absent where none was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<f64>,
}

pub fn run(args: Args) -> Result<()> {
    let lens = match args.kernels {
        true => timed(&args.model)?,
        false => args.model.lens(None, Case::default())?,
    };
    let config = lens.config()?;
    let peak = match lens {
        AnyLens::Simd(_) => {
            let start = Instant::now();
            let peak = Simd::new().peak(|| start.elapsed().as_secs_f64() * 1e3);
            Some(peak * rayon::current_num_threads() as f64)
        }
        _ => None,
    };
    if !args.json {
        text_line(&format!(
            "{} in {} on {}",
            lens.encoder_id(),
            lens.dtype(),
            place(&lens, peak)
        ))?;
    }
    let limit = Duration::from_secs_f64(args.seconds.clamp(0.01, 3600.0));
    for (shape, lengths) in shapes() {
        let sequences: Vec<_> = lengths
            .iter()
            .map(|&length| sequence(length.min(config.max_positions), config))
            .collect();
        // The first pass fills buffers and caches.
        wait(lens.pooled(&sequences, &[Pool::All]))?;
        lens.kernel_times();
        let mut times = Vec::new();
        let start = Instant::now();
        while times.len() < 3 || start.elapsed() < limit {
            let start = Instant::now();
            wait(lens.pooled(&sequences, &[Pool::All]))?;
            times.push(start.elapsed().as_secs_f64());
        }
        times.sort_by(f64::total_cmp);
        let seconds = times[times.len() / 2];
        let speed = operations(config, &sequences) / seconds;
        let line = Line {
            shape,
            tokens: sequences.iter().map(|s| s.ids.len()).sum(),
            milliseconds: seconds * 1e3,
            runs: times.len(),
            gops: speed / 1e9,
            share: peak.map(|peak| speed / peak),
        };
        print(&line, args.json)?;
        for time in lens.kernel_times() {
            print_kernel(&time, times.len() as f64, args.json)?;
        }
    }
    Ok(())
}

/// A lens on WebGPU whose kernels are timed.
fn timed(model: &ModelArgs) -> Result<AnyLens> {
    if model.device != DeviceName::Webgpu {
        return Err(Error::InvalidArgument(
            "--kernels times kernels of WebGPU: it needs --device webgpu.".into(),
        ));
    }
    let parts = Parts {
        checkpoint: &Checkpoint::open(&model.path()?)?,
        head: None,
        case: Case::default(),
    };
    let gpu = wait(WebGpu::open(Options {
        profile: true,
        ..Options::default()
    }))?;
    AnyLens::on_webgpu(&parts, gpu)
}

fn print_kernel(time: &KernelTime, runs: f64, json: bool) -> Result<()> {
    if json {
        return json_line(time);
    }
    let per_second = |amount: f64| amount / time.seconds.max(1e-12) / 1e9;
    let products = match time.operations {
        0.0 => String::new(),
        operations => format!("  {:7.1} GOP/s", per_second(operations)),
    };
    text_line(&format!(
        "  {:<26} × {:>3} {:>9.3} ms  {:7.1} GB/s{products}",
        time.kernel,
        time.dispatches as f64 / runs,
        1e3 * time.seconds / runs,
        per_second(time.bytes)
    ))
}

fn place(lens: &AnyLens, peak: Option<f64>) -> String {
    let threads = rayon::current_num_threads();
    match (peak, lens.adapter()) {
        (Some(peak), _) => format!(
            "{threads} thread(s) with {}, whose peak is {:.0} GOP/s",
            Simd::new().instructions(),
            peak / 1e9
        ),
        (_, Some(adapter)) => adapter,
        _ => format!("{threads} thread(s) with candle"),
    }
}

fn print(line: &Line, json: bool) -> Result<()> {
    if json {
        return json_line(line);
    }
    let share = line.share.map_or(String::new(), |share| {
        format!("  {:4.1} % of the peak", 100.0 * share)
    });
    text_line(&format!(
        "{:<22} {:>9.2} ms  {:>6.1} GOP/s{share}",
        line.shape, line.milliseconds, line.gops
    ))
}

/// An input of that many tokens: which ones makes no difference to the time.
fn sequence(length: usize, config: &Config) -> Sequence {
    let ids: Vec<_> = (0..length)
        .map(|i| (i * 7919 % config.vocab_size) as u32)
        .collect();
    Sequence {
        types: vec![0; length],
        condition: 0..length,
        sentence: 0..length,
        cut: 0,
        ids,
    }
}

/// Operations of the products in a forward pass: linear layers, and attention's two.
fn operations(config: &Config, sequences: &[Sequence]) -> f64 {
    let (hidden, wide) = (config.hidden_size as f64, config.intermediate_size as f64);
    let of_token = 2.0 * (4.0 * hidden * hidden + 2.0 * hidden * wide);
    let of_layer: f64 = sequences
        .iter()
        .map(|s| s.ids.len() as f64)
        .map(|tokens| tokens * of_token + 4.0 * tokens * tokens * hidden)
        .sum();
    of_layer * config.num_hidden_layers as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shapes_are_those_of_the_comparison_with_others() {
        let tokens: Vec<usize> = shapes().iter().map(|(_, s)| s.iter().sum()).collect();
        assert_eq!(tokens, [50, 800, 4096, 877]);
    }
}

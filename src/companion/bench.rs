//! `caselens bench`: how fast this machine runs an encoder, and how near that is to what it could.

use std::{
    str::FromStr,
    time::{Duration, Instant},
};

use serde::Serialize;

use super::{
    output::{json_line, text_line},
    runtime::{DeviceName, ModelArgs},
    wait,
};
use crate::{
    backend::{
        any::AnyBackend,
        candle::gpu::Gpu,
        simd::Simd,
        webgpu::{KernelTime, Options, WebGpu},
    },
    checkpoint::{Checkpoint, weights::Dtype},
    embedding::{Case, Pool},
    error::{Error, Result},
    lens::Lens,
    text::Sequence,
};

/// Time an encoder on this machine
///
/// Runs four shapes of work, each for a few seconds: one comparison (a), a batch of short sentences
/// (b), one of long sentences (c), and one of mixed lengths (d); or those that --shape names. Prints
/// the median time, tokens and operations per second, their share of what this machine's cores reach
/// in a loop of the same instruction, or an NVIDIA GPU in a large product in bf16, and the most of
/// that GPU's memory that was in use.
///
///   caselens bench --model all-MiniLM-L6-v2-q8_0.gguf
///   RAYON_NUM_THREADS=1 caselens bench     # one thread
///   caselens bench --device webgpu --kernels
///   caselens bench --device cuda --model nvidia/NV-Embed-v2 --shape 32x64 --shape 32x8-512
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    model: ModelArgs,
    /// Inputs in a batch and tokens in each, or from the shortest to the longest of mixed lengths: 32x64,
    /// 32x8-512; may be given again [default: the four above]
    #[arg(long = "shape", value_name = "INPUTSxTOKENS[-TOKENS]")]
    shapes: Vec<String>,
    /// Seconds for each shape
    #[arg(long, value_name = "S", default_value_t = 2.0)]
    seconds: f64,
    /// With --device webgpu: also time each kernel, by timestamps on the GPU
    #[arg(long)]
    kernels: bool,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
    /// With --json: each line also holds its inputs, their token ids and their embeddings (the mean over all
    /// tokens), for comparisons with other programs
    #[arg(long, requires = "json")]
    inputs: bool,
}

/// A batch of inputs: its name, and their lengths in tokens.
#[derive(Debug, PartialEq)]
struct Shape {
    name: String,
    lengths: Vec<usize>,
}

/// Far above what is worth timing; a slip of the keyboard must not ask for absurd allocations.
const MAX_TOKENS: usize = 1 << 22;

impl FromStr for Shape {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |why: &str| {
            Err(Error::InvalidArgument(format!(
                "--shape {text:?} {why}. Name inputs and tokens, such as 32x64, or 32x8-512 for mixed lengths."
            )))
        };
        let number = |text: &str| text.parse::<usize>().ok().filter(|&n| n > 0);
        let Some((inputs, tokens)) = text.split_once('x') else {
            return wrong("is no shape");
        };
        let (first, last) = tokens.split_once('-').unwrap_or((tokens, tokens));
        let (Some(inputs), Some(first), Some(last)) = (number(inputs), number(first), number(last))
        else {
            return wrong("is no shape");
        };
        if first > last {
            return wrong("begins with the longest");
        }
        if inputs.checked_mul(last).is_none_or(|all| all > MAX_TOKENS) {
            return wrong(&format!("has more than {MAX_TOKENS} tokens"));
        }
        // Spread evenly, the short and the long by turns.
        let length = |i: usize| {
            let rank = match i.is_multiple_of(2) {
                true => i / 2,
                false => inputs - 1 - i / 2,
            };
            first + (last - first) * rank / (inputs - 1).max(1)
        };
        let range = match first == last {
            true => last.to_string(),
            false => format!("{first}–{last}"),
        };
        Ok(Self {
            name: format!("{inputs} × {range} tokens"),
            lengths: (0..inputs).map(length).collect(),
        })
    }
}

/// The shapes that were asked for, or else the usual ones cut to an encoder that takes so many tokens.
fn shapes(asked: Vec<Shape>, max_tokens: usize) -> Result<Vec<Shape>> {
    if asked.is_empty() {
        let shapes = usual().map(|(name, lengths)| Shape {
            name: name.into(),
            lengths: lengths.into_iter().map(|l| l.min(max_tokens)).collect(),
        });
        return Ok(shapes.into());
    }
    let too_long = |shape: &&Shape| shape.lengths.iter().any(|&l| l > max_tokens);
    match asked.iter().find(too_long) {
        Some(shape) => Err(Error::InvalidArgument(format!(
            "the encoder takes at most {max_tokens} tokens, and {} were asked for. Make the inputs shorter.",
            shape.name
        ))),
        None => Ok(asked),
    }
}

fn usual() -> [(&'static str, Vec<usize>); 4] {
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
struct Line<'a> {
    device: &'a str,
    shape: &'a str,
    tokens: usize,
    /// Median of the runs.
    milliseconds: f64,
    runs: usize,
    tokens_per_second: f64,
    /// 10⁹ operations of products per second; a product and a sum are two.
    gops: f64,
    /// Of the measured peak of all threads, or of the GPU in bf16, 0–1; absent where none was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<f64>,
    /// The most of the GPU's memory that was in use, by all programs, in bytes; absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inputs: Option<Vec<Input<'a>>>,
}

#[derive(Serialize)]
struct Input<'a> {
    ids: &'a [u32],
    embedding: &'a [f32],
}

pub fn run(args: Args) -> Result<()> {
    // Before anything is loaded, which can take minutes.
    let asked: Result<Vec<Shape>> = args.shapes.iter().map(|text| text.parse()).collect();
    let asked = asked?;
    let lens = match args.kernels {
        true => timed(&args.model)?,
        false => args
            .model
            .lens(None, |checkpoint| Ok(Case::of(checkpoint)))?,
    };
    let shapes = shapes(asked, lens.encoder.shape.max_tokens)?;
    let gpu = lens.encoder.backend.nvidia();
    let peak = match (&lens.encoder.backend, &gpu) {
        (AnyBackend::Simd(_), _) => {
            let start = Instant::now();
            let dtype = Dtype::named(&lens.encoder.dtype).unwrap_or(Dtype::Q8_0);
            let peak = Simd::new().peak(dtype, || start.elapsed().as_secs_f64() * 1e3);
            Some(peak * rayon::current_num_threads() as f64)
        }
        (_, Some(gpu)) => Some(gpu.peak()?),
        _ => None,
    };
    let device = place(&lens, gpu.as_ref(), peak);
    if !args.json {
        let (encoder, dtype) = (&lens.encoder.id, &lens.encoder.dtype);
        text_line(&format!("{encoder} in {dtype} on {device}"))?;
    }
    let limit = Duration::from_secs_f64(args.seconds.clamp(0.01, 3600.0));
    for shape in &shapes {
        let sequences: Vec<_> = (shape.lengths.iter().enumerate())
            .map(|(i, &length)| sequence(i, length, lens.encoder.shape.vocab_size))
            .collect();
        let pass = || wait(lens.encoder.pooled(&sequences, &[Pool::All]));
        // The first pass fills buffers and caches.
        let (rows, memory) = match &gpu {
            Some(gpu) => gpu.watched(pass),
            None => (pass(), None),
        };
        let rows = rows?;
        lens.encoder.backend.kernel_times();
        let mut times = Vec::new();
        let start = Instant::now();
        while times.len() < 3 || start.elapsed() < limit {
            let start = Instant::now();
            pass()?;
            times.push(start.elapsed().as_secs_f64());
        }
        times.sort_by(f64::total_cmp);
        let seconds = times[times.len() / 2];
        let tokens = shape.lengths.iter().sum();
        let operations: f64 = shape
            .lengths
            .iter()
            .map(|&l| lens.encoder.operations(l))
            .sum();
        let inputs = sequences.iter().zip(&rows).map(|(sequence, row)| Input {
            ids: &sequence.ids,
            embedding: row,
        });
        let line = Line {
            device: &device,
            shape: &shape.name,
            tokens,
            milliseconds: seconds * 1e3,
            runs: times.len(),
            tokens_per_second: tokens as f64 / seconds,
            gops: operations / seconds / 1e9,
            share: peak.map(|peak| operations / seconds / peak),
            memory,
            inputs: args.inputs.then(|| inputs.collect()),
        };
        print(&line, args.json)?;
        for time in lens.encoder.backend.kernel_times() {
            print_kernel(&time, times.len() as f64, args.json)?;
        }
    }
    Ok(())
}

/// A lens on WebGPU whose kernels are timed.
fn timed(model: &ModelArgs) -> Result<Lens> {
    if model.device != DeviceName::Webgpu {
        return Err(Error::InvalidArgument(
            "--kernels times kernels of WebGPU: it needs --device webgpu.".into(),
        ));
    }
    let checkpoint = Checkpoint::open(&model.path()?)?.bert()?;
    let gpu = wait(WebGpu::open(Options {
        profile: true,
        ..Options::default()
    }))?;
    Lens::load(gpu.into(), &checkpoint, None, Case::default())
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

fn place(lens: &Lens, gpu: Option<&Gpu>, peak: Option<f64>) -> String {
    let threads = rayon::current_num_threads();
    let gops = peak.unwrap_or_default() / 1e9;
    match (gpu, peak, lens.encoder.backend.adapter()) {
        (Some(gpu), ..) => format!(
            "{} with candle, whose peak in bf16 is {gops:.0} GOP/s",
            gpu.name()
        ),
        (_, Some(_), _) => format!(
            "{threads} thread(s) with {}, whose peak is {gops:.0} GOP/s",
            Simd::new().instructions(),
        ),
        (.., Some(adapter)) => adapter,
        _ => format!("{threads} thread(s) with candle"),
    }
}

fn print(line: &Line<'_>, json: bool) -> Result<()> {
    if json {
        return json_line(line);
    }
    let share = line.share.map_or(String::new(), |share| {
        format!("  {:4.1} % of the peak", 100.0 * share)
    });
    let memory = line.memory.map_or(String::new(), |bytes| {
        format!("  {:.1} GB", bytes as f64 / 1e9)
    });
    text_line(&format!(
        "{:<22} {:>9.2} ms  {:>8.0} tokens/s  {:>6.1} GOP/s{share}{memory}",
        line.shape, line.milliseconds, line.tokens_per_second, line.gops
    ))
}

/// The input of that number and so many tokens: which ones makes no difference to the time.
fn sequence(number: usize, length: usize, vocabulary: usize) -> Sequence {
    let ids: Vec<_> = (0..length)
        .map(|i| ((number * length + i) * 7919 % vocabulary) as u32)
        .collect();
    Sequence {
        types: vec![0; length],
        condition: 0..length,
        sentence: 0..length,
        cut: 0,
        ids,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_shapes_are_those_of_the_comparison_with_others() {
        let tokens = usual().map(|(_, lengths)| lengths.iter().sum::<usize>());
        assert_eq!(tokens, [50, 800, 4096, 877]);
    }

    #[test]
    fn mixed_lengths_are_spread_from_the_shortest_to_the_longest() {
        let shape: Shape = "32x8-512".parse().unwrap();
        assert_eq!(shape.name, "32 × 8–512 tokens");
        assert_eq!(shape.lengths[..4], [8, 512, 24, 495]);
        let mut sorted = shape.lengths.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!((sorted.len(), sorted[0], sorted[31]), (32, 8, 512));
        let one: Shape = "1x3-7".parse().unwrap();
        assert_eq!(one.lengths, [3]);
        let same: Shape = "2x64".parse().unwrap();
        assert_eq!((&*same.name, same.lengths), ("2 × 64 tokens", vec![64; 2]));
    }

    #[test]
    fn what_is_no_shape_is_an_error_that_shows_one() {
        for text in [
            "",
            "x",
            "32",
            "32x",
            "x64",
            "0x64",
            "32x0",
            "-1x64",
            "32x-",
            "32x8-",
            "32x-8",
            "32x9-8",
            "32x8-9-10",
            "1.5x2",
            "٣x٤",
            "4194305x1",
            "99999999999x99999999999",
            "1x99999999999999999999999",
        ] {
            let error = text.parse::<Shape>().unwrap_err();
            assert_eq!(error.code(), "invalid-argument", "{text}");
            assert!(error.to_string().contains("32x8-512"), "{error}");
        }
    }
}

//! How many products of bytes a core can make in a second: what a kernel's speed is a share of, and what one of two
//! forms is chosen by.

use std::hint::black_box;

use super::isa::{Cpu, Isa, Work};
#[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
use super::{
    blocks::{Blocks, Pack, Product, Rows},
    product::{Tiles, VECTORS, panel_width},
    stack::Stack,
};
use crate::checkpoint::weights::BLOCK;
#[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
use crate::checkpoint::weights::{Dtype, WeightTensor};

/// Factors of a step, each by each: more sums than an instruction's latency times how many begin in a cycle,
/// and no product twice.
const WEIGHTS: usize = 3;
const ACTIVATIONS: usize = 4;
/// Blocks of a call: a fraction of a millisecond. Browsers go on in a function's better code when it is called again.
const BLOCKS: usize = 1000;
/// Milliseconds of a measurement: browsers round their clocks.
const SPAN: f64 = 1.0;
/// Milliseconds to measure for: long enough for a core to reach its clock, short enough not to be waited for.
const TIME: f64 = 200.0;

/// Operations (a product and a sum are two) per second of one core, by a loop of the dot product that the
/// kernels use and nothing else. `now` is a clock in milliseconds; one that stands still measures nothing, 0.
pub fn measure(cpu: Cpu, now: impl Fn() -> f64) -> f64 {
    let start = now();
    let mut best = 0f64;
    while now() - start <= TIME {
        match speed(&now, || cpu.run(Dots)) {
            Some(speed) => best = best.max(speed),
            None => break,
        }
    }
    best
}

/// The processor, with the form of products by four-bit weights that is the fastest here: products of a small layer are timed in
/// each now, for some milliseconds, by a clock in milliseconds. One that stands still leaves it as [`Cpu::detect`] has it.
///
/// They are products and not the instructions alone: what a form spends on taking weights apart and on its sums differs as well.
#[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
pub fn fastest(now: impl Fn() -> f64) -> Cpu {
    use super::isa::relaxed_simd::{Form, Narrow4, RelaxedSimd, Wide4};
    /// Measurements of each, at most; and how many in a row that are no faster say that a browser's better compiler has replaced its
    /// first one's code.
    const TIMES: usize = 40;
    const SETTLED: usize = 8;
    /// So much faster is faster.
    const CLEARLY: f64 = 1.02;
    let (mut wide, mut narrow) = (Trial::new(Wide4::new()), Trial::new(Narrow4::new()));
    let mut best = [0f64; 2];
    let mut since = 0;
    for _ in 0..TIMES {
        since += 1;
        let speeds = [speed(&now, || wide.run()), speed(&now, || narrow.run())];
        for (best, speed) in best.iter_mut().zip(speeds) {
            let speed = speed.unwrap_or(0.0);
            if speed > CLEARLY * *best {
                since = 0;
            }
            *best = best.max(speed);
        }
        if best[0] == 0.0 || since == SETTLED {
            break;
        }
    }
    Cpu::RelaxedSimd(RelaxedSimd::new(match best[1] > best[0] {
        true => Form::Narrow,
        false => Form::Wide,
    }))
}

/// Products of a small layer's quantised weights and rows.
#[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
struct Trial<I: Isa> {
    isa: I,
    weights: Blocks,
    quants: Vec<I::Quant>,
    scales: Vec<f32>,
    starts: Vec<i32>,
}

#[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
impl<I: Isa> Trial<I> {
    /// Whole tiles of three or four rows.
    const ROWS: usize = 12;
    const BLOCKS: usize = 12;
    const PANELS: usize = 8;

    fn new(isa: I) -> Self {
        let (outputs, inputs) = (Self::PANELS * panel_width::<I>(), Self::BLOCKS * BLOCK);
        let (_, bytes) = Dtype::Q4_0.block();
        let weight = WeightTensor {
            name: String::new(),
            role: None,
            shape: vec![outputs, inputs],
            dtype: Dtype::Q4_0,
            data: vec![0x11; outputs * Self::BLOCKS * bytes].into(),
        };
        let weights = isa.run(Pack(Stack {
            parts: &[&weight],
            outputs,
            inputs,
        }));
        let x: Vec<f32> = (0..Self::ROWS * inputs)
            .map(|i| (i % 7) as f32 - 3.0)
            .collect();
        let mut trial = Self {
            isa,
            weights,
            quants: vec![bytemuck::Zeroable::zeroed(); x.len()],
            scales: vec![0.0; Self::ROWS * Self::BLOCKS],
            starts: vec![0; Self::ROWS * Self::BLOCKS],
        };
        let (quants, scales, starts) = (&mut trial.quants, &mut trial.scales, &mut trial.starts);
        Rows::quantise(isa, &x, Self::BLOCKS, quants, scales, starts);
        trial
    }

    /// All of a tile, so that nothing of it is left out.
    #[inline(always)]
    fn keep<const R: usize>(&self, tile: [[I::F32; VECTORS]; R], kept: &mut [f32; 16]) {
        let vectors = tile.as_flattened().iter().copied();
        if let Some(sum) = vectors.reduce(|a, b| self.isa.add(a, b)) {
            self.isa.store(sum, kept);
        }
    }

    /// How many operations it made. A small function: those are compiled soon.
    #[inline(never)]
    fn run(&mut self) -> usize {
        let product = Product {
            rows: Rows::quantised(&self.quants, &self.scales, &self.starts),
            weights: &self.weights,
        };
        let mut kept = [0f32; 16];
        for panel in 0..Self::PANELS {
            for row in (0..Self::ROWS).step_by(I::ROWS) {
                match I::ROWS {
                    4 => self.keep(product.tile::<4>(self.isa, row, panel), &mut kept),
                    _ => self.keep(product.tile::<3>(self.isa, row, panel), &mut kept),
                }
                black_box(kept);
            }
        }
        2 * Self::ROWS * Self::PANELS * panel_width::<I>() * Self::BLOCKS * BLOCK
    }
}

/// The processor: there is one form.
#[cfg(not(all(target_arch = "wasm32", target_feature = "relaxed-simd")))]
pub fn fastest(_: impl Fn() -> f64) -> Cpu {
    Cpu::detect()
}

/// Operations per second of calls that give how many they made; `None` where the clock stands still.
fn speed(now: &impl Fn() -> f64, mut call: impl FnMut() -> usize) -> Option<f64> {
    let (start, mut operations) = (now(), 0);
    for _ in 0..1000 {
        operations += call();
        let time = now() - start;
        if time >= SPAN {
            return Some(1e3 * operations as f64 / time);
        }
    }
    None
}

struct Dots;

impl Work for Dots {
    type Output = usize;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> usize {
        let bytes = [1i8; 64 * WEIGHTS];
        let quants = [<I::Quant as bytemuck::Zeroable>::zeroed(); 4 * ACTIVATIONS];
        let mut sums = [[isa.load_i32(&[0; 16]); ACTIVATIONS]; WEIGHTS];
        for _ in 0..BLOCKS {
            let mut dots = sums.map(|sums| sums.map(|sum| isa.begin(sum)));
            for _ in 0..BLOCK / I::DEPTH {
                // Unknown each time, so that no product is taken out of the loop.
                let (bytes, quants) = (black_box(&bytes), black_box(&quants));
                for (i, dots) in dots.iter_mut().enumerate() {
                    let weights = isa.weights(&bytes[64 * i..]);
                    for (j, dot) in dots.iter_mut().enumerate() {
                        *dot = isa.dot(*dot, weights, isa.activations(&quants[4 * j..]));
                    }
                }
            }
            for (sums, dots) in sums.iter_mut().zip(dots) {
                for (sum, dot) in sums.iter_mut().zip(dots) {
                    *sum = isa.total(dot, *sum);
                }
            }
        }
        let mut total = isa.splat(0.0);
        for &sum in sums.as_flattened() {
            total = isa.add(total, isa.to_f32(sum));
        }
        let mut kept = [0f32; 16];
        isa.store(total, &mut kept);
        black_box(kept);
        2 * BLOCKS * BLOCK * WEIGHTS * ACTIVATIONS * I::LANES
    }
}

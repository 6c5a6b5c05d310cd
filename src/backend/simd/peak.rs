//! How many products of bytes a core can make in a second: what a kernel's speed is a share of, and what one of two
//! forms is chosen by.

use std::hint::black_box;

use super::isa::{Cpu, Isa, Work};
use crate::checkpoint::weights::BLOCK;

/// Factors of a step, each by each: more sums than an instruction's latency times how many begin in a cycle,
/// and no product twice.
const WEIGHTS: usize = 3;
const ACTIVATIONS: usize = 4;
/// Blocks of a measurement: about a millisecond, since browsers round their clocks.
const BLOCKS: usize = 12_500;
/// Milliseconds to measure for: long enough for a core to reach its clock, short enough not to be waited for.
const TIME: f64 = 200.0;

/// Operations (a product and a sum are two) per second of one core, by a loop of the dot product that the
/// kernels use and nothing else. `now` is a clock in milliseconds; one that stands still measures nothing, 0.
pub fn measure(cpu: Cpu, now: impl Fn() -> f64) -> f64 {
    let [best] = best([cpu], TIME, now);
    best
}

/// Which of the forms makes the most operations per second; the first one where the clock stands still.
#[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
pub fn fastest(forms: [Cpu; 2], now: impl Fn() -> f64) -> usize {
    /// Milliseconds: a browser's better compiler has replaced its first one's code by the middle of it.
    const CHOICE: f64 = 12.0;
    let [first, second] = best(forms, CHOICE, now);
    usize::from(second > first)
}

/// The most operations per second that each reached in some milliseconds, in turns.
fn best<const N: usize>(cpus: [Cpu; N], time: f64, now: impl Fn() -> f64) -> [f64; N] {
    let start = now();
    let mut best = [0f64; N];
    for round in 0..1000 {
        for (cpu, best) in cpus.into_iter().zip(&mut best) {
            let before = now();
            let operations = cpu.run(Dots { blocks: BLOCKS });
            let after = now();
            if after > before {
                *best = best.max(1e3 * operations as f64 / (after - before));
            }
        }
        // Also where others have the core, each has some of these.
        if round >= 4 && now() - start > time {
            break;
        }
    }
    best
}

struct Dots {
    blocks: usize,
}

impl Work for Dots {
    type Output = usize;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> usize {
        let bytes = [1i8; 64 * WEIGHTS];
        let quants = [<I::Quant as bytemuck::Zeroable>::zeroed(); 4 * ACTIVATIONS];
        let mut sums = [[isa.load_i32(&[0; 16]); ACTIVATIONS]; WEIGHTS];
        for _ in 0..self.blocks {
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
        2 * self.blocks * BLOCK * WEIGHTS * ACTIVATIONS * I::LANES
    }
}

//! How many products of bytes a core can make in a second: what a kernel's speed is a share of, and what one of two
//! forms is chosen by.

use std::hint::black_box;

use super::isa::{Cpu, Isa, Work};
use crate::checkpoint::weights::BLOCK;

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

/// The processor, with the form of products by four-bit weights that is the fastest here: they are timed now, for some
/// milliseconds, by a clock in milliseconds. One that stands still leaves it as [`Cpu::detect`] has it.
#[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
pub fn fastest(now: impl Fn() -> f64) -> Cpu {
    use super::isa::relaxed_simd::{Form, Narrow4, RelaxedSimd, Wide4};
    /// Measurements of each: by the middle of them a browser's better compiler has replaced its first one's code.
    const TIMES: usize = 12;
    // Small functions are compiled soon.
    #[inline(never)]
    fn dots<I: Isa>(isa: I) -> usize {
        isa.run(Dots)
    }
    let (mut wide, mut narrow) = (0f64, 0f64);
    for _ in 0..TIMES {
        wide = wide.max(speed(&now, || dots(Wide4::new())).unwrap_or(0.0));
        narrow = narrow.max(speed(&now, || dots(Narrow4::new())).unwrap_or(0.0));
        if wide == 0.0 {
            break;
        }
    }
    Cpu::RelaxedSimd(RelaxedSimd::new(match narrow > wide {
        true => Form::Narrow,
        false => Form::Wide,
    }))
}

/// The processor: there is one form.
#[cfg(not(all(target_arch = "wasm32", target_feature = "relaxed-simd")))]
pub fn fastest(_: impl Fn() -> f64) -> Cpu {
    Cpu::detect()
}

/// Operations per second of calls that give how many they made; `None` where the clock stands still.
fn speed(now: &impl Fn() -> f64, call: impl Fn() -> usize) -> Option<f64> {
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

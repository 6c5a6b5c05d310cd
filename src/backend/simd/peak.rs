//! How many products of bytes a core can make in a second: what a kernel's speed is a share of.

use std::hint::black_box;

use super::isa::{Cpu, Isa, Work};

/// Factors of a step, each by each: more sums than an instruction's latency times how many begin in a cycle,
/// and no product twice.
const WEIGHTS: usize = 3;
const ACTIVATIONS: usize = 4;
/// Milliseconds to measure for: long enough for a core to reach its clock, short enough not to be waited for.
const TIME: f64 = 200.0;

/// Operations (a product and a sum are two) per second of one core, by a loop of the dot product that the
/// kernels use and nothing else. `now` is a clock in milliseconds; one that stands still measures nothing, 0.
pub fn measure(cpu: Cpu, now: impl Fn() -> f64) -> f64 {
    let start = now();
    let mut best = 0f64;
    // About a millisecond each: browsers round their clocks.
    for _ in 0..1000 {
        let before = now();
        let operations = cpu.run(Dots { steps: 100_000 });
        let after = now();
        if after > before {
            best = best.max(1e3 * operations as f64 / (after - before));
        }
        if after - start > TIME {
            break;
        }
    }
    best
}

struct Dots {
    steps: usize,
}

impl Work for Dots {
    type Output = usize;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> usize {
        let bytes = [1i8; 64 * WEIGHTS];
        let quants = [<I::Quant as bytemuck::Zeroable>::zeroed(); 4 * ACTIVATIONS];
        let mut sums = [[isa.load_i32(&[0; 16]); ACTIVATIONS]; WEIGHTS];
        for _ in 0..self.steps {
            // Unknown each time, so that no product is taken out of the loop.
            let (bytes, quants) = (black_box(&bytes), black_box(&quants));
            for (i, sums) in sums.iter_mut().enumerate() {
                let weights = isa.weights(&bytes[64 * i..]);
                for (j, sum) in sums.iter_mut().enumerate() {
                    *sum = isa.dot(*sum, weights, isa.activations(&quants[4 * j..]));
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
        2 * self.steps * WEIGHTS * ACTIVATIONS * I::LANES * I::DEPTH
    }
}

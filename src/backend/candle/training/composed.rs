//! Comparing a fused operation with its composed form.

use candle_core::{Device, Result, Tensor, Var};

use super::{math::mix, tape::Tape};

/// Numbers between −2 and 2, the same at each call.
pub fn random(rows: usize, columns: usize, seed: u64) -> Var {
    let numbers: Vec<f32> = (0..rows * columns)
        .map(|i| (mix(seed, i as u64) >> 40) as f32 / (1 << 23) as f32 - 1.0)
        .map(|x| 2.0 * x)
        .collect();
    Var::from_vec(numbers, (rows, columns), &Device::Cpu).unwrap()
}

/// Values and gradients of two forms of one operation must agree, one recorded on `tape` and one of candle's operations.
pub fn same(
    tape: &Tape,
    inputs: &[&Var],
    fused: impl Fn() -> Result<Tensor>,
    composed: impl Fn() -> Result<Tensor>,
) {
    let (fused, composed) = (fused().unwrap(), composed().unwrap());
    let (rows, columns) = fused.dims2().unwrap();
    let weights = random(rows, columns, 99).as_detached_tensor();
    let gradients = |y: &Tensor| {
        let sum = (y * &weights).unwrap().sum_all().unwrap();
        tape.backward(&sum).unwrap()
    };
    let close = |a: &Tensor, b: &Tensor| {
        let worst = (a - b).unwrap().abs().unwrap().max_all().unwrap();
        let size = b.abs().unwrap().max_all().unwrap();
        let (worst, size) = (
            worst.to_scalar::<f32>().unwrap(),
            size.to_scalar::<f32>().unwrap(),
        );
        assert!(worst < 3e-6 * size.max(1.0), "{worst} of {size}");
    };
    close(&fused, &composed);
    let (a, b) = (gradients(&fused), gradients(&composed));
    for input in inputs {
        close(a.get(input).unwrap(), b.get(input).unwrap());
    }
}

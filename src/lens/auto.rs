//! What `auto` runs on: both devices are timed, and a call goes to the one that is faster for its size.

use super::{
    any::{AnyLens, OwnParts},
    opened::Opened,
};
use crate::{
    backend::{simd::Simd, webgpu::WebGpu},
    embedding::Pool,
    error::{Error, Result},
    similarity::cosine,
};

/// A text the two devices must agree on before a GPU is trusted, and which they are timed on.
const PROBE: &str = "She plays chess in the park while it rains, 7 days a week, and he reads the paper by the window.";
/// Cosine of their embeddings below which they do not agree. int8 products and GELU's approximations keep
/// it above 0.998; a broken driver does not.
const AGREEMENT: f32 = 0.99;
/// Texts of a small call and of a large one.
const CALLS: [usize; 2] = [2, 8];
/// How often each is timed: browsers compile a wasm function better once they have seen it run.
const RUNS: [usize; 2] = [4, 2];

/// A lens, the reason for its device, and the lens that small calls go to where another one is faster there.
pub struct Chosen {
    pub lens: AnyLens,
    pub reason: String,
    /// Calls of fewer texts than this run on the other lens.
    small: Option<(usize, AnyLens)>,
}

impl Chosen {
    /// A lens on the device that was opened for it. `now` is a clock in milliseconds.
    ///
    /// # Errors
    /// The parts do not belong together or do not fit the device, or the GPU that was asked for is lost.
    pub async fn load(parts: OwnParts<'_>, device: Opened, now: impl Fn() -> f64) -> Result<Self> {
        match device {
            Opened::Cpu(reason) => Ok(Self::one(on_simd(parts)?, reason)),
            Opened::WebGpu(gpu) => {
                let lens = AnyLens::WebGpu(Box::new(parts.on(gpu)?));
                Ok(Self::one(lens, "webgpu was asked for"))
            }
            Opened::Auto(gpu) => Self::auto(parts, gpu, now).await,
        }
    }

    fn one(lens: AnyLens, reason: impl Into<String>) -> Self {
        Self {
            lens,
            reason: reason.into(),
            small: None,
        }
    }

    /// The lens for a call of this many texts.
    pub fn for_texts(&self, texts: usize) -> &AnyLens {
        match &self.small {
            Some((limit, small)) if texts < *limit => small,
            _ => &self.lens,
        }
    }

    /// WebGPU where a GPU is there, agrees with the CPU on a probe and is faster, else the CPU.
    async fn auto(parts: OwnParts<'_>, gpu: Result<WebGpu>, now: impl Fn() -> f64) -> Result<Self> {
        // The GPU gets copies, and then the CPU the weights themselves.
        let gpu = gpu.and_then(|gpu| AnyLens::on_webgpu(&parts.lent(), gpu));
        let cpu = on_simd(parts)?;
        let gpu = match gpu {
            Ok(gpu) => gpu,
            Err(error) => return Ok(Self::one(cpu, on_cpu(error))),
        };
        let probe = match gpu.encode(&[PROBE], Pool::All, true).await {
            Ok(rows) => rows,
            Err(error) => return Ok(Self::one(cpu, on_cpu(error))),
        };
        let reference = cpu.encode(&[PROBE], Pool::All, true).await?;
        let agreement = cosine(&probe.vectors[0], &reference.vectors[0]);
        if agreement < AGREEMENT {
            let reason = format!(
                "auto: the CPU, since WebGPU's result on a probe differs from it (cosine {agreement:.4})"
            );
            return Ok(Self::one(cpu, reason));
        }
        let on_cpu_ms = times(&cpu, &now, f64::INFINITY).await?;
        let on_gpu_ms = match times(&gpu, &now, 2.0 * on_cpu_ms[1]).await {
            Ok(times) => times,
            Err(error) => return Ok(Self::one(cpu, on_cpu(error))),
        };
        let mut measured = format!(
            "{} texts take {:.0} ms on the CPU and {:.0} ms on WebGPU",
            CALLS[0], on_cpu_ms[0], on_gpu_ms[0]
        );
        if on_gpu_ms[1].is_finite() {
            measured += &format!(
                ", {} take {:.0} and {:.0}",
                CALLS[1], on_cpu_ms[1], on_gpu_ms[1]
            );
        }
        Ok(match gpu_from(on_cpu_ms, on_gpu_ms) {
            Some(0) => Self::one(gpu, format!("auto: WebGPU, which is faster: {measured}")),
            Some(limit) => Self {
                lens: gpu,
                reason: format!(
                    "auto: WebGPU for calls of {limit} texts or more, the CPU below: {measured}"
                ),
                small: Some((limit, cpu)),
            },
            None => Self::one(cpu, format!("auto: the CPU, which is faster: {measured}")),
        })
    }
}

fn on_simd(parts: OwnParts<'_>) -> Result<AnyLens> {
    Ok(AnyLens::Simd(Box::new(parts.on(Simd::new())?)))
}

/// Why `auto` stays on the CPU: the error without its advice.
fn on_cpu(error: Error) -> String {
    let why = match error {
        Error::NoGpu(why) | Error::GpuLost(why) => why,
        other => other.to_string(),
    };
    format!("auto: the CPU, since WebGPU does not work here: {why}")
}

/// Milliseconds of a small and of a large call: the fastest of a few runs. A device that takes longer than
/// `enough` for one run is not run again: calls that were not run count as endless.
async fn times(lens: &AnyLens, now: impl Fn() -> f64, enough: f64) -> Result<[f64; 2]> {
    let mut fastest = [f64::INFINITY; 2];
    for ((texts, runs), fastest) in CALLS.into_iter().zip(RUNS).zip(&mut fastest) {
        let texts = vec![PROBE; texts];
        for _ in 0..runs {
            let start = now();
            lens.encode(&texts, Pool::All, true).await?;
            let time = now() - start;
            *fastest = fastest.min(time);
            if time > enough {
                break;
            }
        }
        if *fastest > enough {
            break;
        }
    }
    Ok(fastest)
}

/// From how many texts on a call is faster on the GPU: `Some(0)` always, `None` never.
fn gpu_from(cpu: [f64; 2], gpu: [f64; 2]) -> Option<usize> {
    let gain = [cpu[0] - gpu[0], cpu[1] - gpu[1]];
    match gain {
        [_, large] if large < 0.0 => None,
        [small, _] if small >= 0.0 => Some(0),
        // The time of a call grows about evenly with its texts.
        [small, large] => {
            let share = small / (small - large);
            let between = (CALLS[1] - CALLS[0]) as f64;
            Some(CALLS[0] + (share * between).ceil() as usize)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_faster_device_gets_the_call() {
        assert_eq!(gpu_from([10.0, 30.0], [2.0, 3.0]), Some(0));
        assert_eq!(gpu_from([10.0, 30.0], [500.0, 900.0]), None);
        assert_eq!(gpu_from([10.0, 30.0], [500.0, f64::INFINITY]), None);
        // Faster for small calls alone: large ones take the time.
        assert_eq!(gpu_from([10.0, 30.0], [9.0, 90.0]), None);
        // At 5 texts they take the same.
        assert_eq!(gpu_from([10.0, 30.0], [15.0, 25.0]), Some(5));
        assert_eq!(gpu_from([10.0, 30.0], [30.0, 30.0]), Some(8));
        // A clock that stands still says nothing against the GPU.
        assert_eq!(gpu_from([0.0; 2], [0.0; 2]), Some(0));
    }
}

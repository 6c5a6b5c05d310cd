//! What `auto` runs on: both devices are timed, and the faster one is kept.

use super::{Lens, opened::OpenDevice};
use crate::{
    checkpoint::BertCheckpoint,
    embedding::{Case, Pool},
    error::{Error, Result},
    head::HeadFile,
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

/// A lens, and the reason for its device.
pub struct Chosen {
    /// The lens.
    pub lens: Lens,
    /// Why it runs where it runs.
    pub reason: String,
}

impl Chosen {
    /// A lens on the device that was opened for it. `now` is a clock in milliseconds.
    ///
    /// # Errors
    /// The parts do not belong together or do not fit the device, or the GPU that was asked for is lost.
    pub async fn load(
        checkpoint: BertCheckpoint,
        head: Option<&HeadFile>,
        device: OpenDevice,
        now: impl Fn() -> f64,
    ) -> Result<Self> {
        let case = Case::of_bert(&checkpoint);
        let (lens, reason) = match device {
            OpenDevice::Cpu(cpu, reason) => {
                (Lens::consume(cpu.into(), checkpoint, head, case)?, reason)
            }
            OpenDevice::WebGpu(gpu) => (
                Lens::consume(gpu.into(), checkpoint, head, case)?,
                "webgpu was asked for".into(),
            ),
            OpenDevice::Auto(cpu, gpu) => {
                // The GPU gets copies, and then the CPU the weights themselves.
                let gpu =
                    gpu.and_then(|gpu| Lens::load(gpu.into(), &checkpoint, head, case.clone()));
                let cpu = Lens::consume(cpu.into(), checkpoint, head, case)?;
                Self::faster(cpu, gpu, now).await?
            }
        };
        Ok(Self { lens, reason })
    }

    /// WebGPU where a GPU is there, agrees with the CPU on a probe and is faster, else the CPU.
    async fn faster(cpu: Lens, gpu: Result<Lens>, now: impl Fn() -> f64) -> Result<(Lens, String)> {
        let gpu = match gpu {
            Ok(gpu) => gpu,
            Err(error) => return Ok((cpu, on_cpu(error))),
        };
        let probe = match gpu.encoder.embed(&[PROBE], Pool::All, true).await {
            Ok(rows) => rows,
            Err(error) => return Ok((cpu, on_cpu(error))),
        };
        let reference = cpu.encoder.embed(&[PROBE], Pool::All, true).await?;
        let agreement = cosine(&probe.vectors[0], &reference.vectors[0]);
        if agreement < AGREEMENT {
            let reason = format!(
                "auto: the CPU, since WebGPU's result on a probe differs from it (cosine {agreement:.4})"
            );
            return Ok((cpu, reason));
        }
        let on_cpu_ms = times(&cpu, &now, f64::INFINITY).await?;
        let on_gpu_ms = match times(&gpu, &now, 2.0 * on_cpu_ms[1]).await {
            Ok(times) => times,
            Err(error) => return Ok((cpu, on_cpu(error))),
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
        Ok(match gpu_is_faster(on_cpu_ms, on_gpu_ms) {
            true => (gpu, format!("auto: WebGPU, which is faster: {measured}")),
            false => (cpu, format!("auto: the CPU, which is faster: {measured}")),
        })
    }
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
async fn times(lens: &Lens, now: impl Fn() -> f64, enough: f64) -> Result<[f64; 2]> {
    let mut fastest = [f64::INFINITY; 2];
    for ((texts, runs), fastest) in CALLS.into_iter().zip(RUNS).zip(&mut fastest) {
        let texts = vec![PROBE; texts];
        for _ in 0..runs {
            let start = now();
            lens.encoder.embed(&texts, Pool::All, true).await?;
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

/// Whether the GPU takes less time for a small and a large call together: a page asks for both, and one device answers.
fn gpu_is_faster(cpu: [f64; 2], gpu: [f64; 2]) -> bool {
    gpu.iter().sum::<f64>() <= cpu.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_faster_device_gets_the_call() {
        assert!(gpu_is_faster([10.0, 30.0], [2.0, 3.0]));
        assert!(!gpu_is_faster([10.0, 30.0], [500.0, 900.0]));
        assert!(!gpu_is_faster([10.0, 30.0], [500.0, f64::INFINITY]));
        // Faster for small calls alone: large ones take the time.
        assert!(!gpu_is_faster([10.0, 30.0], [9.0, 90.0]));
        // Slower for small calls by less than it is faster for large ones.
        assert!(gpu_is_faster([10.0, 30.0], [15.0, 20.0]));
        // A clock that stands still says nothing against the GPU.
        assert!(gpu_is_faster([0.0; 2], [0.0; 2]));
    }
}

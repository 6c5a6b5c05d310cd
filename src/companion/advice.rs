//! What to do about an error on the command line, by its code: errors themselves speak of things, not of options.

const ADVICE: [(&str, &str); 11] = [
    (
        "head-format",
        "`caselens train-head` trains a head, and --head names it.",
    ),
    (
        "head-mismatch",
        "`caselens train-head` trains a head, and --head names it.",
    ),
    (
        "model-format",
        "`caselens quantize` makes a GGUF file of an encoder's folder.",
    ),
    (
        "hub-offline",
        "Where the files are here, name their folder with --model.",
    ),
    (
        "not-enough-memory",
        "Fewer bits: --dtype bf16 for an LLM encoder, --precision bf16 for a training. Smaller batches: --batch, where the command has it.",
    ),
    (
        "checkpoint-format",
        "Without --resume a training begins at the start.",
    ),
    (
        "webgpu-unavailable",
        "--device cpu computes on the processor.",
    ),
    (
        "cuda-unavailable",
        "`./build.sh cuda` builds a program that has it; --device cpu computes on the processor.",
    ),
    ("gpu-lost", "--device cpu computes on the processor."),
    ("bundle-format", "`caselens export` writes the folder."),
    ("bundle-schema", "`caselens export` writes the folder."),
];

/// What is printed below an error's own words, where there is something to add.
pub fn advice(code: &str) -> Option<&'static str> {
    let (_, advice) = ADVICE.iter().find(|(of, _)| *of == code)?;
    Some(advice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{CODES, Error};

    #[test]
    fn advice_is_of_codes_that_there_are() {
        for (code, _) in ADVICE {
            assert!(CODES.iter().any(|known| known.name == code), "{code}");
        }
    }

    #[test]
    fn a_full_device_is_told_of_smaller_batches() {
        let cuda = "DriverError(CUDA_ERROR_OUT_OF_MEMORY, \"out of memory\")";
        let error = Error::from(candle_core::Error::Msg(cuda.into()));
        let advice = advice(error.code()).unwrap_or_default();
        assert!(advice.contains("--batch"), "{advice}");
    }
}

//! `bench` with a decoder: the operations it counts are the decoder's own, and the embeddings are its hidden states' means.

use candle_core::Device;
use caselens::{
    checkpoint::Checkpoint,
    model::{Precision, decoder::Decoder},
    text::Batch,
};

use crate::{
    common::{decoder as folder, relative_error},
    program::caselens,
};

/// What f32 may differ by, norm-wise: sums in another order.
const F32_ERROR: f64 = 1e-4;

#[test]
fn bench_counts_a_decoders_own_operations() {
    let folder = folder("bench", "mistral", &serde_json::json!({}));
    let model = folder.0.display().to_string();
    let bench = |more: &[&str]| {
        let args = ["bench", "--json", "--seconds", "0.01", "--model", &model];
        caselens(&[&args[..], more].concat())
    };
    let shapes = ["--shape", "4x16", "--shape", "3x2-8", "--inputs"];
    let (status, said, complaint) = bench(&shapes);
    assert_eq!(status, 0, "{complaint}");
    let lines: Vec<serde_json::Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    // A layer's weights: queries and output 32 × 32, keys and values 32 × 16, three of 32 × 64.
    let weights = 2 * 32 * 32 + 2 * 32 * 16 + 3 * 32 * 64;
    let of = |length: usize| 3 * 2 * length * (weights + 2 * length * 32);
    let expected = [
        ("4 × 16 tokens", vec![16, 16, 16, 16]),
        ("3 × 2–8 tokens", vec![2, 8, 5]),
    ];
    assert_eq!(lines.len(), expected.len());
    for (line, (name, lengths)) in lines.iter().zip(expected) {
        let number = |key: &str| line[key].as_f64().unwrap();
        assert_eq!(line["shape"], name);
        assert_eq!(line["tokens"], lengths.iter().sum::<usize>());
        assert!(number("runs") >= 3.0 && number("milliseconds") > 0.0);
        let seconds = number("milliseconds") / 1e3;
        let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-9;
        assert!(near(
            number("tokens_per_second") * seconds,
            number("tokens")
        ));
        let operations: usize = lengths.iter().map(|&l| of(l)).sum();
        assert!(near(number("gops") * 1e9 * seconds, operations as f64));
        // What only an NVIDIA GPU has.
        assert!(line["share"].is_null() && line["memory"].is_null());

        // The embeddings are the means of hidden states.
        let checkpoint = Checkpoint::open(&folder.0)
            .and_then(Checkpoint::decoder)
            .unwrap();
        let decoder = Decoder::load(&checkpoint, &Device::Cpu, Precision::Bf16).unwrap();
        let inputs = line["inputs"].as_array().unwrap();
        assert_eq!(inputs.len(), lengths.len());
        for (input, length) in inputs.iter().zip(lengths) {
            let ids: Vec<u32> = serde_json::from_value(input["ids"].clone()).unwrap();
            assert_eq!(ids.len(), length);
            let mut batch = Batch::default();
            batch.push(&ids, &vec![0; length]);
            let mean = decoder.forward(&batch).unwrap().mean(0).unwrap();
            let found: Vec<f32> = serde_json::from_value(input["embedding"].clone()).unwrap();
            assert!(relative_error(&found, &mean.to_vec1().unwrap()) <= F32_ERROR);
        }
    }

    for (shape, said) in [
        ("4x513", "at most 512 tokens"),
        ("4x", "32x8-512"),
        ("99999999999x99999999999", "more than"),
        ("8-2x4", "32x8-512"),
    ] {
        let (status, _, complaint) = bench(&["--shape", shape]);
        assert_eq!(status, 2, "{shape}: {complaint}");
        assert!(complaint.contains(said), "{shape}: {complaint}");
    }
}

//! One lens, shared by threads that each compare a pair. From the repository's root:
//! `cargo run --release --example threads`.

use std::thread;

use caselens::{Device, Lens, block_on};

const PAIRS: [[&str; 3]; 3] = [
    [
        "Two dogs run on the beach",
        "A dog sleeps on a sofa",
        "the number of dogs",
    ],
    [
        "She cycles to work in the rain",
        "He walks to school in the rain",
        "the weather",
    ],
    [
        "A man cuts an onion",
        "A man plays the piano",
        "what the man does",
    ],
];

fn main() -> caselens::Result<()> {
    let model = "www/public/models/caselens-csts-q4_0.gguf";
    let head = "www/public/models/caselens-csts.head.safetensors";
    let lens = Lens::open(model, Some(head), Device::Cpu)?;
    thread::scope(|scope| {
        let compared = PAIRS.map(|[one, other, condition]| {
            let lens = &lens;
            scope.spawn(move || block_on(lens.compare(one, other, &[condition])))
        });
        for thread in compared {
            for comparison in thread.join().expect("comparing does not panic")? {
                println!("{}: {:.2}", comparison.condition, comparison.similarity);
            }
        }
        Ok(())
    })
}

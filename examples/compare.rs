//! Two sentences, seen through two conditions, with the model that ships. From the repository's root:
//! `cargo run --release --example compare`.

use caselens::{Device, Lens, block_on};

fn main() -> caselens::Result<()> {
    let model = "www/public/models/caselens-csts-q4_0.gguf";
    let head = "www/public/models/caselens-csts.head.safetensors";
    let lens = Lens::open(model, Some(head), Device::Cpu)?;
    let (one, other) = (
        "She plays chess in the park",
        "He plays football in the park",
    );
    for comparison in block_on(lens.compare(one, other, &["the place", "the game"]))? {
        println!("{}: {:.2}", comparison.condition, comparison.similarity);
    }
    Ok(())
}

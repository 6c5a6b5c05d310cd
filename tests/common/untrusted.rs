//! What is read of other people's files. Each function takes any bytes at all, and answers or refuses them with a typed
//! error: whatever else happens is a bug. The tests of `mutated` hand them fixtures with mistakes; `fuzz/` hands them
//! what libFuzzer makes of those.

use caselens::{
    Error, Lens,
    backend::{Activation, Backend, simd::Simd},
    bundle::{File, Manifest, gallery},
    checkpoint::{ArrivingCheckpoint, BertCheckpoint, EncoderId, weights::Bytes},
    embedding::{Case, Encoder},
    head::{Head, HeadFile, HeadLayer, HeadSpec},
    text::Tokenizer,
};
use pollster::block_on;

/// What `text::Tokenizer` says of a panic that it caught.
const CAUGHT: &str = "breaks down on it";

/// Nothing, or the code of the error that the bytes were refused with.
pub type Outcome = Result<(), &'static str>;

pub const CONFIG: &str = include_str!("../fixtures/bert-tiny/config.json");
pub const TOKENIZER: &[u8] = include_bytes!("../fixtures/bert-tiny/tokenizer.json");
pub const WEIGHTS: &[u8] = include_bytes!("../fixtures/bert-tiny/model.safetensors");

/// What torch.save wrote, and its configuration; its tokenizer is [`TOKENIZER`].
pub const TORCH: &[u8] = include_bytes!("../fixtures/published/bert/pytorch_model.bin");
const TORCH_CONFIG: &str = include_str!("../fixtures/published/bert/config.json");

/// What tokenizers find hard: nothing, space, marks of their own, long words, signs of several bytes; and what each is asked
/// of as it is opened.
const TEXTS: [&str; 5] = [
    "A small brown dog isn't [SEP] </s> ##ing \u{2581}x.",
    "  \t\u{a0} ",
    "猫が窓のそばで眠っている。 🐶🇩🇪 e\u{301}\u{ad} ﬁ ½ İ\0",
    "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
    "😀 😂👍 because también это",
];

/// The code of an error, which must be one that tells what is wrong with the input. A panic of `tokenizers` that is caught
/// natively ends the module in a browser: a check has to keep it away.
fn refused(error: Error) -> &'static str {
    let said = error.to_string();
    assert_ne!(error.code(), "internal", "{said}");
    assert!(!said.is_empty() && !said.contains(CAUGHT), "{said}");
    error.code()
}

/// A GGUF file, as a whole and as a download brings it.
pub fn gguf(bytes: &[u8]) -> Outcome {
    let whole = BertCheckpoint::from_gguf("m.gguf", Bytes::Owned(bytes.to_vec()));
    for (piece, stated) in [(1 + bytes.len() / 7, None), (30_000, Some(bytes.len()))] {
        let mut file = ArrivingCheckpoint::new("m.gguf", stated);
        let pushed = bytes.chunks(piece).try_for_each(|piece| file.push(piece));
        let arrived = pushed.and_then(|()| file.finish());
        // Of several mistakes each may name another.
        assert_eq!(whole.is_ok(), arrived.is_ok());
    }
    compare(&whole.map_err(refused)?)
}

/// The weights of a Hugging Face folder, in safetensors.
pub fn safetensors(bytes: &[u8]) -> Outcome {
    let weights = Bytes::Owned(bytes.to_vec());
    let opened = BertCheckpoint::from_parts("m", CONFIG, TOKENIZER, weights);
    compare(&opened.map_err(refused)?)
}

/// The weights of a Hugging Face folder, as torch.save writes them.
pub fn torch(bytes: &[u8]) -> Outcome {
    let weights = Bytes::Owned(bytes.to_vec());
    let opened = BertCheckpoint::from_parts("m", TORCH_CONFIG, TOKENIZER, weights);
    compare(&opened.map_err(refused)?)
}

/// The configuration of a Hugging Face folder.
pub fn config(bytes: &[u8]) -> Outcome {
    let weights = Bytes::Owned(WEIGHTS.to_vec());
    let text = String::from_utf8_lossy(bytes);
    let opened = BertCheckpoint::from_parts("m", &text, TOKENIZER, weights);
    compare(&opened.map_err(refused)?)
}

/// A tokenizer.json, by itself and in front of an encoder.
pub fn tokenizer(bytes: &[u8]) -> Outcome {
    let tokenizer = Tokenizer::from_json(bytes).map_err(refused)?;
    let whole = "x".repeat(3000);
    for text in TEXTS.into_iter().chain([whole.as_str()]) {
        let _ = tokenizer.ids(text).map_err(refused);
    }
    let weights = Bytes::Owned(WEIGHTS.to_vec());
    let opened = BertCheckpoint::from_parts("m", CONFIG, bytes, weights);
    compare(&opened.map_err(refused)?)
}

/// Sentences under a condition, by the encoder that was opened.
fn compare(checkpoint: &BertCheckpoint) -> Outcome {
    let encoder = Encoder::load(Simd::new(), checkpoint).map_err(refused)?;
    let lens = Lens::new(encoder, None, Case::default()).map_err(refused)?;
    for text in TEXTS {
        let compared = lens.compare(TEXTS[0], text, &["the animal"]);
        let _ = block_on(compared).map_err(refused);
    }
    Ok(())
}

/// A head's file.
pub fn head(bytes: &[u8]) -> Outcome {
    let file = HeadFile::parse("head.safetensors", bytes).map_err(refused)?;
    let backend = Simd::new();
    let head = Head::load(&backend, &file).map_err(refused)?;
    let width = file.spec.dims[0];
    let rows = backend.rows(width, &vec![0.5; width]).map_err(refused)?;
    head.forward(&backend, &rows).map_err(refused)?;
    Ok(())
}

/// A head of one layer, and the encoder that it says it was trained on.
pub fn small_head() -> (EncoderId, Vec<u8>) {
    let encoder = EncoderId {
        id: "e".into(),
        sha256: "5a".repeat(32),
    };
    let file = HeadFile {
        join: Vec::new(),
        mentioned: None,
        calibration: None,
        spec: HeadSpec {
            encoder: encoder.clone(),
            case: Case::default(),
            dims: vec![12, 4],
            activation: Activation::Relu,
            dropout: 0.1,
            languages: None,
            training: Default::default(),
        },
        layers: vec![HeadLayer {
            weight: (0..48).map(|i| i as f32 / 50.0).collect(),
            bias: vec![0.1; 4],
        }],
        condition_only: None,
    };
    (encoder, file.to_bytes().unwrap())
}

/// An exported folder: its manifest up to the first zero byte, then its gallery, which the manifest describes as it is.
pub fn bundle(bytes: &[u8]) -> Outcome {
    let (_, head) = small_head();
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    let (manifest, embeddings) = (&bytes[..end], bytes.get(end + 1..).unwrap_or_default());
    let mut manifest = Manifest::parse(&String::from_utf8_lossy(manifest)).map_err(refused)?;
    manifest.head = File::of("head.safetensors", &head);
    if let Some(gallery) = &mut manifest.gallery {
        gallery.file = File::of("gallery.safetensors", embeddings);
    }
    let answers = block_on(gallery::answers(&manifest, &head, embeddings)).map_err(refused)?;
    assert_eq!(answers.len(), manifest.gallery.unwrap().items.len());
    Ok(())
}

/// What tables are named by.
#[cfg(feature = "cli")]
pub const EXTENSIONS: [&str; 7] = [
    "csv", "tsv", "jsonl", "json", "arrows", "feather", "parquet",
];

/// A table: data to train on, and a teacher's answers. The first byte says which of [`EXTENSIONS`] its name has; tables are
/// read from files alone.
#[cfg(feature = "cli")]
pub fn table(bytes: &[u8]) -> Outcome {
    use caselens::companion::table::data::{dataset, teacher};
    let Some((&kind, bytes)) = bytes.split_first() else {
        return Err("empty");
    };
    let extension = EXTENSIONS[usize::from(kind) % EXTENSIONS.len()];
    let name = format!("caselens-untrusted-{}.{extension}", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, bytes).unwrap();
    let _ = teacher(&path).map_err(refused);
    let data = dataset(&path, None).map_err(refused);
    std::fs::remove_file(&path).unwrap();
    data.map(drop)
}

//! What the integration tests share: fixtures, the real encoder where it is there, and comparisons.
#![allow(dead_code)] // each test binary uses its own part

use std::path::{Path, PathBuf};

use caselens::{
    Device, Lens,
    backend::{
        Activation,
        webgpu::{Options, PowerPreference, Products, WebGpu},
    },
    checkpoint::{
        BertCheckpoint, Checkpoint, EncoderId, config_json,
        gguf::write::{Source, write_gguf},
        tokenizer_json,
        weights::{Bytes, Dtype},
    },
    data::columns::Columns,
    embedding::Case,
    head::{HeadFile, HeadLayer, HeadSpec},
    text::Tokenizer,
};
use pollster::block_on;
use safetensors::SafeTensors;

pub mod untrusted;

pub const TINY: [&str; 4] = ["bert-tiny", "roberta-tiny", "xlm-r-tiny", "mpnet-tiny"];

pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

pub fn json(name: &str) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(fixture(name)).unwrap()).unwrap()
}

/// Opens a fixture's folder as a Hugging Face checkpoint.
pub fn tiny(name: &str) -> BertCheckpoint {
    Checkpoint::open(&fixture(name))
        .and_then(Checkpoint::bert)
        .unwrap()
}

/// The tokenizer.json, config.json and weights of a fixture.
pub fn parts(name: &str) -> (String, String, Bytes) {
    let text = |file: &str| std::fs::read_to_string(fixture(name).join(file)).unwrap();
    let weights = std::fs::read(fixture(name).join("model.safetensors")).unwrap();
    (
        text("config.json"),
        text("tokenizer.json"),
        Bytes::Owned(weights),
    )
}

/// The folder of all-MiniLM-L6-v2: CASELENS_ENCODER, else where build.sh keeps it. Says so and gives
/// `None` where it is not there.
pub fn minilm_folder() -> Option<PathBuf> {
    let home = |name: &str, below: &str| std::env::var_os(name).map(|h| Path::new(&h).join(below));
    let places = [
        std::env::var_os("CASELENS_ENCODER").map(PathBuf::from),
        home("XDG_CACHE_HOME", "caselens/encoders/all-MiniLM-L6-v2"),
        home("HOME", ".cache/caselens/encoders/all-MiniLM-L6-v2"),
    ];
    let found = places
        .into_iter()
        .flatten()
        .find(|p| p.join("model.safetensors").is_file());
    if found.is_none() {
        eprintln!("skipped: all-MiniLM-L6-v2 is not there; `./build.sh setup` fetches it");
    }
    found
}

/// Whether the encoder is given a text as it is: what is put into words first has no counterpart in other programs.
pub fn is_read_as_it_is(tokenizer: &Tokenizer, text: &str) -> bool {
    tokenizer.spelled(text).text == text
}

/// The columns of CSV.
pub fn columns(csv: &str) -> Columns {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let names = reader.headers().unwrap().clone();
    let mut columns = Columns::default();
    for record in reader.records().map(Result::unwrap) {
        let cells = names.iter().zip(&record);
        let cells = cells.map(|(name, text)| (name.to_owned(), vec![Some(text.to_owned())]));
        columns.extend(1, cells);
    }
    columns
}

/// The Python that tests run scripts with.
pub fn python() -> String {
    std::env::var("CASELENS_PYTHON").unwrap_or_else(|_| "python3".into())
}

/// A folder that is removed at the end of its test.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("caselens-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// The path of a file in it.
    pub fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    pub fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.0.join(name), text).unwrap();
        self.file(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A tiny T5's folder, with the tokenizer that both share.
pub fn t5(test: &str, model: &str) -> Folder {
    let folder = Folder::new(&format!("t5-{test}-{model}"));
    for (model, file) in [
        (model, "config.json"),
        (model, "model.safetensors"),
        ("flan", "tokenizer.json"),
    ] {
        let from = fixture("t5").join(model).join(file);
        std::fs::copy(from, folder.0.join(file)).unwrap();
    }
    folder
}

/// The folder of a tiny decoder, under another configuration.
pub fn decoder(test: &str, model: &str, changes: &serde_json::Value) -> Folder {
    let folder = Folder::new(&format!("decoder-{test}"));
    let from = fixture("decoders").join(model);
    let mut config: serde_json::Value =
        serde_json::from_slice(&std::fs::read(from.join("config.json")).unwrap()).unwrap();
    for (key, value) in changes.as_object().unwrap() {
        config[key] = value.clone();
    }
    folder.write("config.json", &config.to_string());
    std::fs::copy(
        from.join("model.safetensors"),
        folder.file("model.safetensors"),
    )
    .unwrap();
    std::fs::copy(decoder_tokenizer(model), folder.file("tokenizer.json")).unwrap();
    folder
}

/// Whose tokenizer a tiny decoder has.
pub fn tokenizer_of(model: &str) -> &str {
    if model == "qwen2" { "qwen2" } else { "mistral" }
}

/// The file of a tiny decoder's tokenizer.
pub fn decoder_tokenizer(model: &str) -> PathBuf {
    fixture("decoders")
        .join(tokenizer_of(model))
        .join("tokenizer.json")
}

/// A head of these widths with small numbers.
pub fn head(encoder: &EncoderId, dims: &[usize], relu: bool) -> HeadFile {
    let numbers = |n: usize| {
        (0..n)
            .map(|i| ((i * 37 % 101) as f32 - 50.0) / 100.0)
            .collect()
    };
    let layers = dims.windows(2).map(|d| HeadLayer {
        weight: numbers(d[0] * d[1]),
        bias: numbers(d[1]),
    });
    HeadFile {
        join: Vec::new(),
        mentioned: None,
        calibration: None,
        spec: HeadSpec {
            encoder: encoder.clone(),
            case: Case::default(),
            dims: dims.to_vec(),
            activation: match relu {
                true => Activation::Relu,
                false => Activation::None,
            },
            dropout: 0.15,
            languages: None,
            training: serde_json::Value::Null,
        },
        layers: layers.collect(),
        condition_only: None,
    }
}

/// A file of tensors.
pub struct Tensors(Vec<u8>);

impl Tensors {
    pub fn open(name: &str) -> Self {
        Self(std::fs::read(fixture(name)).unwrap())
    }

    pub fn shape(&self, name: &str) -> Option<Vec<usize>> {
        let file = SafeTensors::deserialize(&self.0).unwrap();
        file.tensor(name).ok().map(|t| t.shape().to_vec())
    }

    pub fn floats(&self, name: &str) -> Vec<f32> {
        let file = SafeTensors::deserialize(&self.0).unwrap();
        let tensor = file.tensor(name).unwrap();
        assert_eq!(tensor.dtype(), safetensors::Dtype::F32, "{name}");
        bytemuck::pod_collect_to_vec(tensor.data())
    }

    /// Integers of 32 or 64 bits.
    pub fn integers(&self, name: &str) -> Vec<u32> {
        let file = SafeTensors::deserialize(&self.0).unwrap();
        let tensor = file.tensor(name).unwrap();
        match tensor.dtype() {
            safetensors::Dtype::I64 | safetensors::Dtype::U64 => {
                bytemuck::pod_collect_to_vec::<u8, u64>(tensor.data())
                    .into_iter()
                    .map(|x| x as u32)
                    .collect()
            }
            _ => bytemuck::pod_collect_to_vec(tensor.data()),
        }
    }
}

/// ‖a − b‖ / ‖b‖
pub fn relative_error(a: &[f32], b: &[f32]) -> f64 {
    assert_eq!(a.len(), b.len());
    let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|x| x * x).sum::<f64>().sqrt();
    let difference = norm(&mut a.iter().zip(b).map(|(x, y)| f64::from(x - y)));
    difference / norm(&mut b.iter().map(|&x| f64::from(x)))
}

/// The smallest cosine between rows of `a` and `b`, `columns` wide.
pub fn worst_cosine(a: &[f32], b: &[f32], columns: usize) -> f32 {
    assert_eq!(a.len(), b.len());
    a.chunks_exact(columns)
        .zip(b.chunks_exact(columns))
        .map(|(x, y)| caselens::similarity::cosine(x, y))
        .fold(1.0, f32::min)
}

/// A checkpoint as its GGUF file gives it back.
pub fn quantized(folder: &Path, dtype: Dtype) -> BertCheckpoint {
    BertCheckpoint::from_gguf("a test's file", Bytes::Owned(gguf(folder, dtype))).unwrap()
}

/// A folder's GGUF file.
pub fn gguf(folder: &Path, dtype: Dtype) -> Vec<u8> {
    let source = Checkpoint::open(folder).and_then(Checkpoint::bert).unwrap();
    let config = config_json(folder).unwrap();
    let tokenizer = tokenizer_json(folder, &config).unwrap();
    let mut file = std::io::Cursor::new(Vec::new());
    let parts = Source {
        weights: &source.weights,
        config_json: &config,
        tokenizer_json: std::str::from_utf8(&tokenizer).unwrap(),
        encoder: &source.encoder,
        plain: source.plain,
        pooler: false,
        rounded: &std::collections::BTreeMap::new(),
    };
    write_gguf(&mut file, &parts, dtype).unwrap();
    file.into_inner()
}

/// The GPU as the product opens it. Says so and gives `None` where there is none, unless CASELENS_REQUIRE_GPU is 1.
pub fn gpu() -> Option<WebGpu> {
    match block_on(WebGpu::new(PowerPreference::HighPerformance)) {
        Ok(gpu) => Some(gpu),
        Err(error) => {
            let required = std::env::var_os("CASELENS_REQUIRE_GPU").is_some_and(|v| v == "1");
            assert!(!required, "CASELENS_REQUIRE_GPU is set: {error}");
            eprintln!("skipped on WebGPU: {error}");
            None
        }
    }
}

/// The GPU with each kind of products that it has.
pub fn gpus() -> Vec<WebGpu> {
    if gpu().is_none() {
        return Vec::new();
    }
    let with = |products| {
        let options = Options {
            products: Some(products),
            ..Options::default()
        };
        let gpu = block_on(WebGpu::open(options)).unwrap();
        (gpu.info().products == products).then_some(gpu)
    };
    let (tiles, threads) = (with(Products::Tiles), with(Products::Threads));
    let mut gpus = vec![tiles.unwrap(), threads.unwrap()];
    gpus.extend(with(Products::Bytes));
    gpus
}

/// Pairs whose condition names what they share, or what they do not.
pub fn toy_csv(rows: usize) -> String {
    let mut csv = String::from("sentence1,sentence2,condition,label\n");
    let (animals, places) = (
        ["dog", "cat", "horse", "bird"],
        ["river", "market", "street", "garden"],
    );
    for i in 0..rows {
        // Every combination once before any comes again, in mixed order.
        let j = i * 37 % 256;
        let (a, b) = (animals[j % 4], animals[j / 4 % 4]);
        let (p, q) = (places[j / 16 % 4], places[j / 64]);
        let (s1, s2) = (format!("a {a} near the {p}"), format!("a {b} near the {q}"));
        let label = |same: bool| if same { 5 } else { 1 };
        csv += &format!("{s1},{s2},the animal,{}\n", label(a == b));
        // A row whose partner is invalid is trained on by itself.
        match i % 8 {
            7 => csv += &format!("{s1},{s2},the place,-1\n"),
            _ => csv += &format!("{s1},{s2},the place,{}\n", label(p == q)),
        }
    }
    csv
}

/// The encoder that ships, which the repository holds, and its head.
pub fn models() -> [PathBuf; 2] {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("www/public/models");
    ["caselens-csts-q4_0.gguf", "caselens-csts.head.safetensors"].map(|name| models.join(name))
}

/// What ships.
pub fn shipped() -> Lens {
    let [encoder, head] = models();
    Lens::open(encoder, Some(head), Device::Cpu).unwrap()
}

/// What ships, with a head that is changed.
pub fn shipped_with(change: impl FnOnce(&mut HeadFile)) -> Lens {
    let [encoder, head] = models();
    let mut head = HeadFile::open(&head).unwrap();
    change(&mut head);
    let checkpoint = Checkpoint::open(&encoder).unwrap();
    let case = head.spec.case.clone();
    Lens::of(&checkpoint, Some(&head), case, Device::Cpu, None).unwrap()
}

//! What `caselens export --gallery` writes is what the browser reads: the same similarities as the companion's, and
//! a typed error for every folder that is not whole.

use crate::{common, program};
use std::path::Path;

use crate::common::Folder;
use crate::program::caselens;
use caselens::{
    bundle::{MANIFEST, Manifest, gallery},
    error::Error,
    head::HeadFile,
};

const PAIRS: [[&str; 4]; 4] = [
    [
        "a small dog near the river",
        "a cat, near the river",
        "the place",
        "5",
    ],
    [
        "a small dog near the river",
        "a cat, near the river",
        "the animal",
        "1",
    ],
    [
        "the old fisherman waits",
        "two birds in the garden",
        "the number",
        "",
    ],
    [
        "a horse in the street",
        "a horse in the market",
        "the animal",
        "4.5",
    ],
];

/// A head for bert-tiny.
fn head() -> HeadFile {
    common::head(&common::tiny("bert-tiny").encoder, &[128, 48, 16], true)
}

/// The files of an exported folder.
struct Bundle {
    manifest: String,
    head: Vec<u8>,
    gallery: Vec<u8>,
}

impl Bundle {
    fn read(folder: &str) -> Self {
        let read = |name: &str| std::fs::read(Path::new(folder).join(name)).unwrap();
        let json = String::from_utf8(read(MANIFEST)).unwrap();
        let manifest = Manifest::parse(&json).unwrap();
        Self {
            head: read(&manifest.head.file),
            gallery: read(&manifest.gallery.unwrap().file.file),
            manifest: json,
        }
    }

    fn answers(&self) -> Result<Vec<gallery::Answer>, Error> {
        let manifest = Manifest::parse(&self.manifest)?;
        pollster::block_on(gallery::answers(&manifest, &self.head, &self.gallery))
    }

    fn code(&self) -> &'static str {
        self.answers().unwrap_err().code()
    }
}

fn ok(args: &[&str]) -> String {
    String::from_utf8(program::ok(args, b"")).unwrap()
}

#[test]
fn a_gallery_answers_as_the_companion_does() {
    let folder = Folder::new("gallery");
    let model = common::fixture("bert-tiny").display().to_string();
    let path = folder.file("tiny.head.safetensors");
    std::fs::write(&path, head().to_bytes().unwrap()).unwrap();
    let rows: String = PAIRS
        .iter()
        .map(|[s1, s2, c, label]| format!("{s1:?},{s2:?},{c},{label}\n"))
        .collect();
    let pairs = folder.write(
        "pairs.csv",
        &format!("sentence1,sentence2,condition,label\n{rows}"),
    );

    for (dtype, tolerance) in [("f16", 1e-3), ("int8", 2e-2)] {
        let out = folder.file(dtype);
        let export = [
            "export",
            "--model",
            &model,
            "--head",
            &path,
            "--gallery",
            &pairs,
            "--gallery-dtype",
            dtype,
            "--licence",
            "encoder: MIT",
            "--output",
            &out,
        ];
        ok(&export);
        let bundle = Bundle::read(&out);
        let manifest = Manifest::parse(&bundle.manifest).unwrap();
        assert_eq!(manifest.licences, ["encoder: MIT"]);
        assert_eq!((manifest.dims, &manifest.encoder.id[..]), (16, "bert-tiny"));
        assert!(manifest.model.is_none(), "no browser runs a folder");
        let items = &manifest.gallery().unwrap().items;
        let labels: Vec<_> = items.iter().map(|item| item.label).collect();
        assert_eq!(labels, [Some(5.0), Some(1.0), None, Some(4.5)]);

        let answers = bundle.answers().unwrap();
        assert_eq!(answers.len(), PAIRS.len());
        for (answer, [s1, s2, condition, _]) in answers.iter().zip(PAIRS) {
            let score = [
                "score", s1, s2, "-c", condition, "--json", "--model", &model, "--head", &path,
            ];
            let expected: serde_json::Value = serde_json::from_str(&ok(&score)).unwrap();
            for (found, name, scale) in [
                (answer.similarity, "similarity", 1.0),
                (answer.rating, "rating", 4.0),
            ] {
                let expected = expected[name].as_f64().unwrap();
                assert!(
                    (f64::from(found) - expected).abs() < tolerance * scale,
                    "{dtype}, {condition}: {found} {expected}"
                );
            }
        }
        assert!(answers[0].similarity != answers[1].similarity);
        // Nothing but what the manifest names.
        assert_eq!(std::fs::read_dir(&out).unwrap().count(), 3);
    }

    // What is not whole is refused, by a code.
    let whole = || Bundle::read(&folder.file("f16"));
    let manifest = |from: &str, to: &str| {
        let bundle = whole();
        assert!(bundle.manifest.contains(from), "{from}");
        Bundle {
            manifest: bundle.manifest.replacen(from, to, 1),
            ..bundle
        }
    };
    assert_eq!(
        manifest("\"schema\": 2", "\"schema\": 3").code(),
        "bundle-schema"
    );
    assert_eq!(manifest("\"gallery\"", "\"other\"").code(), "bundle-format");
    assert_eq!(
        manifest("\"dtype\": \"f16\"", "\"dtype\": \"f8\"").code(),
        "bundle-format"
    );
    assert_eq!(
        manifest("\"id\": \"bert-tiny\"", "\"id\"").code(),
        "bundle-format"
    );
    for elsewhere in ["../", "/", "https://example.org/"] {
        let name = format!("\"file\": \"{elsewhere}bert-tiny.gallery");
        let code = manifest("\"file\": \"bert-tiny.gallery", &name).code();
        assert_eq!(code, "bundle-format", "{elsewhere}");
    }
    let sha256 = head().spec.encoder.sha256;
    assert_eq!(manifest(&sha256, &"0".repeat(64)).code(), "head-mismatch");
    let mut bundle = whole();
    bundle.gallery.truncate(bundle.gallery.len() - 1);
    assert_eq!(bundle.code(), "bundle-mismatch");
    let mut bundle = whole();
    *bundle.gallery.last_mut().unwrap() ^= 1;
    assert_eq!(bundle.code(), "bundle-mismatch");
    let mut bundle = whole();
    bundle.head[40] ^= 1;
    assert_eq!(bundle.code(), "bundle-mismatch");

    // And what cannot be written says why.
    let refused = |more: &[&str], expected: &str| {
        let out = folder.file("none");
        let args = [
            &[
                "export", "--model", &model, "--head", &path, "--output", &out,
            ],
            more,
        ]
        .concat();
        let (code, _, said) = caselens(&args);
        assert!(code == 2 && said.contains(expected), "{more:?}: {said}");
        assert!(!Path::new(&out).exists());
    };
    refused(&[], "--gallery");
    let bad = folder.write(
        "bad.csv",
        "sentence1,sentence2,condition,label\na,b,c,5\na,,c,5\n",
    );
    refused(&["--gallery", &bad], "sentence of row 2 is empty");
    let bad = folder.write(
        "bad.csv",
        "sentence1,sentence2,condition,label\na,b,c,much\n",
    );
    refused(&["--gallery", &bad], "row 1");
    let bad = folder.write("bad.csv", "a,b\n1,2\n");
    refused(&["--gallery", &bad], "sentence1");
}

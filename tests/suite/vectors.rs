//! Stored, grouped and laid out vectors against numpy, scikit-learn and scipy.

use crate::common;
use caselens::{
    evaluation::cluster::v_measure,
    vectors::{
        groups::{KMeans, silhouette},
        plane::plane,
        storage::{Numbers, Storage, Stored},
    },
};
use serde_json::Value;

fn numbers(value: &Value) -> Vec<f32> {
    let list = value.as_array().unwrap();
    list.iter().map(|x| x.as_f64().unwrap() as f32).collect()
}

/// The fixture, its vectors and their width.
fn fixture() -> (Value, Vec<f32>, usize) {
    let fixture = common::json("vectors.json");
    let dims = fixture["dims"].as_u64().unwrap() as usize;
    let x = numbers(&fixture["x"]);
    (fixture, x, dims)
}

fn close(ours: &[f32], theirs: &[f32], tolerance: f32) {
    assert_eq!(ours.len(), theirs.len());
    for (i, (a, b)) in ours.iter().zip(theirs).enumerate() {
        assert!((a - b).abs() <= tolerance, "{i}: {a} {b}");
    }
}

#[test]
fn stored_vectors_are_numpys() {
    let (fixture, x, dims) = fixture();
    let rows: Vec<Vec<f32>> = x.chunks(dims).map(<[f32]>::to_vec).collect();
    let of = |dims, storage| Stored::of(&rows, dims, storage, true).unwrap();

    let cut = &fixture["cut"];
    let width = cut["dims"].as_u64().unwrap() as usize;
    let Numbers::Float32(ours) = of(Some(width), Storage::Float32).numbers else {
        panic!("float32 was asked for")
    };
    let theirs = numbers(&cut["x"]);
    close(&ours[..theirs.len()], &theirs, 1e-6);

    let Numbers::Int8 { values, scales } = of(None, Storage::Int8).numbers else {
        panic!("int8 was asked for")
    };
    let theirs: Vec<i8> = numbers(&fixture["int8"]["values"])
        .iter()
        .map(|&x| x as i8)
        .collect();
    assert_eq!(values[..theirs.len()], theirs);
    let theirs = numbers(&fixture["int8"]["scales"]);
    close(&scales[..theirs.len()], &theirs, 1e-8);

    let theirs: Vec<u8> = numbers(&fixture["binary"])
        .iter()
        .map(|&x| x as u8)
        .collect();
    assert_eq!(of(None, Storage::Binary).numbers, Numbers::Binary(theirs));
}

#[test]
fn groups_are_as_tight_as_scikit_learns() {
    let (fixture, x, dims) = fixture();
    let groups = &fixture["groups"];
    let k = groups["k"].as_u64().unwrap() as usize;
    let labels: Vec<usize> = numbers(&groups["labels"])
        .iter()
        .map(|&l| l as usize)
        .collect();
    let k_means = KMeans {
        spherical: true,
        runs: 8,
        steps: 100,
        seed: 0,
    };
    let ours = k_means.fit(&x, dims, k).unwrap().largest_first(dims);
    let theirs = groups["inertia"].as_f64().unwrap();
    assert!(ours.inertia < 1.005 * theirs, "{} {theirs}", ours.inertia);
    assert!(v_measure(&labels, &ours.labels) > 0.95);
    for centre in ours.centres.chunks(dims) {
        assert!((centre.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-5);
    }
    let sizes: Vec<usize> = (0..k)
        .map(|g| ours.labels.iter().filter(|&&l| l == g).count())
        .collect();
    assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");

    let theirs = groups["silhouette"].as_f64().unwrap();
    let same = silhouette(&x, dims, &labels);
    assert!((same - theirs).abs() < 1e-5, "{same} {theirs}");
    // The number of groups that the data was made with has the best silhouette.
    let score = |k| silhouette(&x, dims, &k_means.fit(&x, dims, k).unwrap().labels);
    let best = (2..12).max_by(|&a, &b| score(a).total_cmp(&score(b)));
    assert_eq!(best, Some(k));
}

#[test]
fn a_plane_is_that_of_scikit_learn_and_turns_as_scipy_says() {
    let (fixture, x, dims) = fixture();
    let fixture = &fixture["plane"];
    let points = plane(&x, dims, None).unwrap();
    let theirs = numbers(&fixture["points"]);
    for axis in 0..2 {
        let of = |all: &[f32]| -> Vec<f32> { all.iter().skip(axis).step_by(2).copied().collect() };
        let (ours, theirs) = (of(&points), of(&theirs));
        let product: f32 = ours.iter().zip(&theirs).map(|(a, b)| a * b).sum();
        let theirs: Vec<f32> = theirs.iter().map(|b| b * product.signum()).collect();
        close(&ours, &theirs, 1e-3);
    }
    let turned = plane(&x, dims, Some(&numbers(&fixture["previous"]))).unwrap();
    close(&turned, &numbers(&fixture["turned"]), 1e-3);
}

/// At the width of an encoder, where a few directions stand for all of them.
#[cfg(feature = "cli")]
#[test]
fn a_plane_of_wide_vectors_is_that_of_all_components() {
    let (n, dims) = (300, 384);
    let mut state = 1u64;
    let mut random = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    // Variances that fall slowly, as those of embeddings do.
    let x: Vec<f32> = (0..n)
        .flat_map(|_| {
            (0..dims)
                .map(|d| random() / (1.0 + d as f32 / 3.0))
                .collect::<Vec<_>>()
        })
        .collect();
    let ours = plane(&x, dims, None).unwrap();
    let pca = caselens::evaluation::pca::Pca::fit(&x, dims).unwrap();
    let theirs = pca.transform(&x, 2);
    for axis in 0..2 {
        let product: f64 = (0..n)
            .map(|i| f64::from(ours[2 * i + axis]) * theirs[(i, axis)])
            .sum();
        let square: f64 = (0..n).map(|i| theirs[(i, axis)].powi(2)).sum();
        assert!(
            (product.abs() / square - 1.0).abs() < 1e-3,
            "{axis}: {product} {square}"
        );
    }
}

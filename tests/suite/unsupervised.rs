//! PCA, ICA, k-means, t-SNE and V-measure against scikit-learn.

use crate::common;
use caselens::evaluation::{
    cluster::{K_MEANS, v_measure},
    ica::Ica,
    metrics::pearson,
    pca::Pca,
    t_sne::Map,
};
use serde_json::Value;

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap();
    list.iter().map(|x| x.as_f64().unwrap()).collect()
}

fn vectors(value: &Value) -> Vec<f32> {
    let rows = value.as_array().unwrap();
    rows.iter()
        .flat_map(|row| numbers(row).into_iter().map(|x| x as f32))
        .collect()
}

#[test]
fn principal_components_are_scikit_learns() {
    let fixture = &common::json("unsupervised.json")["pca"];
    let x = vectors(&fixture["x"]);
    let expected = fixture["components"].as_array().unwrap();
    let dims = expected[0].as_array().unwrap().len();
    let pca = Pca::fit(&x, dims).unwrap();
    let variance = numbers(&fixture["explained_variance"]);
    for (i, (component, variance)) in expected.iter().zip(variance).enumerate() {
        assert!((pca.variance()[i] / variance - 1.0).abs() < 1e-5);
        let dot: f64 = pca
            .component(i)
            .iter()
            .zip(numbers(component))
            .map(|(a, b)| a * b)
            .sum();
        assert!((dot.abs() - 1.0).abs() < 1e-6, "component {i}: {dot}");
    }
    let whitened = pca.whiten(&x, 3);
    let n = whitened.nrows() as f64;
    for column in whitened.col_iter() {
        let variance = column.iter().map(|x| x * x).sum::<f64>() / (n - 1.0);
        assert!((variance - 1.0).abs() < 1e-6);
    }
}

#[test]
fn independent_components_are_scikit_learns() {
    let fixture = &common::json("unsupervised.json")["ica"];
    let x = vectors(&fixture["x"]);
    let pca = Pca::fit(&x, 3).unwrap();
    let whitened = pca.whiten(&x, 3);
    let ica = Ica::fit(&whitened, 0).unwrap();
    assert!(ica.converged, "{}", ica.iterations);
    let ours = ica.transform(&whitened);
    // Sources have no order and no sign.
    for theirs in fixture["sources"].as_array().unwrap() {
        let theirs = numbers(theirs);
        let best = ours
            .col_iter()
            .map(|c| pearson(&c.iter().copied().collect::<Vec<_>>(), &theirs).abs())
            .fold(0.0, f64::max);
        assert!(best > 0.999, "{best}");
    }
}

#[test]
fn clusters_are_as_tight_as_scikit_learns() {
    let fixture = &common::json("unsupervised.json")["clusters"];
    let x = vectors(&fixture["x"]);
    let k = fixture["k"].as_u64().unwrap() as usize;
    let clusters = K_MEANS.fit(&x, 4, k).unwrap();
    let theirs = fixture["inertia"].as_f64().unwrap();
    assert!(
        (clusters.inertia / theirs - 1.0).abs() < 0.005,
        "{} {theirs}",
        clusters.inertia
    );
    let labels: Vec<u64> = numbers(&fixture["labels"])
        .iter()
        .map(|&l| l as u64)
        .collect();
    let v = v_measure(&labels, &clusters.labels);
    // Optima whose inertia differs in the fourth digit put one vector elsewhere.
    assert!(v > 0.97, "{v}");
    assert!(K_MEANS.fit(&x, 4, x.len()).is_err());
}

#[test]
fn a_map_is_as_good_as_scikit_learns() {
    let fixture = common::json("unsupervised.json");
    let x = vectors(&fixture["clusters"]["x"]);
    let t_sne = &fixture["t_sne"];
    let perplexity = t_sne["perplexity"].as_f64().unwrap();
    let theirs = t_sne["trustworthiness"].as_f64().unwrap();
    let points = |rows: &[f64]| -> Vec<Vec<f64>> { rows.chunks(2).map(<[f64]>::to_vec).collect() };
    let flat: Vec<f64> = vectors(&t_sne["map"]).into_iter().map(f64::from).collect();
    let x_rows: Vec<Vec<f64>> = x
        .chunks(4)
        .map(|r| r.iter().copied().map(f64::from).collect())
        .collect();
    // Our measure is theirs.
    assert!((trustworthiness(&x_rows, &points(&flat), 5) - theirs).abs() < 1e-4);
    let map = Map::t_sne(&x, 4, perplexity).unwrap();
    let ours: Vec<f64> = map.points.iter().flat_map(|&(a, b)| [a, b]).collect();
    let ours = trustworthiness(&x_rows, &points(&ours), 5);
    assert!(ours > theirs - 0.02, "{ours} {theirs}");
    assert!(Map::t_sne(&x[..40], 4, perplexity).is_err());
}

/// Venna & Kaski (2001): how few of a point's `k` neighbours on the map were far away before.
fn trustworthiness(x: &[Vec<f64>], map: &[Vec<f64>], k: usize) -> f64 {
    let n = x.len();
    let nearest = |rows: &[Vec<f64>], i: usize| -> Vec<usize> {
        let distance = |j: usize| -> f64 {
            let pairs = rows[i].iter().zip(&rows[j]);
            pairs.map(|(a, b)| (a - b).powi(2)).sum()
        };
        let mut others: Vec<usize> = (0..n).filter(|&j| j != i).collect();
        others.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));
        others
    };
    let mut penalty = 0.0;
    for i in 0..n {
        let before = nearest(x, i);
        for j in &nearest(map, i)[..k] {
            let rank = 1 + before.iter().position(|b| b == j).unwrap();
            penalty += rank.saturating_sub(k) as f64;
        }
    }
    1.0 - penalty * 2.0 / (n * k * (2 * n - 3 * k - 1)) as f64
}

#[test]
fn v_measure_is_scikit_learns() {
    let fixture = common::json("unsupervised.json");
    let cases = fixture["v_measure"].as_array().unwrap();
    assert!(cases.len() >= 4);
    for case in cases {
        let labels =
            |name: &str| -> Vec<u64> { numbers(&case[name]).iter().map(|&l| l as u64).collect() };
        let ours = v_measure(&labels("classes"), &labels("clusters"));
        let theirs = case["v"].as_f64().unwrap();
        assert!((ours - theirs).abs() < 1e-9, "{ours} {theirs}");
    }
}

//! Correlations against scipy, calibration against scikit-learn.

use crate::common;
use caselens::evaluation::{
    calibration::{Reliability, isotonic},
    metrics::{pearson, spearman},
};

#[test]
fn correlations_are_scipys() {
    let fixture = common::json("metrics.json");
    let cases = fixture.as_array().unwrap();
    assert!(cases.len() >= 8);
    for case in cases {
        let vector = |name: &str| -> Vec<f64> {
            case[name]
                .as_array()
                .unwrap()
                .iter()
                .map(|x| x.as_f64().unwrap())
                .collect()
        };
        let (x, y) = (vector("x"), vector("y"));
        for (name, ours) in [("spearman", spearman(&x, &y)), ("pearson", pearson(&x, &y))] {
            match case[name].as_f64() {
                Some(theirs) => assert!(
                    (ours - theirs).abs() < 1e-10,
                    "{}: {name} {ours} {theirs}",
                    case["name"]
                ),
                None => assert!(ours.is_nan(), "{}: {name} {ours}", case["name"]),
            }
        }
    }
}

#[test]
fn isotonic_regression_and_reliability_diagrams_are_scikit_learns() {
    let fixture = common::json("calibration.json");
    let numbers = |name: &str| -> Vec<f64> {
        let values = fixture[name].as_array().unwrap().iter();
        values
            .map(|x| {
                x.as_f64()
                    .unwrap_or_else(|| f64::from(u8::from(x.as_bool().unwrap())))
            })
            .collect()
    };
    let (similarity, alike) = (numbers("similarity"), numbers("alike"));
    let fitted = isotonic(&alike, &numbers("weights"));
    for (ours, theirs) in fitted.iter().zip(numbers("isotonic")) {
        assert!((ours - theirs).abs() < 1e-9, "{ours} {theirs}");
    }
    let ratings: Vec<f64> = alike.iter().map(|alike| 1.0 + 4.0 * alike).collect();
    let reliability = Reliability::of(&similarity, &ratings).unwrap();
    let bins = fixture["bins"].as_array().unwrap();
    assert_eq!(reliability.bins.len(), bins.len());
    for (ours, theirs) in reliability.bins.iter().zip(bins) {
        for (ours, theirs) in [ours.similarity, ours.agreement]
            .iter()
            .zip(theirs.as_array().unwrap())
        {
            assert!(
                (ours - theirs.as_f64().unwrap()).abs() < 1e-9,
                "{ours} {theirs}"
            );
        }
    }
}

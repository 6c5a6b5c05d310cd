//! Correlations against scipy.

use crate::common;
use caselens::evaluation::metrics::{pearson, spearman};

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

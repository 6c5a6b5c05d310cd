//! What the C-STS paper trains and reports (Deshpande et al., 2023), against torch, scipy and statsmodels.

use candle_core::{Device, Var};
use caselens::training::loss::{Compared, Loss};
use serde_json::Value;

use crate::common;

fn floats(value: &Value) -> Vec<f64> {
    let all = value.as_array().unwrap().iter();
    all.map(|x| x.as_f64().unwrap()).collect()
}

fn singles(value: &Value) -> Vec<f32> {
    floats(value).into_iter().map(|x| x as f32).collect()
}

#[test]
fn the_quad_loss_is_torchs_under_every_margin() {
    let fixture = &common::json("csts.json")["quad"];
    let (similarity, ratings) = (
        singles(&fixture["similarity"]),
        singles(&fixture["ratings"]),
    );
    let groups: Vec<_> = (0..4)
        .map(|pair| Compared {
            rows: 2 * pair..2 * pair + 2,
            asked: vec![[pair, 0], [pair, 1]],
            inputs: 4,
        })
        .collect();
    for expected in fixture["margins"].as_array().unwrap() {
        let margin = expected["margin"].as_f64().unwrap();
        let loss = Loss {
            margin,
            ..("quad".parse().unwrap())
        };
        let var = Var::new(similarity.as_slice(), &Device::Cpu).unwrap();
        let got = loss.of(var.as_tensor(), &ratings, &groups, 16).unwrap();
        let value = f64::from(got.to_scalar::<f32>().unwrap());
        assert!(
            (value - expected["value"].as_f64().unwrap()).abs() < 1e-6,
            "{margin}"
        );
        let slopes = got.backward().unwrap();
        let slopes: Vec<f32> = slopes.get(&var).unwrap().to_vec1().unwrap();
        for (slope, wanted) in slopes.iter().zip(singles(&expected["slopes"])) {
            assert!((slope - wanted).abs() < 1e-6, "{margin}");
        }
    }
}

#[cfg(feature = "cli")]
#[test]
fn t_tests_are_scipys() {
    use caselens::evaluation::significance::TTest;

    let fixture = common::json("csts.json");
    let near = |ours: f64, theirs: &Value| {
        let theirs = theirs.as_f64().unwrap();
        assert!(
            (ours - theirs).abs() <= 1e-10 * theirs.abs().max(1.0),
            "{ours} {theirs}"
        );
        ours / theirs
    };
    for case in fixture["t_tests"].as_array().unwrap() {
        let (a, b) = (floats(&case["a"]), floats(&case["b"]));
        for (name, test) in [
            ("welch", TTest::welch(&a, &b)),
            ("paired", TTest::paired(&a, &b)),
        ] {
            let Some(expected) = case.get(name) else {
                assert!(test.is_none(), "as many in both samples");
                continue;
            };
            let test = test.unwrap();
            near(test.t, &expected["t"]);
            near(test.df, &expected["df"]);
            // The smallest p of the fixture too, which no absolute bound would see.
            let ratio = near(test.p, &expected["p"]);
            assert!((ratio - 1.0).abs() < 1e-9, "{name} {ratio}");
        }
    }
}

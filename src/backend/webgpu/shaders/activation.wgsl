// The function after a linear layer, chosen when the pipeline is made: 0 none, 1 GELU, 2 ReLU, 3 tanh.
override activation: u32 = 0u;

// erf on [-1, 1] by the rational minimax approximation of Eigen and XLA, x·P(x²)/Q(x²).
fn erf_near_zero(x: f32) -> f32 {
    let s = x * x;
    var p = -2.72614225801306e-10;
    p = fma(p, s, 2.77068142495902e-08);
    p = fma(p, s, -2.10102402082508e-06);
    p = fma(p, s, -5.69250639462346e-05);
    p = fma(p, s, -7.34990630326855e-04);
    p = fma(p, s, -2.95459980854025e-03);
    p = fma(p, s, -1.60960333262415e-02);
    var q = -1.45660718464996e-05;
    q = fma(q, s, -2.13374055278905e-04);
    q = fma(q, s, -1.68282697438203e-03);
    q = fma(q, s, -7.37332916720468e-03);
    q = fma(q, s, -1.42647390514189e-02);
    return x * p / q;
}

// 1 − erf for x ≥ 0 by the Chebyshev fit of Numerical Recipes (erfcc): relative error 1.2e-7.
fn erfc(x: f32) -> f32 {
    let t = 1.0 / fma(0.5, x, 1.0);
    var p = 0.17087277;
    p = fma(p, t, -0.82215223);
    p = fma(p, t, 1.48851587);
    p = fma(p, t, -1.13520398);
    p = fma(p, t, 0.27886807);
    p = fma(p, t, -0.18628806);
    p = fma(p, t, 0.09678418);
    p = fma(p, t, 0.37409196);
    p = fma(p, t, 1.00002368);
    p = fma(p, t, -1.26551223);
    return t * exp(fma(-x, x, p));
}

// x·Φ(x). Far from zero Φ comes from erfc: 1 + erf would cancel there.
fn gelu(x: f32) -> f32 {
    let z = x * 0.70710678118654752;
    if (abs(z) < 1.0) {
        return 0.5 * x * (1.0 + erf_near_zero(z));
    }
    let tail = 0.5 * erfc(abs(z));
    return x * select(tail, 1.0 - tail, x > 0.0);
}

fn activate(x: f32) -> f32 {
    switch activation {
        case 1u: {
            return gelu(x);
        }
        case 2u: {
            return max(x, 0.0);
        }
        case 3u: {
            // Some GPUs divide infinities far from zero, where it is 1 to f32.
            return tanh(clamp(x, -10.0, 10.0));
        }
        default: {
            return x;
        }
    }
}

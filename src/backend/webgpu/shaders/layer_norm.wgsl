// LayerNorm of one row of `output`, in place, by one workgroup:
// y = (x − mean) / √(variance + ε) · weight + bias, the variance from centred squares.
//
// The kernel that includes this declares `norm` (weight, then bias: 2 · columns numbers) and `output`.

fn layer_norm(start: u32, columns: u32, eps: f32, lane: u32) {
    var sum = 0.0;
    for (var c = lane; c < columns; c += LANES) {
        sum += output[start + c];
    }
    let mean = workgroup_sum(lane, sum) / f32(columns);
    var squares = 0.0;
    for (var c = lane; c < columns; c += LANES) {
        let centred = output[start + c] - mean;
        squares += centred * centred;
    }
    let variance = workgroup_sum(lane, squares) / f32(columns);
    let scale = 1.0 / sqrt(variance + eps);
    for (var c = lane; c < columns; c += LANES) {
        output[start + c] = (output[start + c] - mean) * scale * norm[c] + norm[columns + c];
    }
}

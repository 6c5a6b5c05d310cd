// What a linear layer does with a thread's sums: bias, `activate`, and the bounds of y.
//
// The shader after it declares `params`, `bias` and `y`.

// Threads along a workgroup: how far a thread's outputs lie apart.
const SIDE = 16u;

fn store(row: u32, output: u32, sum: f32) {
    if (row < params.rows && output < params.outputs) {
        y[row * params.outputs + output] = activate(sum + bias[output]);
    }
}

// Sums of one row, for four outputs `SIDE` apart.
fn store_row(row: u32, output: u32, sums: vec4<f32>) {
    store(row, output, sums.x);
    store(row, output + SIDE, sums.y);
    store(row, output + 2u * SIDE, sums.z);
    store(row, output + 3u * SIDE, sums.w);
}

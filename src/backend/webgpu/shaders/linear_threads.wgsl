// y = activation(x · Wᵀ + bias): x [rows, inputs], W [outputs, inputs], y [rows, outputs].
//
// For adapters that are programs on a CPU. To them a barrier is a switch of all threads' stacks, workgroup memory is
// memory like any other, and a load is a check and a branch for each number; what they do well is arithmetic. So each
// thread makes 8 rows of 8 outputs by itself, which takes one load for four products. Each sum runs over the inputs in
// the same order whatever else is in the batch.
//
// W comes from `weight_at`; `store_row` applies the function after.

// Where the rows of W for four outputs begin; past the last one, at the last one.
fn rows_of_w(output: u32) -> vec4<u32> {
    let outputs = output + vec4<u32>(0u, SIDE, 2u * SIDE, 3u * SIDE);
    return min(outputs, vec4<u32>(params.outputs - 1u)) * params.quads;
}

// A row vector times this matrix is its dot products with four rows of W.
fn weights(at: vec4<u32>) -> mat4x4<f32> {
    return mat4x4<f32>(weight_at(at.x), weight_at(at.y), weight_at(at.z), weight_at(at.w));
}

@compute @workgroup_size(16)
fn main(@builtin(workgroup_id) tile: vec3<u32>, @builtin(local_invocation_id) thread: vec3<u32>) {
    let output = tile.x * 8u * SIDE + thread.x;
    let w_a = rows_of_w(output);
    let w_b = rows_of_w(output + 4u * SIDE);
    let row = tile.y * 8u;
    let last = vec4<u32>(params.rows - 1u);
    let x_a = min(row + vec4<u32>(0u, 1u, 2u, 3u), last) * params.quads;
    let x_b = min(row + vec4<u32>(4u, 5u, 6u, 7u), last) * params.quads;

    // Eight rows of sums, each for two times four outputs.
    var sums_0a = vec4<f32>();
    var sums_0b = vec4<f32>();
    var sums_1a = vec4<f32>();
    var sums_1b = vec4<f32>();
    var sums_2a = vec4<f32>();
    var sums_2b = vec4<f32>();
    var sums_3a = vec4<f32>();
    var sums_3b = vec4<f32>();
    var sums_4a = vec4<f32>();
    var sums_4b = vec4<f32>();
    var sums_5a = vec4<f32>();
    var sums_5b = vec4<f32>();
    var sums_6a = vec4<f32>();
    var sums_6b = vec4<f32>();
    var sums_7a = vec4<f32>();
    var sums_7b = vec4<f32>();

    for (var quad = 0u; quad < params.quads; quad++) {
        let a = weights(w_a + quad);
        let b = weights(w_b + quad);
        let x_0 = x[x_a.x + quad];
        sums_0a += x_0 * a;
        sums_0b += x_0 * b;
        let x_1 = x[x_a.y + quad];
        sums_1a += x_1 * a;
        sums_1b += x_1 * b;
        let x_2 = x[x_a.z + quad];
        sums_2a += x_2 * a;
        sums_2b += x_2 * b;
        let x_3 = x[x_a.w + quad];
        sums_3a += x_3 * a;
        sums_3b += x_3 * b;
        let x_4 = x[x_b.x + quad];
        sums_4a += x_4 * a;
        sums_4b += x_4 * b;
        let x_5 = x[x_b.y + quad];
        sums_5a += x_5 * a;
        sums_5b += x_5 * b;
        let x_6 = x[x_b.z + quad];
        sums_6a += x_6 * a;
        sums_6b += x_6 * b;
        let x_7 = x[x_b.w + quad];
        sums_7a += x_7 * a;
        sums_7b += x_7 * b;
    }

    let next = output + 4u * SIDE;
    store_row(row, output, sums_0a);
    store_row(row, next, sums_0b);
    store_row(row + 1u, output, sums_1a);
    store_row(row + 1u, next, sums_1b);
    store_row(row + 2u, output, sums_2a);
    store_row(row + 2u, next, sums_2b);
    store_row(row + 3u, output, sums_3a);
    store_row(row + 3u, next, sums_3b);
    store_row(row + 4u, output, sums_4a);
    store_row(row + 4u, next, sums_4b);
    store_row(row + 5u, output, sums_5a);
    store_row(row + 5u, next, sums_5b);
    store_row(row + 6u, output, sums_6a);
    store_row(row + 6u, next, sums_6b);
    store_row(row + 7u, output, sums_7a);
    store_row(row + 7u, next, sums_7b);
}

// Divides each row of x [rows, columns] by its Euclidean length; a row of zeros stays zero.

struct Params {
    rows: u32,
    columns: u32,
    padding_0: u32,
    padding_1: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let row = group.y * groups.x + group.x;
    if (row >= params.rows) {
        return;
    }
    let start = row * params.columns;
    var squares = 0.0;
    for (var c = lane; c < params.columns; c += LANES) {
        squares += x[start + c] * x[start + c];
    }
    let length = sqrt(workgroup_sum(lane, squares));
    let divisor = select(length, 1.0, length == 0.0);
    for (var c = lane; c < params.columns; c += LANES) {
        output[start + c] = x[start + c] / divisor;
    }
}

// Some columns of x, or all of them, into rows of output from `offset` on:
// x [rows, x_columns] → output [at least offset + rows, columns]; a workgroup a row.

struct Params {
    rows: u32,
    columns: u32,
    x_columns: u32,
    // The first column of x.
    first: u32,
    // The first row of output.
    offset: u32,
    padding_0: u32,
    padding_1: u32,
    padding_2: u32,
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
    let start = (params.offset + row) * params.columns;
    for (var c = lane; c < params.columns; c += 64u) {
        output[start + c] = x[row * params.x_columns + params.first + c];
    }
}

// Rows of x, each scaled part by part: x [tokens, columns], weights [rows, parts] → output [rows, columns].
// A workgroup a row of output, which is the row `taken` of x.

struct Params {
    rows: u32,
    columns: u32,
    parts: u32,
    // What is added to each weight.
    add: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> taken: array<u32>;
@group(0) @binding(3) var<storage, read> weights: array<f32>;
@group(0) @binding(4) var<storage, read_write> output: array<f32>;

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
    let part = params.columns / params.parts;
    for (var c = lane; c < params.columns; c += 64u) {
        let weight = weights[row * params.parts + c / part] + params.add;
        output[row * params.columns + c] = x[taken[row] * params.columns + c] * weight;
    }
}

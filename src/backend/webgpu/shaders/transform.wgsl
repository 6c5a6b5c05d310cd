// Each row of x times a matrix of its own: x [rows, inputs], matrices [count, inputs · outputs] → output [rows, outputs].
// A workgroup a row, a thread every 64th output.

struct Params {
    rows: u32,
    inputs: u32,
    outputs: u32,
    padding: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> matrices: array<f32>;
// The matrix of each row.
@group(0) @binding(3) var<storage, read> named: array<u32>;
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
    let start = named[row] * params.inputs * params.outputs;
    for (var c = lane; c < params.outputs; c += 64u) {
        var sum = 0.0;
        for (var i = 0u; i < params.inputs; i++) {
            sum += x[row * params.inputs + i] * matrices[start + i * params.outputs + c];
        }
        output[row * params.outputs + c] = sum;
    }
}

// output = LayerNorm(output + residual), both [rows, columns], in place; a workgroup a row.

struct Params {
    rows: u32,
    columns: u32,
    eps: f32,
    padding: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> norm: array<f32>;
@group(0) @binding(2) var<storage, read> residual: array<f32>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

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
    // A thread normalises the columns it adds here, so no barrier is needed in between.
    for (var c = lane; c < params.columns; c += LANES) {
        output[start + c] += residual[start + c];
    }
    layer_norm(start, params.columns, params.eps, lane);
}

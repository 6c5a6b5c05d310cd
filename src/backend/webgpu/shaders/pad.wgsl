// Copies x [rows, columns] into rows of whole vec4s, with zeros at the end: what `linear` reads where
// a layer's inputs are no multiple of four.

struct Params {
    rows: u32,
    columns: u32,
    padded: u32,
    padding: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

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
    for (var c = lane; c < params.padded; c += 64u) {
        var value = 0.0;
        if (c < params.columns) {
            value = x[row * params.columns + c];
        }
        y[row * params.padded + c] = value;
    }
}

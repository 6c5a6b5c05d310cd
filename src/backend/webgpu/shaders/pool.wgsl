// output block = Σ over its terms of weight · mean of the rows start..start + length of x.
// x [tokens, columns] → output [blocks, columns]; a workgroup a block (a pooled row is several blocks).

struct Params {
    blocks: u32,
    columns: u32,
    padding_0: u32,
    padding_1: u32,
}

struct Term {
    start: u32,
    length: u32,
    weight: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
// Block b has the terms offsets[b]..offsets[b + 1].
@group(0) @binding(2) var<storage, read> offsets: array<u32>;
@group(0) @binding(3) var<storage, read> terms: array<Term>;
@group(0) @binding(4) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let block = group.y * groups.x + group.x;
    if (block >= params.blocks) {
        return;
    }
    for (var c = lane; c < params.columns; c += 64u) {
        var pooled = 0.0;
        for (var t = offsets[block]; t < offsets[block + 1u]; t++) {
            let term = terms[t];
            var sum = 0.0;
            for (var i = 0u; i < term.length; i++) {
                sum += x[(term.start + i) * params.columns + c];
            }
            pooled += term.weight / f32(term.length) * sum;
        }
        output[block * params.columns + c] = pooled;
    }
}

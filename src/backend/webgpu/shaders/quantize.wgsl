// x in blocks of 32: bytes, four to a u32 (lowest first), and one scale a block; a thread a block.
//
// A block is quantised by its own largest number, so a row's bytes do not depend on what lies beside it.

struct Params {
    blocks: u32,
    padding_0: u32,
    padding_1: u32,
    padding_2: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
// Two vec4s a block.
@group(0) @binding(2) var<storage, read_write> quants: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> scales: array<f32>;

fn largest(x: vec4<f32>) -> f32 {
    let most = max(abs(x.xy), abs(x.zw));
    return max(most.x, most.y);
}

fn bytes(x: vec4<f32>) -> u32 {
    return pack4xI8(vec4<i32>(round(x)));
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let block = (group.y * groups.x + group.x) * 64u + lane;
    if (block >= params.blocks) {
        return;
    }
    let at = 8u * block;
    let x_0 = x[at];
    let x_1 = x[at + 1u];
    let x_2 = x[at + 2u];
    let x_3 = x[at + 3u];
    let x_4 = x[at + 4u];
    let x_5 = x[at + 5u];
    let x_6 = x[at + 6u];
    let x_7 = x[at + 7u];
    let most = max(
        max(max(largest(x_0), largest(x_1)), max(largest(x_2), largest(x_3))),
        max(max(largest(x_4), largest(x_5)), max(largest(x_6), largest(x_7))),
    );
    // A block of zeros, and one too small to divide by, stays zero.
    let inverse = select(0.0, 127.0 / most, most > 1e-30);
    quants[2u * block] = vec4<u32>(
        bytes(inverse * x_0), bytes(inverse * x_1), bytes(inverse * x_2), bytes(inverse * x_3),
    );
    quants[2u * block + 1u] = vec4<u32>(
        bytes(inverse * x_4), bytes(inverse * x_5), bytes(inverse * x_6), bytes(inverse * x_7),
    );
    scales[block] = most / 127.0;
}

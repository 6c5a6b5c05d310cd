// Of each stretch of an attention row its numbers, divided by their sum: attention [rows, columns] → output [Σ length].
// A workgroup a stretch; one of zeros stays zeros.

struct Params {
    stretches: u32,
    columns: u32,
    padding_0: u32,
    padding_1: u32,
}

// The first number in attention, how many they are, and the first one in output.
struct Stretch {
    start: u32,
    length: u32,
    output: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> attention: array<f32>;
@group(0) @binding(2) var<storage, read> stretches: array<Stretch>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = group.y * groups.x + group.x;
    if (index >= params.stretches) {
        return;
    }
    let stretch = stretches[index];
    var total = 0.0;
    for (var i = lane; i < stretch.length; i += LANES) {
        total += attention[stretch.start + i];
    }
    let sum = workgroup_sum(lane, total);
    let divisor = select(sum, 1.0, sum == 0.0);
    for (var i = lane; i < stretch.length; i += LANES) {
        output[stretch.output + i] = attention[stretch.start + i] / divisor;
    }
}

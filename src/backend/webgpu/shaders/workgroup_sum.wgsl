// The sum of one number from each of a workgroup's 64 threads, given to all of them.

const LANES = 64u;

var<workgroup> partial_sums: array<f32, LANES>;

fn workgroup_sum(lane: u32, value: f32) -> f32 {
    partial_sums[lane] = value;
    workgroupBarrier();
    for (var width = LANES / 2u; width > 0u; width /= 2u) {
        if (lane < width) {
            partial_sums[lane] += partial_sums[lane + width];
        }
        workgroupBarrier();
    }
    let sum = partial_sums[0];
    // The next sum must not overwrite this one while a thread still reads it.
    workgroupBarrier();
    return sum;
}

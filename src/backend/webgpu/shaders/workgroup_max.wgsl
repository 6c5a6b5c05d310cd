// The largest of one number from each of a workgroup's 64 threads, given to all of them. After `workgroup_sum.wgsl`, which counts them.

const LOWEST = -3.4e38;

var<workgroup> peaks: array<f32, LANES>;

fn workgroup_max(lane: u32, value: f32) -> f32 {
    peaks[lane] = value;
    workgroupBarrier();
    for (var width = LANES / 2u; width > 0u; width /= 2u) {
        if (lane < width) {
            peaks[lane] = max(peaks[lane], peaks[lane + width]);
        }
        workgroupBarrier();
    }
    let peak = peaks[0];
    // The next maximum must not overwrite this one while a thread still reads it.
    workgroupBarrier();
    return peak;
}

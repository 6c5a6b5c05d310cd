// y = activation(x · Wᵀ + bias), multiplied as bytes: x [rows, inputs] and W [outputs, inputs] are blocks of
// 32 with a scale each. Within a block sums are exact integers, over blocks they are f32, always in the
// same order.
//
// W lies in panels of 16 outputs: for each block of inputs the low halves of the 16 outputs' bytes, then the
// high halves, so that 16 neighbouring threads read neighbouring vec4s. A thread makes 4 rows of 4 outputs, one
// of each of four panels. There is no workgroup memory and no barrier: what neighbours share, a core's
// cache holds.
//
// `store_row` applies the function after.

struct Params {
    rows: u32,
    outputs: u32,
    // Blocks in a row.
    blocks: u32,
    padding: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> weights: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> weight_scales: array<f32>;
@group(0) @binding(3) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> x_scales: array<f32>;
@group(0) @binding(5) var<storage, read> bias: array<f32>;
@group(0) @binding(6) var<storage, read_write> y: array<f32>;

// Outputs in a panel.
const WIDTH = SIDE;
// Rows of a thread, and panels.
const ROWS = 4u;
const PANELS = 4u;
// Threads down a workgroup.
override height: u32 = 4u;

fn product(x: vec4<u32>, w: vec4<u32>) -> i32 {
    return dot4I8Packed(x.x, w.x) + dot4I8Packed(x.y, w.y) + dot4I8Packed(x.z, w.z) + dot4I8Packed(x.w, w.w);
}

struct Block {
    low: vec4<u32>,
    high: vec4<u32>,
    scale: f32,
}

// A block of W for the thread's output in `panel`.
fn weight(panel: u32, block: u32, lane: u32) -> Block {
    let at = min(panel, (params.outputs - 1u) / WIDTH) * params.blocks + block;
    return Block(
        weights[2u * WIDTH * at + lane],
        weights[2u * WIDTH * at + WIDTH + lane],
        weight_scales[WIDTH * at + lane],
    );
}

struct Weights {
    a: Block,
    b: Block,
    c: Block,
    d: Block,
    scales: vec4<f32>,
}

// Products of one row's block with the four outputs'.
fn products(row: u32, block: u32, w: Weights) -> vec4<f32> {
    let at = min(row, params.rows - 1u) * params.blocks + block;
    let low = x[2u * at];
    let high = x[2u * at + 1u];
    let sums = vec4<i32>(
        product(low, w.a.low) + product(high, w.a.high),
        product(low, w.b.low) + product(high, w.b.high),
        product(low, w.c.low) + product(high, w.c.high),
        product(low, w.d.low) + product(high, w.d.high),
    );
    return (x_scales[at] * w.scales) * vec4<f32>(sums);
}

@compute @workgroup_size(16, height)
fn main(
    @builtin(workgroup_id) tile: vec3<u32>,
    @builtin(local_invocation_id) thread: vec3<u32>,
) {
    let panel = tile.x * PANELS;
    let row = (tile.y * height + thread.y) * ROWS;
    var sums_0 = vec4<f32>();
    var sums_1 = vec4<f32>();
    var sums_2 = vec4<f32>();
    var sums_3 = vec4<f32>();
    for (var block = 0u; block < params.blocks; block++) {
        let a = weight(panel, block, thread.x);
        let b = weight(panel + 1u, block, thread.x);
        let c = weight(panel + 2u, block, thread.x);
        let d = weight(panel + 3u, block, thread.x);
        let w = Weights(a, b, c, d, vec4<f32>(a.scale, b.scale, c.scale, d.scale));
        sums_0 += products(row, block, w);
        sums_1 += products(row + 1u, block, w);
        sums_2 += products(row + 2u, block, w);
        sums_3 += products(row + 3u, block, w);
    }
    let output = panel * WIDTH + thread.x;
    store_row(row, output, sums_0);
    store_row(row + 1u, output, sums_1);
    store_row(row + 2u, output, sums_2);
    store_row(row + 3u, output, sums_3);
}

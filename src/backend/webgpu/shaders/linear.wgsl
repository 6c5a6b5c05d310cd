// y = activation(x · Wᵀ + bias): x [rows, inputs], W [outputs, inputs], y [rows, outputs].
//
// A workgroup of 16 × 16 threads makes a tile of 64 × 64 outputs. It walks along the inputs 16 at a
// time: every thread brings one vec4 of x and one of W into workgroup memory, then adds the products
// of four rows with four outputs to its own sums. Each sum runs over the inputs in the same order
// whatever else is in the batch.
//
// W comes from `weight_at`; `store_row` applies the function after.

const TILE = 64u;
// Vec4s of input per step.
const STEP = 4u;
// One vec4 more than a step, so that neighbouring rows lie in different memory banks.
const STRIDE = 5u;

var<workgroup> x_tile: array<vec4<f32>, 320>;
var<workgroup> w_tile: array<vec4<f32>, 320>;

@compute @workgroup_size(16, 16)
fn main(
    @builtin(workgroup_id) tile: vec3<u32>,
    @builtin(local_invocation_id) thread: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
) {
    let load_line = index / STEP;
    let load_quad = index % STEP;
    let load_row = tile.y * TILE + load_line;
    let load_output = tile.x * TILE + load_line;

    // Four rows of sums, each for four outputs.
    var sums_0 = vec4<f32>();
    var sums_1 = vec4<f32>();
    var sums_2 = vec4<f32>();
    var sums_3 = vec4<f32>();

    for (var first = 0u; first < params.quads; first += STEP) {
        let quad = first + load_quad;
        var x_quad = vec4<f32>();
        var w_quad = vec4<f32>();
        if (quad < params.quads) {
            if (load_row < params.rows) {
                x_quad = x[load_row * params.quads + quad];
            }
            if (load_output < params.outputs) {
                w_quad = weight_at(load_output * params.quads + quad);
            }
        }
        x_tile[load_line * STRIDE + load_quad] = x_quad;
        w_tile[load_line * STRIDE + load_quad] = w_quad;
        workgroupBarrier();

        for (var k = 0u; k < STEP; k++) {
            let w_at = thread.x * STRIDE + k;
            let x_at = thread.y * STRIDE + k;
            // A row vector times this matrix is its dot products with the four rows of W.
            let w = mat4x4<f32>(
                w_tile[w_at],
                w_tile[w_at + SIDE * STRIDE],
                w_tile[w_at + 2u * SIDE * STRIDE],
                w_tile[w_at + 3u * SIDE * STRIDE],
            );
            sums_0 += x_tile[x_at] * w;
            sums_1 += x_tile[x_at + SIDE * STRIDE] * w;
            sums_2 += x_tile[x_at + 2u * SIDE * STRIDE] * w;
            sums_3 += x_tile[x_at + 3u * SIDE * STRIDE] * w;
        }
        workgroupBarrier();
    }

    let row = tile.y * TILE + thread.y;
    let output = tile.x * TILE + thread.x;
    store_row(row, output, sums_0);
    store_row(row + SIDE, output, sums_1);
    store_row(row + 2u * SIDE, output, sums_2);
    store_row(row + 3u * SIDE, output, sums_3);
}

// output = LayerNorm(token + position + type), [tokens, columns]; a workgroup a token.
//
// The token table comes from `weight_at`: a quantised table is decoded row by row, here.

struct Params {
    tokens: u32,
    columns: u32,
    // Columns in vec4s: the tables' rows are padded to whole vec4s.
    quads: u32,
    eps: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
// Ids, then types, then positions, one a token each.
@group(0) @binding(3) var<storage, read> indices: array<u32>;
@group(0) @binding(4) var<storage, read> positions: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> types: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read> norm: array<f32>;
@group(0) @binding(7) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let token = group.y * groups.x + group.x;
    if (token >= params.tokens) {
        return;
    }
    let id = indices[token];
    let kind = indices[params.tokens + token];
    let position = indices[2u * params.tokens + token];
    let start = token * params.columns;
    for (var quad = lane; quad < params.quads; quad += LANES) {
        let sum = weight_at(id * params.quads + quad)
            + positions[position * params.quads + quad]
            + types[kind * params.quads + quad];
        for (var i = 0u; i < 4u; i++) {
            let column = 4u * quad + i;
            if (column < params.columns) {
                output[start + column] = sum[i];
            }
        }
    }
    // LayerNorm deals the columns out one by one, not in fours.
    storageBarrier();
    workgroupBarrier();
    layer_norm(start, params.columns, params.eps, lane);
}

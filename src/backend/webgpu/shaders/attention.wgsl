// softmax(Q·Kᵀ / √head_size + bias) · V within each sequence of a packed batch.
// qkv [tokens, 3 · hidden] → output [tokens, hidden], hidden = heads · head_size.
//
// A thread takes one query of one head and walks along its sequence's keys, four at a time. The softmax runs
// along: sums are kept relative to the largest score so far and rescaled when a larger one comes, so no
// row of scores is ever stored. Neighbouring threads are neighbouring queries of one head: they read the same
// keys and values at the same time, which a core's cache serves once. There is no workgroup memory and no
// barrier.
//
// `QUADS`, the vec4s of a head, is declared where this is put together; `load_quad` and `store_quad` come from
// `quads_*.wgsl`, `biased` from `bias_*.wgsl`.

struct Params {
    tokens: u32,
    hidden: u32,
    heads: u32,
    head_size: u32,
    // 1 / √head_size
    scale: f32,
    // Tokens of the longest sequence that a relative bias is for.
    longest: u32,
    padding_0: u32,
    padding_1: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
// Each token's sequence: its first token and its number of tokens.
@group(0) @binding(2) var<storage, read> spans: array<vec2<u32>>;

const LOWEST = -3.4e38;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let work = (group.y * groups.x + group.x) * 64u + lane;
    if (work >= params.tokens * params.heads) {
        return;
    }
    let token = work % params.tokens;
    let head_index = work / params.tokens;
    let head = head_index * params.head_size;
    let span = spans[token];
    let last = span.y - 1u;
    let width = 3u * params.hidden;
    let keys = span.x * width + params.hidden + head;

    var query: array<vec4<f32>, QUADS>;
    var sums: array<vec4<f32>, QUADS>;
    for (var quad = 0u; quad < QUADS; quad++) {
        query[quad] = params.scale * load_quad(token * width + head, quad);
        sums[quad] = vec4<f32>();
    }
    var highest = LOWEST;
    var total = 0.0;

    for (var first = 0u; first < span.y; first += 4u) {
        // Past the end it is the last key once more, with a weight of 0.
        let key_0 = keys + first * width;
        let key_1 = keys + min(first + 1u, last) * width;
        let key_2 = keys + min(first + 2u, last) * width;
        let key_3 = keys + min(first + 3u, last) * width;
        var scores = vec4<f32>();
        for (var quad = 0u; quad < QUADS; quad++) {
            scores += vec4<f32>(
                dot(query[quad], load_quad(key_0, quad)),
                dot(query[quad], load_quad(key_1, quad)),
                dot(query[quad], load_quad(key_2, quad)),
                dot(query[quad], load_quad(key_3, quad)),
            );
        }
        let place = token - span.x;
        scores = vec4<f32>(
            biased(scores.x, head_index, place, first),
            biased(scores.y, head_index, place, min(first + 1u, last)),
            biased(scores.z, head_index, place, min(first + 2u, last)),
            biased(scores.w, head_index, place, min(first + 3u, last)),
        );
        let inside = vec4<u32>(first) + vec4<u32>(0u, 1u, 2u, 3u) <= vec4<u32>(last);
        scores = select(vec4<f32>(LOWEST), scores, inside);
        let pairs = max(scores.xy, scores.zw);
        let peak = max(highest, max(pairs.x, pairs.y));
        let keep = exp(highest - peak);
        let weights = exp(scores - peak);
        highest = peak;
        total = keep * total + dot(weights, vec4<f32>(1.0));
        for (var quad = 0u; quad < QUADS; quad++) {
            sums[quad] = keep * sums[quad]
                + weights.x * load_quad(key_0 + params.hidden, quad)
                + weights.y * load_quad(key_1 + params.hidden, quad)
                + weights.z * load_quad(key_2 + params.hidden, quad)
                + weights.w * load_quad(key_3 + params.hidden, quad);
        }
    }

    for (var quad = 0u; quad < QUADS; quad++) {
        store_quad(token * params.hidden + head, quad, sums[quad] / total);
    }
}

// The weights of a sentence's tokens under a condition: softmax(q·kᵀ / √part), part by part of the width.
// queries [conditions, hidden], keys [tokens, hidden] → output [rows, columns], hidden = parts · part. With as many columns as
// parts each part has its own; with one column it is the mean over the parts.
//
// A workgroup takes one sentence under one condition, a thread every 64th token. Scores are computed three times, so that none
// is stored: they are few.

struct Params {
    routes: u32,
    columns: u32,
    parts: u32,
    part: u32,
    // 1 / √part
    scale: f32,
    padding_0: u32,
    padding_1: u32,
    padding_2: u32,
}

// A sentence's tokens, its condition's row among the queries, and the first row of output.
struct Route {
    start: u32,
    length: u32,
    query: u32,
    output: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> queries: array<f32>;
@group(0) @binding(2) var<storage, read> keys: array<f32>;
@group(0) @binding(3) var<storage, read> routes: array<Route>;
@group(0) @binding(4) var<storage, read_write> output: array<f32>;

fn score(route: Route, part: u32, token: u32) -> f32 {
    let hidden = params.parts * params.part;
    let query_at = route.query * hidden + part * params.part;
    let key_at = (route.start + token) * hidden + part * params.part;
    var sum = 0.0;
    for (var i = 0u; i < params.part; i++) {
        sum += queries[query_at + i] * keys[key_at + i];
    }
    return params.scale * sum;
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = group.y * groups.x + group.x;
    if (index >= params.routes) {
        return;
    }
    let route = routes[index];
    let mean = params.columns == 1u;
    for (var part = 0u; part < params.parts; part++) {
        var highest = LOWEST;
        for (var token = lane; token < route.length; token += LANES) {
            highest = max(highest, score(route, part, token));
        }
        let peak = workgroup_max(lane, highest);
        var total = 0.0;
        for (var token = lane; token < route.length; token += LANES) {
            total += exp(score(route, part, token) - peak);
        }
        let divisor = workgroup_sum(lane, total);
        for (var token = lane; token < route.length; token += LANES) {
            let weight = exp(score(route, part, token) - peak) / divisor;
            let at = (route.output + token) * params.columns;
            if (mean) {
                let before = select(output[at], 0.0, part == 0u);
                output[at] = before + weight / f32(params.parts);
            } else {
                output[at + part] = weight;
            }
        }
    }
}

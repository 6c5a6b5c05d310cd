// The mean over some heads of softmax(q·kᵀ / √head_size + bias), for some queries of a packed batch.
// qkv [tokens, 3 · hidden] → output [rows, columns], hidden = heads · head_size; zeros past a row's sequence.
//
// A workgroup takes one query, a thread every 64th key. Scores are computed twice, once for the sum and once
// for the weight, so that none is stored. They are few: people look at them. `biased` comes from `bias_*.wgsl`.

struct Params {
    rows: u32,
    columns: u32,
    hidden: u32,
    head_size: u32,
    // 1 / √head_size
    scale: f32,
    // Tokens of the longest sequence that a relative bias is for.
    longest: u32,
    padding_0: u32,
    padding_1: u32,
}

// A query, its sequence, and the heads that it is averaged over, up to `heads_end`.
struct Row {
    query: u32,
    start: u32,
    length: u32,
    heads_start: u32,
    heads_end: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> qkv: array<f32>;
@group(0) @binding(2) var<storage, read> rows: array<Row>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

// The score of key number `key` of a row's sequence.
fn score(row: Row, head: u32, key: u32) -> f32 {
    let width = 3u * params.hidden;
    let query_at = row.query * width + head * params.head_size;
    let key_at = (row.start + key) * width + params.hidden + head * params.head_size;
    var sum = 0.0;
    for (var i = 0u; i < params.head_size; i++) {
        sum += qkv[query_at + i] * qkv[key_at + i];
    }
    return biased(params.scale * sum, head, row.query - row.start, key);
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = group.y * groups.x + group.x;
    if (index >= params.rows) {
        return;
    }
    let row = rows[index];
    let start = index * params.columns;
    for (var column = lane; column < params.columns; column += LANES) {
        output[start + column] = 0.0;
    }
    for (var head = row.heads_start; head < row.heads_end; head++) {
        var highest = LOWEST;
        for (var key = lane; key < row.length; key += LANES) {
            highest = max(highest, score(row, head, key));
        }
        let peak = workgroup_max(lane, highest);
        var total = 0.0;
        for (var key = lane; key < row.length; key += LANES) {
            total += exp(score(row, head, key) - peak);
        }
        let divisor = workgroup_sum(lane, total) * f32(row.heads_end - row.heads_start);
        for (var key = lane; key < row.length; key += LANES) {
            output[start + key] += exp(score(row, head, key) - peak) / divisor;
        }
    }
}

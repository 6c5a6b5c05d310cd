// softmax(Q·Kᵀ / √head_size) · V within each sequence of a packed batch.
// qkv [tokens, 3 · hidden] → output [tokens, hidden], hidden = heads · head_size.
//
// A workgroup takes eight queries of one sequence and one head, and walks along the keys in chunks: first
// the chunk's keys are in workgroup memory, then its values in the same place. The softmax runs along:
// sums are kept relative to the largest score so far and rescaled when a larger one comes, so no row of
// scores is ever stored whole. Threads are 16 lanes a query: a lane scores every 16th key of a chunk,
// then sums the weighted values of every 16th quad of the head.

struct Params {
    hidden: u32,
    heads: u32,
    head_size: u32,
    tiles: u32,
    // 1 / √head_size
    scale: f32,
    padding_0: u32,
    padding_1: u32,
    padding_2: u32,
}

// Up to eight queries of one sequence.
struct Tile {
    // The sequence's first token and number of tokens.
    start: u32,
    length: u32,
    // The first query, counted within the sequence.
    query: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> qkv: array<f32>;
@group(0) @binding(2) var<storage, read> tiles: array<Tile>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

const QUERIES = 8u;
const LANES = 16u;
const THREADS = 128u;
// Keys in a chunk, where they fit into `chunk`: always up to heads of 64, 16 of them at 128.
const KEYS = 32u;
const CAPACITY = 544u;
const LOWEST = -3.4e38;

// 32 quads a query: heads of up to 128.
var<workgroup> queries: array<vec4<f32>, 256>;
// Keys, then values; a row is one vec4 longer than the head, so that rows lie in different banks.
var<workgroup> chunk: array<vec4<f32>, CAPACITY>;
var<workgroup> scores: array<f32, 256>;
// exp(score − the query's highest score so far)
var<workgroup> weights: array<f32, 256>;

// Quad `quad` of a head that starts at `start`, with zeros past the head's end.
fn load_quad(start: u32, quad: u32) -> vec4<f32> {
    let d = 4u * quad;
    let at = start + d;
    if (d + 4u <= params.head_size) {
        return vec4<f32>(qkv[at], qkv[at + 1u], qkv[at + 2u], qkv[at + 3u]);
    }
    var values = vec4<f32>();
    for (var i = 0u; d + i < params.head_size; i++) {
        values[i] = qkv[at + i];
    }
    return values;
}

fn store_quad(start: u32, quad: u32, values: vec4<f32>) {
    for (var i = 0u; i < 4u; i++) {
        if (4u * quad + i < params.head_size) {
            output[start + 4u * quad + i] = values[i];
        }
    }
}

@compute @workgroup_size(16, 8)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_id) thread: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
) {
    let work = group.y * groups.x + group.x;
    if (work >= params.tiles * params.heads) {
        return;
    }
    let tile = tiles[work / params.heads];
    let head = (work % params.heads) * params.head_size;
    let lane = thread.x;
    let quads = (params.head_size + 3u) / 4u;
    let row = quads + 1u;
    let chunk_keys = min(KEYS, CAPACITY / row);
    let width = 3u * params.hidden;

    for (var i = index; i < QUERIES * quads; i += THREADS) {
        // Threads past the sequence's end work on its last query and store nothing.
        let query = min(tile.query + i / quads, tile.length - 1u);
        queries[i] = params.scale * load_quad((tile.start + query) * width + head, i % quads);
    }

    var highest = LOWEST;
    var total = 0.0;
    var low = vec4<f32>();
    var high = vec4<f32>();

    for (var first = 0u; first < tile.length; first += chunk_keys) {
        let count = min(chunk_keys, tile.length - first);
        let keys = (tile.start + first) * width + params.hidden + head;

        for (var i = index; i < count * quads; i += THREADS) {
            chunk[(i / quads) * row + i % quads] = load_quad(keys + (i / quads) * width, i % quads);
        }
        workgroupBarrier();
        for (var key = lane; key < count; key += LANES) {
            var score = 0.0;
            for (var quad = 0u; quad < quads; quad++) {
                score += dot(queries[thread.y * quads + quad], chunk[key * row + quad]);
            }
            scores[thread.y * KEYS + key] = score;
        }
        workgroupBarrier();

        var peak = highest;
        for (var key = 0u; key < count; key++) {
            peak = max(peak, scores[thread.y * KEYS + key]);
        }
        for (var key = lane; key < count; key += LANES) {
            weights[thread.y * KEYS + key] = exp(scores[thread.y * KEYS + key] - peak);
        }
        let values = keys + params.hidden;
        for (var i = index; i < count * quads; i += THREADS) {
            chunk[(i / quads) * row + i % quads] = load_quad(values + (i / quads) * width, i % quads);
        }
        workgroupBarrier();
        let keep = exp(highest - peak);
        highest = peak;
        total *= keep;
        low *= keep;
        high *= keep;
        for (var key = 0u; key < count; key++) {
            let weight = weights[thread.y * KEYS + key];
            total += weight;
            if (lane < quads) {
                low += weight * chunk[key * row + lane];
            }
            if (lane + LANES < quads) {
                high += weight * chunk[key * row + lane + LANES];
            }
        }
        workgroupBarrier();
    }

    let query = tile.query + thread.y;
    if (query < tile.length) {
        let start = (tile.start + query) * params.hidden + head;
        store_quad(start, lane, low / total);
        store_quad(start, lane + LANES, high / total);
    }
}

// Scores that take a bias by how far a key lies from its query. `params.longest` is declared where this is put together.

// [heads, 2 · longest − 1], from the furthest key before a query to the furthest behind.
@group(0) @binding(4) var<storage, read> bias: array<f32>;

// `query` and `key` count tokens from one and the same.
fn biased(score: f32, head: u32, query: u32, key: u32) -> f32 {
    return score + bias[head * (2u * params.longest - 1u) + params.longest - 1u + key - query];
}

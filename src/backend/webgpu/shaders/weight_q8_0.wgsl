// A weight matrix in q8_0: blocks of 32 signed bytes that share a scale, x = scale · q.
// The bytes lie four to a u32 (lowest first), the scales in a buffer of their own.
@group(0) @binding(1) var<storage, read> weight_quants: array<u32>;
@group(0) @binding(2) var<storage, read> weight_scales: array<f32>;

// Four neighbouring numbers of a row: the quad at `index`, counted through the whole matrix.
fn weight_at(index: u32) -> vec4<f32> {
    let packed = weight_quants[index];
    // Each byte is moved to the top and shifted back down, which carries its sign along.
    let bytes = vec4<u32>(packed << 24u, packed << 16u, packed << 8u, packed);
    let quants = bitcast<vec4<i32>>(bytes) >> vec4<u32>(24u);
    return weight_scales[index / 8u] * vec4<f32>(quants);
}

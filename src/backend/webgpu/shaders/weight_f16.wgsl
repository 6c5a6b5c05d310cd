// A dense weight matrix in f16, row after row, four numbers to a vec2; each row is padded with zeros to whole fours.
@group(0) @binding(1) var<storage, read> weight_halves: array<vec2<u32>>;

// Four neighbouring numbers of a row: the quad at `index`, counted through the whole matrix.
fn weight_at(index: u32) -> vec4<f32> {
    let packed = weight_halves[index];
    return vec4<f32>(unpack2x16float(packed.x), unpack2x16float(packed.y));
}

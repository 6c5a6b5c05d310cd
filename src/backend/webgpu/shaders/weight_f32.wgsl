// A dense weight matrix, row after row; each row is padded with zeros to whole vec4s.
@group(0) @binding(1) var<storage, read> weight_values: array<vec4<f32>>;

// Four neighbouring numbers of a row: the vec4 at `index`, counted through the whole matrix.
fn weight_at(index: u32) -> vec4<f32> {
    return weight_values[index];
}

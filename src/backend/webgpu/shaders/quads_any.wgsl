// Heads of any width: quads are put together number by number, with zeros past the head's end.
@group(0) @binding(1) var<storage, read> qkv: array<f32>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

fn load_quad(start: u32, quad: u32) -> vec4<f32> {
    var values = vec4<f32>();
    for (var i = 0u; i < 4u; i++) {
        if (4u * quad + i < params.head_size) {
            values[i] = qkv[start + 4u * quad + i];
        }
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

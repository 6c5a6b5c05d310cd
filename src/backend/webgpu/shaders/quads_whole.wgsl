// Heads of whole vec4s: a quad is one load. `start` counts numbers.
@group(0) @binding(1) var<storage, read> qkv: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> output: array<vec4<f32>>;

fn load_quad(start: u32, quad: u32) -> vec4<f32> {
    return qkv[start / 4u + quad];
}

fn store_quad(start: u32, quad: u32, values: vec4<f32>) {
    output[start / 4u + quad] = values;
}

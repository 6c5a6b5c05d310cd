// What a linear layer on numbers takes; its weights are bound beside it.
struct Params {
    rows: u32,
    outputs: u32,
    // Inputs in vec4s.
    quads: u32,
    padding: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(3) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> bias: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;

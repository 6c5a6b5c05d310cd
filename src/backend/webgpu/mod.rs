//! WebGPU through wgpu.

//! What kernels are told beside their buffers: each shader's uniform as it lies in memory, and the rows of its lists.

use bytemuck::{Pod, Zeroable};

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct EmbedParams {
    pub tokens: u32,
    pub columns: u32,
    pub quads: u32,
    pub eps: f32,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct LinearParams {
    pub rows: u32,
    pub outputs: u32,
    /// Of a row: vec4s, or blocks in the kernel on bytes.
    pub quads: u32,
    pub padding: u32,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct PadParams {
    pub rows: u32,
    pub columns: u32,
    pub padded: u32,
    pub padding: u32,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct NormParams {
    pub rows: u32,
    pub columns: u32,
    pub eps: f32,
    pub padding: u32,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct AttentionParams {
    pub tokens: u32,
    pub hidden: u32,
    pub heads: u32,
    pub head_size: u32,
    pub scale: f32,
    /// Tokens of the longest sequence that the bias is for.
    pub longest: u32,
    pub padding: [u32; 2],
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct AttentionWeightsParams {
    pub rows: u32,
    pub columns: u32,
    pub hidden: u32,
    pub head_size: u32,
    pub scale: f32,
    /// Tokens of the longest sequence that the bias is for.
    pub longest: u32,
    pub padding: [u32; 2],
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct RowsParams {
    pub rows: u32,
    pub columns: u32,
    pub padding: [u32; 2],
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct CopyParams {
    pub rows: u32,
    pub columns: u32,
    pub x_columns: u32,
    /// The first column that is taken.
    pub first: u32,
    /// The first row that is written.
    pub offset: u32,
    pub padding: [u32; 3],
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct RouteParams {
    pub routes: u32,
    pub columns: u32,
    pub parts: u32,
    pub part: u32,
    pub scale: f32,
    pub padding: [u32; 3],
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct ScaleParams {
    pub rows: u32,
    pub columns: u32,
    pub parts: u32,
    /// What is added to each weight.
    pub add: f32,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct TransformParams {
    pub rows: u32,
    pub inputs: u32,
    pub outputs: u32,
    pub padding: u32,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Term {
    pub start: u32,
    pub length: u32,
    pub weight: f32,
}

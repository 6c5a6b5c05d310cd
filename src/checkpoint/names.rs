//! Hugging Face's names of tensors in GGUF's terms (`blk.0.attn_q.weight`, …), a function a family.

/// Hugging Face's name of a BERT-family tensor in GGUF's terms; `None` for what a forward pass ignores.
pub(crate) fn bert(name: &str) -> Option<String> {
    let name = [
        "bert.",
        "roberta.",
        "xlm_roberta.",
        "model.",
        "0.auto_model.",
    ]
    .iter()
    .find_map(|prefix| name.strip_prefix(prefix))
    .unwrap_or(name);
    let (stem, kind) = name.rsplit_once('.')?;
    // Checkpoints converted from TensorFlow call LayerNorm's weight gamma and its bias beta.
    let kind = match kind {
        "weight" | "gamma" => "weight",
        "bias" | "beta" => "bias",
        _ => return None,
    };
    let stem = match stem {
        "embeddings.word_embeddings" => "token_embd".into(),
        "embeddings.position_embeddings" => "position_embd".into(),
        "embeddings.token_type_embeddings" => "token_types".into(),
        "embeddings.LayerNorm" => "token_embd_norm".into(),
        _ => {
            let (layer, part) = stem.strip_prefix("encoder.layer.")?.split_once('.')?;
            let layer: usize = layer.parse().ok()?;
            let part = match part {
                "attention.self.query" => "attn_q",
                "attention.self.key" => "attn_k",
                "attention.self.value" => "attn_v",
                "attention.output.dense" => "attn_output",
                "attention.output.LayerNorm" => "attn_output_norm",
                "intermediate.dense" => "ffn_up",
                "output.dense" => "ffn_down",
                "output.LayerNorm" => "layer_output_norm",
                _ => return None,
            };
            format!("blk.{layer}.{part}")
        }
    };
    Some(format!("{stem}.{kind}"))
}

/// Hugging Face's name of a decoder's tensor in GGUF's terms; `None` for what a forward pass ignores.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn decoder(name: &str) -> Option<String> {
    if let Some(latent) = name.strip_prefix("latent_attention_model.") {
        return Some(format!("latent.{latent}"));
    }
    let name = ["embedding_model.", "model.", "0.auto_model."]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .unwrap_or(name);
    let (stem, kind) = name.rsplit_once('.')?;
    if !matches!(kind, "weight" | "bias") {
        return None;
    }
    let stem = match stem {
        "embed_tokens" => "token_embd".into(),
        "norm" => "output_norm".into(),
        _ => {
            let (layer, part) = stem.strip_prefix("layers.")?.split_once('.')?;
            let layer: usize = layer.parse().ok()?;
            let part = match part {
                "input_layernorm" => "attn_norm",
                "self_attn.q_proj" => "attn_q",
                "self_attn.k_proj" => "attn_k",
                "self_attn.v_proj" => "attn_v",
                "self_attn.o_proj" => "attn_output",
                "post_attention_layernorm" => "ffn_norm",
                "mlp.gate_proj" => "ffn_gate",
                "mlp.up_proj" => "ffn_up",
                "mlp.down_proj" => "ffn_down",
                _ => return None,
            };
            format!("blk.{layer}.{part}")
        }
    };
    Some(format!("{stem}.{kind}"))
}

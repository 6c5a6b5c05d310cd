//! Hugging Face's names of tensors in GGUF's terms (`blk.0.attn_q.weight`, …), a function a family.

#[cfg(not(target_arch = "wasm32"))]
use super::config::Family;

/// GGUF's name of the bias by offset, which all layers share: the first layer's, as in llama.cpp's T5.
pub(crate) const RELATIVE_BIAS: &str = "blk.0.attn_rel_b.weight";

/// The layer of a language model that names the next token, which no embedding needs.
pub(crate) const OUTPUT: &str = "output.weight";

/// GGUF's names of the pooler's weight `[hidden, hidden]` and bias `[hidden]`: llama.cpp's of the layer before a
/// classifier's last one, which is the same.
pub(crate) const POOLER: [&str; 2] = ["cls.weight", "cls.bias"];

/// The modules of a layer: GGUF's name, that of transformers' BERT, RoBERTa and XLM-R, and that of its MPNet.
const BERT: [[&str; 3]; 8] = [
    ["attn_q", "attention.self.query", "attention.attn.q"],
    ["attn_k", "attention.self.key", "attention.attn.k"],
    ["attn_v", "attention.self.value", "attention.attn.v"],
    ["attn_output", "attention.output.dense", "attention.attn.o"],
    [
        "attn_output_norm",
        "attention.output.LayerNorm",
        "attention.LayerNorm",
    ],
    ["ffn_up", "intermediate.dense", "intermediate.dense"],
    ["ffn_down", "output.dense", "output.dense"],
    ["layer_output_norm", "output.LayerNorm", "output.LayerNorm"],
];

/// The module in transformers that a layer's part `part`, in GGUF's terms, is.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn bert_module(family: Family, part: &str) -> Option<&'static str> {
    let [_, bert, mpnet] = BERT.into_iter().find(|names| names[0] == part)?;
    Some(match family {
        Family::Bert | Family::Roberta | Family::XlmRoberta => bert,
        Family::Mpnet => mpnet,
    })
}

/// Hugging Face's name of a BERT-family tensor in GGUF's terms; `None` for what a forward pass ignores.
pub(crate) fn bert(name: &str) -> Option<String> {
    let name = [
        "bert.",
        "roberta.",
        "xlm_roberta.",
        "mpnet.",
        "model.",
        "0.auto_model.",
    ]
    .iter()
    .find_map(|prefix| name.strip_prefix(prefix))
    .unwrap_or(name);
    if name == "encoder.relative_attention_bias.weight" {
        return Some(RELATIVE_BIAS.into());
    }
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
        "pooler.dense" => "cls".into(),
        _ => {
            let (layer, part) = stem.strip_prefix("encoder.layer.")?.split_once('.')?;
            let layer: usize = layer.parse().ok()?;
            let [part, ..] = BERT.iter().find(|names| names[1..].contains(&part))?;
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
        "lm_head" => "output".into(),
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

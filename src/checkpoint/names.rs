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

/// Hugging Face's name of a T5's tensor in the terms of llama.cpp's GGUF files; `None` for what a forward pass ignores.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn t5(name: &str) -> Option<String> {
    let stem = name.strip_suffix(".weight")?;
    let stem = match stem {
        // One table by three names, of which a file may hold any.
        "shared" | "encoder.embed_tokens" | "decoder.embed_tokens" => "token_embd".into(),
        "lm_head" => "output".into(),
        "encoder.final_layer_norm" => "enc.output_norm".into(),
        "decoder.final_layer_norm" => "dec.output_norm".into(),
        _ => {
            let (side, block) = stem.split_once(".block.")?;
            let (layer, part) = block.split_once(".layer.")?;
            let layer: usize = layer.parse().ok()?;
            let side = match side {
                "encoder" => "enc",
                "decoder" => "dec",
                _ => return None,
            };
            // A layer's parts are numbered, and a decoder has one more in between.
            let part = match (side, part) {
                (_, "0.layer_norm") => "attn_norm",
                ("dec", "1.layer_norm") => "cross_attn_norm",
                ("enc", "1.layer_norm") | ("dec", "2.layer_norm") => "ffn_norm",
                _ => match part.split_once('.')?.1 {
                    "SelfAttention.q" => "attn_q",
                    "SelfAttention.k" => "attn_k",
                    "SelfAttention.v" => "attn_v",
                    "SelfAttention.o" => "attn_o",
                    "SelfAttention.relative_attention_bias" => "attn_rel_b",
                    "EncDecAttention.q" => "cross_attn_q",
                    "EncDecAttention.k" => "cross_attn_k",
                    "EncDecAttention.v" => "cross_attn_v",
                    "EncDecAttention.o" => "cross_attn_o",
                    "DenseReluDense.wi_0" => "ffn_gate",
                    "DenseReluDense.wi" | "DenseReluDense.wi_1" => "ffn_up",
                    "DenseReluDense.wo" => "ffn_down",
                    _ => return None,
                },
            };
            format!("{side}.blk.{layer}.{part}")
        }
    };
    Some(format!("{stem}.weight"))
}

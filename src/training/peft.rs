//! Low-rank updates as the PEFT library keeps them: `adapter_config.json` and
//! `adapter_model.safetensors`, which `PeftModel.from_pretrained(AutoModel.from_pretrained(base), folder)`
//! puts on the published encoder.

use safetensors::Dtype;
use serde_json::json;

use crate::{
    backend::candle::training::parameters::{LORA_SCALE, Lora},
    checkpoint::described::Writer,
    error::{Error, Result},
};

/// The files of an adapter, by name. `base` is the published encoder's name.
///
/// # Errors
/// An update of a matrix that PEFT has no name for.
pub fn files(base: &str, adapters: &[Lora]) -> Result<[(&'static str, Vec<u8>); 2]> {
    let mut file = Writer::default();
    for lora in adapters {
        let module = module(&lora.name).ok_or_else(|| Error::Tensor {
            name: lora.name.clone(),
            reason: "has no name in an adapter".into(),
        })?;
        for (side, var) in [("lora_A", &lora.a), ("lora_B", &lora.b)] {
            let numbers: Vec<f32> = var.flatten_all()?.to_vec1()?;
            let bytes: &[u8] = bytemuck::cast_slice(&numbers);
            let name = format!("base_model.model.{module}.{side}.weight");
            file.add(name, Dtype::F32, var.dims(), bytes.to_vec());
        }
    }
    let tensors = file.published().map_err(|reason| Error::ModelFormat {
        what: "the adapter being written".into(),
        reason,
    })?;
    let rank = match adapters.first() {
        Some(lora) => lora.a.dim(0)?,
        None => 0,
    };
    let config = json!({
        "peft_type": "LORA",
        "task_type": "FEATURE_EXTRACTION",
        "base_model_name_or_path": base,
        "r": rank,
        "lora_alpha": LORA_SCALE * rank as f64,
        "lora_dropout": 0.0,
        "bias": "none",
        "fan_in_fan_out": false,
        "inference_mode": true,
        "target_modules": ["query", "key", "value", "intermediate.dense", "output.dense"],
    });
    Ok([
        ("adapter_model.safetensors", tensors),
        ("adapter_config.json", format!("{config:#}\n").into_bytes()),
    ])
}

/// The module in transformers' BERT, RoBERTa and XLM-R that a GGUF matrix is the weight of.
fn module(name: &str) -> Option<String> {
    let (layer, part) = name
        .strip_prefix("blk.")?
        .strip_suffix(".weight")?
        .split_once('.')?;
    let part = match part {
        "attn_q" => "attention.self.query",
        "attn_k" => "attention.self.key",
        "attn_v" => "attention.self.value",
        "attn_output" => "attention.output.dense",
        "ffn_up" => "intermediate.dense",
        "ffn_down" => "output.dense",
        _ => return None,
    };
    Some(format!("encoder.layer.{layer}.{part}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::names;

    #[test]
    fn names_are_the_published_ones() {
        for part in [
            "attn_q",
            "attn_k",
            "attn_v",
            "attn_output",
            "ffn_up",
            "ffn_down",
        ] {
            let name = format!("blk.11.{part}.weight");
            let published = format!("{}.weight", module(&name).unwrap());
            assert_eq!(names::bert(&published), Some(name));
        }
        assert_eq!(module("token_embd.weight"), None);
        assert_eq!(module("blk.0.attn_output_norm.weight"), None);
    }
}

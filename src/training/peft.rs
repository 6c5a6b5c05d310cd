//! Low-rank updates as the PEFT library keeps them: `adapter_config.json` and
//! `adapter_model.safetensors`, which `PeftModel.from_pretrained(AutoModel.from_pretrained(base), folder)`
//! puts on the published encoder.

use safetensors::Dtype;
use serde_json::json;

use crate::{
    backend::candle::training::parameters::{LORA_SCALE, Lora},
    checkpoint::{config::Family, described::Writer, names::bert_module},
    error::{Error, Result},
};

/// The files of an adapter, by name. `base` is the published encoder's name, and `family` its family.
///
/// # Errors
/// An update of a matrix that PEFT has no name for.
pub fn files(
    base: &str,
    family: Family,
    adapters: &[Lora],
) -> Result<[(&'static str, Vec<u8>); 2]> {
    let mut file = Writer::default();
    for lora in adapters {
        let module = module(family, &lora.name).ok_or_else(|| Error::Tensor {
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
        "target_modules": targets(family),
    });
    Ok([
        ("adapter_model.safetensors", tensors),
        ("adapter_config.json", format!("{config:#}\n").into_bytes()),
    ])
}

/// The parts of a layer that are matrices, in GGUF's terms.
const MATRICES: [&str; 6] = [
    "attn_q",
    "attn_k",
    "attn_v",
    "attn_output",
    "ffn_up",
    "ffn_down",
];

/// The module in transformers that a GGUF matrix is the weight of.
fn module(family: Family, name: &str) -> Option<String> {
    let (layer, part) = name
        .strip_prefix("blk.")?
        .strip_suffix(".weight")?
        .split_once('.')?;
    let part = MATRICES.into_iter().find(|&matrix| matrix == part)?;
    let module = bert_module(family, part)?;
    Some(format!("encoder.layer.{layer}.{module}"))
}

/// The ends of the modules' names that PEFT tells them by.
fn targets(family: Family) -> Vec<&'static str> {
    let modules = MATRICES.into_iter();
    modules
        .filter_map(|part| bert_module(family, part))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::names;

    #[test]
    fn names_are_the_published_ones() {
        for family in [Family::Bert, Family::Mpnet] {
            for part in MATRICES {
                let name = format!("blk.11.{part}.weight");
                let published = format!("{}.weight", module(family, &name).unwrap());
                assert_eq!(names::bert(&published), Some(name));
            }
            assert_eq!(module(family, "token_embd.weight"), None);
            assert_eq!(module(family, "blk.0.attn_output_norm.weight"), None);
        }
    }
}

//! Writes a BERT-family encoder as one GGUF file: weights, vocabulary, tokenizer and configuration.
//!
//! Keys, tensor names and types are those of llama.cpp's own converter (`convert_hf_to_gguf.py`), so that
//! its tools read the file (MPNet, which llama.cpp does not compute, has BERT's under a name of its own, with the relative
//! bias of its T5); those of [`keys`] come on top and hold what llama.cpp's vocabulary cannot express:
//! the Hugging Face tokenizer itself, config.json, and which published encoder the numbers are from.
//!
//! Matrices and the token table take the chosen dtype; the position table is f16 unless the dtype is f32;
//! LayerNorms, biases, the relative bias of MPNet and token types stay f32 (llama.cpp adds a token type to f32
//! numbers as it is, while it looks positions up in any format). A matrix whose width is no multiple of [`BLOCK`] stays f16.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    io::{self, Write},
};

use super::{
    encode::encode,
    format::Format,
    header::MAGIC,
    tokens,
    value::{Value, write_string},
};
use crate::{
    checkpoint::{
        config::{Config, RELATIVE_BUCKETS},
        dtype::{BLOCK, Dtype},
        encoder_id::EncoderId,
        keys,
        names::{POOLER, RELATIVE_BIAS},
        plain::{Plain, PoolingMode},
        weights::{WeightTensor, Weights},
    },
    error::{Error, Result},
};

/// The format's version that is written.
const VERSION: u32 = 2;
/// Tensors begin at multiples of so many bytes.
const ALIGNMENT: usize = 32;

/// What a GGUF file is made from.
pub struct Source<'a> {
    /// The published weights, RoBERTa's unused positions dropped or not.
    pub weights: &'a Weights,
    /// config.json, as published.
    pub config_json: &'a str,
    /// tokenizer.json, as published.
    pub tokenizer_json: &'a str,
    pub encoder: &'a EncoderId,
    /// How its authors embed a text by itself.
    pub plain: Plain,
    /// Whether the pooler is written too.
    pub pooler: bool,
    /// Matrices that are rounded already, in the blocks of the dtype that is written, by GGUF name.
    pub rounded: &'a BTreeMap<String, Vec<u8>>,
}

/// Writes `source` as GGUF with its matrices in `dtype`.
///
/// # Errors
/// The configuration, the tokenizer or a tensor does not fit, a number is not finite, `dtype` is bf16
/// (which llama.cpp's BERT does not load on every device), or writing fails.
pub fn write_gguf(out: &mut impl Write, source: &Source<'_>, dtype: Dtype) -> Result<()> {
    let what = source.encoder.id.as_str();
    let config = Config::from_json(what, source.config_json)?;
    let file_type = match dtype {
        Dtype::F32 => 0u32,
        Dtype::F16 => 1,
        Dtype::Q4_0 => 2,
        Dtype::Q8_0 => 7,
        Dtype::Bf16 => {
            return Err(Error::InvalidArgument(
                "bf16 is not written. Choose q8_0, q4_0, f16 or f32.".into(),
            ));
        }
    };

    let mut metadata = model_keys(source, &config, file_type);
    metadata.extend(tokens::keys(source.tokenizer_json, &config)?);
    let mut tensors = Vec::new();
    let hidden = config.hidden_size;
    let pooler = POOLER.into_iter().zip([vec![hidden, hidden], vec![hidden]]);
    let pooler = pooler.filter(|_| source.pooler);
    let pooler = pooler.map(|(name, shape)| (name.to_owned(), shape));
    for (name, shape) in tensor_shapes(&config).into_iter().chain(pooler) {
        let tensor = match source.rounded.get(&name) {
            Some(blocks) => WeightTensor {
                name,
                role: None,
                shape,
                dtype,
                data: Cow::Borrowed(blocks),
            },
            None => quantize(source.weights, &config, &name, &shape, dtype)?,
        };
        tensor.checked_dims2()?;
        tensors.push(tensor);
    }
    write(out, &metadata, &tensors).map_err(Error::io("the GGUF file"))
}

/// Writes key-value pairs, the table of tensors, and the tensors.
fn write(
    out: &mut impl Write,
    metadata: &[(String, Value)],
    tensors: &[WeightTensor<'_>],
) -> io::Result<()> {
    let padded = |bytes: usize| bytes.next_multiple_of(ALIGNMENT);
    let mut header = MAGIC.to_vec();
    header.extend(VERSION.to_le_bytes());
    header.extend((tensors.len() as u64).to_le_bytes());
    header.extend((metadata.len() as u64).to_le_bytes());
    for (key, value) in metadata {
        write_string(&mut header, key)?;
        value.write(&mut header)?;
    }
    let mut offset = 0;
    for tensor in tensors {
        write_string(&mut header, &tensor.name)?;
        header.extend((tensor.shape.len() as u32).to_le_bytes());
        // The file has the innermost dimension first.
        for &dimension in tensor.shape.iter().rev() {
            header.extend((dimension as u64).to_le_bytes());
        }
        header.extend(Format::from(tensor.dtype).number().to_le_bytes());
        header.extend((offset as u64).to_le_bytes());
        offset += padded(tensor.data.len());
    }
    for bytes in std::iter::once(&header[..]).chain(tensors.iter().map(|tensor| &*tensor.data)) {
        out.write_all(bytes)?;
        out.write_all(&[0; ALIGNMENT][..padded(bytes.len()) - bytes.len()])?;
    }
    Ok(())
}

/// Every tensor that an encoder has with its shape, in the order of the forward pass.
pub fn tensor_shapes(config: &Config) -> Vec<(String, Vec<usize>)> {
    let (hidden, inner) = (config.hidden_size, config.intermediate_size);
    let mut out = vec![
        (
            "token_embd.weight".to_owned(),
            vec![config.vocab_size, hidden],
        ),
        (
            "position_embd.weight".to_owned(),
            vec![config.max_positions, hidden],
        ),
    ];
    if config.type_vocab_size > 0 {
        let shape = vec![config.type_vocab_size, hidden];
        out.push(("token_types.weight".to_owned(), shape));
    }
    for kind in ["weight", "bias"] {
        out.push((format!("token_embd_norm.{kind}"), vec![hidden]));
    }
    if config.relative_bias {
        let shape = vec![RELATIVE_BUCKETS, config.num_attention_heads];
        out.push((RELATIVE_BIAS.to_owned(), shape));
    }
    for layer in 0..config.num_hidden_layers {
        let mut linear = |name: &str, rows: usize, columns: usize| {
            out.push((format!("blk.{layer}.{name}.weight"), vec![rows, columns]));
            out.push((format!("blk.{layer}.{name}.bias"), vec![rows]));
        };
        linear("attn_q", hidden, hidden);
        linear("attn_k", hidden, hidden);
        linear("attn_v", hidden, hidden);
        linear("attn_output", hidden, hidden);
        linear("ffn_up", inner, hidden);
        linear("ffn_down", hidden, inner);
        for name in ["attn_output_norm", "layer_output_norm"] {
            for kind in ["weight", "bias"] {
                out.push((format!("blk.{layer}.{name}.{kind}"), vec![hidden]));
            }
        }
    }
    out
}

/// A tensor as [`write_gguf`] writes it to a file of this `dtype`.
pub(crate) fn quantize(
    weights: &Weights,
    config: &Config,
    name: &str,
    shape: &[usize],
    dtype: Dtype,
) -> Result<WeightTensor<'static>> {
    let bad = |reason: String| Error::Tensor {
        name: name.into(),
        reason,
    };
    let tensor = weights.get_any(name)?;
    let mut numbers = tensor.to_f32();
    let mut found = tensor.shape;
    // A safetensors file still carries RoBERTa's unused positions, unless its opener dropped them.
    if let (true, [rows, columns]) = (name == "position_embd.weight", &mut found[..])
        && *rows == config.max_positions + config.position_offset
    {
        numbers.drain(..(config.position_offset * *columns).min(numbers.len()));
        *rows = config.max_positions;
    }
    if found != shape {
        return Err(bad(format!(
            "has shape {found:?} where the configuration says {shape:?}"
        )));
    }
    let dtype = match dtype {
        _ if shape.len() == 1 || name.starts_with("token_types") || name == RELATIVE_BIAS => {
            Dtype::F32
        }
        Dtype::F32 | Dtype::F16 => dtype,
        _ if name.starts_with("position_") => Dtype::F16,
        _ if shape
            .last()
            .is_some_and(|width| width.is_multiple_of(BLOCK)) =>
        {
            dtype
        }
        _ => Dtype::F16,
    };
    // f16 holds the numbers themselves or their scales: what it cannot hold would become infinite.
    let limit = match dtype {
        Dtype::F32 => f32::MAX,
        _ => half::f16::MAX.to_f32(),
    };
    if let Some(x) = numbers.iter().find(|x| x.is_nan() || x.abs() > limit) {
        return Err(bad(format!("holds {x}, which {} cannot", dtype.name())));
    }
    Ok(WeightTensor {
        name: name.into(),
        role: None,
        shape: found,
        dtype,
        data: Cow::Owned(encode(dtype, &numbers)),
    })
}

/// The model's own keys. llama.cpp is strict about their types: counts are u32, epsilon f32.
fn model_keys(source: &Source<'_>, config: &Config, file_type: u32) -> Vec<(String, Value)> {
    let encoder = source.encoder;
    let name = encoder.id.rsplit('/').next().unwrap_or(&encoder.id);
    let pooling = match source.plain.pooling {
        PoolingMode::Mean => 1,
        PoolingMode::Cls | PoolingMode::Pooler => 2,
        PoolingMode::Last => 3,
    };
    let architecture = config.family.architecture();
    let own = |key: &str, value: Value| (format!("{architecture}.{key}"), value);
    let general = |key: &str, value: Value| (key.to_owned(), value);
    let mut all = vec![
        general("general.architecture", Value::text(architecture)),
        general("general.type", Value::text("model")),
        general("general.name", Value::text(name)),
        general("general.file_type", Value::U32(file_type)),
        general("general.quantization_version", Value::U32(2)),
        own("block_count", Value::count(config.num_hidden_layers)),
        own("context_length", Value::count(config.max_positions)),
        own("embedding_length", Value::count(config.hidden_size)),
        own(
            "feed_forward_length",
            Value::count(config.intermediate_size),
        ),
        own(
            "attention.head_count",
            Value::count(config.num_attention_heads),
        ),
        own(
            "attention.layer_norm_epsilon",
            Value::F32(config.layer_norm_eps),
        ),
        own("attention.causal", Value::Bool(false)),
        own("pooling_type", Value::U32(pooling)),
    ];
    if source.plain.pooling == PoolingMode::Pooler {
        all.push(general(keys::POOLING, Value::text("pooler")));
    }
    if let Some(tokens) = source.plain.max_tokens {
        all.push(general(keys::MAX_TOKENS, Value::count(tokens)));
    }
    if config.relative_bias {
        let buckets = Value::count(RELATIVE_BUCKETS);
        all.push(own("attention.relative_buckets_count", buckets));
    }
    all.extend([
        general(keys::CONFIG, Value::text(source.config_json)),
        general(keys::ENCODER_ID, Value::text(&encoder.id)),
        general(keys::ENCODER_SHA256, Value::text(&encoder.sha256)),
    ]);
    all
}

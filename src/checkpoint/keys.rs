//! Keys of our own in a GGUF file; llama.cpp passes over them.

/// tokenizer.json, as text.
pub const TOKENIZER: &str = "tokenizer.huggingface.json";
/// tokenizer.json without its vocabulary, where the token list gives that back
/// ([`vocabulary`](super::gguf::vocabulary)); such a file has no [`TOKENIZER`].
pub const TOKENIZER_REST: &str = "caselens.tokenizer";
/// config.json, as text.
pub const CONFIG: &str = "caselens.config";
/// The encoder's name, such as `sentence-transformers/all-MiniLM-L6-v2`.
pub const ENCODER_ID: &str = "caselens.encoder.id";
/// "pooler" where the encoder's authors embed a text by what its pooler makes of the first token; elsewhere llama.cpp's own
/// key of the architecture says how they pool.
pub const POOLING: &str = "caselens.pooling";
/// Longest input in tokens that the encoder's authors give it, where that is less than its positions.
pub const MAX_TOKENS: &str = "caselens.max_tokens";
/// SHA-256 (hex) of the model.safetensors it was made from.
pub const ENCODER_SHA256: &str = "caselens.encoder.sha256";

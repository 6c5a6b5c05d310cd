//! GGUF as llama.cpp reads and writes it: the header, files that arrive in pieces, the vocabulary, and writing.

pub mod arriving;
pub mod header;
pub mod q4_0;
pub mod vocabulary;
pub mod write;

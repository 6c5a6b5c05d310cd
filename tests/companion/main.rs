//! The companion program as a user runs it, and the library parts that only it uses. One binary: linking is slow.

#[path = "../common/mod.rs"]
mod common;
mod program;

mod bundle;
mod commands;
mod composed;
mod decoders;
mod finetune;
mod folders;
mod gguf;
mod hub;
mod instruct;
mod report;
mod router;
mod tables;
mod teacher;

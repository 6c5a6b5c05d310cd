//! The companion program as a user runs it, one module a subject. One binary: linking is slow.

#[path = "../common/mod.rs"]
mod common;
mod program;

mod bench;
mod bundle;
mod calibrate;
mod commands;
mod csts;
mod data;
mod folders;
mod hub;
mod kgc;
mod llm;
mod measured;
mod mentioned;
#[cfg(target_os = "linux")]
mod models;
mod numbers;
mod prompting;
mod prompts;
mod reading;
mod report;
mod streams;
mod tables;
mod teacher;
mod train;
mod tri;

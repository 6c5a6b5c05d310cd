//! The companion as a process: what it prints, and how it ends.

use std::{
    io::Write,
    process::{Child, Command, Output, Stdio},
};

/// The companion with what ships as its defaults, started with pipes.
pub fn start(args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_caselens"))
        .args(args)
        .env_remove("CASELENS_MODEL")
        .env_remove("CASELENS_HEAD")
        .env_remove("CASELENS_LOG")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Runs the companion on this input.
pub fn run(args: &[&str], input: &[u8]) -> Output {
    let mut child = start(args);
    // A program that fails early closes its input.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// What the companion prints where it must succeed.
pub fn ok(args: &[&str], input: &[u8]) -> Vec<u8> {
    let output = run(args, input);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {said}");
    output.stdout
}

/// What the companion says where it must refuse its input.
pub fn refused(args: &[&str], input: &[u8]) -> String {
    let output = run(args, input);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
    assert!(!said.contains("panicked"), "{said}");
    said
}

/// Runs the companion without input: exit code, standard output, standard error.
pub fn caselens(args: &[&str]) -> (i32, String, String) {
    let output = run(args, b"");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code().unwrap_or(-1),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// The lines of JSON that the companion prints where it must succeed.
pub fn json(args: &[&str], input: &str) -> Vec<serde_json::Value> {
    let printed = String::from_utf8(ok(args, input.as_bytes())).unwrap();
    let lines = printed.lines();
    lines.map(|l| serde_json::from_str(l).unwrap()).collect()
}

/// What each seed's run reached, without the time that it took.
pub fn untimed(record: &serde_json::Value) -> Vec<serde_json::Value> {
    let mut seeds = record["seeds"].as_array().unwrap().clone();
    for seed in &mut seeds {
        assert!(seed.as_object_mut().unwrap().remove("seconds").is_some());
    }
    seeds
}

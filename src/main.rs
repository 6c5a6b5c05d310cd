//! The companion's door.

fn main() -> std::process::ExitCode {
    #[cfg(not(target_arch = "wasm32"))]
    return caselens::companion::main();
    #[cfg(target_arch = "wasm32")]
    std::process::ExitCode::FAILURE
}

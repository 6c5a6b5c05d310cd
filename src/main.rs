//! The companion: `caselens`.

/// A training step makes hundreds of tensors of megabytes: glibc gives such memory back to the kernel and asks
/// for it anew each time, which costs a page fault for every 4 KiB.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    caselens::companion::main()
}

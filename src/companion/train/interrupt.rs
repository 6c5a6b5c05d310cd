//! Ctrl-C in a training, or a request to end: it ends behind the step that is under way, with what is done on disk.

use std::{
    process,
    sync::{
        Once,
        atomic::{AtomicBool, Ordering},
    },
};

/// The exit status of a program that was interrupted, as shells have it.
const STATUS: i32 = 130;

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on the first Ctrl-C is kept for [`asked`], and the second ends the program at once.
pub fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let kept = ctrlc::set_handler(|| {
            if ASKED.swap(true, Ordering::Relaxed) {
                end();
            }
        });
        // Where the system takes no handler, Ctrl-C ends the program as it always did.
        kept.unwrap_or_default();
    });
}

/// Whether the training is to end.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Ends the program.
#[expect(
    clippy::exit,
    reason = "whoever pressed Ctrl-C wants the program to end; what was done is on disk"
)]
pub fn end() -> ! {
    process::exit(STATUS)
}

//! Panics of other people's crates, caught: what their code makes of a file or a driver is an error like any other.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// What `work` gives, or `None` where it panics; nothing of that is printed. Nothing that `work` has changed is used again after
/// a panic.
///
/// A WebAssembly module ends with its first panic: there checks beforehand have to keep one away.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    #[cfg(not(target_arch = "wasm32"))]
    let _quiet = quiet::Quiet::begin();
    catch_unwind(AssertUnwindSafe(work)).ok()
}

#[cfg(not(target_arch = "wasm32"))]
mod quiet {
    use std::{cell::Cell, panic, sync::Once};

    thread_local! {
        /// How many of this thread's calls are caught by one that has not ended.
        static DEPTH: Cell<usize> = const { Cell::new(0) };
    }

    /// While it lives, panics of this thread are not told.
    pub struct Quiet(());

    impl Quiet {
        pub fn begin() -> Self {
            static HOOK: Once = Once::new();
            // Once for all threads: a hook that comes and goes would keep other threads' panics from being told.
            HOOK.call_once(|| {
                let before = panic::take_hook();
                panic::set_hook(Box::new(move |info| {
                    if DEPTH.get() == 0 {
                        before(info);
                    }
                }));
            });
            DEPTH.set(DEPTH.get() + 1);
            Self(())
        }
    }

    impl Drop for Quiet {
        fn drop(&mut self) {
            DEPTH.set(DEPTH.get() - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::caught;

    #[test]
    fn a_panic_is_no_answer_and_the_next_call_has_one() {
        assert_eq!(caught(|| 1), Some(1));
        assert_eq!(caught(|| -> i32 { panic!("of another crate") }), None);
        assert_eq!(
            caught(|| caught(|| -> i32 { panic!("within") })),
            Some(None)
        );
        assert_eq!(caught(|| 2), Some(2));
    }
}

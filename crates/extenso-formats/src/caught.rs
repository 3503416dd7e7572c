//! Panics of the crates that read and write, caught without a word on the standard error.
//!
//! Invariant: only panics inside [`caught`] are silent, and only on its thread; all others go to the hook that was there.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;
use std::thread;

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Calls `f`, and catches its panic, of which the program's hook is not told.
pub fn caught<T>(f: impl FnOnce() -> T) -> thread::Result<T> {
    static ONCE: Once = Once::new();
    // The hook cannot be changed while this thread panics.
    if !thread::panicking() {
        ONCE.call_once(hush);
    }
    let before = INSIDE.replace(true);
    let done = catch_unwind(AssertUnwindSafe(f));
    INSIDE.set(before);
    done
}

/// Puts a hook before the one that is there, which is not told of what is caught.
fn hush() {
    let told = take_hook();
    set_hook(Box::new(move |panic| {
        if !INSIDE.try_with(Cell::get).unwrap_or(false) {
            told(panic);
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_hook_is_told_of_all_panics_but_those_that_are_caught() {
        let (told, here) = (Arc::new(AtomicUsize::new(0)), thread::current().id());
        let (count, others) = (told.clone(), take_hook());
        set_hook(Box::new(move |panic| {
            if thread::current().id() == here {
                count.fetch_add(1, Ordering::Relaxed);
            } else {
                others(panic);
            }
        }));
        hush();
        let odd = |message: &'static str| move || std::panic::panic_any(message);
        assert!(caught(|| caught(odd("inner")).is_err() && caught(odd("inner")).is_err()).is_ok_and(|both| both));
        assert_eq!(*caught(odd("outer")).expect_err("a panic").downcast::<&str>().expect("a text"), "outer");
        assert_eq!(told.load(Ordering::Relaxed), 0);
        assert!(catch_unwind(odd("told")).is_err());
        assert_eq!(told.load(Ordering::Relaxed), 1);
    }
}

//! How many threads large work may use.
//!
//! Invariant: the number never changes a result, only the time it takes.

use std::cell::Cell;
use std::sync::OnceLock;

thread_local! {
    static OVERRIDE: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The number of threads that large work on this thread is split over: `EXTENSO_THREADS`, or the machine's.
pub fn threads() -> usize {
    static PROCESS: OnceLock<usize> = OnceLock::new();
    OVERRIDE.get().unwrap_or_else(|| {
        *PROCESS.get_or_init(|| {
            let wanted = std::env::var("EXTENSO_THREADS").ok().and_then(|text| text.parse().ok());
            wanted.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)).max(1)
        })
    })
}

/// Runs `f` with large work of this thread split over `n` threads.
pub fn with_threads<R>(n: usize, f: impl FnOnce() -> R) -> R {
    struct Restore(Option<usize>);
    impl Drop for Restore {
        fn drop(&mut self) {
            OVERRIDE.set(self.0);
        }
    }
    let _restore = Restore(OVERRIDE.replace(Some(n.max(1))));
    f()
}

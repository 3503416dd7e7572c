//! How many threads large work may use.
//!
//! Invariant: the number never changes a result, only the time it takes.

use crate::kernels::isa::{isa, with_isa};
use rayon::prelude::*;
use std::cell::Cell;
use std::sync::OnceLock;

/// Work below this many elements stays on the calling thread.
const PARALLEL: usize = 1 << 16;

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

/// The number of pieces that work on so many elements is cut into: one for each thread, or one alone where there is little.
pub fn pieces(work: usize) -> usize {
    if work < PARALLEL { 1 } else { threads() }
}

/// Gives what `f` makes of each item, in order; several items are worked on side by side.
pub fn side_by_side<T: Send, R: Send>(items: Vec<T>, f: impl Fn(T) -> R + Sync) -> Vec<R> {
    if items.len() <= 1 {
        return items.into_iter().map(f).collect();
    }
    let isa = isa();
    items.into_par_iter().map(|item| with_isa(isa, || f(item))).collect()
}

/// Cuts a slice into parts of these lengths.
pub fn split_at_lengths<T>(mut all: &mut [T], lengths: impl IntoIterator<Item = usize>) -> Vec<&mut [T]> {
    let mut parts = Vec::new();
    for n in lengths {
        let (part, rest) = all.split_at_mut(n);
        parts.push(part);
        all = rest;
    }
    parts
}

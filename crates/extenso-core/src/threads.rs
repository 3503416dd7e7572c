//! How many threads large work may use.
//!
//! Invariant: the number never changes a result, only the time it takes.

use crate::kernels::isa::{isa, with_isa};
use std::cell::Cell;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Work below this many elements stays on the calling thread.
const PARALLEL: usize = 1 << 16;

/// The most pieces for each thread.
const PER_THREAD: usize = 4;

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

/// The number of pieces that work on so many elements is cut into: one alone where there is little, otherwise some for each
/// thread, so that none waits long for another.
pub fn pieces(work: usize) -> usize {
    pieces_of(work, PARALLEL)
}

/// The same, where `little` elements are too few to be cut.
pub fn pieces_of(work: usize, little: usize) -> usize {
    match threads() {
        1 => 1,
        _ if work < little => 1,
        threads => (2 * work / little).clamp(threads, PER_THREAD * threads),
    }
}

/// Gives what `f` makes of each item, in order; several items are worked on side by side.
///
/// The calling thread works too. It would otherwise sleep, and its core with it until the system moves a thread there. In a process
/// that was forked it works alone.
pub fn side_by_side<T: Send, R: Send>(items: Vec<T>, f: impl Fn(T) -> R + Sync) -> Vec<R> {
    let helpers = threads().min(items.len()).saturating_sub(1);
    if helpers == 0 || is_forked() {
        return items.into_iter().map(f).collect();
    }
    let isa = isa();
    let mut made: Vec<Option<R>> = items.iter().map(|_| None).collect();
    let left = Mutex::new(items.into_iter().zip(&mut made));
    let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        with_isa(isa, || {
            while let Some((item, place)) = next() {
                *place = Some(f(item));
            }
        });
    };
    rayon::in_place_scope(|scope| {
        (0..helpers).for_each(|_| scope.spawn(|_| work()));
        work();
    });
    made.into_iter().flatten().collect()
}

/// Whether this process was forked from one that had its threads already: they are not here, and who waits for them waits forever.
fn is_forked() -> bool {
    static FIRST: OnceLock<u32> = OnceLock::new();
    let process = std::process::id();
    *FIRST.get_or_init(|| process) != process
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

//! How much memory an input takes, counted by the allocator of this process: every thread, every allocation.

use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// Counts from here: the bytes that are in use now.
pub fn start() -> usize {
    HEAP.reset_peak_usage();
    HEAP.current_usage()
}

/// The most bytes in use since [`start`], beyond those that were in use then.
pub fn most_since(start: usize) -> usize {
    HEAP.peak_usage().saturating_sub(start)
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    /// The tests that count take turns: what is counted is the memory of the whole process.
    pub fn alone() -> MutexGuard<'static, ()> {
        static TURN: Mutex<()> = Mutex::new(());
        TURN.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[test]
    fn memory_that_was_given_back_counts() {
        let _turn = alone();
        let before = start();
        drop(std::hint::black_box(vec![1_u8; 100 << 20]));
        assert!(most_since(before) >= 100 << 20);
    }
}

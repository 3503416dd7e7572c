//! The memory of small results, which each thread keeps for its next ones: one record takes no lock, and nothing from the system.
//!
//! Invariant: words that are kept have no other owner. A thread keeps a few.

use std::cell::RefCell;
use std::sync::Arc;

/// So many are kept: more than a program of one record has at a time.
const MOST: usize = 16;

thread_local! {
    static SPARE: RefCell<Vec<Arc<Vec<u64>>>> = const { RefCell::new(Vec::new()) };
}

/// Words that are being written, and the place where they are shared.
pub(super) struct Own {
    pub words: Vec<u64>,
    /// Empty; none before the words are shared for the first time.
    place: Option<Arc<Vec<u64>>>,
}

impl Own {
    /// So many zeros.
    pub fn zeros(n: usize) -> Own {
        let fits = |kept: &Arc<Vec<u64>>| (n..=n.saturating_mul(4)).contains(&kept.capacity());
        // A thread that ends keeps none.
        let kept = SPARE.try_with(|spare| {
            let mut spare = spare.try_borrow_mut().ok()?;
            spare.iter().rposition(fits).map(|at| spare.swap_remove(at))
        });
        let mut place = kept.ok().flatten();
        let words = place.as_mut().and_then(Arc::get_mut).map(std::mem::take);
        let mut words = words.unwrap_or_else(|| Vec::with_capacity(n));
        words.clear();
        // The allocator has a shorter way to a few bytes than to a few zero bytes, which the compiler must not ask for.
        words.resize(n, std::hint::black_box(0));
        Own { words, place }
    }

    /// The words, which change no more.
    pub fn share(self) -> Shared {
        let Own { words, mut place } = self;
        match place.as_mut().and_then(Arc::get_mut) {
            Some(empty) => *empty = words,
            None => place = Some(Arc::new(words)),
        }
        Shared(place)
    }
}

/// Words that are shared. The last owner keeps them for its thread.
#[derive(Clone)]
pub(crate) struct Shared(Option<Arc<Vec<u64>>>);

impl Shared {
    /// The words.
    pub fn words(&self) -> &[u64] {
        self.0.as_ref().map_or(&[], |words| words)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let Some(words) = self.0.take().filter(|words| Arc::strong_count(words) == 1) else { return };
        let keep = |spare: &RefCell<Vec<Arc<Vec<u64>>>>| {
            let Ok(mut spare) = spare.try_borrow_mut() else { return };
            if spare.len() == MOST {
                spare.swap_remove(0);
            }
            spare.push(words);
        };
        // A thread that ends drops them.
        let _ = SPARE.try_with(keep);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_nobody_has_are_the_next_ones_and_zero() {
        let mut own = Own::zeros(100);
        own.words.fill(7);
        let first = own.share();
        let (address, other) = (first.words().as_ptr(), first.clone());
        drop(first);
        assert_ne!(Own::zeros(100).words.as_ptr(), address);
        assert_eq!(other.words(), [7; 100]);
        drop(other);
        // Not where they are many times too long.
        assert_ne!(Own::zeros(20).words.as_ptr(), address);
        let again = Own::zeros(60);
        assert_eq!((again.words.as_ptr(), again.share().words()), (address, &[0; 60][..]));
    }
}

//! What was made lately, and is kept because to make it takes longer than to use it.

use std::fmt::{self, Debug, Formatter};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// So many are kept.
const KEPT: usize = 16;

/// Values by what they were made of: those that were used last, the latest at the end.
pub struct Recent<K, V>(Mutex<Vec<(K, V)>>);

impl<K, V: Clone> Recent<K, V> {
    /// None yet.
    pub const fn new() -> Recent<K, V> {
        Recent(Mutex::new(Vec::new()))
    }

    /// The value of the first key that is the one.
    pub fn find(&self, is: impl Fn(&K) -> bool) -> Option<V> {
        let mut kept = self.lock();
        let at = kept.iter().position(|(key, _)| is(key))?;
        kept[at..].rotate_left(1);
        kept.last().map(|(_, value)| value.clone())
    }

    /// Keeps a value, and the one that was used first no longer if there are too many.
    pub fn keep(&self, key: K, value: V) {
        let mut kept = self.lock();
        let first = (kept.len() == KEPT).then(|| kept.remove(0));
        kept.push((key, value));
        drop(kept);
        // It may be large.
        drop(first);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(K, V)>> {
        // A panic cannot leave the list half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K, V: Clone> Default for Recent<K, V> {
    fn default() -> Recent<K, V> {
        Recent::new()
    }
}

impl<K, V: Clone> Debug for Recent<K, V> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "Recent({})", self.lock().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_last_is_kept() {
        let recent = Recent::new();
        for i in 0..KEPT {
            recent.keep(i, i * i);
        }
        assert_eq!(recent.find(|key| *key == 0), Some(0));
        recent.keep(KEPT, 7);
        assert_eq!(recent.find(|key| *key == 1), None);
        assert_eq!((recent.find(|key| *key == 0), recent.find(|key| *key == KEPT)), (Some(0), Some(7)));
    }
}

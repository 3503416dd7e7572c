//! The fields of a record, found by name.
//!
//! Records repeat the order of their keys, so the field after the last one is tried first; a small table of hashes
//! finds the others. Invariant: the table is at most half full, so a search ends.

use std::sync::Arc;

/// Named things with a fast search.
#[derive(Clone, Debug)]
pub struct Fields<T> {
    list: Vec<(Arc<str>, T)>,
    /// Places in `list`, one added; zero is empty.
    table: Vec<usize>,
}

impl<T> Fields<T> {
    /// Fields in this order; names are distinct.
    pub fn new(list: Vec<(Arc<str>, T)>) -> Fields<T> {
        let mut table = vec![0; (2 * list.len()).next_power_of_two()];
        for (i, (name, _)) in list.iter().enumerate() {
            let mut slot = hash(name.as_bytes()) & (table.len() - 1);
            while table[slot] > 0 {
                slot = (slot + 1) & (table.len() - 1);
            }
            table[slot] = i + 1;
        }
        Fields { list, table }
    }

    /// The fields in their order.
    pub fn list(&self) -> &[(Arc<str>, T)] {
        &self.list
    }

    /// The place of a name; `expected` is tried first.
    #[inline]
    pub fn find(&self, name: &str, expected: usize) -> Option<usize> {
        match self.list.get(expected) {
            Some((next, _)) if **next == *name => Some(expected),
            _ => self.search(name),
        }
    }

    fn search(&self, name: &str) -> Option<usize> {
        let mut slot = hash(name.as_bytes()) & (self.table.len() - 1);
        loop {
            let place = self.table.get(slot)?.checked_sub(1)?;
            if *self.list[place].0 == *name {
                return Some(place);
            }
            slot = (slot + 1) & (self.table.len() - 1);
        }
    }
}

/// A hash of the length and the last eight bytes, in which the names of one record commonly differ.
///
/// A long search costs at most as many comparisons as the plan has fields, so input cannot abuse it.
fn hash(name: &[u8]) -> usize {
    let tail = match name.last_chunk::<8>() {
        Some(tail) => u64::from_le_bytes(*tail),
        None => name.iter().fold(0, |tail, byte| tail << 8 | u64::from(*byte)),
    };
    ((tail ^ name.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_found_wherever_it_is_expected() {
        for n in [0, 1, 2, 63, 64, 65, 500] {
            let names: Vec<Arc<str>> = (0..n).map(|i| format!("feature_{i:03}").into()).collect();
            let fields = Fields::new(names.iter().map(|name| (name.clone(), ())).collect());
            for (i, name) in names.iter().enumerate() {
                assert!([0, i, i + 1, n].iter().all(|expected| fields.find(name, *expected) == Some(i)), "{name}");
            }
            assert!(["", "feature", "feature_999x", "\0"].iter().all(|name| fields.find(name, 0).is_none()));
        }
    }
}

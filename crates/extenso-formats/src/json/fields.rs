//! The fields of a record, found by name.
//!
//! Records repeat the order of their keys, so the field after the last one is tried first; a small table of hashes
//! finds the others. Invariant: the table is at most half full, so a search ends.

use std::sync::Arc;

/// Named things with a fast search.
#[derive(Clone, Debug)]
pub struct Fields<T> {
    list: Vec<(Arc<str>, T)>,
    /// The names as they most often stand in a record: in quotes, with a colon.
    keys: Vec<Key>,
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
        let keys = list.iter().map(|(name, _)| Key::of(name)).collect();
        Fields { list, keys, table }
    }

    /// Behind the key of the field of this place and its colon, if they stand at a byte of a text.
    #[inline]
    pub fn starts(&self, text: &[u8], at: usize, place: usize) -> Option<usize> {
        let (key, rest) = (self.keys.get(place)?, text.get(at..)?);
        let head = rest.first_chunk().map(|head| u64::from_le_bytes(*head))?;
        let is_key = head & key.mask == key.head && (key.text.len() <= 8 || rest.starts_with(&key.text));
        is_key.then(|| at + key.text.len())
    }

    /// The fields in their order.
    pub fn list(&self) -> &[(Arc<str>, T)] {
        &self.list
    }

    /// The place of a name; `expected` is tried first.
    #[inline]
    pub fn find(&self, name: &[u8], expected: usize) -> Option<usize> {
        match self.list.get(expected) {
            Some((next, _)) if next.as_bytes() == name => Some(expected),
            _ => self.search(name),
        }
    }

    fn search(&self, name: &[u8]) -> Option<usize> {
        let mut slot = hash(name) & (self.table.len() - 1);
        loop {
            let place = self.table.get(slot)?.checked_sub(1)?;
            if self.list[place].0.as_bytes() == name {
                return Some(place);
            }
            slot = (slot + 1) & (self.table.len() - 1);
        }
    }
}

/// A name in quotes with a colon.
#[derive(Clone, Debug)]
struct Key {
    text: Box<[u8]>,
    /// The first eight bytes, and which of them there are. Of one with an escape, what no bytes are.
    head: u64,
    mask: u64,
}

impl Key {
    fn of(name: &str) -> Key {
        if name.bytes().any(|byte| matches!(byte, 0..0x20 | b'"' | b'\\')) {
            return Key { text: Box::default(), head: 1, mask: 0 };
        }
        let text = format!("\"{name}\":").into_bytes();
        let bytes = |of: fn(u8) -> u8| text.iter().take(8).rev().fold(0, |word, byte| word << 8 | u64::from(of(*byte)));
        Key { head: bytes(|byte| byte), mask: bytes(|_| 0xff), text: text.into() }
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
                assert!(
                    [0, i, i + 1, n].iter().all(|expected| fields.find(name.as_bytes(), *expected) == Some(i)),
                    "{name}"
                );
            }
            assert!(["", "feature", "feature_999x", "\0"].iter().all(|name| fields.find(name.as_bytes(), 0).is_none()));
        }
    }
}

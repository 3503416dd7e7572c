//! Maps by address, for what is asked on every call.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map whose keys are addresses of objects that the map's owner keeps alive.
pub struct PointerMap<V>(Option<HashMap<usize, V, BuildHasherDefault<Address>>>);

impl<V> PointerMap<V> {
    /// An empty map.
    pub const fn new() -> PointerMap<V> {
        PointerMap(None)
    }

    /// The value at an address.
    pub fn get(&self, address: usize) -> Option<&V> {
        self.0.as_ref()?.get(&address)
    }

    /// Puts a value at an address.
    pub fn insert(&mut self, address: usize, value: V) {
        self.0.get_or_insert_default().insert(address, value);
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.0 = None;
    }
}

/// Hashes an address by one multiplication: addresses are distinct already, only their low bits are alike.
#[derive(Default)]
pub struct Address(u64);

impl Hasher for Address {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&b| self.write_usize(usize::from(b)));
    }

    fn write_usize(&mut self, address: usize) {
        let key = u64::try_from(address).unwrap_or(u64::MAX) ^ self.0;
        self.0 = key.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_right(29);
    }
}

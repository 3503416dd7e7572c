//! Growing bit columns: booleans and validity, eight to a byte, least significant bit first (Arrow's order).
//!
//! Invariant: the bits behind the last one are zero.

use super::text::no_room;
use std::collections::TryReserveError;

/// A growing list of bits.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Bits {
    pub(super) bytes: Vec<u8>,
    pub(super) len: usize,
}

impl Bits {
    /// How many bits there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bit at `i`; false behind the end.
    pub fn get(&self, i: usize) -> bool {
        self.bytes.get(i / 8).is_some_and(|byte| byte >> (i % 8) & 1 == 1)
    }

    /// The packed bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Gives the packed bytes and the number of bits away.
    pub fn into_parts(self) -> (Vec<u8>, usize) {
        (self.bytes, self.len)
    }

    /// Adds a bit.
    pub fn push(&mut self, bit: bool) {
        let shift = self.len % 8;
        match self.bytes.last_mut() {
            Some(last) if shift > 0 => *last |= u8::from(bit) << shift,
            _ => self.bytes.push(u8::from(bit)),
        }
        self.len += 1;
    }

    /// Drops the bits from `len` on.
    pub fn truncate(&mut self, len: usize) {
        if len >= self.len {
            return;
        }
        self.len = len;
        self.bytes.truncate(len.div_ceil(8));
        if let Some(last) = self.bytes.last_mut().filter(|_| !len.is_multiple_of(8)) {
            *last &= (1 << (len % 8)) - 1;
        }
    }

    /// Adds `n` zero bits.
    ///
    /// Errors: there is no memory for them.
    pub fn push_defaults(&mut self, n: usize) -> Result<(), TryReserveError> {
        let Some(len) = self.len.checked_add(n) else { return no_room() };
        let bytes = len.div_ceil(8);
        self.bytes.try_reserve(bytes - self.bytes.len())?;
        self.bytes.resize(bytes, 0);
        self.len = len;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_of_bits_is_zero() {
        let mut bits = Bits::default();
        (0..20).for_each(|i| bits.push(i % 3 != 0));
        for len in (0..20).rev() {
            bits.truncate(len);
            assert_eq!(bits.as_bytes().len(), len.div_ceil(8));
            assert!((0..len).all(|i| bits.get(i) == (i % 3 != 0)) && (len..64).all(|i| !bits.get(i)));
        }
        bits.push_defaults(3).expect("memory");
        bits.push(true);
        assert!([usize::MAX, usize::MAX - 3, usize::MAX / 2].iter().all(|n| bits.push_defaults(*n).is_err()));
        assert_eq!(bits.into_parts(), (vec![0b1000], 4));
    }
}

//! The bytes of rows: numbers of variable length, floats, texts, and how many bytes are left.
//!
//! Invariant: nothing is read beyond the end, and what few bytes make of nothing (nulls in place of wide records, items without bytes) has a bound.

use super::codec::Budget;
use crate::failure::{Failure, Read};
use extenso_types::Error;

/// Bytes and the place in them.
#[derive(Debug)]
pub struct Wire<'j> {
    bytes: &'j [u8],
    at: usize,
    budget: &'j mut Budget,
}

impl<'j> Wire<'j> {
    /// The bytes of a block, and how much may be made of nothing.
    pub fn new(bytes: &'j [u8], budget: &'j mut Budget) -> Wire<'j> {
        Wire { bytes, at: 0, budget }
    }

    /// The place of the next byte.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Goes back to a place where it was before.
    pub fn go_back(&mut self, at: usize) {
        self.at = at.min(self.at);
    }

    /// How many bytes there are behind this place.
    pub fn rest(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Counts bytes that are made without any being read.
    ///
    /// Errors: they are too many.
    pub fn charge(&mut self, bytes: usize) -> Read<()> {
        let charged = self.budget.charge(bytes);
        charged.map_err(|error| Failure::new(self.at, error))
    }

    /// A failure here.
    #[cold]
    pub fn unfit(&self, what: impl Into<String>, wanted: &str) -> Box<Failure> {
        Failure::new(self.at, Error::data(what).wanted(wanted))
    }

    /// The next bytes, as many as that.
    pub fn take(&mut self, n: usize) -> Read<&'j [u8]> {
        let end = self.at.checked_add(n).filter(|end| *end <= self.bytes.len());
        let Some(end) = end else {
            return Err(self.unfit(format!("{n} bytes are said to be here, and {} are left", self.rest()), COMPLETE));
        };
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Read<[u8; N]> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    /// A number of variable length.
    #[inline]
    pub fn long(&mut self) -> Read<i64> {
        let (mut bits, mut shift) = (0_u64, 0_u32);
        for (i, &byte) in self.bytes[self.at..].iter().take(10).enumerate() {
            let low = u64::from(byte & 0x7f);
            if shift == 63 && low > 1 {
                break;
            }
            bits |= low << shift;
            if byte < 0x80 {
                self.at += i + 1;
                return Ok((bits >> 1).cast_signed() ^ -(bits & 1).cast_signed());
            }
            shift += 7;
        }
        Err(self.odd_number())
    }

    #[cold]
    fn odd_number(&self) -> Box<Failure> {
        match self.rest() {
            0..10 => self.unfit("a number is cut off", COMPLETE),
            _ => self.unfit("a number has more than 64 bits", "numbers of at most ten bytes"),
        }
    }

    /// A number of variable length that counts.
    pub fn size(&mut self) -> Read<usize> {
        let at = self.at;
        let size = self.long()?;
        usize::try_from(size).map_err(|_| {
            self.at = at;
            self.unfit(format!("a length is {size}"), "a length that is not negative")
        })
    }

    /// Bytes behind their length.
    #[inline]
    pub fn text(&mut self) -> Read<&'j [u8]> {
        let n = self.size()?;
        self.take(n)
    }

    /// A boolean.
    pub fn bool(&mut self) -> Read<bool> {
        let [byte] = self.array()?;
        if byte > 1 {
            self.at -= 1;
            return Err(self.unfit(format!("a boolean is {byte}"), "0 or 1"));
        }
        Ok(byte == 1)
    }

    /// A float of four bytes.
    pub fn float(&mut self) -> Read<f32> {
        Ok(f32::from_le_bytes(self.array()?))
    }

    /// A float of eight bytes.
    pub fn double(&mut self) -> Read<f64> {
        Ok(f64::from_le_bytes(self.array()?))
    }

    /// How many items the next block of a list has, and of how many bytes it is if it says so; none at the end of the list.
    pub fn items(&mut self) -> Read<Option<(usize, Option<usize>)>> {
        match self.long()? {
            0 => Ok(None),
            count @ 1.. => Ok(Some((usize::try_from(count).unwrap_or(usize::MAX), None))),
            count => {
                let bytes = self.size()?;
                Ok(Some((usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX), Some(bytes))))
            }
        }
    }
}

/// What is wanted of bytes that are cut off.
pub const COMPLETE: &str = "the bytes as they were written, complete";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_zigzags_of_at_most_64_bits() {
        let number = |bytes: &[u8]| Wire::new(bytes, &mut Budget::default()).long().ok();
        assert_eq!([&b"\x00"[..], b"\x01", b"\x02", b"\x7f", b"\x80\x01"].map(number), [0, -1, 1, -64, 64].map(Some));
        assert_eq!(number(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), Some(i64::MIN));
        assert_eq!(number(b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"), Some(i64::MAX));
        assert_eq!([&b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"[..], b"\x80", b""].map(number), [None; 3]);
    }
}

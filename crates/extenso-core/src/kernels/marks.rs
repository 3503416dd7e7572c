//! Where a byte stands in texts, one bit for each byte of them.
//!
//! Invariant: a mark depends on its byte alone, not on where one text ends and the next begins.

use super::bits::{test, words};
use super::isa::multiversion;
use smallvec::{SmallVec, smallvec};
use std::ops::Range;

multiversion! {
    /// Sets bit i of `out` where byte i is `wanted`.
    fn mark(bytes: &[u8], wanted: u8, out: &mut [u64]) {
        test(bytes, out, |byte| byte == wanted)
    }
}

multiversion! {
    /// Sets bit i of `out` where byte i is one of four.
    pub fn mark_any(bytes: &[u8], wanted: [u8; 4], out: &mut [u64]) {
        let [a, b, c, d] = wanted;
        test(bytes, out, |byte| (byte == a) | (byte == b) | (byte == c) | (byte == d))
    }
}

/// The places of a byte among others.
pub struct Marks(SmallVec<[u64; 16]>);

impl Marks {
    /// The places of `wanted` in `bytes`.
    pub fn of(bytes: &[u8], wanted: u8) -> Marks {
        let mut marks = smallvec![0; words(bytes.len())];
        mark(bytes, wanted, &mut marks);
        Marks(marks)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// How many there are among the bytes of a range.
    pub fn count_in(&self, range: Range<usize>) -> usize {
        let from_zero = |end: usize| (end / 64, (1_u64 << (end % 64)) - 1);
        let ((first, below), (last, within)) = (from_zero(range.start), from_zero(range.end));
        let ones = |word: u64| word.count_ones() as usize;
        // A range that ends with a word has no bit in the next, which need not be there.
        let tail = if within == 0 { 0 } else { self.0[last] & within };
        if first == last {
            return ones(tail & !below);
        }
        ones(self.0[first] & !below) + self.0[first + 1..last].iter().copied().map(ones).sum::<usize>() + ones(tail)
    }

    /// The places in increasing order.
    pub fn places(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(i, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(64 * i + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_several_bytes_are_where_one_of_them_is() {
        let bytes: Vec<u8> = (0..300).map(|i| b"a,b\n\"c\r"[i * i % 7]).collect();
        let mut marks = vec![0; words(bytes.len())];
        mark_any(&bytes, *b",\n\r\"", &mut marks);
        for (i, byte) in bytes.iter().enumerate() {
            assert_eq!(marks[i / 64] >> (i % 64) & 1 == 1, b",\n\r\"".contains(byte), "{i}");
        }
    }

    #[test]
    fn marks_are_where_the_byte_is() {
        for len in [0, 1, 63, 64, 65, 128, 200] {
            let bytes: Vec<u8> = (0..len).map(|i| b"a, b,,c"[i % 7]).collect();
            let wanted: Vec<usize> = (0..len).filter(|i| bytes[*i] == b',').collect();
            let marks = Marks::of(&bytes, b',');
            assert_eq!(marks.places().collect::<Vec<_>>(), wanted);
            assert_eq!(marks.count(), wanted.len());
            for start in 0..=len {
                for end in start..=len {
                    let inside = wanted.iter().filter(|at| (start..end).contains(*at)).count();
                    assert_eq!(marks.count_in(start..end), inside, "{start}..{end} of {len}");
                }
            }
        }
    }
}

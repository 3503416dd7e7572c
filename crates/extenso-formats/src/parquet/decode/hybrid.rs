//! Runs of small numbers: levels and places in a dictionary, as the hybrid of equal runs and packed bits (Apache Parquet,
//! "Encodings": Run Length Encoding / Bit-Packing Hybrid).
//!
//! Invariant: what is read is exactly as many numbers as were asked for, each no larger than was said, or an error. Memory is made
//! for numbers that were found, not for numbers that were promised.

use super::{Stop, bad};

/// How many numbers are packed together.
const GROUP: usize = 8;

/// Numbers that follow one another.
pub enum Run<'a> {
    /// The same number, so many times.
    Same(u32, usize),
    /// So many numbers of the width, the first in the lowest bits.
    Packed(&'a [u8], usize),
}

/// The runs of bytes, until so many numbers were given.
pub struct Runs<'a> {
    bytes: &'a [u8],
    width: usize,
    left: usize,
}

impl<'a> Runs<'a> {
    /// Runs of `count` numbers of `width` bits.
    ///
    /// Errors: more bits than a number has.
    pub fn new(bytes: &'a [u8], width: u8, count: usize) -> Result<Runs<'a>, Stop> {
        if width > 32 {
            return Err(bad(format!("numbers of {width} bits are packed")));
        }
        Ok(Runs { bytes, width: usize::from(width), left: count })
    }

    /// The next run; none if all numbers were given.
    ///
    /// Errors: the bytes end before that; a run of no numbers.
    #[inline]
    pub fn next(&mut self) -> Result<Option<Run<'a>>, Stop> {
        if self.left == 0 {
            return Ok(None);
        }
        let head = self.head()?;
        if head >> 1 == 0 {
            return Err(bad("a run is empty"));
        }
        let run = if head & 1 == 0 { self.same(head >> 1)? } else { self.packed(head >> 1)? };
        let (Run::Same(_, n) | Run::Packed(_, n)) = run;
        self.left -= n;
        Ok(Some(run))
    }

    /// The number that a run begins with, in groups of seven bits.
    fn head(&mut self) -> Result<usize, Stop> {
        match self.bytes.split_first() {
            Some((first, rest)) if *first < 0x80 => {
                self.bytes = rest;
                Ok(usize::from(*first))
            }
            _ => self.long_head(),
        }
    }

    fn long_head(&mut self) -> Result<usize, Stop> {
        let mut head = 0_u64;
        for shift in (0..35).step_by(7) {
            let (first, rest) = self.bytes.split_first().ok_or_else(|| ended(self.left))?;
            self.bytes = rest;
            head |= u64::from(first & 0x7f) << shift;
            if first & 0x80 == 0 {
                return usize::try_from(head).map_err(|_| bad("a run is longer than memory"));
            }
        }
        Err(bad("the length of a run is malformed"))
    }

    fn same(&mut self, n: usize) -> Result<Run<'a>, Stop> {
        let (value, rest) = self.bytes.split_at_checked(self.width.div_ceil(8)).ok_or_else(|| ended(self.left))?;
        self.bytes = rest;
        let number = value.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte));
        Ok(Run::Same(number, n.min(self.left)))
    }

    /// The last group may be cut short where its numbers end.
    fn packed(&mut self, groups: usize) -> Result<Run<'a>, Stop> {
        let length = groups.saturating_mul(self.width).min(self.bytes.len());
        let (packed, rest) = self.bytes.split_at(length);
        self.bytes = rest;
        let there = (length * 8).checked_div(self.width).unwrap_or(usize::MAX);
        let n = groups.saturating_mul(GROUP).min(there).min(self.left);
        if n == 0 {
            return Err(ended(self.left));
        }
        Ok(Run::Packed(packed, n))
    }
}

fn ended(left: usize) -> Stop {
    bad(format!("the bytes end {left} numbers before their end"))
}

/// Definition or repetition levels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Levels {
    /// So many levels, each the largest that there is.
    Largest(usize),
    /// Each level.
    Each(Vec<u8>),
}

impl Levels {
    /// Reads `count` levels of at most `most`.
    ///
    /// Errors: fewer levels, or larger ones.
    pub fn read(bytes: &[u8], most: u8, count: usize) -> Result<Levels, Stop> {
        let width = 8 - most.leading_zeros();
        let mut runs = Runs::new(bytes, width.to_le_bytes()[0], count)?;
        let (mut largest, mut each) = (0, Vec::new());
        while let Some(run) = runs.next()? {
            if let Run::Same(level, n) = run
                && level == u32::from(most)
                && each.is_empty()
            {
                largest += n;
                continue;
            }
            if each.is_empty() {
                each.reserve(count.min(largest.saturating_add(GROUP * bytes.len())) + GROUP);
                each.resize(largest, most);
            }
            match run {
                // A level too large for a byte is too large for all. The shortest runs are the usual ones.
                Run::Same(level, GROUP) => each.extend_from_slice(&[u8::try_from(level).unwrap_or(u8::MAX); GROUP]),
                Run::Same(level, n) => each.resize(each.len() + n, u8::try_from(level).unwrap_or(u8::MAX)),
                Run::Packed(packed, n) => unpack_bytes(packed, u64::from(width), n, &mut each),
            }
        }
        if each.is_empty() {
            return Ok(Levels::Largest(largest));
        }
        match each.iter().fold(0, |a, b| a.max(*b)) {
            level if level > most => Err(bad(format!("a level is {level}, and the largest is {most}"))),
            _ => Ok(Levels::Each(each)),
        }
    }

    /// How many levels there are.
    pub fn len(&self) -> usize {
        match self {
            Levels::Largest(n) => *n,
            Levels::Each(each) => each.len(),
        }
    }
}

/// Unpacks numbers of at most eight bits, eight at a time: their bits are spread over the bytes of a word by halves.
fn unpack_bytes(packed: &[u8], width: u64, n: usize, out: &mut Vec<u8>) {
    let start = out.len();
    let four = (1 << (4 * width)) - 1;
    let two = ((1 << (2 * width)) - 1) * 0x0000_0001_0000_0001_u64;
    let one = ((1 << width) - 1) * 0x0001_0001_0001_0001_u64;
    for group in packed.chunks(usize::try_from(width).unwrap_or(1)).take(n.div_ceil(GROUP)) {
        let x = word(group);
        let x = (x & four) | ((x >> (4 * width)) & four) << 32;
        let x = (x & two) | ((x >> (2 * width)) & two) << 16;
        let x = (x & one) | ((x >> width) & one) << 8;
        out.extend_from_slice(&x.to_le_bytes());
    }
    out.truncate(start + n);
}

/// At most eight bytes as a number.
fn word(bytes: &[u8]) -> u64 {
    match bytes.first_chunk::<8>() {
        Some(word) => u64::from_le_bytes(*word),
        None => bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

/// How many numbers are unpacked before they are handed on.
pub const BLOCK: usize = 32;

/// Unpacks `n` numbers, and hands them on in blocks.
pub fn unpack(
    packed: &[u8],
    width: u8,
    n: usize,
    mut hand_on: impl FnMut(&[u32]) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let width = usize::from(width);
    let (mut block, mut left) = ([0; BLOCK], n);
    let bytes = BLOCK / GROUP * width;
    let mut at = 0;
    while left > 0 {
        let rest = packed.get(at..).unwrap_or_default();
        // A number is read with the eight bytes that it begins in.
        if rest.len() >= bytes + 8 {
            unpack_block(rest, width, &mut block);
        } else {
            let mut padded = [0; BLOCK * 4 + 8];
            let there = rest.len().min(bytes);
            padded[..there].copy_from_slice(&rest[..there]);
            unpack_block(&padded, width, &mut block);
        }
        let here = left.min(BLOCK);
        hand_on(&block[..here])?;
        left -= here;
        at += bytes;
    }
    Ok(())
}

fn unpack_block(bytes: &[u8], width: usize, block: &mut [u32; BLOCK]) {
    let mask = (1_u64 << width) - 1;
    let low = |word: u64| (word & mask) as u32;
    let at = |byte: usize| bytes.get(byte..).map_or(0, word);
    if width <= 16 {
        // Four numbers lie in eight bytes, wherever in the first of them they begin.
        for (i, four) in block.chunks_exact_mut(4).enumerate() {
            let bit = 4 * i * width;
            let word = at(bit / 8) >> (bit % 8);
            four[0] = low(word);
            four[1] = low(word >> width);
            four[2] = low(word >> (2 * width));
            four[3] = low(word >> (3 * width));
        }
    } else {
        for (i, number) in block.iter_mut().enumerate() {
            *number = low(at(i * width / 8) >> (i * width % 8));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packs numbers as the specification draws them.
    fn packed(numbers: &[u32], width: usize) -> Vec<u8> {
        let mut bytes = vec![0_u8; (numbers.len() * width).div_ceil(8)];
        for (i, number) in numbers.iter().enumerate() {
            for bit in 0..width {
                let place = i * width + bit;
                bytes[place / 8] |= u8::from(number >> bit & 1 == 1) << (place % 8);
            }
        }
        bytes
    }

    fn numbers(n: usize, width: usize) -> Vec<u32> {
        let mask = (1_u64 << width) - 1;
        (0..n as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20 & mask) as u32).collect()
    }

    #[test]
    fn what_was_packed_is_unpacked() {
        for width in 0..=32 {
            for n in [1, 7, 8, 31, 32, 33, 64, 100, 200] {
                let wanted = numbers(n, width);
                let mut got = Vec::new();
                let add = |block: &[u32]| {
                    got.extend_from_slice(block);
                    Ok(())
                };
                assert!(unpack(&packed(&wanted, width), width as u8, n, add).is_ok());
                assert_eq!(got, wanted, "{n} numbers of {width} bits");
            }
        }
    }

    #[test]
    fn levels_are_those_of_the_runs() {
        for most in [1_u8, 2, 3, 5, 12, 100] {
            let width = 32 - u32::from(most).leading_zeros() as usize;
            let wanted: Vec<u32> = numbers(24, 8).iter().map(|n| n % u32::from(most)).collect();
            // Nine times the largest, three packed groups, one level seventeen times.
            let mut bytes = [&[18, most, 7][..], &packed(&wanted, width), &[34, 1]].concat();
            let each = [vec![most; 9], wanted.iter().map(|n| *n as u8).collect(), vec![1; 17]].concat();
            let read = |bytes: &[u8], n| Levels::read(bytes, most, n).ok();
            assert_eq!(read(&bytes, 50), Some(Levels::Each(each.clone())));
            assert_eq!(read(&bytes, 30), Some(Levels::Each(each[..30].to_vec())));
            assert_eq!(read(&bytes, 9), Some(Levels::Largest(9)));
            assert_eq!(read(&bytes, 51), None, "the bytes end");
            bytes[1] = most + 1;
            assert_eq!(read(&bytes, 50), None, "a level is too large");
        }
    }

    #[test]
    fn runs_that_promise_more_than_there_is_are_refused() {
        for bytes in
            [&[0xff, 0xff, 0xff, 0xff, 0x7f][..], &[0xff, 0xff, 0xff, 0xff, 0xff, 1], &[0x80], &[], &[9], &[0, 1]]
        {
            assert!(Levels::read(bytes, 1, 1 << 40).is_err(), "{bytes:?}");
        }
        assert!(Levels::read(&[16, 1], 1, 8).is_ok());
        assert!(Levels::read(&[0, 1, 16, 1], 1, 8).is_err(), "an empty run");
    }
}

//! Short texts as numbers, which compare and hash in a few instructions.
//!
//! Invariant: two short texts are one number only if they are equal, whatever stands behind them in memory.

/// The longest text that is short; the last byte of the number has the length.
const LONGEST: usize = 15;

/// The number of the text of `len` bytes at `from`, unless it is too long for one.
#[inline(always)]
pub fn short(bytes: &[u8], from: usize, len: usize) -> Option<u128> {
    // The windows have one test for both ends of theirs; slices have two.
    match bytes.array_windows().nth(from) {
        Some(chunk) => marked(chunk, len),
        None if len > LONGEST => None,
        None => {
            let mut chunk = [0; 16];
            chunk[..len].copy_from_slice(&bytes[from..from + len]);
            marked(&chunk, len)
        }
    }
}

/// The number of the first `len` bytes, unless they are too many.
#[inline(always)]
fn marked(chunk: &[u8; 16], len: usize) -> Option<u128> {
    MARKS.get(len).map(|(bytes, length)| u128::from_le_bytes(*chunk) & bytes | length)
}

/// For each length the bytes of a text that has it, and the mark of it behind them.
static MARKS: [(u128, u128); LONGEST + 1] = {
    let mut marks = [(0, 0); LONGEST + 1];
    let mut len = 0;
    while len <= LONGEST {
        marks[len] = ((1 << (8 * len)) - 1, (len as u128) << (8 * LONGEST));
        len += 1;
    }
    marks
};

/// A hash of a number by two secret ones.
///
/// Source: the folded multiplication of wyhash (Wang Yi, 2019).
#[inline(always)]
pub fn hash(word: u128, secret: [u64; 2]) -> u64 {
    let (low, high) = (word as u64 ^ secret[0], (word >> 64) as u64 ^ secret[1]);
    let product = u128::from(low) * u128::from(high);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_are_one_number_only_if_equal() {
        let bytes = b"abc\0abc\0\0 and fifteen bytes";
        let word = |from, len| short(bytes, from, len);
        assert_eq!(word(0, 3), word(4, 3));
        assert_eq!(word(0, 4), word(4, 4));
        assert_ne!(word(0, 3), word(0, 4));
        assert_ne!(word(3, 0), word(3, 1));
        assert_eq!(word(bytes.len() - 2, 2), short(b"es", 0, 2));
        assert_eq!((word(0, 16), word(0, 15).is_some()), (None, true));
    }
}

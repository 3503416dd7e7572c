//! Rows in parts, which are worked on side by side.
//!
//! Invariant: the parts are all rows, in order; how many there are changes no result.

use std::ops::Range;

/// Where in an input a part of it starts.
#[derive(Clone, Copy, Default, Debug)]
pub struct Start {
    /// How many records came before.
    pub row: usize,
    /// How many bytes came before.
    pub byte: usize,
}

/// So many bytes are at least worth a thread.
const PIECE: usize = 1 << 16;

/// How many parts each thread gets, so that one that is late is not waited for long.
const PER_THREAD: usize = 4;

/// So many rows in parts of about equal work; `row_at` says before which row so much of it lies.
pub fn of_rows(rows: usize, work: usize, row_at: impl Fn(usize) -> usize) -> Vec<Range<usize>> {
    let count = count(work);
    let mut start = 0;
    let mut parts = Vec::with_capacity(count);
    for i in 1..=count {
        let end = if i == count { rows } else { row_at(work / count * i).clamp(start, rows) };
        parts.push(start..end);
        start = end;
    }
    parts
}

/// So many rows in parts of about equal numbers, each of which fits into a core's cache, for so many bytes of work.
pub fn even(rows: usize, work: usize) -> Vec<Range<usize>> {
    let count = count(work).clamp(1, rows.max(1));
    let cut = |i: usize| rows / count * i + (rows % count).min(i);
    (0..count).map(|i| cut(i)..cut(i + 1)).collect()
}

/// The parts as one text.
#[cfg(feature = "proto")]
pub fn joined(mut parts: Vec<Vec<u8>>) -> Vec<u8> {
    if parts.len() == 1 { parts.pop().unwrap_or_default() } else { parts.concat() }
}

/// The most bytes of a piece, which fits into the cache of a core together with what is made of it.
pub const MOST: usize = 1 << 18;

/// How large the pieces are that so many bytes are cut into; none if they are not worth cutting.
pub fn piece(bytes: usize) -> Option<usize> {
    let piece = (bytes / (PER_THREAD * extenso_core::threads())).clamp(PIECE, MOST);
    (bytes >= 2 * piece).then_some(piece)
}

/// How many pieces so many bytes are cut into.
fn count(bytes: usize) -> usize {
    piece(bytes).map_or(1, |size| bytes.div_ceil(size))
}

/// The next piece of whole lines of about this size, and what is left of the text.
pub fn lines(text: &[u8], piece: usize) -> (&[u8], &[u8]) {
    let line = text.get(piece..).and_then(|rest| memchr::memchr(b'\n', rest));
    text.split_at(line.map_or(text.len(), |line| piece + line + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_lines_and_all_of_them() {
        let line = "x".repeat(1000) + "\n";
        for text in [String::new(), line.repeat(3), line.repeat(400), line.repeat(400) + "y", "z".repeat(400_000)] {
            let (mut rest, mut all) = (text.as_bytes(), Vec::new());
            while !rest.is_empty() {
                let (next, behind) = lines(rest, 5_000);
                assert!(!next.is_empty() && (behind.is_empty() || next.ends_with(b"\n")));
                all.extend_from_slice(next);
                rest = behind;
            }
            assert_eq!(all, text.as_bytes());
        }
    }
}

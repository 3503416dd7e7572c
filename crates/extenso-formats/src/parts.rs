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

/// How many parts so many bytes are cut into.
pub fn count(bytes: usize) -> usize {
    match extenso_core::threads() {
        1 => 1,
        threads => (bytes / PIECE).clamp(1, threads * PER_THREAD),
    }
}

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

/// So many rows in parts of about equal numbers, for so many bytes of work.
pub fn even(rows: usize, work: usize) -> Vec<Range<usize>> {
    let count = count(work).clamp(1, rows.max(1));
    let cut = |i: usize| rows / count * i + (rows % count).min(i);
    (0..count).map(|i| cut(i)..cut(i + 1)).collect()
}

/// The parts as one text.
pub fn joined(mut parts: Vec<Vec<u8>>) -> Vec<u8> {
    if parts.len() == 1 { parts.pop().unwrap_or_default() } else { parts.concat() }
}

/// A text in parts of about equal size, each of whole lines.
pub fn of_lines(text: &[u8]) -> Vec<Range<usize>> {
    let count = count(text.len());
    let mut start = 0;
    let mut parts = Vec::with_capacity(count);
    for i in 1..=count {
        let about = (text.len() / count * i).max(start);
        let line = text.get(about..).and_then(|rest| rest.iter().position(|byte| *byte == b'\n'));
        let end = if i == count { text.len() } else { line.map_or(text.len(), |line| about + line + 1) };
        parts.push(start..end);
        start = end;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_whole_lines_and_all_of_them() {
        let line = "x".repeat(1000) + "\n";
        for text in [String::new(), line.repeat(3), line.repeat(400), line.repeat(400) + "y", "z".repeat(400_000)] {
            let parts = extenso_core::with_threads(2, || of_lines(text.as_bytes()));
            assert_eq!(parts.iter().map(|part| &text[part.clone()]).collect::<String>(), text);
            assert!(
                parts
                    .iter()
                    .all(|part| part.is_empty() || part.end == text.len() || text[part.clone()].ends_with('\n'))
            );
        }
    }
}
